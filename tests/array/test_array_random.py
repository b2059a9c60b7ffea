# SPDX-License-Identifier: Apache-2.0
"""A sample of random expressions and programs; `python -m tests.random_prompt` makes 200,000,
`python -m tests.random_statements` 20,000."""

from __future__ import annotations

from random_prompt import run
from random_statements import run as statements


def test_no_random_expression_differs_from_numpy(device) -> None:
    counts, defects, _ = run(1500, seed=7, quiet=True)
    assert defects == []
    assert counts["equal"] > 1000


def test_no_random_program_differs_from_numpy(device) -> None:
    counts, defects = statements(200, seed=7)
    assert defects == []
    assert counts["equal to the end"] > 100
