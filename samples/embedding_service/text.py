# SPDX-License-Identifier: Apache-2.0
"""Turn texts into token numbers."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from tokenizers import Encoding, Tokenizer

MAX_TOKENS = 256
"""The length the model was trained for; longer texts are cut."""
FIRST_CHARACTERS = 2048
"""Only this much of a long text is tokenized first; more follows if it has too few tokens. A whole
megabyte would take half a second and hundreds of megabytes of memory, most of it for nothing."""
UNSETTLED_WORDS = 3
"""The cut may fall inside a word or a name in brackets, so this many last words may change."""


def settled(encoding: Encoding) -> bool:
    """Whether the kept tokens stay the same, whatever follows the text."""
    if not encoding.overflowing:
        return False
    # The last token of each part is the end mark, which belongs to no word.
    last, kept = encoding.overflowing[-1].word_ids[-2], encoding.word_ids[-2]
    return last is not None and kept is not None and last - kept >= UNSETTLED_WORDS


class TextTokenizer:
    """The tokenizer of the model. An empty text has two tokens: its beginning and its end."""

    def __init__(self, directory: Path, max_tokens: int = MAX_TOKENS) -> None:
        self._tokenizer = Tokenizer.from_file(str(directory / "tokenizer.json"))
        self._tokenizer.no_padding()
        self._tokenizer.enable_truncation(max_tokens)

    def __call__(self, texts: Sequence[str]) -> list[list[int]]:
        found: dict[int, list[int]] = {}
        left = dict(enumerate(texts))
        size = FIRST_CHARACTERS
        while left:
            encoded = self._tokenizer.encode_batch([text[:size] for text in left.values()])
            for (index, text), encoding in zip(list(left.items()), encoded, strict=True):
                if len(text) <= size or settled(encoding):
                    found[index] = encoding.ids
                    del left[index]
            size *= 4
        return [found[index] for index in range(len(texts))]
