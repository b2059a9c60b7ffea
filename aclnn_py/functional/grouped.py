# SPDX-License-Identifier: Apache-2.0
"""Grouped matrix products: one weight per group of rows, and their gradients."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aclnn_py import ops
from aclnn_py.functional.arguments import has_operator
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty, zeros
from aclnn_py.tensor.tensor import Tensor
from aclnn_py.tensor.views import contiguous_strides

__all__ = ["gmm", "gmm_backward", "gmm_v2", "gmm_v2_backward"]

GroupList = Sequence[int] | Tensor
_DTYPES = ("float16", "bfloat16", "float32")
_ENDS, _SIZES = 0, 1
# The results are lists (0) or one tensor (3); cutting nothing gives a list of one.
_SPLIT_NOTHING, _SPLIT_ONE = 0, 3


def gmm(
    x: Tensor,
    weight: Tensor,
    *,
    bias: Tensor | None = None,
    group_list: GroupList | None = None,
    group_type: int = 0,
    gemm_fusion: bool = False,
    original_weight: object = None,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply each group of rows of ``x`` by its own matrix of ``weight``.

    ``y[rows of group e] = x[rows of group e] @ weight[e] + bias[e]``; the groups lie one
    after another, and ``group_list`` holds the row at which each one ends. With ``group_type`` 2
    the groups split the inner dimension: ``y[e] = x[:, group e] @ weight[group e]``.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, k)``; dtype float16 | bfloat16 | float32; format ND. With ``group_type`` 2 a
        transposed view of a ``(k, m)`` tensor.
    weight : Tensor
        Shape ``(groups, k, n)``, ``(k, n)`` with ``group_type`` -1 or 2; dtype of ``x``. A
        transposed view is read in place (``group_type`` 0 and -1).
    bias : Tensor, optional
        Shape ``(groups, n)``; dtype float16 for float16, else float32.
    group_list : sequence of int or Tensor, optional
        Ends of the groups in ascending order; the last one is the grouped length. A Tensor is
        int64 of shape ``(groups,)``. None only with ``group_type`` -1.
    group_type : int, default 0
        What the groups split: 0 the rows (m), 2 the inner dimension (k), -1 nothing.
    gemm_fusion : bool, default False
        Used by the gradient only, see `gmm_backward`. Needs a Tensor as ``group_list``.
    original_weight : object, optional
        Owner of ``main_grad``; used by the gradient only.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``, ``(groups, m, n)`` with ``group_type`` 2; dtype of ``x``.

    Raises
    ------
    TypeError
        A dtype is none of the three, or ``group_list`` is neither a sequence nor an int64 tensor.
    ValueError
        ``group_list`` is missing, superfluous, or does not fit.
    AclnnError
        161002 a shape, dtype or view is refused.

    Notes
    -----
    A sequence is passed by value and may be changed at once; a Tensor is read when the device
    reaches the call. If its values do not fit, the emulator finds out then, and the next
    synchronization raises.

    Source
    ------
    aclnnGroupedMatmulV2 for a sequence, else aclnnGroupedMatmulV5 or V4
    (``include/aclnnop/gmm.h``), CANN >= 8.1.RC1.
    """
    _check_fusion(gemm_fusion, group_list)
    return _grouped(x, weight, bias, group_list, group_type, _ENDS, stream)


