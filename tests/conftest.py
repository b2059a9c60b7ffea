# SPDX-License-Identifier: Apache-2.0
"""Devices, markers and the leak check of the whole test suite."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from hypothesis import settings

if TYPE_CHECKING:
    import aclnn_py as ap

sys.path.insert(0, str(Path(__file__).parent))  # `helpers` is a package beside the tests
# `build_parts` and `maintain` are in no wheel. At the end: an installed aclnn_py comes first.
sys.path.append(str(Path(__file__).parent.parent))

settings.register_profile("aclnn_py", deadline=None, max_examples=60)
settings.load_profile("aclnn_py")

_KINDS = {"emulator": ["emulator"], "npu": ["npu"], "all": ["emulator", "npu"]}
_MARKERS = {
    "emulator_only": "emulator_only(reason): the test relies on something only the emulator has",
    "npu_only": "npu_only(reason): the test needs a real NPU",
}
# Device memory a library may keep for itself between two tests, in bytes.
_MEMORY_SLACK = {"emulator": 0, "npu": 64 << 20}


def pytest_addoption(parser: pytest.Parser) -> None:
    parser.addoption(
        "--device",
        choices=sorted(_KINDS),
        default="emulator",
        help="kind of device the tests run on; 'all' runs the suite once per kind",
    )
    parser.addoption(
        "--every-allocation",
        action="store_true",
        help="let each allocation of programs and of operators fail, not a sample of them",
    )
    parser.addoption(
        "--fault-steps",
        type=int,
        default=480,
        help="steps of the state machine that decides who hears of a fault",
    )
    parser.addoption(
        "--fault-seconds",
        type=float,
        default=2.0,
        help="how long threads make faults beside ranks that compute",
    )
    parser.addoption(
        "--every-refusal",
        action="store_true",
        help="ask about each change of each accepted call, not about a sample of them",
    )
    parser.addoption(
        "--every-rank-count",
        action="store_true",
        help="let 4 and 8 processes make the calls of fused operators, not 2 alone",
    )


def pytest_configure(config: pytest.Config) -> None:
    for line in _MARKERS.values():
        config.addinivalue_line("markers", line)
    kind = config.getoption("--device")
    if kind != "all":
        # Also for the processes that tests start.
        os.environ["ACLNN_PY_DEVICE"] = kind


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    for item in items:
        for name in _MARKERS:
            for marker in item.iter_markers(name):
                if not marker.kwargs.get("reason"):
                    raise pytest.UsageError(f"{item.nodeid}: {name} needs a reason")


def pytest_collection_finish(session: pytest.Session) -> None:
    """Keep what collecting made out of later collections.

    The leak check collects where something is left; walking thousands of test items each time
    would take longer than the tests do.
    """
    gc.collect()
    gc.freeze()


def pytest_cmdline_main(config: pytest.Config) -> int | None:
    """Run the suite once per kind of device: a process has one kind."""
    if config.getoption("--device") != "all":
        return None
    import subprocess

    rest = [argument for argument in config.invocation_params.args if "--device" not in argument]
    rest = [argument for argument in rest if argument != "all"]
    codes = [
        subprocess.call([sys.executable, "-m", "pytest", f"--device={kind}", *rest])
        for kind in _KINDS["all"]
    ]
    return max(codes)


@pytest.fixture(scope="session")
def device_kind(request: pytest.FixtureRequest) -> str:
    """The kind of device this run is on."""
    return str(request.config.getoption("--device"))


@pytest.fixture(autouse=True)
def _right_device(request: pytest.FixtureRequest, device_kind: str) -> None:
    other = {"emulator": "npu_only", "npu": "emulator_only"}[device_kind]
    marker = request.node.get_closest_marker(other)
    if marker is not None:
        pytest.skip(marker.kwargs["reason"])


@pytest.fixture(scope="session")
def run_folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder that all processes of this run share: the workers of pytest-xdist lie under it."""
    own = tmp_path_factory.getbasetemp()
    return own.parent if "PYTEST_XDIST_WORKER" in os.environ else own


@pytest.fixture(scope="session")
def full_disk() -> Path:
    """A file to which nothing can be written because the disk is full."""
    path = Path("/dev/full")
    if not path.exists():
        pytest.skip("this system has no /dev/full")
    return path


@pytest.fixture
def device(device_kind: str) -> Iterator[ap.Device]:
    """Device 0, current for the length of the test."""
    import aclnn_py

    with aclnn_py.Device(0) as current:
        yield current


