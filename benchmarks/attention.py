# SPDX-License-Identifier: Apache-2.0
"""The emulator's attention beside NumPy's: `python -m benchmarks.attention`.

Both work on one thread, in turns; the figure is the least CPU time of the process, and what counts
is the ratio. NumPy has no fast product of float16, so that it works in float32, as a NumPy program
would, and its time includes the conversions. It has the whole matrix of scores in memory.

One row is one token of a query over keys that lie in pages, beside a copy of as many bytes as the
pages have: attention there should read at half the speed of a copy. The last row is the gradient
beside its forward form.
"""

from __future__ import annotations

import argparse
import sys
from typing import Any, NamedTuple

from benchmarks.matmul import cpu_ms  # first, because it limits both to one thread

# ruff: isort: split
import numpy as np

import aclnn_py as ap

FAR = 2147483647


class Case(NamedTuple):
    """Sizes of one attention; `aim` is what the ratio has to be."""

    heads: int
    queries: int
    keys: int
    width: int
    kv_heads: int
    causal: bool
    aim: str

    @property
    def text(self) -> str:
        sharing = "" if self.kv_heads == self.heads else f" on {self.kv_heads}"
        causal = ", causal" if self.causal else ""
        return (
            f"float16, {self.heads}{sharing} heads, {self.queries}x{self.keys}x{self.width}{causal}"
        )


CASES = [
    Case(8, 512, 512, 64, 8, False, "<= 1"),
    Case(8, 512, 512, 64, 8, True, "<= 1"),
    Case(8, 2048, 2048, 64, 8, True, "<= 1"),
    Case(32, 1, 4096, 128, 8, False, "<= 1"),
]


def numpy_attention(query: Any, key: Any, value: Any, hidden: Any) -> Any:
    """Scores, softmax and average over whole arrays."""
    q, k, v = (x.astype(np.float32) for x in (query, key, value))
    # the heads of a group lie side by side in the rows of one product
    grouped = q.reshape(k.shape[0], k.shape[1], -1, q.shape[-1])
    scores = grouped @ k.swapaxes(-1, -2)
    scores *= np.float32(q.shape[-1] ** -0.5)
    if hidden is not None:
        scores[..., hidden] = -np.inf
    scores -= scores.max(-1, keepdims=True)
    np.exp(scores, out=scores)
    scores /= scores.sum(-1, keepdims=True)
    return (scores @ v).reshape(q.shape).astype(np.float16)


def measure(case: Case, rounds: int) -> tuple[float, float]:
    """Least ms of the emulator and of NumPy; the results are compared."""
    rng = np.random.default_rng(1)
    sizes = [(case.heads, case.queries), *[(case.kv_heads, case.keys)] * 2]
    arrays = [rng.standard_normal((1, n, s, case.width)).astype(np.float16) for n, s in sizes]
    query, key, value = (ap.from_numpy(x) for x in arrays)
    hidden = np.triu(np.ones((case.queries, case.keys), np.bool_), 1) if case.causal else None
    triangle = ap.from_numpy(np.triu(np.ones((2048, 2048), np.bool_), 1)) if case.causal else None
    out = ap.empty(query.shape, "float16")
    none = [None] * 7

    def ours() -> None:
        ap.ops.fused_infer_attention_score_v2(
            query, [key], [value], None, triangle, None, None, *none, None, *none, None, None,
            case.heads, case.width**-0.5, FAR, FAR, "BNSD", case.kv_heads,
            2 if case.causal else 0, 0, 0, 0, False, 0, 0, out, None,
        )  # fmt: skip
        ap.synchronize()

    def numpys() -> Any:
        return numpy_attention(*arrays, hidden)

    ours()
    np.testing.assert_allclose(
        out.numpy().astype(np.float64), numpys().astype(np.float64), rtol=0.01, atol=0.001
    )
    samples = [(cpu_ms(ours), cpu_ms(numpys)) for _ in range(rounds)]
    first, second = zip(*samples, strict=True)
    return min(first), min(second)


