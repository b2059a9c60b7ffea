# SPDX-License-Identifier: Apache-2.0
"""Errors in OpenAI's form, and bodies of requests within limits of size, time and memory."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass
from typing import Any

from starlette.requests import ClientDisconnect, Request
from starlette.responses import JSONResponse


@dataclass(frozen=True)
class Limits:
    """What one request may take, and all of them together."""

    body_nbytes: int = 1 << 20
    all_bodies_nbytes: int = 64 << 20
    refused_nbytes: int = 16 << 20
    """A refused body is read up to here: a client that still sends does not see the answer."""
    read_s: float = 10.0
    answer_s: float = 600.0
    choices: int = 8
    """Answers to one request, over all of its prompts."""


class RefusalError(Exception):
    """An error that is sent as the answer; ``param`` names the field it is about."""

    def __init__(
        self, status: int, text: str, *, param: str | None = None, retry_s: int | None = None
    ) -> None:
        super().__init__(text)
        self.status = status
        self.param = param
        self.retry_s = retry_s

    def body(self) -> dict[str, Any]:
        """The error as OpenAI's clients expect it."""
        kind = "invalid_request_error" if self.status < 500 else "server_error"
        names = {404: "not_found", 413: "too_large", 503: "overloaded", 504: "timeout"}
        error = {"message": str(self), "type": kind, "param": self.param}
        return {"error": {**error, "code": names.get(self.status)}}

    def response(self) -> JSONResponse:
        headers = {} if self.retry_s is None else {"Retry-After": str(self.retry_s)}
        return JSONResponse(self.body(), self.status, headers)


class Intake:
    """Reads bodies; knows how many bytes of them are held at the moment."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._held = 0

    async def json(self, request: Request, refusal: RefusalError | None = None) -> dict[str, Any]:
        """The body as a JSON object. ``refusal`` is raised once the body was read and dropped."""
        announced = request.headers.get("content-length", "")
        if announced.isdecimal() and int(announced) > self._limits.body_nbytes:
            refusal = refusal or self._too_large()
        if refusal is not None and "expect" in request.headers:
            raise refusal  # the client asks before it sends
        parts: list[bytes] = []
        try:
            await asyncio.wait_for(self._read(request, parts, refusal), self._limits.read_s)
            return _parsed(b"".join(parts))
        except asyncio.TimeoutError:
            raise RefusalError(408, f"the body took over {self._limits.read_s} s") from None
        except ClientDisconnect:
            raise RefusalError(400, "the body is not complete") from None
        finally:
            self._held -= sum(map(len, parts))

    async def _read(
        self, request: Request, parts: list[bytes], refusal: RefusalError | None
    ) -> None:
        limits, seen = self._limits, 0
        async for part in request.stream():
            seen += len(part)
            if seen > limits.refused_nbytes:
                break
            if refusal is None and seen > limits.body_nbytes:
                refusal = self._too_large()
            if refusal is None and self._held + len(part) > limits.all_bodies_nbytes:
                refusal = RefusalError(503, f"requests hold {self._held} bytes", retry_s=1)
            if refusal is None:
                parts.append(part)
                self._held += len(part)
        if refusal is not None:
            raise refusal

    def _too_large(self) -> RefusalError:
        return RefusalError(413, f"the body has more than {self._limits.body_nbytes} bytes")


def _parsed(body: bytes) -> dict[str, Any]:
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise RefusalError(400, f"the body is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise RefusalError(400, "the body is not a JSON object")
    return value
