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
    parameter that breaks a documented rule, ``rule`` words of that rule.
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
        "dtype float32 is not among float16, bfloat16",
    ),
    two("no matrix", AGM, lambda g: gathered(g, x2=None), 161001, "x2", "must not be None"),
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
        "dimension 1 (k) is 255; allowed is 256 to 65534",
    ),
    two(
        "gathers another axis",
        AGM,
        lambda g: gathered(g, gather_index=1),
        561002,
        "gather_index",
        "1 is not among 0",
    ),
    two(
        "transposed rows",
        AGM,
        lambda g: gathered(g, x1=new(256, 4, dtype=F16).T),
        161002,
        "x1",
        "strides (1, 4) are those of a transposed view; it must be row-major",
    ),
    two(
        "two dtypes",
        AGM,
        lambda g: gathered(g, x2=new(256, 3, dtype=BF16)),
        161002,
        "x2",
        "dtype bfloat16; it must be that of x1, float16",
    ),
    two(
        "maximum",
        MRS,
        lambda g: scattered(g, reduce_op="max"),
        561002,
        "reduce_op",
        "'max' is not among 'sum'",
    ),
    two(
        "stream mode",
        MRS,
        lambda g: scattered(g, stream_mode=0),
        161002,
        "stream_mode",
        "0 is not among 1",
    ),
    two(
        "rows of the matrix",
        MRS,
        lambda g: scattered(g, x2=new(257, 3, dtype=F16)),
        161002,
        "x2",
        "dimension 0 is 257; it must be 256 (k), as dimension 1 of x1",
    ),
    two(
        "bias as a matrix",
        MAR,
        lambda g: summed(g, bias=new(1, 3, dtype=F16)),
        161002,
        "bias",
        "2 dimensions",
    ),
    two("slices", MAR, lambda g: summed(g, comm_turn=1), 561002, "comm_turn", "1 is not among 0"),
    two(
        "columns of the result",
        MAR,
        lambda g: summed(g, output=new(2, 4, dtype=F16)),
        161002,
        "output",
        "dimension 1 is 4; it must be 3 (n), as dimension 1 of x2",
    ),
    two(
        "group of 33",
        WQMAR,
        lambda g: weight_quant(g, antiquant_group_size=33),
        161002,
        "antiquant_group_size",
        "multiple of 32",
    ),
    two(
        "scale of groups without groups",
        WQMAR,
        lambda g: weight_quant(
            g, antiquant_scale=new(2, 3, dtype=F16), antiquant_offset=new(2, 3, dtype=F16)
        ),
        161002,
        "antiquant_scale",
        "it must be (1,) or (n,) or (1, n)",
    ),
    two(
        "packed scale, bfloat16 result",
        QMAR,
        lambda g: quantised(g, output=new(2, 3, dtype=BF16)),
        161002,
        "dequant_scale",
        "dtype uint64; it must be bfloat16",
    ),
    two(
        "per-token scale as a column",
        QMAR,
        lambda g: quantised(g, dequant_scale=new(3), pertoken_scale=new(2, 1)),
        161002,
        "pertoken_scale",
        "2 dimensions; documented are 1",
    ),
    two(
        "unsigned matrix",
        QMAR,
        lambda g: quantised(g, x2=new(64, 3, dtype=np.uint8)),
        161002,
        "x2",
        "dtype uint8 is not among int8",
    ),
    two(
        "plain scale without tokens",
        QMAR,
        lambda g: quantised(g, dequant_scale=new(3)),
        561002,
        "pertoken_scale",
        "needed with a float32 dequant_scale",
    ),
    two(
        "ends decrease",
        GMMAR,
        lambda g: grouped_summed(g, group_list=[2, 1]),
        161002,
        "group_list[1]",
        "1 is less than 2 before it",
    ),
    two(
        "split item 4",
        GMMAR,
        lambda g: grouped_summed(g, split_item=4),
        161002,
        "split_item",
        "4 is not among 0, 1, 2, 3",
    ),
    two(
        "bias of one group",
        GMMAR,
        lambda g: grouped_summed(g, bias=[new(5, dtype=F16)]),
        161002,
        "bias",
        "len(biasOptional) is 1; it must be len(weight), 2",
    ),
    WrongCall(
        "three ranks",
        AGM,
        lambda g: gathered(g, output=new(12, 3, dtype=F16), gather_out=new(12, 256, dtype=F16)),
        561002,
        "group",
        "ranks(group) is 3, not among 2, 4, 8, 16, 32",
        ranks=3,
    ),
    two(
        "rows that do not divide",
        MRS,
        lambda g: scattered(g, x1=new(3, 256, dtype=F16)),
        561002,
        "x1",
        "x1[0] is 3; it must be a multiple of 2",
    ),
    # grouped products
    WrongCall(
        "groups along N",
        GMM,
        lambda _: grouped(group_type=1),
        161002,
        "group_type",
        "1 is not among -1, 0, 2",
    ),
    WrongCall(
        "no group list",
        GMM,
        lambda _: grouped(group_list=None),
        161002,
        "group_list",
        "needed to cut the one x into groups",
    ),
    WrongCall(
        "group list of int32",
        GMM,
        lambda _: grouped(group_list=ap.from_numpy(np.array([1, 2, 6], np.int32))),
        161002,
        "group_list",
        "dtype int32 is not among int64",
    ),
    WrongCall(
        "reserved",
        GMM,
        lambda _: grouped(activation_input=[new(6, 4, dtype=F16)]),
        161002,
        "activation_input",
        "it is reserved",
    ),
    WrongCall(
        "depth of a weight",
        GMM,
        lambda _: grouped(weight=[new(3, 7, 5, dtype=F16)]),
        161002,
        "weight[0]",
        "dimension 1 is 7; it must be 4 (k), as dimension 1 of x[0]",
    ),
    WrongCall("no x", GMM, lambda _: grouped(x=None), 161001, "x", "must not be None"),
    WrongCall(
        "decreasing ends",
        GMM2,
        lambda _: grouped_v2(group_list=[5, 2]),
        161002,
        "group_list[1]",
        "2 is less than 5 before it",
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
        "x[0]",
        "it must be a transposed view",
    ),
    WrongCall(
        "half result",
        GMMADD,
        lambda _: grouped_add(y_ref=new(4, 3, dtype=F16)),
        161002,
        "y_ref",
        "dtype float16 is not among float32",
    ),
    WrongCall(
        "rows differ",
        GMMADD,
        lambda _: grouped_add(weight=new(5, 3, dtype=F16)),
        561002,
        "weight",
        "dimension 0 is 5; it must be 4 (k), as dimension 0 of x",
    ),
    # products
    WrongCall(
        "depth",
        "aclnnMm",
        lambda _: ops.mm(new(2, 3), new(4, 5), new(2, 5), 0),
        161002,
        "mat2",
        "dimension 0 is 4; it must be 3 (k), as dimension 1 of self",
    ),
    WrongCall(
        "three dimensions",
        "aclnnMm",
        lambda _: ops.mm(new(2, 2, 3), new(3, 5), new(2, 5), 0),
        161002,
        "self",
        "3 dimensions; documented are 2",
    ),
    WrongCall(
        "result of a product",
        "aclnnMatmul",
        lambda _: ops.matmul(new(2, 3), new(3, 5), new(5, 2), 0),
        161002,
        "out",
        "dimension 0 is 5; it must be 2 (m), as dimension 0 of self",
    ),
    WrongCall(
        "integers",
        "aclnnMatmul",
        lambda _: ops.matmul(new(2, 3, dtype=np.int32), new(3, 5), new(2, 5), 0),
        161002,
        "self",
        "dtype int32 is not among bfloat16, float16, float32",
    ),
    WrongCall(
        "stacks of two lengths",
        "aclnnBatchMatMul",
        lambda _: ops.batch_mat_mul(new(2, 2, 3), new(2, 4, 5), new(2, 2, 5), 0),
        161002,
        "mat2",
        "dimension 1 is 4; it must be 3 (k), as dimension 2 of self",
    ),
    # elementwise
    WrongCall(
        "unsigned addend",
        "aclnnAdd",
        lambda _: ops.add(new(2, 3), new(2, 3, dtype=np.uint16), 1.0, new(2, 3)),
        161002,
        "other",
        "dtype uint16 is not among float32",
    ),
    WrongCall(
        "shapes apart",
        "aclnnAdd",
        lambda _: ops.add(new(2, 3), new(2, 4), 1.0, new(2, 3)),
        161002,
        "other",
        "shape (2, 4) does not broadcast with (2, 3) of self",
    ),
    WrongCall(
        "result of a sum",
        "aclnnMul",
        lambda _: ops.mul(new(2, 3), new(3), new(3)),
        161002,
        "out",
        "self and other broadcast to (2, 3)",
    ),
    WrongCall(
        "grows in place",
        "aclnnInplaceAdd",
        lambda _: ops.inplace_add(new(3), new(2, 3), 1.0),
        161002,
        "self_ref",
        "self_ref and other broadcast to (2, 3)",
    ),
    WrongCall(
        "no result",
        "aclnnRelu",
        lambda _: ops.relu(new(3), None),
        161001,
        "out",
        "must not be None",
    ),
    WrongCall(
        "result of another shape",
        "aclnnSigmoid",
        lambda _: ops.sigmoid(new(3), new(4)),
        161002,
        "out",
        "shape (4,)",
    ),
    # reductions, shapes, indices
    WrongCall(
        "axis",
        "aclnnSoftmax",
        lambda _: ops.softmax(new(2, 3), 2, new(2, 3)),
        161002,
        "dim",
        "2 is not within -2..1",
    ),
    WrongCall(
        "same axis twice",
        "aclnnReduceSum",
        lambda _: ops.reduce_sum(new(2, 3), [0, 0], False, "float32", new(3)),
        161002,
        "dims",
        "names dimension 0 twice",
    ),
    WrongCall(
        "kept axis",
        "aclnnReduceSum",
        lambda _: ops.reduce_sum(new(2, 3), [1], True, "float32", new(2)),
        161002,
        "out",
        "reducing self gives (2, 1)",
    ),
    WrongCall(
        "parts",
        "aclnnCat",
        lambda _: ops.cat([new(2, 3), new(2, 4)], 0, new(4, 3)),
        161002,
        "tensors[1]",
        "but for dimension 0 it must be (2, 3)",
    ),
    WrongCall(
        "length of the whole",
        "aclnnCat",
        lambda _: ops.cat([new(2, 3), new(2, 3)], 0, new(5, 3)),
        161002,
        "out",
        "the parts give (4, 3)",
    ),
    WrongCall(
        "permutation",
        "aclnnPermute",
        lambda _: ops.permute(new(2, 3), [0, 0], new(2, 2)),
        161002,
        "dims",
        "names dimension 0 twice",
    ),
    WrongCall(
        "cast of a shape",
        "aclnnCast",
        lambda _: ops.cast(new(2, 3), "float16", new(3, 2, dtype=F16)),
        161002,
        "out",
        "shape (3, 2); it must be that of self, (2, 3)",
    ),
    WrongCall(
        "indices",
        "aclnnIndexSelect",
        lambda _: ops.index_select(new(2, 3), 0, new(2), new(2, 3)),
        161002,
        "index",
        "dtype float32 is not among int64, int32",
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
        "dtype float16; it must be that of x, float32",
    ),
    WrongCall(
        "weight of a norm",
        "aclnnLayerNorm",
        lambda _: ops.layer_norm(new(2, 3), [3], new(2, 3), None, 1e-5, new(2, 3), None, None),
        161002,
        "weight",
        "rank(weightOptional) is 2; it must be len(normalizedShape), 1",
    ),
    # attention
    WrongCall(
        "values longer than keys",
        FIA,
        lambda _: attended(value=[new(2, 2, 6, 16, dtype=F16)]),
        561002,
        "value[0]",
        "shape (2, 2, 6, 16); it must be that of key[0], (2, 2, 5, 16)",
    ),
    WrongCall(
        "mask of the prefix",
        FIA,
        lambda _: attended(sparse_mode=5),
        561002,
        "sparse_mode",
        "5 is not among 0, 1, 2, 3, 4",
    ),
    WrongCall(
        "nowhere for the log-sum-exp",
        FIA,
        lambda _: attended(softmax_lse_flag=True),
        161001,
        "softmax_lse",
        "needed with softmax_lse_flag",
    ),
]
