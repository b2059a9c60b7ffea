# SPDX-License-Identifier: Apache-2.0
"""Images of another size, images sampled at places of a grid, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from math import floor

import numpy as np

from aclnn_py import ops
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.functional.arguments import channels_first, per_dimension
from aclnn_py.operators.describe.argument_errors import (
    expect_flags,
    expect_tensors,
    whole_numbers,
)
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "affine_grid",
    "grid_sample",
    "grid_sample_backward",
    "interpolate",
    "interpolate_backward",
]

# By the mode, whether it is antialiased, and the number of dimensions: the operator and that of the
# gradient.
_RESIZING = {
    ("nearest", False, 1): ("upsample_nearest1d_v2", "upsample_nearest1d_backward"),
    ("nearest", False, 2): ("upsample_nearest2d_v2", "upsample_nearest2d_backward"),
    ("nearest", False, 3): ("upsample_nearest3d", "upsample_nearest3d_backward"),
    ("nearest-exact", False, 1): ("upsample_nearest_exact1d", "upsample_nearest_exact1d_backward"),
    ("nearest-exact", False, 2): ("upsample_nearest_exact2d", "upsample_nearest_exact2d_backward"),
    ("nearest-exact", False, 3): ("upsample_nearest_exact3d", "upsample_nearest_exact3d_backward"),
    ("linear", False, 1): ("upsample_linear1d", "upsample_linear1d_backward"),
    ("bilinear", False, 2): ("upsample_bilinear2d", "upsample_bilinear2d_backward_v2"),
    ("trilinear", False, 3): ("upsample_trilinear3d", "upsample_trilinear3d_backward"),
    ("bicubic", False, 2): ("upsample_bicubic2d", "upsample_bicubic2d_backward"),
    ("bilinear", True, 2): ("upsample_bilinear2d_aa", "upsample_bilinear2d_aa_backward"),
    ("bicubic", True, 2): ("upsample_bicubic2d_aa", "upsample_bicubic2d_aa_grad"),
}
_NEAREST = ("nearest", "nearest-exact")
_GRID_MODES = ("bilinear", "nearest", "bicubic")
_GRID_PADDINGS = ("zeros", "border", "reflection")


def interpolate(
    input: Tensor,
    size: int | Sequence[int] | None = None,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    *,
    antialias: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Make an image of another size.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, length)``, ``(n, channels, height, width)`` or ``(n, channels, depth,
        height, width)``.
    size : int or sequence of int, optional
        Last dimensions of the result, one number or one per dimension. Either this or
        ``scale_factor`` is given.
    scale_factor : float or sequence of float, optional
        How much larger the result is, one number or one per dimension. Sizes are rounded down, and
        places lie ``1 / scale_factor`` elements apart.
    mode : str
        ``"nearest"`` takes the element below a place, ``"nearest-exact"`` the one nearest to its
        middle. ``"linear"`` (one dimension), ``"bilinear"`` and ``"bicubic"`` (two), and
        ``"trilinear"`` (three) weigh neighbours.
    align_corners : bool
        Whether the first and last places are the first and last elements; not for the nearest.
    antialias : bool
        Whether the filter grows where the result is smaller; for ``"bilinear"`` and ``"bicubic"``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The image in its new size; dtype of ``input``.

    Raises
    ------
    InvalidArgumentError
        The mode does not fit the dimensions, or not one of ``size`` and ``scale_factor`` is given.
    AclnnError
        161002 a dtype or a shape is refused.

    Source
    ------
    aclnnUpsampleNearest1dV2 and its relatives (``include/aclnnop/image.h``), CANN 8.1.RC1 and
    later.
    """
    expect_tensors(input=input)
    names, attributes = _resizing(input, mode, align_corners, antialias)
    scales = _scales(scale_factor, input.ndim - 2)
    sizes = _sizes(input, size, scales)
    out = empty((*input.shape[:2], *sizes), input.dtype, device=input.device)
    getattr(ops, names[0])(
        channels_first(input), sizes, *attributes, *scales, channels_first(out), stream=stream
    )
    return out


