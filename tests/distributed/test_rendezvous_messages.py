# SPDX-License-Identifier: Apache-2.0
"""The reader of rendezvous messages: whatever the bytes are, a message or one kind of error."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from aclnn_py.distributed.rendezvous.messages import (
    FILE_BODIES,
    FILE_ENVELOPE,
    GREETINGS,
    HELLO,
    REPLIES,
    REQUESTS,
    Place,
    checked_timeout,
    decode,
    encode,
    lines,
    one_line,
    printable_lines,
    proof,
    proves,
    text,
)
from aclnn_py.errors.ranks import RendezvousError

NONCE = "0123456789abcdef" * 2
HELLO_MESSAGE = {
    "type": "hello",
    "rank": 1,
    "world_size": 2,
    "nonce": NONCE,
    "proof": NONCE * 2,
    "who": "process 7 on héré",
}
GATHER = {"type": "gather", "label": "a", "payload": {"x": [1.5, None]}, "timeout_s": 2}
PLACES = [HELLO, REQUESTS, GREETINGS, REPLIES, FILE_ENVELOPE, FILE_BODIES]


@pytest.mark.parametrize(
    ("message", "place"),
    [
        (HELLO_MESSAGE, HELLO),
        (GATHER, REQUESTS),
        ({"type": "leave"}, REQUESTS),
        ({"type": "gathered", "label": "a", "payloads": [{}, {"x": 2**64}]}, REPLIES),
        ({"type": "session", "session": NONCE, "nonces": {"1": NONCE}}, FILE_BODIES),
    ],
)
def test_a_message_comes_back_as_it_was(message: dict[str, Any], place: Place) -> None:
    assert decode(encode(message, place), place) == message


@pytest.mark.parametrize(
    ("field", "value"),
    [
        ("rank", -1),
        ("rank", 65536),
        ("rank", 10**19),
        ("rank", 1.0),
        ("rank", True),
        ("rank", "1"),
        ("rank", None),
        ("world_size", 0),
        ("nonce", NONCE.upper()),
        ("nonce", NONCE[:-1]),
        ("nonce", "\uff10" * 32),
        ("proof", "é" * 64),
        ("proof", 64),
        ("who", "x" * 201),
        ("who", "\x1b[2J"),
        ("who", "\ud800"),
        ("who", ["x"]),
    ],
)
def test_a_field_outside_its_schema_is_named(field: str, value: Any) -> None:
    body = json.dumps({**HELLO_MESSAGE, field: value}).encode()
    with pytest.raises(RendezvousError, match=field):
        decode(body, HELLO)


@pytest.mark.parametrize(
    "seconds", ["Infinity", "-Infinity", "NaN", "1e300", "1e999", "-1", "true"]
)
def test_a_time_that_cannot_be_waited_for_is_refused(seconds: str) -> None:
    body = json.dumps({**GATHER, "timeout_s": 0}).replace(
        '"timeout_s": 0', f'"timeout_s":{seconds}'
    )
    with pytest.raises(RendezvousError):
        decode(body.encode(), REQUESTS)


@pytest.mark.parametrize(
    "body",
    [
        pytest.param(b"", id="nothing"),
        pytest.param(b"{}", id="no type"),
        pytest.param(b"[]", id="no object"),
        pytest.param(b'{"type":"leave"', id="cut off"),
        pytest.param(b'{"type":"leave"}}', id="more than one value"),
        pytest.param(b'{"type":"leave","type":"leave"}', id="a name twice"),
        pytest.param(b'{"type":"leave","rank":1}', id="one field too many"),
        pytest.param(b'{"type":["leave"]}', id="type is a list"),
        pytest.param(b'{"type":"hello"}', id="a message of another place"),
        pytest.param(b"\xff\xfe{\x00}\x00", id="UTF-16"),
        pytest.param(b'\xef\xbb\xbf{"type":"leave"}', id="byte order mark"),
        pytest.param(b'{"type":"leave\xff"}', id="no UTF-8"),
        pytest.param(b'{"type":"leave","x":' + b"9" * 5000 + b"}", id="a number without end"),
        pytest.param(b"[" * 30000, id="lists without end"),
        pytest.param(b'{"a":' * 6000, id="objects without end"),
        pytest.param(b'{"type":"leave"}' + b" " * 40000, id="too long"),
    ],
)
def test_what_is_no_message_is_refused(body: bytes) -> None:
    with pytest.raises(RendezvousError):
        decode(body, REQUESTS)


def test_depth_is_bounded_whatever_the_program_allows() -> None:
    limit = sys.getrecursionlimit()
    sys.setrecursionlimit(10**6)
    try:
        for opening in (b"[", b'{"a":'):
            with pytest.raises(RendezvousError, match="nested"):
                decode(opening * (REPLIES.max_nbytes // len(opening)), REPLIES)
    finally:
        sys.setrecursionlimit(limit)


def test_brackets_in_strings_are_not_depth() -> None:
    message = {**GATHER, "payload": {"x": '[{"\\[' * 500}}
    assert decode(encode(message, REQUESTS), REQUESTS) == message


def test_a_payload_that_a_rank_may_send_can_be_handed_on() -> None:
    """Else one rank's payload would be refused by all others, as if rank 0 had sent it."""
    payload: Any = {}
    for _ in range(REQUESTS.max_depth - 2):
        payload = {"x": payload}
    request = encode({**GATHER, "payload": payload}, REQUESTS)
    payloads = [decode(request, REQUESTS)["payload"]]
    reply = encode({"type": "gathered", "label": "a", "payloads": payloads}, REPLIES)
    assert decode(reply, REPLIES)["payloads"] == payloads


@given(st.binary(max_size=200), st.sampled_from(PLACES))
def test_any_bytes_end_in_a_message_or_the_error(body: bytes, place: Place) -> None:
    try:
        assert decode(body, place)["type"] in place.messages
    except RendezvousError as error:
        assert len(str(error)) < 3000


@given(st.text())
def test_any_text_can_be_made_to_fit(words: str) -> None:
    assert text(200).holds(one_line(words))
    assert lines(50).holds(printable_lines(words, 50))


def test_a_proof_shows_the_token_and_every_part() -> None:
    right = proof("secret", "hello", "ab", 1)
    assert proves(right, "secret", "hello", "ab", 1)
    assert not proves(right, "other", "hello", "ab", 1)
    assert not proves(right, "secret", "hello", "a", "b1")
    assert not proves("é" * 64, "secret", "hello", "ab", 1)
    # A token that is not UTF-8 arrives from the environment like this.
    assert proves(proof("\udcff", 1), "\udcff", 1)


@pytest.mark.parametrize("seconds", [float("inf"), float("nan"), 1e300, -1, True, "5", None])
def test_a_timeout_of_the_caller_is_judged_by_name(seconds: Any) -> None:
    with pytest.raises(ValueError, match="timeout_s"):
        checked_timeout(seconds)
    assert checked_timeout(0) == 0.0


def test_a_message_that_nobody_takes_is_not_written() -> None:
    with pytest.raises(RendezvousError, match="payload"):
        encode({**GATHER, "payload": [1]}, REQUESTS)
    with pytest.raises(RendezvousError, match="not JSON"):
        encode({**GATHER, "payload": {"x": b"bytes"}}, REQUESTS)
    with pytest.raises(RendezvousError, match="32768 are allowed"):
        encode({**GATHER, "payload": {"x": "y" * 40000}}, REQUESTS)
