# SPDX-License-Identifier: Apache-2.0
"""Checks and translations of arguments: what users say, as the operators take it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import ml_dtypes

from aclnn_py.errors import InvalidArgumentError
from aclnn_py.functional.results import axis, is_number
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "all_axes",
    "channels_first",
    "check_channels",
    "check_filters",
    "check_limits",
    "check_linear",
    "check_margins",
    "check_matrix",
    "check_normalized",
    "each",
    "expect_a_tensor",
    "gelu_form",
    "half",
    "largest",
    "product",
    "qr_form",
    "reduction_form",
    "whole_repeats",
]

product = prod
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_GELUS = {"none": 0, "tanh": 1}
_IMAGES = {3: Format.NCL, 4: Format.NCHW, 5: Format.NCDHW}
_QR_MODES = {"reduced": 0, "complete": 1, "r": 2}


def _choice(argument: str, value: str, known: Mapping[str, int]) -> int:
    if value not in known:
        raise InvalidArgumentError(f"{argument}: {value!r} is none of {', '.join(known)}")
    return known[value]


def gelu_form(approximate: str) -> int:
    """Number of a form of gelu."""
    return _choice("approximate", approximate, _GELUS)


def reduction_form(reduction: str) -> int:
    """Number of a reduction of losses."""
    return _choice("reduction", reduction, _REDUCTIONS)


def qr_form(mode: str) -> int:
    """Number of a form of the QR decomposition."""
    return _choice("mode", mode, _QR_MODES)


def each(value: int | Sequence[int], count: int) -> tuple[int, ...]:
    """One value for every one of ``count`` dimensions."""
    values = (value,) * count if isinstance(value, int) else tuple(value)
    if len(values) != count:
        raise InvalidArgumentError(f"{values} has {len(values)} numbers; expected 1 or {count}")
    return values


def channels_first(input: Tensor) -> Tensor:
    """The tensor under the name of the format its dimensions have in operators on images."""
    format = _IMAGES.get(input.ndim)
    if format is None:
        raise InvalidArgumentError(
            f"input: shape {input.shape} is no image; expected 3 to 5 dimensions"
        )
    return input.with_format(format)


def all_axes(input: Tensor, dim: int | tuple[int, ...] | None) -> tuple[int, ...]:
    """The dimensions to reduce; all of them written out when none is named."""
    if dim is None or dim == ():
        return tuple(range(input.ndim))
    return (dim,) if isinstance(dim, int) else tuple(dim)


def whole_repeats(shape: tuple[int, ...], dims: Sequence[int]) -> tuple[int, ...]:
    """One number of repeats for every dimension."""
    return (*(1 for _ in range(len(shape) - len(dims))), *dims)


def half(shape: tuple[int, ...], dim: int) -> int:
    """Half the length of a dimension."""
    length = shape[axis(dim, len(shape))]
    if length % 2:
        raise InvalidArgumentError(f"dim: {dim} has the odd length {length}")
    return length // 2


def largest(tensor: Tensor) -> float:
    """Largest finite number of the dtype of a tensor; 0.0 for integers, which have no infinity."""
    kind = tensor.dtype
    return 0.0 if kind.kind in "biu" else float(ml_dtypes.finfo(kind).max)  # type: ignore[no-untyped-call]


def expect_a_tensor(**arguments: object) -> None:
    """Raise when all arguments are numbers."""
    if all(is_number(value) for value in arguments.values()):
        raise TypeError(f"{' or '.join(arguments)}: one of them must be a Tensor")


def check_limits(min: object, max: object) -> None:
    """Raise when there is no limit."""
    if min is None and max is None:
        raise InvalidArgumentError("min, max: one of them is needed")


def check_normalized(input: Tensor, shape: Sequence[int], **weights: Tensor | None) -> None:
    """Raise unless the last dimensions of ``input``, and the weights, have a shape."""
    wanted = tuple(shape)
    if not wanted or input.shape[-len(wanted) :] != wanted:
        raise InvalidArgumentError(
            f"normalized_shape: the shape {input.shape} of input does not end in {wanted}"
        )
    for name, weight in weights.items():
        if weight is not None:
            expect_tensors(**{name: weight})
            if weight.shape != wanted:
                raise InvalidArgumentError(f"{name}: shape {weight.shape} is not {wanted}")


def check_channels(input: Tensor) -> None:
    """Raise unless there is a dimension of channels."""
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input: shape {input.shape} has no channels; expected (n, c, ...)"
        )


def check_matrix(input: Tensor) -> None:
    """Raise for a tensor that is no matrix and no batch of them."""
    if input.ndim < 2:
        raise InvalidArgumentError(f"input: shape {input.shape} is no matrix")


def check_filters(input: Tensor, weight: Tensor, spatial: int) -> None:
    """Raise unless input and filters have batch, channels and so many dimensions more."""
    for name, tensor in (("input", input), ("weight", weight)):
        if tensor.ndim != spatial + 2:
            raise InvalidArgumentError(
                f"{name}: shape {tensor.shape} has {tensor.ndim} dimensions; expected {spatial + 2}"
            )


def check_margins(pad: Sequence[int], mode: str) -> None:
    """Raise for a mode of padding that is not known, or not for so many numbers."""
    if mode not in ("constant", "reflect", "replicate"):
        raise InvalidArgumentError(
            f"mode: expected 'constant', 'reflect' or 'replicate', got {mode!r}"
        )
    if mode != "constant" and len(pad) not in (2, 4, 6):
        raise InvalidArgumentError(
            f"pad: the mode {mode!r} takes 2, 4 or 6 numbers, got {len(pad)}"
        )


def check_linear(weight: Tensor, bias: Tensor | None) -> None:
    """Raise unless the weight is a matrix and the bias as long as it has rows."""
    if weight.ndim != 2:
        raise InvalidArgumentError(f"weight: shape {weight.shape} is no matrix")
    if bias is not None and bias.shape != weight.shape[:1]:
        raise InvalidArgumentError(f"bias: shape {bias.shape} is not {weight.shape[:1]}")
