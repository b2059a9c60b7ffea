# SPDX-License-Identifier: Apache-2.0
"""Sums, extremes and norms over dimensions; running sums; normalisation."""

from __future__ import annotations

from aclnn_py.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_SHAPE = "reduced_shape(input.shape, axes(dim), keepdim)"
_TEXT = "Without the dimensions, or with length 1 in them"
_LINE = "reduced_shape(input.shape, (dim,), keepdim)"
_DIMS = {"dim": "Dimensions to reduce; all of them by default."}
_HEAD = "input: Tensor, dim: int | tuple[int, ...] = (), *, keepdim: bool = False"
_SUM_TYPE = {
    **_DIMS,
    "dtype": "Of the result and of the sum; by default int64 for integers and bool, else that of "
    "``input``.",
}
_RUNNING = Output("Of the same shape.", dtype="sum_type(input, dtype)")
_STATISTICS = (
    Output("", "(*input.shape[:-len(normalized_shape)], *(1 for _ in normalized_shape))",
           "'float32'", "_rstd"),
)  # fmt: skip


def _over(name: str, summary: str, call: str, dtype: str, text: str) -> Row:
    out = Output(f"{_TEXT}; {text}.", _SHAPE, dtype)
    return Row(name, _HEAD, summary, (out,), (call,), _DIMS)


def _along(name: str, summary: str, operator: str) -> Row:
    out = Output("Indices, int64; without the dimension, or with length 1 in it.",
                 _LINE, "'int64'")  # fmt: skip
    call = f"{operator}(input, dim, keepdim, out)"
    return Row(name, "input: Tensor, dim: int, *, keepdim: bool = False", summary, (out,), (call,))


