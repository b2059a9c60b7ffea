# SPDX-License-Identifier: Apache-2.0
"""docs/pyacl.md and the stubs of `aclnn_py.acl` are what the table says."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

from aclnn_py.acl.refusals import refused_names
from maintain import pyacl

ROOT = Path(__file__).resolve().parents[2]


def test_the_files_are_written_from_the_table() -> None:
    assert pyacl.differences() == [], f"run: {pyacl.COMMAND}"


def test_the_page_has_every_function_and_every_refusal() -> None:
    text = pyacl.page()
    assert "`dev_ptr, ret = acl.rt.malloc(size, policy)` | `aclrtMalloc` | yes |" in text
    for name in refused_names():
        assert f"`{name.rpartition('.')[2]}`" in text
    counts = re.search(r"^\| (\d+) \| (\d+) \| (\d+) \| (\d+) \|$", text, re.MULTILINE)
    assert counts is not None
    documented, present, refused, tested = map(int, counts.groups())
    assert documented == present + refused
    assert refused == len(refused_names())
    assert 100 < tested <= present


def test_a_function_counts_as_tested_when_a_test_calls_it() -> None:
    assert {"rt.malloc", "init", "util.bytes_to_ptr"} <= pyacl.tested()
    assert "rt.no_such_function" not in pyacl.tested()


def test_type_checker_takes_right_calls_and_refuses_wrong_ones(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "from aclnn_py import acl\n"
        "dev_ptr, ret = acl.rt.malloc(64, acl.ACL_MEM_MALLOC_HUGE_FIRST)\n"
        "ret = acl.rt.free(dev_ptr)\n"
        "acl.rt.malloc('64', 0)  # line 4\n"
        "acl.rt.no_such_function()  # line 5\n"
        "text: str = acl.get_soc_name()\n"
        "number: int = acl.get_soc_name()  # line 7\n"
        "desc = acl.create_tensor_desc(acl.ACL_FLOAT, [2, 3], acl.ACL_FORMAT_ND)\n"
        "acl.set_tensor_shape_range(desc, [1, 2])  # line 9\n"
        "acl.ACL_NO_SUCH_CONSTANT  # line 10\n"
        "acl.rt.launch_callback(print, [], 1, 0)\n"
        "acl.rt.launch_callback(3, [], 1, 0)  # line 12\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    lines = {int(line.split(":")[1]) for line in done.stdout.splitlines() if ": error" in line}
    assert lines == {4, 5, 7, 9, 10, 12}, done.stdout + done.stderr
