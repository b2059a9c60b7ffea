# SPDX-License-Identifier: Apache-2.0
"""Storage formats: how the elements of a tensor lie in device memory."""

from __future__ import annotations

from collections.abc import Sequence
from enum import IntEnum
from math import prod

from aclnn_py.tensor.dtypes import DType

__all__ = ["Format", "format_of", "is_blocked", "storage_shape"]


class Format(IntEnum):
    """Storage formats a tensor of this package can have; the values are those of aclFormat.

    The base formats are plain row-major memory and differ only in the meaning operators give to the
    dimensions. The FRACTAL_NZ family stores the last two dimensions in blocks of 16 rows and C0
    columns, block columns outermost. FRACTAL_Z and FRACTAL_Z_3D store the filters of images and
    volumes in blocks of 16 output channels and C0 input channels.
    """

    # Enum's own hash is written in Python, and every new tensor looks its format up.
    __hash__ = int.__hash__

    NCHW = 0
    """Images: batch, channels, height, width."""
    NHWC = 1
    """Images with the channels last."""
    ND = 2
    """Any rank, no meaning attached."""
    FRACTAL_Z = 4
    """Filters of NCHW in blocks of 16 output channels and 32 bytes of input channels."""
    HWCN = 16
    """Convolution weights with the output channels last."""
    NDHWC = 27
    """Volumes with the channels last."""
    FRACTAL_NZ = 29
    """Blocks of 16 rows and 32 bytes of columns."""
    NCDHW = 30
    """Volumes: batch, channels, depth, height, width."""
    FRACTAL_Z_3D = 33
    """Filters of NCDHW in blocks of 16 output channels and 32 bytes of input channels."""
    NC = 35
    """Batch and channels."""
    NCL = 47
    """Sequences: batch, channels, length."""
    FRACTAL_NZ_C0_16 = 50
    """FRACTAL_NZ with blocks of 16 columns whatever the dtype."""
    FRACTAL_NZ_C0_32 = 51
    """FRACTAL_NZ with blocks of 32 columns whatever the dtype."""
    FRACTAL_NZ_C0_2 = 52
    """FRACTAL_NZ with blocks of 2 columns whatever the dtype."""
    FRACTAL_NZ_C0_4 = 53
    """FRACTAL_NZ with blocks of 4 columns whatever the dtype."""
    FRACTAL_NZ_C0_8 = 54
    """FRACTAL_NZ with blocks of 8 columns whatever the dtype."""


_RANKS = {
    Format.NCHW: 4,
    Format.NHWC: 4,
    Format.HWCN: 4,
    Format.NDHWC: 5,
    Format.NCDHW: 5,
    Format.FRACTAL_Z: 4,
    Format.FRACTAL_Z_3D: 5,
    Format.NC: 2,
    Format.NCL: 3,
}
_FIXED_C0 = {
    Format.FRACTAL_NZ_C0_16: 16,
    Format.FRACTAL_NZ_C0_32: 32,
    Format.FRACTAL_NZ_C0_2: 2,
    Format.FRACTAL_NZ_C0_4: 4,
    Format.FRACTAL_NZ_C0_8: 8,
}
# Rows of a block, for every dtype.
BLOCK_ROWS = 16


def format_of(value: object, argument: str = "format") -> Format:
    """Return the format that a member, its name or its number stands for.

    Raises
    ------
    TypeError
        The value is of another type.
    ValueError
        There is no such format.
    """
    if type(value) is Format:
        return value
    try:
        if isinstance(value, str):
            return Format[value.upper().removeprefix("ACL_FORMAT_")]
        if isinstance(value, int) and not isinstance(value, bool):
            return Format(value)
    except (KeyError, ValueError):
        names = ", ".join(member.name for member in Format)
        raise ValueError(f"{argument}: {value!r} is not one of {names}") from None
    raise TypeError(f"{argument}: expected a Format or its name, got {type(value).__name__}")


def is_blocked(format: Format) -> bool:
    """Whether the format cuts the tensor into blocks."""
    return has_filter_blocks(format) or has_matrix_blocks(format)


def has_filter_blocks(format: Format) -> bool:
    """Whether the format is one of the filters of a convolution."""
    return format is Format.FRACTAL_Z or format is Format.FRACTAL_Z_3D


def has_matrix_blocks(format: Format) -> bool:
    """Whether the format is one of the FRACTAL_NZ family."""
    return format is Format.FRACTAL_NZ or format in _FIXED_C0


def block_columns(format: Format, dtype: DType) -> int:
    """Return C0, the columns of a block: 32 bytes of elements, unless the format fixes it."""
    if format in _FIXED_C0:
        return _FIXED_C0[format]
    return max(32 * 8 // dtype.bits, 1)


def storage_shape(shape: Sequence[int], format: Format, dtype: DType) -> tuple[int, ...]:
    """Return the shape of the memory behind a tensor.

    Parameters
    ----------
    shape : sequence of int
        The logical shape.
    format : Format
    dtype : DType

    Returns
    -------
    tuple of int
        ``shape`` itself for base formats; ``(..., ceil(n / C0), ceil(m / 16), 16, C0)`` for the
        FRACTAL_NZ family; ``(d * ceil(c / C0) * h * w, ceil(n / 16), 16, C0)`` for FRACTAL_Z_3D
        and, with a depth of 1, for FRACTAL_Z.

    Raises
    ------
    ValueError
        The rank does not fit the format.
    """
    shape = tuple(shape)
    if has_matrix_blocks(format):
        if len(shape) < 2:
            raise ValueError(f"format: {format.name} needs at least 2 dimensions, got {shape}")
        rows, columns = shape[-2:]
        width = block_columns(format, dtype)
        blocks = (-(-columns // width), -(-rows // BLOCK_ROWS), BLOCK_ROWS, width)
        return (*shape[:-2], *blocks)
    want = _RANKS.get(format)
    if want is not None and len(shape) != want:
        raise ValueError(f"format: {format.name} needs {want} dimensions, got {shape}")
    if has_filter_blocks(format):
        n, c, *window = shape
        width = block_columns(format, dtype)
        return (-(-c // width) * prod(window), -(-n // BLOCK_ROWS), BLOCK_ROWS, width)
    return shape
