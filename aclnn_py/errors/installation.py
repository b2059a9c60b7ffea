# SPDX-License-Identifier: Apache-2.0
"""What an installation should have and does not: libraries and the functions in them."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from aclnn_py import late
from aclnn_py.errors.base import AclnnPyError, verdict_on

__all__ = ["LibraryLoadError", "LibraryNotFoundError", "SymbolNotFoundError"]


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
        text: str = late.explanation.explain_missing(self)
        return text

    def _with_verdict(self, text: str) -> str:
        return "\n".join([text, *(f"  {line}" for line in self.verdict.splitlines())])

    def _kept(self) -> dict[str, Any]:
        _ = self.verdict  # it is about this machine, whoever reads it
        return super()._kept()


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
