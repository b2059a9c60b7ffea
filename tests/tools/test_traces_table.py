# SPDX-License-Identifier: Apache-2.0
"""Where the time of a trace went, summed up by operator."""

from __future__ import annotations

import json

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.tools.cli import main
from aclnn_py.tools.traces.reader import read_calls
from aclnn_py.tools.traces.table import totals


def test_the_table_sums_up_by_operator(device, tmp_path, capsys):
    x = ap.from_numpy(np.arange(6, dtype=np.float16).reshape(2, 3))
    out = ap.empty((2, 3), np.float16)
    path = tmp_path / "calls.json"
    with ap.tools.trace(path):
        for _ in range(3):
            ops.add(x, x, 1.0, out)
        with pytest.raises(errors.AclnnError):
            ops.add(x, None, 1.0, out)
        ops.mul(x, x, out)
        out.numpy()
    assert main(["trace", str(path)]) == 0
    lines = capsys.readouterr().out.splitlines()
    found = {line.split()[0]: line.split() for line in lines[1:3]}
    assert found["aclnnAdd"][1] == "4" and found["aclnnAdd"][5] == "1"
    assert found["aclnnMul"][1] == "1" and found["aclnnMul"][5] == "0"
    assert "█" in lines[1]
    assert main(["trace", "--functions", "--json", str(path)]) == 0
    rows = json.loads(capsys.readouterr().out)
    assert "aclrtMemcpy" in {row["name"] for row in rows}
    assert abs(sum(row["share"] for row in rows) - 1) < 1e-9
    assert [r.calls for r in totals(c for c in read_calls(path) if c.launched == "aclnnAdd")] == [4]


def test_a_file_that_is_no_trace_is_an_answer_not_a_crash(tmp_path, capsys):
    (tmp_path / "other.txt").write_text("hello\n")
    assert main(["trace", str(tmp_path / "other.txt")]) == 1
    assert "not a trace of aclnn_py" in capsys.readouterr().err
    assert main(["trace", str(tmp_path / "absent")]) == 1
    assert "absent" in capsys.readouterr().err
