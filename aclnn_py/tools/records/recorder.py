# SPDX-License-Identifier: Apache-2.0
"""Record operator calls with their data in a file, to run them again elsewhere."""

from __future__ import annotations

import atexit
import contextlib
import os
import threading
import warnings
from collections.abc import Callable, Iterator
from types import TracebackType

from aclnn_py._ffi.settings import for_this_process, nbytes_of
from aclnn_py.errors import AclnnPyError, StatusError
from aclnn_py.operators.launch.observers import (
    Launch,
    Observer,
    add_observer,
    observers,
    remove_observer,
)
from aclnn_py.operators.record.file import RecordWriter
from aclnn_py.operators.record.sketch import CallSketch, about_this_process

__all__ = ["record"]

_LIMIT = "ACLNN_PY_RECORD_LIMIT"
_USUAL_LIMIT_NBYTES = 1 << 30


class record:
    """Keep every operator call of a ``with`` block, with its data, in a file.

    Each call waits for the device before and after it, so use this to find mistakes and not to
    measure time. The file has the memory of the tensors before the call and what the call wrote;
    ``aclnn-py replay FILE`` runs the calls again on either device. Phase two of a plan is a call,
    and so is a refused phase one. Launches into a graph that is being captured are left out,
    because they do not run.

    Parameters
    ----------
    path : str or os.PathLike
        The file; an existing one is replaced. ``%p`` stands for the process number, ``%r`` for the
        rank (variable ``RANK``, 0 without it). docs/record_format.md describes the format.

    Attributes
    ----------
    calls : int
        How many calls were recorded so far.
    left_out : int
        How many launches were left out: those that a graph captured, and those that could not be
        recorded.
    failure : Exception or None
        Why there is no record, for example a full disk; then an earlier file of this name is
        unchanged. A warning at the end of the block says so too, and the block is not disturbed.

    Raises
    ------
    OSError
        At the start of the block: the file cannot be created.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = for_this_process(path)
        self._keeper: _Keeper | None = None

    @property
    def calls(self) -> int:
        """How many calls were recorded."""
        return 0 if self._keeper is None else self._keeper.calls

    @property
    def left_out(self) -> int:
        """How many launches were left out."""
        return 0 if self._keeper is None else self._keeper.left_out

    @property
    def failure(self) -> Exception | None:
        """Why there is no record; None while it can be written."""
        return None if self._keeper is None else self._keeper.failure

    def __enter__(self) -> record:
        if self._keeper is not None and self._keeper in observers():
            raise RuntimeError("this record is under way already: leave its block first")
        writer = RecordWriter(self._path)
        self._keeper = _Keeper(lambda: writer)
        self._keeper.open()
        add_observer(self._keeper)
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        assert self._keeper is not None
        remove_observer(self._keeper)
        failure = self._keeper.close()
        lost = [f"{calls} calls are left out: {why}" for why, calls in self._keeper.lost.items()]
        if failure is not None:
            lost = [f"nothing was recorded: {failure}"]
        if lost:
            text = f"aclnn_py.tools.record: {self._path}: {'; '.join(lost)}"
            warnings.warn(text, RuntimeWarning, stacklevel=2)


def start_from_environment(path: str) -> None:
    """Record until the process ends; the package calls it for ACLNN_PY_RECORD.

    The first call creates the file, so processes that inherit the variable and make no call do not
    touch it. Each call is in the file when it returns.
    """

    def opened() -> RecordWriter:
        target = for_this_process(path)
        if os.path.isdir(target):
            target = os.path.join(target, f"{os.getpid()}.rec")
        return RecordWriter(target, about_this_process(), journal=True)

    def say(text: str) -> None:
        warnings.warn(f"ACLNN_PY_RECORD: {path}: {text}", RuntimeWarning, stacklevel=2)

    limit = nbytes_of(_LIMIT, _USUAL_LIMIT_NBYTES)
    keeper = _Keeper(opened, limit, say)
    add_observer(keeper)
    atexit.register(keeper.close)


class _Keeper(Observer):
    """Writes launches into a record, which it opens with the first one.

    Parameters
    ----------
    opened : callable
        Returns the writer.
    limit_nbytes : int, optional
        Of the file; calls that would exceed it are left out.
    say : callable, optional
        Told at once what is left out, and that the record has ended.
    """

    def __init__(
        self,
        opened: Callable[[], RecordWriter],
        limit_nbytes: int | None = None,
        say: Callable[[str], None] | None = None,
    ) -> None:
        self.calls = self.left_out = 0
        self.lost: dict[str, int] = {}  # calls that could not be recorded, by the reason
        self.failure: Exception | None = None
        self._closed = False
        self._opened = opened
        self._open: RecordWriter | None = None
        self._limit = limit_nbytes
        self._say = say
        self._process = os.getpid()
        self._lock = threading.Lock()  # threads write their launches one after the other
        self._begun: dict[Launch, tuple[CallSketch, list[str | None]]] = {}

    def before(self, launch: Launch) -> None:
        if launch.op is None or os.getpid() != self._process:
            return  # a graph, or a forked child: the file is its parent's
        if launch.stream.state.capturing():
            self._leave_out(launch, "a graph captures it, so it does not run")
            return
        with self._leaving_out(launch):
            sketch = CallSketch(launch.op, launch.values)
            over = False
            with self._lock, self._stopping():
                if self._closed:
                    return
                writer = self.open()
                over = self._limit is not None and writer.nbytes + 2 * sketch.nbytes > self._limit
                if not over:
                    self._begun[launch] = sketch, sketch.keep(writer)
            if over:
                self._leave_out(
                    launch, f"the record has reached its limit of {self._limit} bytes ({_LIMIT})"
                )

    def open(self) -> RecordWriter:
        """Return the writer; its first use makes the file."""
        if self._open is None:
            self._open = self._opened()
        return self._open

    def _leave_out(self, launch: Launch, why: str) -> None:
        self.left_out += 1
        if self._say is None:
            return
        with self._lock, self._stopping():
            if self._closed:
                return
            name = launch.op.c_name if launch.op is not None else launch.name
            if self.open().leave_out(name, why):
                self._say(f"{name} is left out: {why}")

    def after(self, launch: Launch) -> None:
        begun = self._begun.pop(launch, None)
        if begun is None:
            return
        if launch.error is None and launch.kind == "plan":
            return  # its run is the call
        if launch.error is not None and not isinstance(launch.error, StatusError):
            return  # refused before the library was asked
        with self._leaving_out(launch):
            self._complete(launch, *begun)

    def _complete(self, launch: Launch, sketch: CallSketch, before: list[str | None]) -> None:
        failure = launch.error if isinstance(launch.error, StatusError) else None
        fault: StatusError | None = None
        after: list[str | None] = [None] * len(before)
        if failure is None:
            try:
                launch.stream.synchronize()
                with self._lock, self._stopping():
                    if self._closed:
                        return  # the block has ended meanwhile
                    after = sketch.keep(self.open(), written_only=True)
            except StatusError as error:
                failure = fault = error
        stage = ""
        if failure is not None:
            late = "phase two" if launch.phase_two_status else "phase one"
            stage = "device" if fault is not None else late
        call = sketch.finish(
            before,
            after,
            status=0 if failure is None else failure.status,
            stage=stage,
            message="" if failure is None else str(failure),
            line=launch.line,
        )
        with self._lock, self._stopping():
            if not self._closed:
                self.open().add(call)
                self.calls += 1
        if fault is not None:
            raise fault

    @contextlib.contextmanager
    def _leaving_out(self, launch: Launch) -> Iterator[None]:
        """Leave out a call that cannot be recorded: the program makes it all the same.

        A status of the library is the program's own fault, which it has to hear of.
        """
        try:
            yield
        except StatusError:
            raise
        except Exception as error:
            why = f"{type(error).__name__}: {error}"
            self.lost[why] = self.lost.get(why, 0) + 1
            self._leave_out(launch, why)

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """When the file cannot be written, end the record and not the program.

        Errors of the package are about the memory of a call and not about the file.
        """
        try:
            yield
        except AclnnPyError:
            raise
        except Exception as error:
            self._stop(error)

    def _stop(self, error: Exception) -> None:
        self._closed = True
        self.failure = error
        if isinstance(error, OSError):
            path = error.filename if self._open is None else self._open.path
            self.failure = OSError(error.errno, error.strerror, path and os.fspath(path))
        if self._open is not None:
            self._open.discard()
        remove_observer(self)
        if self._say is not None:
            why = error.strerror if isinstance(error, OSError) else f"{error!r}"
            self._say(f"{why}; the record ends here, after {self.calls} calls")

    def close(self) -> Exception | None:
        """Complete the file, or return why there is none.

        Calls of other threads that are under way are not in it.
        """
        if self._open is None:
            return self.failure
        if os.getpid() != self._process:
            self._open.leave_to_parent()
            return None
        with self._lock:
            if not self._closed:
                self._closed = True
                self._open.about.update(about_this_process())
                try:
                    self._open.close()
                except Exception as error:
                    self.failure = error
                    if self._say is not None:
                        self._say(f"{error}; the record has no end")
            return self.failure
