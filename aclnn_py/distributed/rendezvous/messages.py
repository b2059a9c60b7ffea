# SPDX-License-Identifier: Apache-2.0
"""All messages of a rendezvous with their fields, and the functions that read and write them.

A message may come from anybody: another program, another version, an attacker. So it is read only
where it is expected and only up to a limit of size and depth, and each field is checked against the
schemas below. Code that uses a message need not check it again.
"""

from __future__ import annotations

import hashlib
import hmac
import json
import math
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from aclnn_py.distributed.environment import MAX_WORLD_SIZE
from aclnn_py.errors.ranks import RendezvousError

__all__ = [
    "FILE_BODIES",
    "FILE_ENVELOPE",
    "GREETINGS",
    "HELLO",
    "MAX_TIMEOUT_S",
    "PROTOCOL_VERSION",
    "REPLIES",
    "REQUESTS",
    "Field",
    "Message",
    "Place",
    "checked_timeout",
    "decode",
    "encode",
    "lines",
    "one_line",
    "printable_lines",
    "proof",
    "proves",
    "require",
    "text",
    "whole",
]

PROTOCOL_VERSION = 2
MAX_TIMEOUT_S = 7 * 24 * 3600.0
"""Longest wait that a rank may request."""
MAX_REPLY_NBYTES = 16 * 1024 * 1024
"""Longest message rank 0 may send: the payloads of all ranks."""
MAX_PAYLOAD_DEPTH = 16
MAX_INTEGER_DIGITS = 20

Message = dict[str, Any]


@dataclass(frozen=True)
class Field:
    """What a field may hold: as text for error messages, and as a function that checks it."""

    allowed: str
    holds: Callable[[Any], bool]


Schema = Mapping[str, Field]


@dataclass(frozen=True)
class Place:
    """A place where messages arrive, and the messages that may arrive there."""

    name: str
    messages: Mapping[str, Schema]
    max_nbytes: int
    max_depth: int = 2


def text(limit: int) -> Field:
    """Return a field for one line of printable text."""
    return Field(
        f"printable text of at most {limit} characters",
        lambda value: isinstance(value, str) and len(value) <= limit and value.isprintable(),
    )


def lines(limit: int) -> Field:
    """Return a field for printable text that may have several lines."""
    return Field(
        f"printable lines of at most {limit} characters",
        lambda value: (
            isinstance(value, str)
            and len(value) <= limit
            and value.translate(_LINE_MARKS).isprintable()
        ),
    )


def whole(low: int, high: int) -> Field:
    """Return a field for a whole number from ``low`` to ``high``."""
    # isinstance would accept a bool as an int.
    return Field(f"a whole number in {low}..{high}", lambda v: type(v) is int and low <= v <= high)


def one_line(words: str, limit: int = 200) -> str:
    """Return ``words`` changed so that ``text(limit)`` accepts them."""
    return "".join(mark if mark.isprintable() else "?" for mark in words[:limit])


def printable_lines(words: str, limit: int) -> str:
    """Return ``words`` changed so that ``lines(limit)`` accepts them."""
    return "".join(
        mark if mark.isprintable() or ord(mark) in _LINE_MARKS else "?" for mark in words[:limit]
    )


def _hexadecimal(count: int) -> Field:
    pattern = re.compile(f"[0-9a-f]{{{count}}}")
    return Field(
        f"{count} hexadecimal digits",
        lambda value: isinstance(value, str) and pattern.fullmatch(value) is not None,
    )


def _is_ranks(value: Any) -> bool:
    return (
        isinstance(value, list)
        and len(value) <= MAX_WORLD_SIZE
        and all(_RANK.holds(item) for item in value)
    )


def _is_nonces(value: Any) -> bool:
    return isinstance(value, dict) and all(
        re.fullmatch("[0-9]{1,5}", key) and _NONCE.holds(item) for key, item in value.items()
    )


def _is_payloads(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(item, dict) for item in value)


