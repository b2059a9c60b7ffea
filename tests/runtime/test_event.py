# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import time

import pytest
from helpers.gates import held

import aclnn_py as ap
from aclnn_py import errors


def test_an_event_that_was_never_recorded_is_complete(device):
    event = ap.Event()
    assert event.query()
    event.synchronize()


def test_query_and_synchronize_follow_the_stream(stream):
    event = ap.Event()
    with held(stream) as gate:
        event.record(stream)
        assert not event.query()
        with pytest.raises(TimeoutError) as caught:
            event.synchronize(timeout_s=0.1)
        assert caught.value.status == 507047
        gate.open()
        event.synchronize(timeout_s=30)
        assert event.query()


def test_elapsed_time_is_in_milliseconds(stream):
    start, end = ap.Event(), ap.Event()
    with held(stream) as gate:
        gate.reached.wait(10)
        start.record()
    with held(stream) as gate:
        gate.reached.wait(10)
        time.sleep(0.1)
        end.record()
        gate.open()
    end.synchronize()
    assert 90 <= end.elapsed_ms(start) < 20_000


def test_an_event_released_while_recorded_lives_until_the_stream_has_passed(stream):
    from aclnn_py.runtime.handle import live_handles

    before = live_handles().get("Event", 0)
    with held(stream) as gate:
        stream.record()
        assert live_handles()["Event"] == before + 1
        gate.open()
        stream.synchronize()
    assert live_handles().get("Event", 0) == before


def test_a_closed_event_is_refused(stream):
    event = ap.Event()
    event.close()
    for call in (event.record, event.wait, event.query, event.synchronize):
        with pytest.raises(errors.ClosedError, match="Event is closed"):
            call()


def test_a_stream_is_needed_not_something_else(device):
    with pytest.raises(TypeError, match="stream: "):
        ap.Event().record(device)


def test_recording_again_replaces_the_point(stream):
    event = ap.Event()
    event.record(stream)
    stream.synchronize()
    assert event.query()
    with held(stream) as gate:
        event.record(stream)
        assert not event.query()
        gate.open()
    assert event.query()
