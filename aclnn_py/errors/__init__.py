# SPDX-License-Identifier: Apache-2.0
"""Exception and warning classes. Nothing but the standard library and data below it, so that every
layer may import it.

A failed C call raises a class with two independent axes: which library said it (``AclError``,
``AclnnError``, ``HcclError``) and what kind of failure it is (``InvalidArgumentError``,
``OutOfMemoryError``, ...). Each kind also inherits the builtin a Python programmer would catch. The
combinations, such as ``AclnnInvalidArgumentError``, are built once from the two tables below.
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

from aclnn_py.errors.evidence import Argument, BrokenRule

__all__ = [
    "AclError",
    "AclnnError",
    "AclnnPyError",
    "AllocatorError",
    "Argument",
    "BrokenRule",
    "CaptureError",
    "CheckArgumentError",
    "CheckClosedError",
    "CheckError",
    "CheckWarning",
    "ClosedError",
    "CommunicationError",
    "DeviceError",
    "DeviceMismatchError",
    "DeviceTimeoutError",
    "ForkError",
    "HcclError",
    "InvalidArgumentError",
    "LibraryLoadError",
    "LibraryNotFoundError",
    "NotSupportedError",
    "OutOfMemoryError",
    "ReleaseWarning",
    "StatusError",
    "SymbolNotFoundError",
    "status_error",
]


_MAX_LINES = 40
_MAX_WIDTH = 500


class ReleaseWarning(ResourceWarning):
    """A C object could not be released; the text names the routine and the status."""


def _restore(
    cls: type[BaseException], args: tuple[Any, ...], state: dict[str, Any]
) -> BaseException:
    error = cls(*args)
    error.__dict__.update(state)
    return error


class AclnnPyError(Exception):
    """Base of every exception this package raises on its own account."""

    def __reduce__(self) -> tuple[Any, ...]:
        # Errors travel between the ranks of one job. Every class takes one positional argument; the
        # rest of its state is keyword-only, which the default protocol would lose.
        return _restore, (type(self), self.args, dict(self.__dict__))

    def diagnosis(self) -> list[Any]:
        """Return what the doctor finds wrong with the installation, where that is a likely cause.

        Only files are read. `aclnn-py doctor` prints the same, and more.

        Returns
        -------
        list of aclnn_py.tools.doctor.Finding
            Errors, then warnings; empty when the installation looks well, and for exceptions that
            it does not cause.
        """
        # By name: exceptions stand below everything, and whoever asks has time to load the rest.
        findings: list[Any] = import_module("aclnn_py.tools.doctor").findings_for(self)
        return findings


def _shortened(lines: list[str], attribute: str) -> list[str]:
    """Lines of a message: a list of a thousand tensors must not bury what it says."""
    shown = [
        line if len(line) <= _MAX_WIDTH else f"{line[:_MAX_WIDTH]}... ({len(line)} characters)"
        for line in lines[:_MAX_LINES]
    ]
    left = len(lines) - len(shown)
    return [*shown, f"... and {left} more, see `{attribute}` of the exception"] if left else shown


def verdict_on(fault: AclnnPyError) -> str:
    """Return the findings of ``diagnosis`` as text, one per line."""
    return "\n".join(
        f"installation: {' '.join(filter(None, (found.seen, found.why, found.action)))}"
        for found in fault.diagnosis()
    )


class ClosedError(AclnnPyError, RuntimeError):
    """An object was used after it was closed, or an executor after it was consumed."""


class CaptureError(AclnnPyError, RuntimeError):
    """A call that the capture of a graph forbids, or a graph in a state that does not allow it.

    ``call`` is what was called, for example ``"Tensor.numpy"``.
    """

    def __init__(self, message: str, *, call: str = "") -> None:
        super().__init__(message)
        self.call = call


class CheckError(AclnnPyError, RuntimeError):
    """The checker (``ACLNN_PY_CHECK=1``) found a mistake.

    Attributes
    ----------
    fault : str
        Which one, for example ``"double destroy"``.
    stacks : tuple of tuple of str
        What happened and the Python lines that did it, in order of time: where the object was made,
        where it was destroyed or launched, where the fault showed.
    """

    def __init__(
        self, message: str, *, fault: str = "", stacks: Iterable[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message)
        self.fault = fault
        self.stacks = tuple(stacks)

    def __str__(self) -> str:
        parts = [str(self.args[0])]
        for what, lines in self.stacks:
            parts.append(f"  {what}:")
            parts += [f"    {line}" for line in lines.rstrip().splitlines()]
        return "\n".join(parts)


class CheckClosedError(CheckError, ClosedError):
    """The checker found that something destroyed, consumed or freed was used."""


class CheckWarning(RuntimeWarning):
    """The checker found a mistake that has happened already; the text holds both stacks."""


class ForkError(AclnnPyError, RuntimeError):
    """The process was forked after the runtime was initialised; start workers with ``spawn``."""


class _MissingError(AclnnPyError):
    """Something that an installation should have is not there."""

    _verdict: str | None = None

    @property
    def verdict(self) -> str:
        """What the doctor finds wrong with the installation, one finding per line, or "".

        The files are read when somebody asks: programs also ask whether a function exists, and
        catch the answer.
        """
        if self._verdict is None:
            try:
                self._verdict = verdict_on(self)
            except Exception as fault:  # the message of this exception must not be lost over it
                self._verdict = f"installation: it could not be examined: {fault!r}"
        return self._verdict

    def explain(self) -> str:
        """Return everything that is known about this failure.

        The message with the verdict about the installation, and what the documents say about an
        operator that is missing.

        Returns
        -------
        str
            Several paragraphs.
        """
        from aclnn_py.errors.explanation import explain_missing

        return explain_missing(self)

    def _with_verdict(self, text: str) -> str:
        return "\n".join([text, *(f"  {line}" for line in self.verdict.splitlines())])

    def __reduce__(self) -> tuple[Any, ...]:
        _ = self.verdict  # it is about this machine, whoever reads it
        return super().__reduce__()


class LibraryNotFoundError(_MissingError, OSError):
    """No library of the wanted device is installed.

    ``library`` is the name that was wanted; ``searched`` holds ``(place, reason)`` pairs in search
    order; ``verdict`` is what ``aclnn-py doctor`` finds wrong.
    """

    def __init__(
        self, message: str, *, library: str = "", searched: Iterable[tuple[str, str]] = ()
    ) -> None:
        super().__init__(message)
        self.library = library
        self.searched = tuple((str(place), str(reason)) for place, reason in searched)

    def __str__(self) -> str:
        lines = [str(self.args[0])] + [f"  {place}: {reason}" for place, reason in self.searched]
        return self._with_verdict("\n".join(lines))


class LibraryLoadError(LibraryNotFoundError):
    """A library is present but cannot be used; ``searched`` has the reason."""


class SymbolNotFoundError(_MissingError, NotImplementedError):
    """The loaded libraries have no such function.

    ``symbol`` is the C name, ``libraries`` the files that were asked in order, ``since`` the first
    CANN release known to have it (empty when unknown), ``available`` the close names that do exist.
    ``verdict`` is what ``aclnn-py doctor`` finds wrong where they are those of an NPU
    (``device="npu"``): the emulator comes with the package and has what it has.
    """

    def __init__(
        self,
        symbol: str,
        *,
        libraries: Iterable[str] = (),
        version: str = "",
        since: str = "",
        available: Iterable[str] = (),
        detail: str = "",
        device: str = "",
    ) -> None:
        super().__init__(symbol)
        self.symbol = symbol
        self.libraries = tuple(str(name) for name in libraries)
        self.version = version
        self.since = since
        self.available = tuple(available)
        self.detail = detail
        self.device = device

    @property
    def verdict(self) -> str:
        """What the doctor finds wrong with the installation, or ""."""
        return super().verdict if self.device == "npu" else ""

    def __str__(self) -> str:
        where = ", ".join(self.libraries) if self.libraries else "no library is loaded"
        loaded = f" (CANN {self.version})" if self.version else ""
        text = f"{self.symbol} is not in the loaded libraries{loaded}: {where}."
        if self.since:
            text += f" CANN has it since {self.since}."
        if self.available:
            text += f" These exist: {', '.join(self.available)}."
        return self._with_verdict(f"{text} {self.detail}" if self.detail else text)


class StatusError(AclnnPyError, RuntimeError):
    """A C function returned a status other than zero.

    Attributes
    ----------
    status, status_name : int, str
        The number and its name in CANN's headers.
    routine : str
        The C function that returned it.
    library : str
        ``"acl"``, ``"aclnn"`` or ``"hccl"``.
    meaning : str
        What the number means, in one line.
    detail : str
        The library's own message, as it was pending on this thread.
    broken : tuple of BrokenRule
        The documented rules that the arguments do not keep.
    hint : str
        What to do next, where that is known.
    arguments : tuple of Argument
        The arguments of the call.
    rank, device, stream : int or None
        Where the call was made, as far as it is known.
    verdict : str
        What is wrong with the installation, where the status speaks of that and it was examined.
    launches : tuple of str
        Of a fault of the device: the launches it may come from, newest last, and how to find the
        one.
    """

    library = ""

    def __init__(
        self,
        status: int,
        *,
        status_name: str = "",
        routine: str = "",
        library: str = "",
        meaning: str = "",
        detail: str = "",
        broken: Iterable[BrokenRule] = (),
        hint: str = "",
        arguments: Iterable[Argument] = (),
        rank: int | None = None,
        device: int | None = None,
        stream: int | None = None,
        verdict: str = "",
    ) -> None:
        super().__init__(status)
        self.status = int(status)
        self.status_name = status_name or "UNKNOWN_STATUS"
        self.routine = routine
        self.library = library or type(self).library
        self.meaning = meaning.strip()
        self.detail = detail.strip()
        self.broken = tuple(broken)
        self.hint = hint.strip()
        self.arguments = tuple(arguments)
        self.rank = rank
        self.device = device
        self.stream = stream
        self.verdict = verdict.strip()
        self.launches: tuple[str, ...] = ()
        self.call: Any = None

    def __str__(self) -> str:
        words = self.detail.splitlines()
        rules = _shortened([str(rule) for rule in self.broken], "broken")
        # The library's own words come first: the documents are sometimes narrower than the library.
        headline = next((lines.pop(0) for lines in (words, rules) if lines), self.meaning)
        text = f"{self.routine}: {self.status_name} ({self.status})"
        if headline:
            text += f": {headline}"
        place = [
            f"{name} {value}"
            for name, value in (
                ("rank", self.rank),
                ("device", self.device),
                ("stream", self.stream),
            )
            if value is not None
        ]
        if place:
            text += f" [{', '.join(place)}]"
        lines = [text, *(f"  {line}" for line in words), *(f"  broken rule: {r}" for r in rules)]
        if self.hint:
            lines.append(f"  next: {self.hint}")
        echoed = _shortened([str(argument) for argument in self.arguments], "arguments")
        lines += [f"  {argument}" for argument in echoed]
        lines += [f"  {line}" for line in self.launches]
        lines += [f"  {line}" for line in self.verdict.splitlines()]
        if self.meaning:  # the number is a known one
            lines.append(f"  more: aclnn-py explain {self._key()}")
        return "\n".join(lines)

    def explain(self) -> str:
        """Return everything that is known about this failure.

        The message, then the meaning of the status and of each message code in the library's
        words, usual causes and what to check, then what the documents say about the operator.
        `aclnn-py explain` prints the same about a code.

        Returns
        -------
        str
            Several paragraphs; nothing outside the package is read.
        """
        from aclnn_py.errors.explanation import explain_error

        return explain_error(self)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the failed call and its data to a file, for ``aclnn-py replay``.

        Call it where the exception is caught: it does not keep the tensors of the call alive.

        Parameters
        ----------
        path : str or os.PathLike
            The file; one that exists is replaced.

        Raises
        ------
        ClosedError
            A tensor of the call is gone.
        ValueError
            The exception is not that of an operator's launch, or it comes from another process.
        """
        if self.call is None:
            raise ValueError(
                f"{self.routine}: there is no operator call to save; "
                "aclnn_py.tools.record(path) keeps whole blocks"
            )
        self.call.save(path, self.status, str(self))

    def __reduce__(self) -> tuple[Any, ...]:
        # Device memory stays in its process.
        return _restore, (type(self), self.args, {**self.__dict__, "call": None})

    def _key(self) -> str:
        # HCCL's numbers are small; alone they would not say whose they are.
        return self.status_name if self.library == "hccl" else str(self.status)


