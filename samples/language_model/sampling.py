# SPDX-License-Identifier: Apache-2.0
"""Choose the next token of every sequence of a batch, on the device.

Each row of logits has settings of its own, and nothing in a row depends on the other rows: the
random numbers come from the seed of the request and the number of the token in its answer.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

import aclnn_py as ap

F = ap.functional

MOST_K = 1024
"""The operator sorts at most this many tokens for top-k."""
GREEDY_BELOW = 1e-5
"""A temperature below this means the likeliest token; a division by it could overflow."""


class NotANumberError(Exception):
    """The model's logits of a row are not numbers."""


@dataclass(frozen=True)
class Settings:
    """How the tokens of one answer are chosen."""

    temperature: float = 1.0
    top_k: int = 0
    """How many of the likeliest tokens stay; 0 keeps all."""
    top_p: float = 1.0
    min_p: float = 0.0
    """The smallest probability that stays, as a part of the largest one."""
    repetition: float = 1.0
    """Divides positive logits of tokens that were seen, and multiplies negative ones."""
    presence: float = 0.0
    """Subtracted from the logits of tokens in the answer."""
    frequency: float = 0.0
    """The same, for each time the token is in the answer."""
    bias: Mapping[int, float] = field(default_factory=dict)
    """Added to the logits of these tokens."""
    seed: int = 0
    alternatives: int | None = None
    """How many tokens to report with their log probabilities; None reports nothing."""

    @property
    def greedy(self) -> bool:
        return self.temperature < GREEDY_BELOW

    @property
    def changes_logits(self) -> bool:
        """Whether logits depend on the tokens before, or on a bias."""
        penalties = (self.repetition, self.presence, self.frequency)
        return penalties != (1.0, 0.0, 0.0) or bool(self.bias)


class Row(NamedTuple):
    """One row of logits: whose it is, and which token of the answer it decides."""

    slot: int
    settings: Settings
    index: int


class Chosen(NamedTuple):
    """A token; with log probabilities, if the settings ask for them."""

    token: int
    logprob: float | None = None
    alternatives: tuple[tuple[int, float], ...] = ()


class Reported(NamedTuple):
    """Log probabilities of a batch: of the chosen tokens, and of the likeliest ones."""

    own: npt.NDArray[np.float32]
    values: npt.NDArray[np.float32]
    tokens: npt.NDArray[np.int64]


