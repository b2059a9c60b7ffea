# SPDX-License-Identifier: Apache-2.0
"""Python names of operators and parameters."""

from __future__ import annotations

import keyword
import re

# Compiled when the first name needs them: most parameters of most operators are one word.
_VERSION = r"V(\d+)(?=[A-Z]|$)"
_ACRONYM = r"([A-Z]+)([A-Z][a-z])"
_WORD = r"([a-z0-9])([A-Z])"
# `stream` is a keyword argument of every operator.
_RESERVED = frozenset({"stream"})


def snake_case(name: str) -> str:
    """`FFNV3` -> `ffn_v3`, `Log1p` -> `log1p`, `cubeMathType` -> `cube_math_type`."""
    if name.islower() and name.isalnum():
        return name
    name = re.sub(_VERSION, r"_V\1_", name)
    name = re.sub(_ACRONYM, r"\1_\2", name)
    name = re.sub(_WORD, r"\1_\2", name).lower()
    return re.sub(r"__+", "_", name).strip("_")


def operator_name(c_name: str) -> str:
    """Python name of a C operator: `aclnnGroupedMatmulV4` -> `grouped_matmul_v4`."""
    # The Fourier transforms are called acl and a name.
    prefix = "aclnn" if c_name.startswith("aclnn") else "acl"
    return _not_a_keyword(snake_case(c_name.removeprefix(prefix)))


def parameter_names(c_names: list[str]) -> list[str]:
    """Python names of one operator's parameters, all different."""
    shortened = [_not_a_keyword(snake_case(without_optional(name))) for name in c_names]
    return [
        short if shortened.count(short) == 1 else _not_a_keyword(snake_case(name))
        for short, name in zip(shortened, c_names, strict=True)
    ]


def without_optional(name: str) -> str:
    """The name without the mark of a parameter that may be null."""
    for mark, kept in (("OptionalRef", "Ref"), ("RefOptional", "Ref"), ("Optional", "")):
        if name.endswith(mark) and name != mark:
            return name.removesuffix(mark) + kept
    return name


def is_optional(name: str) -> bool:
    """Whether a parameter may be null, by its C name."""
    return without_optional(name) != name


def is_in_place(name: str) -> bool:
    """Whether a parameter is read and written, by its C name."""
    return without_optional(name).endswith("Ref")


def _not_a_keyword(name: str) -> str:
    return f"{name}_" if keyword.iskeyword(name) or name in _RESERVED else name
