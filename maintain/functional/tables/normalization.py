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
)  # fmt: skip