class Sampler:
    """The sampler of one batch of ``slots`` sequences; all its memory is there from the start.

    Two tables have a row for each slot: the factor and the amount by which the logit of each token
    is changed. They are written when a sequence gets its slot, and after each of its tokens.
    """

    def __init__(self, vocabulary: int, slots: int) -> None:
        self._vocabulary = vocabulary
        shape = (slots, vocabulary)
        self._draws = ap.zeros(shape, np.float32)
        self._factors = F.fill_(ap.empty(shape, np.float32), 1.0)
        self._amounts = ap.zeros(shape, np.float32)
        self._changed = [False] * slots
        self._counts: list[Counter[int]] = [Counter() for _ in range(slots)]
        self._news: dict[int, tuple[float, float]] = {}

    def begin(
        self, slot: int, settings: Settings, prompt: Sequence[int], answer: Sequence[int] = ()
    ) -> None:
        """Prepare a slot for a sequence, of which a part may have been answered already."""
        first = slot * self._vocabulary
        mine = range(first, first + self._vocabulary)
        self._news = {place: new for place, new in self._news.items() if place not in mine}
        self._counts[slot] = Counter(answer)
        if settings.changes_logits:
            factors = np.ones(self._vocabulary, np.float32)
            factors[[*prompt, *answer]] = settings.repetition
            amounts = np.zeros(self._vocabulary, np.float32)
            for token in {*settings.bias, *answer}:
                amounts[token] = self._amount(slot, settings, token)
            self._factors[slot].copy_from(factors)
            self._amounts[slot].copy_from(amounts)
        elif self._changed[slot]:
            F.fill_(self._factors[slot], 1.0)
            F.zero_(self._amounts[slot])
        self._changed[slot] = settings.changes_logits

    def _amount(self, slot: int, settings: Settings, token: int) -> float:
        count = self._counts[slot][token]
        penalty = settings.presence * (count > 0) + settings.frequency * count
        return settings.bias.get(token, 0.0) - penalty

    def sample(self, logits: ap.Tensor, rows: Sequence[Row]) -> list[Chosen | NotANumberError]:
        """Choose a token for each row of float32 logits of shape (rows, vocabulary)."""
        if logits.shape != (len(rows), self._vocabulary):
            raise ValueError(
                f"logits: shape {logits.shape}; expected {(len(rows), self._vocabulary)}"
            )
        changed = self._change(logits, rows)
        tokens = self._choose(changed, rows)
        own = F.gather(changed, 1, tokens.unsqueeze(1))
        reported = self._report(logits, tokens, rows)
        numbers, good = tokens.numpy().tolist(), np.isfinite(own.numpy()[:, 0])
        chosen: list[Chosen | NotANumberError] = []
        for place, (row, token) in enumerate(zip(rows, numbers, strict=True)):
            if not good[place]:
                chosen.append(NotANumberError("the model's logits are not numbers"))
                continue
            self._count(row, token)
            chosen.append(self._chosen(row, place, token, reported))
        return chosen

    def _change(self, logits: ap.Tensor, rows: Sequence[Row]) -> ap.Tensor:
        """The logits after penalties and bias."""
        if not any(row.settings.changes_logits for row in rows):
            return logits
        self._write_news()
        slots = _column([row.slot for row in rows], np.int64)
        factors = F.index_select(self._factors, 0, slots)
        amounts = F.index_select(self._amounts, 0, slots)
        positive = F.gt(logits, 0.0)
        repeated = F.where(positive, F.div(logits, factors), F.mul(logits, factors))
        return F.add(repeated, amounts)

    def _choose(self, logits: ap.Tensor, rows: Sequence[Row]) -> ap.Tensor:
        greedy = [row.settings.greedy for row in rows]
        if all(greedy):
            return F.argmax(logits, 1)
        drawn = self._draw(logits, rows)
        if not any(greedy):
            return drawn
        return F.where(_column(greedy, np.bool_), F.argmax(logits, 1), drawn)

    def _draw(self, logits: ap.Tensor, rows: Sequence[Row]) -> ap.Tensor:
        settings = [row.settings for row in rows]
        temperatures = [1.0 if s.greedy else s.temperature for s in settings]
        # The largest quotient of a probability and an exponential number is a draw by probability.
        draws = self._draws[: len(rows)]
        block = -(-self._vocabulary // 4) * 4  # a device makes random numbers in blocks of four
        for place, row in enumerate(rows):
            if not row.settings.greedy:
                seed = row.settings.seed
                F.uniform_(draws[place], seed=seed, offset=row.index * block)
        F.neg_(F.log_(draws))
        return F.top_k_top_p_sample(
            F.div(logits, _column(temperatures, np.float32).unsqueeze(1)),
            _column([s.top_k if s.top_k < self._vocabulary else 0 for s in settings], np.int32),
            _column([s.top_p for s in settings], np.float32),
            q=draws,
            min_p=_column([s.min_p for s in settings], np.float32),
        )

    def _report(self, logits: ap.Tensor, tokens: ap.Tensor, rows: Sequence[Row]) -> Reported | None:
        """Log probabilities of the model itself, before penalties and temperature."""
        asked = [row.settings.alternatives for row in rows if row.settings.alternatives is not None]
        if not asked:
            return None
        logprobs = F.log_softmax(logits, 1)
        own = F.gather(logprobs, 1, tokens.unsqueeze(1))
        values, places = F.topk(logprobs, max(1, *asked), 1)
        return Reported(own.numpy()[:, 0], values.numpy(), places.numpy())

    @staticmethod
    def _chosen(row: Row, place: int, token: int, reported: Reported | None) -> Chosen:
        asked = row.settings.alternatives
        if asked is None or reported is None:
            return Chosen(token)
        tokens, values = reported.tokens[place, :asked], reported.values[place, :asked]
        pairs = zip(tokens.tolist(), values.tolist(), strict=True)
        return Chosen(token, float(reported.own[place]), tuple(pairs))

    def _count(self, row: Row, token: int) -> None:
        if not row.settings.changes_logits:
            return
        self._counts[row.slot][token] += 1
        amount = self._amount(row.slot, row.settings, token)
        self._news[row.slot * self._vocabulary + token] = row.settings.repetition, amount

    def _write_news(self) -> None:
        """Write what the last tokens change into the tables."""
        if not self._news:
            return
        places = _column(self._news, np.int64)
        for table, values in zip(
            (self._factors, self._amounts), zip(*self._news.values(), strict=True), strict=True
        ):
            flat = table.reshape((-1,))
            ap.ops.inplace_scatter(flat, 0, places, _column(values, np.float32), 0)
        self._news = {}


def _column(values: Iterable[float], dtype: npt.DTypeLike) -> ap.Tensor:
    return ap.from_numpy(np.array(list(values), dtype))
