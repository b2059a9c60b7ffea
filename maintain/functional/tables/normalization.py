# SPDX-License-Identifier: Apache-2.0
"""Normalisation of channels, groups and last dimensions."""

from __future__ import annotations

from maintain.functional.row import Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

_LAST = {
    "normalized_shape": "Lengths of the last dimensions of ``input``.",
    "weight": "Factors, shape ``normalized_shape``.",
    "bias": "Terms, shape ``normalized_shape``.",
}
_CHANNELS = {
    "input": "Shape ``(n, channels, ...)``.",
    "weight": "Factors, shape ``(channels,)``.",
    "bias": "Terms, shape ``(channels,)``.",
    "eps": "Added to the variance.",
}

_SUM = {
    "x1": "First operand.",
    "x2": "Second operand, shape and dtype of ``x1``.",
    "gamma": "Factors, shape of the last dimensions of ``x1``.",
    "beta": "Terms of the normalised values, shape of ``gamma``.",
    "eps": "Added to the mean square.",
}
_NORMALISED = Output("The normalised sum; shape and dtype of ``x1``.", "x1.shape", "x1.dtype_name")
_ADDED = Output("The sum itself.", "x1.shape", "x1.dtype_name", "total")
_DIVISORS = Output("Reciprocal of the root mean square, float32; shape of ``x1`` with 1 for the "
                   "normalised dimensions.",
                   "statistics_shape(x1.shape, gamma.ndim)", "'float32'", "rstd")  # fmt: skip

