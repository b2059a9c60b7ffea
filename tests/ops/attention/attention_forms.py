# SPDX-License-Identifier: Apache-2.0
"""Random calls of the attention of inference in every form, with their results in float64.

A problem has its sequences one by one as (heads, tokens, elements), in the order in which they are
met: the prefix, then the own keys. How they lie in tensors (layout, list, pages, padding, factors)
is decided beside that, so that the oracle knows nothing of it.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.operators import hollow, place

import aclnn_py as ap
from ops.attention.attention_calls import ALL, BF16, F16, TRIANGLE, Array, meets, run

FUSED_VERSIONS = ["", "V2", "V3", "V4", "V5"]
PLAIN_LAYOUTS = ["BSH", "BSND", "BNSD"]
TURNED = ["BNSD_BSND", "BSH_BNSD", "BSND_BNSD", "BSH_NBSD", "BSND_NBSD", "BNSD_NBSD"]
PACKED = ["TND", "NTD", "NTD_TND", "TND_NTD"]
AXES = {"BSH": (0, 2, 1, 3), "BSND": (0, 2, 1, 3), "BNSD": (0, 1, 2, 3), "NBSD": (1, 0, 2, 3)}
FORMS = (
    "plain", "plain", "listed", "packed", "pages", "prefix", "padded", "factors", "factors",
    "common factors", "page factors", "int8", "int8 result", "rotary", "joined", "tree", "sink",
    "latent", "int4",
)  # fmt: skip


def laid(array: Array, layout: str) -> Array:
    """(batch, heads, tokens, elements) in a layout without packing."""
    turned: Array = array.transpose(AXES[layout])
    if layout != "BSH":
        return turned
    batch, tokens, heads, width = turned.shape
    return turned.reshape(batch, tokens, heads * width)


def joined(arrays: list[Array], layout: str) -> Array:
    """(heads, tokens, elements) of each sequence packed into TND or NTD."""
    whole = np.concatenate(arrays, axis=1)
    return whole.transpose(1, 0, 2) if layout == "TND" else whole


def nibbles(array: Array) -> Array:
    """Values of 4 bits, eight to an INT32 along the last dimension, the lowest first."""
    bits = (array.astype(np.int64) & 15).reshape(*array.shape[:-1], -1, 8)
    words = (bits << (4 * np.arange(8))).sum(-1)
    return words.astype(np.uint32).view(np.int32)


class Problem:
    """One call: `run` makes it, `expected` has its results."""

    def __init__(self, seed: int, form: str | None = None) -> None:
        self.rng = np.random.default_rng(seed)
        self.form = form or str(self.rng.choice(FORMS))
        self.given: dict[str, Any] = {}
        self.operator = "FusedInferAttentionScore" + self._version()
        self.dtype = np.dtype(self._dtype())
        self._sizes()
        self._lengths()
        self._operands()
        self._hide()
        self._store()

    def __str__(self) -> str:
        return (
            f"{self.operator} {self.form} {self.layout} {self.dtype} queries {self.lengths} "
            f"keys {self.key_lengths} prefix {self.prefix} mode {self.given['sparse_mode']}"
        )

    def _pick(self, *choices: Any) -> Any:
        return choices[self.rng.integers(len(choices))]

    def _below(self, least: int, most: int) -> int:
        return int(self.rng.integers(least, most + 1))

    def _version(self) -> str:
        least = {
            "plain": 0, "listed": 0, "pages": 0, "padded": 0, "common factors": 0, "int8": 0,
            "int8 result": 0, "packed": 1, "prefix": 1, "factors": 1, "page factors": 1, "int4": 1,
            "rotary": 2, "joined": 2, "tree": 3, "sink": 3, "latent": 3,
        }[self.form]  # fmt: skip
        return FUSED_VERSIONS[self._below(least, 4)]

    def _dtype(self) -> Any:
        if self.form in ("factors", "page factors", "latent"):
            return BF16
        if self.form in ("common factors", "int8"):
            return F16
        return self._pick(F16, BF16)

    def _sizes(self) -> None:
        later = self.operator.endswith(("V3", "V4", "V5"))
        form = self.form
        self.step = (form in ("page factors", "int4") or self.rng.random() < 0.3) and form not in (
            "packed",
            "int8",
            "rotary",
            "joined",
            "tree",
            "latent",
        )
        self.batch = self._below(1, 3)
        self.kv_heads = 1 if form == "latent" else self._pick(1, 2)
        self.heads = self.kv_heads * self._pick(1, 2, 4)
        self.queries = 1 if self.step else self._below(2, 9)
        self.keys = self._below(1, 40)
        self.rope = 0
        self.width = self.value_width = self._pick(16, 32, 64)
        if form in ("common factors", "factors", "page factors", "int8", "int8 result"):
            self.width = self.value_width = self._pick(32, 64)
        if form in ("int4", "sink"):
            self.width = self.value_width = 64
        if form == "rotary":
            self.width = self.value_width = self._pick(128, 512)
            self.rope = 64
            if self.width == 512:
                self.heads, self.kv_heads = self._pick(1, 2, 4), 1
                self.queries = self._below(1, 16)
        if form == "joined":
            self.width, self.value_width = 192, 128
        if form == "latent":
            self.width = self.value_width = 512
            self.rope, self.heads = 64, self._pick(1, 2, 4)
            self.queries = self._below(1, 9)
        layouts = list(PLAIN_LAYOUTS)
        if later and form in ("plain", "rotary", "joined", "sink"):
            layouts += TURNED[1:]
        if not self.step and form in ("plain", "prefix", "int8", "int8 result", "padded"):
            layouts.append("BNSD_BSND")
        if form == "packed" or (later and form in ("rotary", "joined", "tree")):
            layouts = PACKED if later else ["TND"]
            if form == "tree":
                layouts = ["TND", "BSH", "BSND", "BNSD"]
        if form == "latent":
            layouts = ["BSH", "BSND", "TND", "BSH_NBSD", "BSND_NBSD", "TND_NTD"]
        if form == "rotary" and self.width == 512:
            layouts = [
                "BSH",
                "BSND",
                "BNSD",
                "BSH_NBSD",
                "BSND_NBSD",
                "BNSD_NBSD",
                "TND",
                "TND_NTD",
            ]
        self.layout = self._pick(*layouts)
        self.input, _, output = self.layout.partition("_")
        self.output = output or self.input
        self.packed = self.input in ("TND", "NTD")
        if self.packed:
            self.step = False
        self.paged = form in ("page factors", "latent", "pages") or (
            form in ("rotary", "tree") and (self.width == 512 or self._pick(True, False))
        )
        if form == "packed" and self.input == "TND":
            self.paged = self._pick(True, False)
        if self.paged and form in ("pages", "packed") and self.step is False:
            self.block = 128
        else:
            self.block = 128 if form in ("latent", "tree") else self._pick(32, 64)
        if form == "rotary" and self.width == 512:
            self.block = self._pick(16, 128) if self.operator.endswith("V3") else 32
        # Rotary forms count as prompts, whatever their number of tokens.
        self.prompt = not self.step or self.rope > 0 or self.width != self.value_width

    def _lengths(self) -> None:
        def some(most: int, least: int = 0) -> list[int]:
            if self.rng.random() < 0.4:
                return [most] * self.batch
            return [self._below(least, most) for _ in range(self.batch)]

        self.prefix = self._below(1, 9) if self.form == "prefix" else 0
        self.key_lengths = some(self.keys)
        self.lengths = some(self.queries) if self.prompt and not self.step else [1] * self.batch
        if self.form == "tree":
            self.keys += self.queries
            self.key_lengths = [n + self.queries for n in self.key_lengths]
        if self.form == "int8":
            self.key_lengths = [max(1, n) for n in self.key_lengths]

    def _numbers(self, heads: int, tokens: int, width: int) -> Array:
        return self.rng.standard_normal((heads, tokens, width))

    def _integers(self, heads: int, tokens: int, width: int, most: int = 127) -> Array:
        return self.rng.integers(-most - 1, most + 1, (heads, tokens, width)).astype(np.int8)

    def _operands(self) -> None:
        """Sequences as they are stored, and the numbers they stand for."""
        self.scale = float(self.width**-0.5)
        quantised = self.form in ("factors", "common factors", "page factors", "int4")
        all_bytes = self.form in ("int8", "latent")
        sizes = zip(self.lengths, self.key_lengths, strict=True)
        self.q: list[Array] = []
        self.k: list[Array] = []
        self.v: list[Array] = []
        self.q_rope: list[Array] = []
        self.k_rope: list[Array] = []
        for queries, keys in sizes:
            if all_bytes:
                self.q.append(self._integers(self.heads, queries, self.width))
            else:
                self.q.append(self._numbers(self.heads, queries, self.width).astype(self.dtype))
            for side, width in ((self.k, self.width), (self.v, self.value_width)):
                if quantised or all_bytes:
                    most = 7 if self.form == "int4" else 127
                    side.append(self._integers(self.kv_heads, keys, width, most))
                else:
                    side.append(self._numbers(self.kv_heads, keys, width).astype(self.dtype))
            self.q_rope.append(self._numbers(self.heads, queries, self.rope).astype(self.dtype))
            self.k_rope.append(self._numbers(self.kv_heads, keys, self.rope).astype(self.dtype))
        self.key_prefix, self.value_prefix = (
            self._numbers(self.kv_heads, self.prefix, w).astype(self.dtype)
            for w in (self.width, self.value_width)
        )
        self.real_q, self.real_k, self.real_v = (
            [x.astype(np.float64) for x in side] for side in (self.q, self.k, self.v)
        )
        self.places = self._places()
        if quantised:
            self._factors()
        if self.form == "int8":
            self._byte_scales()
        if self.form == "latent":
            self._latent_scales()
        if self.prefix:
            self.real_k, self.real_v = (
                [np.concatenate([prefix.astype(np.float64), x], 1) for x in side]
                for prefix, side in (
                    (self.key_prefix, self.real_k), (self.value_prefix, self.real_v)
                )
            )  # fmt: skip
        if self.rope:
            self.real_q = [
                np.concatenate([a, b], 2) for a, b in zip(self.real_q, self.q_rope, strict=True)
            ]
            self.real_k = [
                np.concatenate([a, b], 2) for a, b in zip(self.real_k, self.k_rope, strict=True)
            ]

    def _places(self) -> list[Array]:
        """Where the keys of each sequence lie: tokens of a tensor or of the cache of pages."""
        if self.paged:
            columns = [-(-n // self.block) for n in self.key_lengths]
            self.table = np.full((self.batch, max(1, *columns)), -1, np.int32)
            self.pages = sum(columns) + 2
            order = list(self.rng.permutation(self.pages))
            for b, n in enumerate(columns):
                self.table[b, :n] = [order.pop() for _ in range(n)]
            return [
                self.table[b, np.arange(n) // self.block] * self.block + np.arange(n) % self.block
                for b, n in enumerate(self.key_lengths)
            ]
        self.kv_padding = self._below(0, self.keys) if self.form == "padded" else None
        if self.kv_padding is not None:
            self.kv_padding = min(self.kv_padding, self.keys - max(self.key_lengths))
            return [np.arange(n) + self.keys - self.kv_padding - n for n in self.key_lengths]
        return [np.arange(n) for n in self.key_lengths]

    def _factors(self) -> None:
        """Scales and offsets by what they belong to."""
        common = self.form == "common factors"
        channel = (self.kv_heads, self.width)
        prompt = not self.step
        if self.form == "page factors":
            self.mode = self._pick(4, 5)
        elif common:
            self.mode = 0 if prompt else self._pick(0, 1)
        elif prompt:
            self.mode = self._pick(0, 1)
        else:
            self.mode = self._pick(0, 1, 2, 3)
        # Keys and values may be of different kinds in a step: of channels, and of tokens.
        modes = (0, 1) if self.form == "factors" and self.step and self._pick(0, 1) else None
        kinds = modes or (self.mode, self.mode)
        with_offset = self._pick(True, False)
        made = []
        one = self._pick(True, False)
        for mode, ints, real in zip(
            kinds, (self.k, self.v), (self.real_k, self.real_v), strict=True
        ):
            # Steps of CHANNEL are (1, N, 1, D); those of TOKEN reach over the whole tensor.
            tokens = self.table.shape[1] * self.block if self.paged else self.keys
            shape: tuple[int, ...] = {
                0: (1,) if one else channel,
                1: (self.batch, tokens + 3),
                2: (self.kv_heads,),
                3: (self.batch, self.kv_heads, tokens + 2),
                4: (self.pages if self.paged else 0, self.block),
                5: (self.pages if self.paged else 0, self.kv_heads, self.block),
            }[mode]
            kind = np.dtype(np.float32) if mode in (1, 3, 4, 5) else self.dtype
            scale = (0.01 + 0.02 * self.rng.random(shape)).astype(kind)
            if self.form == "int4":
                scale = (scale.astype(np.float64) * 10).astype(kind)
            offset = (
                self.rng.integers(-9, 9, shape).astype(kind)
                if with_offset
                else np.zeros(shape, kind)
            )
            made.append((scale, offset))
            for b in range(self.batch):
                parts = [
                    self._factor(x.astype(np.float64), mode, b, len(shape) == 1 and mode == 0)
                    for x in (scale, offset)
                ]
                real[b] = (ints[b] + parts[1]) * parts[0]
        self.kinds = kinds
        (key_scale, key_offset), (value_scale, value_offset) = made
        if common:
            stack = (np.stack([key_scale, value_scale]), np.stack([key_offset, value_offset]))
            if stack[0].shape == (2, 1):
                stack = (stack[0].ravel(), stack[1].ravel())
            self.given["antiquant_scale"] = stack[0]
            self.given["antiquant_offset"] = stack[1] if with_offset else None
            self.given["antiquant_mode"] = self.mode
            return
        self.given["key_antiquant_scale"] = key_scale
        self.given["value_antiquant_scale"] = value_scale
        if with_offset:
            self.given["key_antiquant_offset"] = key_offset
            self.given["value_antiquant_offset"] = value_offset
        self.given["key_antiquant_mode"], self.given["value_antiquant_mode"] = kinds

    def _factor(self, factor: Array, mode: int, b: int, whole: bool) -> Array:
        """The factors of a sequence as (heads, tokens, elements), as far as they differ."""
        places = self.places[b]
        logical = np.arange(len(places)) if self.paged else places
        if whole:
            return factor.reshape(1, 1, 1)
        found: Array = {
            0: lambda: factor.reshape(self.kv_heads, 1, -1),
            1: lambda: factor[b, logical][None, :, None],
            2: lambda: factor[:, None, None],
            3: lambda: factor[b][:, logical][:, :, None],
            4: lambda: factor.ravel()[places][None, :, None],
            5: lambda: factor.transpose(1, 0, 2).reshape(self.kv_heads, -1)[:, places][:, :, None],
        }[mode]()
        return found

    def _byte_scales(self) -> None:
        scale = np.float32(0.0003 * self._pick(1, 3))
        scale = (scale.view(np.uint32) & np.uint32(0xFFFFE000)).view(np.float32)
        self.dequant1, self.quant1, self.dequant2 = scale, np.float32(127), np.float32(1 / 8192)
        packed = self._pick(True, False)

        def stored(value: Any) -> Array:
            bits = np.array([value], np.float32)
            return bits.view(np.uint32).astype(np.uint64) if packed else bits

        self.given["deq_scale1"] = stored(scale)
        self.given["quant_scale1"] = np.array([127], np.float32)
        self.given["deq_scale2"] = stored(self.dequant2)

    def _latent_scales(self) -> None:
        scales = [
            (0.005 + 0.01 * self.rng.random((self.heads, n, 1))).astype(np.float32)
            for n in self.lengths
        ]
        key, value = np.float32(0.01), np.float32(0.02)
        self.real_q = [x * s.astype(np.float64) for x, s in zip(self.real_q, scales, strict=True)]
        self.real_k = [x * np.float64(key) for x in self.real_k]
        self.real_v = [x * np.float64(value) for x in self.real_v]
        self.query_scales = scales
        self.given["key_antiquant_scale"] = np.array([key])
        self.given["value_antiquant_scale"] = np.array([value])
        self.given["query_quant_mode"] = 3

    def _hide(self) -> None:
        """Masks, encodings and sinks, and what they mean for each sequence."""
        sparse = self._pick(0, 0, 1, 2, 3, 4)
        with_mask = self._pick(True, False)
        if self.packed:
            sparse = self._pick(3, 4) if with_mask else 0
        if self.form == "tree":
            sparse, with_mask = 9, True
        if self.form == "latent" or (self.rope and self.width == 512):
            older = self.form == "latent" or self.operator.endswith("V3")
            one = max(self.lengths) <= 1 if self.packed else self.queries == 1
            sparse = (0 if one else 3) if older else self._pick(0, 3, 4)
            with_mask = sparse > 0
        if sparse:
            with_mask = True
        self.given["sparse_mode"] = sparse
        before, after = ALL, ALL
        if sparse in (0, 4):
            before, after = self._below(0, 9), self._below(0, 9)
        self.given["pre_tokens"], self.given["next_tokens"] = before, after
        self.given["inner_precise"] = self._pick(0, 2)
        self.clears = self.given["inner_precise"] == 2
        self.query_padding = (
            self._below(0, self.queries - max(self.lengths))
            if self.form == "padded" and not self.step
            else None
        )
        totals = [n + self.prefix for n in self.key_lengths]
        self.visible = [
            np.ones((s, n), np.bool_) for s, n in zip(self.lengths, totals, strict=True)
        ]
        self.masked = [
            np.zeros((s, n), np.bool_) for s, n in zip(self.lengths, totals, strict=True)
        ]
        if with_mask and sparse == 9:
            self._grow_trees()
        elif with_mask and (sparse < 2 or not self.prompt):
            self._full_mask(sparse, before, after)
        elif with_mask:
            self.given["atten_mask"] = TRIANGLE
            for b, (s, n) in enumerate(zip(self.lengths, totals, strict=True)):
                at = {2: (ALL, 0, 0), 3: (ALL, 0, n - s), 4: (before, after, n - s)}[sparse]
                self.visible[b] = meets(s, n, *at)
        self._add(totals)

    def _rows(self, b: int) -> Array:
        """The tokens of the query's tensor that a sequence has."""
        first = 0
        if self.query_padding is not None:
            first = self.queries - self.query_padding - self.lengths[b]
        return np.arange(self.lengths[b]) + first

    def _columns(self, b: int) -> Array:
        """The columns of masks and encodings that belong to the keys of a sequence."""
        own = self.places[b] if self.form == "padded" else np.arange(self.key_lengths[b])
        return np.concatenate([np.arange(self.prefix), own + self.prefix])

    def _reach(self) -> int:
        """Keys that masks and encodings have columns for."""
        if not self.paged:
            return self.keys + self.prefix
        return -(-max(self.key_lengths) // self.block) * self.block

    def _full_mask(self, sparse: int, before: int, after: int) -> None:
        columns = self._reach() + self._below(0, 3)
        rows = self.queries if self.step else self.queries + self._below(0, 2)
        mask = self.rng.random((self.batch, rows, columns)) < 0.3
        shared = self.prompt and self._pick(True, False)
        if shared:
            mask[:] = mask[:1]
        for b in range(self.batch):
            self.masked[b] = mask[b][np.ix_(self._rows(b), self._columns(b))]
            if sparse == 0 and self.prompt and self.form != "padded":
                self.visible[b] = meets(*self.masked[b].shape, before, after)
        kind = self._pick(np.bool_, np.int8, np.uint8)
        mask = mask[:1] if shared else mask
        self.given["atten_mask"] = (mask[:, None] if self._pick(0, 1) else mask).astype(kind)

    def _grow_trees(self) -> None:
        trees = [self.rng.random((self.queries, self.queries)) < 0.5 for _ in range(self.batch)]
        for b, (s, n) in enumerate(zip(self.lengths, self.key_lengths, strict=True)):
            np.fill_diagonal(trees[b], False)
            self.masked[b][:, n - s :] = trees[b][:s, :s]
        if self.packed:
            parts = [t[:s, :s].ravel() for t, s in zip(trees, self.lengths, strict=True)]
            self.given["atten_mask"] = np.concatenate(parts)
        else:
            self.given["atten_mask"] = np.stack(trees)

    def _add(self, totals: list[int]) -> None:
        self.added: list[Any] = [0.0] * self.batch
        able = self.form in ("plain", "listed", "pages", "prefix", "padded", "int8", "int8 result")
        if able and not self.packed and self._pick(0, 0, 1):
            first = self._pick(1, self.batch)
            shape = (first, self.heads, self.queries + 1, self._reach() + 1)
            pse = self.rng.standard_normal(shape).astype(self.dtype)
            self.given["pse_shift"] = pse
            self.added = [
                pse.astype(np.float64)[b % first][:, self._rows(b)][:, :, self._columns(b)]
                for b in range(self.batch)
            ]
        self.sink = np.full(self.heads, -np.inf)
        if self.form == "sink":
            sink = self.rng.standard_normal(self.heads).astype(self.dtype)
            self.given["learnable_sink"] = sink
            self.sink = sink.astype(np.float64)
        self.result_scale = None
        if self.form == "int8 result" or (self.form == "int8" and self._pick(0, 1)):
            count = 1 if self.form == "padded" else self._pick(1, self.heads * self.value_width)
            self.result_scale = (20 + 20 * self.rng.random(count)).astype(np.float32)
            self.given["quant_scale2"] = self.result_scale

    def _answer(self, b: int) -> tuple[Array, Array]:
        """Result (heads, tokens, elements) and log-sum-exp (heads, tokens) of a sequence."""
        q, k, v = self.real_q[b], self.real_k[b], self.real_v[b]
        group = self.heads // self.kv_heads
        k, v = (np.repeat(x, group, axis=0) for x in (k, v))
        scores = self.scale * (q @ k.swapaxes(1, 2))
        if self.form == "int8":
            scores *= np.float64(self.dequant1)
        # What hides is as low as float32 goes, so that a row may be hidden as a whole.
        scores = np.where(self.masked[b], -3.0e38, scores + self.added[b])
        scores = np.where(self.visible[b], scores, -np.inf)
        highest = np.maximum(
            scores.max(-1, keepdims=True, initial=-np.inf), self.sink[:, None, None]
        )
        empty = ~self.visible[b].any(-1)[None, :, None] | (
            (highest <= -1e38) if self.clears else np.zeros_like(highest, np.bool_)
        )
        highest = np.where(np.isfinite(highest), highest, 0.0)
        powers = np.exp(scores - highest)
        total = powers.sum(-1, keepdims=True) + np.exp(self.sink[:, None, None] - highest)
        total = np.where(total == 0, 1.0, total)
        powers /= total
        if self.form == "int8":
            powers = np.round(powers * 127)
            v = v * np.float64(self.dequant2)
        result = np.where(empty, 0.0, powers @ v)
        if self.result_scale is not None:
            scale = self.result_scale.astype(np.float64)
            if scale.size > 1:
                scale = scale.reshape(self.heads, 1, -1)
            result = np.where(empty, 0.0, np.clip(result * scale, -128, 127))
        lse = np.where(empty, np.inf, highest + np.log(total))
        return result, lse[..., 0]

    def _key_tensor(self, sequences: list[Array]) -> Any:
        """Keys, values or rotary parts as they lie in memory."""
        width = sequences[0].shape[2]
        kind = sequences[0].dtype
        junk = 77 if kind == np.int8 else np.nan
        if self.form == "listed":
            return [self._placed(laid(x[None], self.input)) for x in sequences]
        if self.packed and not self.paged:
            return self._placed(joined([*sequences, np.full((self.kv_heads, 2, width), junk)
                                        .astype(kind)], self.input))  # fmt: skip
        if self.paged:
            cache = np.full((self.kv_heads, self.pages * self.block, width), junk).astype(kind)
            for b, x in enumerate(sequences):
                cache[:, self.places[b]] = x
            cache = cache.reshape(self.kv_heads, self.pages, self.block, width)
            return self._placed(self._cache(cache.transpose(1, 0, 2, 3)))
        whole = np.full((self.batch, self.kv_heads, self.keys, width), junk).astype(kind)
        for b, x in enumerate(sequences):
            whole[b][:, self.places[b]] = x
        return self._placed(laid(whole, self.input))

    def _cache(self, cache: Array) -> Array:
        """(pages, heads, tokens, elements) in one of the arrangements of a cache."""
        if not hasattr(self, "arrangement"):
            able = ["BnBsH", "BnNBsD"] if self.input == "BNSD" or self.packed else ["BnBsH"]
            if self.operator.endswith(("V4", "V5")):
                able = ["BnBsH", "BnNBsD", "NZ"]
            self.arrangement = "NZ" if self.form == "latent" else self._pick(*able)
        if self.arrangement == "BnBsH":
            return laid(cache, "BSH")
        if self.arrangement == "BnNBsD":
            return cache
        columns = 32 if cache.dtype == np.int8 else 16
        split = cache.reshape(*cache.shape[:3], -1, columns)
        turned: Array = split.transpose(0, 1, 3, 2, 4)
        return turned

    def _placed(self, array: Array) -> ap.Tensor:
        if self.form == "int4":
            return place(nibbles(array))
        return place(array)

    def _query_tensor(self, sequences: list[Array]) -> Array:
        """Queries, their rotary parts or scales; what lies beside them is junk."""
        width, kind = sequences[0].shape[2], sequences[0].dtype
        junk = 77 if kind == np.int8 else np.nan
        if self.packed:
            rest = np.full((self.heads, 2, width), junk).astype(kind)
            return joined([*sequences, rest], self.input)
        whole = np.full((self.batch, self.heads, self.queries, width), junk).astype(kind)
        for b, x in enumerate(sequences):
            whole[b][:, self._rows(b)] = x
        return laid(whole, self.input)

    def _store(self) -> None:
        given = self.given
        query = self._query_tensor(self.q)
        keys, values = self._key_tensor(self.k), self._key_tensor(self.v)
        given.update(query=query, num_heads=self.heads, num_key_value_heads=self.kv_heads)
        given["key"] = keys if isinstance(keys, list) else [keys]
        given["value"] = values if isinstance(values, list) else [values]
        given.update(scale_value=self.scale, input_layout=self.layout, softmax_lse_flag=True)
        if self.packed:
            given["actual_seq_lengths"] = [int(x) for x in np.cumsum(self.lengths)]
            ends = self.key_lengths if self.paged else np.cumsum(self.key_lengths)
            given["actual_seq_lengths_kv"] = [int(x) for x in ends]
        else:
            given["actual_seq_lengths"] = self.lengths
            given["actual_seq_lengths_kv"] = self.key_lengths
        given["block_size"] = self.block if self.paged else 0
        if self.paged:
            given["block_table"] = self.table
        if self.prefix:
            rest = self._below(0, 3)
            for name, x in (("key", self.key_prefix), ("value", self.value_prefix)):
                junk = np.full((self.kv_heads, rest, x.shape[2]), np.nan).astype(x.dtype)
                given[f"{name}_shared_prefix"] = laid(
                    np.concatenate([x, junk], 1)[None], self.input
                )
            given["actual_shared_prefix_len"] = [self.prefix]
        if self.rope:
            given["query_rope"] = self._query_tensor(self.q_rope)
            given["key_rope"] = self._key_tensor(self.k_rope)
        if self.form == "latent":
            scales = self._query_tensor(self.query_scales)
            given["dequant_scale_query"] = (
                scales if self.input == "BSH" else scales.reshape(scales.shape[:-1])
            )
        if self.form == "padded":
            given["kv_padding_size"] = np.array([self.kv_padding], np.int64)
            if self.query_padding is not None:
                given["query_padding_size"] = np.array([self.query_padding], np.int64)

    def run(self) -> tuple[Array, Array]:
        """Make the call; return the result as (sequences of (heads, tokens, elements)) and sums."""
        b, n, s, d = self.batch, self.heads, self.queries, self.value_width
        total = sum(self.lengths) + 2
        shapes = {
            "BSH": (b, s, n * d), "BSND": (b, s, n, d), "BNSD": (b, n, s, d), "NBSD": (n, b, s, d),
            "TND": (total, n, d), "NTD": (n, total, d),
        }  # fmt: skip
        kind = np.dtype(np.int8) if self.result_scale is not None else self.dtype
        out = hollow(shapes[self.output], kind)
        lse = hollow((total, n, 1) if self.packed else (b, n, s, 1), np.float32)
        placed = {k: place(x) if isinstance(x, np.ndarray) else x for k, x in self.given.items()}
        defaults = dict.fromkeys(
            ("antiquant_mode", "key_antiquant_mode", "value_antiquant_mode", "query_quant_mode",
             "pse_type"), 0,
        )  # fmt: skip
        run(self.operator, {**defaults, **placed, "attention_out": out, "softmax_lse": lse})
        result = out.numpy()
        if self.output == "BSH":
            result = result.reshape(b, s, n, d)
        if self.packed:
            turned = result.transpose(1, 0, 2) if self.output == "TND" else result
            return turned, lse.numpy()[..., 0].T
        axes = AXES[self.output]
        return result.transpose(np.argsort(axes)), lse.numpy()[..., 0]

    def expected(self) -> tuple[Array, Array]:
        """What `run` has to return, rows of nobody as the operator leaves them."""
        answers = [self._answer(b) for b in range(self.batch)]
        if self.packed:
            junk = np.full((self.heads, 2, self.value_width), 77.0)
            results = [*(a[0] for a in answers), junk]
            sums = [*(a[1] for a in answers), np.full((self.heads, 2), 77.0)]
            return np.concatenate(results, 1), np.concatenate(sums, 1)
        shape = (self.batch, self.heads, self.queries)
        result, lse = np.zeros((*shape, self.value_width)), np.full(shape, np.inf)
        for b, (out, total) in enumerate(answers):
            result[b][:, self._rows(b)] = out
            lse[b][:, self._rows(b)] = total
        return result, lse