class AclError(StatusError):
    """The AscendCL runtime (``aclrt*``, ``acl*``) refused a call or reported a fault."""

    library = "acl"


class AclnnError(StatusError):
    """The operator library (``aclnn*``) refused a call."""

    library = "aclnn"


class HcclError(StatusError):
    """The communication library (``Hccl*``) refused a call or reported a fault."""

    library = "hccl"


class InvalidArgumentError(AclnnPyError, ValueError):
    """An argument is outside what the function takes."""


class CheckArgumentError(CheckError, InvalidArgumentError):
    """The checker found an argument that the device would read or write where it must not."""


class DeviceMismatchError(InvalidArgumentError):
    """A tensor, buffer or stream belongs to another device than the call."""


class OutOfMemoryError(AclnnPyError, MemoryError):
    """Host or device memory is exhausted."""


class AllocatorError(AclnnPyError, RuntimeError):
    """A function given to ``set_allocator`` failed or returned no usable address."""


class DeviceTimeoutError(AclnnPyError, TimeoutError):
    """A wait for the device or for another rank expired."""


class NotSupportedError(AclnnPyError, NotImplementedError):
    """The library or the device does not have the feature."""


class DeviceError(AclnnPyError, RuntimeError):
    """The device reported a fault, usually of work queued before the call that raises."""


