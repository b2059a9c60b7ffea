# SPDX-License-Identifier: Apache-2.0
"""The routes, their mistakes, and the official client."""

from __future__ import annotations

import json
import socket
import threading
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from metrics import Metrics
from small import END, SmallDecoder, write_tokenizer

pytestmark = pytest.mark.usefixtures("requirements")
TEMPLATE = (
    "{% for m in messages %}<|{{ m.role }}|>{{ m.content }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
PROMPT = "the dog"


class Opened:
    """A service on a port of its own."""

    def __init__(self, url: str, tokens: Any, decoder: Callable[[], Any]) -> None:
        self.url = url
        self.tokens = tokens
        self._decoder = decoder

    @property
    def decoder(self) -> Any:
        return self._decoder()

    def said(self, prompt: str | list[int], most: int = 16) -> str:
        """The greedy answer."""
        numbers = self.tokens(prompt) if isinstance(prompt, str) else prompt
        return str(self.tokens.text(self.decoder.expected(numbers, most)))

    def post(self, route: str, **fields: Any) -> Any:
        import httpx

        return httpx.post(f"{self.url}{route}", json=fields, timeout=60)

    def complete(self, **fields: Any) -> Any:
        return self.post("/v1/completions", **{"prompt": PROMPT, "temperature": 0, **fields})

    def metric(self, name: str) -> float:
        import httpx

        lines = httpx.get(f"{self.url}/metrics").text.splitlines()
        return float(dict(line.rsplit(" ", 1) for line in lines)[f"language_model_{name}"])

    def wait_for(self, name: str, value: float) -> None:
        deadline = time.monotonic() + 60
        while self.metric(name) != value:
            assert time.monotonic() < deadline, (name, self.metric(name))
            time.sleep(0.005)


@contextmanager
def opened(
    directory: Path,
    make: Callable[[], Any] = lambda: SmallDecoder(64),
    limits: dict[str, Any] | None = None,
    wait: bool = True,
    **options: Any,
) -> Iterator[Opened]:
    import uvicorn
    from engine import Engine
    from intake import Limits
    from server import Service
    from tokens import Tokens

    held: list[Any] = []

    def decoder() -> Any:
        held.append(make())
        return held[0]

    metrics, tokens = Metrics(), Tokens(directory)
    engine = Engine(decoder, metrics, **{"rows": 4, **options})
    service = Service(engine, metrics, tokens, name="small", limits=Limits(**(limits or {})))
    with socket.create_server(("127.0.0.1", 0)) as listening:
        config = uvicorn.Config(service.application(), log_level="warning")
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, args=([listening],))
        thread.start()
        try:
            assert not wait or engine.ready.wait(60)
            port = listening.getsockname()[1]
            yield Opened(f"http://127.0.0.1:{port}", tokens, lambda: held[0])
        finally:
            server.should_exit = True
            thread.join(60)
            held.clear()
    assert not engine.alive


@pytest.fixture(scope="module")
def directory(requirements: None, tmp_path_factory: pytest.TempPathFactory) -> Path:
    made: Path = tmp_path_factory.mktemp("model")
    write_tokenizer(made)
    (made / "config.json").write_text(json.dumps({"eos_token_id": END}))
    (made / "tokenizer_config.json").write_text(json.dumps({"chat_template": TEMPLATE}))
    return made


@pytest.fixture(scope="module")
def service(directory: Path) -> Iterator[Opened]:
    """A service for all tests that count nothing."""
    with opened(directory) as one:
        yield one


def test_a_completion(service: Opened) -> None:
    answer = service.complete().json()
    choice = answer["choices"][0]
    assert (answer["object"], answer["model"]) == ("text_completion", "small")
    assert choice["text"] == service.said(PROMPT)
    assert choice["finish_reason"] in ("length", "stop") and choice["logprobs"] is None
    usage = answer["usage"]
    assert usage["prompt_tokens"] == len(service.tokens(PROMPT))
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"]


