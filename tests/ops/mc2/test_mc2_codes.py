# SPDX-License-Identifier: Apache-2.0
"""What phase one of the fused operators refuses: the code, the class and the argument named."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as ap

from .mc2_arguments import (
    ALL_REDUCE,
    BASES,
    BF16,
    F16,
    F32,
    FLOATING,
    GROUPED,
    INT8,
    NORMS,
    NZ,
    SLICED,
    WEIGHTS,
    Arguments,
    Change,
    both,
    numbered,
    plan,
    refused,
    shape,
    sliced_of,
    turned,
    value,
)


@pytest.fixture(autouse=True)
def _on_device_0(device: ap.Device) -> None:
    pass


@pytest.mark.parametrize("name", BASES)
def test_what_the_changes_start_from_is_accepted(name: str, groups: dict[int, str]) -> None:
    step = plan(name, groups[2])
    assert step.workspace_nbytes > 0
    step.close()


Case = tuple[list[str], Arguments, int, str]
TABLE: list[Case] = [
    # mandatory tensors
    (SLICED, {"x1": None}, 161001, "x1"),
    (SLICED, {"x2": None}, 161001, "x2"),
    (SLICED, {"output": None}, 161001, "output"),
    (ALL_REDUCE, {"x1": None}, 161001, "x1"),
    (ALL_REDUCE, {"x2": None}, 161001, "x2"),
    (WEIGHTS, {"antiquant_scale": None}, 161001, "antiquantScale"),
    (INT8, {"dequant_scale": None}, 161001, "dequantScale"),
    (NORMS, {"gamma": None}, 161001, "gamma"),
    (NORMS, {"norm_out": None}, 161001, "normOut"),
    ([GROUPED], {"x": None}, 161001, "x"),
    ([GROUPED], {"weight": None}, 161002, "weight"),
    ([GROUPED], {"y": None}, 161002, "y"),
    # attributes
    (list(BASES), {"stream_mode": 0}, 161002, "streamMode"),
    ([n for n in BASES if n != GROUPED], {"comm_turn": 1}, 561002, "commTurn"),
    ([GROUPED], {"comm_turn": 1}, 161002, "commTurn"),
    ([*ALL_REDUCE, GROUPED], {"reduce_op": "max"}, 161002, "reduceOp"),
    (["matmul_reduce_scatter"], {"reduce_op": "max"}, 561002, "reduceOp"),
    (["all_gather_matmul"], {"gather_index": 1}, 561002, "gatherIndex"),
    ([n for n in BASES if n != GROUPED], {"group": "nobody"}, 361001, "nobody"),
    ([GROUPED], {"group": "nobody"}, 161002, "nobody"),
    (NORMS, {"epsilon": 0.0}, 561002, "epsilon"),
    (NORMS, {"epsilon": 1.0}, 561002, "epsilon"),
]


@pytest.mark.parametrize(
    ("name", "change", "status", "argument"),
    [
        pytest.param(name, change, status, argument, id=f"{name}-{change}")
        for names, change, status, argument in TABLE
        for name in names
    ],
)
def test_decision_table(
    name: str, change: Arguments, status: int, argument: str, groups: dict[int, str]
) -> None:
    error = refused(name, groups[2], change)
    assert (error.status, argument in str(error)) == (status, True), error


BF16_OUTPUT = both(shape("output", 2, 3, dtype=BF16), value(x3=None))
SHAPES: list[tuple[list[str], Change, int]] = [
    # AGM-5 and MRS-4
    (SLICED, sliced_of(k=255), 161002),
    (SLICED, sliced_of(k=65535), 161002),
    (SLICED, shape("x2", 256, 3, dtype=BF16), 161002),
    (SLICED, shape("x1", 4, 256, dtype=F32), 161002),
    (SLICED, shape("bias", 3, dtype=BF16), 161002),
    (SLICED, shape("x1", 4, 0), 161002),
    (SLICED, turned("x1"), 161002),
    (SLICED, shape("x1", 1, 4, 256), 161002),
    (SLICED, shape("x2", 257, 3), 161002),
    (SLICED, shape("output", 2, 4), 161002),
    (SLICED, shape("output", 5, 3), 161002),
    (SLICED, shape("x2", 256, 3, format=NZ), 561002),
    (["all_gather_matmul"], shape("gather_out", 8, 255), 161002),
    (["all_gather_matmul"], shape("gather_out", 7, 256), 161002),
    (["matmul_reduce_scatter"], sliced_of(m=3), 561002),
    # the first line of checks comes before the second
    (SLICED, both(value(comm_turn=1), shape("x2", 256, 3, dtype=BF16)), 161002),
    (ALL_REDUCE, both(value(comm_turn=1), shape("x1", 2, 64, dtype=F32)), 161002),
    # MAR-7
    (FLOATING, shape("bias", 1, 3), 161002),
    (FLOATING, shape("bias", 4), 161002),
    (FLOATING, shape("bias", 3, dtype=F32), 161002),
    (["matmul_all_reduce_v2"], shape("x3", 3), 161002),
    (["matmul_all_reduce_v2"], shape("x3", 2, 3, dtype=BF16), 161002),
    (FLOATING, shape("x2", 64, 3, dtype=BF16), 161002),
    (FLOATING, shape("x2", 65, 3), 161002),
    (FLOATING, shape("x2", 1, 64, 3), 161002),
    (FLOATING, shape("x1", 64), 161002),
    (FLOATING, shape("x1", 1, 1, 2, 64), 161002),
    (FLOATING, shape("x2", 64, 3, format=NZ), 161002),
    (["matmul_all_reduce", "matmul_all_reduce_v2"], shape("output", 3, 3), 161002),
    (["matmul_all_reduce", "matmul_all_reduce_v2"], shape("output", 2, 4), 161002),
    (
        ["matmul_all_reduce"],
        both(shape("x1", 0, 64), shape("output", 0, 3)),
        561002,
    ),
    # WQ-4
    (WEIGHTS, value(antiquant_group_size=16), 161002),
    (WEIGHTS, value(antiquant_group_size=33), 161002),
    (WEIGHTS, value(antiquant_group_size=64), 161002),
    (WEIGHTS, value(antiquant_group_size=-32), 161002),
    (WEIGHTS, shape("antiquant_scale", 2, 3), 161002),
    (WEIGHTS, both(value(antiquant_group_size=32), shape("antiquant_scale", 1, 3)), 161002),
    (WEIGHTS, shape("antiquant_offset", 1, 3), 161002),
    (WEIGHTS, shape("antiquant_scale", 3, dtype=BF16), 161002),
    (WEIGHTS, shape("bias", 3, dtype=F32), 161002),
    (WEIGHTS, shape("x2", 64, 3, dtype=np.int32), 161002),
    (
        ["weight_quant_matmul_all_reduce"],
        both(shape("x1", 2, 65536), shape("x2", 65536, 3, dtype=np.int8)),
        561002,
    ),
    # QMAR-7
    (INT8, shape("x2", 64, 3, dtype=np.uint8), 161002),
    (INT8, shape("bias", 3, dtype=F32), 161002),
    (INT8, shape("dequant_scale", 3, dtype=BF16), 161002),
    (INT8, shape("dequant_scale", 3, dtype=F32), 561002),
    (INT8, shape("dequant_scale", 2, dtype=np.uint64), 161002),
    (INT8, shape("dequant_scale", 3, 1, dtype=np.uint64), 161002),
    (INT8, shape("x2", 63, 3, dtype=np.int8), 161002),
    (["quant_matmul_all_reduce_v2"], BF16_OUTPUT, 161002),
    (["quant_matmul_all_reduce_v2"], shape("pertoken_scale", 2, dtype=F32), 161002),
    (
        ["quant_matmul_all_reduce_v2"],
        both(shape("dequant_scale", 3, dtype=F32), shape("pertoken_scale", 2, 1, dtype=F32)),
        161002,
    ),
    (
        ["quant_matmul_all_reduce_v2"],
        both(shape("dequant_scale", 3, dtype=F32), shape("pertoken_scale", 2, dtype=F16)),
        161002,
    ),
    (["quant_matmul_all_reduce_v3"], shape("comm_quant_scale1", 3), 161002),
    (["quant_matmul_all_reduce_v3"], shape("comm_quant_scale2", 3), 161002),
    (
        ["quant_matmul_all_reduce_v3"],
        both(shape("comm_quant_scale1", 3), shape("comm_quant_scale2", 3, dtype=BF16)),
        161002,
    ),
    (
        ["quant_matmul_all_reduce_v3"],
        both(shape("comm_quant_scale1", 1), shape("comm_quant_scale2", 3)),
        161002,
    ),
    (
        ["quant_matmul_all_reduce"],
        both(shape("x1", 2, 0, dtype=np.int8), shape("x2", 0, 3, dtype=np.int8)),
        561002,
    ),
    # a blocked x2 is judged by the second line of checks
    (INT8, shape("x2", 63, 3, dtype=np.int8, format=NZ), 561002),
    (WEIGHTS, shape("x2", 63, 3, dtype=np.int8, format=NZ), 561002),
    # residual and norm
    (NORMS, shape("gamma", 4), 161002),
    (NORMS, shape("gamma", 3, dtype=BF16), 161002),
    (NORMS, shape("norm_out", 2, 3), 161002),
    ([n for n in NORMS if "inplace" not in n], shape("residual", 2, 3), 161002),
    ([n for n in NORMS if "inplace" not in n], shape("residual", 1, 3, 3), 161002),
    ([n for n in NORMS if "inplace" in n], shape("residual_ref", 1, 2, 4), 161002),
    # GMMAR-4
    ([GROUPED], value(split_item=4), 161002),
    ([GROUPED], value(split_item=0), 161002),
    ([GROUPED], value(split_item=2), 161002),
    ([GROUPED], value(group_list=None), 161002),
    ([GROUPED], value(group_list=[2, 1]), 161002),
    ([GROUPED], value(group_list=[-1, 3]), 161002),
    ([GROUPED], value(group_list=[1, 2]), 161002),
    ([GROUPED], value(group_list=[3]), 161002),
    ([GROUPED], lambda a: a["bias"].pop(), 161002),
    ([GROUPED], lambda a: a["weight"].pop(), 161002),
    ([GROUPED], numbered("weight", 1, 3, 5), 161002),
    ([GROUPED], numbered("weight", 1, 4, 6), 161002),
    ([GROUPED], numbered("weight", 0, 1, 4, 5), 161002),
    ([GROUPED], numbered("weight", 0, 4, 5, dtype=BF16), 161002),
    ([GROUPED], numbered("bias", 0, 4), 161002),
    ([GROUPED], numbered("bias", 0, 5, dtype=F32), 161002),
    ([GROUPED], numbered("y", 0, 4, 5), 161002),
    ([GROUPED], numbered("x", 0, 1, 3, 4), 161002),
]


@pytest.mark.parametrize(
    ("name", "change", "status"),
    [
        pytest.param(name, change, status, id=f"{name}-{change.__name__}")
        for names, change, status in SHAPES
        for name in names
    ],
)
def test_shapes_and_dtypes(name: str, change: Change, status: int, groups: dict[int, str]) -> None:
    error = refused(name, groups[2], change)
    assert error.status == status, error
