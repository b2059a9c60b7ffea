# SPDX-License-Identifier: Apache-2.0
"""What a request may bring: bodies within limits of size, time and memory, and texts in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request

REFUSED_BODIES = 16
"""Of a refused body so many times the largest allowed one is read before the answer."""
_EXPECTED = 'expected {"texts": ["...", ...]}'


@dataclass(frozen=True)
class Limits:
    """What one request may ask for, and all of them together."""

    body_nbytes: int = 1 << 20
    all_bodies_nbytes: int = 64 << 20
    texts: int = 64
    read_s: float = 10.0
    answer_s: float = 60.0


class RefusalError(Exception):
    """An answer that is an error."""

    def __init__(self, status: int, text: str, retry_s: int | None = None) -> None:
        super().__init__(text)
        self.status = status
        self.headers = {} if retry_s is None else {"Retry-After": str(retry_s)}


class Bodies:
    """The bodies that are in memory."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held_nbytes = 0

    @asynccontextmanager
    async def read(self, request: Request, refusal: Exception | None) -> AsyncIterator[bytes]:
        """Give the whole body for some time, or raise ``refusal`` or one that the body deserves.

        A body that is refused is read nevertheless, up to a point, and thrown away: closing a
        connection on which the client still sends would take the answer along.
        """
        announced = request.headers.get("content-length", "")
        if refusal is None and announced.isdecimal():
            refusal = self._too_large(int(announced))
        if refusal is not None and "expect" in request.headers:
            raise refusal  # the client asked before it sends
        body = bytearray()
        try:
            filled = self._fill(body, request, refusal)
            try:
                await asyncio.wait_for(filled, self._limits.read_s)
            except asyncio.TimeoutError:
                raise RefusalError(408, f"the body took over {self._limits.read_s} s") from None
            except ClientDisconnect:
                raise RefusalError(400, "the body is not complete") from None
            yield bytes(body)
        finally:
            self._held_nbytes -= len(body)

    async def _fill(self, body: bytearray, request: Request, refusal: Exception | None) -> None:
        seen = 0
        async for chunk in request.stream():
            seen += len(chunk)
            refusal = refusal or self._too_large(seen) or self._too_many(len(chunk))
            if refusal is None:
                body += chunk
                self._held_nbytes += len(chunk)
            elif seen > REFUSED_BODIES * self._limits.body_nbytes:
                break
        if refusal is not None:
            raise refusal

    def _too_large(self, nbytes: int) -> RefusalError | None:
        most = self._limits.body_nbytes
        return RefusalError(413, f"the body has more than {most} bytes") if nbytes > most else None

    def _too_many(self, nbytes: int) -> RefusalError | None:
        if self._held_nbytes + nbytes <= self._limits.all_bodies_nbytes:
            return None
        text = f"other requests hold {self._held_nbytes} bytes"
        return RefusalError(503, text, retry_s=1)


def texts_of(body: bytes, most: int) -> list[str]:
    """The texts of a request, or what is wrong with it."""
    try:
        value: Any = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, f"the body is not JSON: {error}") from None
    if not isinstance(value, dict) or set(value) != {"texts"}:
        raise RefusalError(400, _EXPECTED)
    texts = value["texts"]
    if not isinstance(texts, list) or not texts:
        raise RefusalError(400, f"texts: {_EXPECTED}, with at least one text")
    if len(texts) > most:
        raise RefusalError(400, f"texts: {len(texts)} in one request; at most {most}")
    for index, text in enumerate(texts):
        if not isinstance(text, str):
            raise RefusalError(400, f"texts[{index}]: not a string")
        try:
            text.encode()
        except UnicodeEncodeError:
            raise RefusalError(
                400, f"texts[{index}]: half of a surrogate pair, which is no character"
            ) from None
    return texts
