# SPDX-License-Identifier: Apache-2.0
"""The command, the model that make_model.py makes, and the load on them."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

pytestmark = pytest.mark.usefixtures("requirements")
SAMPLE = Path(__file__).resolve().parents[1]


def run(program: str, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, str(SAMPLE / program), *words],
        capture_output=True,
        text=True,
        timeout=280,
    )


@pytest.fixture(scope="module")
def model(requirements: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory: Path = tmp_path_factory.mktemp("made") / "little"
    done = run("make_model.py", str(directory))
    assert done.returncode == 0, done.stderr
    return directory


@pytest.mark.parametrize(
    ("words", "text"),
    [
        (["--port", "99999"], "at least 0 and at most 65535"),
        (["--port", "x"], "invalid integer value"),
        (["--rows", "0"], "at least 1"),
        (["--quantise", "w2"], "invalid choice"),
        (["--calibration", "absent"], "absent is not a file"),
        (["--experts", "half"], "invalid choice"),
        ([], "directory"),
    ],
    ids=" ".join,
)
def test_wrong_options_are_told(
    words: Sequence[str], text: str, capsys: pytest.CaptureFixture[str]
) -> None:
    from options import parser

    with pytest.raises(SystemExit) as caught:
        parser().parse_args([*(["model"] if words else []), *words])
    assert caught.value.code == 2
    assert text in capsys.readouterr().err


def test_a_directory_without_a_model_is_told(tmp_path: Path, model: Path) -> None:
    done = run("", str(tmp_path))
    assert (done.returncode, done.stderr) == (1, f"{tmp_path} has no tokenizer.json\n")
    (tmp_path / "tokenizer.json").write_bytes((model / "tokenizer.json").read_bytes())
    done = run("", str(tmp_path), "--port", "0")
    assert done.returncode == 1
    assert "config.json" in done.stderr.splitlines()[-1]


@pytest.mark.usefixtures("openai_client")
def test_two_commands_and_a_streamed_answer(model: Path) -> None:
    from alone import answer
    from decoder import Decoder
    from openai import OpenAI
    from process import serving
    from sampling import Sampler, Settings
    from tokens import Tokens

    import aclnn_py as ap

    tokens = Tokens(model)
    messages = [{"role": "user", "content": "Hello"}]
    with ap.Device(0):
        decoder = Decoder.open(model, pages=8, most=1)
        sampler = Sampler(decoder.vocabulary, 1)
        prompt = tokens.conversation(messages)
        expected = [
            answer(decoder, sampler, tokens, prompt, settings, 20)
            for settings in (Settings(temperature=0.0), Settings(seed=7))
        ]
        decoder.close()
    with serving(model) as server, OpenAI(base_url=f"{server.url}/v1", api_key="none") as openai:
        for fields, text in zip(({"temperature": 0}, {"seed": 7}), expected, strict=True):
            parts = openai.chat.completions.create(
                model="little", messages=messages, max_tokens=20, stream=True, **fields
            )
            assert "".join(part.choices[0].delta.content or "" for part in parts) == text


def test_sigterm_answers_what_was_accepted(model: Path) -> None:
    import httpx
    from process import serving

    with ThreadPoolExecutor(1) as pool, serving(model) as server:
        body = {"prompt": "the", "max_tokens": 400, "ignore_eos": True}
        waiting = pool.submit(httpx.post, f"{server.url}/v1/completions", json=body, timeout=60)
        while not server.metrics()["running"]:
            pass
        os.kill(server.process.pid, signal.SIGTERM)
        assert waiting.result().json()["usage"]["completion_tokens"] == 400


def test_what_must_not_be_in_the_figures_of_a_load() -> None:
    from load import GONE, RIGHT, failures

    held = {"device_allocated_bytes": 7}
    good = {
        "outcomes": {RIGHT: 3, GONE: 1},
        "memory_first": held,
        "memory_last": held,
        "most_reserved_by_half": [9, 9],
    }
    assert failures(good) == []
    assert failures({**good, "outcomes": {RIGHT: 1, "lost: ReadError": 2}}) == [
        "2 x lost: ReadError"
    ]
    assert failures({**good, "outcomes": {RIGHT: 1, "wrong text": 1}}) == ["1 x wrong text"]
    assert failures({**good, "outcomes": {}}) == ["no request was answered"]
    assert failures({**good, "memory_last": {"device_allocated_bytes": 8}}) == [
        "device memory in use: 7, then 8"
    ]
    assert failures({**good, "most_reserved_by_half": [9, 10]}) == [
        "device memory held: 9 in the first half, 10 in the second"
    ]


@pytest.mark.parametrize("ranks", ["1", "2"])
def test_load_with_faults(model: Path, tmp_path: Path, ranks: str) -> None:
    words = ["--requests", "80", "--clients", "14", "--pool", "24", "--fail-every", "8"]
    faults = ["--drops", "0.2", "--oversized", "0.2", "--pages", "8", "--max-waiting", "8"]
    faults += ["--ranks", ranks]
    result = tmp_path / "load.json"
    done = run("load.py", str(model), *words, *faults, "--result", str(result))
    assert done.returncode == 0, done.stdout + done.stderr
    assert done.stdout.splitlines()[-1] == "ok"
    figures = json.loads(result.read_text())
    outcomes = figures["outcomes"]
    outcomes.pop("refused with 503, sent again", 0)
    assert sum(outcomes.values()) == 80, outcomes
    expected = {"answered, right text", "client went away", "failed by the device, explained"}
    assert expected <= set(outcomes)
    assert {"body too large, 413", "prompt too long, 400"} & set(outcomes)
    assert result.with_suffix(".png").read_bytes().startswith(b"\x89PNG")


def test_a_load_on_a_server_that_cannot_start(model: Path) -> None:
    done = run("load.py", str(model), "--requests", "1", "--pool", "1", "--page-size", "100")
    assert done.returncode != 0
    assert "page_size" in done.stderr
