# SPDX-License-Identifier: Apache-2.0
"""The requests of OpenAI's interface: every field is understood, ignored by name, or refused."""

from __future__ import annotations

import secrets
from collections.abc import Mapping
from dataclasses import dataclass
from math import isfinite
from typing import Any

from intake import RefusalError
from sampling import MOST_K, Settings

MOST_STOPS = 8
MOST_STOP_CHARACTERS = 256
MOST_ALTERNATIVES = 20
COMPLETION_TOKENS = 16
"""The length of a completion if the request does not say, as OpenAI has it."""
WITHOUT_EFFECT = frozenset(
    {
        *("user", "metadata", "store", "service_tier", "safety_identifier", "prompt_cache_key"),
        *("prompt_cache_retention", "parallel_tool_calls"),
    }
)
"""Fields that cannot change the text of an answer here."""
ONLY: Mapping[str, tuple[Any, ...]] = {
    "echo": (False,),
    "suffix": ("",),
    "tools": ([],),
    "functions": ([],),
    "tool_choice": ("none", "auto"),
    "function_call": ("none", "auto"),
    "response_format": ({"type": "text"},),
    "modalities": (["text"],),
}
"""Fields of which only the value that asks for nothing is taken."""
COMMON = frozenset(
    {
        *("model", "n", "max_tokens", "temperature", "top_p", "top_k", "min_p", "seed", "stop"),
        *("presence_penalty", "frequency_penalty", "repetition_penalty", "logit_bias", "logprobs"),
        *("stream", "stream_options", "ignore_eos"),
    }
)
COMPLETION = COMMON | {"prompt", "best_of"}
CHAT = COMMON | {"messages", "max_completion_tokens", "top_logprobs"}
ROLES = {"system": "system", "developer": "system", "user": "user", "assistant": "assistant"}
"""What a template knows each role as."""


@dataclass(frozen=True)
class Asked:
    """A request that was understood."""

    prompts: list[str | list[int]]
    messages: list[dict[str, str]] | None
    choices: int
    most_tokens: int | None
    stops: tuple[str, ...]
    settings: Settings
    ignore_end: bool
    stream: bool
    usage: bool
    """Whether a stream ends with the number of tokens."""


class _Fields:
    """The fields of one request; a field that is null counts as absent."""

    def __init__(self, body: Mapping[str, Any], known: frozenset[str]) -> None:
        self._given = {name: value for name, value in body.items() if value is not None}
        for name, value in self._given.items():
            if name in ONLY:
                if value not in ONLY[name]:
                    raise _refused(name, f"this service has only {ONLY[name][0]!r}")
            elif name not in known and name not in WITHOUT_EFFECT:
                raise _refused(name, "this service does not know the field; leave it out")

    def get(self, name: str, default: Any = None) -> Any:
        return self._given.get(name, default)

    def number(self, name: str, default: float, least: float, most: float) -> float:
        value = self.get(name, default)
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise _refused(name, f"expected a number, got {value!r}")
        if not isfinite(value) or not least <= value <= most:
            raise _refused(name, f"{value} is not allowed, {least} to {most} is")
        return float(value)

    def integer(self, name: str, default: int | None, least: int, most: int) -> int | None:
        value = self.get(name)
        if value is None:
            return default
        if type(value) is not int:
            raise _refused(name, f"expected an integer, got {value!r}")
        if not least <= value <= most:
            raise _refused(name, f"{value} is not allowed, {least} to {most} is")
        return value

    def flag(self, name: str) -> bool:
        value = self.get(name, False)
        if type(value) is not bool:
            raise _refused(name, f"expected true or false, got {value!r}")
        return value


def _refused(name: str, text: str) -> RefusalError:
    return RefusalError(400, f"{name}: {text}", param=name)


def completion(body: Mapping[str, Any], vocabulary: int, most_choices: int) -> Asked:
    """A request to /v1/completions."""
    fields = _Fields(body, COMPLETION)
    prompts = _prompts(fields.get("prompt"), vocabulary)
    asked = _asked(fields, vocabulary, prompts, None, most_choices)
    best = fields.integer("best_of", asked.choices, 1, most_choices)
    if best != asked.choices:
        raise _refused("best_of", f"{best} is not n ({asked.choices}); nothing else is possible")
    return asked


def chat(body: Mapping[str, Any], vocabulary: int, most_choices: int) -> Asked:
    """A request to /v1/chat/completions."""
    fields = _Fields(body, CHAT)
    return _asked(fields, vocabulary, [], _messages(fields.get("messages")), most_choices)


def _asked(
    fields: _Fields,
    vocabulary: int,
    prompts: list[str | list[int]],
    messages: list[dict[str, str]] | None,
    most_choices: int,
) -> Asked:
    choices = fields.integer("n", 1, 1, most_choices)
    assert choices is not None
    if choices * len(prompts) > most_choices:
        raise _refused("n", f"{choices} answers to {len(prompts)} prompts; at most {most_choices}")
    if messages is None:
        most = fields.integer("max_tokens", COMPLETION_TOKENS, 1, 1 << 31)
    else:
        either = "max_completion_tokens" if fields.get("max_completion_tokens") else "max_tokens"
        most = fields.integer(either, None, 1, 1 << 31)
    stream, usage = fields.flag("stream"), False
    options = fields.get("stream_options", {})
    if options:
        if not stream or not isinstance(options, dict) or set(options) > {"include_usage"}:
            raise _refused("stream_options", "include_usage of a stream is all that is possible")
        usage = bool(options.get("include_usage"))
    return Asked(
        prompts=prompts,
        messages=messages,
        choices=choices,
        most_tokens=most,
        stops=_stops(fields.get("stop", [])),
        settings=_settings(fields, vocabulary, messages is not None),
        ignore_end=fields.flag("ignore_eos"),
        stream=stream,
        usage=usage,
    )


