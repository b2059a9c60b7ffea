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
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "add_layer_norm",
    "add_rms_norm",
    "add_rms_norm_",
    "add_rms_norm_cast",
    "add_rms_norm_dynamic_quant",
    "add_rms_norm_quant",
    "batch_norm",
    "gemma_rms_norm",
    "group_norm",
    "layer_norm",
    "renorm",
    "rms_norm",
    "rms_norm_dynamic_quant",
]


@remembered
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


@remembered
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


def gemma_rms_norm(
    input: Tensor, gamma: Tensor, eps: float = 1e-06, *, stream: Stream | None = None
) -> Tensor:
    """Divide by the root mean square and multiply by ``1 + gamma``.

    Parameters
    ----------
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    gamma : Tensor
        Factors less 1, shape of the last dimensions of ``input``. 1 to 8 dimensions; dtype float32
        | float16 | bfloat16.
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
    aclnnGemmaRmsNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, gamma=gamma)
    out = empty(input.shape, input.dtype_name, device=input.device)
    rstd = empty(statistics_shape(input.shape, gamma.ndim), "float32", device=input.device)
    ops.gemma_rms_norm(input, gamma, eps, out, rstd, stream=stream)
    return out


def rms_norm_dynamic_quant(
    input: Tensor,
    gamma: Tensor,
    *,
    smooth_scales: Tensor | None = None,
    beta: Tensor | None = None,
    eps: float = 1e-06,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Divide by the root mean square and quantise each row.

    Parameters
    ----------
    input : Tensor
        2 to 8 dimensions; dtype float16 | bfloat16.
    gamma : Tensor
        Factors, shape of the last dimension. 1 dimension; dtype float16 | bfloat16.
    smooth_scales : Tensor, optional
        What normalised values are multiplied with; shape of ``gamma``. 1 dimension; dtype float16 |
        bfloat16.
    beta : Tensor, optional
        Terms of the normalised values, shape of ``gamma``. 1 dimension; dtype float16 | bfloat16.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``input``; dtype int8.
    scale : Tensor
        One factor for each row, float32; shape of ``input`` without the last dimension.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRmsNormDynamicQuant (``include/aclnnop/norm.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(input=input, gamma=gamma)
    expect_optional(smooth_scales=smooth_scales, beta=beta)
    out = empty(input.shape, "int8", device=input.device)
    scale = empty(input.shape[:-1], "float32", device=input.device)
    ops.rms_norm_dynamic_quant(input, gamma, smooth_scales, beta, eps, 2, out, scale, stream=stream)
    return out, scale


def add_rms_norm(
    x1: Tensor, x2: Tensor, gamma: Tensor, eps: float = 1e-06, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor, Tensor]:
    """Add and divide by the root mean square.

    Parameters
    ----------
    x1 : Tensor
        First operand. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    x2 : Tensor
        Second operand, shape and dtype of ``x1``. 1 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    gamma : Tensor
        Factors, shape of the last dimensions of ``x1``. 1 to 8 dimensions; dtype float32 | float16
        | bfloat16.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        The normalised sum; shape and dtype of ``x1``.
    rstd : Tensor
        Reciprocal of the root mean square, float32; shape of ``x1`` with 1 for the normalised
        dimensions.
    total : Tensor
        The sum itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddRmsNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, gamma=gamma)
    out = empty(x1.shape, x1.dtype_name, device=x1.device)
    rstd = empty(statistics_shape(x1.shape, gamma.ndim), "float32", device=x1.device)
    total = empty(x1.shape, x1.dtype_name, device=x1.device)
    ops.add_rms_norm(x1, x2, gamma, eps, out, rstd, total, stream=stream)
    return out, rstd, total


