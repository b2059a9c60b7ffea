# SPDX-License-Identifier: Apache-2.0
"""A language model with the pages of its cache: chunks of a prompt, and steps of a batch."""

from __future__ import annotations

from collections.abc import Sequence
from operator import le
from pathlib import Path

import numpy as np
from building import Cache
from config import DTYPES, Config, read_config
from layers import Step
from loading import Quantising, load, random_tokens
from model import Model
from quantised import FORMS
from ranks import DECODE, END, EXPERTS, PREFILL, Calls
from steps import Bucket
from weights import Checkpoint, dtype_of

import aclnn_py as ap
from aclnn_py.distributed import Communicator

PAGE_SIZES = (128, 256, 384, 512)
"""What the attention operator takes."""


class Decoder:
    """A model, its cache of ``pages`` pages, and a captured graph for each size of a batch.

    The caller decides which pages hold the tokens of a sequence. One thread uses a Decoder.
    """

    def __init__(
        self, model: Model, cache: Cache, most: int, comm: Communicator | None = None
    ) -> None:
        if not 1 <= most <= 1024:
            raise ValueError(f"most: a batch has 1 to 1024 rows, got {most}")
        self._model, self._cache, self._most = model, cache, most
        width = min(-(-model.config.context // cache.page_size), cache.pages)
        self._pages: list[list[int]] = []  # of the last batch
        self._room: list[int] = []
        self._comm = comm
        self._calls = None if comm is None else Calls(comm)
        first: Bucket | None = None
        self._buckets: dict[int, Bucket] = {}
        # The largest first: its memory is large enough for the others.
        for rows in reversed(bucket_sizes(most)):
            self._buckets[rows] = Bucket(model, rows, width, first)
            first = first or self._buckets[rows]
        self._bucket_of = {
            count: self._buckets[min(size for size in self._buckets if size >= count)]
            for count in range(1, most + 1)
        }

    @classmethod
    def open(
        cls,
        directory: str | Path,
        *,
        dtype: str | None = None,
        quantise: str | None = None,
        pages: int,
        page_size: int = 128,
        most: int = 16,
        comm: Communicator | None = None,
        experts: str = EXPERTS[0],
        calibration: Sequence[int] | None = None,
    ) -> Decoder:
        """Read a model directory as it is published, and put the weights on the device.

        Parameters
        ----------
        directory : str or Path
            It has config.json and *.safetensors.
        dtype : str, optional
            "float16" or "bfloat16"; by default what config.json says, float16 for float32.
        quantise : str, optional
            "w8a8", "w8a16" or "w4a16": keep the weights of the layers in 8 or 4 bits, and with
            "w8a8" quantise the rows they are multiplied with too.
        pages : int
            Pages of the cache.
        page_size : int, default 128
            Tokens of a page: 128, 256, 384 or 512.
        most : int, default 16
            Rows of the largest batch.
        comm : Communicator, optional
            Divide the model among its ranks. All of them call ``open``; then rank 0 calls
            ``prefill`` and ``decode``, and the others ``follow``. It is closed with the decoder.
        experts : str, default "whole"
            What each rank of ``comm`` has: "whole", some experts, to which tokens are sent; or
            "divided", a part of the inner features of every expert.
        calibration : sequence of int, optional
            Tokens of a text like those that the model will read; the first 2,048 of them are used.
            Quantised weights are rounded for it. By default random tokens, which suit a model with
            random weights.

        Raises
        ------
        ConfigError, WeightError
            The files are not those of a model that this sample computes.
        ValueError
            An option is out of its range.
        """
        if dtype is not None and dtype not in DTYPES:
            raise ValueError(f"dtype: expected one of {', '.join(DTYPES)}, got {dtype!r}")
        if quantise is not None and quantise not in FORMS:
            raise ValueError(f"quantise: expected one of {', '.join(FORMS)}, got {quantise!r}")
        if page_size not in PAGE_SIZES:
            raise ValueError(f"page_size: expected one of {PAGE_SIZES}, got {page_size}")
        if pages < 1:
            raise ValueError(f"pages: the cache has at least 1 page, got {pages}")
        if experts not in EXPERTS:
            raise ValueError(f"experts: expected one of {', '.join(EXPERTS)}, got {experts!r}")
        config = read_config(directory)
        checkpoint = Checkpoint(directory)
        cache = Cache(pages, page_size)
        tokens = random_tokens(config.vocabulary) if calibration is None else calibration
        if not tokens:
            raise ValueError("calibration: a text has at least 1 token, got none")
        check_tokens("calibration", tokens, config.vocabulary)
        try:
            model = load(
                config,
                checkpoint,
                dtype_of(dtype or config.dtype),
                cache,
                Quantising(quantise, tokens) if quantise else None,
                comm,
                whole_experts=experts == "whole",
            )
        finally:
            checkpoint.close()
        return cls(model, cache, most, comm)

    @property
    def config(self) -> Config:
        """The sizes of the model."""
        return self._model.config

    @property
    def vocabulary(self) -> int:
        """Number of different tokens."""
        return self.config.vocabulary

    @property
    def context(self) -> int:
        """Tokens of the longest sequence: what the model allows and the cache holds."""
        return min(self.config.context, self.pages * self.page_size)

    @property
    def pages(self) -> int:
        return self._cache.pages

    @property
    def page_size(self) -> int:
        return self._cache.page_size

    def prefill(self, tokens: Sequence[int], start: int, pages: Sequence[int]) -> ap.Tensor:
        """Add a chunk of one sequence to the cache.

        Parameters
        ----------
        tokens : sequence of int
            The chunk.
        start : int
            How many tokens of the sequence the cache has already.
        pages : sequence of int
            The pages of the sequence, as many as ``start + len(tokens)`` tokens need.

        Returns
        -------
        Tensor
            Logits of the chunk's last token, float32 (1, vocabulary).
        """
        if start < 0 or not tokens:
            raise ValueError(f"a chunk has tokens and begins at 0 or later, got {start}")
        check_tokens("tokens", tokens, self.vocabulary)
        length = start + len(tokens)
        self._check_pages("pages", pages, length)
        self._tell(PREFILL, tokens, (start,), pages)
        places = np.arange(start, length)
        table = np.array([pages], np.int32)
        step = Step(
            rows=1,
            positions=ap.from_numpy(places),
            slots=ap.from_numpy(self._slots(places, table[0])),
            table=ap.from_numpy(table),
            lengths=(length,),
        )
        logits = ap.empty((1, self.vocabulary), np.float32)
        self._model.forward(ap.from_numpy(np.array(tokens, np.int64)), step, logits)
        return logits

    def decode(
        self, tokens: Sequence[int], lengths: Sequence[int], pages: Sequence[Sequence[int]]
    ) -> ap.Tensor:
        """Add one token to each of several sequences.

        Parameters
        ----------
        tokens : sequence of int
            A token of each sequence, at most ``most``.
        lengths : sequence of int
            Tokens of each sequence, the new one included.
        pages : sequence of sequence of int
            The pages of each sequence, as many as its length needs.

        Returns
        -------
        Tensor
            Logits, float32 (sequences, vocabulary). The next ``decode`` of a batch of similar size
            overwrites them, in the order of the stream.
        """
        if not 1 <= len(tokens) <= self._most:
            raise ValueError(f"tokens: a batch has 1 to {self._most} rows, got {len(tokens)}")
        if not len(tokens) == len(lengths) == len(pages):
            raise ValueError(
                f"{len(tokens)} tokens, {len(lengths)} lengths and {len(pages)} lists of pages: "
                "there is one of each for a row"
            )
        check_tokens("tokens", tokens, self.vocabulary)
        self._check_batch(lengths, pages)
        self._tell(DECODE, tokens, lengths, *pages)
        bucket = self._bucket_of[len(tokens)]
        return bucket.run(tokens, lengths, self._pages, self._cache.page_size)

    def graph_of(self, rows: int) -> ap.Graph:
        """The captured graph that computes a step of so many sequences."""
        return self._bucket_of[rows].graph

    def follow(self) -> None:
        """Repeat the calls of rank 0 until it closes its decoder."""
        if self._calls is None or self._calls.leads:
            raise ValueError("follow: only ranks behind rank 0 repeat its calls")
        while True:
            kind, lists = self._calls.hear()
            if kind == END:
                return
            if kind == PREFILL:
                tokens, (start,), pages = lists
                self.prefill(tokens, start, pages)
            else:
                tokens, lengths, *tables = lists
                self.decode(tokens, lengths, tables)

    def close(self) -> None:
        """Release the graphs and the communicator; on rank 0 also let the others go."""
        for bucket in self._buckets.values():
            bucket.close()
        self._buckets.clear()
        self._bucket_of.clear()
        if self._comm is None or self._calls is None:
            return
        calls, self._calls = self._calls, None
        try:
            if calls.leads:
                calls.tell(END)
        finally:
            calls.close()
            self._comm.close()

    def _tell(self, kind: int, *lists: Sequence[int]) -> None:
        if self._calls is not None and self._calls.leads:
            self._calls.tell(kind, *lists)

    def _slots(self, places: np.ndarray, pages: np.ndarray) -> np.ndarray:
        size = self.page_size
        return pages[places // size].astype(np.int64) * size + places % size

    def _check_batch(self, lengths: Sequence[int], pages: Sequence[Sequence[int]]) -> None:
        """Note the pages of a batch. They change once in many steps, and are looked at then."""
        if pages == self._pages and min(lengths) > 0 and all(map(le, lengths, self._room)):
            return
        for row, (length, own) in enumerate(zip(lengths, pages, strict=True)):
            self._check_pages(f"pages[{row}]", own, length)
        self._pages = [list(own) for own in pages]
        self._room = [min(self.context, len(own) * self.page_size) for own in pages]

    def _check_pages(self, name: str, pages: Sequence[int], length: int) -> None:
        if not 1 <= length <= self.context:
            raise ValueError(f"a sequence has 1 to {self.context} tokens, got {length}")
        if len(pages) * self.page_size < length:
            raise ValueError(
                f"{name}: {len(pages)} pages of {self.page_size} tokens do not hold {length}"
            )
        least, most = min(pages), max(pages)
        if least < 0 or most >= self.pages:
            wrong = least if least < 0 else most
            raise ValueError(f"{name}: page {wrong} is not one of 0 to {self.pages - 1}")


def check_tokens(name: str, tokens: Sequence[int], vocabulary: int) -> None:
    """Raise ValueError if a number is not that of a token."""
    least, most = min(tokens), max(tokens)
    if least < 0 or most >= vocabulary:
        wrong = least if least < 0 else most
        raise ValueError(f"{name}: {wrong} is not one of 0 to {vocabulary - 1}")


def bucket_sizes(most: int) -> list[int]:
    """1, 2, 4 and so on, up to ``most``."""
    sizes = []
    rows = 1
    while rows < most:
        sizes.append(rows)
        rows *= 2
    return [*sizes, most]
