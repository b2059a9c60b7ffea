# SPDX-License-Identifier: Apache-2.0
"""Rounding of float32, with the plainest instructions and with the best: exact, signs of zeros and
special values included."""

from __future__ import annotations

import pytest
from helpers.processes import run_script

SCRIPT = """
import numpy as np
import aclnn_py as ap

rng = np.random.default_rng(6)
special = [0.0, 0.5, 1.5, 2.5, 0.49999997, 1e-40, 8388607.5, 8388608.0, 8388609.0, 3e38, np.inf]
both = [sign * x for x in (*special, *rng.uniform(0, 99, 3000)) for sign in (1, -1)]
x = np.array([*both, np.nan], np.float32)
oracles = {
    "floor": np.floor, "ceil": np.ceil, "trunc": np.trunc, "round": np.rint,
    "frac": lambda x: x - np.trunc(x),
    "sign": np.sign,
    "sqrt": np.sqrt,
    "reciprocal": lambda x: np.float32(1) / x,
}
with ap.Device(0), np.errstate(all="ignore"):
    for name, oracle in oracles.items():
        out = ap.full(x.shape, 77, np.float32)
        getattr(ap.ops, name)(ap.from_numpy(x), out)
        expected, found = oracle(x), out.numpy()
        np.testing.assert_array_equal(found, expected, err_msg=name)
        signed = ~np.isnan(expected)
        if name != "sign":
            signs = np.signbit(found)[signed], np.signbit(expected)[signed]
            np.testing.assert_array_equal(*signs, err_msg=name)
        in_place = getattr(ap.ops, "inplace_" + name, None)
        if in_place is not None:
            kept = ap.from_numpy(x)
            in_place(kept)
            np.testing.assert_array_equal(kept.numpy(), expected, err_msg=name)
    quotient = ap.full(x.shape, 77, np.float32)
    ap.ops.div(ap.from_numpy(x), ap.from_numpy(x[::-1].copy()), quotient)
    np.testing.assert_array_equal(quotient.numpy(), x / x[::-1])
print("exact")
"""


@pytest.mark.parametrize("level", ["base", "v3", "v4"])
def test_roundings_are_exact(level: str) -> None:
    assert run_script(SCRIPT, env={"ACLNN_PY_ISA": level}).check().out == "exact\n"