def add_rms_norm_(
    x1: Tensor, x2: Tensor, gamma: Tensor, eps: float = 1e-06, *, stream: Stream | None = None
) -> Tensor:
    """Add and divide by the root mean square, in place.

    Parameters
    ----------
    x1 : Tensor
        First operand; becomes the normalised sum.
    x2 : Tensor
        Second operand, shape and dtype of ``x1``; becomes the sum.
    gamma : Tensor
        Factors, shape of the last dimensions of ``x1``.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``x1`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnInplaceAddRmsNorm (``include/aclnnop/norm.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, gamma=gamma)
    ops.inplace_add_rms_norm(
        x1,
        x2,
        gamma,
        eps,
        empty(statistics_shape(x1.shape, gamma.ndim), "float32", device=x1.device),
        stream=stream,
    )
    return x1


def add_rms_norm_cast(
    x1: Tensor, x2: Tensor, gamma: Tensor, eps: float = 1e-06, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Add and divide by the root mean square, with the result in float32 as well.

    Parameters
    ----------
    x1 : Tensor
        First operand. 1 to 8 dimensions; dtype float16 | bfloat16.
    x2 : Tensor
        Second operand, shape and dtype of ``x1``. 1 to 8 dimensions; dtype float16 | bfloat16.
    gamma : Tensor
        Factors, shape of the last dimensions of ``x1``. 1 to 8 dimensions; dtype float16 |
        bfloat16.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    wide : Tensor
        The normalised sum, float32.
    out : Tensor
        The normalised sum; shape and dtype of ``x1``.
    rstd : Tensor
        Reciprocal of the root mean square, float32; shape of ``x1`` with 1 for the normalised
        dimensions.
    total : Tensor
        The sum itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddRmsNormCast (``include/aclnnop/norm.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, gamma=gamma)
    wide = empty(x1.shape, "float32", device=x1.device)
    out = empty(x1.shape, x1.dtype_name, device=x1.device)
    rstd = empty(statistics_shape(x1.shape, gamma.ndim), "float32", device=x1.device)
    total = empty(x1.shape, x1.dtype_name, device=x1.device)
    ops.add_rms_norm_cast(x1, x2, gamma, eps, wide, out, rstd, total, stream=stream)
    return wide, out, rstd, total


def add_rms_norm_quant(
    x1: Tensor,
    x2: Tensor,
    gamma: Tensor,
    scale: Tensor,
    zero_point: Tensor | None = None,
    eps: float = 1e-06,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Add, divide by the root mean square and quantise.

    Parameters
    ----------
    x1 : Tensor
        First operand. 1 to 8 dimensions; dtype float16 | bfloat16 | float32.
    x2 : Tensor
        Second operand, shape and dtype of ``x1``. 1 to 8 dimensions; dtype float16 | bfloat16 |
        float32.
    gamma : Tensor
        Factors, shape of the last dimensions of ``x1``. 1 to 8 dimensions; dtype float16 | bfloat16
        | float32.
    scale : Tensor
        Divisors, shape of ``gamma``. 1 to 8 dimensions; dtype float32 | bfloat16 | float16.
    zero_point : Tensor, optional
        Terms, shape of ``gamma``. 1 to 8 dimensions; dtype bfloat16 | int32 | float32 | float16.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        The normalised sum divided by ``scale``; shape of ``x1``, dtype int8.
    total : Tensor
        The sum itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddRmsNormQuant (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, gamma=gamma, scale=scale)
    expect_optional(zero_point=zero_point)
    out = empty(x1.shape, "int8", device=x1.device)
    unused = empty((1,), "int8", device=x1.device)
    total = empty(x1.shape, x1.dtype_name, device=x1.device)
    ops.add_rms_norm_quant(
        x1=x1,
        x2=x2,
        gamma=gamma,
        scales1=scale,
        scales2=None,
        zero_points1=zero_point,
        zero_points2=None,
        axis=-1,
        epsilon=eps,
        div_mode=True,
        y1_out=out,
        y2_out=unused,
        x_out=total,
        stream=stream,
    )
    return out, total


def add_rms_norm_dynamic_quant(
    x1: Tensor,
    x2: Tensor,
    gamma: Tensor,
    *,
    smooth_scale: Tensor | None = None,
    eps: float = 1e-06,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Add, divide by the root mean square and quantise each row.

    Parameters
    ----------
    x1 : Tensor
        First operand. 2 to 8 dimensions; dtype float16 | bfloat16.
    x2 : Tensor
        Second operand, shape and dtype of ``x1``. 2 to 8 dimensions; dtype float16 | bfloat16.
    gamma : Tensor
        Factors, shape of the last dimensions of ``x1``. 1 dimension; dtype float16 | bfloat16.
    smooth_scale : Tensor, optional
        What normalised values are multiplied with; shape of ``gamma``. 1 dimension; dtype float16 |
        bfloat16.
    eps : float, default 1e-06
        Added to the mean square.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape of ``x1``; dtype int8.
    total : Tensor
        The sum itself.
    scale : Tensor
        One factor for each row, float32; shape of ``x1`` without the last dimension.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddRmsNormDynamicQuant (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, gamma=gamma)
    expect_optional(smooth_scale=smooth_scale)
    out = empty(x1.shape, "int8", device=x1.device)
    total = empty(x1.shape, x1.dtype_name, device=x1.device)
    scale = empty(x1.shape[:-1], "float32", device=x1.device)
    unused = empty((1,), "int8", device=x1.device)
    unused_scale = empty((1,), "float32", device=x1.device)
    ops.add_rms_norm_dynamic_quant(
        x1=x1,
        x2=x2,
        gamma=gamma,
        smooth_scale1=smooth_scale,
        smooth_scale2=None,
        epsilon=eps,
        y1_out=out,
        y2_out=unused,
        x_out=total,
        scale1_out=scale,
        scale2_out=unused_scale,
        stream=stream,
    )
    return out, total, scale


def add_layer_norm(
    x1: Tensor,
    x2: Tensor,
    gamma: Tensor,
    beta: Tensor,
    bias: Tensor | None = None,
    eps: float = 1e-05,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Tensor]:
    """Add, subtract the mean and divide by the standard deviation.

    Parameters
    ----------
    x1 : Tensor
        First operand. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    x2 : Tensor
        Second operand, shape and dtype of ``x1``. 1 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    gamma : Tensor
        Factors, shape of the last dimensions of ``x1``. 1 to 8 dimensions; dtype float32 | float16
        | bfloat16.
    beta : Tensor
        Terms of the normalised values, shape of ``gamma``. 1 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    bias : Tensor, optional
        Added too. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    eps : float, default 1e-05
        Added to the variance.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        The normalised sum; shape and dtype of ``x1``.
    mean : Tensor
        Mean of each row, float32.
    rstd : Tensor
        Reciprocal of the standard deviation of each row, float32.
    total : Tensor
        The sum itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAddLayerNorm (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(x1=x1, x2=x2, gamma=gamma, beta=beta)
    expect_optional(bias=bias)
    out = empty(x1.shape, x1.dtype_name, device=x1.device)
    mean = empty(statistics_shape(x1.shape, gamma.ndim), "float32", device=x1.device)
    rstd = empty(statistics_shape(x1.shape, gamma.ndim), "float32", device=x1.device)
    total = empty(x1.shape, x1.dtype_name, device=x1.device)
    ops.add_layer_norm(
        x1=x1,
        x2=x2,
        gamma=gamma,
        beta=beta,
        bias=bias,
        epsilon=eps,
        additional_output=True,
        y_out=out,
        mean_out=mean,
        rstd_out=rstd,
        x_out=total,
        stream=stream,
    )
    return out, mean, rstd, total
