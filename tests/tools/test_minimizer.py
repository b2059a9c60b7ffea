# SPDX-License-Identifier: Apache-2.0
"""The smallest shapes with which a recorded call still fails."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.operators.record.file import RecordReader
from aclnn_py.tools.cli import main


def test_minimizing_keeps_the_failure_and_little_else(device, tmp_path, capsys):
    x = ap.from_numpy(np.ones((64, 48), np.float32))
    path, small = tmp_path / "call", tmp_path / "small"
    with pytest.raises(errors.AclnnError) as caught:
        ops.matmul(x, x, ap.empty((64, 48), np.float32), 0)
    caught.value.save(path)
    assert main(["replay", "--minimize", str(small), str(path)]) == 0
    assert "bytes of tensors became" in capsys.readouterr().err
    (item,) = ap.tools.replay(small)
    assert item.agrees and item.status == caught.value.status
    (call,) = RecordReader(small).calls
    assert max(dim for view in call.views for dim in view.shape) <= 2
    assert sum(memory.nbytes for memory in call.memories) < 64
    with ap.tools.record(path):
        ops.add(x, x, 1.0, x)
    assert main(["replay", "--minimize", str(small), str(path)]) == 2
    assert "only a failure that comes again" in capsys.readouterr().err
