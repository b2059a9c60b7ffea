# SPDX-License-Identifier: Apache-2.0
"""`aclnn-py verify` finds every fault planted in a library, and nothing else."""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from helpers.processes import environment

import aclnn_py as ap
from aclnn_py.emulator import library_path
from aclnn_py.tools.verify.cases import cases_of, names_of

pytestmark = pytest.mark.emulator_only(reason="the library in the place of a device is made of it")

# The emulator under CANN's names with planted faults, and without the mark by which it is known: a
# symbol at address 0 is no symbol. `aclnnAsin` is absent in the same way.
PLANTED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>
__asm__(".globl aclnn_py_emulator_contract\\n.set aclnn_py_emulator_contract, 0");
__asm__(".globl aclnnAsinGetWorkspaceSize\\n.set aclnnAsinGetWorkspaceSize, 0");
__asm__(".globl aclnnAsin\\n.set aclnnAsin, 0");
typedef int32_t (*plan_t)(void *, void *, uint64_t *, void **);
typedef int32_t (*plan4_t)(void *, void *, void *, void *, uint64_t *, void **);
typedef int32_t (*run_t)(void *, uint64_t, void *, void *);
int32_t aclGetDataType(const void *, int32_t *);
#define REAL(type, name) ((type)dlsym(RTLD_NEXT, name))
static int32_t dtype_of(void *tensor) {
  int32_t dtype = -1;
  if (tensor) aclGetDataType(tensor, &dtype);
  return dtype;
}
enum { FLOAT16 = 1, UINT8 = 4 };

/* Another operator's numbers. */
static int other;
int32_t aclnnExpGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  other = dtype_of(x) == FLOAT16;
  return REAL(plan_t, other ? "aclnnExpm1GetWorkspaceSize" : "aclnnExpGetWorkspaceSize")(
      x, out, size, executor);
}
int32_t aclnnExp(void *w, uint64_t size, void *executor, void *stream) {
  return REAL(run_t, other ? "aclnnExpm1" : "aclnnExp")(w, size, executor, stream);
}
/* Nearly the right numbers: the other approximation. */
int32_t aclnnGeluV2GetWorkspaceSize(void *, int64_t, void *, uint64_t *, void **);
int32_t aclnnGeluV2(void *, uint64_t, void *, void *);
int32_t aclnnGeluGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  const int32_t status = REAL(plan_t, "aclnnGeluGetWorkspaceSize")(x, out, size, executor);
  return status ? status : aclnnGeluV2GetWorkspaceSize(x, 0, out, size, executor);
}
int32_t aclnnGelu(void *w, uint64_t size, void *executor, void *stream) {
  return aclnnGeluV2(w, size, executor, stream);
}
/* Another status for the same refusal. */
int32_t aclnnSubGetWorkspaceSize(void *x, void *y, void *z, void *out, uint64_t *size, void **e) {
  const int32_t status = REAL(plan4_t, "aclnnSubGetWorkspaceSize")(x, y, z, out, size, e);
  return status == 161002 ? 561002 : status;
}
/* A refusal of what is allowed. */
int32_t aclnnCosGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  if (dtype_of(x) == FLOAT16) return 161002;
  return REAL(plan_t, "aclnnCosGetWorkspaceSize")(x, out, size, executor);
}
/* A call that does not end. */
int32_t aclnnTanhGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  while (dtype_of(x) == UINT8) pause();
  return REAL(plan_t, "aclnnTanhGetWorkspaceSize")(x, out, size, executor);
}
/* A call that ends the process. */
static int last;
int32_t aclnnSinhGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  last = dtype_of(x);
  return REAL(plan_t, "aclnnSinhGetWorkspaceSize")(x, out, size, executor);
}
int32_t aclnnSinh(void *w, uint64_t size, void *executor, void *stream) {
  if (last == FLOAT16) abort();
  return REAL(run_t, "aclnnSinh")(w, size, executor, stream);
}
/* A fault of the device, which every later call of the process meets too. */
static int broken;
int32_t aclnnErfGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  last = dtype_of(x);
  return REAL(plan_t, "aclnnErfGetWorkspaceSize")(x, out, size, executor);
}
int32_t aclnnErf(void *w, uint64_t size, void *executor, void *stream) {
  if (last == FLOAT16) broken = 1;
  return REAL(run_t, "aclnnErf")(w, size, executor, stream);
}
int32_t aclrtSynchronizeStreamWithTimeout(void *stream, int32_t timeout) {
  const int32_t status = ((int32_t (*)(void *, int32_t))dlsym(
      RTLD_NEXT, "aclrtSynchronizeStreamWithTimeout"))(stream, timeout);
  return broken ? 507015 : status;
}
"""
FAULTY = {
    "aclnnExp": "result",
    "aclnnGelu": "result",
    "aclnnSub": "status",
    "aclnnCos": "status",
    "aclnnTanh": "hung",
    "aclnnSinh": "died",
    "aclnnErf": "fault",
}
SOUND = ("aclnnAdd", "aclnnSort", "aclnnLog", "aclnnAllGatherMatmul", "aclnnTopk")
PATTERNS = (*FAULTY, *SOUND, "aclnnAsin")


def verify(folder: Path, *words: str, **env: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "aclnn_py.tools.cli", "verify", *words]
    return subprocess.run(
        command, cwd=folder, env=environment(env), capture_output=True, text=True, check=False
    )


def report_of(folder: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((folder / "verify.json").read_text(encoding="utf-8"))
    return found


@pytest.fixture(scope="module")
def planted(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with reports about the library with planted faults."""
    folder = tmp_path_factory.mktemp("verify")
    emulator, place = library_path(), folder / "lib64"
    place.mkdir()
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("gcc") or "cc"]
    command = [*compiler, "-shared", "-fPIC", "-w", "-x", "c", "-", "-x", "none", str(emulator)]
    command += [f"-Wl,-rpath,{emulator.parent}", "-ldl", "-o", str(place / "libascendcl.so")]
    subprocess.run(command, input=PLANTED, text=True, check=True)
    for name in ("libnnopbase.so", "libopapi.so", "libhccl.so"):
        (place / name).symlink_to("libascendcl.so")
    done = verify(
        folder,
        *PATTERNS,
        "--timeout",
        "10",
        "--records",
        "records",
        ACLNN_PY_LIBRARY_PATH=str(place),
    )
    assert done.returncode == 1, done.stdout + done.stderr
    (folder / "out").write_text(done.stdout, encoding="utf-8")
    return folder


