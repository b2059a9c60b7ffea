# SPDX-License-Identifier: Apache-2.0
"""Valid arguments of the fused operators, and ways to spoil one of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py.errors import AclnnError, InvalidArgumentError

F16, F32, BF16 = np.float16, np.float32, ml_dtypes.bfloat16
Arguments = dict[str, Any]
Change = Callable[[Arguments], None]


def new(*shape: int, dtype: Any = F16, format: str = "ND") -> ap.Tensor:
    return ap.empty(shape, dtype, format=format)


def sliced(m: int = 4, k: int = 256, n: int = 3, ranks: int = 2) -> Arguments:
    return {"x1": new(m, k), "x2": new(k, n), "bias": None, "output": new(m // ranks, n)}


def gathered(m: int = 4, k: int = 256, n: int = 3, ranks: int = 2) -> Arguments:
    rows = m * ranks
    return {
        **sliced(m, k, n), "output": new(rows, n), "gather_out": new(rows, k), "gather_index": 0,
    }  # fmt: skip


def summed(m: int = 2, k: int = 64, n: int = 3, dtype: Any = F16) -> Arguments:
    return {
        "x1": new(m, k, dtype=dtype),
        "x2": new(k, n, dtype=dtype),
        "bias": new(n, dtype=dtype),
        "x3": new(m, n, dtype=dtype),
        "output": new(m, n, dtype=dtype),
    }


def few_bits() -> Arguments:
    return {
        **summed(),
        "x2": new(64, 3, dtype=np.int8),
        "antiquant_scale": new(3),
        "antiquant_offset": new(3),
        "antiquant_group_size": 0,
    }


def integers() -> Arguments:
    return {
        **summed(),
        "x1": new(2, 64, dtype=np.int8),
        "x2": new(64, 3, dtype=np.int8),
        "bias": new(3, dtype=np.int32),
        "dequant_scale": new(3, dtype=np.uint64),
        "pertoken_scale": None,
        "comm_quant_scale1": None,
        "comm_quant_scale2": None,
    }


def grouped() -> Arguments:
    return {
        "x": [new(3, 4)],
        "weight": [new(4, 5), new(4, 5)],
        "bias": [new(5), new(5)],
        "group_list": [1, 3],
        "split_item": 3,
        "y": [new(3, 5)],
    }


def with_norm(base: Callable[[], Arguments]) -> Callable[[], Arguments]:
    def build() -> Arguments:
        arguments = {name: value for name, value in base().items() if name != "x3"}
        del arguments["output"]
        residual = {"residual": new(1, 2, 3), "residual_ref": new(1, 2, 3)}
        outputs = {"y": new(1, 2, 3), "norm_out": new(1, 2, 3)}
        return {**arguments, **residual, **outputs, "gamma": new(3), "epsilon": 1e-6}

    return build


BASES: dict[str, Callable[[], Arguments]] = {
    "all_gather_matmul": gathered,
    "matmul_reduce_scatter": sliced,
    "matmul_all_reduce": summed,
    "matmul_all_reduce_v2": summed,
    "weight_quant_matmul_all_reduce": few_bits,
    "quant_matmul_all_reduce": integers,
    "quant_matmul_all_reduce_v2": integers,
    "quant_matmul_all_reduce_v3": integers,
    "grouped_mat_mul_all_reduce": grouped,
    "matmul_all_reduce_add_rms_norm": with_norm(summed),
    "weight_quant_matmul_all_reduce_add_rms_norm": with_norm(few_bits),
    "quant_matmul_all_reduce_add_rms_norm": with_norm(integers),
    "inplace_matmul_all_reduce_add_rms_norm": with_norm(summed),
    "inplace_weight_quant_matmul_all_reduce_add_rms_norm": with_norm(few_bits),
    "inplace_quant_matmul_all_reduce_add_rms_norm": with_norm(integers),
}
SLICED = ["all_gather_matmul", "matmul_reduce_scatter"]
FLOATING = ["matmul_all_reduce", "matmul_all_reduce_v2", "matmul_all_reduce_add_rms_norm"]
WEIGHTS = [name for name in BASES if "weight_quant" in name]
INT8 = [name for name in BASES if "quant_" in name and "weight_quant" not in name]
NORMS = [name for name in BASES if "rms_norm" in name]
ALL_REDUCE = [name for name in BASES if name not in (*SLICED, "grouped_mat_mul_all_reduce")]
GROUPED = "grouped_mat_mul_all_reduce"
NZ = "FRACTAL_NZ"


def plan(name: str, group: str | None, change: Arguments | Change = {}) -> ap.Plan:  # noqa: B006
    """Phase one with the arguments of the base, changed."""
    arguments = BASES[name]()
    arguments |= {"group": group, "reduce_op": "sum", "comm_turn": 0, "stream_mode": 1}
    if callable(change):
        change(arguments)
    else:
        arguments |= change
    op = getattr(ops, name)
    taken = {p.name for p in op.parameters}
    assert callable(change) or set(change) <= taken, f"{name} has no {set(change) - taken}"
    return ap.plan(op, **{key: value for key, value in arguments.items() if key in taken})


def refused(name: str, group: str | None, change: Arguments | Change = {}) -> AclnnError:  # noqa: B006
    with pytest.raises(AclnnError) as caught:
        plan(name, group, change)
    error = caught.value
    c_name = getattr(ops, name).c_name
    assert c_name in str(error)
    assert isinstance(error, InvalidArgumentError) == (error.status in (161001, 161002))
    return error


def shape(argument: str, *dims: int, dtype: Any = F16, format: str = "ND") -> Change:
    def change(arguments: Arguments) -> None:
        arguments[argument] = new(*dims, dtype=dtype, format=format)

    change.__name__ = f"{argument}={dims} {np.dtype(dtype).name} {format}"
    return change


def both(*changes: Change) -> Change:
    def change(arguments: Arguments) -> None:
        for one in changes:
            one(arguments)

    change.__name__ = ", ".join(one.__name__ for one in changes)
    return change


def value(**given: Any) -> Change:
    def change(arguments: Arguments) -> None:
        arguments |= given

    change.__name__ = str(given)
    return change


def turned(argument: str) -> Change:
    def change(arguments: Arguments) -> None:
        rows, columns = arguments[argument].shape
        arguments[argument] = new(columns, rows).T

    change.__name__ = f"{argument} transposed"
    return change


def sliced_of(**sizes: int) -> Change:
    def change(arguments: Arguments) -> None:
        base = gathered if "gather_index" in arguments else sliced
        arguments |= base(**sizes)

    change.__name__ = str(sizes)
    return change


def numbered(argument: str, index: int, *dims: int, dtype: Any = F16) -> Change:
    def change(arguments: Arguments) -> None:
        arguments[argument][index] = new(*dims, dtype=dtype)

    change.__name__ = f"{argument}[{index}]={dims} {np.dtype(dtype).name}"
    return change
