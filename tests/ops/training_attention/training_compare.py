# SPDX-License-Identifier: Apache-2.0
"""Compares random calls of the attention of training, and of its gradient, with the oracle."""

from __future__ import annotations

import numpy as np
from helpers.numerics import assert_close, tolerance
from helpers.operators import Array, wide

from .training_attention import (
    FORWARD,
    FORWARD_950,
    GRADIENT,
    GRADIENT_950,
    TrainingProblem,
    backward,
    call,
    call_gradient,
    forward,
)

Table = dict[str, tuple[str, ...]]


def compare_newer(first: int, end: int) -> None:
    """Run problems with the operators of a 950."""
    for seed in range(first, end):
        compare(TrainingProblem(seed), (FORWARD_950, GRADIENT_950))


def compare(
    p: TrainingProblem, tables: tuple[Table, Table] = (FORWARD, GRADIENT)
) -> tuple[str, str]:
    """Run a problem both ways; return the operators that were called."""
    ahead, back = (names[int(p.rng.integers(len(names)))] for names in map(p.operators, tables))
    expected = forward(p)
    out, highest, total = call(p, ahead)
    what = f"{ahead} of {p}"
    used = slice(0, sum(p.queries)) if p.packed else slice(None)
    near(out[used], p.arranged(expected.out, tail=False), p, f"out, {what}")
    for given, parts in ((highest, expected.highest), (total, expected.sum)):
        wanted = p.statistics(parts)
        known = wanted != 77
        assert_close(given[known], wanted[known], scale=16.0, what=f"softmax, {what}")
    found = call_gradient(p, back, out, highest, total)
    for name, parts in backward(p, expected).items():
        if name not in found:
            continue
        if name == "sink":
            near(found[name], parts[0], p, f"sink, {back} of {p}")
            continue
        wanted = p.arranged(parts, tail=False)
        result = found[name]
        if p.packed:
            assert not wide(result[len(wanted) :]).any(), f"behind the sequences, {back} of {p}"
            result = result[: len(wanted)]
        near(result, wanted, p, f"gradient of {name}, {back} of {p}")
    return ahead, back


def near(result: Array, wanted: Array, p: TrainingProblem, what: str) -> None:
    """Compare sums of many terms, by the size of the largest."""
    limit = tolerance(p.dtype)
    size = max(1.0, float(np.abs(wanted).max(initial=0.0)))
    away = np.abs(wide(result) - wanted)
    assert result.shape == wanted.shape, what
    assert away.max(initial=0.0) <= 8 * limit.relative * size, f"{what}: {away.max()} of {size}"
