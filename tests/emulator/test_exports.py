# SPDX-License-Identifier: Apache-2.0
"""What the emulator's library offers to the linker: the C interface and nothing else."""

from __future__ import annotations

import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
LIBRARY = ROOT / "aclnn_py" / "lib" / "libaclnn_py_emulator.so"
DEVICE = LIBRARY.with_name("libaclnn_py_emulator_device.so")
INTERFACE = re.compile(
    r"(aclnn|acl|Acl|Hccl|Hccn|Hcom|Msprof|mstx|rt[A-Z])\w+|drvGetDevNum|hal[A-Z]\w+|[a-z_]+_s"
)
# Entry points of a framework's executor cache: with them present, programs would use it.
CACHE = re.compile(r"PTA|HugeMem|AddTensorAddrToCachedList|ResetCacheThreadLocal")

pytestmark = pytest.mark.emulator_only(reason="looks into the emulator's library")


def names_of(library: Path) -> set[str]:
    if shutil.which("nm") is None:
        pytest.skip("no nm")
    done = subprocess.run(
        ["nm", "-D", "--defined-only", str(library)], capture_output=True, text=True, check=True
    )
    return {line.split()[-1].split("@")[0] for line in done.stdout.splitlines() if line}


@pytest.fixture(scope="module")
def exported() -> set[str]:
    return names_of(LIBRARY)


def test_the_device_has_no_name_of_cann_s(exported: set[str]) -> None:
    names = names_of(DEVICE)
    own = {name for name in names if name.startswith("aclnn_py_")}
    assert {name.removeprefix("emulated_") for name in names - own} == exported
    assert all(name.startswith("emulated_") for name in names - own)
    assert len(own) < 10


def test_no_other_symbol_leaves_the_library(exported: set[str]) -> None:
    assert sorted(name for name in exported if not INTERFACE.fullmatch(name)) == []


def test_the_executor_cache_is_not_offered(exported: set[str]) -> None:
    assert sorted(name for name in exported if CACHE.search(name)) == []


def test_a_phase_never_comes_alone(exported: set[str]) -> None:
    first = {n.removesuffix("GetWorkspaceSize") for n in exported if n.endswith("GetWorkspaceSize")}
    assert first
    assert sorted(first - exported) == []


def test_meta_interface_is_complete(exported: set[str]) -> None:
    text = (ROOT / "include" / "aclnn" / "acl_meta.h").read_text()
    declared = set(re.findall(r"[ *](\w+)\(", text))
    assert declared
    assert sorted(declared - exported) == []