def gmm_v2(
    x: Tensor,
    weight: Tensor,
    *,
    bias: Tensor | None = None,
    group_list: Tensor | None = None,
    group_type: int = 0,
    gemm_fusion: bool = False,
    original_weight: object = None,
    stream: Stream | None = None,
) -> Tensor:
    """Multiply each group of rows of ``x`` by its own matrix, groups given by their sizes.

    As `gmm`, but ``group_list`` holds the number of rows of each group.

    Parameters
    ----------
    x : Tensor
        Shape ``(m, k)``; dtype float16 | bfloat16 | float32; format ND. With ``group_type`` 2 a
        transposed view of a ``(k, m)`` tensor.
    weight : Tensor
        Shape ``(groups, k, n)``, ``(k, n)`` with ``group_type`` -1 or 2; dtype of ``x``.
    bias : Tensor, optional
        Shape ``(groups, n)``; dtype float16 for float16, else float32.
    group_list : Tensor, optional
        Sizes of the groups; int64, shape ``(groups,)``. None only with ``group_type`` -1.
    group_type : int, default 0
        What the groups split: 0 the rows (m), 2 the inner dimension (k), -1 nothing.
    gemm_fusion : bool, default False
        Used by the gradient only, see `gmm_v2_backward`.
    original_weight : object, optional
        Owner of ``main_grad``; used by the gradient only.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape ``(m, n)``, ``(groups, m, n)`` with ``group_type`` 2; dtype of ``x``.

    Raises
    ------
    TypeError
        A dtype is none of the three, or ``group_list`` is not an int64 tensor.
    ValueError
        ``group_list`` is missing, superfluous, or does not fit.
    AclnnError
        161002 a shape, dtype or view is refused.

    Source
    ------
    aclnnGroupedMatmulV5 or V4 (``include/aclnnop/gmm.h``), CANN >= 8.1.RC1.
    """
    _check_tensor_list(group_list)
    return _grouped(x, weight, bias, group_list, group_type, _SIZES, stream)


def gmm_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    *,
    group_list: GroupList,
    gemm_fusion: bool = False,
    original_weight: object = None,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None, None]:
    """Compute the gradients of `gmm` with ``group_type`` 0.

    ``grad_x[rows of e] = grad[rows of e] @ weight[e].T`` and ``grad_weight[e] = x[rows of e].T @
    grad[rows of e]``; the gradient of an empty group is zero.

    Parameters
    ----------
    grad : Tensor
        Gradient with respect to the result. Shape ``(m, n)``; dtype of ``x``.
    x : Tensor
        As given to `gmm`. Shape ``(m, k)``.
    weight : Tensor
        As given to `gmm`. Shape ``(groups, k, n)``; may be a transposed view; its gradient is then
        stored in the same order.
    group_list : sequence of int or Tensor
        As given to `gmm`: ends of the groups.
    gemm_fusion : bool, default False
        Add the gradient of the weight to ``original_weight.main_grad`` (float32,
        ``groups * k * n`` elements) instead of returning it.
    original_weight : object, optional
        Has ``main_grad``. If it also has ``grad_added_to_main_grad``, that is set to True and a
        tensor in the shape of ``weight`` is returned, of zeros if ``zero_out_wgrad`` is true.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_x : Tensor
        Shape ``(m, k)``; dtype of ``x``.
    grad_weight : Tensor or None
        Shape of ``weight``; dtype of ``x``. With ``gemm_fusion`` see ``original_weight``.
    grad_bias : None
        CANN's operators do not compute the gradient of the bias.

    Raises
    ------
    TypeError
        ``gemm_fusion`` with a sequence as ``group_list``, or a wrong dtype.
    ValueError
        ``gemm_fusion`` without ``original_weight.main_grad``.
    AclnnError
        161002 or 561002 a shape, dtype or view is refused.

    Source
    ------
    aclnnGroupedMatmulV2, V4 or V5; aclnnGroupedMatmulAdd with ``gemm_fusion``
    (``include/aclnnop/gmm.h``), CANN >= 8.1.RC1.
    """
    _check_fusion(gemm_fusion, group_list)
    return _backward(grad, x, weight, group_list, _ENDS, gemm_fusion, original_weight, stream)