class CommunicationError(AclnnPyError, ConnectionError):
    """The link to another rank failed, or the rank is gone."""


_LIBRARIES: Mapping[str, type[StatusError]] = {
    "acl": AclError,
    "aclnn": AclnnError,
    "hccl": HcclError,
}
_KINDS: Mapping[str, type[AclnnPyError]] = {
    "InvalidArgument": InvalidArgumentError,
    "OutOfMemory": OutOfMemoryError,
    "Timeout": DeviceTimeoutError,
    "NotSupported": NotSupportedError,
    "Device": DeviceError,
    "Communication": CommunicationError,
}


def _combine(
    prefix: str, kind_name: str, library: type[StatusError], kind: type[AclnnPyError]
) -> type[StatusError]:
    name = f"{prefix.capitalize()}{kind_name}Error"
    doc = f"{library.__name__} and {kind.__name__} in one."
    body = {"__module__": __name__, "__qualname__": name, "__doc__": doc}
    return type(name, (library, kind), body)


_COMBINED: dict[tuple[str, str], type[StatusError]] = {
    (prefix, kind_name): _combine(prefix, kind_name, library, kind)
    for prefix, library in _LIBRARIES.items()
    for kind_name, kind in _KINDS.items()
}
# Pickle finds a class by its name in its module.
globals().update({cls.__name__: cls for cls in _COMBINED.values()})