def _settings(fields: _Fields, vocabulary: int, is_chat: bool) -> Settings:
    if is_chat:
        alternatives = fields.integer("top_logprobs", 0, 0, MOST_ALTERNATIVES)
        if not fields.flag("logprobs"):
            if alternatives:
                raise _refused("top_logprobs", "logprobs must be true with it")
            alternatives = None
    else:
        alternatives = fields.integer("logprobs", None, 0, MOST_ALTERNATIVES)
    top_k = fields.integer("top_k", 0, -1, 1 << 31) or 0
    if MOST_K < top_k < vocabulary:
        raise _refused("top_k", f"{top_k} is not allowed, -1 (all) and 1 to {MOST_K} are")
    seed = fields.integer("seed", None, -(1 << 63), (1 << 64) - 1)
    return Settings(
        temperature=fields.number("temperature", 1.0, 0.0, 2.0),
        top_k=max(top_k, 0),
        top_p=fields.number("top_p", 1.0, 0.0, 1.0),
        min_p=fields.number("min_p", 0.0, 0.0, 1.0),
        repetition=fields.number("repetition_penalty", 1.0, 0.01, 100.0),
        presence=fields.number("presence_penalty", 0.0, -2.0, 2.0),
        frequency=fields.number("frequency_penalty", 0.0, -2.0, 2.0),
        bias=_bias(fields.get("logit_bias", {}), vocabulary),
        seed=(secrets.randbits(64) if seed is None else seed) % (1 << 64),
        alternatives=alternatives,
    )


def _bias(value: Any, vocabulary: int) -> dict[int, float]:
    found = {}
    if not isinstance(value, dict):
        raise _refused("logit_bias", 'expected {"token number": bias, ...}')
    for name, bias in value.items():
        if not (name.isascii() and name.isdecimal() and int(name) < vocabulary):
            raise _refused("logit_bias", f"{name!r} is no token number below {vocabulary}")
        if type(bias) not in (int, float) or not -100 <= bias <= 100:
            raise _refused("logit_bias", f"{bias!r} is not allowed, -100 to 100 is")
        found[int(name)] = float(bias)
    return found


def _stops(value: Any) -> tuple[str, ...]:
    stops = [value] if isinstance(value, str) else value
    if not isinstance(stops, list) or len(stops) > MOST_STOPS:
        raise _refused("stop", f"expected a string, or at most {MOST_STOPS} of them")
    for stop in stops:
        if not isinstance(stop, str) or not 1 <= len(stop) <= MOST_STOP_CHARACTERS:
            raise _refused("stop", f"{stop!r}: expected 1 to {MOST_STOP_CHARACTERS} characters")
    return tuple(stops)


def _prompts(value: Any, vocabulary: int) -> list[str | list[int]]:
    """One or several prompts, each a text or token numbers."""
    if isinstance(value, str):
        value = [value]
    if not isinstance(value, list) or not value:
        raise _refused("prompt", "expected a text, token numbers, or a list of these")
    if all(type(one) is int for one in value):
        value = [value]
    for index, one in enumerate(value):
        where = f"prompt[{index}]"
        if isinstance(one, str):
            _checked_text(one, where, "prompt")
        elif not isinstance(one, list) or not one or not all(type(n) is int for n in one):
            raise RefusalError(400, f"{where}: no text and no token numbers", param="prompt")
        elif not all(0 <= number < vocabulary for number in one):
            raise RefusalError(
                400, f"{where}: token numbers are 0 to {vocabulary - 1}", param="prompt"
            )
    prompts: list[str | list[int]] = value
    return prompts


def _messages(value: Any) -> list[dict[str, str]]:
    if not isinstance(value, list) or not value:
        raise _refused("messages", 'expected [{"role": "...", "content": "..."}, ...]')
    return [_message(one, f"messages[{index}]") for index, one in enumerate(value)]


def _message(value: Any, where: str) -> dict[str, str]:
    if not isinstance(value, dict) or value.get("role") not in list(ROLES):
        raise RefusalError(
            400, f"{where}: role is one of {', '.join(ROLES)}; there are no tools", param="messages"
        )
    content = value.get("content")
    if content is None and value["role"] == "assistant":
        content = ""
    parts = content if isinstance(content, list) else [{"type": "text", "text": content}]
    texts = []
    for part in parts:
        is_text = isinstance(part, dict) and part.get("type") == "text"
        if not is_text or not isinstance(part.get("text"), str):
            raise RefusalError(
                400, f"{where}: content is a text, or a list of parts of text", param="messages"
            )
        texts.append(_checked_text(part["text"], where, "messages"))
    return {"role": ROLES[value["role"]], "content": "".join(texts)}


def _checked_text(text: str, where: str, param: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        raise RefusalError(
            400, f"{where}: half of a surrogate pair, which is no character", param=param
        ) from None
    return text
