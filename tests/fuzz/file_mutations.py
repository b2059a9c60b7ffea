# SPDX-License-Identifier: Apache-2.0
"""Changes to files: to their bytes, and to what JSON in them says."""

from __future__ import annotations

import copy
import json
import random
from typing import Any

NUMBERS = (
    *(-(2**63) - 1, -(2**63), -(2**31), -1, 0, 1, 2, 3, 7, 8, 15, 16, 64, 127, 255, 2**16),
    *(2**31 - 1, 2**31, 2**32, 2**40, 2**62, 2**63 - 1, 2**63, 2**64, 2**80, 10**300),
)
VALUES: tuple[Any, ...] = (
    *(None, True, False, 0.5, 1e308, float("inf"), float("nan"), "", "0", "x" * 3000, "\0"),
    *("\n*/ x //\\", '"); evil(); ("', "\x1b]0;x\x07", "\ud800", "\udcff", "../../etc/passwd"),
    *("phase two", "int4", "FRACTAL_NZ", "nan", "0x1p+9999"),
    *([], {}, [[]], [None], [0] * 11, {"a": 1}, [[[[[0]]]]]),
)
WORDS = (
    *(b"\0", b"\xff", b"\n", b'"', b"[", b"]", b"{", b"}", b",", b"-", b"9" * 30, b"1e400"),
    *(b"null", b"NaN", b"\\u0000", b"PK\1\2", b"PK\3\4", b"PK\5\6", b"PK\6\7"),
    *(b"\xff" * 4, b"\0" * 8, b") -> ", b"  [", b" us +"),
)


def changed_bytes(rng: random.Random, data: bytes, others: list[bytes]) -> bytes:
    """Change one to four places of a file; ``others`` are files to take pieces from."""
    raw = bytearray(data)
    for _ in range(rng.randint(1, 4)):
        at = rng.randrange(len(raw) + 1)
        # Directories and endings stand behind the contents.
        if rng.random() < 0.4:
            at = max(len(raw) - rng.randrange(200), 0)
        size = min(rng.choice((1, 1, 1, 2, 4, 8, 64)), len(raw) - at)
        way = rng.randrange(7)
        if way == 0 and size:
            raw[at] ^= 1 << rng.randrange(8)
        elif way == 1:
            raw[at : at + size] = rng.randbytes(size)
        elif way == 2:
            raw[at : at + rng.choice((0, size))] = rng.choice(WORDS)
        elif way == 3:
            raw[at : at + size * 4] = b""
        elif way == 4:
            raw[at:at] = raw[at : at + size * 8]
        elif way == 5:
            other = rng.choice(others)
            begun = rng.randrange(len(other) + 1)
            raw[at : at + size] = other[begun : begun + rng.randrange(100)]
        else:
            number = rng.choice(NUMBERS) & (1 << 64) - 1
            raw[at : at + 4] = (number & 0xFFFFFFFF).to_bytes(4, "little")
    if rng.random() < 0.05:
        del raw[rng.randrange(len(raw) + 1) :]
    return bytes(raw)


def changed_tree(rng: random.Random, tree: Any) -> Any:
    """Change one to three values of what JSON has decoded."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 3)):
        places = list(_places(tree))
        if not places:
            return copy.deepcopy(rng.choice(VALUES))
        holder, key = rng.choice(places)
        way = rng.randrange(8)
        if way == 0:
            # A copy: the next change may go into it.
            holder[key] = copy.deepcopy(rng.choice(VALUES))
        elif way == 1:
            holder[key] = rng.choice(NUMBERS)
        elif way == 2:
            del holder[key]
        elif way == 3:
            other, there = rng.choice(places)
            holder[key] = copy.deepcopy(other[there])
        elif way == 4 and isinstance(holder, list):
            holder.insert(key, copy.deepcopy(rng.choice((holder[key], rng.choice(NUMBERS)))))
        elif way == 5 and type(holder[key]) is int:
            holder[key] += rng.choice((-1, 1, -2, 2, 100))
        elif way == 6 and isinstance(holder[key], str):
            text = holder[key]
            at = rng.randrange(len(text) + 1)
            holder[key] = text[:at] + str(rng.choice(VALUES)) + text[at + rng.randrange(2) :]
        else:
            holder[key] = [holder[key]]
    return tree


def adjusted_tree(rng: random.Random, tree: Any) -> Any:
    """Change one or two values for others of their kind, so that more than the schema sees them."""
    tree = copy.deepcopy(tree)
    for _ in range(rng.randint(1, 2)):
        places = list(_places(tree))
        holder, key = rng.choice(places)
        value = holder[key]
        alike = [other[k] for other, k in places if type(other[k]) is type(value)]
        if type(value) is int and rng.random() < 0.7:
            holder[key] = value + rng.choice((-1, 1, 2, 7)) if rng.random() < 0.5 else value * 2
        elif isinstance(value, list) and value and rng.random() < 0.7:
            way = rng.randrange(4)
            at = rng.randrange(len(value))
            if way == 0:
                value.reverse()
            elif way == 1:
                del value[at]
            elif way == 2:
                value.insert(at, copy.deepcopy(value[at]))
            else:
                value[at] = None
        elif value is not None:
            holder[key] = copy.deepcopy(rng.choice(alike))
    return tree


def encoded(tree: Any) -> bytes:
    """Return JSON, with what standard JSON does not have where the tree has it."""
    return json.dumps(tree).encode()


def _places(tree: Any) -> Any:
    items = tree.items() if isinstance(tree, dict) else enumerate(tree)
    for key, value in items:
        yield tree, key
        if isinstance(value, (dict, list)):
            yield from _places(value)