def gmm_v2_backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    *,
    group_list: Tensor,
    gemm_fusion: bool = False,
    original_weight: object = None,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor | None, None]:
    """Compute the gradients of `gmm_v2` with ``group_type`` 0.

    As `gmm_backward`, but ``group_list`` holds the number of rows of each group.

    Parameters
    ----------
    grad : Tensor
        Gradient with respect to the result. Shape ``(m, n)``; dtype of ``x``.
    x : Tensor
        As given to `gmm_v2`. Shape ``(m, k)``.
    weight : Tensor
        As given to `gmm_v2`. Shape ``(groups, k, n)``; may be a transposed view.
    group_list : Tensor
        As given to `gmm_v2`: sizes of the groups.
    gemm_fusion : bool, default False
        Add the gradient of the weight to ``original_weight.main_grad`` instead of returning it.
    original_weight : object, optional
        Has ``main_grad``: see `gmm_backward`.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_x : Tensor
        Shape ``(m, k)``; dtype of ``x``.
    grad_weight : Tensor or None
        Shape of ``weight``; dtype of ``x``. With ``gemm_fusion`` see `gmm_backward`.
    grad_bias : None
        CANN's operators do not compute the gradient of the bias.

    Raises
    ------
    TypeError
        ``group_list`` is not an int64 tensor, or a wrong dtype.
    ValueError
        ``gemm_fusion`` without ``original_weight.main_grad``.
    AclnnError
        161002 or 561002 a shape, dtype or view is refused.

    Source
    ------
    aclnnGroupedMatmulV4 or V5; aclnnGroupedMatmulAdd with ``gemm_fusion``
    (``include/aclnnop/gmm.h``), CANN >= 8.1.RC1.
    """
    _check_tensor_list(group_list)
    return _backward(grad, x, weight, group_list, _SIZES, gemm_fusion, original_weight, stream)


def _check_tensor_list(group_list: object) -> None:
    if group_list is not None and not isinstance(group_list, Tensor):
        raise TypeError(
            "group_list: expected an int64 Tensor of group sizes, "
            f"got {type(group_list).__name__}; gmm takes a sequence of ends"
        )


def _check_fusion(gemm_fusion: bool, group_list: object) -> None:
    if gemm_fusion and not isinstance(group_list, Tensor):
        raise TypeError(
            "group_list: gemm_fusion needs an int64 Tensor of ends, "
            f"got {type(group_list).__name__}"
        )


def _check_operands(**tensors: Tensor) -> None:
    expect_tensors(**tensors)
    for name, tensor in tensors.items():
        if tensor.dtype_name not in _DTYPES:
            raise TypeError(f"{name}: dtype {tensor.dtype_name} is not among {', '.join(_DTYPES)}")


def _check_list(group_list: object) -> GroupList | None:
    """The list itself, or its integers."""
    if group_list is None:
        return None
    if isinstance(group_list, Tensor):
        if group_list.dtype_name != "int64":
            raise TypeError(f"group_list: dtype {group_list.dtype_name} is not int64")
        if group_list.ndim > 1:
            raise ValueError(f"group_list: expected 1 dimension, got shape {group_list.shape}")
        return group_list
    if isinstance(group_list, (str, bytes)) or not isinstance(group_list, Sequence):
        raise TypeError(
            "group_list: expected a sequence of int or an int64 Tensor, "
            f"got {type(group_list).__name__}"
        )
    if isinstance(group_list, list) and all(type(end) is int for end in group_list):
        return group_list  # the caller's own: a graph knows it again, and sees when it changes
    return [int(end) for end in group_list]


def _grouped(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    group_list: object,
    group_type: int | None,
    list_type: int,
    stream: Stream | None,
) -> Tensor:
    _check_operands(x=x, weight=weight)
    groups = _check_list(group_list)
    kind = -1 if group_type is None else group_type
    if kind not in (-1, 0, 2):
        raise ValueError(f"group_type: {kind} is not among -1, 0, 2")
    if (groups is None) != (kind == -1):
        state = "missing" if groups is None else "given"
        raise ValueError(f"group_list: {state} with group_type {kind}")
    if x.ndim < 2 or weight.ndim < 2:
        raise ValueError(
            f"x and weight: expected matrices, got shapes {x.shape} and {weight.shape}"
        )
    shape: tuple[int, ...] = (*x.shape[:-1], weight.shape[-1])
    if kind == 2 and groups is not None:
        shape = (groups.count if isinstance(groups, Tensor) else len(groups), *shape)
    if isinstance(groups, list):
        _check_ends(groups, x.shape[1] if kind == 2 else x.shape[0])
    out = empty(shape, x.dtype_name, device=x.device)
    _launch(x, weight, bias, groups, kind, list_type, out, stream)
    return out


