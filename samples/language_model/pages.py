# SPDX-License-Identifier: Apache-2.0
"""Who owns which page of the cache, and which pages can be reused for an equal beginning.

A page holds the keys and values of ``size`` consecutive tokens. A full page is known by a hash of
all tokens up to its end, so a later sequence that begins with the same tokens shares it. Only full
pages are shared, and nobody writes to a full page again.
"""

from __future__ import annotations

import hashlib
from collections import OrderedDict
from collections.abc import Iterable, Sequence

import numpy as np

ROOT = b""
"""The key in front of the first page of every sequence."""


class OutOfPagesError(Exception):
    """There are fewer pages than wanted. None was taken."""


def page_key(parent: bytes, tokens: Sequence[int]) -> bytes:
    """The key of a full page: of its tokens, and of all tokens before them."""
    content = np.asarray(tokens, np.int64).tobytes()
    return hashlib.blake2b(parent + content, digest_size=16).digest()


class Pages:
    """The pages of one cache.

    A page is free, referenced by one or more sequences, or kept: unreferenced, but known by its
    key. Free pages are given out first, then the kept page that was released longest ago.
    """

    def __init__(self, count: int, size: int) -> None:
        if count < 1 or size < 1:
            raise ValueError(f"pages: {count} pages of {size} tokens; both must be at least 1")
        self.count = count
        self.size = size
        self._free = list(range(count - 1, -1, -1))
        self._references = [0] * count
        self._keys: list[bytes | None] = [None] * count
        self._known: dict[bytes, int] = {}
        self._kept: OrderedDict[int, None] = OrderedDict()

    @property
    def available(self) -> int:
        """How many pages ``take`` could give out now."""
        return len(self._free) + len(self._kept)

    @property
    def kept(self) -> int:
        """How many pages no sequence has, but a later one may reuse."""
        return len(self._kept)

    def needed(self, tokens: int) -> int:
        """How many pages hold this number of tokens."""
        return -(-tokens // self.size)

    def find(self, keys: Iterable[bytes]) -> list[int]:
        """The pages that are known by the first of these keys. No reference is taken."""
        found = []
        for key in keys:
            page = self._known.get(key)
            if page is None:
                break
            found.append(page)
        return found

    def take(self, count: int, reused: Sequence[int] = ()) -> list[int]:
        """Reference the ``reused`` pages, which ``find`` has found, and ``count`` new ones."""
        unreferenced = sum(1 for page in reused if not self._references[page])
        if count > self.available - unreferenced:
            raise OutOfPagesError(
                f"{count} pages wanted, {self.available - unreferenced} of {self.count} available"
            )
        for page in reused:
            self._references[page] += 1
            self._kept.pop(page, None)
        return [*reused, *(self._take_one() for _ in range(count))]

    def _take_one(self) -> int:
        if self._free:
            page = self._free.pop()
        else:
            page, _ = self._kept.popitem(last=False)
            self._forget(page)
        self._references[page] = 1
        return page

    def _forget(self, page: int) -> None:
        key, self._keys[page] = self._keys[page], None
        if key is not None:
            del self._known[key]

    def publish(self, page: int, key: bytes) -> None:
        """Let other sequences find a page that is full now. The first page of a key stays."""
        if self._keys[page] is None and key not in self._known:
            self._keys[page] = key
            self._known[key] = page

    def release(self, pages: Sequence[int]) -> None:
        """Give back one reference to each page of a sequence, in the order of the sequence."""
        # The last page first: a page is of no use without the ones before it.
        for page in reversed(pages):
            if not self._references[page]:
                raise ValueError(f"page {page} was released before")
            self._references[page] -= 1
            if self._references[page]:
                continue
            if self._keys[page] is None:
                self._free.append(page)
            else:
                self._kept[page] = None
