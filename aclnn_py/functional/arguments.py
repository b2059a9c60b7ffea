# SPDX-License-Identifier: Apache-2.0
"""Checks and conversions of arguments before an operator is called."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import prod

import numpy as np

from aclnn_py import ops
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.describe.argument_errors import (
    expect_tensors,
    not_a_tensor,
    type_name,
    whole_numbers,
)
from aclnn_py.operators.describe.scalar import Scalar
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.dtypes import dtype_of
from aclnn_py.tensor.formats import Format
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "channels_first",
    "check_channels",
    "check_filters",
    "check_grouped",
    "check_limits",
    "check_linear",
    "check_margins",
    "check_matrix",
    "check_normalized",
    "element_code",
    "expect_list",
    "expect_numbers",
    "expect_optional",
    "expect_tensors_or_numbers",
    "expect_together",
    "first_tensor",
    "gelu_mode",
    "has_operator",
    "in_list",
    "per_dimension",
    "qr_mode",
    "reduction_mode",
    "rows",
]

_OPERANDS = (Tensor, bool, int, float, complex, np.generic, Scalar)
_REDUCTIONS = {"none": 0, "mean": 1, "sum": 2}
_GELUS = {"none": 0, "tanh": 1}
_IMAGES = {3: Format.NCL, 4: Format.NCHW, 5: Format.NCDHW}
_QR_MODES = {"reduced": 0, "complete": 1, "r": 2}


def has_operator(name: str) -> bool:
    """Whether the loaded libraries have an operator of ``ops``."""
    return bool(getattr(ops, name).available())


# Types.


def expect_optional(**arguments: object) -> None:
    """Raise for the first argument that is neither a tensor nor None."""
    for name, value in arguments.items():
        if value is not None and not isinstance(value, Tensor):
            raise not_a_tensor(name, value)


def expect_tensors_or_numbers(**arguments: object) -> None:
    """Raise for the first argument that is neither a tensor nor a number."""
    for name, value in arguments.items():
        if not isinstance(value, _OPERANDS):
            raise not_a_tensor(name, value)


def expect_together(**arguments: object) -> None:
    """Raise when some of the arguments are given, and others are None."""
    missing = [name for name, value in arguments.items() if value is None]
    if missing and len(missing) < len(arguments):
        given = ", ".join(name for name in arguments if name not in missing)
        raise InvalidArgumentError(f"{missing[0]}: needed together with {given}")


def expect_numbers(**arguments: object) -> None:
    """Raise for the first argument that is not a number."""
    for name, value in arguments.items():
        if isinstance(value, Tensor) or not isinstance(value, _OPERANDS):
            raise TypeError(f"{name}: expected a number, got {type_name(value)}")


def expect_list(**arguments: object) -> None:
    """Raise for the first argument that is not a sequence of at least one tensor."""
    for name, value in arguments.items():
        if isinstance(value, Tensor) or not isinstance(value, Sequence):
            raise TypeError(f"{name}: expected a sequence of tensors, got {type_name(value)}")
        if not value:
            raise InvalidArgumentError(f"{name}: at least one tensor is needed")
        for index, item in enumerate(value):
            if not isinstance(item, Tensor):
                raise not_a_tensor(f"{name}[{index}]", item)


def first_tensor(**arguments: object) -> Tensor:
    """The first argument that is a tensor; raise when none is."""
    for value in arguments.values():
        if isinstance(value, Tensor):
            return value
    raise TypeError(f"{' or '.join(arguments)}: one of them must be a Tensor")


# Words that stand for numbers.


def gelu_mode(approximate: str) -> int:
    """The operator's number for a form of gelu."""
    return _choice("approximate", approximate, _GELUS)


def reduction_mode(reduction: str) -> int:
    """The operator's number for the reduction of a loss."""
    return _choice("reduction", reduction, _REDUCTIONS)


def qr_mode(mode: str) -> int:
    """The operator's number for a form of the QR decomposition."""
    return _choice("mode", mode, _QR_MODES)


def _choice(argument: str, value: str, known: Mapping[str, int]) -> int:
    if value not in known:
        raise InvalidArgumentError(f"{argument}: expected one of {', '.join(known)}, got {value!r}")
    return known[value]


