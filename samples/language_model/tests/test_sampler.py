# SPDX-License-Identifier: Apache-2.0
"""The sampler against NumPy: filters, penalties, seeds, log probabilities."""

from __future__ import annotations

import itertools

import numpy as np
import numpy.typing as npt
import pytest
from sampling import Chosen, NotANumberError, Row, Sampler, Settings

import aclnn_py as ap

VOCABULARY = 37
Vector = npt.NDArray[np.float64]


def logits(rows: int, seed: int = 0) -> npt.NDArray[np.float32]:
    return np.random.default_rng(seed).standard_normal((rows, VOCABULARY)).astype(np.float32) * 2


def probabilities(row: Vector) -> Vector:
    e = np.exp(row - row.max())
    return e / e.sum()


def penalised(row: Vector, s: Settings, prompt: list[int], answer: list[int]) -> Vector:
    out = row.astype(np.float64).copy()
    for token in {*prompt, *answer}:
        out[token] = out[token] / s.repetition if out[token] > 0 else out[token] * s.repetition
    for token in range(VOCABULARY):
        count = answer.count(token)
        out[token] += s.bias.get(token, 0.0) - s.presence * (count > 0) - s.frequency * count
    return out


def kept(row: Vector, s: Settings) -> set[int]:
    """The tokens that the filters of one request leave."""
    order = list(np.argsort(-row, kind="stable"))
    if s.top_k:
        order = order[: s.top_k]
    p = dict(zip(order, probabilities(row[order] / s.temperature), strict=True))
    before = list(itertools.accumulate((p[t] for t in order), initial=0.0))
    if s.top_p < 1:
        order = [t for t, b in zip(order, before, strict=False) if b <= s.top_p]
    return {t for t in order if p[t] >= s.min_p * p[order[0]]}


def draw(sampler: Sampler, values: npt.NDArray[np.float32], rows: list[Row]) -> list[Chosen]:
    chosen = sampler.sample(ap.from_numpy(values), rows)
    assert all(isinstance(one, Chosen) for one in chosen)
    return chosen  # type: ignore[return-value]


def test_greedy_takes_the_first_of_the_largest(device: ap.Device) -> None:
    sampler = Sampler(VOCABULARY, 4)
    values = logits(4)
    values[2, [5, 9]] = 50.0
    rows = [Row(slot, Settings(temperature=0.0), 3) for slot in range(4)]
    assert [c.token for c in draw(sampler, values, rows)] == values.argmax(axis=1).tolist()


@pytest.mark.parametrize(
    "settings",
    [
        Settings(),
        Settings(temperature=0.5),
        Settings(top_k=3),
        Settings(top_p=0.6),
        Settings(min_p=0.2),
        Settings(temperature=1.7, top_k=9, top_p=0.8, min_p=0.05),
    ],
    ids=str,
)
def test_draws_follow_the_probabilities_of_what_the_filters_keep(
    device: ap.Device, settings: Settings
) -> None:
    most, rounds = 64, 60
    sampler = Sampler(VOCABULARY, most)
    values = np.repeat(logits(1), most, axis=0)
    counts = np.zeros(VOCABULARY)
    for index in range(rounds):
        rows = [
            Row(slot, Settings(**{**vars(settings), "seed": slot + 1}), index)
            for slot in range(most)
        ]
        for chosen in draw(sampler, values, rows):
            counts[chosen.token] += 1
    row = values[0].astype(np.float64)
    allowed = kept(row, settings)
    expected = np.zeros(VOCABULARY)
    places = sorted(allowed)
    expected[places] = probabilities(row[places] / settings.temperature)
    assert set(np.flatnonzero(counts)) <= allowed
    total = most * rounds
    # Five standard deviations of each count.
    spread = 5 * np.sqrt(total * expected * (1 - expected)) + 1e-9
    assert (np.abs(counts - total * expected) <= np.maximum(spread, 5)).all()


def mixed() -> list[Settings]:
    return [
        Settings(seed=1),
        Settings(temperature=0.0),
        Settings(temperature=0.3, top_p=0.9, seed=(1 << 64) - 1),
        Settings(top_k=5, repetition=1.3, seed=4),
        Settings(min_p=0.1, presence=0.5, frequency=0.25, seed=5, alternatives=3),
        Settings(temperature=0.0, bias={7: 100.0}, alternatives=0),
    ]


