# SPDX-License-Identifier: Apache-2.0
"""A block of operators against the emulator: an operator that computes wrongly is found."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess

import ml_dtypes
import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.emulator import library_path
from aclnn_py.operators.launch.observers import Launch, Observer, observing
from aclnn_py.operators.record.file import RecordReader


class Perturbs(Observer):
    """Adds to one element of what an operator wrote, as a faulty kernel would."""

    def __init__(self, operator: str, amount: float) -> None:
        self.operator, self.amount = operator, amount

    def after(self, launch: Launch) -> None:
        if launch.name == self.operator:
            out = launch.values[-1]
            values = out.numpy()
            values[1, 2] += self.amount
            out.copy_from(values)


def block(x: ap.Tensor, out: ap.Tensor) -> None:
    ops.add(x, x, 1, out)
    ops.mul(out, x, out)
    ops.add(out, out, 1, out)


@pytest.mark.parametrize("dtype", [np.float32, ml_dtypes.bfloat16, np.int32])
def test_the_emulator_agrees_with_itself(device, tmp_path, dtype):
    x = ap.from_numpy(np.arange(12).reshape(3, 4).astype(dtype))
    out = ap.zeros((3, 4), dtype)
    with ap.tools.compare(tmp_path / "first") as found:
        block(x, out)
        with pytest.raises(errors.AclnnError):
            ops.add(x, None, 1, out)
    assert [call.status for call in found.calls] == [0, 0, 0, 161001]
    assert found.first is None and str(found).endswith("all agree")
    assert not (tmp_path / "first").exists()


def test_the_first_wrong_operator_is_named_with_its_inputs(device, tmp_path):
    x = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4) + 1)
    out = ap.zeros((3, 4), np.float32)
    with ap.tools.compare(tmp_path / "first") as found, observing(Perturbs("aclnnMul", 0.25)):
        block(x, out)
    assert [call.agrees for call in found.calls] == [True, False, True]
    first = found.first
    assert (first.operator, first.parted) == ("aclnnMul", "out")
    apart = first.difference
    assert (apart.beyond, apart.count, apart.at) == (1, 12, (1, 2))
    assert apart.max_error == 0.25 and apart.mean_error == 0.25 / 12
    assert apart.ulps["0"] == 11 and sum(apart.ulps.values()) == 12
    assert "aclnnMul" in str(found) and "test_comparer.py" in str(found)
    # The file has the inputs, and what the device made of them.
    (again,) = ap.tools.replay(tmp_path / "first")
    assert again.parted == "out" and again.difference.first == "98.25"


# The emulator under CANN's names, but for one operator that is another one, and for the mark by
# which the emulator is known: a symbol at address 0 is no symbol.
WRONG = """
#include <stdint.h>
__asm__(".globl aclnn_py_emulator_contract\\n.set aclnn_py_emulator_contract, 0");
int32_t aclnnMaximumGetWorkspaceSize(void *, void *, void *, uint64_t *, void **);
int32_t aclnnMaximum(void *, uint64_t, void *, void *);
int32_t aclnnMulGetWorkspaceSize(void *x, void *y, void *out, uint64_t *size, void **executor) {
  return aclnnMaximumGetWorkspaceSize(x, y, out, size, executor);
}
int32_t aclnnMul(void *workspace, uint64_t size, void *executor, void *stream) {
  return aclnnMaximum(workspace, size, executor, stream);
}
"""


PROGRAM = """
    import sys
    import numpy as np
    import aclnn_py as ap

    x = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4) + 2)
    out = ap.zeros((3, 4), np.float32)
    with ap.tools.compare(sys.argv[1]) as found:
        ap.ops.add(x, x, 1, out)
        ap.ops.mul(out, x, out)
        ap.ops.add(out, out, 1, out)
    print([call.agrees for call in found.calls], found)
"""


@pytest.mark.emulator_only(reason="the wrong library is made of the emulator")
def test_a_library_with_a_wrong_operator_is_found_out(tmp_path):
    emulator = library_path()
    place = tmp_path / "lib64"
    place.mkdir()
    compiler = shlex.split(os.environ.get("CC", "")) or [shutil.which("gcc") or "cc"]
    command = [*compiler, "-shared", "-fPIC", "-x", "c", "-", "-x", "none", str(emulator)]
    command += [f"-Wl,-rpath,{emulator.parent}", "-o", str(place / "libascendcl.so")]
    subprocess.run(command, input=WRONG, text=True, check=True)
    for name in ("libnnopbase.so", "libopapi.so", "libhccl.so"):
        (place / name).symlink_to("libascendcl.so")
    saved = tmp_path / "first"
    env = {"ACLNN_PY_DEVICE": "npu", "ACLNN_PY_LIBRARY_PATH": str(place)}
    done = run_script(PROGRAM, str(saved), env=env).check()
    assert done.out.startswith("[True, False, True]")
    assert "the first to differ is call 1: aclnnMul" in done.out and "out: " in done.out
    reader = RecordReader(saved)
    assert reader.about["device"] == "npu" and reader.calls[0].operator == "aclnnMul"
    (again,) = ap.tools.replay(saved)  # on the emulator: 2 * 2 * 2 where the library had 4
    assert (again.parted, again.difference.beyond) == ("out", 12)


def test_a_difference_within_tolerance_is_none(device):
    x = ap.from_numpy(np.arange(12, dtype=np.float32).reshape(3, 4) + 1)
    out = ap.zeros((3, 4), np.float32)
    with ap.tools.compare() as found, observing(Perturbs("aclnnMul", 1e-5)):
        block(x, out)
    assert found.first is None
