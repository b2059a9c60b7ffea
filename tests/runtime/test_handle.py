# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import copy
import gc
import pickle
import threading
import weakref

import pytest
from helpers.processes import run_script

from aclnn_py.errors import ClosedError, ReleaseWarning
from aclnn_py.runtime.handle import Handle, live_handles


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


def test_threads_that_close_one_handle_release_it_once():
    released = []
    things = [Thing(i, released.append) for i in range(500)]
    start = threading.Barrier(4)

    def close_all():
        start.wait()
        for thing in things:
            thing.close()

    threads = [threading.Thread(target=close_all) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(released) == list(range(500))


def test_a_release_may_close_the_same_handle_and_others():
    released = []

    def release(raw):
        released.append(raw)
        for thing in things:
            thing.close()

    things = [Thing(i, release) for i in range(3)]
    things[1].close()
    assert released == [1, 0, 2]


def test_at_exit_the_newest_goes_first_and_a_failure_stops_nobody():
    outcome = run_script(
        """
import warnings
from aclnn_py.runtime.handle import Handle
warnings.simplefilter("error")
def fail(raw):
    raise OSError("refused")
kept = [Handle(1, print), Handle(2, fail), Handle(3, print)]
"""
    )
    assert outcome.out.split() == ["3", "1"]
    assert "ReleaseWarning: Handle was not released: refused" in outcome.err


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
