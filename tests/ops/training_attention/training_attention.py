# SPDX-License-Identifier: Apache-2.0
"""Attention of training as data: random calls of all versions, and their oracle in float64.

A `TrainingProblem` draws sequences, masks, biases, dropout and layouts from a seed. `forward` and
`backward` compute it per sequence; `call` makes the forward call of the emulator, `call_gradient`
the call of the gradient.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import ml_dtypes
import numpy as np
from helpers.operators import Array, accepted_dtypes, hollow, op, place, wide

FAR = 2147483647
LANES = 8
PLAIN = ("BSH", "SBH", "BSND", "BNSD")
DTYPES = (np.dtype(np.float32), np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16))

# Which parameters each version has beside those that all have.
FORWARD = {
    "FlashAttentionScore": (),
    "FlashAttentionScoreV2": ("start", "pse_type"),
    "FlashAttentionScoreV3": ("sink", "start", "pse_type"),
    "FlashAttentionVarLenScore": ("ends",),
    "FlashAttentionVarLenScoreV2": ("ends", "start", "pse_type"),
    "FlashAttentionVarLenScoreV3": ("rope", "ends", "start", "pse_type"),
    "FlashAttentionVarLenScoreV4": ("ends", "layout"),
    "FlashAttentionVarLenScoreV5": ("rope", "sink", "ends", "start", "pse_type", "layout"),
}
GRADIENT = {
    "FlashAttentionScoreGrad": (),
    "FlashAttentionScoreGradV2": ("start", "pse_type"),
    "FlashAttentionScoreGradV3": ("sink", "start", "pse_type"),
    "FlashAttentionUnpaddingScoreGrad": ("ends",),
    "FlashAttentionUnpaddingScoreGradV2": ("ends", "start", "pse_type"),
    "FlashAttentionUnpaddingScoreGradV3": ("rope", "ends", "start", "pse_type"),
    "FlashAttentionUnpaddingScoreGradV4": ("ends", "layout"),
    "FlashAttentionUnpaddingScoreGradV5": ("rope", "sink", "ends", "start", "pse_type", "layout"),
}


# Those of a 950, which take packed sequences and others.
FORWARD_950 = {"FlashAttentionScoreV4": ("rope", "sink", "ends", "start", "pse_type", "layout")}
GRADIENT_950 = {"FlashAttentionScoreGradV4": FORWARD_950["FlashAttentionScoreV4"]}


@dataclass
class TrainingProblem:
    """One call, drawn from a seed; heads and tokens of each sequence are (heads, tokens, width)."""

    seed: int
    layout: str = ""
    rng: np.random.Generator = field(init=False)

    def __post_init__(self) -> None:
        rng = self.rng = np.random.default_rng(self.seed)
        self.layout = self.layout or str(rng.choice([*PLAIN, "TND", "TND", "TND"]))
        self.packed = self.layout == "TND"
        self.batch = int(rng.integers(1, 4))
        self.kv_heads = int(rng.choice([1, 2, 3]))
        self.heads = self.kv_heads * int(rng.choice([1, 2]))
        self.width = int(rng.choice([3, 8, 16]))
        self.value_width = (
            self.width if rng.random() < 0.7 else int(rng.integers(1, self.width + 1))
        )
        self.scale = float(rng.choice([0.3, 1.0, -0.5]))
        self.dtype = DTYPES[int(rng.choice([0, 0, 1, 2]))]
        self.inner = int(rng.choice([0, 0, 1, 2]))
        self.keep, self.rope_width, self.pse_type = 1.0, 0, 1
        self.tokens_first = self.packed and bool(rng.random() < 0.3)
        self.place = str(rng.choice(["dense", "dense", "transposed", "stepped"]))
        self._extras()
        self._lengths()
        self._mode()
        self._mask()
        self._bias()
        self._dropout()
        self.q, self.dy = self._side(self.heads, self.queries, self.width), []
        self.k = self._side(self.kv_heads, self.keys, self.width)
        self.v = self._side(self.kv_heads, self.keys, self.value_width)
        self.qr = self._side(self.heads, self.queries, self.rope_width)
        self.kr = self._side(self.kv_heads, self.keys, self.rope_width)
        self.dy = self._side(self.heads, self.queries, self.value_width)

    def _extras(self) -> None:
        rng = self.rng
        self.sink: Array | None = None
        self.bias = str(rng.choice(["", "", "pairs", "slopes"]))
        self.dropped = bool(rng.random() < 0.3)
        if rng.random() < 0.25:
            self.sink = rng.normal(size=self.heads).astype(np.float32)
            self.dtype = DTYPES[int(rng.choice([1, 2]))]
        elif self.packed and rng.random() < 0.3:
            self.rope_width, self.dtype = int(rng.choice([2, 8])), DTYPES[2]
            self.bias, self.dropped = "", False
        if self.tokens_first and self.bias == "slopes":
            self.bias = ""

    def _lengths(self) -> None:
        rng = self.rng
        count = self.batch if self.packed else 1
        self.queries = [int(x) for x in rng.integers(1, 20, count)]
        self.keys = [int(x) for x in rng.integers(1, 20, count)]
        if self.bias == "slopes":
            self.keys = list(self.queries)
        elif self.packed and not self.bias and rng.random() < 0.3:
            self.queries[int(rng.integers(count))] = 0
            if not any(self.queries):
                self.queries[0] = 1
        if not self.packed:
            self.queries *= self.batch
            self.keys *= self.batch
        self.tail = int(rng.choice([0, 2])) if self.packed else 0

    def _mode(self) -> None:
        rng = self.rng
        modes = [0, 1, 2, 3, 4, 6, 7, 8] if self.packed else [0, 1, 2, 3, 4, 5, 6]
        self.mode = int(rng.choice(modes))
        if self.bias and self.mode == 7:
            self.mode = 2
        if self.rope_width and self.mode == 6:
            self.mode = 3
        self.before, self.after = int(rng.integers(-3, 12)), int(rng.integers(-3, 12))
        if self.before + self.after < 0:
            self.before = -self.after
        self.masked = bool(rng.random() < 0.8)
        if not self.masked:
            self.mode = int(rng.choice([0, 3]))
        if self.packed and self.masked and self.mode == 3:
            self.keys = [max(k, q) for k, q in zip(self.keys, self.queries, strict=True)]
        self.prefix: list[int] | None = None
        if self.masked and self.mode in (5, 6):
            pairs = zip(self.queries, self.keys, strict=True)
            self.prefix = [int(rng.integers(max(0, k - q), k + 1)) for q, k in pairs]

    def _mask(self) -> None:
        """Make the mask as it is passed, and what each sequence meets: a band and hidden pairs."""
        rng = self.rng
        self.mask: Array | None = None
        hidden = None
        if self.masked and self.mode in (0, 1, 5):
            shapes = [(), (1, 1), (self.batch, 1), (self.batch, self.heads)]
            shape = (*shapes[int(rng.integers(4))], max(self.queries), max(self.keys))
            hidden = rng.random(shape) < rng.choice([0.1, 0.6])
            self.mask = hidden.astype(rng.choice([np.bool_, np.uint8]))
        elif self.masked:
            triangle = np.triu(np.ones((2048, 2048), np.uint8), 1)
            below = np.repeat([[0, 1]], 1024, axis=1).astype(np.uint8)
            if self.mode == 6:
                triangle = np.concatenate([triangle, np.repeat(below, 1024, axis=0)])
            self.mask = triangle
        used = [b for b, q in enumerate(self.queries) if q]
        first, last = (used[0], used[-1]) if used else (0, 0)
        self.met, self.hidden = [], []
        for b, (queries, keys) in enumerate(zip(self.queries, self.keys, strict=True)):
            i, j = np.indices((queries, keys))
            more = keys - queries
            met = np.ones((queries, keys), bool)
            if self.masked:
                band = self.mode == 4 or (self.mode, b) in ((7, last), (8, first))
                if self.mode == 0:
                    met = (j >= i - self.before) & (j <= i + self.after)
                elif band:
                    met = (j >= i + more - self.before) & (j <= i + more + self.after)
                elif self.mode in (2, 8):
                    met = j <= i
                elif self.mode in (3, 5, 6, 7):
                    met = j <= i + more
                if self.prefix is not None:
                    met |= j < self.prefix[b]
            shape = (self.heads, queries, keys)
            self.met.append(np.broadcast_to(met, shape))
            if hidden is None:
                self.hidden.append(np.zeros(shape, bool))
            else:
                whole = np.broadcast_to(
                    hidden, (self.batch, self.heads, max(self.queries), max(self.keys))
                )
                self.hidden.append(whole[b, :, :queries, :keys])

    def _bias(self) -> None:
        """Make the position encoding as it is passed, and what is added to each sequence."""
        rng = self.rng
        self.pse: Array | None = None
        self.start = (0, 0)
        self.shifts = [np.zeros((self.heads, 1, 1))] * self.batch
        if self.bias == "slopes":
            self.pse_type = int(rng.choice([2, 3]))
            self.start = (int(rng.integers(0, 5)), int(rng.integers(0, 5)))
            if self.mode == 8 and self.masked:
                self.start = (3, 3)
            shape = (self.batch, self.heads) if rng.random() < 0.5 else (self.heads,)
            self.pse = rng.random(shape).astype(np.float32)
            slopes = np.broadcast_to(self.pse, (self.batch, self.heads))
            self.shifts = []
            for b, (queries, keys) in enumerate(zip(self.queries, self.keys, strict=True)):
                i, j = np.indices((queries, keys))
                distance = np.abs(i + self.start[0] - j - self.start[1]).astype(float)
                if self.pse_type == 3:
                    distance = np.sqrt(distance)
                self.shifts.append(-wide(slopes[b])[:, None, None] * distance)
            return
        if self.bias == "pairs":
            self.pse_type = 1 if self.tokens_first else int(rng.choice([0, 1]))
            factor = self.scale if self.pse_type == 1 else 1.0
            if self.packed:
                parts = [
                    rng.normal(size=(self.heads, q, k)).astype(self.dtype)
                    for q, k in zip(self.queries, self.keys, strict=True)
                ]
                self.pse = np.concatenate([part.reshape(-1) for part in parts])
                self.shifts = [wide(part) * factor for part in parts]
                return
            rows = self.queries[0] if rng.random() < 0.6 else 1
            front = self.batch if rng.random() < 0.6 else 1
            shape = (front, self.heads, rows, self.keys[0])
            self.pse = rng.normal(size=shape).astype(self.dtype)
            whole = np.broadcast_to(wide(self.pse), (self.batch, *shape[1:]))
            self.shifts = [whole[b] * factor for b in range(self.batch)]

    def _dropout(self) -> None:
        self.drop: Array | None = None
        pairs = list(zip(self.queries, self.keys, strict=True))
        self.kept = [np.ones((self.heads, q, k)) for q, k in pairs]
        if not self.dropped:
            return
        self.keep = float(self.rng.choice([0.5, 0.8]))
        total = sum(self.heads * q * k for q, k in pairs)
        bits = self.rng.random(total) < self.keep
        self.drop = np.packbits(bits, bitorder="little")
        self.drop = np.concatenate([self.drop, np.full(3, 255, np.uint8)])
        at = 0
        for b, (q, k) in enumerate(pairs):
            size = self.heads * q * k
            kept = bits[at : at + size].reshape(self.heads, q, k)
            self.kept[b] = kept / float(np.float32(self.keep))
            at += size

    def _side(self, heads: int, lengths: list[int], width: int) -> list[Array]:
        return [self.rng.normal(size=(heads, n, width)).astype(self.dtype) for n in lengths]

    def arranged(self, parts: list[Array], tail: bool = True) -> Array:
        """Return the sequences in the layout of the call; packed ones may have unused tokens."""
        if self.packed:
            whole = np.concatenate([part.transpose(1, 0, 2) for part in parts])
            spare = np.ones((self.tail if tail else 0, *whole.shape[1:]), whole.dtype)
            return np.concatenate([whole, spare])
        stacked = np.stack(parts)  # BNSD
        if self.layout == "BNSD":
            return stacked
        tokens = stacked.transpose(0, 2, 1, 3)
        if self.layout == "BSND":
            return tokens
        hidden = tokens.reshape(*tokens.shape[:2], -1)
        return hidden if self.layout == "BSH" else hidden.transpose(1, 0, 2)

    def statistics(self, parts: list[Array]) -> Array:
        """Return one number for each head and token as the operators keep it, eight times."""
        if self.packed:
            whole = np.concatenate(parts, axis=1)
            whole = np.pad(whole, ((0, 0), (0, self.tail)), constant_values=77)
            whole = whole.T if self.tokens_first else whole
        else:
            whole = np.stack(parts)
        return np.repeat(whole[..., None], LANES, axis=-1)

    def operators(self, table: dict[str, tuple[str, ...]]) -> list[str]:
        """Return the operators of a table that can express the problem."""
        needed = {
            name
            for name, used in {
                "sink": self.sink is not None,
                "rope": self.rope_width > 0,
                "layout": self.tokens_first,
                "pse_type": self.pse_type != 1,
            }.items()
            if used
        }
        names = {np.float32: "FLOAT", np.float16: "FLOAT16"}
        kind = names.get(self.dtype.type, "BFLOAT16")
        return [
            name
            for name, has in table.items()
            if needed <= set(has)
            and (("ends" in has) == self.packed or table in (FORWARD_950, GRADIENT_950))
            and kind in accepted_dtypes("aclnn" + name, 0)
        ]


@dataclass
class Result:
    """What the forward form gives for each sequence."""

    out: list[Array]
    highest: list[Array]
    sum: list[Array]
    chances: list[Array]
    free: list[Array]  # whether the scores of a row matter at all


def forward(p: TrainingProblem, **moved: list[Array]) -> Result:
    """Compute the problem in float64, or in complex numbers where an operand is complex."""
    q, k, v, qr, kr = (moved.get(n, getattr(p, n)) for n in ("q", "k", "v", "qr", "kr"))
    sink = moved.get("sink", None if p.sink is None else [wide(p.sink)])
    scale = float(np.float32(p.scale))
    result = Result([], [], [], [], [])
    group = p.heads // p.kv_heads
    for b in range(p.batch):
        whole_q = np.concatenate([_wide(q[b]), _wide(qr[b])], -1)
        whole_k = np.concatenate([_wide(k[b]), _wide(kr[b])], -1).repeat(group, 0)
        scores = scale * whole_q @ whole_k.transpose(0, 2, 1) + p.shifts[b]
        open_ = p.met[b] & ~p.hidden[b]
        nothing = ~p.met[b].any(-1)
        closed = ~nothing & ~open_.any(-1)
        highest, total, chances = _softmax(scores, open_, sink[0] if sink else None)
        if sink is None and p.inner == 2:
            nothing = nothing | closed
        elif sink is None:
            count = p.met[b].sum(-1)
            average = p.met[b] / np.maximum(count, 1)[..., None]
            chances = np.where(closed[..., None], average, chances)
            total = np.where(closed, count, total)
            highest = np.where(closed, np.finfo(np.float32).min, highest)
        if sink is None:
            highest, total = np.where(nothing, -np.inf, highest), np.where(nothing, 0, total)
        values = _wide(v[b]).repeat(group, 0)
        result.out.append((chances * p.kept[b]) @ values)
        result.highest.append(highest)
        result.sum.append(total)
        result.chances.append(chances)
        result.free.append(~closed & ~nothing)
    return result


def _wide(array: Array) -> Array:
    return array if array.dtype.kind == "c" else wide(array)


def _softmax(scores: Array, open_: Array, sink: Array | None) -> tuple[Array, Array, Array]:
    visible = np.where(open_, scores.real, -np.inf)
    highest = visible.max(-1, initial=-np.inf)
    if sink is not None:
        highest = np.maximum(highest, sink.real[:, None])
    reference = np.where(np.isfinite(highest), highest, 0.0)
    powers = np.where(open_, np.exp(np.where(open_, scores, 0) - reference[..., None]), 0)
    total = powers.sum(-1)
    if sink is not None:
        total = total + np.exp(sink[:, None] - reference)
    chances = powers / np.where(total == 0, 1, total)[..., None]
    return highest, total, chances


def backward(p: TrainingProblem, result: Result) -> dict[str, list[Array]]:
    """Return the gradients of ``sum(dy * out)``."""
    scale, group = float(np.float32(p.scale)), p.heads // p.kv_heads
    found: dict[str, list[Array]] = {n: [] for n in ("q", "k", "v", "qr", "kr")}
    sinks = np.zeros(p.heads)
    for b in range(p.batch):
        dy, chances = wide(p.dy[b]), result.chances[b]
        values = wide(p.v[b]).repeat(group, 0)
        slopes = (dy @ values.transpose(0, 2, 1)) * p.kept[b]
        along = (slopes * chances).sum(-1, keepdims=True)
        scores = chances * (slopes - along) * result.free[b][..., None] * scale
        if p.sink is not None:
            with np.errstate(invalid="ignore"):
                share = np.exp(wide(p.sink)[:, None] - result.highest[b]) / result.sum[b]
            sinks -= (share * along[..., 0]).sum(-1)

        def shared(x: Array) -> Array:
            return x.reshape(p.kv_heads, group, *x.shape[1:]).sum(1)

        turned = scores.transpose(0, 2, 1)
        found["v"].append(shared((chances * p.kept[b]).transpose(0, 2, 1) @ dy))
        found["q"].append(scores @ wide(p.k[b]).repeat(group, 0))
        found["k"].append(shared(turned @ wide(p.q[b])))
        found["qr"].append(scores @ wide(p.kr[b]).repeat(group, 0))
        found["kr"].append(shared(turned @ wide(p.qr[b])))
    found["sink"] = [sinks]
    return found


def _optional(array: Array | None, layout: str = "dense") -> Any:
    return None if array is None else place(array, layout)


def _common(p: TrainingProblem, has: tuple[str, ...]) -> tuple[list[Any], list[Any], list[Any]]:
    """Return the masks, the lists and the attributes of a call."""
    masks = [_optional(p.pse), _optional(p.drop), None, _optional(p.mask)]
    lists: list[Any] = [p.prefix]
    if "ends" in has and not p.packed:
        lists += [None, None]
    elif "ends" in has:
        lists += [np.cumsum(p.queries).tolist(), np.cumsum(p.keys).tolist()]
    if "start" in has:
        lists += [[p.start[0]], [p.start[1]]]
    names = [p.scale, p.keep, p.before, p.after, p.heads, p.layout, p.inner, p.mode]
    if "pse_type" in has:
        names.append(p.pse_type)
    return masks, lists, names


def call(p: TrainingProblem, operator: str) -> tuple[Array, Array, Array]:
    """Make the forward call; return the result, the highest scores and the sums."""
    has = {**FORWARD, **FORWARD_950}[operator]
    masks, lists, names = _common(p, has)
    parts = {n: place(p.arranged(getattr(p, n)), p.place) for n in ("q", "k", "v")}
    ropes = {n: place(p.arranged(getattr(p, n)), p.place) if p.rope_width else None
             for n in ("qr", "kr")}  # fmt: skip
    newer = operator in FORWARD_950
    if "rope" in has and not newer:
        sides = [parts["q"], ropes["qr"], parts["k"], ropes["kr"], parts["v"]]
    else:
        sides = [parts["q"], parts["k"], parts["v"]]
    sink = [_optional(p.sink)] if "sink" in has else []
    layout = ["same_as_input" if p.tokens_first else ""] if "layout" in has else []
    if newer:
        masks += [ropes["qr"], ropes["kr"], None, None, None]
        names = [*names[:-1], 0, p.pse_type]
        layout += [0, 0]
    shape = p.statistics([np.zeros((p.heads, q)) for q in p.queries]).shape
    highest, total = hollow(shape, np.float32, p.place), hollow(shape, np.float32)
    out = hollow(p.arranged(p.dy).shape, p.dtype, p.place)
    op("aclnn" + operator)(
        *sides, *masks, *sink, *lists, *names, *layout, highest, total, None, out
    )
    return out.numpy(), highest.numpy(), total.numpy()


def call_gradient(
    p: TrainingProblem, operator: str, out: Array, highest: Array, total: Array
) -> dict[str, Array]:
    """Make the call of the gradient; return the gradients by the name of their operand."""
    has = {**GRADIENT, **GRADIENT_950}[operator]
    masks, lists, names = _common(p, has)
    arrays = {n: p.arranged(getattr(p, n)) for n in ("q", "k", "v", "qr", "kr", "dy")}
    given = {n: place(a, p.place) for n, a in arrays.items()}
    grads = {n: hollow(arrays[n].shape, p.dtype, p.place) for n in ("q", "k", "v", "qr", "kr")}
    for name in ("qr", "kr"):
        if not p.rope_width:
            given[name] = grads[name] = None
    sides, results = [given["q"]], [grads["q"]]
    newer = operator in GRADIENT_950
    if "rope" in has and not newer:
        sides += [given["qr"], given["k"], given["kr"], given["v"]]
        results += [grads["qr"], grads["k"], grads["kr"], grads["v"]]
    else:
        sides += [given["k"], given["v"]]
        results += [grads["k"], grads["v"]]
    softmax = [place(highest), place(total), None, place(out, p.place)]
    sink, dsink = [], []
    if "sink" in has:
        grads["sink"] = hollow((p.heads,), np.float32) if p.sink is not None else None
        sink, dsink = [_optional(p.sink)], [grads["sink"]]
    layout = ["same_as_input" if p.tokens_first else ""] if "layout" in has else []
    last = operator.endswith("UnpaddingScoreGradV4")
    before, behind = ([], layout) if last else (layout, [])
    if newer:
        sink += [given["qr"], given["kr"], *[None] * 5]
        names, before = [*names[:6], *layout, *names[6:], 0, 0, 0], []
        results += [grads["qr"], grads["kr"]]
    op("aclnn" + operator)(
        *sides, given["dy"], *masks, *softmax, *sink, *lists, *names, *before, *results, None,
        *dsink, *behind,
    )  # fmt: skip
    return {n: g.numpy() for n, g in grads.items() if g is not None}
