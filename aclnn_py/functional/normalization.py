# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Normalisation of channels, groups and last dimensions."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aclnn_py import ops
from aclnn_py.functional.arguments import (
    check_channels,
    check_normalized,
    expect_numbers,
    expect_optional,
)
from aclnn_py.functional.shapes import statistics_shape
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.operators.describe.scalar import Number
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "batch_norm",
    "group_norm",
    "layer_norm",
    "renorm",
    "rms_norm",
]


def renorm(
    input: Tensor, p: Number, dim: int, maxnorm: Number, *, stream: Stream | None = None
) -> Tensor:
    """Scale down the slices along a dimension whose p-norm exceeds a limit.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    p : number
        Order of the norm.
    dim : int
        Dimension; a negative one counts from the last.
    maxnorm : number
        Largest norm allowed.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRenorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_numbers(maxnorm=maxnorm)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.renorm(input, p, dim, maxnorm, out, stream=stream)
    return out


def layer_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Subtract the mean of the last dimensions and divide by their standard deviation.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    normalized_shape : sequence of int
        Lengths of the last dimensions of ``input``.
    weight : Tensor, optional
        Factors, shape ``normalized_shape``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    bias : Tensor, optional
        Terms, shape ``normalized_shape``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    eps : float, default 1e-05
        Added to the variance.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLayerNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(weight=weight, bias=bias)
    check_normalized(input, normalized_shape, weight=weight, bias=bias)
    out = empty(input.shape, input.dtype_name, device=input.device)
    ops.layer_norm(input, normalized_shape, weight, bias, eps, out, None, None, stream=stream)
    return out


def rms_norm(
    input: Tensor,
    normalized_shape: Sequence[int],
    weight: Tensor,
    eps: float = 1e-06,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Divide by the root mean square of the last dimensions.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    normalized_shape : sequence of int
        Lengths of the last dimensions of ``input``.
    weight : Tensor
        Factors, shape ``normalized_shape``. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRmsNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight)
    check_normalized(input, normalized_shape, weight=weight)
    out = empty(input.shape, input.dtype_name, device=input.device)
    rstd = empty(
        statistics_shape(input.shape, len(normalized_shape)), "float32", device=input.device
    )
    ops.rms_norm(input, weight, eps, out, rstd, stream=stream)
    return out


def group_norm(
    input: Tensor,
    num_groups: int,
    weight: Tensor,
    bias: Tensor,
    eps: float = 1e-05,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Normalise groups of channels.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, ...)``. 2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    num_groups : int
        Number of groups.
    weight : Tensor
        Factors, shape ``(channels,)``. 1 dimension; dtype float32 | float16 | bfloat16.
    bias : Tensor
        Terms, shape ``(channels,)``. 1 dimension; dtype float32 | float16 | bfloat16.
    eps : float, default 1e-05
        Added to the variance.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGroupNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, weight=weight, bias=bias)
    check_channels(input)
    expect_whole(num_groups=num_groups)
    batch, channels, *spatial = input.shape
    out = empty(input.shape, input.dtype_name, device=input.device)
    mean = empty((batch, num_groups), input.dtype_name, device=input.device)
    rstd = empty((batch, num_groups), input.dtype_name, device=input.device)
    ops.group_norm(
        self=input,
        gamma=weight,
        beta=bias,
        n=batch,
        c=channels,
        hx_w=prod(spatial),
        group=num_groups,
        eps=eps,
        out=out,
        mean_out=mean,
        rstd_out=rstd,
        stream=stream,
    )
    return out


def batch_norm(
    input: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    training: bool = False,
    momentum: float = 0.1,
    eps: float = 1e-05,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Normalise channels over a batch.

    Parameters
    ----------
    input : Tensor
        Shape ``(n, channels, ...)``. 2 to 8 dimensions; dtype float32 | float16 | bfloat16.
    running_mean : Tensor
        Shape ``(channels,)``; updated when ``training`` is true. 1 dimension; dtype float32 |
        float16 | bfloat16.
    running_var : Tensor
        Shape ``(channels,)``; updated when ``training`` is true. 1 dimension; dtype float32 |
        float16 | bfloat16.
    weight : Tensor, optional
        Factors, shape ``(channels,)``. 1 dimension; dtype float32 | float16 | bfloat16.
    bias : Tensor, optional
        Terms, shape ``(channels,)``. 1 dimension; dtype float32 | float16 | bfloat16.
    training : bool, default False
        Whether to use the mean and variance of the batch or the running ones.
    momentum : float, default 0.1
        Weight of the batch in the running values.
    eps : float, default 1e-05
        Added to the variance.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Same shape and dtype as ``input``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBatchNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, running_mean=running_mean, running_var=running_var)
    expect_optional(weight=weight, bias=bias)
    check_channels(input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    mean = empty((input.shape[1],), "float32", device=input.device)
    invstd = empty((input.shape[1],), "float32", device=input.device)
    ops.batch_norm(
        input=input,
        weight=weight,
        bias=bias,
        running_mean_ref=running_mean,
        running_var_ref=running_var,
        training=training,
        momentum=momentum,
        eps=eps,
        output=out,
        save_mean=mean,
        save_invstd=invstd,
        stream=stream,
    )
    return out
