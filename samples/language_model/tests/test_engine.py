# SPDX-License-Identifier: Apache-2.0
"""Continuous batching: the right tokens for everybody, whatever happens to the others."""

from __future__ import annotations

import queue
import random
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest
from metrics import Metrics
from sampling import Settings
from small import END, VOCABULARY, SmallDecoder, write_tokenizer

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("requirements")
GREEDY = Settings(temperature=0.0)


@pytest.fixture(scope="module")
def tokens(requirements: None, tmp_path_factory: pytest.TempPathFactory) -> Any:
    from tokens import Tokens

    directory: Path = tmp_path_factory.mktemp("model")
    write_tokenizer(directory)
    return Tokens(directory)


@dataclass
class Asked:
    """A request and everything it was told."""

    request: Any
    events: queue.Queue[Any] = field(default_factory=queue.Queue)

    def result(self) -> tuple[list[int], str, Any]:
        """The tokens, the text, and the last event."""
        from sequence import Piece

        numbers, text = [], ""
        while True:
            event = self.events.get(timeout=60)
            if not isinstance(event, Piece):
                return numbers, text + (event.text if hasattr(event, "reason") else ""), event
            numbers.append(event.chosen.token)
            text += event.text


def asked(
    tokens: Any,
    prompt: Sequence[int],
    most: int = 12,
    settings: Settings = GREEDY,
    stops: Sequence[str] = (),
    on_event: Callable[[Any], None] = lambda event: None,
) -> Asked:
    from sequence import Request
    from tokens import Answer

    one = Asked(None)

    def sink(event: Any) -> None:
        one.events.put(event)
        on_event(event)

    one.request = Request(prompt, settings, most, Answer(tokens, stops), frozenset({END}), sink)
    return one


class Running:
    """An engine at work, with its decoder and metrics."""

    def __init__(self, decoder: Callable[[], Any], **options: Any) -> None:
        from engine import Engine

        self.decoder: Any = None
        self.metrics = Metrics()
        self.ended = threading.Event()

        def make() -> Any:
            self.decoder = decoder()
            return self.decoder

        self.engine = Engine(make, self.metrics, on_failure=self.ended.set, **options)

    def ask(self, *requests: Asked) -> list[tuple[list[int], str, Any]]:
        self.engine.submit([one.request for one in requests])
        found = [one.result() for one in requests]
        self.settle()
        return found

    def settle(self) -> None:
        """Wait until the numbers tell that nothing is left to do: they come after the answers."""
        deadline = time.monotonic() + 60
        while self.engine.alive and self.number("running") + self.number("waiting"):
            assert time.monotonic() < deadline
            time.sleep(0.001)

    def number(self, name: str) -> float:
        lines = dict(line.rsplit(" ", 1) for line in self.metrics.text().splitlines())
        return float(lines[f"language_model_{name}"])


@contextmanager
def running(decoder: Callable[[], Any] | None = None, **options: Any) -> Iterator[Running]:
    one = Running(decoder or (lambda: SmallDecoder(64)), **{"rows": 4, **options})
    one.engine.start()
    assert one.engine.ready.wait(60)
    try:
        yield one
    finally:
        one.engine.close()
        one.decoder = None


def prompts(count: int, longest: int = 20, seed: int = 0) -> list[list[int]]:
    rng = random.Random(seed)
    return [
        [rng.randrange(2, VOCABULARY) for _ in range(rng.randrange(1, longest))]
        for _ in range(count)
    ]


def said(decoder: Any, prompt: Sequence[int], most: int = 12) -> list[int]:
    """The greedy answer without the token that ends it, which has no text."""
    return [token for token in decoder.expected(prompt, most) if token != END]


def test_many_answers_at_once_are_those_of_the_model(tokens: Any) -> None:
    with running(chunk=7) as one:
        every = [asked(tokens, prompt) for prompt in prompts(30)]
        for ask, (numbers, text, end) in zip(every, one.ask(*every), strict=True):
            assert numbers == said(one.decoder, ask.request.prompt)
            assert text == tokens.text(numbers)
            ended = one.decoder.expected(ask.request.prompt, 12)[-1] == END
            assert end.reason == ("stop" if ended else "length")
            assert end.answer_tokens == len(numbers) + ended
        assert max(one.decoder.batches) == 4
        assert max(one.decoder.prefilled) <= 7
        assert one.number("running") == one.number("waiting") == 0
        assert one.number("pages_free") == 64


