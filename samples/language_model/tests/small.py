# SPDX-License-Identifier: Apache-2.0
"""A small tokenizer, and a decoder whose logits are known."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt

import aclnn_py as ap

VOCABULARY = 320
END = 1


def write_tokenizer(directory: Path) -> None:
    """Write a tokenizer of bytes and some pairs of them; token 1 ends an answer."""
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers, trainers

    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    tokenizer.decoder = decoders.ByteLevel()
    trainer = trainers.BpeTrainer(
        vocab_size=VOCABULARY,
        special_tokens=["<begin>", "<end>"],
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    text = "the quick brown fox jumps over the lazy dog and the other dogs, then they quarrel there"
    tokenizer.train_from_iterator([text] * 4, trainer)
    tokenizer.save(str(directory / "tokenizer.json"))


class SmallDecoder:
    """A model whose logits are a row of a table on the device, chosen by all tokens so far.

    The cache is a list on the host: each page must hold what its sequence has written there, or
    the next logits are wrong.
    """

    def __init__(
        self, pages: int, page_size: int = 4, most: int = 4, context: int = 64, *, seed: int = 0
    ) -> None:
        self.vocabulary, self.context = VOCABULARY, context
        self.pages, self.page_size, self.most = pages, page_size, most
        rng = np.random.default_rng(seed)
        self.logits = (3 * rng.standard_normal((VOCABULARY, VOCABULARY))).astype(np.float32)
        # Few answers end by themselves.
        self.logits[:, END] -= 3
        self._table = ap.from_numpy(self.logits)
        self._cache = np.full((pages, page_size), -1, np.int64)
        self.prefilled: list[int] = []
        self.batches: list[int] = []

    @staticmethod
    def place(tokens: Sequence[int]) -> int:
        """The row of the table for a sequence."""
        number = 0
        for token in tokens:
            number = (number * 31 + token + 1) % VOCABULARY
        return number

    def expected(self, tokens: Sequence[int], count: int) -> list[int]:
        """The greedy answer."""
        out = list(tokens)
        for _ in range(count):
            out.append(int(self.logits[self.place(out)].argmax()))
            if out[-1] == END:
                break
        return out[len(tokens) :]

    def _write(self, tokens: Sequence[int], start: int, pages: Sequence[int]) -> None:
        for number, token in enumerate(tokens, start):
            self._cache[pages[number // self.page_size], number % self.page_size] = token

    def _read(self, length: int, pages: Sequence[int]) -> npt.NDArray[np.int64]:
        return self._cache[list(pages)].reshape(-1)[:length]

    def _rows(self, sequences: Sequence[Sequence[int]]) -> ap.Tensor:
        places = [self.place(tokens) for tokens in sequences]
        return ap.functional.embedding(ap.from_numpy(np.array(places, np.int64)), self._table)

    def prefill(self, tokens: Sequence[int], start: int, pages: Sequence[int]) -> ap.Tensor:
        self.prefilled.append(len(tokens))
        self._write(tokens, start, pages)
        return self._rows([self._read(start + len(tokens), pages)])

    def decode(
        self, tokens: Sequence[int], lengths: Sequence[int], pages: Sequence[Sequence[int]]
    ) -> ap.Tensor:
        assert 1 <= len(tokens) == len(lengths) == len(pages) <= self.most
        self.batches.append(len(tokens))
        for token, length, mine in zip(tokens, lengths, pages, strict=True):
            self._write([token], length - 1, mine)
        return self._rows([self._read(n, mine) for n, mine in zip(lengths, pages, strict=True)])

    def close(self) -> None:
        self._table.close()
