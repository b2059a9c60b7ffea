# SPDX-License-Identifier: Apache-2.0
"""The plug-in and the environment it needs; without them every test is skipped with the reason."""

from __future__ import annotations

import importlib.util
import os

import pytest


@pytest.fixture(scope="session", autouse=True)
def plug_in() -> None:
    """Skip where the plug-in is not installed or no CANN tree is in use."""
    for name in ("torch", "torch_npu"):
        if importlib.util.find_spec(name) is None:
            pytest.skip(f"{name} is not installed")
    if "ASCEND_HOME_PATH" not in os.environ:
        pytest.skip("no CANN tree is in use: source its set_env.sh")
