# SPDX-License-Identifier: Apache-2.0
"""Record operator calls with their data in a file, to run them again elsewhere."""

from __future__ import annotations

import contextlib
import os
import threading
import warnings
from collections.abc import Iterator
from types import TracebackType

from aclnn_py._ffi.settings import for_this_process
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
        How many launches were left out, because a graph was being captured.

    Raises
    ------
    OSError
        At the start of the block: the file cannot be created. At its end: the file could not be
        written; then an earlier file of this name is unchanged.
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

    def __enter__(self) -> record:
        if self._keeper is not None and self._keeper in observers():
            raise RuntimeError("this record is under way already: leave its block first")
        self._keeper = _Keeper(RecordWriter(self._path))
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
        if failure is None:
            return
        if value is None:
            raise failure
        warnings.warn(f"nothing was recorded: {failure}", RuntimeWarning, stacklevel=2)


class _Keeper(Observer):
    """Writes launches into a record."""

    def __init__(self, writer: RecordWriter) -> None:
        self.calls = self.left_out = 0
        self._failure: OSError | None = None
        self._writer = writer
        self._process = os.getpid()
        self._lock = threading.Lock()  # threads write their launches one after the other
        self._begun: dict[Launch, tuple[CallSketch, list[str | None]]] = {}

    def before(self, launch: Launch) -> None:
        if launch.op is None or self._failure is not None:
            return
        if launch.stream.state.capturing():
            self.left_out += 1
            return
        sketch = CallSketch(launch.op, launch.values)
        with self._lock, self._stopping():
            self._begun[launch] = sketch, sketch.keep(self._writer)

    def after(self, launch: Launch) -> None:
        begun = self._begun.pop(launch, None)
        if begun is None:
            return
        sketch, before = begun
        failure = launch.error
        fault: StatusError | None = None
        if failure is None and launch.kind == "plan":
            return  # its run is the call
        if failure is not None and not isinstance(failure, StatusError):
            return  # refused before the library was asked
        after: list[str | None] = [None] * len(before)
        if failure is None:
            try:
                launch.stream.synchronize()
                with self._lock, self._stopping():
                    after = sketch.keep(self._writer, written_only=True)
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
        with self._lock:
            self._writer.add(call)
            self.calls += 1
        if fault is not None:
            raise fault

    @contextlib.contextmanager
    def _stopping(self) -> Iterator[None]:
        """When the file cannot be written, end the record and not the program."""
        try:
            yield
        except OSError as error:
            if isinstance(error, AclnnPyError):
                raise
            self._failure = OSError(error.errno, error.strerror, os.fspath(self._writer.path))
            self._writer.discard()
            remove_observer(self)

    def close(self) -> OSError | None:
        """Complete the file, or return why there is none."""
        if os.getpid() != self._process:
            self._writer.leave_to_parent()
            return None
        with self._lock:
            if self._failure is None:
                self._writer.about.update(about_this_process())
                try:
                    self._writer.close()
                except OSError as error:
                    self._failure = error
            return self._failure