def test_several_prompts_and_choices(service: Opened) -> None:
    prompts = [PROMPT, "a fox", service.tokens("lazy")]
    answer = service.complete(prompt=prompts, n=2, max_tokens=5).json()
    assert [choice["index"] for choice in answer["choices"]] == list(range(6))
    expected = [service.said(prompt, 5) for prompt in prompts for _ in range(2)]
    assert [choice["text"] for choice in answer["choices"]] == expected
    assert answer["usage"]["prompt_tokens"] == sum(
        len(service.tokens(p)) if isinstance(p, str) else len(p) for p in prompts
    )


def test_a_seed_gives_the_same_text_and_choices_differ(service: Opened) -> None:
    fields = {"temperature": 1.0, "seed": 11, "n": 3, "max_tokens": 12}
    first, second = (service.complete(**fields).json()["choices"] for _ in range(2))
    assert [choice["text"] for choice in first] == [choice["text"] for choice in second]
    assert len({choice["text"] for choice in first}) == 3
    other = service.complete(**{**fields, "seed": 12, "n": 1}).json()["choices"]
    assert other[0]["text"] == first[1]["text"]  # the second choice has the next seed
    assert service.complete(**{**fields, "seed": -1}).status_code == 200


def test_a_conversation(service: Opened) -> None:
    messages = [
        {"role": "developer", "content": "be brief"},
        {
            "role": "user",
            "content": [{"type": "text", "text": "a "}, {"type": "text", "text": "b"}],
        },
    ]
    answer = service.post(
        "/v1/chat/completions", messages=messages, temperature=0, max_tokens=7, logprobs=True
    ).json()
    prompt = "<|system|>be brief<|user|>a b<|assistant|>"
    choice = answer["choices"][0]
    assert choice["message"] == {
        "role": "assistant",
        "content": service.said(prompt, 7),
        "refusal": None,
    }
    content = choice["logprobs"]["content"]
    assert len(content) >= 6 and all(one["logprob"] <= 0 for one in content)
    assert all(bytes(one["bytes"]).decode() == one["token"] for one in content)


def test_without_a_length_a_conversation_may_fill_the_context(service: Opened) -> None:
    messages = [{"role": "user", "content": "x"}]
    answer = service.post(
        "/v1/chat/completions", messages=messages, temperature=0, ignore_eos=True
    ).json()
    assert answer["usage"]["total_tokens"] == 64
    assert answer["choices"][0]["finish_reason"] == "length"


@pytest.mark.parametrize(
    ("fields", "param", "text"),
    [
        ({"prompt": ""}, "prompt", "no tokens"),
        ({"prompt": []}, "prompt", "expected a text"),
        ({"prompt": [1, "a"]}, "prompt", "prompt[0]: no text and no token numbers"),
        ({"prompt": [320]}, "prompt", "token numbers are 0 to 319"),
        ({"prompt": "\ud800"}, "prompt", "half of a surrogate pair"),
        ({"max_tokens": 0}, "max_tokens", "0 is not allowed"),
        ({"max_tokens": 63}, "max_tokens", "together at most 64"),
        ({"max_tokens": True}, "max_tokens", "expected an integer"),
        ({"temperature": 2.1}, "temperature", "0.0 to 2.0 is"),
        ({"temperature": "1"}, "temperature", "expected a number"),
        ({"top_p": -0.1}, "top_p", "-0.1 is not allowed"),
        ({"top_k": 1.5}, "top_k", "expected an integer"),
        ({"seed": 1 << 64}, "seed", "not allowed"),
        ({"n": 9}, "n", "1 to 8 is"),
        ({"n": 5, "prompt": ["a", "b"]}, "n", "5 answers to 2 prompts"),
        ({"best_of": 2}, "best_of", "not n (1)"),
        ({"echo": True}, "echo", "only False"),
        ({"suffix": "x"}, "suffix", "only ''"),
        ({"stop": ["a"] * 9}, "stop", "at most 8"),
        ({"stop": ""}, "stop", "1 to 256 characters"),
        ({"logit_bias": {"x": 1}}, "logit_bias", "no token number"),
        ({"logit_bias": {"1": 101}}, "logit_bias", "-100 to 100"),
        ({"logprobs": 21}, "logprobs", "0 to 20 is"),
        ({"stream_options": {"include_usage": True}}, "stream_options", "of a stream"),
        ({"colour": "red"}, "colour", "does not know the field"),
        ({"model": "gpt-4"}, "model", "'gpt-4' is not served, 'small' is"),
    ],
    ids=lambda value: str(value) if isinstance(value, dict) else "",
)
def test_mistakes_name_the_field(
    service: Opened, fields: dict[str, Any], param: str, text: str
) -> None:
    import httpx

    body = json.dumps({"prompt": PROMPT, **fields})
    answer = httpx.post(f"{service.url}/v1/completions", content=body, timeout=60)
    error = answer.json()["error"]
    assert answer.status_code == (404 if param == "model" else 400)
    assert error["param"] == param and text in error["message"], error
    assert error["type"] == "invalid_request_error"
    # What has no effect, or asks for what is the case, is taken.
    fine = {"user": "me", "metadata": {"a": "b"}, "echo": False, "n": None, "top_k": -1}
    assert service.complete(**fine).status_code == 200


