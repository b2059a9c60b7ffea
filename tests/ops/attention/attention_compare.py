# SPDX-License-Identifier: Apache-2.0
"""Compares a random call of attention with its oracle."""

from __future__ import annotations

import numpy as np
from helpers.numerics import assert_close

from ops.attention.attention_forms import Problem


def compare(problem: Problem) -> None:
    """Run a problem; assert that its results are those of float64."""
    (out, lse), (result, total) = problem.run(), problem.expected()
    if problem.form == "int8" or problem.result_scale is not None:
        # A value near the middle of two integers may go to either.
        step = 1.0 if problem.result_scale is not None else 0.0
        if problem.form == "int8":
            factor = problem.result_scale.max() if problem.result_scale is not None else 1.0
            step += float(problem.dequant2 * 127 * 3 * factor)
        away = np.abs(out.astype(np.float64) - result)
        assert away.max(initial=0.0) <= step + 0.51, str(problem)
        assert np.mean(away > 0.501 + 0.02 * step) < 0.05, str(problem)
    else:
        assert_close(out, result, scale=2.0, what=f"result of {problem}")
    if not problem.operator.startswith("Fused"):
        return  # without a log-sum-exp
    low = total < -1e37  # rows that are hidden as a whole
    assert (lse[low] < -1e37).all(), str(problem)
    assert_close(lse[~low], total[~low], scale=16.0, what=f"log-sum-exp of {problem}")
