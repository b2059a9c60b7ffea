# SPDX-License-Identifier: Apache-2.0
"""docs/aclop.md is what the table says."""

from __future__ import annotations

import pytest

from aclnn_py._ffi.contract.headers import families
from aclnn_py._ffi.contract.operators import Operator, operator_of
from build_parts.paths import FACTS, INCLUDE
from build_parts.single_operators import Writer, read_types, type_of
from build_parts.toolchain import BuildError
from maintain import aclop_page


def test_the_page_is_written_from_the_table() -> None:
    written = aclop_page.PAGE_PATH.read_text(encoding="utf-8")
    assert written == aclop_page.text(), "run: python -m maintain.aclop_page"


def test_the_page_has_every_type() -> None:
    text = aclop_page.text()
    types = read_types(FACTS)
    assert all(f"| `{row.name}` |" in text for row in types)
    assert f"the {len(types)} types" in text


@pytest.fixture(scope="module")
def operators() -> dict[str, Operator]:
    made = [operator_of(f) for _family, functions in families(INCLUDE) for f in functions]
    return {operator.name: operator for operator in made}


@pytest.mark.parametrize(
    ("row", "words"),
    [
        ({"form": "x -> y", "call": "aclnnNonesuch x y"}, "no operator aclnnNonesuch"),
        ({"form": "x -> y", "call": "aclnnAbs x"}, "aclnnAbs has 2 parameters"),
        ({"form": "x -> y", "call": "aclnnAbs z y"}, "nothing is called z"),
        ({"form": "x w -> y", "call": "aclnnAbs x y"}, "does not read w; mark it with ~"),
        ({"form": "x -> y", "call": "aclnnAbs x y", "attributes": "a:int"}, "does not read a"),
    ],
)
def test_a_row_that_does_not_fit_its_form(
    row: dict[str, str], words: str, operators: dict[str, Operator]
) -> None:
    with pytest.raises(BuildError, match=words):
        Writer(type_of("Wrong", row), operators).entry()
