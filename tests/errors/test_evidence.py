# SPDX-License-Identifier: Apache-2.0
"""Messages show what decides, however many arguments a call has."""

from __future__ import annotations

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py.errors.evidence import Argument, lines_of


def tensor(name: str) -> Argument:
    return Argument(name=name, shape=(2, 3), dtype="float16", strides=(3, 1), format="ND")


def test_a_small_call_has_a_line_per_argument() -> None:
    given = [tensor("self"), Argument(name="dim", value="None"), tensor("out")]
    assert lines_of(given) == [str(argument) for argument in given]


def test_of_many_arguments_tensors_come_first_and_none_is_told_once() -> None:
    given = [tensor("query")]
    given += [Argument(name=f"absent{i}", value="None") for i in range(30)]
    given += [Argument(name=f"flag{i}", value=str(i)) for i in range(8)]
    given += [tensor("out")]
    lines = lines_of(given)
    assert [line.split(":")[0] for line in lines] == ["query", "out", "flag0", "None"]
    assert lines[2].startswith("flag0: 0, flag1: 1, ") and lines[2].endswith("flag7: 7")
    assert lines[3].startswith("None: absent0, absent1, ") and lines[3].endswith("absent29")


def test_the_first_and_the_last_lines_stay() -> None:
    lines = lines_of([tensor(f"x{i}") for i in range(1000)])
    assert lines[0] == str(tensor("x0")) and lines[-1] == str(tensor("x999"))
    assert lines[8] == "... 984 more, see `arguments` of the exception" and len(lines) == 17
    (line,) = lines_of([Argument(name="mode", value="x" * 600)])
    assert line == "mode: " + "x" * 494 + "... (606 characters)"


def test_a_refused_attention_shows_its_output(device: ap.Device) -> None:
    """Of its 39 arguments, 20 are left out."""
    query = ap.from_numpy(np.zeros((1, 2, 4, 16), np.float16))
    wrong = ap.from_numpy(np.zeros((1, 2, 4, 16), np.int32))
    absent = [None] * 21
    attributes = [2, 0.25, 2**31 - 1, 2**31 - 1, "BNSD", 2, 0, 0, 0, 0, False, 0, 0]
    with pytest.raises(ap.errors.AclnnError) as caught:
        ap.ops.fused_infer_attention_score_v2(
            query, [query], [query], *absent, *attributes, wrong, None
        )
    lines = str(caught.value).splitlines()
    assert len(caught.value.arguments) == 41 and len(lines) <= 12
    (output,) = [line for line in lines if line.startswith("  attention_out: ")]
    assert "(1, 2, 4, 16) int32" in output
    assert "num_heads: 2, scale_value: 0.25" in str(caught.value)
    assert str(caught.value).count("None: ") == 1
