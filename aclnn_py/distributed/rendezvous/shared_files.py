# SPDX-License-Identifier: Apache-2.0
"""Files that ranks exchange in a shared directory: signed, and checked before they are used."""

from __future__ import annotations

import contextlib
import errno
import os
import re
import secrets
import stat
from pathlib import Path
from typing import Any

from aclnn_py.distributed.rendezvous.messages import (
    FILE_BODIES,
    FILE_ENVELOPE,
    PROTOCOL_VERSION,
    Message,
    decode,
    encode,
    proof,
    proves,
)
from aclnn_py.errors.ranks import RendezvousError

__all__ = ["SharedFiles"]

_OF_A_SESSION = re.compile(r"\.?([0-9a-f]{32})\..+")
_ABSENT = {errno.ENOENT, errno.ESTALE}


class SharedFiles:
    """The files of a job in one directory.

    Every file is written completely and then renamed, so a reader never sees half of one. Anybody
    who can write to the directory can put anything there: a pipe, a link, a device or an endless
    file. So a file is opened without waiting and without following links, and it is read only when
    it is a regular file of limited size.

    Parameters
    ----------
    directory : str
        Absolute path; created if absent, for its owner only.
    token : str
        Secret of the job. When it is empty, only files of this user belong to the job.

    Raises
    ------
    RendezvousError
        The directory cannot be created.
    """

    def __init__(self, directory: str, token: str) -> None:
        self.directory = Path(directory)
        self._token = token
        self._written: list[Path] = []
        try:
            self.directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        except (OSError, ValueError) as error:
            raise RendezvousError(
                f"the rendezvous directory {directory} cannot be made: {_reason(error)}."
            ) from error

    def write(self, name: str, kind: str, **fields: Any) -> None:
        """Write a file of this job, replacing an earlier one.

        Raises
        ------
        RendezvousError
            The file cannot be written, or something that is not a file has its name.
        """
        body = encode({"type": kind, **fields}, FILE_BODIES).decode()
        envelope: Message = {
            "type": "file",
            "version": PROTOCOL_VERSION,
            "body": body,
            "proof": proof(self._token, PROTOCOL_VERSION, name, body),
        }
        data = encode(envelope, FILE_ENVELOPE)
        path = self.directory / name
        temporary = self.directory / f".{name}.{secrets.token_hex(8)}"
        try:
            descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
            try:
                with os.fdopen(descriptor, "wb") as stream:
                    stream.write(data)
                os.replace(temporary, path)
            except BaseException:
                with contextlib.suppress(OSError):
                    temporary.unlink()
                raise
        except OSError as error:
            raise RendezvousError(
                f"{path} cannot be written: {_reason(error)}: give the job a directory of its own."
            ) from error
        if path not in self._written:
            self._written.append(path)

    def read(self, name: str, kind: str) -> Message | None:
        """Return the message of a file, or None when it is absent or belongs to another job.

        Raises
        ------
        RendezvousError
            What has this name is no rendezvous file.
        """
        data = self._bytes_of(name)
        if data is None:
            return None
        try:
            envelope = decode(data, FILE_ENVELOPE)
            if envelope["version"] != PROTOCOL_VERSION:
                return None
            body = envelope["body"]
            if not proves(envelope["proof"], self._token, PROTOCOL_VERSION, name, body):
                return None
            message = decode(body.encode(), FILE_BODIES)
        except RendezvousError as error:
            raise self._foreign(name, str(error)) from error
        if message["type"] != kind:
            raise self._foreign(name, f"it holds a {message['type']!r} message")
        return message

    def remove_all_but_newest(self) -> None:
        """Remove what this object wrote, except the last file, which others may still read."""
        while len(self._written) > 1:
            # A file that stays does no harm: later jobs see that it is stale.
            with contextlib.suppress(OSError):
                self._written.pop(0).unlink()

    def remove_other_sessions(self, session: str) -> None:
        """Remove this user's files of earlier sessions."""
        for entry in list(os.scandir(self.directory)):
            match = _OF_A_SESSION.fullmatch(entry.name)
            if match is not None and match[1] != session:
                # Another rank may have removed it first, and other users' files are not ours.
                with contextlib.suppress(OSError):
                    if entry.stat(follow_symlinks=False).st_uid == os.geteuid():
                        os.unlink(entry.path)

    def _bytes_of(self, name: str) -> bytes | None:
        flags = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC | os.O_NOCTTY
        try:
            descriptor = os.open(self.directory / name, flags)
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            link = error.errno == errno.ELOOP
            raise self._foreign(name, "it is a link" if link else _reason(error)) from error
        try:
            return self._read_all(name, descriptor)
        except RendezvousError:
            raise
        except OSError as error:
            if error.errno in _ABSENT:
                return None
            raise self._foreign(name, _reason(error)) from error
        finally:
            os.close(descriptor)

    def _read_all(self, name: str, descriptor: int) -> bytes:
        about = os.fstat(descriptor)
        if not stat.S_ISREG(about.st_mode):
            raise self._foreign(name, "it is not a regular file")
        if not self._token and about.st_uid != os.geteuid():
            raise self._foreign(
                name,
                f"it belongs to user {about.st_uid}; without ACLNN_PY_JOB_TOKEN only files of"
                f" user {os.geteuid()} are of the job",
            )
        limit = FILE_ENVELOPE.max_nbytes
        if about.st_size > limit:
            raise self._foreign(name, f"it has {about.st_size} bytes; {limit} are allowed")
        # Reading one byte more than is allowed shows whether the file has grown.
        parts = []
        while limit >= 0 and (part := os.read(descriptor, limit + 1)):
            parts.append(part)
            limit -= len(part)
        return b"".join(parts)

    def _foreign(self, name: str, why: str) -> RendezvousError:
        return RendezvousError(
            f"{self.directory / name} is not a rendezvous file: give the job a directory of its own"
            f" ({why})."
        )


def _reason(error: Exception) -> str:
    return (error.strerror if isinstance(error, OSError) else None) or str(error)
