# SPDX-License-Identifier: Apache-2.0
"""What the engine is asked for, what it tells about it, and the state of one answer."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from pages import ROOT, page_key
from sampling import Chosen, Settings
from tokens import Answer

import aclnn_py as ap


class QueueFullError(Exception):
    """The queue has no room for the request now."""


class StoppingError(Exception):
    """The service accepts no requests: not yet, or not any more."""


class TooLongError(ValueError):
    """The prompt and the answer do not fit, now or ever; the message has the numbers."""


class Decoder(Protocol):
    """What the engine needs of a model; ``decoder.py`` has the real one."""

    @property
    def vocabulary(self) -> int: ...
    @property
    def context(self) -> int: ...
    @property
    def pages(self) -> int: ...
    @property
    def page_size(self) -> int: ...

    def prefill(self, tokens: Sequence[int], start: int, pages: Sequence[int]) -> ap.Tensor: ...

    def decode(
        self, tokens: Sequence[int], lengths: Sequence[int], pages: Sequence[Sequence[int]]
    ) -> ap.Tensor: ...

    def close(self) -> None: ...


@dataclass(frozen=True)
class Piece:
    """One token of the answer, and the text that is certain with it."""

    text: str
    chosen: Chosen


@dataclass(frozen=True)
class End:
    """The answer is complete; ``text`` is what was still held back."""

    text: str
    reason: str
    """ "stop": the model or a stop string ended it. "length": it has as many tokens as allowed."""
    answer_tokens: int
    reused_tokens: int
    """Tokens of the prompt whose pages were there already."""


@dataclass(frozen=True)
class Failure:
    """The answer cannot be completed; ``text`` says why."""

    text: str


Event = Piece | End | Failure


@dataclass(eq=False)
class Request:
    """One answer that is wanted. The device thread passes its events to ``sink``."""

    prompt: Sequence[int]
    settings: Settings
    most_tokens: int
    answer: Answer
    ends: frozenset[int]
    sink: Callable[[Event], None]
    cancelled: bool = False
    """Set by anybody when nobody waits for the answer any more."""


@dataclass(eq=False)
class Running:
    """A request on its way through the engine."""

    request: Request
    number: int
    """In the order of arrival. The oldest goes first, the youngest makes room."""
    fails: bool = False
    """Whether the device reports an error with its second token, for tests."""
    tokens: list[int] = field(default_factory=list)
    """The prompt and the answer so far."""
    keys: list[bytes] = field(default_factory=list)
    pages: list[int] = field(default_factory=list)
    computed: int = 0
    """Of how many tokens the cache has keys and values."""
    slot: int = -1
    reused: int = 0
    arrived: float = field(default_factory=time.monotonic)
    told: float = 0.0
    """When the last token was chosen."""

    def __post_init__(self) -> None:
        self.tokens = list(self.request.prompt)

    @property
    def answered(self) -> int:
        return len(self.tokens) - len(self.request.prompt)

    @property
    def prefilling(self) -> bool:
        """Whether more than the newest token has to be computed."""
        return self.computed < len(self.tokens) - (self.answered > 0)

    def chain(self, tokens: int, size: int) -> list[bytes]:
        """The keys of all pages that this number of tokens fills."""
        for page in range(len(self.keys), tokens // size):
            parent = self.keys[-1] if self.keys else ROOT
            self.keys.append(page_key(parent, self.tokens[page * size : (page + 1) * size]))
        return self.keys[: tokens // size]
