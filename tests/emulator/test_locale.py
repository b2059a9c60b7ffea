# SPDX-License-Identifier: Apache-2.0
"""A program in a locale whose numbers have a comma: files are read and written with a point."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = """
import locale, sys
locale.setlocale(locale.LC_ALL, "de_DE.UTF-8")
assert locale.localeconv()["decimal_point"] == ","
import numpy as np
import aclnn_py as ap
from aclnn_py.runtime.initialization import ensure

ensure(sys.argv[1])
with ap.Device(0):
    with ap.tools.profile(folder=sys.argv[2]) as found:
        for _ in range(3):
            ap.functional.relu(ap.from_numpy(np.ones((4, 8), np.float32)))
    print(sum(row.calls for row in found.rows() if row.name == "aclnnRelu"))
"""


@pytest.fixture
def german(tmp_path: Path) -> dict[str, str]:
    """The environment of a process in which de_DE can be chosen."""
    if shutil.which("localedef") is None or not Path("/usr/share/i18n/locales/de_DE").exists():
        pytest.skip("no localedef or no source of de_DE")
    made = tmp_path / "locales" / "de_DE.UTF-8"
    made.parent.mkdir()
    command = ["localedef", "-i", "de_DE", "-f", "UTF-8", str(made)]
    subprocess.run(command, check=True, capture_output=True, timeout=120)
    return {**os.environ, "LOCPATH": str(made.parent)}


def test_files_have_a_point_in_every_locale(german: dict[str, str], tmp_path: Path) -> None:
    settings, folder = tmp_path / "acl.json", tmp_path / "profile"
    settings.write_text(json.dumps({"factor": 1.5, "exponent": -2e-30}))
    command = [sys.executable, "-c", PROGRAM, str(settings), str(folder)]
    done = subprocess.run(
        command, env=german, capture_output=True, text=True, check=False, timeout=300
    )
    assert (done.returncode, done.stdout) == (0, "3\n"), done.stderr
    (trace,) = folder.rglob("msprof_*.json")
    events = json.loads(trace.read_text())
    assert any(event["ph"] == "X" and isinstance(event["ts"], float) for event in events)
