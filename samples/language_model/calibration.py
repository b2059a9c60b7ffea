# SPDX-License-Identifier: Apache-2.0
"""Quantise a model layer by layer, with the rows that a short text gives.

Each layer is made twice. The first one, not quantised, takes the rows that the quantised layers
before it make of the text, and what each of its products gets is kept. The second one has weights
that are rounded for these rows. Only the arrays of one layer are in memory at a time.

Before that, features with large values are made smaller: whatever writes a feature is divided by a
power of two, and the columns that read it are multiplied by it. Powers of two round nothing, so the
model stays the same, and its rows and weights are quantised better.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field

import numpy as np
from config import Config
from experts import Grouped
from layers import Layer, Step
from linear import Array, Linear
from weights import Source

import aclnn_py as ap
from aclnn_py import distributed
from aclnn_py import functional as F
from aclnn_py.distributed import Communicator

FLOAT = np.dtype(np.float32)
TOKENS = 2048
"""Tokens of a text that are read at most."""
PIECE = 128
"""Tokens that are computed at once; they do not see those of other pieces."""
POWERS = (0.25, 0.5, 0.75, 1.0)
"""Features are divided by such powers of their size."""
TRIED_ROWS, TRIED_OUTPUTS = 256, 1024
"""How much of a product is computed to find the best power."""


class LayerArrays:
    """The arrays of one layer, kept when they are read first, and factors of them."""

    def __init__(self, source: Source) -> None:
        self._source = source
        self.kept: dict[str, Array] = {}
        self._rows: dict[str, Array] = {}
        self._columns: dict[str, Array] = {}

    def __contains__(self, name: str) -> bool:
        return name in self._source

    def array(self, name: str, shape: Sequence[int]) -> Array:
        """An array times its factors."""
        if name not in self.kept:
            self.kept[name] = self._source.array(name, shape)
        return self.scaled(name)

    def scaled(self, name: str) -> Array:
        """An array that was read, times its factors."""
        array = self.kept[name]
        if name in self._rows:
            by_row = self._rows[name]
            array = array.astype(FLOAT) * by_row.reshape(-1, *(1,) * (array.ndim - 1))
        if name in self._columns:
            array = array.astype(FLOAT) * self._columns[name]
        return array

    def fold(self, writer: str, readers: Sequence[str], by_row: Array, places: Array) -> None:
        """Divide the rows of one array, and multiply the columns of others."""
        for name in (f"{writer}.weight", f"{writer}.bias"):
            if name in self.kept:
                self._rows[name] = 1 / by_row
        for reader in readers:
            self._columns[f"{reader}.weight"] = by_row[places]

    def smaller(self, reader: str, rows: Array) -> Array:
        """The rows that a product gets after its features were divided."""
        by = self._columns.get(f"{reader}.weight")
        return rows if by is None else rows / by

    def clear(self) -> None:
        """Forget the layer."""
        for part in (self.kept, self._rows, self._columns):
            part.clear()


@dataclass
class Seen:
    """The rows that products got, by the names of their first arrays."""

    parts: dict[str, list[Array]] = field(default_factory=dict)

    def add(self, name: str, rows: Array) -> None:
        if len(rows):
            self.parts.setdefault(name, []).append(rows.astype(FLOAT))

    def rows(self, name: str) -> Array | None:
        parts = self.parts.get(name)
        return np.concatenate(parts) if parts else None

    def linear(self, name: str, product: Linear) -> Linear:
        """A product whose rows are kept."""

        def seen(x: ap.Tensor) -> ap.Tensor:
            self.add(name, x.numpy())
            return product(x)

        return seen

    def grouped(self, names: Sequence[str], products: Grouped) -> Grouped:
        """Products of experts whose rows are kept."""

        def seen(x: ap.Tensor, counts: ap.Tensor) -> ap.Tensor:
            rows, end = x.numpy(), 0
            for name, count in zip(names, counts.numpy().tolist(), strict=True):
                self.add(name, rows[end : end + count])
                end += count
            return products(x, counts)

        return seen


@dataclass(frozen=True)
class Folding:
    """Who writes some features, and who reads them: reader's column i is row ``places[i]``."""

    writer: str
    readers: tuple[str, ...]
    places: Array
    seen: str
    """The name that the rows were kept under."""


