# SPDX-License-Identifier: Apache-2.0
"""Each mistake the checker knows, made on purpose, and reported with both Python stacks.

The scripts run in processes of their own: guard zones and fresh patterns have to be on from the
start. Where the second stack shows, the line says ``# first`` or ``# second`` in the script.
"""

from __future__ import annotations

import textwrap
from dataclasses import dataclass

import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, ops

# Bounds to the byte need a block of the device for each tensor, also in a run with pools forced on.
GUARDED = {"ACLNN_PY_CHECK": "1", "ACLNN_PY_ALLOCATOR": "direct"}
PREPARE = """
    import linecache, sys, warnings
    import numpy as np
    import aclnn_py as ap
    from aclnn_py import errors, ops
    from aclnn_py._ffi import C, ffi

    # Stacks show source lines, and a script given as an argument has no file.
    source = open(sys.argv[1]).read()
    linecache.cache["<script>"] = (len(source), None, source.splitlines(True), "<script>")
    exec(compile(source, "<script>", "exec"), globals())
"""


@dataclass(frozen=True)
class Mistake:
    """A script that ends in a report, and the error and fault it is reported as."""

    name: str
    error: str
    fault: str
    script: str


X = "x = ap.from_numpy(np.ones(8, np.float32)); out = ap.empty(8, np.float32)\n"
MALLOC = """
ap.Device(0).activate()
cell = ffi.new("void **")
C.aclrtMalloc(cell, 64, 0)  # first
"""
BUSY = """
big = [ap.from_numpy(np.ones((512, 512), np.float32)) for _ in range(2)]
product = ap.empty((512, 512), np.float32)
"""
MISTAKES = [
    Mistake(
        "tensor destroyed twice in C",
        "CheckError",
        "double destroy",
        """
ap.Device(0).activate()
shape = ffi.new("int64_t[]", [2])
tensor = C.aclCreateTensor(shape, 1, 0, ffi.NULL, 0, 2, shape, 1, ffi.NULL)
C.aclDestroyTensor(tensor)  # first
C.aclDestroyTensor(tensor)  # second
""",
    ),
    Mistake(
        "member of a list destroyed after the list",
        "CheckError",
        "double destroy",
        """
ap.Device(0).activate()
shape = ffi.new("int64_t[]", [2])
tensor = C.aclCreateTensor(shape, 1, 0, ffi.NULL, 0, 2, shape, 1, ffi.NULL)
entries = C.aclCreateTensorList(ffi.new("aclTensor *[]", [tensor]), 1)
C.aclDestroyTensorList(entries)  # first
C.aclDestroyTensor(tensor)  # second
""",
    ),
    Mistake(
        "memory freed twice in C",
        "CheckError",
        "double destroy",
        MALLOC + "C.aclrtFree(cell[0])\nC.aclrtFree(cell[0])  # second\n",
    ),
    Mistake(
        "stream used after destroy in C",
        "CheckClosedError",
        "use after destroy",
        """
ap.Device(0).activate()
cell = ffi.new("aclrtStream *")
C.aclrtCreateStream(cell)  # first
C.aclrtDestroyStream(cell[0])
C.aclrtSynchronizeStream(cell[0])  # second
""",
    ),
    Mistake(
        "closed tensor launched",
        "CheckClosedError",
        "use after destroy",
        X + "x.close()  # first\nops.abs(x, out)  # second\n",
    ),
    Mistake(
        "closed stream used",
        "CheckClosedError",
        "use after destroy",
        "s = ap.Stream(ap.Device(0))\ns.close()  # first\ns.synchronize()  # second\n",
    ),
    Mistake(
        "executor run twice",
        "CheckClosedError",
        "executor run twice",
        X + "step = ap.plan(ops.abs, x, out)\nstep.run()  # first\nstep.run()  # second\n",
    ),
    Mistake(
        "memory freed while a launch uses it",
        "CheckError",
        "freed while in use",
        BUSY
        + MALLOC.replace("64", "1 << 20").replace("  # first", "")
        + """
ap.synchronize()
mine = ap.Tensor.wrap(ap.Buffer.from_address(int(ffi.cast("uintptr_t", cell[0])), 1 << 20),
                      (512, 512), np.float32)
for _ in range(20):
    ops.mm(*big, product, 0)
ops.mm(*big, mine, 0)  # first
C.aclrtFree(cell[0])  # second
""",
    ),
    Mistake(
        "tensor in memory that was freed in C",
        "CheckClosedError",
        "use after free",
        X
        + MALLOC.replace("  # first", "")
        + """
mine = ap.Tensor.wrap(ap.Buffer.from_address(int(ffi.cast("uintptr_t", cell[0])), 32),
                      (8,), np.float32)
C.aclrtFree(cell[0])  # first
ops.abs(x, mine)  # second
""",
    ),
    Mistake(
        "host pointer",
        "CheckArgumentError",
        "host pointer",
        X
        + """
host = np.ones(8, np.float32)
buffer = ap.Buffer.from_address(host.ctypes.data, host.nbytes)  # first
ops.abs(ap.Tensor.wrap(buffer, (8,), np.float32), out)  # second
""",
    ),
    Mistake(
        "tensor longer than its allocation",
        "CheckArgumentError",
        "access outside an allocation",
        X
        + MALLOC
        + """
buffer = ap.Buffer.from_address(int(ffi.cast("uintptr_t", cell[0])), 4096)
long = ap.Tensor.wrap(buffer, (1024,), np.float32)
ops.abs(long, ap.empty((1024,), np.float32))  # second
""",
    ),
    Mistake(
        "workspace too small",
        "CheckArgumentError",
        "workspace too small",
        """
pair = ap.distributed.Communicator.init_all(2)
half = np.float16
step = ap.plan(
    ops.all_gather_matmul, ap.zeros((2, 256), half), ap.zeros((256, 3), half), None,
    pair[0].name, 0, 0, 1, ap.empty((4, 3), half), ap.empty((0,), half),
)
small = ap.Buffer.allocate(step.workspace_nbytes - 1)  # first
step.run(workspace=small)  # second
""",
    ),
    Mistake(
        "output that overlaps an input in part",
        "CheckArgumentError",
        "overlap",
        "x = ap.from_numpy(np.ones(16, np.float32))  # first\nops.abs(x[:8], x[4:12])  # second\n",
    ),
    Mistake(
        "stream used after its device was reset",
        "CheckClosedError",
        "stream used after reset",
        X
        + """
s = ap.Stream(ap.Device(0))
ap.synchronize()
C.aclrtResetDeviceForce(0)  # first
ops.abs(x, out, stream=s)  # second
""",
    ),
    Mistake(
        "write outside an allocation, found when it is freed",
        "CheckError",
        "write outside an allocation",
        MALLOC
        + """
ffi.memmove(ffi.cast("char *", cell[0]) + 64, b"stray", 5)
C.aclrtFree(cell[0])  # second
""",
    ),
]
REPORT = """
try:
    {body}
except errors.CheckError as report:
    print(type(report).__name__)
    print(report.fault)
    print(report)
else:
    print("nothing was reported")
"""