def test_a_seed_gives_the_same_text_in_any_company(tokens: Any) -> None:
    settings = [
        Settings(seed=1),
        Settings(temperature=0.7, top_k=20, seed=2),
        Settings(top_p=0.8, repetition=1.2, seed=3),
        Settings(min_p=0.05, frequency=0.5, presence=0.2, seed=4),
        Settings(temperature=1.5, seed=5, bias={9: 2.0}),
        GREEDY,
    ]
    starts = prompts(6)

    def every() -> list[Asked]:
        return [asked(tokens, p, 16, s) for p, s in zip(starts, settings, strict=True)]

    with running() as one:
        alone = [one.ask(ask)[0][0] for ask in every()]
        assert alone == [numbers for numbers, _, _ in one.ask(*every())]
    # So few pages that they make room for one another.
    with running(lambda: SmallDecoder(12), chunk=3) as one:
        assert alone == [numbers for numbers, _, _ in one.ask(*every())]
        assert one.number("preemptions_total") > 0
        assert one.number("pages_free") == 12


def test_an_equal_beginning_is_computed_once(tokens: Any) -> None:
    with running() as one:
        beginning = prompts(1, 2)[0] * 17
        first, second = [*beginning, 5], [*beginning, 6]
        assert one.ask(asked(tokens, first))[0][2].reused_tokens == 0
        one.decoder.prefilled.clear()
        numbers, _, end = one.ask(asked(tokens, second))[0]
        assert numbers == said(one.decoder, second)
        assert end.reused_tokens == 16
        assert one.decoder.prefilled == [2]
        # The answer of a conversation is reused, too.
        longer = [*second, *numbers, 7, 8, 9]
        numbers, _, end = one.ask(asked(tokens, longer))[0]
        assert numbers == said(one.decoder, longer)
        assert end.reused_tokens == (len(longer) - 4) // 4 * 4
        # Of the same prompt, the last token is computed again.
        assert one.ask(asked(tokens, beginning[:16]))[0][2].reused_tokens == 12


def test_stop_strings_and_one_token(tokens: Any) -> None:
    with running() as one:
        prompt = next(p for p in prompts(99) if len(tokens.text(said(one.decoder, p))) > 6)
        whole = tokens.text(said(one.decoder, prompt))
        _, text, end = one.ask(asked(tokens, prompt, stops=[whole[3:5]]))[0]
        assert (text, end.reason) == (whole[: whole.index(whole[3:5])], "stop")
        numbers, _, end = one.ask(asked(tokens, prompt, 1))[0]
        assert (numbers, end.reason) == (said(one.decoder, prompt)[:1], "length")


def test_a_full_queue_takes_nothing(tokens: Any) -> None:
    from sequence import QueueFullError

    with running(max_waiting=2) as one:
        with pytest.raises(QueueFullError, match="no more than 2 may"):
            one.engine.submit([asked(tokens, [5]).request for _ in range(3)])
        assert len(one.ask(asked(tokens, [5]), asked(tokens, [6]))) == 2


@pytest.mark.parametrize(("prompt", "most"), [(0, 5), (60, 5), (5, 60), (5, 0)])
def test_what_can_never_fit_is_refused(tokens: Any, prompt: int, most: int) -> None:
    from sequence import TooLongError

    with running() as one, pytest.raises(TooLongError, match="together at most 64"):
        one.engine.submit([asked(tokens, [5] * prompt, most).request])
    with running(lambda: SmallDecoder(3)) as one:
        with pytest.raises(TooLongError, match="together at most 12"):
            one.engine.submit([asked(tokens, [5] * 9, 4).request])
        assert len(one.ask(asked(tokens, [5] * 8, 4))[0][0]) <= 4


def test_a_device_error_ends_only_the_answer_at_fault(tokens: Any) -> None:
    from sequence import End, Failure

    with running(fail_every=3) as one:
        every = [asked(tokens, prompt, 6) for prompt in prompts(12)]
        found = one.ask(*every)
        for number, (ask, (numbers, _, end)) in enumerate(zip(every, found, strict=True), 1):
            whole = said(one.decoder, ask.request.prompt, 6)
            if number % 3 or len(whole) == 0:
                assert isinstance(end, End) and numbers == whole
            else:
                assert isinstance(end, Failure) and "aclnnEmbedding" in end.text
                assert numbers == whole[:1]
        assert one.number("device_errors_total") == 4
        assert one.number("pages_free") == 64
        assert one.engine.alive


