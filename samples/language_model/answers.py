# SPDX-License-Identifier: Apache-2.0
"""The answers of OpenAI's interface, whole and as pieces of a stream."""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from sampling import Chosen
from sequence import End
from tokens import Tokens


@dataclass
class Choice:
    """One of the answers to a request, so far."""

    text: str = ""
    chosen: list[Chosen] = field(default_factory=list)
    end: End | None = None


class Form:
    """How the answers to one request look."""

    def __init__(self, tokens: Tokens, model: str, *, chat: bool, logprobs: bool) -> None:
        self._tokens = tokens
        self._chat = chat
        self._logprobs = logprobs
        prefix, kind = ("chatcmpl", "chat.completion") if chat else ("cmpl", "text_completion")
        self._kind = kind
        self._head = {
            "id": f"{prefix}-{uuid.uuid4().hex}",
            "created": int(time.time()),
            "model": model,
            "system_fingerprint": None,
        }

    def whole(self, choices: Sequence[Choice], prompt_tokens: int) -> dict[str, Any]:
        """The answer that is not a stream."""
        found = []
        for index, choice in enumerate(choices):
            assert choice.end is not None
            text: dict[str, Any] = {"text": choice.text}
            if self._chat:
                message = {"role": "assistant", "content": choice.text, "refusal": None}
                text = {"message": message}
            found.append(
                {
                    "index": index,
                    **text,
                    "logprobs": self._logprobs_of(choice.chosen, 0),
                    "finish_reason": choice.end.reason,
                }
            )
        usage = _usage(choices, prompt_tokens)
        return {**self._head, "object": self._kind, "choices": found, "usage": usage}

    def piece(
        self,
        index: int,
        text: str,
        chosen: Sequence[Chosen] = (),
        *,
        offset: int = 0,
        reason: str | None = None,
        first: bool = False,
    ) -> str:
        """A part of the stream: some text of one choice, or its end."""
        part: dict[str, Any] = {"text": text}
        if self._chat:
            delta = {"role": "assistant", "content": text} if first else {"content": text}
            part = {"delta": delta if text or first else {}}
        logprobs = self._logprobs_of(chosen, offset) if chosen else None
        choice = {"index": index, **part, "logprobs": logprobs, "finish_reason": reason}
        return self._event([choice])

    def usage(self, choices: Sequence[Choice], prompt_tokens: int) -> str:
        """The last part of a stream whose client asked for the number of tokens."""
        return self._event([], usage=_usage(choices, prompt_tokens))

    def _event(self, choices: list[dict[str, Any]], **more: Any) -> str:
        kind = "chat.completion.chunk" if self._chat else self._kind
        return event({**self._head, "object": kind, "choices": choices, **more})

    def _logprobs_of(self, chosen: Sequence[Chosen], offset: int) -> dict[str, Any] | None:
        if not self._logprobs:
            return None
        if self._chat:
            content = [
                {
                    **self._token(one.token, one.logprob),
                    "top_logprobs": [self._token(*pair) for pair in one.alternatives],
                }
                for one in chosen
            ]
            return {"content": content, "refusal": None}
        names = [self._tokens.name(one.token) for one in chosen]
        offsets = []
        for name in names:
            offsets.append(offset)
            offset += len(name)
        return {
            "tokens": names,
            "token_logprobs": [one.logprob for one in chosen],
            "top_logprobs": [
                {self._tokens.name(token): logprob for token, logprob in one.alternatives}
                for one in chosen
            ],
            "text_offset": offsets,
        }

    def _token(self, token: int, logprob: float | None) -> dict[str, Any]:
        name = self._tokens.name(token)
        return {"token": name, "logprob": logprob, "bytes": list(name.encode())}


def event(value: dict[str, Any]) -> str:
    """A server-sent event."""
    return f"data: {json.dumps(value, ensure_ascii=False)}\n\n"


def _usage(choices: Sequence[Choice], prompt_tokens: int) -> dict[str, Any]:
    ends = [choice.end for choice in choices if choice.end is not None]
    answered = sum(end.answer_tokens for end in ends)
    return {
        "prompt_tokens": prompt_tokens,
        "completion_tokens": answered,
        "total_tokens": prompt_tokens + answered,
        "prompt_tokens_details": {"cached_tokens": sum(end.reused_tokens for end in ends)},
    }
