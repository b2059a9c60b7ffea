# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import gc
import pickle
import weakref

import pytest

from aclnn_py.errors import ClosedError, ReleaseWarning
from aclnn_py.handle import Handle, live_handles


class Thing(Handle):
    __slots__ = ()


class Owner:
    pass


def test_close_twice_is_one_release():
    released = []
    thing = Thing(7, released.append)
    assert thing.raw == 7
    thing.close()
    thing.close()
    assert released == [7]
    assert thing.closed


def test_use_after_close_raises_and_names_the_class():
    thing = Thing(7, None)
    thing.close()
    with pytest.raises(ClosedError, match="Thing is closed"):
        _ = thing.raw
    assert "closed" in repr(thing)


def test_dropping_the_last_reference_releases():
    released = []
    Thing(1, released.append)
    assert released == [1]


def test_leaving_the_with_block_releases_even_on_an_exception():
    released = []
    with pytest.raises(KeyError), Thing(2, released.append):
        raise KeyError
    assert released == [2]


def test_owners_live_until_the_release_has_run():
    owner = Owner()
    seen = weakref.ref(owner)
    alive_at_release = []
    thing = Thing(3, lambda raw: alive_at_release.append(seen() is not None), owner)
    del owner
    gc.collect()
    assert seen() is not None
    thing.close()
    assert alive_at_release == [True]
    assert seen() is None


def test_a_cycle_is_collected():
    released = []

    class Node(Handle):
        pass

    a, b = Node(1, released.append), Node(2, released.append)
    a.other, b.other = b, a
    del a, b
    gc.collect()
    assert sorted(released) == [1, 2]


def test_a_failing_release_is_a_warning():
    def fail(raw):
        raise OSError("aclrtFree: 507899")

    thing = Thing(1, fail)
    with pytest.warns(ReleaseWarning, match="Thing was not released: aclrtFree: 507899"):
        thing.close()
    assert thing.closed


@pytest.mark.parametrize("how", [copy.copy, copy.deepcopy, pickle.dumps])
def test_handles_are_neither_copied_nor_pickled(how):
    thing = Thing(1, None)
    with pytest.raises(TypeError, match="cannot be copied or pickled"):
        how(thing)


def test_live_count_follows_creation_and_release():
    before = live_handles().get("Thing", 0)
    things = [Thing(i, None) for i in range(5)]
    assert live_handles()["Thing"] == before + 5
    things[0].close()
    assert live_handles()["Thing"] == before + 4
    things.clear()
    gc.collect()
    assert live_handles().get("Thing", 0) == before
