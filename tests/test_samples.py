# SPDX-License-Identifier: Apache-2.0
"""Every sample runs, and its own check agrees."""

from __future__ import annotations

import re
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
SAMPLES = ROOT / "samples"
RUN = [sys.executable, "-m", "aclnn_py.tools.cli"]
BY_RANKS = {
    "01_all_gather_matmul.py",
    "09_tensor_parallel_layer.py",
    "10_quant_matmul_all_reduce.py",
    "11_grouped_mat_mul_all_reduce.py",
}


def output_of(words: list[str], cwd: Path) -> str:
    result = subprocess.run(words, cwd=cwd, capture_output=True, text=True, timeout=240)
    assert result.returncode == 0, result.stdout + result.stderr
    return result.stdout


def flags(kind: str) -> list[str]:
    # Not from the root of the source tree, where Python would find the package that is not built.
    return shlex.split(output_of([*RUN, "config", kind], SAMPLES))


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.py")), ids=lambda path: path.name)
def test_python_sample(path: Path, tmp_path: Path) -> None:
    if path.name in BY_RANKS:
        out = output_of([*RUN, "run", "-n", "2", str(path)], tmp_path)
        assert [line for line in out.splitlines() if line.endswith("] ok")]
        assert sorted(re.findall(r"^\[(\d)\] ok$", out, re.MULTILINE)) == ["0", "1"]
    else:
        out = output_of([sys.executable, str(path)], tmp_path)
        assert out.splitlines()[-1] == "ok"
    assert re.search(r"Ascend\w+", out), "a sample names the device it ran on"


def test_training_on_two_ranks(tmp_path: Path) -> None:
    words = [*RUN, "run", "-n", "2", str(SAMPLES / "16_train.py")]
    out = output_of(words, tmp_path)
    assert sorted(re.findall(r"^\[(\d)\] ok$", out, re.MULTILINE)) == ["0", "1"]


@pytest.mark.parametrize("path", sorted(SAMPLES.glob("*.c*")), ids=lambda path: path.name)
def test_compiled_sample(path: Path, tmp_path: Path) -> None:
    name, standard = ("cc", "-std=c11") if path.suffix == ".c" else ("c++", "-std=c++17")
    compiler = shutil.which(name)
    assert compiler, f"{name} is needed to build the package, so it is here"
    warnings = ["-Wall", "-Wextra", "-Werror", "-pthread"]
    program = tmp_path / "program"
    words = [compiler, standard, *warnings, *flags("--cflags"), str(path), "-o", str(program)]
    output_of([*words, *flags("--libs")], tmp_path)
    assert output_of([str(program)], tmp_path).splitlines()[-1] == "ok"


def test_the_table_lists_every_sample() -> None:
    listed = re.findall(r"^\| `([^`]+)` ", (SAMPLES / "README.md").read_text(), re.MULTILINE)
    present = sorted(path.name for path in SAMPLES.iterdir() if re.match(r"\d\d_", path.name))
    assert listed == present