def foldings(config: Config, base: str, arrays: dict[str, Array]) -> Iterator[Folding]:
    """All pairs of a layer of which the first one can be divided."""
    hidden, attention = np.arange(config.hidden), f"{base}.self_attn"
    latent, heads = config.latent, np.arange(config.heads)[:, None]
    if latent is None:
        first = tuple(f"{attention}.{part}_proj" for part in "qkv")
        size = config.head_size
        places = heads // (config.heads // config.kv_heads) * size + np.arange(size)
        values = f"{attention}.v_proj"
    else:
        first = tuple(f"{attention}.{part}" for part in ("q_proj", "kv_a_proj_with_mqa"))
        if latent.query:
            first = (f"{attention}.q_a_proj", first[1])
            short = f"{attention}.q_b_proj"
            yield Folding(f"{attention}.q_a_layernorm", (short,), np.arange(latent.query), short)
        each = latent.plain + latent.value
        places = heads * each + latent.plain + np.arange(latent.value)
        values = f"{attention}.kv_b_proj"
    yield Folding(f"{base}.input_layernorm", first, hidden, first[0])
    output = f"{attention}.o_proj"
    yield Folding(values, (output,), places.reshape(-1), output)
    inside = [name.removesuffix(".weight") for name in arrays if name.endswith(".weight")]
    norm = f"{base}.post_attention_layernorm"
    opening = ("gate_proj", "up_proj", "w1", "w3", "gate")
    readers = tuple(name for name in inside if name.rpartition(".")[2] in opening)
    yield Folding(norm, readers, hidden, norm)
    for name in inside:
        network, _, part = name.rpartition(".")
        if part in ("up_proj", "w3"):
            down = f"{network}.{'down_proj' if part == 'up_proj' else 'w2'}"
            yield Folding(name, (down,), np.arange(len(arrays[f"{name}.weight"])), down)


Product = Callable[[Array, Array], Array]
"""What the quantised product of a weight (out, in) and rows gives, in NumPy."""


def smooth(
    folding: Folding,
    arrays: LayerArrays,
    rows: Array,
    product: Product,
    comm: Communicator | None = None,
) -> None:
    """Divide features by powers of two, if that makes the error of their product smaller."""
    readers = [name for name in folding.readers if not name.endswith(".gate")]
    weights = [arrays.scaled(f"{name}.weight") for name in readers]
    every = -(-sum(map(len, weights)) // TRIED_OUTPUTS)
    weight = np.concatenate([part[::every] for part in weights]).astype(FLOAT)
    tried = rows[:: -(-len(rows) // TRIED_ROWS)]
    exact = tried @ weight.T
    count = len(arrays.kept[f"{folding.writer}.weight"])
    best = np.ones(count, FLOAT)
    least = np.square(product(weight, tried) - exact).sum()
    for largest in (False, True):
        sizes = np.abs(rows).max(0) if largest else np.sqrt(np.square(rows).mean(0))
        by_row = np.zeros(count, FLOAT)
        np.maximum.at(by_row, folding.places, sizes)
        for power in POWERS:
            tried_by = powers_of_two(by_row, power)
            by = tried_by[folding.places]
            error = np.square(product(weight * by, tried / by) - exact).sum()
            if error < least:
                least, best = error, tried_by
    if comm is not None and folding.writer.endswith("norm"):
        # Rows behind a norm may go to another rank.
        shared = ap.from_numpy(best)
        distributed.broadcast(shared, 0, comm)
        best = shared.numpy()
    arrays.fold(folding.writer, folding.readers, best, folding.places)


def powers_of_two(sizes: Array, power: float) -> Array:
    """Powers of two near a power of the sizes, 1 for one of middle size and for zeros."""
    found = np.ones_like(sizes)
    positive = sizes > 0
    logs = np.log2(sizes[positive])
    found[positive] = np.exp2(np.rint((logs - np.median(logs)) * power)) if len(logs) else 1
    return found


class Text:
    """A short text on its way through the layers, in pieces."""

    def __init__(self, tokens: Sequence[int], words: ap.Tensor, context: int) -> None:
        kept, each = list(tokens)[:TOKENS], min(PIECE, context)
        self._pieces = [
            F.embedding(ap.from_numpy(np.array(kept[at : at + each], np.int64)), words)
            for at in range(0, len(kept), each)
        ]

    def show(self, layer: Layer, seen: Seen, norm: str) -> None:
        """Let a layer compute the text, which stays as it is; keep what its second norm gives."""
        for x in self._pieces:
            normed, _ = layer.second_norm.of_sum(x, layer.attention(layer.first_norm(x), _step(x)))
            seen.add(norm, normed.numpy())
            layer.network(normed)

    def move(self, layer: Layer) -> None:
        """Replace the rows by those that a layer makes of them."""
        for number, x in enumerate(self._pieces):
            attended = layer.attention(layer.first_norm(x), _step(x))
            normed, x = layer.second_norm.of_sum(x, attended)
            self._pieces[number] = F.add(x, layer.network(normed))


def _step(x: ap.Tensor) -> Step:
    """One sequence, on the first page of the cache."""
    count = x.shape[0]
    places = ap.from_numpy(np.arange(count))
    return Step(1, places, places, ap.zeros((1, 1), np.int32), [count])
