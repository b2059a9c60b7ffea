# SPDX-License-Identifier: Apache-2.0
"""The C++ program of a recorded call compiles without warnings and ends as the call did."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
from helpers.processes import environment
from helpers.wrong_calls import WRONG_CALLS, setting

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.tools import config
from aclnn_py.tools.cli import main

pytestmark = pytest.mark.emulator_only(reason="the programs are linked with the emulator")

FLAGS = ["-std=c++17", "-O0", "-Wall", "-Wextra", "-Werror"]


def compiler() -> list[str]:
    return shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or "clang++"]


def end_of(source: Path) -> tuple[int, str]:
    """Compile and run a program; return its exit status and what it printed."""
    target = source.with_suffix("")
    command = [*compiler(), *FLAGS, *config.compiler_flags(), str(source)]
    subprocess.run([*command, *config.linker_flags(), "-o", str(target)], check=True)
    done = subprocess.run(
        [str(target)], capture_output=True, text=True, timeout=60, env=environment(), check=False
    )
    return done.returncode, done.stdout + done.stderr


def written(path: Path, record: Path, capsys: pytest.CaptureFixture[str]) -> Path:
    assert main(["replay", "--cpp", str(record)]) == 0
    path.write_text(capsys.readouterr().out)
    return path


def test_every_wrong_call_ends_with_its_code(tmp_path, capsys):
    sources = []
    for number, call in enumerate(WRONG_CALLS):
        with setting(call) as group:
            with pytest.raises(errors.StatusError) as caught:
                call.make(group)
            caught.value.save(tmp_path / f"{number}.rec")
        sources.append(written(tmp_path / f"{number}.cpp", tmp_path / f"{number}.rec", capsys))
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        ends = list(pool.map(end_of, sources))
    for call, (status, text) in zip(WRONG_CALLS, ends, strict=True):
        wanted = f"{call.operator}GetWorkspaceSize: {call.status}\n"
        assert status == 1 and wanted in text, f"{call.name}: {status}\n{text}"


def test_a_fault_needs_the_recorded_data(device, tmp_path, capsys):
    x, bad = ap.from_numpy(np.ones((4, 3), np.float32)), ap.from_numpy(np.array([7]))
    with ap.tools.record(tmp_path / "rec"), pytest.raises(errors.DeviceError):
        ops.index_select(x, 0, bad, ap.empty((1, 3), np.float32))
    status, text = end_of(written(tmp_path / "fault.cpp", tmp_path / "rec", capsys))
    assert status == 1 and "aclrtSynchronizeStream: 507015" in text


def test_a_call_that_succeeds_with_every_kind_of_argument(device, tmp_path, capsys):
    x = ap.from_numpy(np.ones((2, 3, 4), np.float32))
    big = ap.from_numpy(np.ones((100, 100), np.float32))
    with ap.tools.record(tmp_path / "rec"):
        ops.reduce_sum(x.T, [0, 2], False, "float32", ap.empty(3, np.float32))
        ops.cat([x, x], 0, ap.empty((4, 3, 4), np.float32))
        ops.layer_norm(x, [4], None, None, 1e-5, ap.empty((2, 3, 4), np.float32), None, None)
        ops.add(big, big, 1.0, big)
        one = ap.from_numpy(np.ones(1, np.float32))
        ops.foreach_add_list([x, x], [x, x], one, [x, x])
    for number in range(5):
        assert main(["replay", "--cpp", "--call", str(number), str(tmp_path / "rec")]) == 0
        source = tmp_path / f"{number}.cpp"
        source.write_text(capsys.readouterr().out)
        status, text = end_of(source)
        assert status == 0, text
