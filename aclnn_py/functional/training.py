# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Dropout, gradients of norms, steps of optimizers, and the scale of a loss."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

from aclnn_py import ops
from aclnn_py.functional.arguments import check_channels, expect_list, expect_optional
from aclnn_py.functional.drawing import Replayed, next_place, signed
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.random.generator import Generator
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.recipes import remembered
from aclnn_py.tensor.tensor import Tensor

__all__ = [
    "adamw_",
    "batch_norm_backward",
    "dropout",
    "dropout_backward",
    "group_norm_backward",
    "layer_norm_backward",
    "rms_norm_backward",
    "sgd_",
    "unscale_",
    "update_loss_scale",
]


def dropout(
    input: Tensor,
    p: float = 0.5,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Set random elements to 0 and multiply the others by 1 / (1 - ``p``).

    Parameters
    ----------
    input : Tensor
        Elements; ``dropout_backward`` needs the mask. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    p : float, default 0.5
        Chance of an element to become 0.
    generator : Generator, optional
        Source of the numbers; default is the generator of the device, see ``default_generator``.
    seed : int, optional
        Seed to use instead of a generator. Equal seeds and offsets give equal numbers.
    offset : int, optional
        Position in the sequence of ``seed`` to start from; default is 0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    out : Tensor
        Shape and dtype of ``input``.
    mask : Tensor
        Which elements are kept. Its elements as bits, the first one lowest, in whole blocks of 128;
        uint8.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Without ``seed`` the generator supplies the numbers, and each replay of a graph or sequence that
    captured the call draws new ones. With ``seed``, element ``i`` is always number ``offset + i``
    of the sequence of that seed, in every replay too. The emulator's sequence is Philox 4x32-10;
    that of a real device differs.

    Source
    ------
    aclnnDropoutGenMaskV2Tensor (``include/aclnnop/random.h``), CANN: a release after 8.1.RC1;
    aclnnDropoutDoMask (``include/aclnnop/random.h``), CANN >= 8.1.RC1; aclnnDropoutGenMaskV2
    (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input)
    out = empty(input.shape, input.dtype_name, device=input.device)
    mask = empty((-(-input.count // 128) * 16,), "uint8", device=input.device)
    place = next_place(input, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.dropout_gen_mask_v2_tensor(
            input.shape,
            p,
            place.seed,
            place.offset,
            place.start,
            input.dtype_name,
            mask,
            stream=stream,
        )
        ops.dropout_do_mask(input, mask, p, out, stream=stream)
    else:
        ops.dropout_gen_mask_v2(
            input.shape, p, signed(place.seed), place.offset, input.dtype_name, mask, stream=stream
        )
        ops.dropout_do_mask(input, mask, p, out, stream=stream)
    return out, mask


@remembered
def dropout_backward(
    grad_output: Tensor, mask: Tensor, p: float = 0.5, *, stream: Stream | None = None
) -> Tensor:
    """Compute the gradient of ``dropout``.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    mask : Tensor
        As ``dropout`` gave it. 0 to 8 dimensions; dtype uint8.
    p : float, default 0.5
        As given to ``dropout``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``grad_output``.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnDropoutDoMask (``include/aclnnop/random.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, mask=mask)
    out = empty(grad_output.shape, grad_output.dtype_name, device=grad_output.device)
    ops.dropout_do_mask(grad_output, mask, p, out, stream=stream)
    return out


def layer_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    normalized_shape: Sequence[int],
    mean: Tensor,
    rstd: Tensor,
    weight: Tensor | None = None,
    bias: Tensor | None = None,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``layer_norm``.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result; shape and dtype of ``input``.
    input : Tensor
        First operand.
    normalized_shape : sequence of int
        Lengths of the last dimensions of ``input``.
    mean : Tensor
        Mean of each row.
    rstd : Tensor
        Reciprocal of the standard deviation of each row.
    weight : Tensor, optional
        Factors, shape ``normalized_shape``.
    bias : Tensor, optional
        Terms, shape ``normalized_shape``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_input : Tensor
        Gradient of ``input``, in its shape and dtype.
    grad_weight : Tensor
        Gradient of the factors.
    grad_bias : Tensor
        Gradient of the terms.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnLayerNormBackward (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, mean=mean, rstd=rstd)
    expect_optional(weight=weight, bias=bias)
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty(
        tuple(normalized_shape),
        input.dtype_name if weight is None else weight.dtype_name,
        device=grad_output.device,
    )
    grad_bias = empty(
        tuple(normalized_shape),
        input.dtype_name if weight is None else weight.dtype_name,
        device=grad_output.device,
    )
    ops.layer_norm_backward(
        grad_out=grad_output,
        input=input,
        normalized_shape=normalized_shape,
        mean=mean,
        rstd=rstd,
        weight=weight,
        bias=bias,
        output_mask=(True, True, True),
        grad_input_out=grad_input,
        grad_weight_out=grad_weight,
        grad_bias_out=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def rms_norm_backward(
    grad_output: Tensor, input: Tensor, rstd: Tensor, gamma: Tensor, *, stream: Stream | None = None
) -> tuple[Tensor, Tensor]:
    """Compute the gradients of ``rms_norm``.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result; shape and dtype of ``input``. 2 to 8 dimensions; dtype
        float32 | float16 | bfloat16.
    input : Tensor
        1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    rstd : Tensor
        Reciprocal of the root mean square of each row, float32. 1 to 7 dimensions; dtype float32.
    gamma : Tensor
        Factors, shape of the last dimensions of ``input``. 1 to 8 dimensions; dtype float32 |
        float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_input : Tensor
        Gradient of ``input``, in its shape and dtype.
    grad_gamma : Tensor
        Gradient of ``gamma``, float32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnRmsNormGrad (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, rstd=rstd, gamma=gamma)
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_gamma = empty(gamma.shape, "float32", device=grad_output.device)
    ops.rms_norm_grad(grad_output, input, rstd, gamma, grad_input, grad_gamma, stream=stream)
    return grad_input, grad_gamma


def group_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    mean: Tensor,
    rstd: Tensor,
    num_groups: int,
    weight: Tensor,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``group_norm``.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result; shape and dtype of ``input``.
    input : Tensor
        First operand.
    mean : Tensor
        Mean of each group, shape ``(n, num_groups)``.
    rstd : Tensor
        Reciprocal of the standard deviation of each group, shape of ``mean``.
    num_groups : int
        Number of groups of channels.
    weight : Tensor
        Factors, shape ``(channels,)``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_input : Tensor
        Gradient of ``input``, in its shape and dtype.
    grad_weight : Tensor
        Gradient of the factors.
    grad_bias : Tensor
        Gradient of the terms.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnGroupNormBackward (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(grad_output=grad_output, input=input, mean=mean, rstd=rstd, weight=weight)
    check_channels(input)
    expect_whole(num_groups=num_groups)
    batch, channels, *spatial = input.shape
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty((channels,), mean.dtype_name, device=grad_output.device)
    grad_bias = empty((channels,), mean.dtype_name, device=grad_output.device)
    ops.group_norm_backward(
        grad_out=grad_output,
        input=input,
        mean=mean,
        rstd=rstd,
        gamma=weight,
        n=batch,
        c=channels,
        hx_w=prod(spatial),
        group=num_groups,
        output_mask=(True, True, True),
        grad_input=grad_input,
        grad_gamma_out=grad_weight,
        grad_beta_out=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def batch_norm_backward(
    grad_output: Tensor,
    input: Tensor,
    weight: Tensor,
    running_mean: Tensor,
    running_var: Tensor,
    save_mean: Tensor,
    save_invstd: Tensor,
    training: bool = True,
    eps: float = 1e-05,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradients of ``batch_norm``.

    Parameters
    ----------
    grad_output : Tensor
        Gradient with respect to the result; shape and dtype of ``input``.
    input : Tensor
        First operand.
    weight : Tensor
        Factors, shape ``(channels,)``.
    running_mean : Tensor
        Mean of each channel; used where ``training`` is False.
    running_var : Tensor
        Variance of each channel; used where ``training`` is False.
    save_mean : Tensor
        Mean of each channel of the batch; used where ``training`` is True.
    save_invstd : Tensor
        Reciprocal of the standard deviation of each channel of the batch; used where ``training``
        is True.
    training : bool, default True
        Whether the statistics were those of the batch.
    eps : float, default 1e-05
        Added to the variance.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    grad_input : Tensor
        Gradient of ``input``, in its shape and dtype.
    grad_weight : Tensor
        Gradient of the factors.
    grad_bias : Tensor
        Gradient of the terms.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnBatchNormBackward (``include/aclnnop/norm.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(
        grad_output=grad_output,
        input=input,
        weight=weight,
        running_mean=running_mean,
        running_var=running_var,
        save_mean=save_mean,
        save_invstd=save_invstd,
    )
    check_channels(input)
    grad_input = empty(input.shape, input.dtype_name, device=grad_output.device)
    grad_weight = empty((input.shape[1],), weight.dtype_name, device=grad_output.device)
    grad_bias = empty((input.shape[1],), weight.dtype_name, device=grad_output.device)
    ops.batch_norm_backward(
        grad_out=grad_output,
        input=input,
        weight=weight,
        running_mean=running_mean,
        running_var=running_var,
        save_mean=save_mean,
        save_invstd=save_invstd,
        training=training,
        eps=eps,
        output_mask=(True, True, True),
        grad_input=grad_input,
        grad_weight=grad_weight,
        grad_bias=grad_bias,
        stream=stream,
    )
    return grad_input, grad_weight, grad_bias


def adamw_(
    input: Tensor,
    exp_avg: Tensor,
    exp_avg_sq: Tensor,
    grad: Tensor,
    step: Tensor,
    *,
    lr: float = 0.001,
    beta1: float = 0.9,
    beta2: float = 0.999,
    weight_decay: float = 0.01,
    eps: float = 1e-08,
    max_exp_avg_sq: Tensor | None = None,
    maximize: bool = False,
    stream: Stream | None = None,
) -> Tensor:
    """Take a step of AdamW.

    Parameters
    ----------
    input : Tensor
        Parameters. 1 to 8 dimensions; dtype float32 | float16 | bfloat16.
    exp_avg : Tensor
        Running mean of the gradients; changed too. Dtype float32 | float16 | bfloat16.
    exp_avg_sq : Tensor
        Running mean of their squares; changed too. Dtype float32 | float16 | bfloat16.
    grad : Tensor
        Gradients. Dtype float32 | float16 | bfloat16.
    step : Tensor
        How many steps were taken before this one: 0 for the first. One element. Dtype float32 |
        int64.
    lr : float, default 0.001
        Learning rate.
    beta1 : float, default 0.9
        Weight of the old mean.
    beta2 : float, default 0.999
        Weight of the old mean of the squares.
    weight_decay : float, default 0.01
        How strongly parameters are drawn to 0.
    eps : float, default 1e-08
        Added to the root.
    max_exp_avg_sq : Tensor, optional
        Largest mean of the squares so far; changed too. Where it is given, the step divides by its
        root: AMSGrad. Dtype float32 | float16 | bfloat16.
    maximize : bool, default False
        Whether to follow the gradient upwards.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnApplyAdamWV2 (``include/aclnnop/optim.h``), CANN >= 8.1.RC1.
    """
    expect_tensors(input=input, exp_avg=exp_avg, exp_avg_sq=exp_avg_sq, grad=grad, step=step)
    expect_optional(max_exp_avg_sq=max_exp_avg_sq)
    ops.apply_adam_w_v2(
        var_ref=input,
        m_ref=exp_avg,
        v_ref=exp_avg_sq,
        max_grad_norm_ref=max_exp_avg_sq,
        grad=grad,
        step=step,
        lr=lr,
        beta1=beta1,
        beta2=beta2,
        weight_decay=weight_decay,
        eps=eps,
        amsgrad=max_exp_avg_sq is not None,
        maximize=maximize,
        stream=stream,
    )
    return input


def sgd_(
    input: Sequence[Tensor],
    grads: Sequence[Tensor],
    momentum_buffers: Sequence[Tensor] | None = None,
    *,
    lr: float = 0.001,
    momentum: float = 0.0,
    dampening: float = 0.0,
    weight_decay: float = 0.0,
    nesterov: bool = False,
    maximize: bool = False,
    first_step: bool = False,
    grad_scale: Tensor | None = None,
    stream: Stream | None = None,
) -> Sequence[Tensor]:
    """Take a step of gradient descent.

    Parameters
    ----------
    input : sequence of Tensor
        Parameters. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    grads : sequence of Tensor
        Gradients, one for each member of ``input``. 0 to 8 dimensions; dtype float32 | float16 |
        bfloat16.
    momentum_buffers : sequence of Tensor, optional
        What is left of earlier gradients, one for each; changed too. 0 to 8 dimensions; dtype
        float32 | float16 | bfloat16.
    lr : float, default 0.001
        Learning rate.
    momentum : float, default 0.0
        How much of the buffers is kept.
    dampening : float, default 0.0
        How much of a gradient is left out of its buffer.
    weight_decay : float, default 0.0
        How strongly parameters are drawn to 0.
    nesterov : bool, default False
        Whether to look a step ahead.
    maximize : bool, default False
        Whether to follow the gradient upwards.
    first_step : bool, default False
        Whether the buffers hold nothing yet.
    grad_scale : Tensor, optional
        What the gradients are divided by first, one element; they are changed then. Dtype float32 |
        float16 | bfloat16.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    sequence of Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnFusedSgd (``include/aclnnop/optim.h``), CANN: a release after 8.1.RC1.
    """
    expect_optional(grad_scale=grad_scale)
    expect_list(input=input, grads=grads)
    ops.fused_sgd(
        params_ref=input,
        grads_ref=grads,
        momentum_buffer_list_ref=momentum_buffers,
        grad_scale=grad_scale,
        weight_decay=weight_decay,
        momentum=momentum,
        lr=lr,
        dampening=dampening,
        nesterov=nesterov,
        maximize=maximize,
        is_first_step=first_step,
        stream=stream,
    )
    return input


def unscale_(
    input: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor, *, stream: Stream | None = None
) -> Sequence[Tensor]:
    """Multiply gradients by a number and look for infinities and NaN.

    Parameters
    ----------
    input : sequence of Tensor
        Gradients. 0 to 8 dimensions; dtype float32 | float16 | bfloat16.
    found_inf : Tensor
        Becomes 1 where an element is infinite or NaN, and stays as it is otherwise; float32, one
        element. 0 to 8 dimensions; dtype float32.
    inv_scale : Tensor
        The factor; float32, one element. 0 to 8 dimensions; dtype float32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    sequence of Tensor
        ``input`` itself.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnForeachNonFiniteCheckAndUnscale (``include/aclnnop/foreach.h``), CANN: a release after
    8.1.RC1.
    """
    expect_tensors(found_inf=found_inf, inv_scale=inv_scale)
    expect_list(input=input)
    ops.foreach_non_finite_check_and_unscale(input, found_inf, inv_scale, stream=stream)
    return input


def update_loss_scale(
    scale: Tensor,
    growth_tracker: Tensor,
    found_inf: Tensor,
    *,
    growth_factor: float = 2.0,
    backoff_factor: float = 0.5,
    growth_interval: int = 2000,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor]:
    """Compute the next scale of a loss.

    Parameters
    ----------
    scale : Tensor
        One element. 1 dimension; dtype float32 | float16 | bfloat16.
    growth_tracker : Tensor
        Steps since the last change; int32, one element. 1 dimension; dtype int32.
    found_inf : Tensor
        Not 0 where the step had an infinity; dtype of ``scale``. 1 dimension; dtype float32 |
        float16 | bfloat16.
    growth_factor : float, default 2.0
        What the scale is multiplied by after ``growth_interval`` steps.
    backoff_factor : float, default 0.5
        What it is multiplied by after an infinity.
    growth_interval : int, default 2000
        How many steps without an infinity make the scale grow.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    new_scale : Tensor
        The scale: smaller after an infinity, larger after enough steps without one.
    new_tracker : Tensor
        Steps since the last change, int32.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Source
    ------
    aclnnAmpUpdateScale (``include/aclnnop/math.h``), CANN: a release after 8.1.RC1.
    """
    expect_tensors(scale=scale, growth_tracker=growth_tracker, found_inf=found_inf)
    new_scale = empty(scale.shape, scale.dtype_name, device=scale.device)
    new_tracker = empty(growth_tracker.shape, growth_tracker.dtype_name, device=scale.device)
    ops.amp_update_scale(
        scale,
        growth_tracker,
        found_inf,
        growth_factor,
        backoff_factor,
        growth_interval,
        new_scale,
        new_tracker,
        stream=stream,
    )
    return new_scale, new_tracker
