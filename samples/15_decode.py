# SPDX-License-Identifier: Apache-2.0
"""Decode token by token, with a key/value cache on the device and one replayed graph per step.

Run:  python samples/15_decode.py

The device holds the position and the token. A step writes its keys and values into the cache at the
position, attends to all places up to it, chooses the most likely token, and increases the position.
The host only decides how many steps run. The weights are random. NumPy computes every step again
without a cache, and the sample compares the tokens.
Last line: "ok".
"""

from __future__ import annotations

import sys
from typing import Any

import numpy as np

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py.functional import add, matmul, relu, softmax

VOCABULARY, PLACES, LAYERS, HEADS, SIZE = 97, 32, 2, 4, 16
HIDDEN, INNER, EPSILON = HEADS * SIZE, 128, 1e-6
PROMPT = [5, 17, 42, 3]
NOWHERE = -1e9

Arrays = dict[str, Any]


def random_weights() -> Arrays:
    """Arrays by name; matrices of shape (in, out), the query scaled already."""
    rng = np.random.default_rng(7)
    shapes = {"words": (VOCABULARY, HIDDEN), "places": (PLACES, HIDDEN), "last": (HIDDEN,)}
    for n in range(LAYERS):
        shapes |= {f"norm{n}": (HIDDEN,), f"qkv{n}": (HIDDEN, 3 * HIDDEN)}
        shapes |= {f"attended{n}": (HIDDEN, HIDDEN), f"inner_norm{n}": (HIDDEN,)}
        shapes |= {f"up{n}": (HIDDEN, INNER), f"down{n}": (INNER, HIDDEN)}
    arrays = {
        name: (rng.standard_normal(shape) / (8 if len(shape) == 2 else 1)).astype(np.float32)
        for name, shape in shapes.items()
    }
    for n in range(LAYERS):
        arrays[f"qkv{n}"][:, :HIDDEN] *= SIZE**-0.5
    return arrays


class Decoder:
    """One sequence: its weights, its cache, and the graph of a step."""

    def __init__(self, arrays: Arrays) -> None:
        self.weights = {name: ap.from_numpy(array) for name, array in arrays.items()}
        self.cache = [ap.zeros((2, PLACES, HIDDEN), np.float32) for _ in range(LAYERS)]
        # Row p is added to the scores of a token at place p.
        causal = np.triu(np.full((PLACES, PLACES), NOWHERE, np.float32), 1)
        self.causal = ap.from_numpy(causal)
        self.token, self.position = ap.zeros((1,), np.int64), ap.zeros((1,), np.int64)
        self.chosen = ap.zeros((PLACES,), np.int64)
        self.logits = ap.zeros((1, VOCABULARY), np.float32)
        self.graph = ap.Graph()
        with self.graph.capture():
            self._step()

    def feed(self, token: int) -> None:
        """Give this token to the next step, whatever the last step chose."""
        self.token.copy_from(np.array([token]))

    def _normalise(self, x: ap.Tensor, name: str) -> ap.Tensor:
        out, scale = ap.empty(x.shape, x.dtype), ap.empty((1, 1), x.dtype)
        ops.rms_norm(x, self.weights[name], EPSILON, out, scale)
        return out

    def _row(self, table: ap.Tensor, index: ap.Tensor) -> ap.Tensor:
        out = ap.empty((1, table.shape[1]), table.dtype)
        ops.embedding(table, index, out)
        return out

    def _attend(self, n: int, x: ap.Tensor, hidden: ap.Tensor) -> ap.Tensor:
        qkv = matmul(self._normalise(x, f"norm{n}"), self.weights[f"qkv{n}"])
        query, *new = (qkv[:, part * HIDDEN : (part + 1) * HIDDEN] for part in range(3))
        for kept, row in zip((self.cache[n][0], self.cache[n][1]), new, strict=True):
            ops.inplace_index_copy(kept, 0, self.position, row)
        key, value = (
            self.cache[n][part].reshape(PLACES, HEADS, SIZE).permute(1, 0, 2) for part in range(2)
        )
        scores = matmul(query.reshape(1, HEADS, SIZE).permute(1, 0, 2), key.transpose(1, 2))
        attended = matmul(softmax(add(scores, hidden), dim=-1), value)
        return matmul(attended.reshape(1, HIDDEN), self.weights[f"attended{n}"])

    def _step(self) -> None:
        x = add(
            self._row(self.weights["words"], self.token),
            self._row(self.weights["places"], self.position),
        )
        hidden = self._row(self.causal, self.position)
        for n in range(LAYERS):
            x = add(x, self._attend(n, x, hidden))
            inner = matmul(self._normalise(x, f"inner_norm{n}"), self.weights[f"up{n}"])
            x = add(x, matmul(relu(inner), self.weights[f"down{n}"]))
        ops.matmul(self._normalise(x, "last"), self.weights["words"].T, self.logits, 0)
        ops.arg_max(self.logits, 1, False, self.token)
        ops.inplace_index_copy(self.chosen, 0, self.position, self.token)
        ops.inplace_adds(self.position, 1, 1)


def logits_of(arrays: Arrays, tokens: list[int]) -> Any:
    """Return the logits after the last token, in float64, computed from all tokens at once."""
    w = {name: array.astype(np.float64) for name, array in arrays.items()}

    def normalise(x: Any, gain: Any) -> Any:
        return x / np.sqrt((x * x).mean(-1, keepdims=True) + EPSILON) * gain

    count = len(tokens)
    x = w["words"][tokens] + w["places"][:count]
    later = np.triu(np.full((count, count), NOWHERE), 1)
    for n in range(LAYERS):
        qkv = (normalise(x, w[f"norm{n}"]) @ w[f"qkv{n}"]).reshape(count, 3, HEADS, SIZE)
        query, key, value = qkv.transpose(1, 2, 0, 3)
        scores = query @ key.transpose(0, 2, 1) + later
        scores = np.exp(scores - scores.max(-1, keepdims=True))
        attended = (scores / scores.sum(-1, keepdims=True)) @ value
        x = x + attended.transpose(1, 0, 2).reshape(count, HIDDEN) @ w[f"attended{n}"]
        x = x + np.maximum(normalise(x, w[f"inner_norm{n}"]) @ w[f"up{n}"], 0) @ w[f"down{n}"]
    return normalise(x[-1], w["last"]) @ w["words"].T


def main() -> int:
    arrays = random_weights()
    with ap.Device(0) as device:
        print(f"device {device.index}: {device.name}")
        decoder = Decoder(arrays)
        before = ap.memory_stats()
        for token in PROMPT:
            decoder.feed(token)
            decoder.graph.replay()
        for _ in range(PLACES - len(PROMPT)):
            decoder.graph.replay()
        chosen = decoder.chosen.numpy().tolist()
        logits = decoder.logits.numpy()[0]
        after = ap.memory_stats()
        decoder.graph.close()

    tokens = list(PROMPT)
    while len(tokens) < PLACES:
        tokens.append(int(logits_of(arrays, tokens).argmax()))
    largest = float(np.abs(logits - logits_of(arrays, tokens)).max())
    same = tokens[len(PROMPT) :] == chosen[len(PROMPT) - 1 : -1]
    taken = after.hits + after.misses - before.hits - before.misses
    print(f"{len(tokens)} tokens, {len(set(tokens))} different, as NumPy chooses them: {same}")
    print(f"largest error of the last logits {largest:.1e}, blocks of memory taken: {taken}")
    good = same and largest < 1e-4 and taken == 0
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