ROWS = (
    Row("sum", f"{_HEAD}, dtype: DTypeLike | None = None", "Add the elements along dimensions.",
        (Output(f"{_TEXT}.", _SHAPE, "sum_type(input, dtype)"),),
        ("reduce_sum(input, axes(dim), keepdim, out.dtype_name, out)",), _SUM_TYPE),
    Row("mean", f"{_HEAD}, dtype: DTypeLike | None = None", "Average along dimensions.",
        (Output(f"{_TEXT}; float32 for integers unless ``dtype`` says otherwise.", _SHAPE,
                "real(promote(input)) if dtype is None else dtype"),),
        ("mean(input, all_axes(input, dim), keepdim, out.dtype_name, out)",), _DIMS),
    Row("prod", "input: Tensor, dim: int | None = None, *, keepdim: bool = False, "
        "dtype: DTypeLike | None = None", "Multiply the elements, all or along one dimension.",
        (Output(f"{_TEXT}.", "() if dim is None else " + _LINE, "sum_type(input, dtype)"),),
        (Call("dim is None", ("prod(input, out.dtype_name, out)",)),
         "prod_dim(input, dim, keepdim, out.dtype_name, out)"),
        {"dim": "The dimension; all of them by default.", "dtype": _SUM_TYPE["dtype"]}),
    _over("amax", "Largest element along dimensions.",
          "amax(input, all_axes(input, dim), keepdim, out)", "input.dtype_name", "the same dtype"),
    _over("amin", "Smallest element along dimensions.",
          "amin(input, all_axes(input, dim), keepdim, out)", "input.dtype_name", "the same dtype"),
    _over("any", "Tell whether an element along dimensions is not zero.",
          "any(input, all_axes(input, dim), keepdim, out)", "'bool'", "dtype bool"),
    _over("all", "Tell whether all elements along dimensions are not zero.",
          "all(input, all_axes(input, dim), keepdim, out)", "'bool'", "dtype bool"),
    _over("logsumexp", "Logarithm of the sum of exponentials along dimensions.",
          "log_sum_exp(input, all_axes(input, dim), keepdim, out)", "real(promote(input))",
          "float32 for integers, else the same dtype"),
    _along("argmax", "Index of the first largest element along a dimension.", "arg_max"),
    _along("argmin", "Index of the first smallest element along a dimension.", "arg_min"),
    Row("var", f"{_HEAD}, correction: int = 1", "Variance along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("var_correction(input, all_axes(input, dim), correction, keepdim, out)",),
        {**_DIMS, "correction": "What the number of elements is diminished by in the divisor."}),
    Row("std", f"{_HEAD}, correction: int = 1", "Standard deviation along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("std(input, all_axes(input, dim), correction, keepdim, out)",),
        {**_DIMS, "correction": "What the number of elements is diminished by in the divisor."}),
    Row("cumsum", "input: Tensor, dim: int, *, dtype: DTypeLike | None = None",
        "Add up along a dimension.", (_RUNNING,),
        ("cumsum(input, dim, out.dtype_name, out)",), {"dtype": _SUM_TYPE["dtype"]}),
    Row("cumprod", "input: Tensor, dim: int, *, dtype: DTypeLike | None = None",
        "Multiply up along a dimension.", (_RUNNING,),
        ("cumprod(input, dim, out.dtype_name, out)",), {"dtype": _SUM_TYPE["dtype"]}),
    Row("vector_norm", "input: Tensor, ord: Number = 2, dim: int | tuple[int, ...] = (), *, "
        "keepdim: bool = False", "Norm of the vectors along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("linalg_vector_norm(input, ord, axes(dim), keepdim, out.dtype_name, out)",),
        {**_DIMS, "ord": "Order of the norm."}),
    Row("norm", "input: Tensor, p: Number = 2, dim: int | tuple[int, ...] = (), "
        "keepdim: bool = False", "Norm of order ``p`` of the elements along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("norm(input, p, all_axes(input, dim), keepdim, out)",),
        {**_DIMS, "p": "Order of the norm."}),
    Row("renorm", "input: Tensor, p: Number, dim: int, maxnorm: Number",
        "Scale the slices along a dimension whose p-norm exceeds a limit.",
        (Output("Of the same shape and dtype."),), ("renorm(input, p, dim, maxnorm, out)",),
        {"p": "Order of the norm.", "maxnorm": "The limit."}),
    Row("layer_norm", "input: Tensor, normalized_shape: Sequence[int], "
        "weight: Tensor | None = None, bias: Tensor | None = None, eps: float = 1e-05",
        "Subtract the mean of the last dimensions and divide by their standard deviation.",
        (Output("Of the same shape and dtype."),),
        ("layer_norm(input, normalized_shape, weight, bias, eps, out, None, None)",),
        {"normalized_shape": "Shape of the dimensions, the last ones of ``input``.",
         "weight": "Factors of that shape.", "bias": "Terms of that shape.",
         "eps": "Added to the variance."},
        checks=("check_normalized(input, normalized_shape, weight=weight, bias=bias)",)),
    Row("rms_norm", "input: Tensor, normalized_shape: Sequence[int], weight: Tensor, "
        "eps: float = 1e-06", "Divide by the root of the mean square of the last dimensions.",
        (Output("Of the same shape and dtype."), *_STATISTICS),
        ("rms_norm(input, weight, eps, out, _rstd)",),
        {"normalized_shape": "Shape of the dimensions, the last ones of ``input``.",
         "weight": "Factors of that shape.", "eps": "Added to the mean square."},
        returns="out",
        checks=("check_normalized(input, normalized_shape, weight=weight)",)),
    Row("group_norm", "input: Tensor, num_groups: int, weight: Tensor, bias: Tensor, "
        "eps: float = 1e-05", "Normalise groups of channels.",
        (Output("Of the same shape and dtype."),
         Output("", "(input.shape[0], num_groups)", name="_mean"),
         Output("", "(input.shape[0], num_groups)", name="_rstd")),
        ("group_norm(input, weight, bias, input.shape[0], input.shape[1], "
         "product(input.shape[2:]), num_groups, eps, out, _mean, _rstd)",),
        {"input": "Shape ``(n, channels, ...)``.", "num_groups": "How many groups.",
         "weight": "Factors, one per channel.", "bias": "Terms, one per channel.",
         "eps": "Added to the variance."},
        returns="out", checks=("check_channels(input)",)),
    Row("batch_norm", "input: Tensor, running_mean: Tensor, running_var: Tensor, "
        "weight: Tensor | None = None, bias: Tensor | None = None, training: bool = False, "
        "momentum: float = 0.1, eps: float = 1e-05", "Normalise channels over a batch.",
        (Output("Of the same shape and dtype."),
         Output("", "(input.shape[1],)", "'float32'", "_mean"),
         Output("", "(input.shape[1],)", "'float32'", "_invstd")),
        ("batch_norm(input, weight, bias, running_mean, running_var, training, momentum, eps, "
         "out, _mean, _invstd)",),
        {"input": "Shape ``(n, channels, ...)``.", "running_mean": "One per channel; updated in "
         "training.", "running_var": "One per channel; updated in training.",
         "weight": "Factors, one per channel.", "bias": "Terms, one per channel.",
         "training": "Whether the batch's own mean and variance are used.",
         "momentum": "Share of the batch in the running values.",
         "eps": "Added to the variance."},
        returns="out", checks=("check_channels(input)",)),
)  # fmt: skip