@pytest.fixture
def unchecked(device_kind: str) -> Iterator[None]:
    """Without the checker, for tests of what it refuses or of what it costs."""
    import aclnn_py

    with aclnn_py.check(False):
        yield


@pytest.fixture
def eager_switches() -> Iterator[None]:
    """Threads take turns after every few instructions."""
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-5)
    yield
    sys.setswitchinterval(before)


@pytest.fixture
def second_device(device: ap.Device) -> ap.Device:
    """Another device, not current."""
    import aclnn_py

    if aclnn_py.device_count() < 2:
        pytest.skip("this machine has one device")
    return aclnn_py.Device(1)


@pytest.fixture
def stream(device: ap.Device) -> Iterator[ap.Stream]:
    """A stream of device 0, current for the length of the test."""
    with device.create_stream() as current:
        yield current


@pytest.fixture(scope="module")
def groups() -> Iterator[dict[int, str]]:
    """Names of communicators of device 0, by their number of ranks."""
    from aclnn_py.distributed import Communicator

    made = {count: Communicator.init_all(count) for count in (1, 2, 3)}
    yield {count: comms[0].name for count, comms in made.items()}
    for comms in made.values():
        for comm in comms:
            comm.close()


def _counts() -> dict[str, int]:
    from aclnn_py.runtime.handle import live_handles

    # Made once per process and closed at exit.
    return {
        kind: n for kind, n in live_handles().items() if kind not in ("Runtime", "DefaultStream")
    }


def _used_memory() -> dict[int, int]:
    """Used bytes by device, of the devices that are open in this process."""
    from aclnn_py.runtime import initialization

    if not initialization.initialized():
        return {}
    from aclnn_py.runtime import device

    used = {}
    for index, opened in sorted(device._devices.items()):
        if opened._context is not None:
            info = opened.memory_info()
            used[index] = info.total - info.free
    return used


@pytest.hookimpl(hookwrapper=True)
def pytest_runtest_makereport(item: pytest.Item) -> Iterator[None]:
    outcome = yield
    if outcome.get_result().failed:  # type: ignore[attr-defined]
        item.failed = True  # type: ignore[attr-defined]


@pytest.fixture(autouse=True)
def _no_leaks(request: pytest.FixtureRequest, device_kind: str) -> Iterator[None]:
    """Handles and device memory are as before the test when it is over."""
    if "aclnn_py._ffi" not in sys.modules:
        yield
        return
    if "device" in request.fixturenames or "stream" in request.fixturenames:
        # The default stream's workspace and the like stay, once they exist.
        import aclnn_py

        aclnn_py.Device(0).default_stream.synchronize()
    before, memory = _counts(), _used_memory()
    yield
    if getattr(request.node, "failed", False):
        return  # the traceback still refers to the objects of the test
    _settle()
    slack = _MEMORY_SLACK[device_kind]
    for collect in (_collect_recent, _collect_all):
        if _left(before) or _grown(memory, slack):
            # Only cycles may hold them. To look for cycles after every test would take half the
            # time.
            collect()
            _settle()
    left, grown = _left(before), _grown(memory, slack)
    assert not left, f"handles left open: {left}"
    assert not grown, f"bytes not freed, by device: {grown}"


def _collect_recent() -> None:
    """Collect what was made since the last time, and keep what is left out of the next time.

    A worker holds millions of objects in its caches: to walk them takes half a second.
    """
    gc.collect()
    gc.freeze()


def _collect_all() -> None:
    gc.unfreeze()
    _collect_recent()


def _left(before: dict[str, int]) -> dict[str, int]:
    left = {kind: n - before.get(kind, 0) for kind, n in _counts().items()}
    return {kind: n for kind, n in left.items() if n > 0}


def _grown(before: dict[int, int], slack: int) -> dict[int, int]:
    grown = {index: used - before.get(index, 0) for index, used in _used_memory().items()}
    return {index: nbytes for index, nbytes in grown.items() if nbytes > slack}


def _settle() -> None:
    from aclnn_py import errors
    from aclnn_py.memory import allocator
    from aclnn_py.memory.workspace import release_workspace
    from aclnn_py.runtime.stream_state import open_streams

    for state in open_streams():
        try:
            state.synchronize(30.0)
        except errors.DeviceError:
            # The test caused a fault on purpose; the stream is usable again once it was reported.
            state.synchronize(30.0)
        release_workspace(state)
    for opened in allocator.opened():
        opened.trim()
