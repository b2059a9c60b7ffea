# SPDX-License-Identifier: Apache-2.0
"""The error of an argument that is no tensor where one is due."""

from __future__ import annotations

from aclnn_py.tensor.tensor import Tensor

__all__ = ["expect_tensors", "not_a_tensor", "type_name"]


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
