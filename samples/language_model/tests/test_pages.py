# SPDX-License-Identifier: Apache-2.0
"""Which page belongs to whom."""

from __future__ import annotations

import random

import pytest
from pages import ROOT, OutOfPagesError, Pages, page_key


def keys(tokens: list[int], size: int) -> list[bytes]:
    """The keys of all full pages of a sequence."""
    found, parent = [], ROOT
    for start in range(0, len(tokens) - size + 1, size):
        parent = page_key(parent, tokens[start : start + size])
        found.append(parent)
    return found


def test_a_key_names_everything_in_front_of_its_end() -> None:
    assert keys([1, 2, 3, 4], 2) == keys([1, 2, 3, 4, 5], 2)
    assert keys([1, 2, 3, 4], 2)[1] != keys([9, 2, 3, 4], 2)[1]
    assert page_key(ROOT, [1]) != page_key(ROOT, [256])


def test_pages_are_given_out_once_and_come_back() -> None:
    pages = Pages(4, 8)
    assert [pages.needed(n) for n in (0, 1, 8, 9)] == [0, 1, 1, 2]
    taken = pages.take(3)
    assert len(set(taken)) == 3
    with pytest.raises(OutOfPagesError, match=r"2 pages wanted, 1 of 4 available"):
        pages.take(2)
    assert pages.available == 1  # a refusal takes nothing
    pages.release(taken)
    assert pages.available == 4
    with pytest.raises(ValueError, match="released before"):
        pages.release(taken)


def test_an_equal_beginning_shares_full_pages() -> None:
    pages = Pages(6, 2)
    chain = keys([1, 2, 3, 4, 5], 2)
    first = pages.take(3)
    for page, key in zip(first, chain, strict=False):
        pages.publish(page, key)
    assert pages.find(chain) == first[:2]
    assert pages.find(keys([1, 2, 9, 9], 2)) == first[:1]
    second = pages.take(1, pages.find(chain))
    assert second[:2] == first[:2] and second[2] != first[2]
    pages.release(first)
    assert (pages.available, pages.kept) == (3, 0)  # the second still has the shared ones
    pages.release(second)
    assert (pages.available, pages.kept) == (6, 2)
    assert pages.find(chain) == first[:2]


def test_kept_pages_go_last_and_the_oldest_first() -> None:
    pages = Pages(4, 1)
    old, new = pages.take(2), pages.take(1)
    chain = keys([1, 2], 1)
    for page, key in zip(old, chain, strict=True):
        pages.publish(page, key)
    pages.publish(new[0], keys([7], 1)[0])
    pages.release(old)
    pages.release(new)
    pages.take(1)  # the free one
    assert pages.kept == 3
    pages.take(1)  # the end of the old sequence: its beginning is still of use
    assert pages.find(chain) == old[:1]
    assert pages.find(keys([7], 1)) == new


def test_reused_pages_are_not_counted_as_available_for_others() -> None:
    pages = Pages(2, 1)
    chain = keys([1, 2], 1)
    taken = pages.take(2)
    for page, key in zip(taken, chain, strict=True):
        pages.publish(page, key)
    pages.release(taken)
    with pytest.raises(OutOfPagesError, match="1 pages wanted, 0 of 2 available"):
        pages.take(1, pages.find(chain))
    assert pages.available == 2


def test_no_page_is_lost_or_shared_by_mistake() -> None:
    rng = random.Random(1)
    pages = Pages(20, 2)
    held: list[tuple[list[int], list[int]]] = []
    for _ in range(2000):
        if held and rng.random() < 0.5:
            _, mine = held.pop(rng.randrange(len(held)))
            pages.release(mine)
            continue
        tokens = [rng.randrange(2) for _ in range(rng.randrange(1, 12))]
        chain = keys(tokens, 2)
        found = pages.find(chain)
        try:
            mine = pages.take(pages.needed(len(tokens)) - len(found), found)
        except OutOfPagesError:
            continue
        for page, key in zip(mine, chain, strict=False):
            pages.publish(page, key)
        held.append((tokens, mine))
        users: dict[int, list[list[int]]] = {}
        for content, owned in held:
            assert len(set(owned)) == len(owned)
            for number, page in enumerate(owned):
                users.setdefault(page, []).append(content[: 2 * number + 2])
        # Whoever shares a page has the same full beginning.
        assert all(len(u) == 1 or (len(set(map(tuple, u))) == 1) for u in users.values())
        assert pages.available == 20 - len(users)
    for _, mine in held:
        pages.release(mine)
    assert pages.available == 20


def test_a_cache_without_pages_is_refused() -> None:
    with pytest.raises(ValueError, match="0 pages of 4 tokens"):
        Pages(0, 4)
