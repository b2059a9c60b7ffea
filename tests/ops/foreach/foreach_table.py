# SPDX-License-Identifier: Apache-2.0
"""Every foreach operator of the emulator: its form and its formula in NumPy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..elementwise.elementwise_table import POSITIVE, UNIT, erf, erfc, power, sigmoid


@dataclass(frozen=True)
class Foreach:
    """``form``: l list, o result list, s host scalar, S scalar list, t tensor of one element,
    T tensor with an element per member. Without an o the first list is written."""

    operator: str
    formula: Callable[..., Any]
    form: str = "lo"
    number: float = 2
    domain: tuple[float, float] = (-3.0, 3.0)


UNARY = [
    Foreach("ForeachAbs", np.abs),
    Foreach("ForeachAcos", np.arccos, domain=UNIT),
    Foreach("ForeachAsin", np.arcsin, domain=UNIT),
    Foreach("ForeachAtan", np.arctan),
    Foreach("ForeachCopy", lambda x: x),
    Foreach("ForeachCos", np.cos),
    Foreach("ForeachCosh", np.cosh),
    Foreach("ForeachErf", erf),
    Foreach("ForeachErfc", erfc, domain=(-2.0, 2.0)),
    Foreach("ForeachExp", np.exp),
    Foreach("ForeachExpm1", np.expm1),
    Foreach("ForeachLog", np.log, domain=POSITIVE),
    Foreach("ForeachLog10", np.log10, domain=POSITIVE),
    Foreach("ForeachLog1p", np.log1p, domain=POSITIVE),
    Foreach("ForeachLog2", np.log2, domain=POSITIVE),
    Foreach("ForeachNeg", np.negative),
    Foreach("ForeachReciprocal", lambda x: 1 / x, domain=(1.0, 9.0)),
    Foreach("ForeachSigmoid", sigmoid),
    Foreach("ForeachSign", np.sign),
    Foreach("ForeachSin", np.sin),
    Foreach("ForeachSinh", np.sinh),
    Foreach("ForeachSqrt", np.sqrt, domain=POSITIVE),
    Foreach("ForeachTan", np.tan, domain=(-1.2, 1.2)),
    Foreach("ForeachTanh", np.tanh),
    Foreach("ForeachACosInplace", np.arccos, "l", domain=UNIT),
    Foreach("ForeachLogInplace", np.log, "l", domain=POSITIVE),
    Foreach("ForeachZeroInplace", np.zeros_like, "l"),
]


def scalars(name: str, formula: Callable[..., Any], **options: Any) -> list[Foreach]:
    return [
        Foreach(f"Foreach{name}Scalar", formula, "lto", **options),
        Foreach(f"Foreach{name}ScalarV2", formula, "lso", **options),
        Foreach(f"Foreach{name}ScalarList", formula, "lSo", **options),
    ]


OTHERS = [
    *scalars("Add", lambda x, a: x + a),
    *scalars("Sub", lambda x, a: x - a),
    *scalars("Mul", lambda x, a: x * a),
    *scalars("Div", lambda x, a: x / a),
    *scalars("Maximum", np.maximum),
    *scalars("Minimum", np.minimum),
    *scalars("Pow", power),
    Foreach("ForeachMulList", lambda x, y: x * y, "llo"),
    Foreach("ForeachDivList", lambda x, y: x / y, "llo", domain=(1.0, 9.0)),
    Foreach("ForeachMaximumList", np.maximum, "llo"),
    Foreach("ForeachMinimumList", np.minimum, "llo"),
    Foreach("ForeachPowList", power, "llo", domain=(1.0, 4.0)),
    Foreach("ForeachAddList", lambda x, y, a: x + a * y, "llto"),
    Foreach("ForeachAddListV2", lambda x, y, a: x + a * y, "llso"),
    Foreach("ForeachSubList", lambda x, y, a: x - a * y, "llto"),
    Foreach("ForeachSubListV2", lambda x, y, a: x - a * y, "llso"),
    Foreach("ForeachLerpScalar", lambda x, y, a: x + a * (y - x), "llso", 0.25),
    Foreach("ForeachLerpList", lambda x, y, z: x + z * (y - x), "lllo"),
    *[
        Foreach(f"ForeachAddcmul{form}", lambda x, y, z, a: x + a * y * z, letters)
        for form, letters in [
            ("Scalar", "lllto"),
            ("ScalarV2", "lllso"),
            ("ScalarList", "lllTo"),
            ("List", "lllTo"),
        ]
    ],
    *[
        Foreach(f"ForeachAddcdiv{form}", lambda x, y, z, a: x + a * y / z, letters, domain=(1, 9))
        for form, letters in [
            ("Scalar", "lllto"),
            ("ScalarV2", "lllso"),
            ("ScalarList", "lllTo"),
            ("List", "lllTo"),
        ]
    ],
    Foreach("ForeachMulListInplace", lambda x, y: x * y, "ll"),
    Foreach("ForeachDivListInplace", lambda x, y: x / y, "ll", domain=(1.0, 9.0)),
    Foreach("ForeachAddListInplace", lambda x, y, a: x + a * y, "llt"),
    Foreach("ForeachSubListInplace", lambda x, y, a: x - a * y, "llt"),
    Foreach("ForeachMulScalarInplace", lambda x, a: x * a, "lt"),
    Foreach("ForeachSubScalarInplace", lambda x, a: x - a, "lt"),
]

FOREACH = [*UNARY, *OTHERS]