def test_every_planted_fault_is_found_and_nothing_else(planted: Path) -> None:
    rows = {row["operator"]: row for row in report_of(planted)["operators"]}
    kinds = {name: {f["kind"] for f in row["findings"]} for name, row in rows.items()}
    assert {name: found for name, found in kinds.items() if found} == {
        name: {kind} for name, kind in FAULTY.items()
    }
    assert all(rows[name]["cases"] > 30 for name in SOUND)
    assert rows["aclnnAsin"]["cases"] == 0
    assert list(rows["aclnnAsin"]["left"]) == ["no such operator"]


def test_findings_name_the_call_and_what_was_seen(planted: Path) -> None:
    rows = {row["operator"]: row for row in report_of(planted)["operators"]}
    (hung,) = rows["aclnnTanh"]["findings"]
    assert hung["what"] == "self: uint8" and "no end after 10 s" in hung["detail"]
    assert rows["aclnnTanh"]["cases"] == len(cases_of("aclnnTanh", "910B", 0))
    died = rows["aclnnSinh"]["findings"]
    assert {"accepted call 5", "accepted call 5, random contents"} == {f["what"] for f in died}
    assert all("SIGABRT" in f["detail"] for f in died)
    changed = rows["aclnnSub"]["findings"]
    assert all((f["device"], f["emulator"]) == ("561002 in phase one", "161002 in phase one")
               for f in changed)  # fmt: skip
    assert all("on the emulator: aclnnSub" in f["detail"] for f in changed)
    fault = rows["aclnnErf"]["findings"][0]
    assert (fault["device"], fault["emulator"]) == ("fault 507015", "success")
    wrong = rows["aclnnExp"]["findings"][0]
    assert "elements differ beyond tolerance" in wrong["detail"] and "out" in wrong["detail"]


def test_the_page_and_the_output_say_the_same(planted: Path) -> None:
    text = (planted / "verify.html").read_text(encoding="utf-8")
    out = (planted / "out").read_text(encoding="utf-8")
    for name in FAULTY:
        assert f"<code>{name}</code>" in text and name in out
    count = sum(len(row["findings"]) for row in report_of(planted)["operators"])
    assert f"{count} of 7 operators differ" in out
    assert "<script" not in text


def test_a_record_of_a_finding_is_replayed(planted: Path) -> None:
    found = [f for row in report_of(planted)["operators"] for f in row["findings"]
             if f["operator"] == "aclnnExp"]  # fmt: skip
    record = planted / "records" / f"aclnnExp-{found[0]['case']}.record"
    (again,) = ap.tools.replay(record)
    assert again.agrees  # on the emulator, whose results the record has


def test_the_emulator_agrees_with_itself(tmp_path: Path) -> None:
    done = verify(tmp_path, "aclnnAbs", "cumsum", "aclnnMoeInitRoutin[g]", "--device", "emulator")
    assert done.returncode == 0, done.stdout + done.stderr
    assert report_of(tmp_path)["cases"] > 100


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (("[", "--device", "emulator"), "no operator matches '['"),
        (("^aclnnAbs$", "--device", "emulator"), "or a shell pattern as 'aclnnGroupedMatmul*'"),
        (("Abs", "--device", "npu"), "the device cannot be used"),
    ],
)
def test_what_cannot_be_compared_is_said(tmp_path: Path, words: tuple[str, ...], said: str) -> None:
    nothing = {"ASCEND_HOME_PATH": "", "ASCEND_TOOLKIT_HOME": "", "ACLNN_PY_LIBRARY_PATH": ""}
    done = verify(tmp_path, *words, **nothing)
    assert done.returncode == 2
    assert said in done.stderr
    assert not (tmp_path / "verify.json").exists()


def test_cases_are_the_same_every_time() -> None:
    first, again = (cases_of("aclnnAddmm", "910B", 7) for _ in range(2))
    assert first == again
    assert [case.data for case in first] != [
        case.data for case in cases_of("aclnnAddmm", "910B", 8)
    ]


@pytest.mark.parametrize("chip", ["910B", "950"])
def test_every_operator_with_calls_has_cases(chip: Any) -> None:
    for name in names_of(chip)[::25]:
        assert [case.number for case in cases_of(name, chip, 0)] == list(
            range(len(cases_of(name, chip, 0)))
        )
        assert any(case.runs for case in cases_of(name, chip, 0))
