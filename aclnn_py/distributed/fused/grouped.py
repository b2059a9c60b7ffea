# SPDX-License-Identifier: Apache-2.0
"""Products of groups that are summed over all ranks."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from aclnn_py import ops
from aclnn_py.distributed.fused.arguments import STOP_ON_FAILURE, communicator_of, tensor_of
from aclnn_py.distributed.groups import Group
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    from aclnn_py.runtime.stream import Stream

__all__ = ["grouped_mat_mul_all_reduce"]

_X_RANKS = tuple(range(2, 9))


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

    ``y[i] = sum over the ranks of (x[i] @ weight[i] + bias[i])``. **The bias of every rank
    counts**: ranks that hold the same bias divide it by their number to see it once.

    Parameters
    ----------
    x : Sequence[Tensor]
        One tensor per group, or with ``split_item`` 1 and 3 a single one whose rows ``group_list``
        cuts. Shape ``(m, k)``, with ``split_item`` 0 also more leading dimensions;
        dtype float16 | bfloat16; format ND.
    weight : Sequence[Tensor]
        One per group, at most 64. Shape ``(k, n)``, not transposed; dtype of ``x``.
    hcomm : Communicator or str, optional
        Communicator or its name; default is the first one of the current device. 1, 2, 4 or 8
        ranks.
    bias : Sequence[Tensor], optional
        One per group, or none. Shape ``(n,)``; dtype float16, or float32 with bfloat16 ``x``.
    group_list : Sequence[int], optional
        Cumulative ends of the groups' rows, with ``split_item`` 1 and 3 only. The last one is the
        number of rows of ``x``; equal neighbours make an empty group.
    split_item : int, default 0
        0 one x and one y per group; 1 one x in all; 2 one y in all; 3 one x and one y in all.
    reduce_op : str, default "sum"
        CANN supports only ``"sum"``.
    comm_turn : int, default 0
        Granularity of communication; CANN supports only 0.
    stream : Stream, optional
        Ordering; default is the current stream. Returns before the device finishes.

    Returns
    -------
    list[Tensor]
        One per group: of the shape of its ``x`` with ``n`` columns, or its rows of ``x``. A single
        one, the groups' rows stacked, with ``split_item`` 2 and 3. dtype of ``x``.

    Raises
    ------
    ValueError
        ``split_item`` is none of 0 to 3, or the lengths of the lists do not fit it.
    AclnnError
        161002 a shape, a dtype, ``group_list``, ``reduce_op``, ``comm_turn`` or the number of
        ranks is refused.
    SymbolNotFoundError
        The loaded library does not have the operator; it is deprecated.

    Notes
    -----
    Collective: every rank of ``hcomm`` calls it with the same shapes and ``group_list``.
    Emulator: float32 accumulation with the bias, one rounding, then the sum in the dtype in the
    order of the ranks. ``ACLNN_PY_REDUCE=fp32`` rounds once, at the end.

    Source
    ------
    aclnnGroupedMatMulAllReduce (``include/aclnnop/mc2.h``), CANN >= 8.0.RC2.
    """
    comm = communicator_of(hcomm, None)
    xs = [tensor_of(value, f"x[{i}]", _X_RANKS) for i, value in enumerate(x)]
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
