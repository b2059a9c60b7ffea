# SPDX-License-Identifier: Apache-2.0
"""Requests of a load, and their right answers."""

from __future__ import annotations

import argparse
import random
from dataclasses import dataclass
from typing import Any

import httpx
from alone import answer
from decoder import Decoder
from process import serving
from protocol import chat, completion
from sampling import Sampler
from tokens import Tokens

import aclnn_py as ap

CONTEXT = 1024
"""The most tokens of a prompt and its answer here."""
WORDS = (
    "the",
    "quick",
    "brown",
    "page",
    "cache",
    "table",
    "model",
    "answer",
    "reads",
    "0",
    "Grüße",
)


@dataclass(frozen=True)
class Case:
    """A request, and the text that is its right answer."""

    route: str
    body: dict[str, Any]
    text: str


def bodies(count: int, seed: int) -> list[tuple[str, dict[str, Any]]]:
    """Requests of many lengths and settings; a third are conversations with a common beginning."""
    rng = random.Random(seed)
    common = " ".join(rng.choices(WORDS, k=150))
    kinds: list[dict[str, Any]] = [
        {"temperature": 0},
        {"temperature": 0.8, "top_p": 0.9},
        {"temperature": 1.2, "top_k": 40, "repetition_penalty": 1.2},
        {"temperature": 1.0, "min_p": 0.1, "presence_penalty": 0.5},
        {"temperature": 0, "frequency_penalty": 0.6, "stop": ["s ", "ae"]},
    ]
    found = []
    for number in range(count):
        text = " ".join(rng.choices(WORDS, k=round(2 ** rng.uniform(0, 6.5))))
        most = round(2 ** rng.uniform(0, 8))
        body = {**kinds[number % len(kinds)], "max_tokens": most, "seed": number}
        if number % 3:
            found.append(("/v1/completions", {**body, "prompt": text}))
        else:
            system = {"role": "system", "content": common}
            messages = [system, {"role": "user", "content": text}]
            found.append(("/v1/chat/completions", {**body, "messages": messages}))
    return found


def cases(options: argparse.Namespace) -> list[Case]:
    """The requests with their right answers, computed here, or by a service that has one client.

    A sum over ranks is rounded otherwise than on one rank, so the texts may differ.
    """
    if options.ranks == 1:
        return cases_alone(options)
    words = ("--page-size", str(options.page_size), "--rows", "1")
    with serving(options.directory, *words, ranks=options.ranks) as server:
        url = server.url
        found = []
        for route, body in bodies(options.pool, options.seed):
            choice = httpx.post(url + route, json=body, timeout=600).raise_for_status().json()
            found.append(Case(route, body, text_of(choice["choices"][0])))
    return found


def cases_alone(options: argparse.Namespace) -> list[Case]:
    """The requests with the answers of a model in this process."""
    tokens = Tokens(options.directory)
    with ap.Device(0):
        pages = -(-CONTEXT // options.page_size)
        decoder = Decoder.open(options.directory, pages=pages, page_size=options.page_size, most=1)
        sampler = Sampler(decoder.vocabulary, 1)
        found = []
        for route, body in bodies(options.pool, options.seed):
            if "messages" in body:
                asked = chat(body, decoder.vocabulary, 1)
                prompt = tokens.conversation(body["messages"])
            else:
                asked = completion(body, decoder.vocabulary, 1)
                prompt = tokens(body["prompt"])
            most = body["max_tokens"]
            text = answer(decoder, sampler, tokens, prompt, asked.settings, most, asked.stops)
            found.append(Case(route, body, text))
        decoder.close()
    return found


def text_of(choice: dict[str, Any]) -> str:
    """The text of an answer that is no stream."""
    text: str = choice["text"] if "text" in choice else choice["message"]["content"]
    return text
