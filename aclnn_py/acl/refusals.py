# SPDX-License-Identifier: Apache-2.0
"""Functions of pyACL that are refused, each with the reason and a way out."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NoReturn

from aclnn_py import facts
from aclnn_py.errors import NotSupportedError

__all__ = ["FAMILIES", "REASONS", "refusal_of", "refused_names"]

REASONS = {
    "models": (
        "offline models (.om files) run on an Ascend chip only",
        "run the network with operators (aclnn_py.ops, aclnn_py.functional), or run the script "
        "with CANN's own pyACL",
    ),
    "media": (
        "pictures and videos are processed by the chip's own units",
        "use OpenCV or Pillow on the host, or run the script with CANN's own pyACL",
    ),
    "blas": (
        "acl.blas runs offline operator models, which an Ascend chip only has",
        "use aclnn operators, such as acl.op.aclnnMatmul or aclnn_py.ops.matmul",
    ),
    "transfer": (
        "channels and queues to other processes belong to CANN's data service",
        "use multiprocessing.shared_memory, or aclnn_py.distributed between ranks",
    ),
    "kernels": (
        "kernels of the program's own run on an Ascend chip only",
        "use aclnn operators, such as acl.op.aclnnAdd",
    ),
    "allocators": (
        "an allocator of the program needs C functions",
        "use aclnn_py.set_allocator",
    ),
}
"""Reason -> what is missing, and what to do instead."""

FAMILIES = {"media": "media", "himpi": "media", "blas": "blas"}
"""Modules that are refused as a whole -> the reason."""


def refused_names() -> dict[str, str]:
    """The functions that are refused one by one, with the reason."""
    return {name: reason for reason, names in facts.pyacl()["refused"].items() for name in names}


def refusal_of(name: str, reason: str) -> Callable[..., NoReturn]:
    """Return a function that refuses every call."""
    what, instead = REASONS[reason]

    def refuse(*_arguments: Any) -> NoReturn:
        raise NotSupportedError(f"acl.{name} is not available: {what}. Instead: {instead}.")

    refuse.__name__ = refuse.__qualname__ = name.rpartition(".")[2]
    refuse.__doc__ = f"Refused: {what}."
    return refuse
