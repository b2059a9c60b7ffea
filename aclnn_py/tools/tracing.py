# SPDX-License-Identifier: Apache-2.0
"""Every C call of a program written to a file, with arguments, status and time.

``ACLNN_PY_TRACE=file`` traces a whole process.
"""

from __future__ import annotations

import atexit
import fcntl
import os
import threading
import time
from collections.abc import Callable
from datetime import datetime
from types import TracebackType
from typing import Any

from aclnn_py._ffi import add_wrapper, remove_wrapper
from aclnn_py.operators.interception import (
    Launch,
    Observer,
    add_observer,
    remove_observer,
)
from aclnn_py.tools import c_syntax
from aclnn_py.tools.trace_file import Call, form_lines, form_of, opening

__all__ = ["trace"]

_FLUSH_AT = 256


class trace:
    """Write every C call to a file, inside a ``with`` block.

    Launches of operators have the times of both phases, the size of their workspace, and the Python
    line that made them; functions of the runtime and of HCCL have their arguments by name. Times
    are those of the host. ``aclnn-py trace FILE`` sums them up.

    Parameters
    ----------
    path : str or os.PathLike
        ``%p`` in it stands for the number of the process, ``%r`` for the rank (variable ``RANK``,
        0 without it). The file is made at the first call.
    form : str, optional
        "text" (a line per call) or "json" (for Perfetto and chrome://tracing, with a row per thread
        and a row per stream). By default "json" for a path that ends in ``.json``.

    Raises
    ------
    ValueError
        `form` is neither.
    """

    def __init__(self, path: str | os.PathLike[str], *, form: str | None = None) -> None:
        self._path = os.fspath(path)
        self._form = form_of(self._path, form)
        self._sink: _Sink | None = None

    def __enter__(self) -> trace:
        if self._sink is not None:
            raise RuntimeError("this trace is under way")
        self._sink = _Sink(_expand(self._path), self._form)
        self._sink.attach()
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sink, self._sink = self._sink, None
        if sink is not None:
            sink.detach()
            sink.close()


def start_from_environment(path: str) -> None:
    """Trace until the end of the process; the package calls it for ACLNN_PY_TRACE."""
    sink = _Sink(_expand(path), form_of(path, None))
    sink.attach()
    # Objects are released at exit, by calls that belong into the trace, perhaps after this.
    atexit.register(sink.write_through)


def _expand(path: str) -> str:
    return path.replace("%p", str(os.getpid())).replace("%r", os.environ.get("RANK") or "0")


class _Sink(Observer):
    """Where calls go: the open file, and what is not written yet."""

    def __init__(self, path: str, form: str) -> None:
        self._path = path
        self._form = form
        self._started = time.perf_counter_ns()
        self._lock = threading.RLock()  # a finalizer may release an object while a line is added
        self._lines: list[str] = []
        self._file = -1
        self._flush_at = _FLUSH_AT
        self._rows: set[tuple[str, int]] = set()
        self._process = os.getpid()
        self._wrapper = self._wrap  # one object, by which it is found again

    def attach(self) -> None:
        add_observer(self)
        add_wrapper(self._wrapper)

    def detach(self) -> None:
        remove_observer(self)
        remove_wrapper(self._wrapper)

    # ---- what comes in

    def after(self, launch: Launch) -> None:
        ended = time.perf_counter_ns()
        phases = (launch.phase_one_ns or 0) + (launch.phase_two_ns or 0)
        notes: dict[str, Any] = {}
        if launch.kind != "call":
            notes["kind"] = launch.kind
        if launch.phase_one_ns is not None:
            notes["phase one us"] = round(launch.phase_one_ns / 1000, 3)
        if launch.phase_two_ns is not None:
            notes["phase two us"] = round(launch.phase_two_ns / 1000, 3)
        if launch.workspace_nbytes is not None:
            notes["workspace"] = launch.workspace_nbytes
        if launch.sequence is not None:
            notes["number"] = launch.sequence
        if launch.line:
            notes["line"] = launch.line
        self._add(
            Call(
                name=launch.name,
                operator=True,
                begun_us=(launch.begun_ns - self._started) / 1000,
                lasted_us=(phases or ended - launch.begun_ns) / 1000,
                thread=threading.get_native_id(),
                stream=launch.stream.id,
                device=launch.stream.device.index,
                arguments=c_syntax.launch_arguments(launch),
                status=c_syntax.launch_status(launch),
                notes=notes,
            )
        )

    def _wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*arguments: Any) -> Any:
            begun = time.perf_counter_ns()
            result = function(*arguments)
            ended = time.perf_counter_ns()
            self._add(
                Call(
                    name=name,
                    operator=False,
                    begun_us=(begun - self._started) / 1000,
                    lasted_us=(ended - begun) / 1000,
                    thread=threading.get_native_id(),
                    stream=None,
                    arguments=c_syntax.function_arguments(name, arguments),
                    status=c_syntax.function_result(name, result),
                )
            )
            return result

        return traced

    # ---- what goes out

    def _add(self, call: Call) -> None:
        if os.getpid() != self._process:
            return  # a forked child: the file is its parent's
        with self._lock:
            self._lines.append(form_lines(self._form, call, self._rows))
            if len(self._lines) >= self._flush_at:
                self._flush()

    def _flush(self) -> None:
        if not self._lines:
            return
        if self._file < 0:
            self._open()
        data = "".join(self._lines).encode()
        self._lines.clear()
        while data:
            data = data[os.write(self._file, data) :]

    def _open(self) -> None:
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            os.close(self._file)
            self._file = -1
            self._lines.clear()
            self.detach()
            raise BlockingIOError(
                f"{self._path}: another process traces into it; put %p or %r into the name"
            ) from None
        os.ftruncate(self._file, 0)
        started = datetime.now().isoformat(sep=" ", timespec="seconds")
        self._lines.insert(0, opening(self._form, started))

    def write_through(self) -> None:
        """Write what is there, and each call from now on at once."""
        with self._lock:
            self._flush_at = 1
            self._flush()

    def close(self) -> None:
        with self._lock:
            if self._file < 0 and not self._lines:
                self._open()  # nothing was called: a trace of nothing, not a missing file
            if self._form == "json":
                self._lines.append("\n]\n")
            self._flush()
            os.close(self._file)
            self._file = -1
