# SPDX-License-Identifier: Apache-2.0
"""Operators of inference beside NumPy's composition: `python -m benchmarks.inference`.

One row per family. Both work on one thread, in turns of four calls; the figure is the least CPU
time of the process, and what counts is the ratio: above 1 the operator was slower. NumPy works in
float32, from and to the dtypes of the operands, as a program without the package would; its integer
product is in float32 too, which is exact here and far faster. Results are compared before anything
is timed.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Callable
from functools import partial
from typing import Any, NamedTuple

from benchmarks.matmul import cpu_ms  # first, because it limits both to one thread

# ruff: isort: split
import ml_dtypes
import numpy as np

import aclnn_py as ap

F32 = np.float32
Work = Callable[[], Any]


class Case(NamedTuple):
    """What is compared: both give the arrays that must agree, within `close`."""

    name: str
    case: str
    ours: Work
    theirs: Work
    close: float
    beside: str = "NumPy's composition"
    aim: float = 1


def device(*arrays: Any) -> tuple[ap.Tensor, ...]:
    return tuple(ap.from_numpy(np.ascontiguousarray(array)) for array in arrays)


def runs(call: Work, *outs: ap.Tensor) -> Work:
    """The call and its wait; what it wrote is the answer."""

    def run() -> tuple[ap.Tensor, ...]:
        call()
        ap.synchronize()
        return outs

    return run


def quantised(x: Any) -> tuple[Any, Any]:
    """Rows in int8 with one scale each."""
    scale = np.abs(x).max(-1, keepdims=True) / F32(127)
    return np.rint(x / scale).astype(np.int8), scale[..., 0]


def silu(x: Any) -> Any:
    return x / (1 + np.exp(-x))


def gating(rng: np.random.Generator) -> Case:
    rows, experts, k = 4096, 128, 8
    x = rng.standard_normal((rows, experts)).astype(np.float16)
    (logits,) = device(x)
    y, index, row = (ap.empty((rows, k), dtype) for dtype in ("float16", "int32", "int32"))

    def theirs() -> Any:
        wide = x.astype(F32)
        wide = np.exp(wide - wide.max(-1, keepdims=True))
        wide /= wide.sum(-1, keepdims=True)
        best = np.argsort(-wide, axis=-1, kind="stable")[:, :k]
        return (np.take_along_axis(wide, best, -1).astype(np.float16),)

    call = runs(lambda: ap.ops.moe_gating_top_k_softmax(logits, None, k, y, index, row), y)
    return Case("gate", f"{rows} x {experts}, {k} of them, float16", call, theirs, 2e-3)


def routing(rng: np.random.Generator) -> Case:
    rows, width, experts, k = 2048, 1024, 64, 4
    x = rng.standard_normal((rows, width)).astype(np.float16)
    choice = rng.integers(0, experts, (rows, k)).astype(np.int32)
    tokens, chosen = device(x, choice)
    out = ap.empty((rows * k, width), "float16")
    place, ends = ap.empty((rows * k,), "int32"), ap.empty((experts,), "int32")

    def theirs() -> Any:
        order = np.argsort(choice.reshape(-1), kind="stable")
        return x[order // k], np.cumsum(np.bincount(choice.reshape(-1), minlength=experts))

    call = runs(
        lambda: ap.ops.moe_init_routing_v2(
            tokens, chosen, 0, 0, experts, 0, 1, False, out, place, ends, None
        ),
        out,
        ends,
    )
    return Case("routing", f"{rows} x {width} to {k} of {experts}, float16", call, theirs, 0)


def rows_to_int8(rng: np.random.Generator) -> Case:
    rows, width = 1024, 4096
    x = rng.standard_normal((rows, width)).astype(np.float16)
    (tokens,) = device(x)
    y, scale = ap.empty((rows, width), "int8"), ap.empty((rows,), "float32")
    call = runs(lambda: ap.ops.dynamic_quant(tokens, None, y, scale), scale)
    return Case(
        "dynamic quantisation",
        f"{rows} x {width}, float16",
        call,
        lambda: quantised(x.astype(F32))[1:],
        1e-3,
    )


def norm(rng: np.random.Generator) -> Case:
    rows, width = 1024, 4096
    a, b = (rng.standard_normal((rows, width)).astype(np.float16) for _ in range(2))
    weight = rng.standard_normal(width).astype(np.float16)
    x1, x2, gamma = device(a, b, weight)
    total = ap.empty((rows, width), "float16")
    y1, y2 = ap.empty((rows, width), "int8"), ap.empty((1,), "int8")
    scale1, scale2 = ap.empty((rows,), "float32"), ap.empty((1,), "float32")

    def theirs() -> Any:
        both = a.astype(F32) + b
        scaled = both / np.sqrt((both * both).mean(-1, keepdims=True) + F32(1e-6)) * weight
        return both.astype(np.float16), quantised(scaled)[1]

    call = runs(
        lambda: ap.ops.add_rms_norm_dynamic_quant(
            x1, x2, gamma, None, None, 1e-6, y1, y2, total, scale1, scale2
        ),
        total,
        scale1,
    )
    return Case("add, norm, quantise", f"{rows} x {width}, float16", call, theirs, 2e-2)


def int8_product(rng: np.random.Generator) -> Case:
    m, k, n = 64, 2048, 2048
    x, w = (rng.integers(-127, 128, shape).astype(np.int8) for shape in ((m, k), (k, n)))
    columns, lines = (rng.uniform(1e-4, 2e-4, size).astype(F32) for size in (n, m))
    x1, x2, scale, token = device(x, w, columns, lines)
    out = ap.empty((m, n), "float16")

    def theirs() -> Any:
        return ((x.astype(F32) @ w.astype(F32) * columns * lines[:, None]).astype(np.float16),)

    call = runs(
        lambda: ap.ops.quant_matmul_v4(x1, x2, scale, None, token, None, False, False, out),
        out,
    )
    return Case("int8 product", f"({m}, {k}) @ ({k}, {n}), pertoken", call, theirs, 1e-2)


def experts_product(rng: np.random.Generator) -> Case:
    groups, rows, k, n = 8, 32, 1024, 1024
    x = rng.integers(-127, 128, (groups * rows, k)).astype(np.int8)
    w = rng.integers(-127, 128, (groups, k, n)).astype(np.int8)
    columns = rng.uniform(1e-4, 2e-4, (groups, n)).astype(F32)
    lines = rng.uniform(0.01, 0.02, groups * rows).astype(F32)
    ends = np.arange(rows, groups * rows + 1, rows)
    tokens, weight, scale, token, group_list = device(x, w, columns, lines, ends)
    weight = ap.functional.trans_matmul_weight(weight)
    y, y_scale = ap.empty((groups * rows, n // 2), "int8"), ap.empty((groups * rows,), "float32")

    def theirs() -> Any:
        found = np.empty(groups * rows, F32)
        for g in range(groups):
            part = slice(g * rows, (g + 1) * rows)
            wide = x[part].astype(F32) @ w[g].astype(F32) * columns[g] * lines[part, None]
            found[part] = quantised(silu(wide[:, : n // 2]) * wide[:, n // 2 :])[1]
        return (found,)

    call = runs(
        lambda: ap.ops.grouped_matmul_swiglu_quant_v2(
            *(tokens, [weight], [scale], None, None, token, None, group_list),
            *(0, 0, 0, 0, None, y, y_scale),
        ),
        y_scale,
    )
    case = f"{groups} x ({rows}, {k}) @ ({k}, {n}), int8"
    return Case("grouped product, swiglu, quantise", case, call, theirs, 1e-2)


def sampling(rng: np.random.Generator) -> Case:
    rows, words = 16, 32000
    x = rng.standard_normal((rows, words)).astype(F32)
    most = np.full(rows, 50, np.int32)
    share = np.full(rows, 0.9, F32)
    logits, k, p = device(x, most, share)
    out = ap.empty((rows, words), "float32")

    def theirs() -> Any:
        order = np.argsort(x, axis=-1, kind="stable")
        ranked = np.take_along_axis(x, order, -1)
        ranked[ranked < ranked[np.arange(rows), words - most, None]] = -np.inf
        chance = np.exp(ranked - ranked[:, -1:])
        chance /= chance.sum(-1, keepdims=True)
        dropped = np.cumsum(chance, -1) <= 1 - share[:, None]
        dropped[:, -1] = False
        ranked[dropped] = -np.inf
        result = np.empty_like(x)
        np.put_along_axis(result, order, ranked, -1)
        return (result,)

    call = runs(lambda: ap.ops.apply_top_k_top_p(logits, p, k, out), out)
    return Case("top-k and top-p", f"{rows} x {words}, float32", call, theirs, 0)


def weight_in_groups(rng: np.random.Generator, kind: Any, group: int) -> Case:
    """One row: reading the weight is the cost, so it stands beside the float16 product."""
    k, n = 14336, 4096
    x = (rng.standard_normal((1, k)) / 64).astype(np.float16)
    w = rng.integers(-8, 8, (k, n)).astype(np.int8).astype(kind)
    scale = rng.uniform(0.01, 0.02, (k // group, n)).astype(np.float16)
    wide = (w.astype(F32).reshape(-1, group, n) * scale[:, None].astype(F32)).reshape(k, n)
    row, weight, scales, plain = device(x, w, scale, wide.astype(np.float16))
    out, expected = ap.empty((1, n), "float16"), ap.empty((1, n), "float16")

    def theirs() -> Any:
        ap.ops.matmul(row, plain, expected, 0)
        ap.synchronize()
        return (expected.numpy(),)

    call = runs(
        lambda: ap.ops.weight_quant_batch_matmul_v2(
            row, weight, scales, None, None, None, None, group, out
        ),
        out,
    )
    case = f"(1, {k}) @ ({k}, {n}), {np.dtype(kind).name}, groups of {group}"
    return Case("weight in groups", case, call, theirs, 2e-2, "the float16 product", 0.6)


def cache_writing(rng: np.random.Generator) -> Case:
    tokens, heads, width, pages, page = 2048, 8, 128, 64, 64
    key, value = (rng.standard_normal((tokens, heads, width)).astype(np.float16) for _ in range(2))
    slots = rng.permutation(pages * page)[:tokens].astype(np.int32)
    caches = [np.zeros((pages, page, heads, width), np.float16) for _ in range(2)]
    k, v, where, k_cache, v_cache = device(key, value, slots, *caches)

    def theirs() -> Any:
        for cache, rows in zip(caches, (key, value), strict=True):
            cache.reshape(-1, heads, width)[slots] = rows
        return caches

    call = runs(
        lambda: ap.ops.scatter_pa_kv_cache(
            k, k_cache, where, v, v_cache, None, None, None, "Norm", "None", None, None
        ),
        k_cache,
        v_cache,
    )
    case = f"{tokens} tokens of {heads} x {width} to pages of {page}, float16"
    return Case("cache in pages", case, call, theirs, 0)


Families = tuple[Callable[[np.random.Generator], Case], ...]
FAMILIES: Families = (
    gating,
    routing,
    rows_to_int8,
    norm,
    int8_product,
    *(partial(weight_in_groups, kind=kind, group=group)
      for kind in (np.int8, ml_dtypes.int4) for group in (32, 128)),
    experts_product,
    cache_writing,
    sampling,
)  # fmt: skip


# Calls of one side before the other has its turn: a program uses one of the two, and finds in the
# caches what its own last call left there.
TURN = 4


def compared(case: Case, rounds: int) -> tuple[float, float]:
    """Least ms of the operator and of NumPy, after their results were found to agree."""
    for mine, other in zip(case.ours(), case.theirs(), strict=True):
        np.testing.assert_allclose(
            mine.numpy().astype(np.float64),
            np.asarray(other, np.float64),
            rtol=case.close,
            atol=case.close,
            err_msg=case.name,
        )
    least = [float("inf"), float("inf")]
    for _ in range(rounds):
        for side, work in enumerate((case.ours, case.theirs)):
            for _ in range(TURN):
                least[side] = min(least[side], cpu_ms(work))
    return least[0], least[1]


def measured(families: Families, quick: bool) -> list[dict[str, object]]:
    """One row per family."""
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for family in families:
            case = family(np.random.default_rng(1))
            ours, theirs = compared(case, 3 if quick else 10)
            found.append(
                {
                    "name": case.name,
                    "case": case.case,
                    "ours": ours,
                    "baseline": theirs,
                    "baseline_name": case.beside,
                    "ratio": ours / theirs,
                    "unit": "ms",
                    "aim": f"<= {case.aim:g}",
                }
            )
    return found


def rows(quick: bool) -> list[dict[str, object]]:
    """Rows for the table of all benchmarks; here less is faster."""
    return measured(FAMILIES, quick)


def main(rows: Callable[[bool], list[dict[str, object]]]) -> int:
    """Print one table; 1 when an aim was missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--quick", action="store_true")
    options = parser.parse_args()
    print(f"{'family':36}{'case':56}{'ms':>8}{'beside':>9}{'ratio':>8}  aim")
    missed = 0
    for row in rows(options.quick):
        print(
            f"{row['name']:36}{row['case']:56}{row['ours']:8.2f}{row['baseline']:9.2f}"
            f"{row['ratio']:8.2f}  {row['aim']}"
        )
        missed += float(str(row["ratio"])) > float(str(row["aim"]).split()[1])
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main(rows))
