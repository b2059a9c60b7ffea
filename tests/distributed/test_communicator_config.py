# SPDX-License-Identifier: Apache-2.0
"""Settings of a communicator, and the C structure they fill."""

from __future__ import annotations

import pytest

import aclnn_py as ap
from aclnn_py.distributed import Communicator, CommunicatorConfig


def test_config_names_the_communicator() -> None:
    with ap.Device(0):
        root = Communicator.root_info()
        config = CommunicatorConfig(name="experts", buffer_mib=16, deterministic=1)
        with Communicator.from_root_info(root, 1, 0, config=config) as comm:
            assert comm.name == "experts"


def test_a_config_name_that_is_too_long_is_refused() -> None:
    with ap.Device(0):
        root = Communicator.root_info()
        with pytest.raises(ValueError, match="name"):
            Communicator.from_root_info(root, 1, 0, config=CommunicatorConfig(name="x" * 128))


def test_config_structure_is_what_cann_8_1_reads() -> None:
    from aclnn_py._ffi import ffi
    from aclnn_py.distributed.communicator_config import fill

    cell = fill(CommunicatorConfig(buffer_mib=7, name="n", service_level=3))
    data = bytes(ffi.buffer(cell))
    assert len(data) == 300
    assert int.from_bytes(data[0:8], "little") == 300
    assert int.from_bytes(data[8:12], "little") == 0xF0F0F0F0
    assert int.from_bytes(data[12:16], "little") == 5
    assert data[16:24] == bytes(8)
    assert int.from_bytes(data[24:28], "little") == 7
    assert data[28:32] == b"\xff" * 4  # deterministic: not set
    assert data[32:34] == b"n\0"
    assert data[160:288] == bytes(128)
    assert data[288:292] == bytes(4)  # expansion mode: default
    assert data[292:296] == b"\xff" * 4
    assert int.from_bytes(data[296:300], "little") == 3
