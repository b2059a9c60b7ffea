# SPDX-License-Identifier: Apache-2.0
"""The types that operator parameters have, each with its letters in the operator table."""

from __future__ import annotations

# C type without const -> (kind letter of launch.h, machine letter of the invoker's shape).
KINDS: dict[str, tuple[str, str]] = {
    "aclTensor *": ("T", "p"),
    "aclTensorList *": ("L", "p"),
    "aclScalar *": ("S", "p"),
    "aclScalarList *": ("R", "p"),
    "aclIntArray *": ("I", "p"),
    "aclFloatArray *": ("F", "p"),
    "aclBoolArray *": ("B", "p"),
    "char *": ("s", "p"),
    "aclDataType": ("y", "i"),
    "bool": ("?", "z"),
    "int8_t": ("b", "b"),
    "int": ("i", "i"),
    "int32_t": ("i", "i"),
    "uint32_t": ("u", "u"),
    "int64_t": ("l", "p"),
    "uint64_t": ("q", "p"),
    "float": ("f", "f"),
    "double": ("d", "d"),
}
# The C type each kind stands for; the reverse of KINDS with one spelling per kind.
C_TYPES: dict[str, str] = {kind: ctype for ctype, (kind, _) in KINDS.items()}