_TIMEOUTS = frozenset({
    100036, 107019, 107020, 207020, 507012, 507014, 507017, 507034,
    507046, 507047, 507048, 507905, 507915,
})  # fmt: skip
_MEMORY = frozenset({200000, 207001, 207018})
_UNSUPPORTED = frozenset({
    148050, 148052, 200001, 200006, 200007, 207000, 207019, 207021, 507009,
})  # fmt: skip
_ARGUMENTS = frozenset({100000, 100011, 100026, 100027, 200003, 200004, 200005})
_HCCL_KINDS: Mapping[int, str] = {
    1: "InvalidArgument",
    2: "InvalidArgument",
    3: "OutOfMemory",
    5: "NotSupported",
    9: "Timeout",
    11: "Communication",
    12: "Communication",
    13: "Communication",
    14: "Communication",
    19: "Communication",
    21: "Communication",
    24: "OutOfMemory",
}


def _kind_of(library: str, status: int) -> str | None:
    # aclError and aclnnStatus share one number space; HcclResult has its own.
    if library == "hccl":
        return _HCCL_KINDS.get(status)
    if status in _TIMEOUTS:
        return "Timeout"
    if status in _MEMORY:
        return "OutOfMemory"
    if status in _UNSUPPORTED:
        return "NotSupported"
    if status in _ARGUMENTS or status // 1000 in (107, 161):
        return "InvalidArgument"
    if status // 1000 == 507:
        return "Device"
    return None


def status_class(library: str, status: int) -> type[StatusError]:
    """Return the class that both axes give for one status of one library."""
    kind = _kind_of(library, status)
    return _LIBRARIES[library] if kind is None else _COMBINED[library, kind]


def status_error(library: str, status: int, **fields: Any) -> StatusError:
    """Build the exception for one status.

    Parameters
    ----------
    library : str
        ``"acl"``, ``"aclnn"`` or ``"hccl"``.
    status : int
        The status, not zero.
    **fields
        The other attributes of ``StatusError``, all optional.

    Returns
    -------
    StatusError
        An instance of the class that both axes give; it is not raised.
    """
    return status_class(library, status)(status, **fields)
