# SPDX-License-Identifier: Apache-2.0
"""A status other than zero, by the library that returned it."""

from __future__ import annotations

import os
from collections.abc import Iterable
from typing import Any

from aclnn_py import late
from aclnn_py.errors.base import AclnnPyError
from aclnn_py.errors.evidence import Argument, BrokenRule, lines_of

__all__ = ["AclError", "AclnnError", "HcclError", "StatusError"]


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
        The library's own message.
    broken : tuple of BrokenRule
        The rule that the arguments break, as the emulator checks it; empty where the emulator
        accepts them or was not asked, which ``hint`` says.
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
        # The emulator's own message is the text of the rule.
        rules = [text for text in map(str, self.broken) if text not in self.detail]
        # The library's own words come first.
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
        lines += [f"  {line}" for line in lines_of(self.arguments)]
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
        text: str = late.explanation.explain_error(self)
        return text

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

    def _kept(self) -> dict[str, Any]:
        return {**super()._kept(), "call": None}  # device memory stays in its process

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
