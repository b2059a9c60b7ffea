# SPDX-License-Identifier: Apache-2.0
"""Dropout, gradients of norms, steps of optimizers, and the scale of a loss."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.creation import DRAWN, NUMBERS, SEED

__all__ = ["ROWS"]

_MASK = "(-(-input.count // 128) * 16,)"
_BITS = "Its elements as bits, the first one lowest, in whole blocks of 128; uint8."
_DX = Output("Gradient of ``input``, in its shape and dtype.", name="grad_input")
_GRADIENT = {"grad_output": "Gradient with respect to the result; shape and dtype of ``input``."}
_OF_WEIGHT = "input.dtype_name if weight is None else weight.dtype_name"


def _affine(shape: str, dtype: str) -> tuple[Output, ...]:
    return (
        _DX,
        Output("Gradient of the factors.", shape, dtype, "grad_weight"),
        Output("Gradient of the terms.", shape, dtype, "grad_bias"),
    )


_RATES = {
    "lr": "Learning rate.",
    "weight_decay": "How strongly parameters are drawn to 0.",
    "maximize": "Whether to follow the gradient upwards.",
}

ROWS = (
    Row("dropout", f"input: Tensor, p: float = 0.5, *, {DRAWN}",
        "Set random elements to 0 and multiply the others by 1 / (1 - ``p``).",
        (Output("Shape and dtype of ``input``."),
         Output(f"Which elements are kept. {_BITS}", _MASK, "'uint8'", "mask")),
        (Call("isinstance(place, Replayed)",
              ("dropout_gen_mask_v2_tensor(input.shape, p, place.seed, place.offset, place.start, "
               "input.dtype_name, mask)", "dropout_do_mask(input, mask, p, out)")),
         "dropout_gen_mask_v2(input.shape, p, signed(place.seed), place.offset, input.dtype_name, "
         "mask)",
         "dropout_do_mask(input, mask, p, out)"),
        {"input": "Elements; ``dropout_backward`` needs the mask.",
         "p": "Chance of an element to become 0.", **SEED},
        notes=NUMBERS, draws="input"),
    Row("dropout_backward", "grad_output: Tensor, mask: Tensor, p: float = 0.5",
        "Compute the gradient of ``dropout``.",
        (Output("Shape and dtype of ``grad_output``.", "grad_output.shape",
                "grad_output.dtype_name"),),
        ("dropout_do_mask(grad_output, mask, p, out)",),
        {"grad_output": "Gradient with respect to the result.",
         "mask": "As ``dropout`` gave it.", "p": "As given to ``dropout``."}),
    Row("layer_norm_backward", "grad_output: Tensor, input: Tensor, "
        "normalized_shape: Sequence[int], mean: Tensor, rstd: Tensor, "
        "weight: Tensor | None = None, bias: Tensor | None = None",
        "Compute the gradients of ``layer_norm``.",
        _affine("tuple(normalized_shape)", _OF_WEIGHT),
        ("layer_norm_backward(grad_output, input, normalized_shape, mean, rstd, weight, bias, "
         "(True, True, True), grad_input, grad_weight, grad_bias)",),
        {**_GRADIENT, "normalized_shape": "Lengths of the last dimensions of ``input``.",
         "mean": "Mean of each row.", "rstd": "Reciprocal of the standard deviation of each row.",
         "weight": "Factors, shape ``normalized_shape``.",
         "bias": "Terms, shape ``normalized_shape``."}),
    Row("rms_norm_backward", "grad_output: Tensor, input: Tensor, rstd: Tensor, gamma: Tensor",
        "Compute the gradients of ``rms_norm``.",
        (_DX, Output("Gradient of ``gamma``, float32.", "gamma.shape", "'float32'", "grad_gamma")),
        ("rms_norm_grad(grad_output, input, rstd, gamma, grad_input, grad_gamma)",),
        {**_GRADIENT, "rstd": "Reciprocal of the root mean square of each row, float32.",
         "gamma": "Factors, shape of the last dimensions of ``input``."}),
    Row("group_norm_backward", "grad_output: Tensor, input: Tensor, mean: Tensor, rstd: Tensor, "
        "num_groups: int, weight: Tensor", "Compute the gradients of ``group_norm``.",
        _affine("(channels,)", "mean.dtype_name"),
        ("group_norm_backward(grad_output, input, mean, rstd, weight, batch, channels, "
         "prod(spatial), num_groups, (True, True, True), grad_input, grad_weight, grad_bias)",),
        {**_GRADIENT, "mean": "Mean of each group, shape ``(n, num_groups)``.",
         "rstd": "Reciprocal of the standard deviation of each group, shape of ``mean``.",
         "num_groups": "Number of groups of channels.",
         "weight": "Factors, shape ``(channels,)``."},
        steps=("check_channels(input)", "expect_whole(num_groups=num_groups)",
               "batch, channels, *spatial = input.shape")),
    Row("batch_norm_backward", "grad_output: Tensor, input: Tensor, weight: Tensor, "
        "running_mean: Tensor, running_var: Tensor, save_mean: Tensor, save_invstd: Tensor, "
        "training: bool = True, eps: float = 1e-05",
        "Compute the gradients of ``batch_norm``.",
        _affine("(input.shape[1],)", "weight.dtype_name"),
        ("batch_norm_backward(grad_output, input, weight, running_mean, running_var, save_mean, "
         "save_invstd, training, eps, (True, True, True), grad_input, grad_weight, grad_bias)",),
        {**_GRADIENT, "weight": "Factors, shape ``(channels,)``.",
         "running_mean": "Mean of each channel; used where ``training`` is False.",
         "running_var": "Variance of each channel; used where ``training`` is False.",
         "save_mean": "Mean of each channel of the batch; used where ``training`` is True.",
         "save_invstd": "Reciprocal of the standard deviation of each channel of the batch; used "
         "where ``training`` is True.",
         "training": "Whether the statistics were those of the batch.",
         "eps": "Added to the variance."}, steps=("check_channels(input)",)),
    Row("adamw_", "input: Tensor, exp_avg: Tensor, exp_avg_sq: Tensor, grad: Tensor, step: Tensor, "
        "*, lr: float = 0.001, beta1: float = 0.9, beta2: float = 0.999, "
        "weight_decay: float = 0.01, eps: float = 1e-08, max_exp_avg_sq: Tensor | None = None, "
        "maximize: bool = False", "Take a step of AdamW.", (),
        ("apply_adam_w_v2(input, exp_avg, exp_avg_sq, max_exp_avg_sq, grad, step, lr, beta1, "
         "beta2, weight_decay, eps, max_exp_avg_sq is not None, maximize)",),
        {"input": "Parameters.", "exp_avg": "Running mean of the gradients; changed too.",
         "exp_avg_sq": "Running mean of their squares; changed too.", "grad": "Gradients.",
         "step": "How many steps were taken before this one: 0 for the first. One element.",
         **_RATES,
         "beta1": "Weight of the old mean.", "beta2": "Weight of the old mean of the squares.",
         "eps": "Added to the root.",
         "max_exp_avg_sq": "Largest mean of the squares so far; changed too. Where it is given, "
         "the step divides by its root: AMSGrad."}),
    Row("sgd_", "input: Sequence[Tensor], grads: Sequence[Tensor], "
        "momentum_buffers: Sequence[Tensor] | None = None, *, lr: float = 0.001, "
        "momentum: float = 0.0, dampening: float = 0.0, weight_decay: float = 0.0, "
        "nesterov: bool = False, maximize: bool = False, first_step: bool = False, "
        "grad_scale: Tensor | None = None", "Take a step of gradient descent.", (),
        ("fused_sgd(input, grads, momentum_buffers, grad_scale, weight_decay, momentum, lr, "
         "dampening, nesterov, maximize, first_step)",),
        {"input": "Parameters.", "grads": "Gradients, one for each member of ``input``.",
         "momentum_buffers": "What is left of earlier gradients, one for each; changed too.",
         **_RATES, "momentum": "How much of the buffers is kept.",
         "dampening": "How much of a gradient is left out of its buffer.",
         "nesterov": "Whether to look a step ahead.",
         "first_step": "Whether the buffers hold nothing yet.",
         "grad_scale": "What the gradients are divided by first, one element; they are changed "
         "then."}),
    Row("unscale_", "input: Sequence[Tensor], found_inf: Tensor, inv_scale: Tensor",
        "Multiply gradients by a number and look for infinities and NaN.", (),
        ("foreach_non_finite_check_and_unscale(input, found_inf, inv_scale)",),
        {"input": "Gradients.",
         "found_inf": "Becomes 1 where an element is infinite or NaN, and stays as it is "
         "otherwise; float32, one element.", "inv_scale": "The factor; float32, one element."}),
    Row("update_loss_scale", "scale: Tensor, growth_tracker: Tensor, found_inf: Tensor, *, "
        "growth_factor: float = 2.0, backoff_factor: float = 0.5, growth_interval: int = 2000",
        "Compute the next scale of a loss.",
        (Output("The scale: smaller after an infinity, larger after enough steps without one.",
                "scale.shape", "scale.dtype_name", "new_scale"),
         Output("Steps since the last change, int32.", "growth_tracker.shape",
                "growth_tracker.dtype_name", "new_tracker")),
        ("amp_update_scale(scale, growth_tracker, found_inf, growth_factor, backoff_factor, "
         "growth_interval, new_scale, new_tracker)",),
        {"scale": "One element.", "growth_tracker": "Steps since the last change; int32, one "
         "element.", "found_inf": "Not 0 where the step had an infinity; dtype of ``scale``.",
         "growth_factor": "What the scale is multiplied by after ``growth_interval`` steps.",
         "backoff_factor": "What it is multiplied by after an infinity.",
         "growth_interval": "How many steps without an infinity make the scale grow."}),
)  # fmt: skip