def test_a_prompt_that_fails_ends_only_itself(tokens: Any) -> None:
    from sequence import Failure

    with running(fail_every=2) as one:
        good, bad = asked(tokens, [5, 6], 1), asked(tokens, [5, 6], 1)
        (numbers, _, _), (_, _, failure) = one.ask(good, bad)
        assert numbers == said(one.decoder, [5, 6], 1)
        assert isinstance(failure, Failure)


def test_a_batch_that_does_not_fit_in_memory_is_computed_row_by_row(tokens: Any) -> None:
    class Short(SmallDecoder):
        def decode(self, tokens: Sequence[int], *others: Any) -> Any:
            logits = super().decode(tokens, *others)
            if len(tokens) > 2:
                ap.empty((1 << 50,), "int8")
            return logits

    with running(lambda: Short(64)) as one:
        every = [asked(tokens, prompt) for prompt in prompts(8)]
        for ask, (numbers, _, _) in zip(every, one.ask(*every), strict=True):
            assert numbers == said(one.decoder, ask.request.prompt)
        assert max(one.decoder.batches) > 2
        assert one.number("device_errors_total") == 0


def test_a_device_that_fails_always_ends_the_service_with_a_message(tokens: Any) -> None:
    from sequence import Failure, StoppingError

    class Broken(SmallDecoder):
        def prefill(self, *_: Any) -> Any:
            raise RuntimeError("no such device")

    with running(lambda: Broken(8)) as one:
        found = one.ask(*(asked(tokens, [5]) for _ in range(12)))
        assert one.ended.wait(60)
        assert all(isinstance(end, Failure) for _, _, end in found)
        assert "no such device" in found[0][2].text
        assert "8 calls failed in a row" in found[-1][2].text
        with pytest.raises(StoppingError, match="no such device"):
            one.engine.check_room()


def test_a_model_that_cannot_be_loaded_is_told(tokens: Any) -> None:
    def decoder() -> Any:
        raise ValueError("config.json: no")

    one = Running(decoder)
    one.engine.start()
    assert one.ended.wait(60)
    assert one.engine.failure == "ValueError: config.json: no"
    one.engine.close()


def test_nobody_is_computed_for_who_has_gone(tokens: Any) -> None:
    class Slow(SmallDecoder):
        go = threading.Semaphore(0)

        def decode(self, *arguments: Any) -> Any:
            assert self.go.acquire(timeout=60)
            return super().decode(*arguments)

    with running(lambda: Slow(64), rows=1) as one:
        prompt = next(p for p in prompts(99) if len(said(one.decoder, p, 30)) == 30)
        gone, waiting, last = (asked(tokens, prompt, 30) for _ in range(3))
        one.engine.submit([gone.request, waiting.request, last.request])
        gone.events.get(timeout=60)
        one.engine.cancel([gone.request, waiting.request])
        for _ in range(40):
            Slow.go.release()
        assert last.result()[0] == said(one.decoder, prompt, 30)
        one.settle()
        assert len(one.decoder.batches) < 35
        assert one.number("cancelled_total") == 2
        assert one.number("pages_free") == 64
        assert waiting.events.empty()


def test_closing_answers_what_was_accepted(tokens: Any) -> None:
    from sequence import StoppingError

    with running() as one:
        every = [asked(tokens, prompt) for prompt in prompts(10)]
        decoder = one.decoder
        one.engine.submit([ask.request for ask in every])
        one.engine.close()
        for ask in every:
            assert ask.result()[0] == said(decoder, ask.request.prompt)
        with pytest.raises(StoppingError, match="shutting down"):
            one.engine.submit([every[0].request])


def test_device_memory_stays_the_same(tokens: Any) -> None:
    with running(lambda: SmallDecoder(16)) as one:
        settings = Settings(repetition=1.1, seed=3, alternatives=2)

        def load() -> None:
            one.ask(*(asked(tokens, p, settings=settings) for p in prompts(20)))

        load()
        with ap.Device(0):
            before = one.number("device_allocated_bytes")
            for _ in range(3):
                load()
        assert one.number("device_allocated_bytes") == before
