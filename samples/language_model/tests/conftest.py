# SPDX-License-Identifier: Apache-2.0
"""The sample's modules, a device, and the leak check.

These tests use nothing of the repository but this folder and the installed package. Run them by
themselves, because other samples have modules of the same names:
`pytest samples/language_model/tests`.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import aclnn_py as ap
from aclnn_py.memory import allocator
from aclnn_py.memory.workspace import release_workspace
from aclnn_py.runtime.handle import live_handles
from aclnn_py.runtime.stream_state import open_streams

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Also for the programs that the tests start. The variable may name an NPU.
os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

PROCESS_WIDE = ("Runtime", "DefaultStream")
"""Handles that are made once and closed when the process ends."""


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what importing made out of the collections of the leak check."""
    gc.collect()
    gc.freeze()


@pytest.fixture
def device() -> Iterator[ap.Device]:
    """Device 0, current for the length of the test."""
    with ap.Device(0) as current:
        yield current


def _in_use() -> dict[str, int]:
    """What the process has of the device at this moment: handles by kind, and bytes."""
    for state in open_streams():
        try:
            state.synchronize(30.0)
        except ap.errors.DeviceError:
            state.synchronize(30.0)  # the fault that a test caused was reported by the first one
        release_workspace(state)
    found = {kind: n for kind, n in live_handles().items() if kind not in PROCESS_WIDE}
    for pool in allocator.opened():
        pool.trim()
        found["bytes"] = found.get("bytes", 0) + pool.statistics().allocated_nbytes
    return found


@pytest.fixture(autouse=True)
def nothing_left_behind(request: pytest.FixtureRequest) -> Iterator[None]:
    """Fail a test that leaves handles or device memory behind."""
    before, failed = _in_use(), request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        return  # the traceback keeps objects of the test
    more = _more_than(before)
    if more:
        # Perhaps only cycles hold it. To look for them after every test takes most of the time.
        gc.collect()
        more = _more_than(before)
    assert not more, f"left behind: {more}, before the test: {before}"


def _more_than(before: dict[str, int]) -> dict[str, int]:
    return {kind: n for kind, n in _in_use().items() if n > before.get(kind, 0)}


def _need(*names: str) -> None:
    for name in names:
        try:
            importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"{error}: pip install -r samples/language_model/requirements.txt openai")


@pytest.fixture(scope="session")
def requirements() -> None:
    """The packages of the sample, which are not those of the package under test."""
    _need("tokenizers", "jinja2", "safetensors", "starlette", "uvicorn", "httpx", "matplotlib")


@pytest.fixture(scope="session")
def openai_client(requirements: None) -> None:
    """The official client."""
    _need("openai")


@pytest.fixture(scope="session")
def transformers(requirements: None) -> Any:
    """The library that computes the same models."""
    for name in ("torch", "transformers"):
        try:
            importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"{error}: pip install -r samples/language_model/requirements-compare.txt")
    return importlib.import_module("transformers")
