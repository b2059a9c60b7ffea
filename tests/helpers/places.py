# SPDX-License-Identifier: Apache-2.0
"""Devices to make accepted calls on, with the communicators that the calls name."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import aclnn_py as ap


@contextlib.contextmanager
def places(keys: list[int]) -> Iterator[list[tuple[ap.Device, dict[int, str]]]]:
    """Where a call is made: each device with the names of its communicators, if there are any."""
    from aclnn_py.distributed import Communicator

    made = [Communicator.init_all(abs(key)) for key in keys]
    try:
        yield [
            (comms[0].device, dict(zip(keys, (comm.name for comm in comms), strict=True)))
            for comms in zip(*made, strict=True)
        ] or [(ap.Device(0), {})]
    finally:
        for comms in made:
            for comm in comms:
                comm.close()
