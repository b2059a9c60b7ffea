# SPDX-License-Identifier: Apache-2.0
"""Write every C call of a program to a file, with arguments, status and time.

``ACLNN_PY_TRACE=file`` traces a whole process.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import threading
import time
import warnings
from collections import deque
from collections.abc import Callable, Iterator
from datetime import datetime
from types import TracebackType
from typing import Any

from aclnn_py._ffi import add_wrapper, remove_wrapper
from aclnn_py._ffi.settings import for_this_process
from aclnn_py.operators.launch.observers import Launch, Observer, add_observer, remove_observer
from aclnn_py.tools.traces import c_syntax
from aclnn_py.tools.traces.file import ENDINGS, Call, Writer, form_of

__all__ = ["trace"]


class trace:
    """Write every C call to a file, inside a ``with`` block.

    Both phases of an operator are written with arguments, workspace and executor; functions of the
    runtime and of HCCL with the names of their arguments. Times are host times. The launcher
    creates and destroys the objects that an operator takes (``aclCreateTensor`` and the like):
    their time is part of the phases, and they appear as arguments of phase one, not on lines of
    their own.
    Each call is in the file when it returns, so a crash leaves the calls before it.
    ``aclnn-py trace FILE`` sums up a trace.

    Parameters
    ----------
    path : str or os.PathLike
        The file; an existing one is replaced. ``%p`` stands for the process number, ``%r`` for the
        rank (variable ``RANK``, 0 without it).
    form : str, optional
        "text" (a line per call) or "json" (for Perfetto and chrome://tracing, with a row per thread
        and a row per stream). Default is "json" for a path that ends in ``.json``, else "text".

    Attributes
    ----------
    failure : Exception or None
        Why the trace has stopped, for example a full disk; the file has the calls before that. A
        warning at the end of the block says so too, and the block is not disturbed.

    Raises
    ------
    ValueError
        ``form`` has another value.
    OSError
        At the start of the block: the file cannot be written, or another trace writes to it.
    """

    def __init__(self, path: str | os.PathLike[str], *, form: str | None = None) -> None:
        self._path = os.fspath(path)
        self._form = form_of(self._path, form)
        self._sink: _Sink | None = None
        self.failure: Exception | None = None

    def __enter__(self) -> trace:
        if self._sink is not None:
            raise RuntimeError("this trace is under way already: leave its block first")
        sink = _Sink(for_this_process(self._path), self._form)
        sink.open()
        sink.attach()
        self._sink = sink
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        sink, self._sink = self._sink, None
        if sink is None:
            return
        sink.detach()
        sink.close()
        self.failure = sink.failure
        if sink.failure is not None:
            text = f"aclnn_py.tools.trace: {_stopped(sink.failure)}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def start_from_environment(path: str) -> None:
    """Trace until the process ends; the package calls it for ACLNN_PY_TRACE.

    The first call creates the file, so processes that inherit the variable and make no call do not
    touch it.
    """

    def report(failure: Exception) -> None:
        warnings.warn(f"ACLNN_PY_TRACE: {_stopped(failure)}", RuntimeWarning, stacklevel=2)

    # Nobody closes it: the calls that release objects at exit belong to the trace too.
    _Sink(for_this_process(path), form_of(path, None), report).attach()


def _stopped(failure: Exception) -> str:
    return f"the trace has stopped, later calls are not in it: {failure}"


class _Sink(Observer):
    """The file that the calls are written to; it is complete after each call."""

    def __init__(
        self, path: str, form: str, report: Callable[[Exception], None] | None = None
    ) -> None:
        self.failure: Exception | None = None
        self._path = path
        self._form = form
        self._report = report
        self._started = time.perf_counter_ns()
        # A finalizer may run on this thread while calls are being written. The calls it makes are
        # queued here, and why a call has no text; waiting for the lock would be a deadlock.
        self._pending: deque[tuple[Call, ...] | Exception] = deque()
        self._writing = threading.Lock()
        self._writer: Writer | None = None
        self._file = -1
        self._end = 0  # where the next call is written: it replaces the ending
        self._closed = False
        self._process = os.getpid()
        self._wrapper = self._wrap  # the same object is needed to remove it

    def attach(self) -> None:
        add_observer(self)
        add_wrapper(self._wrapper)

    def detach(self) -> None:
        remove_observer(self)
        remove_wrapper(self._wrapper)

    # ---- calls that are observed

    def after(self, launch: Launch) -> None:
        with self._stopping():
            self._add(*self._calls_of(launch))

    def _calls_of(self, launch: Launch) -> list[Call]:
        thread, stream = threading.get_native_id(), launch.stream
        notes: dict[str, Any] = {}
        if launch.kind != "call":
            notes["kind"] = launch.kind
        if launch.sequence is not None:
            notes["number"] = launch.sequence
        if launch.line:
            notes["line"] = launch.line

        def call(name: str, begun_ns: int, lasted_ns: int, arguments: str, status: str) -> Call:
            return Call(
                name,
                True,
                (begun_ns - self._started) / 1000,
                lasted_ns / 1000,
                thread,
                stream.id,
                arguments,
                status,
                stream.device.index,
                notes,
            )

        calls = []
        if launch.op is not None and launch.kind != "run":
            begun = launch.phase_one_begun_ns or launch.begun_ns
            name = f"{launch.name}GetWorkspaceSize"
            calls.append(call(name, begun, launch.phase_one_ns or 0, *c_syntax.phase_one(launch)))
        if launch.phase_two_ns is not None:
            begun = launch.phase_two_begun_ns or launch.begun_ns
            calls.append(call(launch.name, begun, launch.phase_two_ns, *c_syntax.phase_two(launch)))
        return calls

    def _wrap(self, name: str, function: Callable[..., Any]) -> Callable[..., Any]:
        def traced(*arguments: Any) -> Any:
            begun = time.perf_counter_ns()
            result = function(*arguments)
            ended = time.perf_counter_ns()
            with self._stopping():
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

    # ---- calls that are written

    def _add(self, *calls: Call) -> None:
        if not calls or self._closed or os.getpid() != self._process:
            return  # a forked child: the file is its parent's
        self._queue(calls)

    def _queue(self, item: tuple[Call, ...] | Exception) -> None:
        self._pending.append(item)
        # The thread that holds the lock checks again after releasing it.
        while self._pending and self._writing.acquire(blocking=False):
            try:
                self._write_pending()
            finally:
                self._writing.release()

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """Whatever goes wrong here ends the trace and not the program."""
        try:
            yield
        except Exception as error:
            self._queue(error)

    def _write_pending(self) -> None:
        try:
            if self._writer is None and not self._closed and self._pending:
                self.open()
            while self._pending:
                item = self._pending.popleft()
                if isinstance(item, Exception):
                    raise item
                if self._writer is not None:
                    self._append(self._writer.text_of(item))
        except Exception as error:
            self._stop(error)

    def open(self) -> None:
        """Create the file, or overwrite that of a trace that has ended."""
        self._file = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError as error:
                raise BlockingIOError(
                    error.errno,
                    "another trace writes to it; put %p or %r into the name",
                    self._path,
                ) from None
            os.ftruncate(self._file, 0)
            started = datetime.now().isoformat(sep=" ", timespec="seconds")
            self._writer = Writer(self._form, started)
            self._append(self._writer.opening)
        except OSError:
            self._let_go()
            raise

    def _append(self, text: str) -> None:
        data = text.encode()
        whole = data + ENDINGS[self._form].encode()
        done = 0
        while done < len(whole):
            done += os.pwrite(self._file, whole[done:], self._end + done)
        self._end += len(data)

    def _stop(self, error: Exception) -> None:
        if self.failure is not None:
            return
        self.detach()
        self._pending.clear()
        self.failure = error
        if isinstance(error, OSError):
            self.failure = OSError(error.errno, error.strerror, self._path)
        if self._writer is not None:
            with contextlib.suppress(OSError):  # of what is no file on a disk
                os.ftruncate(self._file, self._end)  # removes half a call
        self._let_go()
        if self._report is not None:
            self._report(self.failure)

    def _let_go(self) -> None:
        self._closed, self._writer = True, None
        if self._file >= 0:
            os.close(self._file)
            self._file = -1

    def close(self) -> None:
        with self._writing:
            if self._writer is not None:
                self._write_pending()
            if self._writer is not None:
                if os.fstat(self._file).st_nlink == 0:
                    gone = "the file was removed while it was written"
                    self.failure = OSError(errno.ENOENT, gone, self._path)
                self._let_go()