def interpolate_backward(
    grad_output: Tensor,
    input: Tensor,
    scale_factor: float | Sequence[float] | None = None,
    mode: str = "nearest",
    align_corners: bool = False,
    *,
    antialias: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Compute the gradient of ``interpolate`` with respect to its input.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input : Tensor
        As in the function; only its shape and dtype are read.
    scale_factor, mode, align_corners, antialias
        As in the function.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``input``.

    Raises
    ------
    InvalidArgumentError
        The mode does not fit the dimensions.
    AclnnError
        161002 a dtype or a shape is refused.

    Source
    ------
    aclnnUpsampleNearest1dBackward and its relatives (``include/aclnnop/image.h``), CANN 8.1.RC1 and
    later.
    """
    expect_tensors(grad_output=grad_output, input=input)
    names, attributes = _resizing(input, mode, align_corners, antialias)
    scales = _scales(scale_factor, input.ndim - 2)
    out = empty(input.shape, input.dtype, device=input.device)
    getattr(ops, names[1])(
        *(channels_first(grad_output), grad_output.shape[2:], input.shape, *attributes, *scales),
        channels_first(out),
        stream=stream,
    )
    return out


def grid_sample(
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Read an image at the places of a grid.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, height, width)`` or ``(n, channels, depth, height, width)``.
    grid : Tensor
        Places ``(x, y)`` or ``(x, y, z)``, between -1 and 1 across the image. Shape ``(n, rows,
        columns, 2)`` or ``(n, slices, rows, columns, 3)``; dtype of ``input``.
    mode : str
        ``"bilinear"``, ``"nearest"``, or ``"bicubic"`` (two dimensions).
    padding_mode : str
        What lies outside the image: ``"zeros"``, ``"border"`` or ``"reflection"``.
    align_corners : bool
        Whether -1 and 1 are the middles of the outermost elements, or their outer edges.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, channels, rows, columns)`` or ``(n, channels, slices, rows, columns)``; dtype of
        ``input``.

    Raises
    ------
    InvalidArgumentError
        A mode is unknown, or ``input`` has neither 4 nor 5 dimensions.
    AclnnError
        161002 a dtype or a shape is refused.

    Source
    ------
    aclnnGridSampler2D and aclnnGridSampler3D (``include/aclnnop/image.h``), CANN 8.1.RC1 and later.
    """
    expect_tensors(input=input, grid=grid)
    attributes = _sampling(input, mode, padding_mode, align_corners)
    out = empty((*input.shape[:2], *grid.shape[1:-1]), input.dtype, device=input.device)
    if input.ndim == 4:
        ops.grid_sampler2_d(input, grid, *attributes, out, stream=stream)
    else:
        ops.grid_sampler3_d(
            channels_first(input), grid, *attributes, channels_first(out), stream=stream
        )
    return out


def grid_sample_backward(
    grad_output: Tensor,
    input: Tensor,
    grid: Tensor,
    mode: str = "bilinear",
    padding_mode: str = "zeros",
    align_corners: bool = False,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the gradients of ``grid_sample`` with respect to the image and the grid.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result.
    input, grid, padding_mode, align_corners
        As in the function.
    mode : str
        ``"bilinear"`` or ``"nearest"``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple of Tensor
        The gradients with respect to ``input`` and ``grid``, in their shapes and dtypes.

    Raises
    ------
    InvalidArgumentError
        A mode is unknown, or ``input`` has neither 4 nor 5 dimensions.
    AclnnError
        161002 a dtype or a shape is refused.

    Source
    ------
    aclnnGridSampler2DBackward and aclnnGridSampler3DBackward (``include/aclnnop/image.h``), CANN
    8.1.RC1 and later.
    """
    expect_tensors(grad_output=grad_output, input=input, grid=grid)
    attributes = (*_sampling(input, mode, padding_mode, align_corners), [True, True])
    grad_input = empty(input.shape, input.dtype, device=input.device)
    grad_grid = empty(grid.shape, grid.dtype, device=grid.device)
    if input.ndim == 4:
        ops.grid_sampler2_d_backward(
            *(grad_output, input, grid, *attributes, grad_input, grad_grid), stream=stream
        )
    else:
        volumes = (channels_first(grad_output), channels_first(input))
        ops.grid_sampler3_d_backward(
            *(*volumes, grid, *attributes, channels_first(grad_input), grad_grid), stream=stream
        )
    return grad_input, grad_grid


def affine_grid(
    theta: Tensor,
    size: Sequence[int],
    align_corners: bool = False,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Make the grid of places that ``grid_sample`` reads for affine maps.

    Parameters
    ----------
    theta : Tensor
        Shape ``(n, 2, 3)``, or ``(n, 3, 4)`` for volumes.
    size : sequence of int
        Shape of the sampled result: ``(n, channels, height, width)`` or ``(n, channels, depth,
        height, width)``.
    align_corners : bool
        Whether -1 and 1 are the middles of the outermost elements, or their outer edges.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(n, height, width, 2)`` or ``(n, depth, height, width, 3)``; dtype of ``theta``.

    Raises
    ------
    InvalidArgumentError
        ``size`` has neither 4 nor 5 numbers.
    AclnnError
        161002 a dtype or a shape is refused.

    Source
    ------
    aclnnAffineGrid (``include/aclnnop/math.h``), CANN 8.1.RC1 and later.
    """
    expect_tensors(theta=theta)
    expect_flags(align_corners=align_corners)
    sizes = whole_numbers("size", size)
    if len(sizes) not in (4, 5):
        raise InvalidArgumentError(f"size: {sizes} has {len(sizes)} numbers; expected 4 or 5")
    shape = (sizes[0], *sizes[2:], len(sizes) - 2)
    out = empty(shape, theta.dtype, device=theta.device)
    ops.affine_grid(theta, sizes, align_corners, out, stream=stream)
    return out


def _resizing(
    input: Tensor, mode: str, align_corners: bool, antialias: bool
) -> tuple[tuple[str, str], tuple[bool, ...]]:
    """The operators of a mode, and the attribute in front of the scales."""
    expect_flags(align_corners=align_corners, antialias=antialias)
    names = _RESIZING.get((mode, antialias, input.ndim - 2))
    if names is None:
        known = [one for one, smooth, n in _RESIZING if (smooth, n) == (antialias, input.ndim - 2)]
        kind = " with antialias" if antialias else ""
        raise InvalidArgumentError(
            f"mode: {mode!r} does not fit an input of shape {input.shape}{kind}; allowed: "
            f"{', '.join(known) or 'none, an image has 3 to 5 dimensions'}"
        )
    if mode not in _NEAREST:
        return names, (align_corners,)
    if align_corners:
        raise InvalidArgumentError(f"align_corners: {mode!r} has no corners to align; leave it out")
    return names, ()


def _scales(scale_factor: float | Sequence[float] | None, spatial: int) -> tuple[float, ...]:
    """A scale for each dimension; 0 where the sizes decide."""
    if scale_factor is None:
        return (0.0,) * spatial
    scales = np.atleast_1d(np.asarray(scale_factor, np.float64))
    if scales.ndim != 1 or scales.size not in (1, spatial) or not (scales > 0).all():
        raise InvalidArgumentError(
            f"scale_factor: {scale_factor!r}; expected 1 or {spatial} positive numbers"
        )
    return tuple(np.broadcast_to(scales, spatial).tolist())


def _sizes(
    input: Tensor, size: int | Sequence[int] | None, scales: tuple[float, ...]
) -> tuple[int, ...]:
    if (size is None) != any(scales):
        raise InvalidArgumentError("size, scale_factor: one of them is needed, and not both")
    if size is not None:
        return per_dimension("size", size, input.ndim - 2)
    return tuple(floor(n * scale) for n, scale in zip(input.shape[2:], scales, strict=True))


def _sampling(
    input: Tensor, mode: str, padding_mode: str, align_corners: bool
) -> tuple[int, int, bool]:
    expect_flags(align_corners=align_corners)
    if input.ndim not in (4, 5):
        raise InvalidArgumentError(f"input: shape {input.shape}; expected 4 or 5 dimensions")
    for name, value, known in (
        ("mode", mode, _GRID_MODES),
        ("padding_mode", padding_mode, _GRID_PADDINGS),
    ):
        if value not in known:
            raise InvalidArgumentError(f"{name}: {value!r}; allowed: {', '.join(known)}")
    return _GRID_MODES.index(mode), _GRID_PADDINGS.index(padding_mode), align_corners
