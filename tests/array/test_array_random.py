# SPDX-License-Identifier: Apache-2.0
"""A sample of random expressions; `python -m tests.random_prompt` makes 200,000."""

from __future__ import annotations

from random_prompt import run


def test_no_random_expression_differs_from_numpy(device) -> None:
    counts, defects, _ = run(1500, seed=7, quiet=True)
    assert defects == []
    assert counts["equal"] > 1000
