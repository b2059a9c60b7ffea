# SPDX-License-Identifier: Apache-2.0
"""Texts to token numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Tokenizer

MAX_TOKENS = 256
"""The length the model was trained for; longer texts lose their end."""


class TextTokenizer:
    """The tokenizer of the model. An empty text has two tokens: its beginning and its end."""

    def __init__(self, directory: Path, max_tokens: int = MAX_TOKENS) -> None:
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        return [encoding.ids for encoding in self._tokenizer.encode_batch(list(texts))]