_LINE_MARKS = {ord("\n"): " ", ord("\t"): " "}
_NONCE = _hexadecimal(32)
_PROOF = _hexadecimal(64)
_RANK = whole(0, MAX_WORLD_SIZE - 1)
_WORLD_SIZE = whole(1, MAX_WORLD_SIZE)
_VERSION = whole(0, 2**31)
_LABEL = text(64)
_REASON = text(2000)
_RANKS = Field("a list of ranks", _is_ranks)
_NONCES = Field("an object of rank: 32 hexadecimal digits", _is_nonces)
_PAYLOAD = Field("an object", lambda value: isinstance(value, dict))
_PAYLOADS = Field("a list of objects", _is_payloads)
_SECONDS = Field(
    f"seconds in 0..{MAX_TIMEOUT_S:g}",
    lambda v: isinstance(v, (int, float)) and not isinstance(v, bool) and 0 <= v <= MAX_TIMEOUT_S,
)
_ASCII = Field("ASCII text", lambda value: isinstance(value, str) and value.isascii())

_MISMATCH = {"reason": _REASON}
HELLO = Place(
    "before a rank is known",
    {
        "hello": {
            "rank": _RANK,
            "world_size": _WORLD_SIZE,
            "nonce": _NONCE,
            "proof": _PROOF,
            "who": text(200),
        }
    },
    max_nbytes=4096,
)
REQUESTS = Place(
    "from a rank",
    {
        "gather": {"label": _LABEL, "payload": _PAYLOAD, "timeout_s": _SECONDS},
        "leave": {},
    },
    max_nbytes=32 * 1024,
    max_depth=MAX_PAYLOAD_DEPTH,
)
GREETINGS = Place(
    "before rank 0 is known",
    {
        "greeting": {"version": _VERSION, "nonce": _NONCE},
        "welcome": {"proof": _PROOF},
        "wait": {},
        "refused": {"reason": _REASON},
        "mismatch": _MISMATCH,
        "closing": {},
    },
    max_nbytes=16 * 1024,
)
REPLIES = Place(
    "from rank 0",
    {
        "gathered": {"label": _LABEL, "payloads": _PAYLOADS},
        "missing": {"label": _LABEL, "ranks": _RANKS, "timeout_s": _SECONDS},
        "lost": {"ranks": _RANKS},
        "mismatch": _MISMATCH,
        "closing": {},
    },
    max_nbytes=MAX_REPLY_NBYTES,
    max_depth=MAX_PAYLOAD_DEPTH + 1,
)
FILE_ENVELOPE = Place(
    "in a rendezvous file",
    {"file": {"version": _VERSION, "body": _ASCII, "proof": _PROOF}},
    max_nbytes=8 * 1024 * 1024,
)
FILE_BODIES = Place(
    "in a rendezvous file of this job",
    {
        "hello": {"nonce": _NONCE, "world_size": _WORLD_SIZE},
        "refused": {"nonce": _NONCE, "world_size": _WORLD_SIZE},
        "session": {"session": _NONCE, "nonces": _NONCES},
        "missing": {"nonces": _NONCES, "ranks": _RANKS},
        "ready": {},
        "go": {},
        "payload": {"payload": _PAYLOAD},
    },
    max_nbytes=4 * 1024 * 1024,
    max_depth=MAX_PAYLOAD_DEPTH,
)


def encode(message: Message, place: Place) -> bytes:
    """Return the bytes of a message for ``place``.

    Raises
    ------
    RendezvousError
        ``place`` does not accept the message, or the message is too long.
    """
    _check(message, place)
    try:
        body = json.dumps(message, separators=(",", ":"), allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError) as error:
        raise RendezvousError(f"a {message['type']!r} message is not JSON: {error}.") from error
    if len(body) > place.max_nbytes:
        raise RendezvousError(
            f"a {message['type']!r} message has {len(body)} bytes; {place.max_nbytes} are allowed"
            f" {place.name}."
        )
    return body