def answers(groups: list[list[int]], slots: list[int]) -> dict[int, list[Chosen]]:
    """Six tokens for each of the settings, whose rows are batched in these groups."""
    settings = mixed()
    sampler = Sampler(VOCABULARY, 8)
    found: dict[int, list[Chosen]] = {number: [] for number in range(len(settings))}
    for number, s in enumerate(settings):
        sampler.begin(slots[number], s, [1, 2, number])
    for index in range(6):
        every = logits(len(settings), seed=index)
        for group in groups:
            rows = [Row(slots[number], settings[number], index) for number in group]
            for number, chosen in zip(group, draw(sampler, every[group], rows), strict=True):
                found[number].append(chosen)
    return found


def test_a_row_does_not_depend_on_the_others_of_its_batch(device: ap.Device) -> None:
    alone = answers([[n] for n in range(6)], [0, 1, 2, 3, 4, 5])
    assert alone == answers([[0, 1, 2, 3, 4, 5]], [0, 1, 2, 3, 4, 5])
    assert alone == answers([[5, 0, 3], [4, 2, 1]], [6, 2, 7, 1, 0, 3])
    assert len({c.token for c in alone[0]}) > 1


def test_a_sequence_that_comes_back_goes_on_as_before(device: ap.Device) -> None:
    s = Settings(repetition=1.4, presence=0.7, frequency=0.3, bias={3: 2.0}, seed=9)
    whole, again = Sampler(VOCABULARY, 2), Sampler(VOCABULARY, 2)
    whole.begin(0, s, [1, 2])
    tokens = [draw(whole, logits(1, n), [Row(0, s, n)])[0].token for n in range(8)]
    # The slot belonged to another sequence before.
    again.begin(1, Settings(repetition=3.0, bias={8: 5.0}), [4, 5, 6])
    again.begin(1, s, [1, 2], tokens[:5])
    rest = [draw(again, logits(1, n), [Row(1, s, n)])[0].token for n in range(5, 8)]
    assert tokens[5:] == rest


def test_penalties_and_bias(device: ap.Device) -> None:
    s = Settings(temperature=0.0, repetition=1.5, presence=0.4, frequency=0.9, bias={3: 1.0})
    sampler = Sampler(VOCABULARY, 1)
    prompt, answer = [3, 8, 8], list[int]()
    sampler.begin(0, s, prompt)
    values = logits(1, 4)
    for index in range(25):
        expected = int(penalised(values[0].astype(np.float64), s, prompt, answer).argmax())
        token = draw(sampler, values, [Row(0, s, index)])[0].token
        assert token == expected, index
        answer.append(token)
    assert len(set(answer)) > 3


def test_a_slot_forgets_the_sequence_before(device: ap.Device) -> None:
    sampler = Sampler(VOCABULARY, 1)
    biased, plain = Settings(temperature=0.0, bias={7: 100.0}), Settings(temperature=0.0)
    values = logits(1)
    sampler.begin(0, biased, [1])
    assert draw(sampler, values, [Row(0, biased, 0)])[0].token == 7
    other = Settings(temperature=0.0, presence=1e-6)
    sampler.begin(0, other, [1])
    assert draw(sampler, values, [Row(0, other, 0)])[0].token == int(values.argmax())
    sampler.begin(0, plain, [1])
    assert draw(sampler, values, [Row(0, plain, 0)])[0].token == int(values.argmax())


def test_log_probabilities_are_those_of_the_model(device: ap.Device) -> None:
    s = Settings(temperature=0.2, bias={5: 30.0}, alternatives=4, seed=3)
    sampler = Sampler(VOCABULARY, 1)
    sampler.begin(0, s, [1])
    values = logits(1)
    chosen = draw(sampler, values, [Row(0, s, 0)])[0]
    expected = np.log(probabilities(values[0].astype(np.float64)))
    assert chosen.token == 5
    assert chosen.logprob == pytest.approx(expected[5], abs=1e-5)
    order = np.argsort(-expected)[:4]
    assert [token for token, _ in chosen.alternatives] == order.tolist()
    np.testing.assert_allclose([v for _, v in chosen.alternatives], expected[order], atol=1e-5)


def test_logits_that_are_not_numbers_end_only_their_row(device: ap.Device) -> None:
    sampler = Sampler(VOCABULARY, 3)
    values = logits(3)
    values[1] = np.nan
    for s in (Settings(temperature=0.0), Settings(seed=1)):
        chosen = sampler.sample(ap.from_numpy(values), [Row(n, s, 0) for n in range(3)])
        assert [isinstance(c, NotANumberError) for c in chosen] == [False, True, False]


def test_logits_of_another_shape_are_refused(device: ap.Device) -> None:
    with pytest.raises(ValueError, match=r"expected \(1, 37\)"):
        Sampler(VOCABULARY, 1).sample(
            ap.zeros((2, VOCABULARY), np.float32), [Row(0, Settings(), 0)]
        )
