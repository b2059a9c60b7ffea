# SPDX-License-Identifier: Apache-2.0
"""Checks of the kinds of arguments: tensors, lists, integers, flags."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "expect_flags",
    "expect_sequence",
    "expect_tensors",
    "expect_whole",
    "not_a_tensor",
    "type_name",
    "whole_numbers",
]


def type_name(value: object) -> str:
    """Return the name of the value's class, with its module unless it is a builtin."""
    kind = type(value)
    return kind.__name__ if kind.__module__ == "builtins" else f"{kind.__module__}.{kind.__name__}"


def not_a_tensor(name: str, value: object) -> TypeError:
    """Build the error for an argument; host arrays are told the way to the device."""
    advice = ""
    if hasattr(value, "__array__") or hasattr(value, "__array_interface__"):
        advice = "; copy it to the device with from_numpy()"
    return TypeError(f"{name}: expected a Tensor, got {type_name(value)}{advice}")


def expect_tensors(**arguments: object) -> None:
    """Raise for the first argument that is no tensor.

    For functions that read shapes and dtypes before they launch: a NumPy array has those too, and
    would fail later with a text about something else.
    """
    for name, value in arguments.items():
        if not isinstance(value, Tensor):
            raise not_a_tensor(name, value)


def expect_flags(**arguments: object) -> None:
    """Raise for the first argument that is not a bool."""
    for name, value in arguments.items():
        if not isinstance(value, (bool, np.bool_)):
            raise TypeError(f"{name}: expected a bool, got {type_name(value)}")


def expect_whole(**arguments: object) -> None:
    """Raise for the first argument that is not an integer."""
    for name, value in arguments.items():
        if not isinstance(value, (int, np.integer)):
            raise TypeError(f"{name}: expected an int, got {type_name(value)}")


def whole_numbers(name: str, value: int | Sequence[int]) -> tuple[int, ...]:
    """Return an argument that is an integer or a sequence of them as a tuple."""
    if isinstance(value, (int, np.integer)):
        return (int(value),)
    if isinstance(value, (Sequence, np.ndarray)) and not isinstance(value, (str, bytes)):
        if all(isinstance(item, (int, np.integer)) for item in value):
            return tuple(int(item) for item in value)
        raise TypeError(f"{name}: expected ints, got {value!r}")
    raise TypeError(f"{name}: expected an int or a sequence of ints, got {type_name(value)}")


def expect_sequence(name: str, value: object, items: str) -> None:
    """Raise unless an argument is a sequence; ``items`` says of what."""
    if isinstance(value, (Tensor, str, bytes)) or not isinstance(value, Sequence):
        raise TypeError(f"{name}: expected a sequence of {items}, got {type_name(value)}")
