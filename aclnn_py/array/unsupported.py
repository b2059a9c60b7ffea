# SPDX-License-Identifier: Apache-2.0
"""Operators that refuse float64 or complex numbers, computed as the thread's setting says.

``unsupported_dtypes`` of ``operators/launch`` is the setting. A launch that phase one has refused
comes here; what comes back is whether its results have been written.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from aclnn_py import ops
from aclnn_py.array import rows
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.operators.launch.op import Op
from aclnn_py.runtime.current import thread
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty, from_numpy
from aclnn_py.tensor.dtypes import NARROWER, DType, dtype_of
from aclnn_py.tensor.tensor import Tensor

__all__ = ["ON_HOST", "compute_instead"]


def compute_instead(op: Op, values: Sequence[Any], stream: Stream | None) -> bool:
    """Compute what an operator has refused; False where that cannot be done."""
    choice = thread.unsupported
    thread.unsupported = "refuse"  # what refuses now has no other way
    try:
        compute = _in_float32 if choice == "float32" else _on_host
        return compute(op, values, stream)
    finally:
        thread.unsupported = choice


def _in_float32(op: Op, values: Sequence[Any], stream: Stream | None) -> bool:
    written: list[tuple[Tensor, Tensor]] = []

    def narrow(value: Any, direction: str) -> Any:
        if not isinstance(value, Tensor) or value.dtype_name not in NARROWER:
            return value
        kind = dtype_of(NARROWER[value.dtype_name])
        copy = empty(value.shape, kind, device=value.device)
        if direction != "out":
            ops.cast(value, kind, copy, stream=stream)
        if direction != "in":
            written.append((value, copy))
        return copy

    narrowed = []
    for parameter, value in zip(op.parameters, values, strict=True):
        if parameter.kind == "y":
            narrowed.append(_narrower_dtype(value))
        elif parameter.kind == "L" and value is not None:
            narrowed.append([narrow(item, parameter.direction) for item in value])
        else:
            narrowed.append(narrow(value, parameter.direction))
    if all(new is old for new, old in zip(narrowed, values, strict=True)):
        return False
    try:
        op(*narrowed, stream=stream)
    except InvalidArgumentError:
        return False
    for value, copy in written:
        ops.inplace_copy(value, copy, stream=stream)
    return True


def _narrower_dtype(value: Any) -> DType | Any:
    narrower = NARROWER.get(dtype_of(value).name)
    return value if narrower is None else dtype_of(narrower)


def _on_host(op: Op, values: Sequence[Any], stream: Stream | None) -> bool:
    compute = ON_HOST.get(op.name)
    if compute is None:
        return False
    if stream is not None:
        stream.synchronize()
    pairs = list(zip(op.parameters, values, strict=True))
    with np.errstate(all="ignore"):
        found = compute(*(_read(value) for p, value in pairs if p.direction != "out"))
    results = [np.asarray(item) for item in (found if isinstance(found, tuple) else (found,))]
    targets = [value for parameter, value in pairs if parameter.direction != "in"]
    if [item.shape for item in results] != [item.shape for item in targets]:
        return False  # the outputs were refused for their shapes
    for target, result in zip(targets, results, strict=True):
        array = result.astype(target.dtype)
        ops.inplace_copy(target, from_numpy(array, device=target.device), stream=stream)
    return True


def _read(value: Any) -> Any:
    if isinstance(value, Tensor):
        return value.numpy()
    if isinstance(value, (list, tuple)):
        return [_read(item) for item in value]
    return value


def _indexed(x: Any, indices: Sequence[Any]) -> Any:
    return x[_key(indices)]


def _index_put(x: Any, indices: Sequence[Any], values: Any, accumulate: bool, unsafe: bool) -> Any:
    result = x.copy()
    if accumulate:
        np.add.at(result, _key(indices), values)
    else:
        result[_key(indices)] = values
    return result


def _key(indices: Sequence[Any]) -> tuple[Any, ...]:
    return tuple(slice(None) if index is None else index for index in indices)


def _svd(a: Any, full: bool, vectors: bool) -> Any:
    u, s, vh = np.linalg.svd(a, full)
    return s, u, vh.conj().swapaxes(-1, -2)


def _cholesky(a: Any, upper: bool) -> Any:
    """NaN for what is not positive definite, as the operator gives."""
    factors = np.full(a.shape, np.nan, a.dtype)
    for place in np.ndindex(a.shape[:-2]):
        matrix = a[place].conj().T if upper else a[place]
        try:
            factor = np.linalg.cholesky(matrix)
        except np.linalg.LinAlgError:
            continue
        factors[place] = factor.conj().T if upper else factor
    return factors


def _rows() -> dict[str, Callable[..., Any]]:
    """Operators that have the name of a ufunc in the tables of arithmetic."""
    return {
        operator: getattr(np, name)
        for table in (rows.UNARY, rows.BINARY)
        for name, row in table.items()
        for operator in (row.tensors, row.number)
        if isinstance(operator, str)
    }


# Operator -> its results, from its arguments without outputs.
ON_HOST: dict[str, Callable[..., Any]] = {
    **_rows(),
    "abs": np.abs,
    "tanh": np.tanh,
    "expm1": np.expm1,
    "log_add_exp": np.logaddexp,
    "add": lambda a, b, alpha: a + alpha * b,
    "adds": lambda a, b, alpha: a + alpha * b,
    "sub": lambda a, b, alpha: a - alpha * b,
    "subs": lambda a, b, alpha: a - alpha * b,
    "rsub": lambda a, b, alpha: b - alpha * a,
    "rsubs": lambda a, b, alpha: b - alpha * a,
    "neg": np.negative,
    "rsqrt": lambda a: 1 / np.sqrt(a),
    "round": np.rint,
    "ne_tensor": np.not_equal,
    "eq_scalar": np.equal,
    "is_finite": np.isfinite,
    "is_inf": np.isinf,
    "trunc": np.trunc,
    "pow_tensor_tensor": np.power,
    "pow_scalar_tensor": np.power,
    "log_add_exp2": np.logaddexp2,
    "left_shift": np.left_shift,
    "right_shift": np.right_shift,
    "gcd": np.gcd,
    "s_where": np.where,
    "maximum": np.maximum,
    "minimum": np.minimum,
    "amax": lambda a, axes, keep: np.max(a, tuple(axes), keepdims=keep),
    "amin": lambda a, axes, keep: np.min(a, tuple(axes), keepdims=keep),
    "any": lambda a, axes, keep: np.any(a, tuple(axes), keepdims=keep),
    "all": lambda a, axes, keep: np.all(a, tuple(axes), keepdims=keep),
    "reduce_sum": lambda a, axes, keep, dtype: np.sum(a, tuple(axes), keepdims=keep),
    "mean": lambda a, axes, keep, dtype: np.mean(a, tuple(axes), keepdims=keep),
    "prod_dim": lambda a, axis, keep, dtype: np.prod(a, axis, keepdims=keep),
    "cumsum": lambda a, axis, dtype: np.cumsum(a, axis),
    "cumprod": lambda a, axis, dtype: np.cumprod(a, axis),
    "arg_max": lambda a, axis, keep: np.argmax(a, axis, keepdims=keep),
    "arg_min": lambda a, axis, keep: np.argmin(a, axis, keepdims=keep),
    "matmul": lambda a, b, kind: np.matmul(a, b),
    "inverse": np.linalg.inv,
    "linalg_cholesky": _cholesky,
    "slogdet": lambda a: tuple(np.linalg.slogdet(a)),
    "linalg_qr": lambda a, mode: tuple(np.linalg.qr(a, ("reduced", "complete")[mode])),
    "svd": _svd,
    "index": _indexed,
    "index_put_impl": _index_put,
    "gather": lambda a, axis, index: np.take_along_axis(a, index, axis),
    "cat": lambda arrays, axis: np.concatenate(arrays, axis),
    "flip": lambda a, axes: np.flip(a, tuple(axes)),
    "roll": lambda a, shifts, axes: np.roll(a, tuple(shifts), tuple(axes) or None),
    "tril": np.tril,
    "triu": np.triu,
    "repeat_interleave_int_with_dim": lambda a, times, axis, size: np.repeat(a, times, axis),
    "eye": np.eye,
}
