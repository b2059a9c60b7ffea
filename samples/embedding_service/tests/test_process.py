# SPDX-License-Identifier: Apache-2.0
"""The server as a process of its own: its command line, its sockets, its end."""

from __future__ import annotations

import json
import os
import re
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest

SAMPLE = Path(__file__).resolve().parents[1]


def run(program: str, *words: str, **environment: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SAMPLE / program), *words],
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, **environment},
    )


@contextmanager
def connected(url: str) -> Iterator[socket.socket]:
    place = urlsplit(url)
    with socket.create_connection((place.hostname, place.port), 60) as opened:
        yield opened


def post(body: bytes, length: int | None = None, *headers: str) -> bytes:
    """A request as it is sent."""
    lines = ["POST /embed HTTP/1.1", "Host: x", f"Content-Length: {length or len(body)}", *headers]
    return ("\r\n".join(lines) + "\r\n\r\n").encode() + body


def statuses(connection: socket.socket) -> list[int]:
    """Of all answers, until the server closes the connection."""
    received = b""
    while chunk := connection.recv(1 << 16):
        received += chunk
    return [int(found) for found in re.findall(rb"HTTP/1\.1 (\d+)", received)]


def texts(count: int) -> bytes:
    return json.dumps({"texts": ["a b"] * count}).encode()


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (("--port", "99999"), "0 to 65535"),
        (("--port", "x"), "invalid int value"),
        (("--max-queued", "0"), "at least 1"),
        (("--max-wait-ms", "nan"), "at least 0"),
        (("--max-wait-ms", "inf"), "at least 0"),
        (("--fail-every", "-1"), "at least 0"),
        (("--dtype", "int8"), "invalid choice"),
    ],
    ids=" ".join,
)
@pytest.mark.usefixtures("requirements")
def test_wrong_options_are_told(
    words: tuple[str, str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from server import parser

    with pytest.raises(SystemExit) as caught:
        parser().parse_args(words)
    assert caught.value.code == 2
    assert text in capsys.readouterr().err


def test_a_server_without_a_model_ends_and_says_why(tiny_directory: Path) -> None:
    (tiny_directory / "model.safetensors").write_bytes(b"no model")
    done = run("server.py", "--port", "0")
    assert done.returncode == 1
    assert done.stderr.splitlines()[-1].startswith("the device thread ended: ")
    (tiny_directory / "model.safetensors").unlink()
    done = run("server.py", "--port", "0")
    assert (done.returncode, done.stderr) == (
        1,
        f"EMBEDDING_MODEL_DIR={tiny_directory} has no model.safetensors\n",
    )


def test_connections_that_misbehave(tiny_directory: Path) -> None:
    from process import server

    close = "Connection: close"
    with server("--max-wait-ms", "1") as (url, _pid):
        for sent in (b"\x16\x03\x01\x02\x00\r\n\r\n", b"POST /embed HTTP/1.1\r\n\r\n"):
            with connected(url) as garbage:
                garbage.sendall(sent)
                assert statuses(garbage) == [400]
        with connected(url) as torn:
            torn.sendall(post(texts(1)[:-3], 100))
        with connected(url) as pipelined:
            pipelined.sendall(post(texts(1)) * 2 + post(b"{") + post(texts(2), None, close))
            assert statuses(pipelined) == [200, 200, 400, 200]
        with connected(url) as oversized:
            # Closing before all is sent would reset the connection, and the answer with it.
            oversized.sendall(post(b"x" * (4 << 20), None, close))
            assert statuses(oversized) == [413]
        with connected(url) as asking:
            asking.sendall(post(b"", 4 << 20, close, "Expect: 100-continue"))
            assert statuses(asking) == [413]
        with connected(url) as fine:
            fine.sendall(post(texts(1), None, close))
            assert statuses(fine) == [200]


def test_sigterm_answers_what_was_accepted(tiny_directory: Path) -> None:
    from process import server

    words = ("--max-wait-ms", "3000", "--max-queued", "3")
    with server(*words) as (url, pid), connected(url) as waiting:
        with connected(url) as large:
            # Not 503: no queue would ever have room for these.
            large.sendall(post(texts(4), None, "Connection: close"))
            assert statuses(large) == [400]
        waiting.sendall(post(texts(3)))
        queued(url, 3)
        os.kill(pid, signal.SIGTERM)
        assert statuses(waiting) == [200]


def test_control_c_ends_it_quietly(tiny_directory: Path, tmp_path: Path) -> None:
    words = [sys.executable, str(SAMPLE / "server.py"), "--port", "0"]
    process = subprocess.Popen(words, stderr=subprocess.PIPE, text=True)
    try:
        assert process.stderr is not None
        lines = iter(process.stderr.readline, "")
        assert any("running on" in line for line in lines)
        process.send_signal(signal.SIGINT)
        assert not [line for line in lines if "Traceback" in line]
        assert process.wait(60) == 0
    finally:
        process.kill()
        process.communicate()


def queued(url: str, count: int) -> None:
    import httpx

    while f"embedding_queue_texts {count}\n" not in httpx.get(f"{url}/metrics").text:
        time.sleep(0.01)


def test_answers_nobody_reads_do_not_keep_the_server(tiny_directory: Path) -> None:
    from process import server

    with server("--max-wait-ms", "0", "--drain-s", "1") as (url, _pid), connected(url) as silent:
        silent.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        silent.settimeout(1.0)
        with pytest.raises(TimeoutError):  # when the server takes no more before it is read
            while True:
                silent.sendall(post(texts(64)))


def test_a_load_on_a_server_that_cannot_start(tiny_directory: Path, tmp_path: Path) -> None:
    (tiny_directory / "config.json").write_text(
        json.dumps({**json.loads((tiny_directory / "config.json").read_text()), "hidden_act": "x"})
    )
    done = run("load.py", "--requests", "1", "--threads", "0")
    assert done.returncode != 0
    assert "hidden_act is 'x'" in done.stderr
