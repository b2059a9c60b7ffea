# SPDX-License-Identifier: Apache-2.0
"""What looks at a program never fails it: begun and ended amid its threads, without room, gone."""

from __future__ import annotations

import re
import shutil
import threading
import warnings
from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py.operators.launch.observers import observers

THREADS, LAUNCHES = 8, 25
FEWEST_BLOCKS = 3

Observing = Callable[[Path], AbstractContextManager[Any]]
OBSERVERS: dict[str, Observing] = {
    "record": lambda folder: ap.tools.record(folder / "calls.rec"),
    "trace": lambda folder: ap.tools.trace(folder / "calls.txt"),
    "trace as JSON": lambda folder: ap.tools.trace(folder / "calls.json"),
    "profile": lambda folder: ap.tools.profile(devices=[0, 1]),
    "check": lambda folder: ap.check(),
    "strict": lambda folder: ap.strict(),
}


def launches(device: int, stop: threading.Event, wrong: list[str]) -> None:
    """Launch until told to stop, at least as often as `LAUNCHES`."""
    values = np.arange(16, dtype=np.float32)
    try:
        with ap.Device(device), ap.Stream():
            x = ap.from_numpy(values)
            done = 0
            while done < LAUNCHES or not stop.is_set():
                done += 1
                np.testing.assert_array_equal((x + x).numpy(), 2 * values)
    except BaseException as error:
        wrong.append(repr(error))


@pytest.mark.parametrize("name", OBSERVERS)
def test_one_may_begin_and_end_while_threads_launch(name: str, device, tmp_path: Path) -> None:
    wrong: list[str] = []
    stop = threading.Event()
    threads = [
        threading.Thread(target=launches, args=(number % 2, stop, wrong))
        for number in range(THREADS)
    ]
    before = observers()
    for thread in threads:
        thread.start()
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        blocks = 0
        while blocks < FEWEST_BLOCKS or any(thread.is_alive() for thread in threads):
            with OBSERVERS[name](tmp_path):
                (ap.zeros((4,), np.float32) + 1.0).numpy()
            blocks += 1
            if blocks >= FEWEST_BLOCKS:
                stop.set()
    for thread in threads:
        thread.join()
    assert not wrong, wrong[0]
    assert observers() == before


def test_a_folder_that_disappears_is_said(device, tmp_path: Path) -> None:
    folder = tmp_path / "gone"
    folder.mkdir()
    x = ap.from_numpy(np.ones(4, np.float32))
    with (
        pytest.warns(RuntimeWarning, match="nothing was recorded.*No such file"),
        ap.tools.record(folder / "calls.rec") as record,
    ):
        shutil.rmtree(folder)
        assert (x + x).numpy().tolist() == [2.0] * 4
    assert isinstance(record.failure, OSError)
    folder.mkdir()
    with (
        pytest.warns(RuntimeWarning, match="trace has stopped.*removed"),
        ap.tools.trace(folder / "calls.txt") as trace,
    ):
        shutil.rmtree(folder)
        assert (x + x).numpy().tolist() == [2.0] * 4
    assert isinstance(trace.failure, OSError)


def test_a_call_that_cannot_be_recorded_is_made(device, tmp_path: Path, monkeypatch) -> None:
    from aclnn_py.tools.records import recorder

    def broken(*_: object) -> Any:
        raise RecursionError("too deep")

    x = ap.from_numpy(np.ones(4, np.float32))
    with (
        pytest.warns(RuntimeWarning, match="1 calls are left out: RecursionError: too deep"),
        ap.tools.record(tmp_path / "calls.rec") as record,
    ):
        with monkeypatch.context() as patch:
            patch.setattr(recorder, "CallSketch", broken)
            y = x + x
        y = y + x
        assert y.numpy().tolist() == [3.0] * 4
    assert (record.calls, record.left_out, record.failure) == (1, 1, None)


FULL = """
    import os, resource, sys, warnings
    import numpy as np, aclnn_py as ap
    warnings.simplefilter("always")
    os.chdir(sys.argv[1])
    x = ap.from_numpy(np.random.default_rng(0).random(4096).astype(np.float32))
    ap.synchronize()
    resource.setrlimit(resource.RLIMIT_FSIZE, (8192, 8192))
    with {observer}:
        for _ in range(50):
            y = x + x
        print(bool((y.numpy() == 2 * x.numpy()).all()))
    z = (x + y).numpy()
    print("ended")
"""


@pytest.mark.parametrize(
    ("observer", "said"),
    [
        ("ap.tools.record('calls.rec')", "nothing was recorded.*File too large"),
        ("ap.tools.trace('calls.txt')", "trace has stopped.*File too large"),
        ("ap.tools.trace('calls.json')", "trace has stopped.*File too large"),
        ("ap.tools.profile()", "no results"),
    ],
)
def test_without_room_the_program_goes_on(observer: str, said: str, tmp_path: Path) -> None:
    done = run_script(FULL.format(observer=observer), str(tmp_path)).check()
    assert done.out.split() == ["True", "ended"]
    assert len(re.findall(said, done.err)) == 1, done.err