@pytest.mark.emulator_only(reason="provokes what may damage a device")
@pytest.mark.parametrize("mistake", MISTAKES, ids=lambda mistake: mistake.name)
def test_mistakes_are_reported_with_both_stacks(mistake: Mistake, tmp_path) -> None:
    body = textwrap.indent(mistake.script, "    ").strip()
    script = tmp_path / "script.py"
    script.write_text(REPORT.format(body=body))
    outcome = run_script(
        PREPARE,
        str(script),
        env={"ACLNN_PY_CHECK": "1"},
        # What the mistake leaves behind is released at exit, where it may fail once more.
        flags=("-X", "faulthandler", "-W", "ignore::ResourceWarning"),
    ).check()
    lines = outcome.out.splitlines()
    assert lines[0] == mistake.error, outcome.out + outcome.err
    assert lines[1] == mistake.fault
    shown = [line.split("# ")[-1] for line in lines if "# first" in line or "# second" in line]
    wanted = {"first", "second"} if "# first" in mistake.script else {"second"}
    assert set(shown) == wanted, outcome.out
    assert shown[-1] == "second"


@pytest.mark.emulator_only(reason="a real device does not know what was written")
def test_read_of_what_nothing_wrote_is_a_warning_that_names_the_launch(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
warnings.simplefilter("error", errors.CheckWarning)
x, out = ap.empty(8, np.float32), ap.empty(8, np.float32)
part = ap.empty(8, np.float32)
ops.inplace_copy(part[:4], ap.from_numpy(np.ones(4, np.float32)))
ops.abs(part[:4], out[:4])
out[:4].numpy()
ops.abs(part, out)  # first
try:
    out.numpy()  # second
except errors.CheckWarning as report:
    print(report)
"""
    )
    out = run_script(PREPARE, str(script), env=GUARDED).check().out
    assert "aclnnAbs: self (8) FLOAT is read where nothing was written" in out
    assert "16 bytes into a block of 32 bytes" in out
    assert "# first" in out and "# second" in out


@pytest.mark.emulator_only(reason="damages memory")
def test_a_fault_of_the_device_has_both_stacks(tmp_path) -> None:
    script = tmp_path / "script.py"
    script.write_text(
        """
x, out = ap.from_numpy(np.ones(8, np.float32)), ap.empty(8, np.float32)
ap.synchronize()
ffi.memmove(ffi.cast("char *", x.address) + 32, b"stray", 5)
ops.abs(x, out)  # first
try:
    out.numpy()  # second
except errors.DeviceError as error:
    print(error)
    print(error.status)
"""
    )
    out = run_script(PREPARE, str(script), env=GUARDED).check().out
    assert "aclnnAbs wrote outside the block" in out
    assert "# first" in out and "# second" in out
    assert out.index("# first") < out.index("# second")
    assert out.rstrip().endswith("507015")


def test_the_checker_is_turned_on_late_and_off_again(device: ap.Device) -> None:
    x, out = ap.from_numpy(np.ones(8, np.float32)), ap.empty(8, np.float32)
    with ap.check():
        ops.abs(x, out)
        assert out.numpy().tolist() == [1.0] * 8
        late = ap.empty(8, np.float32)
        late.close()
        with pytest.raises(errors.CheckClosedError) as caught:
            ops.abs(late, out)
        assert [what for what, _ in caught.value.stacks] == [
            "Buffer made",
            "Buffer closed",
            "aclnnAbs launched",
        ]
        assert all("test_checking.py" in stack for _, stack in caught.value.stacks)
    with ap.check(False), pytest.raises(errors.ClosedError) as plain:
        ops.abs(late, out)
    assert not isinstance(plain.value, errors.CheckError)


def test_views_that_share_no_element_are_no_overlap(device: ap.Device) -> None:
    both = ap.from_numpy(np.arange(16, dtype=np.float32).reshape(4, 4))
    with ap.check():
        ops.abs(both[:, ::2], both[:, 1::2])
        ops.abs(both, both)
        with pytest.raises(errors.CheckArgumentError):
            ops.abs(both[:3], both[1:])
    expected = np.arange(16, dtype=np.float32).reshape(4, 4)
    expected[:, 1::2] = expected[:, ::2]
    np.testing.assert_array_equal(both.numpy(), expected)


def test_reports_travel_between_processes() -> None:
    import pickle

    report = errors.CheckError("text", fault="overlap", stacks=[("made", "line 1")])
    back = pickle.loads(pickle.dumps(report))
    assert (back.fault, back.stacks, str(back)) == (report.fault, report.stacks, str(report))
