# SPDX-License-Identifier: Apache-2.0
"""Profile a block: what the device ran, from when to when."""

from __future__ import annotations

import contextlib
import os
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Sequence
from pathlib import Path
from types import TracebackType
from typing import Any

from aclnn_py._ffi import C, device_kind, ffi
from aclnn_py.runtime.device import Device
from aclnn_py.runtime.status import check_acl
from aclnn_py.tools.profiles.files import (
    DeviceTask,
    HostCalls,
    Mark,
    ProfileError,
    read_calls,
    read_marks,
    read_tasks,
)
from aclnn_py.tools.profiles.table import OperatorTime, call_lines, lines, mark_lines, sum_up

__all__ = ["profile"]

_ACL_PROF_ACL_API, _ACL_PROF_TASK_TIME, _ACL_PROF_HCCL_TRACE = 0x1, 0x2, 0x20
_ACL_PROF_MSPROFTX, _ACL_PROF_TASK_MEMORY = 0x80, 0x1000
_ACL_AICORE_NONE = 255
_EXPORT_TIMEOUT_S = 600


class profile:
    """Note what a device runs inside a ``with`` block: operators, nodes of graphs, collectives.

    A device time is from the beginning to the end of a kernel; a host time is that of the C calls.

    Parameters
    ----------
    devices : sequence of Device or int, optional
        Devices to look at; default is the current one.
    folder : str or os.PathLike, optional
        Where CANN's files are kept (``PROF_...``); default is a temporary folder that is removed.

    Attributes
    ----------
    tasks : list of DeviceTask
        What the devices ran, by start; known after the block.
    calls : list of HostCalls
        The C functions that the host called, and how long it was in them.
    marks : list of Mark
        Marks and ranges that the program set (``mstxMarkA``, ``mstxRangeStartA``, ``aclprofMark``
        and their kin). A range that ends after the block is left out.

    failure : Exception or None
        Why there are no results, for example a full disk, or CANN's ``msprof`` that is not on the
        path. A warning at the end of the block says so too, and the block is not disturbed.

    Raises
    ------
    AclError
        At the start of the block: 100042 another profile of this process is under way; 500005 the
        folder cannot be written.

    Notes
    -----
    ``print`` shows the table of operators, and one of marks where there are any. The block waits
    for the devices before it begins and before it ends. A million tasks are kept on the emulator;
    the rest is counted in the JSON file. On an NPU the tasks are kernels, of which an operator may
    have several.

    Source
    ------
    aclprofInit, aclprofCreateConfig, aclprofStart, aclprofStop, aclprofFinalize
    (``include/acl/acl_prof.h``).
    """

    def __init__(
        self,
        *,
        devices: Sequence[Device | int] | None = None,
        folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self._asked = devices
        self._folder = folder
        self._devices: list[Device] = []
        self._temporary: tempfile.TemporaryDirectory[str] | None = None
        self._config: Any = None
        self._trace: bytes | None = None
        self.tasks: list[DeviceTask] = []
        self.calls: list[HostCalls] = []
        self.marks: list[Mark] = []
        self.failure: Exception | None = None

    def __enter__(self) -> profile:
        if self._config is not None:
            raise RuntimeError("this profile is under way already: leave its block first")
        asked = [Device.current()] if self._asked is None else self._asked
        self._devices = [item if isinstance(item, Device) else Device(item) for item in asked]
        self._synchronize()
        if self._folder is None:
            self._temporary = tempfile.TemporaryDirectory(prefix="aclnn_py-profile-")
            place = self._temporary.name
        else:
            place = os.fspath(self._folder)
        self._place = Path(place)
        self._known = set(self._place.glob("PROF_*"))
        path = os.fsencode(place)
        check_acl(C.aclprofInit(path, len(path)), "aclprofInit")
        numbers = ffi.new("uint32_t[]", [device.index for device in self._devices])
        what = (
            _ACL_PROF_ACL_API
            | _ACL_PROF_TASK_TIME
            | _ACL_PROF_HCCL_TRACE
            | _ACL_PROF_MSPROFTX
            | _ACL_PROF_TASK_MEMORY
        )
        config = C.aclprofCreateConfig(
            numbers, len(self._devices), _ACL_AICORE_NONE, ffi.NULL, what
        )
        try:
            check_acl(C.aclprofStart(config), "aclprofStart")
        except BaseException:
            C.aclprofDestroyConfig(config)
            C.aclprofFinalize()
            raise
        self._config = config
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        config, self._config = self._config, None
        try:
            if kind is None:
                self._synchronize()
        finally:
            stopped = C.aclprofStop(config)
            C.aclprofDestroyConfig(config)
            written = C.aclprofFinalize()
        try:
            if kind is None:
                check_acl(stopped, "aclprofStop")
                check_acl(written, "aclprofFinalize")
                self._read()
        except Exception as error:
            self.failure = error
            text = f"aclnn_py.tools.profile: the profile has no results: {error}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)
        finally:
            if self._temporary is not None:
                with contextlib.suppress(OSError):
                    self._temporary.cleanup()
                self._temporary = None

    def _synchronize(self) -> None:
        for device in self._devices:
            device.synchronize()

    def _read(self) -> None:
        for place in sorted(set(self._place.glob("PROF_*")) - self._known):
            if device_kind() == "npu":
                _export(place)
            self.tasks += read_tasks(place)
            self.calls += read_calls(place)
            self.marks += read_marks(place)
            for trace in sorted(place.rglob("msprof_*.json")):
                self._trace = trace.read_bytes()
        self.tasks.sort(key=lambda task: task.begun_us)

    def rows(self, *, by_shape: bool = False) -> list[OperatorTime]:
        """Return the times by operator, the longest device time first.

        Parameters
        ----------
        by_shape : bool, default False
            Keep calls with different shapes of inputs apart.
        """
        return sum_up(self.tasks, by_shape=by_shape, calls=self.calls)

    def table(self, *, by_shape: bool = False) -> str:
        """Return the table of operators that ``print`` shows, or one with a row for each shape."""
        return "\n".join(lines(self.rows(by_shape=by_shape)))

    def host_table(self) -> str:
        """Return a table of the C functions that the host called, the longest in total first."""
        return "\n".join(call_lines(self.calls))

    def __str__(self) -> str:
        tables = [self.table()]
        if self.marks:
            tables.append("\n".join(mark_lines(self.marks)))
        return "\n\n".join(tables)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the time line as a JSON file for Perfetto: streams, threads, marks and memory.

        Raises
        ------
        ProfileError
            The block has not ended, or the device wrote no time line.
        """
        if self._trace is None:
            raise ProfileError("there is no time line; save it after the block has ended")
        Path(path).write_bytes(self._trace)

    def plot(self, path: str | os.PathLike[str], *, most: int = 20) -> None:
        """Draw device time by operator as bars, into a PNG, SVG or PDF file.

        Parameters
        ----------
        path : str or os.PathLike
        most : int, default 20
            Operators to draw; the others are one bar.

        Raises
        ------
        ImportError
            matplotlib is not installed (``pip install 'aclnn_py[plot]'``).
        """
        from aclnn_py.tools.profiles.plot import draw

        draw(self.rows(), path, most)


def _export(place: Path) -> None:
    """Let CANN's tool turn what a card wrote into tables."""
    tool = shutil.which("msprof")
    if tool is None:
        raise ProfileError(
            f"{place}: CANN's msprof is not on the path; source set_env.sh, and keep the files with"
            " folder=... until then"
        )
    done = subprocess.run(
        [tool, "--export=on", f"--output={place}"],
        capture_output=True,
        text=True,
        timeout=_EXPORT_TIMEOUT_S,
        check=False,
    )
    if done.returncode:
        raise ProfileError(f"{place}: msprof ended with {done.returncode}: {done.stderr[-500:]}")
