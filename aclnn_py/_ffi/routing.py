# SPDX-License-Identifier: Apache-2.0
"""Where functions are looked for, from CANN 8.0 to the newest: pure functions over the facts."""

from __future__ import annotations

from aclnn_py.facts import libraries

__all__ = ["libraries_of", "meta_functions", "operator_libraries", "other_spelling"]

_OPERATOR_LIBRARIES_BEFORE_SPLIT = (
    "libaclnn_math.so",
    "libaclnn_ops_infer.so",
    "libaclnn_ops_train.so",
    "libaclnn_rand.so",
    "libaclnn_sparse.so",
    "libaclnn_fft.so",
)


def meta_functions() -> frozenset[str]:
    """Functions about tensors, scalars, lists and executors."""
    return libraries.named("nnopbase")


def libraries_of(name: str) -> tuple[str, ...]:
    """Names of the libraries that may hold a function that is no operator, in search order."""
    return tuple(f"lib{library}.so" for library in libraries.search_order(name))


def operator_libraries(split_libraries: tuple[str, ...] = ()) -> tuple[str, ...]:
    """Names of CANN's own operator libraries, in search order.

    Parameters
    ----------
    split_libraries : tuple of str
        The libopapi_*.so files that are installed (8.5 and later), in directory order.
    """
    return (*split_libraries, "libopapi.so", *_OPERATOR_LIBRARIES_BEFORE_SPLIT)


def other_spelling(name: str) -> str | None:
    """The name of the same function in other releases, if it was renamed: AclSet* and aclSet*."""
    if name.startswith(("AclSet", "aclSet")) and name.endswith("TensorAddr"):
        if name == "aclSetRawTensorAddr":
            return None
        return ("a" if name[0] == "A" else "A") + name[1:]
    return None
