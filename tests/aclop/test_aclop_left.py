# SPDX-License-Identifier: Apache-2.0
"""A C++ program that leaves objects of the aclop interface behind is told so."""

from __future__ import annotations

import os
import subprocess
from pathlib import Path

import pytest
from helpers.native import NATIVE, SANITIZERS, compiled

pytestmark = pytest.mark.emulator_only(reason="links against the emulator's library")
KINDS = ("aclTensorDesc", "aclDataBuffer", "aclopAttr")


@pytest.mark.parametrize("left", [True, False])
def test_what_is_left_is_named(left: bool, tmp_path: Path) -> None:
    if SANITIZERS:
        pytest.skip("a sanitizer has its own reports")
    program = compiled(NATIVE / "aclop.cpp", tmp_path / "aclop")
    command = [str(program), *(["leave"] if left else [])]
    env = {**os.environ, "ACLNN_PY_CHECK": "1"}
    done = subprocess.run(
        command, env=env, capture_output=True, text=True, timeout=240, check=False
    )
    lines = [line for line in done.stderr.splitlines() if "never destroyed" in line]
    named = [kind for kind in KINDS if any(kind in line for line in lines)]
    assert named == (list(KINDS) if left else []), done.stdout + done.stderr