@pytest.mark.parametrize(
    ("fields", "text"),
    [
        ({}, "messages: expected"),
        ({"messages": [{"role": "tool", "content": "x"}]}, "role is one of"),
        ({"messages": [{"role": ["user"], "content": "x"}]}, "role is one of"),
        ({"messages": [{"role": "user", "content": None}]}, "messages[0]: content is a text"),
        (
            {"messages": [{"role": "user", "content": [{"type": "image_url"}]}]},
            "messages[0]: content is a text",
        ),
        ({"messages": [{"role": "user", "content": "x"}], "top_logprobs": 2}, "logprobs must be"),
        ({"messages": [{"role": "user", "content": "x"}], "tools": [{}]}, "tools: "),
        (
            {"messages": [{"role": "user", "content": "x"}], "response_format": {"type": "json"}},
            "response_format: ",
        ),
    ],
    ids=str,
)
def test_mistakes_in_conversations(service: Opened, fields: dict[str, Any], text: str) -> None:
    answer = service.post("/v1/chat/completions", **fields)
    assert (answer.status_code, text in answer.json()["error"]["message"]) == (400, True), answer


@pytest.mark.parametrize(
    ("body", "status", "text"),
    [
        (b"{", 400, "not JSON"),
        (b"[" * 5000, 400, "not JSON"),
        (b"[]", 400, "not a JSON object"),
        (b"x" * 6000, 413, "more than 5500 bytes"),
    ],
    ids=["torn", "deep", "list", "large"],
)
def test_bodies_that_are_no_requests(directory: Path, body: bytes, status: int, text: str) -> None:
    import httpx

    with opened(directory, limits={"body_nbytes": 5500}) as one:
        for content in (body, iter([body[:10], body[10:]])):
            answer = httpx.post(f"{one.url}/v1/completions", content=content)
            assert answer.status_code == status
            assert text in answer.json()["error"]["message"]
        assert one.complete().status_code == 200


def test_all_bodies_together_are_bounded(directory: Path) -> None:
    with opened(directory, limits={"all_bodies_nbytes": 200}) as one:
        for _ in range(3):
            assert one.complete().status_code == 200
            answer = one.complete(user="x" * 200)
            assert answer.status_code == 503 and int(answer.headers["Retry-After"]) >= 1


def test_other_routes(service: Opened) -> None:
    import httpx

    models = httpx.get(f"{service.url}/v1/models").json()
    assert [model["id"] for model in models["data"]] == ["small"]
    assert httpx.get(f"{service.url}/v1/models/small").json() == models["data"][0]
    for route, status in (("/v1/models/other", 404), ("/v1/x", 404), ("/v1/completions", 405)):
        answer = httpx.get(service.url + route)
        assert answer.status_code == status and "message" in answer.json()["error"]
    assert httpx.get(f"{service.url}/health").text == "ok"
    assert httpx.get(f"{service.url}/ready").status_code == 200


