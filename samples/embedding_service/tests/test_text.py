# SPDX-License-Identifier: Apache-2.0
"""Texts to token numbers, with the tokenizer of the real model."""

from __future__ import annotations

import random
from typing import Any

import pytest

PIECES = [
    *"abcXYZ.,!?-[]",
    *(" ", "\t", "\n", "\x00", "\x85", "\u2028", "\u3000", "\u200b", "\ufeff"),
    *("é", "e\u0301", "\u0301", "İ", "ß", "ﷺ", "ก็", "가", "人", "🙂\u200d"),
    *("[SEP]", " [MASK] ", "UNK]", "##a", "x" * 120, "word "),
]


@pytest.fixture
def tokenizer(requirements: None, monkeypatch: pytest.MonkeyPatch) -> Any:
    """One that keeps 12 tokens, and looks for them in 40 characters first."""
    import text
    from weights import model_directory

    monkeypatch.setattr(text, "FIRST_CHARACTERS", 40)
    return text.TextTokenizer(model_directory(), max_tokens=12)


def test_the_beginning_of_a_text_is_enough(tokenizer: Any) -> None:
    from tokenizers import Tokenizer
    from weights import model_directory

    whole = Tokenizer.from_file(str(model_directory() / "tokenizer.json"))
    whole.no_padding()
    whole.enable_truncation(12)
    rng = random.Random(3)
    texts = ["".join(rng.choices(PIECES, k=rng.randrange(200))) for _ in range(1500)]
    texts += ["", " " * 500, "x" * 500, "a." * 300, "人" * 300, " " * 300 + "word"]
    for text, found, encoding in zip(
        texts, tokenizer(texts), whole.encode_batch(texts), strict=True
    ):
        assert found == encoding.ids, repr(text)


def test_the_end_of_a_long_text_is_not_read(tokenizer: Any) -> None:
    read: list[int] = []
    encode_batch = tokenizer._tokenizer.encode_batch

    class Reading:
        def encode_batch(self, texts: list[str]) -> Any:
            read.extend(map(len, texts))
            return encode_batch(texts)

    tokenizer._tokenizer = Reading()
    tokenizer(["word " * 10000, "x" * 500])
    assert read == [40, 40, 160, 160, 500]
