# SPDX-License-Identifier: Apache-2.0
"""Between texts and tokens: the tokenizer and the chat template of a model directory.

Answers are decoded token by token. A text that is handed out never ends inside a character, and
never with what may be the beginning of a stop string.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from datetime import datetime, timezone
from pathlib import Path
from typing import Any, NoReturn

from jinja2 import TemplateError
from jinja2.sandbox import ImmutableSandboxedEnvironment
from tokenizers import Tokenizer

UNFINISHED = "\N{REPLACEMENT CHARACTER}"
"""What the tokenizer decodes from bytes that are no whole character, or not one yet."""


class ModelFileError(ValueError):
    """A file of the model directory cannot be used; the message names it."""


class PromptError(ValueError):
    """A conversation cannot be turned into a prompt; the message says why."""


def _read(path: Path) -> dict[str, Any]:
    if not path.is_file():
        return {}
    try:
        value = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as error:
        raise ModelFileError(f"{path} is not JSON: {error}") from None
    if not isinstance(value, dict):
        raise ModelFileError(f"{path}: expected a JSON object")
    return value


class Tokens:
    """The tokenizer of a model directory, the template of its prompts, and the ends of answers."""

    def __init__(self, directory: Path) -> None:
        path = directory / "tokenizer.json"
        if not path.is_file():
            raise ModelFileError(f"{directory} has no tokenizer.json")
        try:
            self._tokenizer = Tokenizer.from_file(str(path))
        except Exception as error:  # the package raises no narrower class
            raise ModelFileError(f"{path}: {error}") from None
        self._tokenizer.no_padding()
        self._tokenizer.no_truncation()
        self._settings = _read(directory / "tokenizer_config.json")
        self._template = _Template(directory, self._settings)
        self.ends = self._find_ends(directory)
        """Tokens that end an answer."""

    def _find_ends(self, directory: Path) -> frozenset[int]:
        found: set[int] = set()
        for name in ("generation_config.json", "config.json"):
            value = _read(directory / name).get("eos_token_id")
            numbers = value if isinstance(value, list) else [] if value is None else [value]
            if not all(type(number) is int for number in numbers):
                raise ModelFileError(f"{directory / name}: eos_token_id is {value!r}")
            found.update(numbers)
        text = _token_text(self._settings.get("eos_token"))
        number = self._tokenizer.token_to_id(text) if text else None
        return frozenset(found if number is None else found | {number})

    @property
    def count(self) -> int:
        """One more than the largest token number."""
        return max(self._tokenizer.get_vocab(with_added_tokens=True).values(), default=-1) + 1

    def __call__(self, text: str) -> list[int]:
        """The tokens of a text, with what the tokenizer puts in front of each."""
        return self._tokenizer.encode(text).ids

    def conversation(self, messages: Sequence[Mapping[str, str]]) -> list[int]:
        """The tokens of a conversation, up to where the assistant's answer begins."""
        text = self._template.render(messages)
        # The template writes the special tokens itself.
        return self._tokenizer.encode(text, add_special_tokens=False).ids

    def text(self, tokens: Sequence[int]) -> str:
        """The text of some tokens, without special ones."""
        return self._tokenizer.decode(list(tokens), skip_special_tokens=True)

    def name(self, token: int) -> str:
        """The text of one token by itself; special ones included."""
        return self._tokenizer.decode([token], skip_special_tokens=False)


def _token_text(value: Any) -> str:
    """A special token of tokenizer_config.json, which is a string or an object with one."""
    if isinstance(value, dict):
        value = value.get("content")
    return value if isinstance(value, str) else ""


class _Template:
    """The chat template; a Jinja program that came with the model, so it runs in a sandbox."""

    def __init__(self, directory: Path, settings: Mapping[str, Any]) -> None:
        self._specials = {
            name: _token_text(value) for name, value in settings.items() if name.endswith("_token")
        }
        self._where = directory / "tokenizer_config.json"
        source = settings.get("chat_template")
        own_file = directory / "chat_template.jinja"
        if own_file.is_file():
            self._where, source = own_file, own_file.read_text(encoding="utf-8")
        if isinstance(source, list):  # several with names
            source = {one.get("name"): one.get("template") for one in source}.get("default")
        self._compiled = None
        if source is None:
            return
        environment = ImmutableSandboxedEnvironment(trim_blocks=True, lstrip_blocks=True)
        environment.filters["tojson"] = lambda value, **options: json.dumps(
            value, ensure_ascii=False, **options
        )
        environment.globals["raise_exception"] = _refuse
        environment.globals["strftime_now"] = lambda form: (
            datetime.now(timezone.utc).astimezone().strftime(form)
        )
        try:
            self._compiled = environment.from_string(source)
        except (TemplateError, TypeError) as error:
            raise ModelFileError(f"{self._where}: chat_template: {error}") from None

    def render(self, messages: Sequence[Mapping[str, str]]) -> str:
        if self._compiled is None:
            raise PromptError(
                "the model has no chat template; send a finished prompt to /v1/completions"
            )
        try:
            return self._compiled.render(
                messages=[dict(message) for message in messages],
                add_generation_prompt=True,
                **self._specials,
            )
        except (TemplateError, TypeError, ValueError, RecursionError) as error:
            raise PromptError(f"messages: the chat template refuses them: {error}") from None


def _refuse(text: str) -> NoReturn:
    raise TemplateError(text)


class Answer:
    """The text of one answer while it grows."""

    def __init__(self, tokens: Tokens, stops: Sequence[str] = ()) -> None:
        self._tokens = tokens
        self._stops = tuple(stops)
        self._window: list[int] = []
        """The tokens that were decoded last and those after them: a tokenizer may put a space in
        front of a token that is not the first."""
        self._decoded = 0
        self._held = ""
        self.stopped = False
        """Whether a stop string was found. It and what follows it are not handed out."""

    def push(self, token: int) -> str:
        """Add a token; return the text that is certain now and was not handed out before."""
        self._window.append(token)
        text = self._tokens.text(self._window)
        if text.endswith(UNFINISHED):
            return ""
        return self._hand_out(self._advance(text))

    def finish(self) -> str:
        """The rest of the text: nothing follows that could change it."""
        if self.stopped:
            return ""
        rest = self._hand_out(self._advance(self._tokens.text(self._window)))
        if self.stopped:
            return rest
        rest, self._held = rest + self._held, ""
        return rest

    def _advance(self, text: str) -> str:
        before = self._tokens.text(self._window[: self._decoded])
        if self._decoded:
            del self._window[: self._decoded]
        self._decoded = len(self._window)
        return text[len(before) :]

    def _hand_out(self, new: str) -> str:
        text = self._held + new
        places = [place for stop in self._stops if (place := text.find(stop)) >= 0]
        if places:
            self.stopped, self._held = True, ""
            return text[: min(places)]
        held = max((_overlap(text, stop) for stop in self._stops), default=0)
        self._held = text[len(text) - held :]
        return text[: len(text) - held]


def _overlap(text: str, stop: str) -> int:
    """How many characters at the end of a text are the beginning of a stop string."""
    most = min(len(text), len(stop) - 1)
    return next((n for n in range(most, 0, -1) if text.endswith(stop[:n])), 0)
