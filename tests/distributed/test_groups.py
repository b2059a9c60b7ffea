# SPDX-License-Identifier: Apache-2.0
"""Which communicator a ``group`` argument means."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py.distributed import Communicator


def test_group_is_found_by_name_and_by_device(run_threads: Any) -> None:
    def work(comm: Communicator) -> None:
        for group in (None, comm.name, comm):
            x = ap.from_numpy(np.ones(2, np.float32))
            dist.all_reduce(x, group=group)
            assert x.numpy().tolist() == [2.0, 2.0]
        with pytest.raises(ValueError, match=comm.name):
            dist.barrier("another")

    run_threads(2, work)


def test_group_of_a_device_without_communicator_is_explained() -> None:
    with ap.Device(5), pytest.raises(ValueError, match="from_env"):
        dist.barrier()
    with pytest.raises(TypeError, match="int"):
        dist.barrier(3)  # type: ignore[arg-type]
