# SPDX-License-Identifier: Apache-2.0
"""Sums, extremes and norms over dimensions; running sums."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_SHAPE = "reduced_shape(input.shape, dims, keepdim)"
_TEXT = "Shape of ``input`` without the reduced dimensions, or with length 1 there"
_LINE = "reduced_shape(input.shape, (dim,), keepdim)"
_DIMS = {"dim": "Dimensions to reduce; default is all."}
_HEAD = "input: Tensor, dim: int | tuple[int, ...] = (), *, keepdim: bool = False"
_ORDER = "Order of the norm."
_SUM_DTYPE = "Element type of the sum; default is int64 for integers and bool, else that of " \
    "``input``."  # fmt: skip
_PRODUCT_DTYPE = _SUM_DTYPE.replace("the sum", "the product")
_CORRECTION = {**_DIMS, "correction": "The divisor is the number of elements minus this."}
_ALL = ("dims = reduced_dims(input, dim)",)
_GIVEN = ("dims = given_dims(dim)",)


def _over(name: str, summary: str, call: str, dtype: str, text: str) -> Row:
    out = Output(f"{_TEXT}; {text}.", _SHAPE, dtype)
    return Row(name, _HEAD, summary, (out,), (call,), _DIMS, steps=_ALL)


def _along(name: str, summary: str, operator: str) -> Row:
    out = Output("Indices, int64. Shape of ``input`` without the dimension, or with length 1 "
                 "there.", _LINE, "'int64'")  # fmt: skip
    call = f"{operator}(input, dim, keepdim, out)"
    return Row(name, "input: Tensor, dim: int, *, keepdim: bool = False", summary, (out,), (call,))


def _running(name: str, summary: str, dtype: str) -> Row:
    out = Output("Same shape as ``input``.", dtype="sum_type(input, dtype)")
    call = f"{name}(input, dim, out.dtype_name, out)"
    head = "input: Tensor, dim: int, *, dtype: DTypeLike | None = None"
    return Row(name, head, summary, (out,), (call,), {"dtype": dtype})


ROWS = (
    Row("sum", f"{_HEAD}, dtype: DTypeLike | None = None", "Add elements along dimensions.",
        (Output(f"{_TEXT}.", _SHAPE, "sum_type(input, dtype)"),),
        ("reduce_sum(input, dims, keepdim, out.dtype_name, out)",),
        {**_DIMS, "dtype": _SUM_DTYPE}, steps=_GIVEN),
    Row("mean", f"{_HEAD}, dtype: DTypeLike | None = None", "Average elements along dimensions.",
        (Output(f"{_TEXT}.", _SHAPE, "floating(promote(input)) if dtype is None else dtype"),),
        ("mean(input, dims, keepdim, out.dtype_name, out)",),
        {**_DIMS, "dtype": "Element type of the result; default is float32 for integers and bool, "
         "else that of ``input``."}, steps=_ALL),
    Row("prod", "input: Tensor, dim: int | None = None, *, keepdim: bool = False, "
        "dtype: DTypeLike | None = None",
        "Multiply elements, all of them or along one dimension.",
        (Output("A 0-d tensor; with ``dim`` the shape of ``input`` without the dimension, or with "
                "length 1 there.", "() if dim is None else " + _LINE, "sum_type(input, dtype)"),),
        (Call("dim is None", ("prod(input, out.dtype_name, out)",)),
         "prod_dim(input, dim, keepdim, out.dtype_name, out)"),
        {"dim": "Dimension to reduce; default is all of them.", "dtype": _PRODUCT_DTYPE},
        steps=("expect_flags(keepdim=keepdim)",)),
    _over("amax", "Find the largest element along dimensions.",
          "amax(input, dims, keepdim, out)", "input.dtype_name", "the same dtype"),
    _over("amin", "Find the smallest element along dimensions.",
          "amin(input, dims, keepdim, out)", "input.dtype_name", "the same dtype"),
    _over("any", "Test whether any element along dimensions is nonzero.",
          "any(input, dims, keepdim, out)", "'bool'", "dtype bool"),
    _over("all", "Test whether all elements along dimensions are nonzero.",
          "all(input, dims, keepdim, out)", "'bool'", "dtype bool"),
    _over("logsumexp", "Compute the logarithm of the sum of exponentials along dimensions.",
          "log_sum_exp(input, dims, keepdim, out)", "floating(promote(input))",
          "float32 for integers and bool, else the same dtype"),
    _along("argmax", "Find the index of the first largest element along a dimension.", "arg_max"),
    _along("argmin", "Find the index of the first smallest element along a dimension.", "arg_min"),
    Row("var", f"{_HEAD}, correction: int = 1", "Compute the variance along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("var_correction(input, dims, correction, keepdim, out)",), _CORRECTION, steps=_ALL),
    Row("std", f"{_HEAD}, correction: int = 1", "Compute the standard deviation along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("std(input, dims, correction, keepdim, out)",), _CORRECTION, steps=_ALL),
    _running("cumsum", "Compute the running sum along a dimension.", _SUM_DTYPE),
    _running("cumprod", "Compute the running product along a dimension.", _PRODUCT_DTYPE),
    Row("vector_norm", "input: Tensor, ord: Number = 2, dim: int | tuple[int, ...] = (), *, "
        "keepdim: bool = False", "Compute the norm of vectors along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("linalg_vector_norm(input, ord, dims, keepdim, out.dtype_name, out)",),
        {**_DIMS, "ord": _ORDER}, steps=_GIVEN),
    Row("norm", "input: Tensor, p: Number = 2, dim: int | tuple[int, ...] = (), "
        "keepdim: bool = False", "Compute the p-norm of elements along dimensions.",
        (Output(f"{_TEXT}; the same dtype.", _SHAPE),),
        ("norm(input, p, dims, keepdim, out)",), {**_DIMS, "p": _ORDER}, steps=_ALL),
    Row("exp_segsum", "input: Tensor",
        "Compute the powers of the sums of all runs of each row.",
        (Output("Shape ``(..., n, n)``: at ``i, j`` the power of the sum of the elements behind "
                "``j`` up to ``i``, and 0 above the diagonal.",
                "(*input.shape, input.shape[-1])"),),
        ("exp_segsum(input, out)",), {"input": "Shape ``(..., n)`` of 3 or 4 dimensions."},
        steps=("check_matrix(input)",)),
    Row("exp_segsum_backward", "grad: Tensor, output: Tensor",
        "Compute the gradient of `exp_segsum`.",
        (Output("Shape ``(..., n)``.", "grad.shape[:-1]", "grad.dtype_name"),),
        ("exp_segsum_backward(grad, output, out)",),
        {"grad": "Shape ``(..., n, n)``.", "output": "The result of `exp_segsum`."}),
)  # fmt: skip
