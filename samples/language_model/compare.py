# SPDX-License-Identifier: Apache-2.0
"""Compare the decoder with transformers on the CPU: logits, greedy text, and quantised forms.

    pip install -r samples/language_model/requirements-compare.txt
    python samples/language_model/compare.py DIRECTORY [--dtype bfloat16] [--quantised]

transformers computes in float32 with the same weights. Logits are compared at every position of a
random text, and so are the greedy tokens, wherever the two best logits of the reference lie further
apart than the tolerance of the dtype.

Where the scores of two experts are nearly equal, rounding decides between them, and all logits of
that position differ. Such positions are left out: those where the reference's own gate chooses
other experts as soon as its row has errors of the dtype's size. Later positions see a part of the
difference through attention; they may have twice the tolerance.

`--quantised` adds the perplexity of each quantised form beside that of the dtype itself, on a text
that the reference draws with temperature 1. Last line: "ok".
"""

from __future__ import annotations

import argparse
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
from config import DTYPES, read_config
from decoder import Decoder
from quantised import FORMS

Array = npt.NDArray[Any]
PAGE = 128
TOLERANCE = {"float16": 0.015, "bfloat16": 0.12}
"""For logits, as a part of their standard deviation: the largest of 150,000 behind 24 layers."""
ALLOWED = {"w8a8": 0.02, "w8a16": 0.02, "w4a16": 0.08}
"""How much higher a perplexity may be than that of float16."""
TRIALS = 32
"""How often a gate chooses again with errors, whose deviation is a tenth of the tolerance."""


@dataclass(frozen=True)
class Found:
    """What the comparison of one text gave."""

    largest: float
    """The largest error of a logit, as a part of their standard deviation."""
    beyond: int
    """Positions with a logit outside the tolerance."""
    steady: int
    """Positions whose experts do not depend on rounding; the other numbers are about these."""
    equal: int
    """Greedy tokens that are equal, of those that are clear."""
    clear: int


class Reference:
    """transformers with the weights of the directory, in float32."""

    def __init__(self, directory: Path, tolerance: float) -> None:
        import torch
        from transformers import AutoModelForCausalLM

        self._torch, self._error = torch, tolerance / 10
        self._model = AutoModelForCausalLM.from_pretrained(directory, dtype=torch.float32)
        self._steady = True
        torch.manual_seed(0)
        for name, module in self._model.named_modules():
            if name.endswith(".gate"):
                module.register_forward_hook(self._watch)

    def _watch(self, gate: Any, given: tuple[Any, ...], result: tuple[Any, ...]) -> None:
        """Note whether the gate chooses the same experts for the last token with small errors."""
        row = given[0].reshape(-1, given[0].shape[-1])[-1:]
        errors = self._torch.randn(TRIALS, row.shape[1]) * row.std() * self._error
        again = gate.forward((row + errors)[None])[2].sort(dim=-1).values
        self._steady &= bool((again == result[2][-1:].sort(dim=-1).values).all())

    def text(
        self, prompt: list[int], count: int, rng: np.random.Generator | None = None
    ) -> tuple[list[int], Array, Array]:
        """Tokens behind a prompt, the logits that chose them, and whether the experts are steady.

        Tokens are the likeliest, or drawn ones.
        """
        given, kept, tokens, rows = self._torch.tensor([prompt]), None, [], []
        steady = []
        with self._torch.no_grad():
            for _ in range(count):
                self._steady = True
                out = self._model(given, past_key_values=kept, use_cache=True)
                kept = out.past_key_values
                row = out.logits[0, -1].numpy()
                # The largest sum with such numbers is a draw from the softmax.
                drawn = row if rng is None else row + rng.gumbel(size=row.shape)
                tokens.append(int(drawn.argmax()))
                rows.append(row)
                steady.append(self._steady)
                given = self._torch.tensor([tokens[-1:]])
        return tokens, np.stack(rows), np.array(steady)


