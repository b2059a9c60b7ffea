# SPDX-License-Identifier: Apache-2.0
"""Texts of many kinds and lengths; a seed gives the same texts every time."""

from __future__ import annotations

import random

_SUBJECTS = ["A man", "The girl", "An old fisherman", "My neighbour", "A crowd of tourists"]
_VERBS = ["is eating", "watches", "has just sold", "dreams of", "photographs", "argues about"]
_OBJECTS = ["a bowl of pasta", "two cheetahs", "the white horse", "an electric guitar", "the news"]
_PLACES = ["in the park", "on a cold morning", "behind the station", "at sea", "without a word"]
_OTHERS = [
    "",
    " ",
    "?!",
    "42",
    "E = m c²",
    "def f(x): return x ** 2  # code",
    "https://example.org/a/b?c=d&e=%20",
    "Größe, façade, naïve, Ærøskøbing",
    "Съешь же ещё этих мягких французских булок",
    "人工智能正在改变世界",
    "すべての人間は、生まれながらにして自由である",
    "🙂🚀🎉",
    "a" * 5000,
    "TAB\there\nand\r\nnew lines\x00 and a zero",
]


def sentence(rng: random.Random) -> str:
    """One plain sentence."""
    parts = (_SUBJECTS, _VERBS, _OBJECTS, _PLACES)
    return " ".join(rng.choice(part) for part in parts) + "."


def texts(count: int, seed: int = 0) -> list[str]:
    """Mostly sentences, some paragraphs, some texts far too long, some that are hardly language."""
    rng = random.Random(seed)
    found = _OTHERS[:count]
    while len(found) < count:
        sentences = rng.choice([1] * 12 + [2, 2, 2, 3, 6, 12, 60])
        found.append(" ".join(sentence(rng) for _ in range(sentences)))
    rng.shuffle(found)
    return found
