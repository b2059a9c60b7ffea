# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks in NumPy, one sequence after the other, in float64 or complex128."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]


def sigmoid(x: Array) -> Array:
    return 1 / (1 + np.exp(-x))


def lstm_step(gi: Array, gh: Array, states: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return the states after a step, and i, g, f, o, h, c, tanh(c)."""
    i, f, g, o = np.split(gi + gh, 4)
    i, f, g, o = sigmoid(i), sigmoid(f), np.tanh(g), sigmoid(o)
    c = f * states[1] + i * g
    h = o * np.tanh(c)
    return [h, c], [i, g, f, o, h, c, np.tanh(c)]


def gru_step(gi: Array, gh: Array, states: Sequence[Array]) -> tuple[list[Array], list[Array]]:
    """Return the state after a step, and r, z, n, the hidden part of n, h."""
    (ir, iz, inew), (hr, hz, hn) = np.split(gi, 3), np.split(gh, 3)
    r, z = sigmoid(ir + hr), sigmoid(iz + hz)
    n = np.tanh(inew + r * hn)
    h = (1 - z) * n + z * states[0]
    return [h], [r, z, n, hn, h]


STEPS = {"lstm": (lstm_step, 4, 2), "gru": (gru_step, 3, 1)}


@dataclass(frozen=True)
class Network:
    """A network, and how long its sequences are, the longest first."""

    kind: str
    inputs: int
    hidden: int
    lengths: tuple[int, ...]
    layers: int = 1
    directions: int = 1
    bias: bool = True

    @property
    def batch(self) -> int:
        return len(self.lengths)

    @property
    def times(self) -> int:
        return max(self.lengths)

    @property
    def runs(self) -> int:
        return self.layers * self.directions

    @property
    def states_shape(self) -> tuple[int, ...]:
        return (self.runs, self.batch, self.hidden)

    @property
    def sizes(self) -> Array:
        """The number of sequences at each time."""
        return np.array([sum(n > t for n in self.lengths) for t in range(self.times)], np.int64)

    @property
    def param_shapes(self) -> list[tuple[int, ...]]:
        wide = STEPS[self.kind][1] * self.hidden
        shapes: list[tuple[int, ...]] = []
        for run in range(self.runs):
            width = self.inputs if run < self.directions else self.directions * self.hidden
            shapes += [(wide, width), (wide, self.hidden)] + [(wide,)] * (2 * self.bias)
        return shapes

    def draw(self, rng: np.random.Generator, dtype: Any) -> tuple[Array, list[Array], list[Array]]:
        """Return an input (times, batch, inputs), parameters and initial states."""
        x = rng.normal(size=(self.times, self.batch, self.inputs)).astype(dtype)
        params = [rng.uniform(-0.8, 0.8, shape).astype(dtype) for shape in self.param_shapes]
        count = STEPS[self.kind][2]
        states = [rng.normal(0, 0.5, self.states_shape).astype(dtype) for _ in range(count)]
        return x, params, states

    def run(
        self, x: Array, params: Sequence[Array], initial: Sequence[Array]
    ) -> tuple[Array, list[Array], list[list[Array]]]:
        """Return the output, the last states, and per plane one array per run; 0 in padding."""
        step, _, _ = STEPS[self.kind]
        kind = np.result_type(x, np.float64)
        last = [np.array(state, kind) for state in initial]
        planes: list[list[Array]] = []
        each = len(params) // self.runs
        for layer in range(self.layers):
            output = np.zeros((self.times, self.batch, self.directions * self.hidden), kind)
            for d in range(self.directions):
                run = layer * self.directions + d
                w_in, w_rec, *biases = (
                    np.asarray(p, kind) for p in params[run * each : run * each + each]
                )
                b_in, b_rec = biases if biases else (0, 0)
                kept: list[Array] = []
                for b, length in enumerate(self.lengths):
                    states = [np.asarray(state[run, b], kind) for state in initial]
                    order = range(length) if d == 0 else range(length - 1, -1, -1)
                    for t in order:
                        states, plane = step(
                            w_in @ x[t, b] + b_in, w_rec @ states[0] + b_rec, states
                        )
                        output[t, b, d * self.hidden : (d + 1) * self.hidden] = states[0]
                        if not kept:
                            shape = (self.times, self.batch, self.hidden)
                            kept = [np.zeros(shape, kind) for _ in plane]
                        for to, value in zip(kept, plane, strict=True):
                            to[t, b] = value
                    for all_of, state in zip(last, states, strict=True):
                        all_of[run, b] = state
                planes.append(kept)
            x = output
        return x, last, [list(plane) for plane in zip(*planes, strict=True)]

    def pack(self, rows: Array) -> Array:
        """The rows (times, batch, ...) that count, time after time."""
        return np.concatenate([rows[t, :count] for t, count in enumerate(self.sizes)])