def every_logit(decoder: Decoder, tokens: list[int], prompt: int) -> Array:
    """Logits after every token from the ``prompt``-th on: a prefill in two chunks, then steps."""
    pages = list(range(-(-len(tokens) // PAGE)))[::-1]
    half = prompt // 2
    decoder.prefill(tokens[:half], 0, pages)
    rows = [decoder.prefill(tokens[half:prompt], half, pages).numpy()[0]]
    for place in range(prompt, len(tokens)):
        rows.append(decoder.decode([tokens[place]], [place + 1], [pages]).numpy()[0].copy())
    return np.stack(rows)


def compare_text(ours: Array, theirs: Array, steady: Array, tolerance: float) -> Found:
    """Errors of logits, and greedy tokens where the reference is clear about them."""
    spread = theirs.std()
    errors = np.abs(ours - theirs).max(axis=1) / spread
    limits = np.where(np.logical_and.accumulate(steady), tolerance, 2 * tolerance)
    best = np.sort(theirs, axis=1)
    clear = (best[:, -1] - best[:, -2]) / spread > 2 * tolerance
    same = ours.argmax(axis=1) == theirs.argmax(axis=1)
    return Found(
        float(errors[steady].max(initial=0.0)),
        int((errors > limits)[steady].sum()),
        int(steady.sum()),
        int((same & clear & steady).sum()),
        int((clear & steady).sum()),
    )


def perplexity(logits: Array, tokens: list[int], prompt: int) -> float:
    """exp of the mean surprise at the tokens behind the prompt."""
    rows = logits[:-1].astype(np.float64)
    rows -= rows.max(axis=1, keepdims=True)
    surprise = np.log(np.exp(rows).sum(axis=1)) - rows[np.arange(len(rows)), tokens[prompt:]]
    return float(np.exp(surprise.mean()))


def opened(directory: Path, tokens: int, dtype: str, quantise: str | None = None) -> Decoder:
    pages = -(-tokens // PAGE)
    return Decoder.open(directory, dtype=dtype, quantise=quantise, pages=pages, most=1)


def main(arguments: list[str] | None = None) -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n", 1)[0])
    parser.add_argument("directory", type=Path)
    parser.add_argument("--dtype", choices=DTYPES, default="float16")
    parser.add_argument("--prompt", type=int, default=64, help="tokens of the prompt")
    parser.add_argument("--tokens", type=int, default=128, help="tokens behind it")
    parser.add_argument("--quantised", action="store_true")
    given = parser.parse_args(arguments)
    config = read_config(given.directory)
    tolerance = TOLERANCE[given.dtype]
    reference = Reference(given.directory, tolerance)
    rng = np.random.default_rng(5)
    prompt = [int(token) for token in rng.integers(0, config.vocabulary, given.prompt)]
    text, theirs, steady = reference.text(prompt, given.tokens)
    # The reference's text is what our decoder reads, so that one difference is counted once.
    tokens = prompt + text[:-1]
    decoder = opened(given.directory, len(tokens), given.dtype)
    ours = every_logit(decoder, tokens, given.prompt)
    decoder.close()
    found = compare_text(ours, theirs, steady, tolerance)
    print(
        f"{config.architecture}, {given.dtype}: largest error {found.largest:.4f} of the spread of "
        f"the logits (tolerance {tolerance}), beyond it at {found.beyond} of {found.steady} "
        f"positions; greedy tokens equal {found.equal} of {found.clear} that are clear"
    )
    if found.steady < len(theirs):
        print(f"left out, because rounding chooses experts: {len(theirs) - found.steady} positions")
    good = found.equal == found.clear and not found.beyond and 2 * found.steady >= len(theirs)
    if given.quantised:
        drawn, *_ = reference.text(prompt, given.tokens, rng)
        good &= compare_forms(given.directory, prompt + drawn, given.prompt, given.dtype)
    print("ok" if good else "WRONG")
    return 0 if good else 1


def compare_forms(directory: Path, tokens: list[int], prompt: int, dtype: str) -> bool:
    """Print the perplexity of each form of the weights; return whether all are allowed."""
    plain, good = 0.0, True
    for form in (None, *FORMS):
        decoder = opened(directory, len(tokens), dtype, form)
        found = perplexity(every_logit(decoder, tokens, prompt), tokens, prompt)
        decoder.close()
        if form is None:
            plain = found
            print(f"perplexity in {dtype}: {plain:.4f}")
            continue
        worse = found / plain - 1
        good &= worse <= ALLOWED[form]
        print(f"  {form:6} {found:.4f}, {worse:+.2%} (allowed {ALLOWED[form]:.0%})")
    return good


if __name__ == "__main__":
    sys.exit(main())
