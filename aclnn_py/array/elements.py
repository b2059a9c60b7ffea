# SPDX-License-Identifier: Apache-2.0
"""Before a tensor is written: its elements in use become numbers of their own."""

from __future__ import annotations

from aclnn_py import functional
from aclnn_py.memory.buffer import Buffer
from aclnn_py.runtime.current import thread
from aclnn_py.tensor.elements import ELEMENTS, is_element
from aclnn_py.tensor.tensor import Tensor

__all__ = ["expect_target", "settle"]


def expect_target(tensor: Tensor) -> None:
    """Raise for an element, which NumPy cannot write either; else prepare its memory."""
    if not ELEMENTS:
        return
    if not tensor.shape and is_element(tensor):
        raise TypeError(
            "an element of a tensor is a number, into which nothing is written; assign to t[i], "
            "or take the view t[i, ...]"
        )
    settle(tensor.buffer)


def settle(memory: Buffer) -> None:
    """Give the elements that lie in memory which will be written memory of their own.

    A capture writes when it is replayed, so elements from outside stay where they are.
    """
    elements = ELEMENTS.get(id(memory))
    if elements is None or not elements.known or thread.capture is not None:
        return
    for key, (found, _) in tuple(elements.known.items()):
        tensor = found()
        if isinstance(tensor, Tensor) and not memory.closed:
            tensor.move_to(functional.contiguous(tensor))
            elements.known.pop(key, None)
