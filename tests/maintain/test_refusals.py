# SPDX-License-Identifier: Apache-2.0
"""The corpus of refusals: the same twice, and whatever is planted in a library is found."""

from __future__ import annotations

import gzip
import json
from pathlib import Path
from typing import Any

import pytest
from helpers import tinylib

from aclnn_py.emulator import library_path
from maintain.refusals.__main__ import main

pytestmark = pytest.mark.emulator_only(reason="asks the emulator's library")

# One operator ends the process, one refuses more, one less, one with another status.
PLANTED = """
#define _GNU_SOURCE
#include <dlfcn.h>
#include <stdint.h>
#include <stdlib.h>
int32_t aclGetDataType(const void *, int32_t *);
void *aclCreateTensor();
#define REAL(name) ((int32_t (*)(void *, void *, uint64_t *, void **))dlsym(RTLD_NEXT, name))
static int32_t dtype_of(void *tensor) {
  int32_t dtype = -1;
  if (tensor) aclGetDataType(tensor, &dtype);
  return dtype;
}
int32_t aclnnReluGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  if (dtype_of(x) == 17) abort();
  return REAL("aclnnReluGetWorkspaceSize")(x, out, size, executor);
}
int32_t aclnnSigmoidGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  if (dtype_of(out) == 1) return 161002;
  return REAL("aclnnSigmoidGetWorkspaceSize")(x, out, size, executor);
}
int32_t aclnnTanhGetWorkspaceSize(void *x, void *out, uint64_t *size, void **executor) {
  const int32_t status = REAL("aclnnTanhGetWorkspaceSize")(x, out, size, executor);
  return status == 161002 ? 561002 : status;
}
"""
PATTERN = "^aclnn(Relu|Sigmoid|Tanh|Mul)$"


def dumped(library: Path, file: Path, pattern: str = PATTERN) -> list[dict[str, Any]]:
    words = ["dump", str(library), str(file), "--operators", pattern, "--every", "3"]
    assert main(words) == 0
    with gzip.open(file, "rt", encoding="utf-8") as lines:
        return [json.loads(line) for line in lines]


@pytest.fixture(scope="module")
def own(tmp_path_factory: pytest.TempPathFactory) -> Path:
    file = tmp_path_factory.mktemp("refusals") / "own.gz"
    rows = dumped(library_path(), file)
    assert {row["operator"] for row in rows} == {
        f"aclnn{n}" for n in ("Relu", "Sigmoid", "Tanh", "Mul")
    }
    assert len({row["chip"] for row in rows}) == 3
    for row in rows:
        kinds = {answer[0] for answer in row["answers"].values()}
        assert {
            "accepted",
            "null",
            "dtype",
            "format",
            "rank",
            "extent",
            "stride",
            "double",
        } <= kinds
        assert all(answer[3] for answer in row["answers"].values() if answer[1])
    return file


def test_a_library_answers_the_same_twice(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    again = tmp_path / "again.gz"
    dumped(library_path(), again)
    assert again.read_bytes() == own.read_bytes()
    assert main(["compare", str(own), str(again)]) == 0
    assert "0 answers differ in 0 operators" in capsys.readouterr().out


def test_what_is_planted_is_found(
    own: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    emulator = library_path()
    library = tinylib.build(
        tmp_path / "planted.so", PLANTED, str(emulator), f"-Wl,-rpath,{emulator.parent}", "-ldl"
    )
    planted = tmp_path / "planted.gz"
    rows = dumped(library, planted)
    capsys.readouterr()
    assert main(["compare", str(own), str(planted)]) == 1
    out = capsys.readouterr().out
    assert "another status: 161002 -> died" in out
    assert "refused now" in out
    assert "another status: 161002 -> 561002" in out
    assert "aclnnMul" not in out
    # What comes after the end of a process is asked all the same.
    with gzip.open(own, "rt", encoding="utf-8") as lines:
        first = [json.loads(line)["answers"].keys() for line in lines]
    assert [row["answers"].keys() for row in rows] == first


def test_a_file_that_is_no_emulator_is_refused(tmp_path: Path) -> None:
    empty = tinylib.build(tmp_path / "empty.so", "int nothing;")
    with pytest.raises(SystemExit, match="is no emulator library"):
        dumped(empty, tmp_path / "file.gz", "^aclnnRelu$")
    with pytest.raises(SystemExit, match="is no file"):
        dumped(tmp_path / "none.so", tmp_path / "file.gz", "^aclnnRelu$")