def element_code(argument: str, dtype: object) -> int:
    """The C interface's number of an element type."""
    return dtype_of(dtype, argument).acl


# Forms.


def in_list(tensor: Tensor | None) -> list[Tensor | None] | None:
    """The tensor as a list of one; None stays None."""
    return None if tensor is None else [tensor]


def per_dimension(argument: str, value: int | Sequence[int], count: int) -> tuple[int, ...]:
    """One number for each of ``count`` dimensions; a single number serves all."""
    values = whole_numbers(argument, value)
    if isinstance(value, (int, np.integer)):
        values *= count
    if len(values) != count:
        raise InvalidArgumentError(
            f"{argument}: {values} has {len(values)} numbers; expected 1 or {count}"
        )
    return values


def channels_first(input: Tensor) -> Tensor:
    """The tensor with the format that image operators want: NCL, NCHW or NCDHW."""
    format = _IMAGES.get(input.ndim)
    if format is None:
        raise InvalidArgumentError(
            f"input: shape {input.shape} is no image; expected 3 to 5 dimensions"
        )
    return input.with_format(format)


def rows(tensor: Tensor, stream: Stream | None = None) -> Tensor:
    """The tensor as a matrix: all dimensions but the last are joined."""
    count = prod(tensor.shape[:-1])
    return tensor.contiguous(stream=stream).reshape(count, tensor.shape[-1])


# Values that must fit together.


def check_limits(min: object, max: object) -> None:
    """Raise when neither limit is given."""
    if min is None and max is None:
        raise InvalidArgumentError("min, max: one of them is needed")


def check_normalized(input: Tensor, shape: Sequence[int], **weights: Tensor | None) -> None:
    """Raise unless ``input`` ends in a shape, and the weights that are given have it."""
    wanted = whole_numbers("normalized_shape", shape)
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
    """Raise unless the input has a batch and a channel dimension."""
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input: shape {input.shape} has no channels; expected (n, c, ...)"
        )


def check_matrix(input: Tensor) -> None:
    """Raise unless the input has at least two dimensions."""
    if input.ndim < 2:
        raise InvalidArgumentError(
            f"input: shape {input.shape} is no matrix; expected 2 or more dimensions"
        )


def check_filters(input: Tensor, weight: Tensor, spatial: int) -> None:
    """Raise unless both have two dimensions more than the ``spatial`` ones."""
    for name, tensor in (("input", input), ("weight", weight)):
        if tensor.ndim != spatial + 2:
            raise InvalidArgumentError(
                f"{name}: shape {tensor.shape} has {tensor.ndim} dimensions; expected {spatial + 2}"
            )


def check_margins(pad: Sequence[int], mode: str) -> None:
    """Raise for an unknown padding mode, or for a number of pairs that the mode does not take."""
    if mode not in ("constant", "reflect", "replicate"):
        raise InvalidArgumentError(
            f"mode: expected 'constant', 'reflect' or 'replicate', got {mode!r}"
        )
    count = len(whole_numbers("pad", pad))
    if mode != "constant" and count not in (2, 4, 6):
        raise InvalidArgumentError(f"pad: the mode {mode!r} takes 2, 4 or 6 numbers, got {count}")


def check_linear(weight: Tensor, bias: Tensor | None) -> None:
    """Raise unless the weight is a matrix and the bias has one element per row of it."""
    if weight.ndim != 2:
        raise InvalidArgumentError(
            f"weight: shape {weight.shape} is no matrix; expected 2 dimensions"
        )
    if bias is not None and bias.shape != weight.shape[:1]:
        raise InvalidArgumentError(f"bias: shape {bias.shape} is not {weight.shape[:1]}")


def check_grouped(x: Tensor, weight: Tensor) -> None:
    """Raise unless rows and a weight of several groups are given."""
    for name, tensor, dimensions in (("x", x, 2), ("weight", weight, 3)):
        if tensor.ndim != dimensions:
            raise InvalidArgumentError(
                f"{name}: shape {tensor.shape} has {tensor.ndim} dimensions; expected {dimensions}"
            )
