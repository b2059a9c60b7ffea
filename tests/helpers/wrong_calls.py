# SPDX-License-Identifier: Apache-2.0
"""Wrong calls of operators: what each is refused with, and what its message has to name.

Every row is a call that phase one refuses. `setting` gives it what it needs around it: a device,
and for the fused operators a communicator of two ranks, of which the first one calls.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass

import numpy as np

import aclnn_py as ap
from aclnn_py import ops
from helpers.valid_calls import (
    BF16,
    F16,
    attended,
    gathered,
    grouped,
    grouped_add,
    grouped_summed,
    grouped_v2,
    new,
    quantised,
    scattered,
    summed,
    weight_quant,
)


@dataclass(frozen=True)
class WrongCall:
    """One call.

    ``make`` makes it; its argument is the group's name, "" where there is none. ``argument`` is the
    parameter that the broken rule is about, ``rule`` words of that rule.
    """

    name: str
    operator: str
    make: Callable[[str], None]
    status: int
    argument: str
    rule: str
    ranks: int = 1


@contextmanager
def setting(call: WrongCall) -> Iterator[str]:
    """Enter what a call needs and return the name of its group."""
    if call.ranks == 1:
        with ap.Device(0):
            yield ""
        return
    from aclnn_py.distributed import Communicator

    comms = Communicator.init_all(call.ranks)
    try:
        with comms[0].device:
            yield comms[0].name
    finally:
        for comm in comms:
            comm.close()


def two(
    name: str, operator: str, make: Callable[[str], None], status: int, argument: str, rule: str
) -> WrongCall:
    return WrongCall(name, operator, make, status, argument, rule, ranks=2)


AGM, MRS, MAR = "aclnnAllGatherMatmul", "aclnnMatmulReduceScatter", "aclnnMatmulAllReduce"
WQMAR, QMAR = "aclnnWeightQuantMatmulAllReduce", "aclnnQuantMatmulAllReduceV2"
GMMAR, GMM, GMMADD = "aclnnGroupedMatMulAllReduce", "aclnnGroupedMatmulV4", "aclnnGroupedMatmulAdd"
GMM2 = "aclnnGroupedMatmulV2"
FIA = "aclnnFusedInferAttentionScoreV2"

WRONG_CALLS: list[WrongCall] = [
    # fused with communication
    two(
        "float32 rows",
        AGM,
        lambda g: gathered(g, x1=new(4, 256)),
        161002,
        "x1",
        "x1 has dtype FLOAT; allowed: FLOAT16, BFLOAT16",
    ),
    two("no matrix", AGM, lambda g: gathered(g, x2=None), 161001, "x2", "x2 is null"),
    two(
        "short k",
        AGM,
        lambda g: gathered(
            g,
            x1=new(4, 255, dtype=F16),
            x2=new(255, 3, dtype=F16),
            gather_out=new(8, 255, dtype=F16),
        ),
        161002,
        "x1",
        "x1 has 255 columns (k); k must be in [256, 65535)",
    ),
    two(
        "gathers another axis",
        AGM,
        lambda g: gathered(g, gather_index=1),
        561002,
        "gather_index",
        "gather_index is 1; only 0 (x1 is gathered) is supported",
    ),
    two(
        "transposed rows",
        AGM,
        lambda g: gathered(g, x1=new(256, 4, dtype=F16).T),
        161002,
        "x1",
        "x1 is a transposed view; only x2 may be one",
    ),
    two(
        "two dtypes",
        AGM,
        lambda g: gathered(g, x2=new(256, 3, dtype=BF16)),
        161002,
        "x2",
        "x2 has dtype BFLOAT16; it must have that of x1, FLOAT16",
    ),
    two(
        "maximum",
        MRS,
        lambda g: scattered(g, reduce_op="max"),
        561002,
        "reduce_op",
        'reduce_op is max; only "sum" is supported',
    ),
    two(
        "stream mode",
        MRS,
        lambda g: scattered(g, stream_mode=0),
        161002,
        "stream_mode",
        "stream_mode is 0; only 1 (stop on failure) is allowed",
    ),
    two(
        "rows of the matrix",
        MRS,
        lambda g: scattered(g, x2=new(257, 3, dtype=F16)),
        161002,
        "x1",
        "x1 has 256 columns, but x2 has 257 rows",
    ),
    two(
        "bias as a matrix",
        MAR,
        lambda g: summed(g, bias=new(1, 3, dtype=F16)),
        161002,
        "bias",
        "bias has shape (1, 3); expected (3,)",
    ),
    two(
        "slices",
        MAR,
        lambda g: summed(g, comm_turn=1),
        561002,
        "comm_turn",
        "comm_turn is 1; only 0 is supported",
    ),
    two(
        "columns of the result",
        MAR,
        lambda g: summed(g, output=new(2, 4, dtype=F16)),
        161002,
        "output",
        "output has shape (2, 4); expected (2, 3)",
    ),
    two(
        "group of 33",
        WQMAR,
        lambda g: weight_quant(g, antiquant_group_size=33),
        161002,
        "antiquant_group_size",
        "antiquant_group_size is 33; it must be 0, or a multiple of 32 within [32, 63]",
    ),
    two(
        "scale of groups without groups",
        WQMAR,
        lambda g: weight_quant(
            g, antiquant_scale=new(2, 3, dtype=F16), antiquant_offset=new(2, 3, dtype=F16)
        ),
        161002,
        "antiquant_scale",
        "antiquant_scale has shape (2, 3); without groups it must be (1,), (3,) or (1, 3)",
    ),
    two(
        "packed scale, bfloat16 result",
        QMAR,
        lambda g: quantised(g, output=new(2, 3, dtype=BF16)),
        161002,
        "dequant_scale",
        "dequant_scale has dtype UINT64; allowed: BFLOAT16",
    ),
    two(
        "per-token scale as a column",
        QMAR,
        lambda g: quantised(g, dequant_scale=new(3), pertoken_scale=new(2, 1)),
        161002,
        "pertoken_scale",
        "pertokenScale has shape (2, 1); expected one value per row of x1, (2,)",
    ),
    two(
        "unsigned matrix",
        QMAR,
        lambda g: quantised(g, x2=new(64, 3, dtype=np.uint8)),
        161002,
        "x2",
        "x2 has dtype UINT8; allowed: INT8",
    ),
    two(
        "plain scale without tokens",
        QMAR,
        lambda g: quantised(g, dequant_scale=new(3)),
        561002,
        "dequant_scale",
        "dequant_scale has dtype FLOAT; without pertokenScale it must be UINT64 or INT64",
    ),
    two(
        "ends decrease",
        GMMAR,
        lambda g: grouped_summed(g, group_list=[2, 1]),
        161002,
        "group_list[1]",
        "group_list[1] is 1, below its predecessor 2",
    ),
    two(
        "split item 4",
        GMMAR,
        lambda g: grouped_summed(g, split_item=4),
        161002,
        "split_item",
        "split_item is 4; allowed: 0 to 3",
    ),
    two(
        "bias of one group",
        GMMAR,
        lambda g: grouped_summed(g, bias=[new(5, dtype=F16)]),
        161002,
        "bias",
        "bias has 1 tensors; it must have 2",
    ),
    WrongCall(
        "three ranks",
        AGM,
        lambda g: gathered(g, output=new(12, 3, dtype=F16), gather_out=new(12, 256, dtype=F16)),
        561002,
        "group",
        "has 3 ranks; on Ascend910B1 it must have 2, 4 or 8",
        ranks=3,
    ),
    two(
        "rows that do not divide",
        MRS,
        lambda g: scattered(g, x1=new(3, 256, dtype=F16)),
        561002,
        "x1",
        "x1 has 3 rows (m), which 2 ranks cannot share evenly",
    ),
    # grouped products
    WrongCall(
        "groups along N",
        GMM,
        lambda _: grouped(group_type=1),
        161002,
        "group_type",
        "group_type is 1 (the N axis), which is not supported; allowed: -1, 0, 2",
    ),
    WrongCall(
        "no group list",
        GMM,
        lambda _: grouped(group_list=None),
        161002,
        "group_list",
        "group_list is null; groupType 0 with one x needs it",
    ),
    WrongCall(
        "group list of int32",
        GMM,
        lambda _: grouped(group_list=ap.from_numpy(np.array([1, 2, 6], np.int32))),
        161002,
        "group_list",
        "group_list is INT32; allowed: INT64",
    ),
    WrongCall(
        "reserved",
        GMM,
        lambda _: grouped(activation_input=[new(6, 4, dtype=F16)]),
        161002,
        "activation_input",
        "activation_input is given; it is reserved and must be null",
    ),
    WrongCall(
        "depth of a weight",
        GMM,
        lambda _: grouped(weight=[new(3, 7, 5, dtype=F16)]),
        161002,
        "x[0]",
        "x[0] has 4 columns (K), but weight[0] has 7 rows",
    ),
    WrongCall("no x", GMM, lambda _: grouped(x=None), 161001, "x", "x is null"),
    WrongCall(
        "decreasing ends",
        GMM2,
        lambda _: grouped_v2(group_list=[5, 2]),
        161002,
        "group_list[1]",
        "group_list[1] is 2, less than 5 before it; ends do not decrease",
    ),
    WrongCall(
        "x not transposed for K",
        GMM2,
        lambda _: grouped_v2(
            x=[new(5, 6, dtype=F16)],
            weight=[new(6, 3, dtype=F16)],
            group_type=2,
            y=[new(2, 5, 3, dtype=F16)],
        ),
        161002,
        "x",
        "x is not a transposed view; with groupType 2 it is (M, K) with strides (1, M)",
    ),
    WrongCall(
        "half result",
        GMMADD,
        lambda _: grouped_add(y_ref=new(4, 3, dtype=F16)),
        161002,
        "y_ref",
        "y_ref has dtype FLOAT16; allowed: FLOAT",
    ),
    WrongCall(
        "rows differ",
        GMMADD,
        lambda _: grouped_add(weight=new(5, 3, dtype=F16)),
        561002,
        "x",
        "x and weight must have the same number of rows (K).",
    ),
    # products
    WrongCall(
        "depth",
        "aclnnMm",
        lambda _: ops.mm(new(2, 3), new(4, 5), new(2, 5), 0),
        161002,
        "self",
        "self (2, 3) and mat2 (4, 5) cannot be multiplied",
    ),
    WrongCall(
        "three dimensions",
        "aclnnMm",
        lambda _: ops.mm(new(2, 2, 3), new(3, 5), new(2, 5), 0),
        161002,
        "self",
        "self has 3 dimensions; allowed: 2 to 2",
    ),
    WrongCall(
        "result of a product",
        "aclnnMatmul",
        lambda _: ops.matmul(new(2, 3), new(3, 5), new(5, 2), 0),
        161002,
        "out",
        "out has shape (5, 2); expected (2, 5)",
    ),
    WrongCall(
        "integers",
        "aclnnMatmul",
        lambda _: ops.matmul(new(2, 3, dtype=np.int32), new(3, 5), new(2, 5), 0),
        161002,
        "self",
        "self has dtype INT32; allowed: FLOAT, FLOAT16, BFLOAT16",
    ),
    WrongCall(
        "stacks of two lengths",
        "aclnnBatchMatMul",
        lambda _: ops.batch_mat_mul(new(2, 2, 3), new(2, 4, 5), new(2, 2, 5), 0),
        161002,
        "self",
        "self (2, 2, 3) and mat2 (2, 4, 5) cannot be multiplied",
    ),
    # elementwise
    WrongCall(
        "unsigned addend",
        "aclnnAdd",
        lambda _: ops.add(new(2, 3), new(2, 3, dtype=np.uint16), 1.0, new(2, 3)),
        161002,
        "other",
        "other has dtype UINT16; allowed: FLOAT, FLOAT16, INT8, INT32, UINT8, "
        "INT16, INT64, DOUBLE, BOOL, COMPLEX64, COMPLEX128, BFLOAT16",
    ),
    WrongCall(
        "shapes apart",
        "aclnnAdd",
        lambda _: ops.add(new(2, 3), new(2, 4), 1.0, new(2, 3)),
        161002,
        "other",
        "other has shape (2, 4), which does not broadcast with (2, 3)",
    ),
    WrongCall(
        "result of a sum",
        "aclnnMul",
        lambda _: ops.mul(new(2, 3), new(3), new(3)),
        161002,
        "out",
        "out has shape (3,); expected (2, 3)",
    ),
    WrongCall(
        "grows in place",
        "aclnnInplaceAdd",
        lambda _: ops.inplace_add(new(3), new(2, 3), 1.0),
        161002,
        "self_ref",
        "self_ref has shape (3,); expected (2, 3)",
    ),
    WrongCall(
        "no result",
        "aclnnRelu",
        lambda _: ops.relu(new(3), None),
        161001,
        "out",
        "out is null",
    ),
    WrongCall(
        "result of another shape",
        "aclnnSigmoid",
        lambda _: ops.sigmoid(new(3), new(4)),
        161002,
        "out",
        "out has shape (4,); expected (3,)",
    ),
    # reductions, shapes, indices
    WrongCall(
        "axis",
        "aclnnSoftmax",
        lambda _: ops.softmax(new(2, 3), 2, new(2, 3)),
        161002,
        "dim",
        "dim is 2; self has 2 dimensions",
    ),
    WrongCall(
        "same axis twice",
        "aclnnReduceSum",
        lambda _: ops.reduce_sum(new(2, 3), [0, 0], False, "float32", new(3)),
        161002,
        "dims",
        "dims names dimension 0 twice",
    ),
    WrongCall(
        "kept axis",
        "aclnnReduceSum",
        lambda _: ops.reduce_sum(new(2, 3), [1], True, "float32", new(2)),
        161002,
        "out",
        "out has shape (2,); expected (2, 1)",
    ),
    WrongCall(
        "parts",
        "aclnnCat",
        lambda _: ops.cat([new(2, 3), new(2, 4)], 0, new(4, 3)),
        161002,
        "tensors[1]",
        "tensors[1] has shape (2, 4); all but dim 0 must agree with (2, 3)",
    ),
    WrongCall(
        "length of the whole",
        "aclnnCat",
        lambda _: ops.cat([new(2, 3), new(2, 3)], 0, new(5, 3)),
        161002,
        "out",
        "out has shape (5, 3); expected (4, 3)",
    ),
    WrongCall(
        "permutation",
        "aclnnPermute",
        lambda _: ops.permute(new(2, 3), [0, 0], new(2, 2)),
        161002,
        "dims",
        "dims names dimension 0 twice",
    ),
    WrongCall(
        "cast of a shape",
        "aclnnCast",
        lambda _: ops.cast(new(2, 3), "float16", new(3, 2, dtype=F16)),
        161002,
        "out",
        "out has shape (3, 2); expected (2, 3)",
    ),
    WrongCall(
        "indices",
        "aclnnIndexSelect",
        lambda _: ops.index_select(new(2, 3), 0, new(2), new(2, 3)),
        161002,
        "index",
        "index has dtype FLOAT; allowed: INT32, INT64",
    ),
    WrongCall(
        "ranks of the rotation",
        "aclnnRotaryPositionEmbedding",
        lambda _: ops.rotary_position_embedding(
            new(1, 2, 3, 4),
            new(1, 2, 1, 4, dtype=F16),
            new(1, 2, 1, 4, dtype=F16),
            0,
            new(1, 2, 3, 4),
        ),
        161002,
        "cos",
        "cos has dtype FLOAT16; it must have that of x, FLOAT",
    ),
    WrongCall(
        "weight of a norm",
        "aclnnLayerNorm",
        lambda _: ops.layer_norm(new(2, 3), [3], new(2, 3), None, 1e-5, new(2, 3), None, None),
        161002,
        "weight",
        "weight has shape (2, 3); expected (3,)",
    ),
    # attention
    WrongCall(
        "values longer than keys",
        FIA,
        lambda _: attended(value=[new(2, 2, 6, 16, dtype=F16)]),
        561002,
        "value",
        "value has shape (2, 2, 6, 16); its sequences and tokens must be those "
        "of key, (2, 2, 5, 16)",
    ),
    WrongCall(
        "mask of the prefix",
        FIA,
        lambda _: attended(sparse_mode=5),
        561002,
        "sparse_mode",
        "sparse_mode is 5; allowed: 0 to 4",
    ),
    WrongCall(
        "nowhere for the log-sum-exp",
        FIA,
        lambda _: attended(softmax_lse_flag=True),
        161001,
        "softmax_lse",
        "softmax_lse is null",
    ),
]
