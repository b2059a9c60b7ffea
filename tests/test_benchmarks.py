# SPDX-License-Identifier: Apache-2.0
"""The command that runs the benchmarks: what it accepts from a module, and what it writes."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).parent.parent
GOOD: dict[str, Any] = {
    "name": "ops.add",
    "case": "3 tensors",
    "ours": 300.0,
    "baseline": 50.0,
    "baseline_name": "C loop",
    "ratio": 6.0,
    "unit": "ns",
    "aim": "<= 9",
}


@pytest.fixture
def benchmarks(monkeypatch: pytest.MonkeyPatch) -> Any:
    monkeypatch.syspath_prepend(str(ROOT))
    import benchmarks.report
    import benchmarks.rows

    return benchmarks


@pytest.mark.parametrize(
    ("change", "met"),
    [
        ({}, True),
        ({"aim": "<= 5"}, False),
        ({"aim": ">= 4", "unit": "GB/s"}, True),
        ({"aim": ">= 7", "unit": "GB/s"}, False),
        ({"aim": ""}, None),
        ({"baseline": None, "ratio": None, "aim": "<= 299"}, False),
        ({"baseline": None, "ratio": None, "aim": "<= 300"}, True),
    ],
)
def test_an_aim_is_met_or_missed(benchmarks: Any, change: dict[str, Any], met: bool) -> None:
    assert benchmarks.rows.checked("launch", GOOD | change).met is met


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"extra": 1}, "exactly the keys"),
        ({"ours": None}, "finite"),
        ({"ratio": float("nan")}, "finite"),
        ({"ratio": 0.17}, "ours / baseline is 6"),
        ({"aim": "9"}, "an aim is"),
        ({"aim": "about 9"}, "an aim is"),
        ({"baseline": None}, "a ratio needs a baseline"),
    ],
)
def test_a_wrong_row_is_refused_by_module(
    benchmarks: Any, change: dict[str, Any], said: str
) -> None:
    with pytest.raises(ValueError, match=said) as caught:
        benchmarks.rows.checked("launch", GOOD | change)
    assert "benchmarks/launch.py" in str(caught.value)


def test_table_groups_by_module_and_names_missed_aims(benchmarks: Any) -> None:
    rows = [
        benchmarks.rows.checked(module, GOOD | {"name": name, "aim": aim})
        for module, name, aim in [("launch", "a", ""), ("launch", "b", "<= 5"), ("copies", "c", "")]
    ]
    lines = benchmarks.report.table(rows).splitlines()
    assert [line for line in lines[1:] if line and line[0] != " "] == ["launch", "copies"]
    assert [line.split()[0] for line in lines if "MISSED" in line] == ["b"]


def run(*words: str, path: Path) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "benchmarks", *words],
        cwd=ROOT,
        capture_output=True,
        text=True,
        timeout=120,
        env={**os.environ, "PYTHONPATH": str(path)},
    )


def test_one_module_from_the_command_line(tmp_path: Path) -> None:
    # matplotlib is an option: without it the table and the JSON are there all the same
    (tmp_path / "matplotlib.py").write_text("raise ModuleNotFoundError('no', name='matplotlib')\n")
    out, picture = tmp_path / "rows.json", tmp_path / "rows.png"
    words = ("--quick", "--only", "import_time", "--json", str(out), "--plot", str(picture))
    done = run(*words, path=tmp_path)
    assert done.returncode == 1
    assert "--plot needs matplotlib" in done.stderr
    assert "import aclnn_py" in done.stdout
    written = json.loads(out.read_text())
    assert {row["module"] for row in written["rows"]} == {"import_time"}
    assert written["machine"]["processors"] >= 1
    assert written["versions"]["numpy"]
    assert not picture.exists()


def test_an_unknown_module_is_refused_with_the_known_ones(tmp_path: Path) -> None:
    done = run("--only", "nothing", path=tmp_path)
    assert done.returncode == 2
    assert "import_time" in done.stderr


def test_the_allocator_works_without_the_rest_of_the_package(
    benchmarks: Any, tmp_path: Path
) -> None:
    import benchmarks.memory

    loops = benchmarks.memory.c_loops(tmp_path)
    assert loops.pool_pairs(3, 4096) == 0
    assert loops.malloc_pairs(3, 4096) == 0
