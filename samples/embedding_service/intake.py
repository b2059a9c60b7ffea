# SPDX-License-Identifier: Apache-2.0
"""Limits of requests: size, time and memory of bodies, and the texts in them."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request

REFUSED_BODIES = 16
"""A refused body is read before the answer, up to this many times the largest allowed size."""
_EXPECTED = 'expected {"texts": ["...", ...]}'


@dataclass(frozen=True)
class Limits:
    """Limits of one request, and of all requests together."""

    body_nbytes: int = 1 << 20
    all_bodies_nbytes: int = 64 << 20
    texts: int = 64
    read_s: float = 10.0
    answer_s: float = 60.0


class RefusalError(Exception):
    """An error that is sent as the answer."""

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
        """Yield the whole body; raise ``refusal``, or the error of a body that breaks a limit.

        A refused body is still read, up to a limit, and dropped. A client that still sends when its
        connection is closed does not get the answer.
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
    """Return the texts of a request; raise what is wrong with it."""
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
