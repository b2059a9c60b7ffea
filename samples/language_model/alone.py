# SPDX-License-Identifier: Apache-2.0
"""Answers computed one by one: no batch, no scheduler, no pages that were there before, no HTTP.

The load test compares the service with these.
"""

from __future__ import annotations

from collections.abc import Sequence

from sampling import Chosen, Row, Sampler, Settings
from sequence import Decoder
from tokens import Answer, Tokens


def answer(
    decoder: Decoder,
    sampler: Sampler,
    tokens: Tokens,
    prompt: Sequence[int],
    settings: Settings,
    most: int,
    stops: Sequence[str] = (),
) -> str:
    """The text of one answer of at most ``most`` tokens."""
    text, spoken = Answer(tokens, stops), ""
    sequence = list(prompt)
    pages = list(range(-(-(len(sequence) + most) // decoder.page_size)))
    sampler.begin(0, settings, prompt)
    for index in range(most):
        needed = pages[: -(-len(sequence) // decoder.page_size)]
        if index:
            logits = decoder.decode([sequence[-1]], [len(sequence)], [needed])
        else:
            logits = decoder.prefill(sequence, 0, needed)
        chosen = sampler.sample(logits, [Row(0, settings, index)])[0]
        if not isinstance(chosen, Chosen):
            raise chosen
        sequence.append(chosen.token)
        if chosen.token in tokens.ends:
            break
        spoken += text.push(chosen.token)
        if text.stopped:
            break
    return spoken + text.finish()