def measure_pages(keys: int, page: int, rounds: int) -> tuple[float, float]:
    """Least ms of decode attention over pages and of a copy of their bytes."""
    rng = np.random.default_rng(1)
    heads, kv_heads, width = 32, 8, 128
    pages = [
        rng.standard_normal((keys // page, kv_heads, page, width)).astype(np.float16)
        for _ in range(2)
    ]
    table = ap.from_numpy(rng.permutation(keys // page).astype(np.int32)[None])
    query = ap.from_numpy(rng.standard_normal((1, heads, 1, width)).astype(np.float16))
    key, value = (ap.from_numpy(x) for x in pages)
    out = ap.empty(query.shape, "float16")
    none = [None] * 7
    source = np.concatenate([x.ravel() for x in pages])
    target = np.ones_like(source)

    def ours() -> None:
        ap.ops.fused_infer_attention_score_v2(
            query, [key], [value], None, None, None, [keys], *none, table, *[None] * 6, None, None,
            None, heads, width**-0.5, FAR, FAR, "BNSD", kv_heads, 0, 0, page, 0, False, 0, 0, out,
            None,
        )  # fmt: skip
        ap.synchronize()

    def copy() -> None:
        target[:] = source

    ours()
    samples = [(cpu_ms(ours), cpu_ms(copy)) for _ in range(rounds)]
    first, second = zip(*samples, strict=True)
    return min(first), min(second)


def measure_gradient(heads: int, tokens: int, width: int, rounds: int) -> tuple[float, float]:
    """Least ms of the gradient of attention and of its forward form."""
    rng = np.random.default_rng(1)
    shape, names = (1, heads, tokens, width), [None, width**-0.5, 1.0, FAR, FAR, heads, "BNSD", 0]
    query, key, value, dy = (
        ap.from_numpy(rng.standard_normal(shape).astype(np.float16)) for _ in range(4)
    )
    results = [ap.empty(shape, "float16") for _ in range(4)]
    sums = [ap.empty((1, heads, tokens, 8), "float32") for _ in range(2)]
    softmax = [*sums, None, results[0]]

    def forward() -> None:
        ap.ops.flash_attention_score(query, key, value, *[None] * 4, *names, 0, *softmax)
        ap.synchronize()

    def backward() -> None:
        ap.ops.flash_attention_score_grad(
            query, key, value, dy, *[None] * 4, *softmax, *names, 0, *results[1:], None
        )
        ap.synchronize()

    forward()
    samples = [(cpu_ms(backward), cpu_ms(forward)) for _ in range(rounds)]
    first, second = zip(*samples, strict=True)
    return min(first), min(second)


def rows(quick: bool) -> list[dict[str, object]]:
    """One row per case."""
    found: list[dict[str, object]] = []
    with ap.Device(0):
        for case in CASES[:1] if quick else CASES:
            ours, numpys = measure(case, 5 if quick else 9)
            found.append(
                {
                    "name": "attention",
                    "case": case.text,
                    "ours": ours,
                    "baseline": numpys,
                    "baseline_name": "NumPy in float32",
                    "ratio": ours / numpys,
                    "unit": "ms",
                    "aim": case.aim,
                }
            )
        keys, page = 4096, 128
        ours, copy = measure_pages(keys, page, 5 if quick else 25)
        found.append(
            {
                "name": "attention",
                "case": f"float16, 32 on 8 heads, 1x{keys}x128, pages of {page}",
                "ours": ours,
                "baseline": copy,
                "baseline_name": "a copy of the bytes",
                "ratio": ours / copy,
                "unit": "ms",
                "aim": "<= 2",
            }
        )
        heads, tokens, width = 8, 1024, 64
        ours, forward = measure_gradient(heads, tokens, width, 3 if quick else 9)
        found.append(
            {
                "name": "attention",
                "case": f"float16, gradient, {heads} heads, {tokens}x{tokens}x{width}",
                "ours": ours,
                "baseline": forward,
                "baseline_name": "the forward form",
                "ratio": ours / forward,
                "unit": "ms",
                "aim": "<= 3",
            }
        )
    return found


def main() -> int:
    """Print one table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    print(f"{'attention':52} {'ms':>8} {'other ms':>9} {'ratio':>6}  aim")
    for row in rows(parser.parse_args().quick):
        print(
            f"{row['case']:52} {row['ours']:8.2f} {row['baseline']:9.2f} "
            f"{row['ratio']:6.2f}  {row['aim']}"
        )
    return 0


if __name__ == "__main__":
    sys.exit(main())
