# SPDX-License-Identifier: Apache-2.0
"""Communicators for phase one of the fused operators."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from aclnn_py.distributed import Communicator


@pytest.fixture(scope="module")
def groups() -> Iterator[dict[int, str]]:
    """Names of communicators of device 0, by their number of ranks."""
    made = {count: Communicator.init_all(count) for count in (1, 2, 3)}
    yield {count: comms[0].name for count, comms in made.items()}
    for comms in made.values():
        for comm in comms:
            comm.close()
