# SPDX-License-Identifier: Apache-2.0
"""What a type checker has to know of expressions; it is checked, not run."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from typing_extensions import assert_type

import aclnn_py as ap
from aclnn_py import Tensor, xp
from aclnn_py import functional as f


def operators(x: Tensor, y: Tensor) -> None:
    assert_type(x + y, Tensor)
    assert_type(1 - x, Tensor)
    assert_type(x @ y, Tensor)
    assert_type(x == y, Tensor)
    assert_type(x < 1, Tensor)
    assert_type(~x, Tensor)
    assert_type(-abs(x), Tensor)
    assert_type(x // 2 % 3, Tensor)
    assert_type(x << 1 | 2, Tensor)
    assert_type(divmod(x, y), tuple[Tensor, Tensor])
    x += 1


def methods(x: Tensor) -> None:
    assert_type(x[0], Tensor)
    assert_type(x[x > 0], Tensor)
    assert_type(x[None, ..., ::2], Tensor)
    assert_type(x.T, Tensor)
    assert_type(x.real, Tensor)
    assert_type(x.sum(axis=0, keepdims=True), Tensor)
    assert_type(x.max(), Tensor)
    assert_type(x.argmax(), Tensor)
    assert_type(x.std(ddof=1), Tensor)
    assert_type(x.reshape(-1, 2), Tensor)
    assert_type(x.astype("bfloat16"), Tensor)
    assert_type(x.nonzero(), tuple[Tensor, ...])
    assert_type(x.shape, tuple[int, ...])
    assert_type(x.dtype, np.dtype[Any])
    assert_type(x.numpy(), npt.NDArray[Any])
    assert_type(float(x), float)
    assert_type(len(x), int)
    for row in x:
        assert_type(row, Tensor)


def functions(x: Tensor, y: Tensor) -> None:
    assert_type(f.softmax(x, -1), Tensor)
    assert_type(f.matmul(x, y), Tensor)
    assert_type(f.sort(x, -1), tuple[Tensor, Tensor])
    assert_type(f.cast(x, np.float16), Tensor)
    assert_type(ap.asarray([1, 2]), Tensor)
    assert_type(ap.arange(3), Tensor)
    assert_type(ap.unsupported_dtypes.current(), str)
    assert_type(xp.add(x, y), Tensor)
    assert_type(xp.exp(x), Tensor)
    assert_type(xp.mean(x, axis=0), Tensor)
    assert_type(xp.where(x > 0, x, y), Tensor)
    assert_type(xp.linalg.qr(x).Q, Tensor)
    assert_type(xp.linalg.eigh(x).eigenvectors, Tensor)
    with ap.unsupported_dtypes("host") as setting:
        assert_type(setting, ap.unsupported_dtypes)
    with ap.strict() as mode:
        assert_type(mode, ap.strict)
    assert_type(xp.fft.fft(x), Tensor)
    assert_type(xp.isdtype(x.dtype, "real floating"), bool)


def numpys_own(x: Tensor, y: Tensor) -> None:
    # NumPy's stubs say Any here, or an array where a tensor comes; none of them is an error.
    result: Tensor = np.dot(x, y)
    result = np.sum(x)
    result = np.max(x, axis=0)
    result = np.matmul(x, y)
    result = np.add.reduce(x)
    result = np.float32(2) * x
    np.exp(x)
    np.concatenate([x, result])
    np.where(x > 0, x, y)


def mistakes(x: Tensor) -> None:
    x.no_such_method()  # type: ignore[attr-defined]
    f.softmax(x, "last")  # type: ignore[arg-type]
    f.layer_norm(x)  # type: ignore[call-arg]
    f.matmul(x, [1.0])  # type: ignore[arg-type]
    f.cast(x, 3.5)  # type: ignore[arg-type]
    xp.add(x)  # type: ignore[call-arg]
    ap.unsupported_dtypes(32)  # type: ignore[arg-type]
    wrong: int = x.sum()  # type: ignore[assignment]
    del wrong
