# SPDX-License-Identifier: Apache-2.0
"""Matrix products and norms, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.aclop import Side, const

from .problem import I64, PROBLEMS, F, Problem, problem, sigmoid, spread, wide


# --- matrices
def product(name: str, flags: tuple[str, str], batch: tuple[int, ...] = ()) -> None:
    """A matrix product whose second factor is stored transposed."""

    def make() -> Problem:
        a, b = spread(*batch, 4, 7), spread(*batch, 5, 7)
        answer = wide(a) @ np.swapaxes(wide(b), -1, -2)
        return Problem([a, b], [answer.astype(F)], {flags[0]: False, flags[1]: True})

    PROBLEMS[name] = make


for _name in ("MatMul", "MatMulV2", "MatMulV3"):
    product(_name, ("transpose_x1", "transpose_x2"))
for _name in ("BatchMatMul", "BatchMatMulV2", "BatchMatMulV3"):
    product(_name, ("adj_x1", "adj_x2"), (3,))


@problem
def GEMM() -> Problem:
    a, b, c = spread(4, 7), spread(5, 7), spread(4, 5)
    answer = 0.5 * wide(a) @ wide(b).T + 2 * wide(c)
    given = [a, b, c, const(F([0.5])), const(F([2]))]
    return Problem(given, [answer.astype(F)], {"transpose_b": True})


@problem
def Einsum() -> Problem:
    a, b = spread(4), spread(6)
    answer = np.outer(wide(a), wide(b)).astype(F)
    return Problem([a, b], [answer], {"equation": "a,b->ab", "N": 2})


def convolved(x: Any, w: Any, step: int, margin: int) -> Any:
    """A convolution of images by its definition."""
    x = np.pad(wide(x), ((0, 0), (0, 0), (margin, margin), (margin, margin)))
    windows = np.lib.stride_tricks.sliding_window_view(x, w.shape[2:], axis=(2, 3))
    return np.einsum("nchwij,ocij->nohw", windows[:, :, ::step, ::step], wide(w))


@problem
def Conv2D() -> Problem:
    x, w, bias = spread(2, 3, 6, 6), spread(4, 3, 3, 3), spread(4)
    answer = (convolved(x, w, 2, 1) + bias[:, None, None]).astype(F)
    lists = {"strides": [1, 1, 2, 2], "pads": [1, 1, 1, 1], "data_format": "NCHW"}
    images = [Side(x, format=0), Side(w, format=0), Side(bias)]
    return Problem(images, [Side(answer, format=0)], lists)


# --- norms
def normed(x: Any, axes: Any, eps: float) -> tuple[Any, Any, Any]:
    """(normalised, mean, 1 / deviation)."""
    x = wide(x)
    mean, var = x.mean(axes, keepdims=True), x.var(axes, keepdims=True)
    return (x - mean) / np.sqrt(var + eps), mean, 1 / np.sqrt(var + eps)


def layer_norm(x: Any, g: Any, b: Any, eps: float) -> list[Any]:
    n, mean, rstd = normed(x, -1, eps)
    return [(n * g + b).astype(F), mean.astype(F), rstd.astype(F)]


@problem
def LayerNormV3() -> Problem:
    x, g, b = spread(3, 4, 8), spread(8), spread(8)
    axes = {"begin_norm_axis": -1, "begin_params_axis": -1}
    return Problem([x, g, b], layer_norm(x, g, b, 1e-5), axes)


@problem
def LayerNormV4() -> Problem:
    x, g, b = spread(3, 4, 8), spread(8), spread(8)
    return Problem([x, const(I64([8])), g, b], layer_norm(x, g, b, 1e-5))


@problem
def LayerNormGradV3() -> Problem:
    x, dy, g = spread(4, 8), spread(4, 8), spread(8)
    n, mean, rstd = normed(x, -1, 1e-5)
    inner = wide(dy) * g
    dx = rstd * (inner - inner.mean(-1, keepdims=True) - n * (inner * n).mean(-1, keepdims=True))
    answers = [dx.astype(F), (dy * n).sum(0).astype(F), wide(dy).sum(0).astype(F)]
    return Problem([dy, x, rstd.astype(F), mean.astype(F), g], answers)


def rms(x: Any, g: Any, eps: float) -> list[Any]:
    rstd = 1 / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + eps)
    return [(wide(x) * rstd * g).astype(F), rstd.astype(F)]


@problem
def RmsNorm() -> Problem:
    x, g = spread(4, 8), spread(8)
    return Problem([x, g], rms(x, g, 1e-6))


@problem
def GemmaRmsNorm() -> Problem:
    x, g = spread(4, 8), spread(8)
    return Problem([x, g], rms(x, 1 + wide(g), 1e-6))


@problem
def RmsNormGrad() -> Problem:
    x, dy, g = spread(4, 8), spread(4, 8), spread(8)
    rstd = 1 / np.sqrt((wide(x) ** 2).mean(-1, keepdims=True) + 1e-6)
    n, inner = wide(x) * rstd, wide(dy) * g
    dx = rstd * (inner - n * (inner * n).mean(-1, keepdims=True))
    return Problem([dy, x, rstd.astype(F), g], [dx.astype(F), (dy * n).sum(0).astype(F)])


@problem
def AddRmsNorm() -> Problem:
    a, b, g = spread(4, 8), spread(4, 8), spread(8)
    return Problem([a, b, g], [*rms(a + b, g, 1e-6), a + b])


@problem
def AddRmsNormCast() -> Problem:
    a, b, g = (spread(4, 8).astype(np.float16) for _ in range(3))
    g = g[0]
    x = a + b
    y, rstd = rms(x, wide(g), 1e-6)
    return Problem([a, b, g], [y, y.astype(np.float16), rstd, x], relative=3e-3)


@problem
def AddLayerNorm() -> Problem:
    a, b, g, c = spread(4, 8), spread(4, 8), spread(8), spread(8)
    attributes = {"additional_output": True}
    return Problem([a, b, g, c], [*layer_norm(wide(a) + b, g, c, 1e-5), a + b], attributes)


@problem
def DeepNorm() -> Problem:
    x, gx, b, g = spread(4, 8), spread(4, 8), spread(8), spread(8)
    y, mean, rstd = layer_norm(0.3 * wide(x) + gx, g, b, 1e-6)
    return Problem([x, gx, b, g], [mean, rstd, y])


def groups(x: Any, g: Any, b: Any, count: int, scale: float) -> list[Any]:
    n, mean, rstd = normed(x.reshape(x.shape[0], count, -1), -1, 1e-5)
    y = n.reshape(x.shape) * g[:, None] + b[:, None]
    return [(y * sigmoid(scale * y)).astype(F), mean[..., 0].astype(F), rstd[..., 0].astype(F)]


@problem
def GroupNormSilu() -> Problem:
    x, g, b = spread(2, 4, 6), spread(4), spread(4)
    return Problem([x, g, b], groups(x, g, b, 2, 1.0), {"num_groups": 2})


@problem
def GroupNormSwish() -> Problem:
    x, g, b = spread(2, 4, 6), spread(4), spread(4)
    return Problem([x, g, b], groups(x, g, b, 2, 1.5), {"num_groups": 2, "swish_scale": 1.5})


@problem
def InstanceNorm() -> Problem:
    x, g, b = spread(2, 8, 8, 2), spread(8), spread(8)
    n, mean, _rstd = normed(x, (2, 3), 1e-6)
    y = n * g[:, None, None] + b[:, None, None]
    images = [Side(x, format=0), Side(g), Side(b)]
    var = wide(x).var((2, 3), keepdims=True)
    answers = [Side(v.astype(F), format=0) for v in (y, mean, var)]
    return Problem(images, answers, {"data_format": "NCHW"})
