# SPDX-License-Identifier: Apache-2.0
"""Texts to tokens and back, token by token."""

from __future__ import annotations

import json
import random
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.usefixtures("requirements")

TEMPLATE = (
    "{% for m in messages %}{% if m.role == 'tool' %}{{ raise_exception('no tools') }}{% endif %}"
    "<|{{ m.role }}|>{{ m.content }}{{ eos_token }}{% endfor %}"
    "{% if add_generation_prompt %}<|assistant|>{% endif %}"
)
TEXTS = [
    "plain words",
    "na\u00efve caf\u00e9 \u20ac5",
    "\u65e5\u672c\u8a9e \U0001f600\U0001f600 end",
    "",
    " leading and trailing ",
    "\U0001f468\u200d\U0001f469\u200d\U0001f467",
]


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    from small import write_tokenizer

    write_tokenizer(tmp_path)
    (tmp_path / "tokenizer_config.json").write_text(
        json.dumps({"eos_token": {"content": "<end>"}, "chat_template": TEMPLATE})
    )
    return tmp_path


@pytest.fixture
def tokens(directory: Path) -> Any:
    from tokens import Tokens

    return Tokens(directory)


def spoken(tokens: Any, numbers: list[int], stops: tuple[str, ...] = ()) -> tuple[list[str], Any]:
    from tokens import Answer

    answer = Answer(tokens, stops)
    pieces = []
    for number in numbers:
        pieces.append(answer.push(number))
        if answer.stopped:
            break
    return [*pieces, answer.finish()], answer


@pytest.mark.parametrize("text", TEXTS)
def test_pieces_are_the_text_and_split_no_character(tokens: Any, text: str) -> None:
    pieces, _ = spoken(tokens, tokens(text))
    assert "".join(pieces) == text
    assert not any("\ufffd" in piece for piece in pieces)


def test_bytes_that_are_no_character_are_handed_out_at_the_end(tokens: Any) -> None:
    numbers = tokens("\U0001f600")
    assert len(numbers) > 1
    pieces, _ = spoken(tokens, numbers[:-1])
    assert "".join(pieces[:-1]) == "" and set(pieces[-1]) == {"\ufffd"}
    pieces, _ = spoken(tokens, [*numbers[:1], *tokens("a")])
    assert "".join(pieces) == "\ufffda"


def test_any_tokens_give_one_text(tokens: Any) -> None:
    rng = random.Random(2)
    for _ in range(200):
        numbers = [rng.randrange(2, 300) for _ in range(20)]
        pieces, _ = spoken(tokens, numbers)
        assert "".join(pieces) == tokens.text(numbers)


def test_spaces_between_words_that_are_tokens(tmp_path: Path) -> None:
    from tokenizers import Tokenizer, decoders, models, pre_tokenizers
    from tokens import Tokens

    words = {"[UNK]": 0, "\u2581one": 1, "\u2581two": 2, "\u2581three": 3}
    tokenizer = Tokenizer(models.WordLevel(words, unk_token="[UNK]"))
    tokenizer.pre_tokenizer = pre_tokenizers.Metaspace()
    tokenizer.decoder = decoders.Metaspace()
    tokenizer.save(str(tmp_path / "tokenizer.json"))
    pieces, _ = spoken(Tokens(tmp_path), [1, 2, 3])
    assert pieces == ["one", " two", " three", ""]


@pytest.mark.parametrize(
    ("stops", "expected", "stopped"),
    [
        (("lazy",), "the ", True),
        (("lazy", "he"), "t", True),
        (("dogs",), "the lazy dog", False),
        (("dog",), "the lazy ", True),
        (("the lazy dog",), "", True),
        (("gg", "zzz"), "the lazy dog", False),
    ],
)
def test_stop_strings(tokens: Any, stops: tuple[str, ...], expected: str, stopped: bool) -> None:
    pieces, answer = spoken(tokens, tokens("the lazy dog"), stops)
    assert ("".join(pieces), answer.stopped) == (expected, stopped)


def test_the_beginning_of_a_stop_string_is_held_back(tokens: Any) -> None:
    from tokens import Answer

    answer = Answer(tokens, ("ab!",))
    assert [answer.push(tokens(letter)[0]) for letter in "xabay"] == ["x", "", "", "ab", "ay"]
    assert answer.finish() == ""


def test_a_conversation_becomes_a_prompt(tokens: Any) -> None:
    prompt = tokens.conversation([{"role": "user", "content": "hello"}])
    assert tokens.name(prompt[-1]) != "<end>"
    text = "<|user|>hello<end><|assistant|>"
    assert "".join(tokens.name(number) for number in prompt) == text
    assert prompt.count(1) == 1  # the special token, not its letters


def test_what_a_template_refuses_is_told(tokens: Any) -> None:
    from tokens import PromptError

    with pytest.raises(PromptError, match="no tools"):
        tokens.conversation([{"role": "tool", "content": "x"}])


@pytest.mark.parametrize(
    "attack", ["{{ ''.__class__.__mro__ }}", "{{ messages.append(1) }}", "{{ 1 / 'a' }}"]
)
def test_a_template_cannot_leave_its_sandbox(directory: Path, attack: str) -> None:
    from tokens import PromptError, Tokens

    (directory / "chat_template.jinja").write_text(attack)
    with pytest.raises(PromptError, match="chat template refuses"):
        Tokens(directory).conversation([{"role": "user", "content": "x"}])


def test_a_model_without_a_template_says_what_to_do(tmp_path: Path) -> None:
    from small import write_tokenizer
    from tokens import PromptError, Tokens

    write_tokenizer(tmp_path)
    with pytest.raises(PromptError, match="/v1/completions"):
        Tokens(tmp_path).conversation([{"role": "user", "content": "x"}])


def test_the_ends_of_answers_come_from_all_files(directory: Path) -> None:
    from tokens import Tokens

    assert Tokens(directory).ends == {1}
    (directory / "config.json").write_text('{"eos_token_id": 5}')
    (directory / "generation_config.json").write_text('{"eos_token_id": [7, 8]}')
    assert Tokens(directory).ends == {1, 5, 7, 8}


@pytest.mark.parametrize(
    ("file", "content", "text"),
    [
        ("tokenizer.json", "{", "tokenizer.json"),
        ("tokenizer_config.json", "[1]", "expected a JSON object"),
        ("tokenizer_config.json", "{", "is not JSON"),
        ("tokenizer_config.json", '{"chat_template": "{% if %}"}', "chat_template"),
        ("config.json", '{"eos_token_id": "x"}', "eos_token_id is 'x'"),
    ],
)
def test_broken_files_are_named(directory: Path, file: str, content: str, text: str) -> None:
    from tokens import ModelFileError, Tokens

    (directory / file).write_text(content)
    with pytest.raises(ModelFileError, match=text):
        Tokens(directory)


def test_a_directory_without_a_tokenizer_is_refused(tmp_path: Path) -> None:
    from tokens import ModelFileError, Tokens

    with pytest.raises(ModelFileError, match=r"has no tokenizer\.json"):
        Tokens(tmp_path)