ROWS = (
    Row("renorm", "input: Tensor, p: Number, dim: int, maxnorm: Number",
        "Scale down the slices along a dimension whose p-norm exceeds a limit.", (SAME,),
        ("renorm(input, p, dim, maxnorm, out)",),
        {"p": "Order of the norm.", "maxnorm": "Largest norm allowed."},
        steps=("expect_numbers(maxnorm=maxnorm)",)),
    Row("layer_norm", "input: Tensor, normalized_shape: Sequence[int], "
        "weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05",
        "Subtract the mean of the last dimensions and divide by their standard deviation.",
        (SAME,), ("layer_norm(input, normalized_shape, weight, bias, eps, out, None, None)",),
        {**_LAST, "eps": "Added to the variance."},
        steps=("check_normalized(input, normalized_shape, weight=weight, bias=bias)",)),
    Row("rms_norm", "input: Tensor, normalized_shape: Sequence[int], weight: Tensor, "
        "eps: float = 1e-06", "Divide by the root mean square of the last dimensions.",
        (SAME, Output("", "statistics_shape(input.shape, len(normalized_shape))", "'float32'",
                      "rstd")),
        ("rms_norm(input, weight, eps, out, rstd)",),
        {**_LAST, "eps": "Added to the mean square."},
        returns="out", steps=("check_normalized(input, normalized_shape, weight=weight)",)),
    Row("group_norm", "input: Tensor, num_groups: int, weight: Tensor, bias: Tensor, "
        "eps: float = 1e-05", "Normalise groups of channels.",
        (SAME,
         Output("", "(batch, num_groups)", name="mean"),
         Output("", "(batch, num_groups)", name="rstd")),
        ("group_norm(input, weight, bias, batch, channels, prod(spatial), num_groups, eps, out, "
         "mean, rstd)",),
        {**_CHANNELS, "num_groups": "Number of groups."},
        returns="out", steps=("check_channels(input)", "expect_whole(num_groups=num_groups)",
                              "batch, channels, *spatial = input.shape")),
    Row("batch_norm", "input: Tensor, running_mean: Tensor, running_var: Tensor, "
        "weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, "
        "momentum: float = 0.1, eps: float = 1e-05", "Normalise channels over a batch.",
        (SAME,
         Output("", "(input.shape[1],)", "'float32'", "mean"),
         Output("", "(input.shape[1],)", "'float32'", "invstd")),
        ("batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, "
         "out, mean, invstd)",),
        {**_CHANNELS,
         "running_mean": "Shape ``(channels,)``; updated when ``training`` is true.",
         "running_var": "Shape ``(channels,)``; updated when ``training`` is true.",
         "training": "Whether to use the mean and variance of the batch or the running ones.",
         "momentum": "Weight of the batch in the running values."},
        returns="out", steps=("check_channels(input)",)),
    Row("gemma_rms_norm", "input: Tensor, gamma: Tensor, eps: float = 1e-06",
        "Divide by the root mean square and multiply by ``1 + gamma``.",
        (SAME, Output("", "statistics_shape(input.shape, gamma.ndim)", "'float32'", "rstd")),
        ("gemma_rms_norm(input, gamma, eps, out, rstd)",),
        {"gamma": "Factors less 1, shape of the last dimensions of ``input``.",
         "eps": _SUM["eps"]}, returns="out"),
    Row("rms_norm_dynamic_quant", "input: Tensor, gamma: Tensor, *, "
        "smooth_scales: Tensor | None = None, beta: Tensor | None = None, eps: float = 1e-06",
        "Divide by the root mean square and quantise each row.",
        (Output("Shape of ``input``; dtype int8.", dtype="'int8'"),
         Output("One factor for each row, float32; shape of ``input`` without the last dimension.",
                "input.shape[:-1]", "'float32'", "scale")),
        ("rms_norm_dynamic_quant(input, gamma, smooth_scales, beta, eps, 2, out, scale)",),
        {"gamma": "Factors, shape of the last dimension.",
         "smooth_scales": "What normalised values are multiplied with; shape of ``gamma``.",
         "beta": "Terms of the normalised values, shape of ``gamma``.", "eps": _SUM["eps"]}),
    Row("add_rms_norm", "x1: Tensor, x2: Tensor, gamma: Tensor, eps: float = 1e-06",
        "Add and divide by the root mean square.", (_NORMALISED, _DIVISORS, _ADDED),
        ("add_rms_norm(x1, x2, gamma, eps, out, rstd, total)",), _SUM),
    Row("add_rms_norm_", "x1: Tensor, x2: Tensor, gamma: Tensor, eps: float = 1e-06",
        "Add and divide by the root mean square, in place.", (),
        ("inplace_add_rms_norm(x1, x2, gamma, eps, empty(statistics_shape(x1.shape, gamma.ndim), "
         "'float32', device=x1.device))",),
        {**_SUM, "x1": "First operand; becomes the normalised sum.",
         "x2": "Second operand, shape and dtype of ``x1``; becomes the sum."}),
    Row("add_rms_norm_cast", "x1: Tensor, x2: Tensor, gamma: Tensor, eps: float = 1e-06",
        "Add and divide by the root mean square, with the result in float32 as well.",
        (Output("The normalised sum, float32.", "x1.shape", "'float32'", "wide"),
         _NORMALISED, _DIVISORS, _ADDED),
        ("add_rms_norm_cast(x1, x2, gamma, eps, wide, out, rstd, total)",), _SUM),
    Row("add_rms_norm_quant", "x1: Tensor, x2: Tensor, gamma: Tensor, scale: Tensor, "
        "zero_point: Tensor | None = None, eps: float = 1e-06",
        "Add, divide by the root mean square and quantise.",
        (Output("The normalised sum divided by ``scale``; shape of ``x1``, dtype int8.",
                "x1.shape", "'int8'"),
         Output("", "(1,)", "'int8'", "unused"), _ADDED),
        ("add_rms_norm_quant(x1, x2, gamma, scale, None, zero_point, None, -1, eps, True, out, "
         "unused, total)",),
        {**_SUM, "scale": "Divisors, shape of ``gamma``.",
         "zero_point": "Terms, shape of ``gamma``."}, returns="out, total"),
    Row("add_rms_norm_dynamic_quant", "x1: Tensor, x2: Tensor, gamma: Tensor, *, "
        "smooth_scale: Tensor | None = None, eps: float = 1e-06",
        "Add, divide by the root mean square and quantise each row.",
        (Output("Shape of ``x1``; dtype int8.", "x1.shape", "'int8'"), _ADDED,
         Output("One factor for each row, float32; shape of ``x1`` without the last dimension.",
                "x1.shape[:-1]", "'float32'", "scale"),
         Output("", "(1,)", "'int8'", "unused"), Output("", "(1,)", "'float32'", "unused_scale")),
        ("add_rms_norm_dynamic_quant(x1, x2, gamma, smooth_scale, None, eps, out, unused, total, "
         "scale, unused_scale)",),
        {**_SUM, "smooth_scale": "What normalised values are multiplied with; shape of "
         "``gamma``."}, returns="out, total, scale"),
    Row("add_layer_norm", "x1: Tensor, x2: Tensor, gamma: Tensor, beta: Tensor, "
        "bias: Tensor | None = None, eps: float = 1e-05",
        "Add, subtract the mean and divide by the standard deviation.",
        (_NORMALISED,
         Output("Mean of each row, float32.", "statistics_shape(x1.shape, gamma.ndim)",
                "'float32'", "mean"),
         Output("Reciprocal of the standard deviation of each row, float32.",
                "statistics_shape(x1.shape, gamma.ndim)", "'float32'", "rstd"), _ADDED),
        ("add_layer_norm(x1, x2, gamma, beta, bias, eps, True, out, mean, rstd, total)",),
        {**_SUM, "bias": "Added too.", "eps": "Added to the variance."}),
)  # fmt: skip