def test_requests_are_counted(directory: Path) -> None:
    with opened(directory) as one:
        one.complete()
        one.complete(n=0)
        assert one.metric('requests_total{route="/v1/completions",status="200"}') == 1
        assert one.metric('requests_total{route="/v1/completions",status="400"}') == 1
        assert one.metric("first_token_seconds_count") == 1


def test_before_the_model_is_loaded_nothing_is_ready(directory: Path) -> None:
    import httpx

    loads = threading.Event()

    def make() -> Any:
        assert loads.wait(60)
        return SmallDecoder(64)

    with opened(directory, make, wait=False) as one:
        answer = one.complete()
        assert answer.status_code == 503 and "not loaded" in answer.text
        assert httpx.get(f"{one.url}/ready").status_code == 503
        assert httpx.get(f"{one.url}/health").status_code == 200
        loads.set()
        while httpx.get(f"{one.url}/ready").status_code != 200:
            time.sleep(0.005)
        assert one.complete().status_code == 200


class Gated(SmallDecoder):
    """A decoder whose steps wait for a permission."""

    def __init__(self, *arguments: Any) -> None:
        super().__init__(*arguments)
        self.permits = threading.Semaphore(0)

    def permit(self, count: int) -> None:
        for _ in range(count):
            self.permits.release()

    def decode(self, *arguments: Any) -> Any:
        assert self.permits.acquire(timeout=60)
        return super().decode(*arguments)


def test_a_full_queue_is_503_with_a_time(directory: Path) -> None:
    with (
        ThreadPoolExecutor(2) as pool,
        opened(directory, lambda: Gated(64), rows=1, max_waiting=1) as one,
    ):
        waiting = [pool.submit(one.complete, ignore_eos=True)]
        one.wait_for("running", 1)
        assert one.post("/v1/completions", prompt="x", n=2).status_code == 503
        waiting.append(pool.submit(one.complete, ignore_eos=True))
        # Whatever is in the body: nobody looks at it.
        deadline = time.monotonic() + 60
        while (answer := one.post("/v1/completions", nonsense=1)).status_code != 503:
            assert time.monotonic() < deadline
        assert int(answer.headers["Retry-After"]) >= 1
        assert answer.json()["error"]["code"] == "overloaded"
        one.decoder.permit(100)
        assert [future.result().status_code for future in waiting] == [200, 200]


@pytest.mark.parametrize("stream", [False, True])
def test_when_the_client_goes_away_nothing_more_is_computed(directory: Path, stream: bool) -> None:
    body = {"prompt": PROMPT, "max_tokens": 50, "ignore_eos": True, "stream": stream}
    content = json.dumps(body).encode()
    with opened(directory, lambda: Gated(64)) as one:
        host, port = one.url.removeprefix("http://").split(":")
        with socket.create_connection((host, int(port)), 60) as connection:
            head = f"POST /v1/completions HTTP/1.1\r\nHost: x\r\nContent-Length: {len(content)}"
            connection.sendall(f"{head}\r\n\r\n".encode() + content)
            one.wait_for("running", 1)
            one.decoder.permit(3)
            if stream:
                connection.recv(1)
        # The thread sees it between two steps.
        deadline = time.monotonic() + 60
        while one.metric("cancelled_total") != 1:
            assert time.monotonic() < deadline
            one.decoder.permit(1)
            time.sleep(0.02)
        one.wait_for("running", 0)
        assert one.metric("pages_free") == 64
        assert one.metric("answer_tokens_total") < 50
        one.decoder.permit(100)
        assert one.complete().json()["choices"][0]["text"] == one.said(PROMPT)


def test_an_answer_that_takes_too_long_is_504(directory: Path) -> None:
    with opened(directory, lambda: Gated(64), limits={"answer_s": 0.2}) as one:
        assert one.complete(ignore_eos=True).status_code == 504
        one.decoder.permit(100)
        one.wait_for("running", 0)
        assert one.metric("cancelled_total") == 1