def _check_ends(ends: list[int], length: int) -> None:
    if sorted(ends) != ends or (ends and ends[0] < 0):
        raise ValueError(f"group_list: ends {ends} decrease")
    if (ends[-1] if ends else 0) != length:
        raise ValueError(
            f"group_list: the last end is {ends[-1] if ends else None}, the grouped length {length}"
        )


def _launch(
    x: Tensor,
    weight: Tensor,
    bias: Tensor | None,
    groups: GroupList | None,
    group_type: int,
    list_type: int,
    out: Tensor,
    stream: Stream | None,
) -> None:
    split = _SPLIT_NOTHING if group_type == -1 else _SPLIT_ONE
    biases = None if bias is None else [bias]
    if groups is not None and not isinstance(groups, Tensor):
        ops.grouped_matmul_v2(
            [x], [weight], biases, None, None, None, None, groups, split, group_type, [out],
            stream=stream,
        )  # fmt: skip
    elif has_operator("grouped_matmul_v5"):
        ops.grouped_matmul_v5(
            [x], [weight], biases, None, None, None, None, None, groups, None, None, None,
            split, group_type, list_type, 0, None, [out], None, None, stream=stream,
        )  # fmt: skip
    else:
        ops.grouped_matmul_v4(
            [x], [weight], biases, None, None, None, None, None, groups, None, None, None,
            split, group_type, list_type, 0, [out], None, None, stream=stream,
        )  # fmt: skip


def _backward(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    group_list: object,
    list_type: int,
    fused: bool,
    original_weight: Any,
    stream: Stream | None,
) -> tuple[Tensor, Tensor | None, None]:
    _check_operands(grad=grad, x=x, weight=weight)
    if weight.ndim != 3:
        raise ValueError(f"weight: expected shape (groups, k, n), got {weight.shape}")
    grad_x = _grouped(grad, weight.transpose(-1, -2), None, group_list, 0, list_type, stream)
    # The products that cut the inner dimension take nothing but the transpose of dense rows.
    if fused:
        x, grad = _dense(x, stream), _dense(grad, stream)
        return (
            grad_x,
            _accumulate(grad, x, weight, group_list, list_type, original_weight, stream),
            None,
        )
    turned = not weight.is_contiguous and weight.transpose(-1, -2).is_contiguous
    if turned and isinstance(group_list, Tensor):
        stored = _grouped(_dense(grad, stream).T, x, None, group_list, 2, list_type, stream)
        return grad_x, stored.transpose(-1, -2), None
    rows = _dense(x, stream)
    return grad_x, _grouped(rows.T, grad, None, group_list, 2, list_type, stream), None


def _dense(tensor: Tensor, stream: Stream | None) -> Tensor:
    """Rows without gaps; the library looks at the stride of an axis of length 1 too."""
    strides = contiguous_strides(tensor.shape)
    if tensor.strides == strides:
        return tensor
    if tensor.is_contiguous:
        return tensor.reshape((tensor.count,)).reshape(tensor.shape)
    return tensor.contiguous(stream=stream)


def _accumulate(
    grad: Tensor,
    x: Tensor,
    weight: Tensor,
    group_list: object,
    list_type: int,
    original_weight: Any,
    stream: Stream | None,
) -> Tensor | None:
    """Add the weight's gradient to `main_grad`; what is returned in its place."""
    main_grad = getattr(original_weight, "main_grad", None)
    if not isinstance(main_grad, Tensor):
        raise ValueError("original_weight: gemm_fusion needs an object whose main_grad is a Tensor")
    groups = _check_list(group_list)
    assert isinstance(groups, Tensor)  # _check_fusion and _check_tensor_list saw to it
    target = main_grad.reshape((weight.shape[0], x.shape[1], grad.shape[1]))
    if list_type == _SIZES:
        ends = empty(groups.shape, "int64", device=groups.device)
        ops.cumsum(groups, 0, "int64", ends, stream=stream)
        groups = ends
    ops.grouped_matmul_add(x, grad, groups, target, True, False, 2, stream=stream)
    if not hasattr(original_weight, "grad_added_to_main_grad"):
        return None
    original_weight.grad_added_to_main_grad = True
    make = zeros if getattr(original_weight, "zero_out_wgrad", False) else empty
    return make(weight.shape, x.dtype_name, device=x.device)