def decode(body: bytes, place: Place) -> Message:
    """Return the message whose bytes arrived at ``place``.

    Raises
    ------
    RendezvousError
        The bytes are not a message that ``place`` accepts.
    """
    if len(body) > place.max_nbytes:
        raise RendezvousError(
            f"a rendezvous message has {len(body)} bytes; {place.max_nbytes} are allowed"
            f" {place.name}."
        )
    try:
        words = body.decode()
        _check_depth(words, place.max_depth)
        message = json.loads(
            words,
            object_pairs_hook=_object,
            parse_int=_integer,
            parse_float=_real,
            parse_constant=_no_constant,
        )
    except (ValueError, RecursionError) as error:
        raise RendezvousError(f"a rendezvous message is not JSON: {str(error)[:200]}.") from error
    return _check(message, place)


def require(values: Any, schema: Schema, what: str) -> None:
    """Raise RendezvousError unless ``values`` has exactly the fields of ``schema``."""
    if not isinstance(values, dict):
        raise RendezvousError(f"{what} is {_shown(values)}, not an object.")
    for name in values.keys() - schema.keys() - {"type"}:
        raise RendezvousError(f"{what} has a field {_shown(name)} that does not belong there.")
    for name, field in schema.items():
        if name not in values:
            raise RendezvousError(f"{what} has no {name}.")
        if not field.holds(values[name]):
            raise RendezvousError(
                f"{what} has {name} = {_shown(values[name])}; allowed is {field.allowed}."
            )


def proof(token: str, *parts: object) -> str:
    """Return a keyed digest that proves knowledge of the token without revealing it."""
    words = json.dumps([str(part) for part in parts])
    return hmac.new(_token_bytes(token), words.encode(), hashlib.sha256).hexdigest()


def proves(given: str, token: str, *parts: object) -> bool:
    """Return whether ``given`` is the proof of these parts; compare in constant time."""
    return hmac.compare_digest(given.encode(), proof(token, *parts).encode())


def _token_bytes(token: str) -> bytes:
    """Return the bytes of a token as they are in the environment."""
    return token.encode("utf-8", "surrogateescape")


def checked_timeout(timeout_s: float) -> float:
    """Return the seconds; raise ValueError unless they are a number within the limits."""
    if not _SECONDS.holds(timeout_s):
        raise ValueError(f"timeout_s is {timeout_s!r}; allowed are {_SECONDS.allowed}.")
    return float(timeout_s)


def _check(message: Any, place: Place) -> Message:
    if isinstance(message, dict):
        kind = message.get("type")
        schema = place.messages.get(kind) if isinstance(kind, str) else None
        if schema is not None:
            require(message, schema, f"a {kind!r} message")
            return message
    raise RendezvousError(
        f"a rendezvous message {place.name} is {_shown(message)}; allowed are objects with the"
        f" type {', '.join(place.messages)}."
    )


def _shown(value: Any) -> str:
    if isinstance(value, (str, list, dict)) and len(value) > 60:
        return f"{type(value).__name__} of {len(value)} items"
    words = repr(value)
    return words if len(words) <= 120 else words[:120] + "..."


_STRING_OR_BRACKET = re.compile(r'"[^"\\]*(?:\\.[^"\\]*)*"?|[\[\]{}]', re.DOTALL)


def _check_depth(words: str, limit: int) -> None:
    # Checked before parsing: the parser's limit is a setting, and beyond it the process crashes.
    if words.count("[") + words.count("{") <= limit:
        return
    depth = 0
    for match in _STRING_OR_BRACKET.finditer(words):
        mark = match[0]
        if mark in ("[", "{"):
            depth += 1
            if depth > limit:
                raise ValueError(f"nested deeper than {limit}")
        elif mark in ("]", "}"):
            depth -= 1


def _object(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found = dict(pairs)
    if len(found) != len(pairs):
        raise ValueError("an object has the same name twice")
    return found


def _integer(digits: str) -> int:
    if len(digits) > MAX_INTEGER_DIGITS:
        raise ValueError(f"a number of {len(digits)} digits")
    return int(digits)


def _real(digits: str) -> float:
    number = float(digits)
    if not math.isfinite(number):
        raise ValueError("a number beyond all bounds")
    return number


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number of JSON")