def test_a_device_error_is_500_with_an_explanation(directory: Path) -> None:
    with opened(directory, fail_every=2) as one:
        answers = [one.complete(ignore_eos=True) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [200, 500, 200]
        error = answers[1].json()["error"]
        assert error["type"] == "server_error" and "aclnnEmbedding" in error["message"]


def test_a_defect_is_an_answer_too(directory: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from tokens import Tokens

    def broken(_self: Any, _text: str) -> list[int]:
        raise RuntimeError("no such thing")

    with opened(directory) as one:
        with monkeypatch.context() as patched:
            patched.setattr(Tokens, "__call__", broken)
            answer = one.complete()
        assert answer.status_code == 500 and "its log" in answer.json()["error"]["message"]
        assert one.complete().status_code == 200
        assert one.metric('requests_total{route="/v1/completions",status="500"}') == 1


def client(service: Opened) -> Any:
    from openai import OpenAI

    return OpenAI(base_url=f"{service.url}/v1", api_key="none", max_retries=0, timeout=60)


@pytest.mark.usefixtures("openai_client")
def test_the_official_client(service: Opened) -> None:
    with client(service) as openai:
        assert [model.id for model in openai.models.list()] == ["small"]
        assert openai.models.retrieve("small").id == "small"
        whole = openai.completions.create(
            model="small", prompt=PROMPT, temperature=0, max_tokens=6, logprobs=2
        )
        choice = whole.choices[0]
        assert choice.text == service.said(PROMPT, 6)
        assert choice.logprobs.text_offset[0] == 0
        assert all(len(top) <= 2 for top in choice.logprobs.top_logprobs)
        pairs = zip(choice.logprobs.token_logprobs, choice.logprobs.top_logprobs, strict=True)
        assert all(abs(own - max(top.values())) < 1e-6 for own, top in pairs)
        said = openai.chat.completions.create(
            model="small", messages=[{"role": "user", "content": "x"}], temperature=0, max_tokens=5
        )
        assert said.choices[0].message.content == service.said("<|user|>x<|assistant|>", 5)
        assert said.usage.total_tokens == said.usage.prompt_tokens + said.usage.completion_tokens


@pytest.mark.usefixtures("openai_client")
def test_the_official_client_streams(service: Opened) -> None:
    fields: dict[str, Any] = {"model": "small", "max_tokens": 12, "stream": True}
    with client(service) as openai:
        options = {"include_usage": True}
        parts = list(
            openai.completions.create(
                prompt=PROMPT, temperature=0, stream_options=options, **fields
            )
        )
        text = "".join(part.choices[0].text for part in parts if part.choices)
        assert text == service.said(PROMPT, 12)
        assert parts[-1].usage.prompt_tokens == len(service.tokens(PROMPT))
        assert sum(bool(part.choices and part.choices[0].text) for part in parts) > 2
        assert parts[-2].choices[0].finish_reason in ("stop", "length")
        chat = {"messages": [{"role": "user", "content": "x"}], "seed": 5, "n": 2}
        texts = ["", ""]
        for part in openai.chat.completions.create(logprobs=True, top_logprobs=1, **chat, **fields):
            choice = part.choices[0]
            texts[choice.index] += choice.delta.content or ""
        whole = openai.chat.completions.create(**chat, model="small", max_tokens=12)
        assert texts == [choice.message.content for choice in whole.choices]


@pytest.mark.usefixtures("openai_client")
def test_the_official_client_sees_errors(directory: Path) -> None:
    import openai as package

    with opened(directory, fail_every=3) as one, client(one) as openai:
        with pytest.raises(package.BadRequestError, match="temperature: 3"):
            openai.completions.create(model="small", prompt="x", temperature=3)
        with pytest.raises(package.NotFoundError, match="not served"):
            openai.completions.create(model="other", prompt="x")
        fields = {"model": "small", "prompt": PROMPT, "stream": True, "temperature": 0}
        for _ in range(2):
            assert list(openai.completions.create(**fields))
        # The third sequence fails with its second token, when the status was sent already.
        got = []
        with pytest.raises(package.APIError, match="aclnnEmbedding"):
            got.extend(openai.completions.create(extra_body={"ignore_eos": True}, **fields))
        assert len(got) <= 1
        assert list(openai.completions.create(**fields))
