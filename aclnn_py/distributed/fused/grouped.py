# SPDX-License-Identifier: Apache-2.0
"""Grouped matrix products that are summed over all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import STOP_ON_FAILURE, communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.operators.describe.argument_errors import expect_sequence
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["grouped_mat_mul_all_reduce"]

_X_DIMENSIONS = tuple(range(2, 9))


def grouped_mat_mul_all_reduce(
    x: Sequence[Tensor],
    weight: Sequence[Tensor],
    hcomm: Group = None,
    *,
    bias: Sequence[Tensor] | None = None,
    group_list: Sequence[int] | None = None,
    split_item: int = 0,
    reduce_op: str = "sum",
    comm_turn: int = 0,
    stream: Stream | None = None,
) -> list[Tensor]:
    """Multiply each group by its own weight on every rank, and sum the products over the ranks.

    ``y[i] = sum over the ranks of (x[i] @ weight[i] + bias[i])``. **The bias of every rank is
    added**: when all ranks hold the same bias, divide it by the number of ranks.

    Parameters
    ----------
    x : Sequence[Tensor]
        One tensor per group. With ``split_item`` 1 and 3: a single tensor whose rows ``group_list``
        divides among the groups. Shape ``(m, k)``; with ``split_item`` 0 more leading dimensions
        are allowed. dtype float16 | bfloat16; format ND.
    weight : Sequence[Tensor]
        One per group, at most 64. Shape ``(k, n)``, not transposed; dtype of ``x``.
    hcomm : Communicator or str, optional
        A communicator or its name; default is the first one made on the current device.
    bias : Sequence[Tensor], optional
        One per group, or none. Shape ``(n,)``; dtype float16, or float32 when ``x`` is bfloat16.
    group_list : Sequence[int], optional
        For ``split_item`` 1 and 3 only: the row after the last row of each group. The last entry is
        the number of rows of ``x``; two equal neighbours make an empty group.
    split_item : int, default 0
        0: one x and one y per group. 1: a single x. 2: a single y. 3: a single x and a single y.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of the communication; CANN supports only 0.
    stream : Stream, optional
        Stream to queue on; default is the current one. Returns before the device finishes.

    Returns
    -------
    list[Tensor]
        One tensor per group, with the rows of that group and ``n`` columns. With ``split_item`` 2
        and 3: a single tensor with the rows of all groups. dtype of ``x``.

    Raises
    ------
    ValueError
        ``split_item`` is none of 0 to 3, or the lengths of the lists do not fit it.
    AclnnError
        161002: a shape, a dtype, ``group_list``, ``reduce_op``, ``comm_turn`` or the number of
        ranks is refused.
    SymbolNotFoundError
        The loaded library does not have the operator; it is deprecated.

    Notes
    -----
    Collective: every rank of ``hcomm`` calls it with the same shapes and ``group_list``. CANN
    supports 1, 2, 4 or 8 ranks.
    Emulator: the product and the bias are accumulated in float32 and rounded; then the ranks are
    summed in rank order, in the dtype of the result. With ``ACLNN_PY_REDUCE=fp32`` there is one
    rounding, at the end.

    Source
    ------
    aclnnGroupedMatMulAllReduce (``include/aclnnop/mc2.h``), CANN >= 8.0.RC2.
    """
    comm = communicator_of(hcomm, None)
    for name, given in (("x", x), ("weight", weight), ("bias", bias)):
        if given is not None:
            expect_sequence(name, given, "tensors")
    xs = [tensor_of(value, f"x[{i}]", _X_DIMENSIONS) for i, value in enumerate(x)]
    weights = [tensor_of(value, f"weight[{i}]", (2,)) for i, value in enumerate(weight)]
    shapes = _result_shapes(xs, weights, group_list, split_item)
    y = [empty(shape, xs[0].dtype_name, device=comm.device) for shape in shapes]
    ops.grouped_mat_mul_all_reduce(
        xs,
        weights,
        list(bias) if bias else None,
        group_list,
        split_item,
        comm.name,
        reduce_op,
        comm_turn,
        STOP_ON_FAILURE,
        y,
        stream=comm.stream(stream),
    )
    return y


def _result_shapes(
    xs: list[Tensor], weights: list[Tensor], group_list: Sequence[int] | None, split_item: int
) -> list[tuple[int, ...]]:
    if split_item not in (0, 1, 2, 3):
        raise ValueError(f"split_item: expected 0, 1, 2 or 3, got {split_item!r}")
    if not weights:
        raise ValueError("weight: needs at least one tensor")
    cut = split_item in (1, 3)
    wanted = 1 if cut else len(weights)
    if len(xs) != wanted:
        raise ValueError(f"x: {len(xs)} tensors; split_item {split_item} needs {wanted}")
    if cut != (group_list is not None):
        raise ValueError(
            f"group_list: split_item {split_item} needs {'one' if cut else 'none'},"
            f" got {group_list}"
        )
    if split_item == 0:
        return [(*a.shape[:-1], w.shape[1]) for a, w in zip(xs, weights, strict=True)]
    if split_item == 1:
        assert group_list is not None
        if len(group_list) != len(weights):
            raise ValueError(
                f"group_list: {len(group_list)} entries, expected one per weight, {len(weights)}"
            )
        ends = [int(end) for end in group_list]
        rows = [max(0, end - begin) for begin, end in zip([0, *ends], ends, strict=False)]
        return [(m, w.shape[1]) for m, w in zip(rows, weights, strict=True)]
    return [(sum(a.shape[0] for a in xs), weights[0].shape[1])]
