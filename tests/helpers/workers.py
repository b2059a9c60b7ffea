# SPDX-License-Identifier: Apache-2.0
"""What attention workers leave for a worker with experts: descriptions, tokens and the context."""

from __future__ import annotations

import struct
from typing import Any

import numpy as np

import aclnn_py as ap

MASKED = np.iinfo(np.int32).max
FIELDS = {
    "session_num": 0, "micro_batch_num": 4, "micro_batch_size": 8, "selected_expert_num": 12,
    "attn_to_ffn_token_size": 20, "run_flag": 128,
}  # fmt: skip
BUFFERS = {
    "token_info_buf": 384, "token_data_buf": 400, "layer_ids_buf": 512, "session_ids_buf": 528,
    "micro_batch_ids_buf": 544, "expert_ids_buf": 560,
}  # fmt: skip
POLLING, TAKEN = 416, 576


class Inbox:
    """Descriptions [sessions, batches, flag + layer + experts] and rows of tokens, on the device.

    ``rows`` has shape ``(sessions, batches, tokens, each, row bytes)``.
    """

    def __init__(self, sessions: int, batches: int, tokens: int, each: int, row_bytes: int) -> None:
        rng = np.random.default_rng(sessions * 100 + batches)
        shape = (sessions, batches, tokens, each)
        self.infos = np.zeros((sessions, batches, 2 + tokens * each), np.int32)
        self.infos[:, :, 1] = 50 + np.arange(sessions)[:, None]
        self.infos[:, :, 2:] = rng.integers(0, 5, self.infos[:, :, 2:].shape)
        self.infos[0, :, 2] = MASKED
        self.rows = rng.integers(0, 60, (*shape, row_bytes)).astype(np.uint8)
        self.sizes = (sessions, batches, tokens, each)
        self.buffers: dict[str, Any] = {}
        self.context = np.zeros(1024, np.int8)

    def place(self, polling: int = 0, **changes: Any) -> ap.Tensor:
        """Put everything on the device; return the context. A change is a field or a buffer."""
        sessions, _, tokens, each = self.sizes
        ids = np.full(sessions, -1, np.int32)
        self.buffers = {
            "token_info_buf": ap.from_numpy(self.infos),
            "token_data_buf": ap.from_numpy(self.rows),
            **{name: ap.from_numpy(ids) for name in list(BUFFERS)[2:5]},
            "expert_ids_buf": ap.from_numpy(np.full((sessions, tokens * each), -1, np.int32)),
        }
        numbers = dict(zip(FIELDS, (*self.sizes, self.rows.shape[-1], 1), strict=True))
        data = bytearray(1024)
        for name, value in (numbers | {k: v for k, v in changes.items() if k in FIELDS}).items():
            struct.pack_into("<I", data, FIELDS[name], value)
        for name, at in BUFFERS.items():
            buffer = self.buffers[name]
            place = changes.get(name, (buffer.address, buffer.nbytes))
            struct.pack_into("<2Q", data, at, *place)
        struct.pack_into("<Q", data, POLLING, polling)
        struct.pack_into("<I", data, TAKEN, changes.get("out_num", 0))
        return ap.from_numpy(np.frombuffer(bytes(data), np.int8))

    def taken(self, context: ap.Tensor) -> tuple[int, int, list[Any]]:
        """out_num, polling_index and what the buffers hold of the sessions that were taken."""
        data = context.numpy().tobytes()
        (count,) = struct.unpack_from("<I", data, TAKEN)
        (polling,) = struct.unpack_from("<Q", data, POLLING)
        return count, polling, [self.buffers[n].numpy()[:count] for n in list(BUFFERS)[2:]]

    def cleared(self, chosen: list[tuple[int, int]]) -> np.ndarray:
        """The descriptions after (session, batch) were taken."""
        after = self.infos.copy()
        for session, batch in chosen:
            after[session, batch, 0] = 0
            after[session, batch, 2:] = MASKED
        return after

    def sorted(self, chosen: list[tuple[int, int]], experts: int) -> list[tuple[int, ...]]:
        """(expert, session, batch, token, choice) of the rows that go to an expert, in order."""
        _, _, tokens, each = self.sizes
        found = []
        for session, batch in chosen:
            ids = self.infos[session, batch, 2:].reshape(tokens, each)
            for token, choice in np.ndindex(tokens, each):
                if 0 <= ids[token, choice] < experts:
                    found.append((int(ids[token, choice]), session, batch, token, choice))
        return sorted(found, key=lambda row: row[0])
