# SPDX-License-Identifier: Apache-2.0
"""Each row of docs/pains.md is done: what it says the package shows is shown."""

from __future__ import annotations

import ctypes
import os
import re
import socket
import sys
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from helpers import tinylib
from helpers.chip_950 import NAME
from helpers.documents import DOCS
from helpers.experts import on_threads
from helpers.processes import run_script
from helpers.ranks import run_ranks

sys.path.insert(0, str(Path(__file__).parent / "tools"))
from installations import FORMER, Libraries, Tree

import aclnn_py as ap
from aclnn_py import distributed as dist
from aclnn_py import errors, ops
from aclnn_py.distributed import Communicator
from aclnn_py.errors import status_error
from aclnn_py.runtime import status
from aclnn_py.tools.cli import main
from aclnn_py.tools.doctor import examine, findings_for
from aclnn_py.tools.explain import explain

pytestmark = pytest.mark.emulator_only(reason="mistakes and faults are made on purpose")


@pytest.fixture
def tree(tmp_path: Path) -> Tree:
    return Tree(tmp_path / "machine", Libraries.compile(tmp_path / "libraries"))


def told(code: str) -> str:
    """What ``aclnn-py explain`` says to do about a code."""
    return " ".join(check for one in explain(code) for check in (*one.causes, *one.checks))


def on_npu(tree: Tree, source: str) -> str:
    """Run a program that takes the machine of the tree for one with an NPU."""
    return run_script(source, env={**tree.environ, "ACLNN_PY_DEVICE": "npu"}).check().out


def wrong_driver(tree: Tree) -> None:
    tree.cann("8.1.RC1", 21, compatible=FORMER)
    tree.driver("25.5.0", 25)


def as_on_npu(tree: Tree, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an exception of this process ask doctor about the machine of the tree."""
    monkeypatch.setattr(status, "library_info", lambda: SimpleNamespace(kind="npu"))
    monkeypatch.setattr(
        "aclnn_py.tools.doctor.findings_for",
        lambda error: [found for found in findings_for(error, tree.host) if found.level == "error"],
    )


def test_row_1_the_message_says_more_than_a_number(device, capsys):
    x, out = ap.zeros((4, 8), np.float32), ap.zeros((4, 4), np.float32)
    with pytest.raises(errors.AclnnError) as caught:
        ops.mm(x, x, out, 0)
    text = str(caught.value)
    assert "aclnnMmGetWorkspaceSize: ACLNN_ERR_PARAM_INVALID (161002): EZ1001: " in text
    (rule,) = caught.value.broken
    assert (rule.status, rule.rule) == (161002, "self (4, 8) and mat2 (4, 8) cannot be multiplied")
    for argument in ("self: (4, 8) float32", "mat2: (4, 8)", "out: (4, 4)", "cube_math_type: 0"):
        assert argument in text
    assert main(["explain", "161002"]) == 0
    printed = capsys.readouterr().out
    assert "usual cause: " in printed
    assert "what to check:" in printed


def test_row_2_a_view_is_named():
    out = run_script(
        """
        import numpy as np
        import aclnn_py as ap
        view = ap.zeros(2048, np.int8)[::2]
        for strict in (False, True):
            try:
                with ap.strict(strict):
                    ap.ops.inplace_attention_worker_scheduler(view)
            except ap.errors.AclnnError as error:
                print(error.status, [(rule.argument, rule.rule) for rule in error.broken])
                print("before the library was asked" in str(error))
        """,
        env={"ACLNN_PY_EMULATOR_SOC": "Ascend910_9392"},
    ).check()
    first, plain, second, strict = out.out.splitlines()
    assert first == second
    assert "('schedule_context_ref', " in first
    assert "it must be contiguous" in first
    assert (plain, strict) == ("False", "True")


def test_row_3_an_executor_runs_once(device):
    x = ap.zeros(4, np.float32)
    step = ap.plan(ops.add, x, x, 1.0, x)
    step.run()
    with pytest.raises(errors.ClosedError, match="repeatable=True"):
        step.run()
    step.close()
    step.close()


def test_row_4_doctor_compares_versions(tree, monkeypatch):
    wrong_driver(tree)
    for fault in (status_error("aclnn", 561103), status_error("acl", 500001)):
        rules = {found.rule for found in findings_for(fault, tree.host) if found.level == "error"}
        assert "driver-matches-cann" in rules
    as_on_npu(tree, monkeypatch)
    assert "25.5.0" in status.error_of("aclnn", 561103, "aclnnAdd").verdict


def test_row_5_a_missing_operator_is_named(tree):
    tree.cann("8.0.RC2", 18)
    tree.driver("24.1.rc2", 18)
    place = tree.home.relative_to(tree.root) / "lib64/libascend_hal.so"
    tree.copy(tree.libraries.plain, place)
    out = on_npu(
        tree,
        """
        from aclnn_py import errors, ops
        try:
            ops.abs.bind()
        except errors.SymbolNotFoundError as error:
            print(error)
            assert error.verdict
        """,
    )
    assert "aclnnAbsGetWorkspaceSize is not in the loaded libraries" in out
    assert "libopapi.so" in out
    assert "CANN has it since 8.1.RC1" in out
    assert "installation: " in out
    assert explain("aclnnAbs not in libopapi.so")[0].cause == "symbol"


def test_row_6_a_symbol_belongs_to_one_library(device, tmp_path):
    source = """
    int aclnnAbsGetWorkspaceSize(void *x, int more, unsigned long *n, void **e)
    { *n = 7 * more; *e = x; return 0; }
    int aclnnAbs(void *w, unsigned long n, void *e, void *s) { return 0; }
    """
    library = tinylib.build(tmp_path / "libcustom.so", source)
    mine = ops.declare(
        "aclnnStatus aclnnAbsGetWorkspaceSize(const aclTensor *x, int32_t more,"
        " uint64_t *workspaceSize, aclOpExecutor **executor);",
        library=library,
    )
    x = ap.zeros(4, np.float32)
    assert ap.plan(mine, x, 3).workspace_nbytes == 21
    ops.abs(x, x)
    assert mine.library == str(library)
    assert Path(ops.abs.library).name.startswith("libaclnn_py_emulator")


def test_row_7_variables_that_come_late(tree):
    assert "before the process starts" in told("561107")
    assert "kernel package" in told("561112")
    assert "before the process starts" in told("561112")
    tree.cann("8.1.RC1", 21)
    tree.driver("25.0.rc1.1", 21)
    report = examine(
        type(tree.host)(tree.root, tree.environ, {"ASCEND_OPP_PATH": "/elsewhere"}), device=False
    )
    assert "late-variables" in {finding.rule for finding in report.worst()}
    tree.environ["ASCEND_OPP_PATH"] = str(tree.root / "gone")
    worst = examine(tree.host, device=False).worst()
    assert any("ASCEND_OPP_PATH" in finding.seen for finding in worst)
    assert any("install the operator package" in finding.action for finding in worst)


def test_row_8_libraries_and_device_nodes(tree, monkeypatch):
    tree.cann("8.1.RC1", 21)
    program = """
        import aclnn_py as ap
        try:
            ap.device_count()
        except ap.errors.LibraryNotFoundError as error:
            print(error)
    """
    out = on_npu(tree, program)
    places = [line for line in out.splitlines() if line.startswith("  ")]
    assert any("libacl_rt.so: not in any of the library directories" in line for line in places)
    assert any(
        f"{tree.home}/lib64/libascendcl.so: libascend_hal.so: cannot open" in line
        for line in places
    )
    assert "  installation: no /dev/davinci0" in out
    tree.driver("25.0.rc1.1", 21)
    can_open = os.access
    closed = str(tree.root / "dev/davinci0")
    monkeypatch.setattr(
        os, "access", lambda path, mode: str(path) != closed and can_open(path, mode)
    )
    seen = [found.seen for found in examine(tree.host, device=False).worst()]
    assert any(f"no permission to open {closed}" in each for each in seen)
    here = {**tree.environ, "ACLNN_PY_DEVICE": "emulator"}
    assert run_script(program + "\n        print('fine')", env=here).check().out == "fine\n"


def test_row_9_no_library_is_needed_to_import():
    run_script(
        "import aclnn_py, aclnn_py.ops; assert aclnn_py.ops.add.parameters",
        env={"ASCEND_HOME_PATH": "/nowhere", "LD_LIBRARY_PATH": "", "ACLNN_PY_DEVICE": "npu"},
    ).check()


def test_row_10_the_first_error_is_the_one_raised(tree, monkeypatch):
    wrong_driver(tree)
    as_on_npu(tree, monkeypatch)
    with pytest.raises(errors.AclError) as caught:
        status.check_acl(507033, "aclrtSetDevice", device=0)
    assert caught.value.status == 507033
    assert "25.5.0" in caught.value.verdict
    log = "open device 0 failed, runtime result = 507033\nctx is NULL! ErrCode=107002"
    assert explain(log)[0].cause == "device-open"


def test_row_11_a_forked_child_is_told_to_spawn():
    run_script(
        """
        import os
        import aclnn_py as ap
        ap.zeros(4, "int8")
        child = os.fork()
        if child == 0:
            try:
                ap.zeros(4, "int8")
            except ap.errors.ForkError as error:
                os._exit(0 if "spawn" in str(error) else 1)
            os._exit(2)
        assert os.waitpid(child, 0)[1] == 0
        """,
        flags=("-W", "ignore"),
    ).check()


def test_row_12_each_thread_opens_its_device(device):
    with ThreadPoolExecutor(1) as pool:
        assert pool.submit(lambda: ap.full(3, 1, np.float32).numpy().sum()).result() == 3
    assert "enter `with Device(...)` in it first" in told("107002")


def test_row_13_ranks_that_do_not_come_are_named(tmp_path):
    place = {"RANK": "0", "WORLD_SIZE": "3", "LOCAL_RANK": "0"}
    place["ACLNN_PY_RENDEZVOUS"] = f"file://{tmp_path}/job"
    with pytest.raises(dist.RendezvousTimeoutError) as caught:
        Communicator.from_env(timeout_s=0.5, environ=place)
    assert caught.value.missing == (1, 2)
    assert "1, 2" in str(caught.value)


def _on_device_zero(rank: int, ranks: int, meeting: str) -> str:
    environ = {"RANK": str(rank), "WORLD_SIZE": str(ranks), "LOCAL_RANK": str(rank)}
    with pytest.raises(dist.RendezvousMismatchError) as caught:
        Communicator.from_env(device=0, environ={**environ, "ACLNN_PY_RENDEZVOUS": meeting})
    return str(caught.value)


def test_row_14_ports_and_devices_that_are_taken(tree, tmp_path):
    tree.cann("8.1.RC1", 21)
    tree.driver("25.0.rc1.1", 21)
    with socket.create_server(("", 0)) as server:
        port = min(server.getsockname()[1], 65520)
        tree.environ["HCCL_IF_BASE_PORT"] = str(port)
        worst = examine(tree.host, device=False).worst()
    (finding,) = [finding for finding in worst if finding.rule == "hccl-ports"]
    assert str(port) in finding.seen
    for code in ("EJ0003", "EI0019", "EI0020"):
        for name in ("HCCL_HOST_SOCKET_PORT_RANGE", "HCCL_NPU_SOCKET_PORT_RANGE"):
            assert name in told(code)
    for text in run_ranks(2, _on_device_zero, f"file://{tmp_path}/job"):
        assert "share device 0" in text


def _small_buffer(rank: int, ranks: int) -> list[str]:
    comms = Communicator.init_all(2)
    said = []

    def launch(comm: Communicator) -> None:
        x, to = ap.zeros((4, 4096), np.float16), ap.zeros(4, np.int32)
        y, counts = ap.zeros((8, 4096), np.float16), ap.zeros(2, np.int32)
        with pytest.raises(errors.AclnnError) as caught:
            ops.bandwidth_test(x, to, comm.name, 2, 4096, 0, "", -1, y, counts)
        said.append(str(caught.value))

    on_threads([[comm] for comm in comms], launch)
    for comm in comms:
        comm.close()
    return said


def test_row_15_a_small_buffer_of_hccl():
    assert "HCCL_BUFFSIZE" in told("507049")
    real = "HCCL_BUFFSIZE is too SMALL, maxBs = 512: NEEDED = 609MB, HCCL_BUFFSIZE=200MB."
    first = explain(real)[0]
    assert (first.cause, first.named) == ("hccl-buffer", {"needed": "609", "given": "200"})
    env = {"ACLNN_PY_EMULATOR_SOC": NAME, "HCCL_BUFFSIZE": "1"}
    [said] = run_ranks(1, _small_buffer, env=env)
    for text in said:
        first = explain(text)[0]
        assert first.cause == "hccl-buffer"
        assert first.named["given"] == "1"
        assert int(first.named["needed"]) > 1
    assert dist.CommunicatorConfig(buffer_mib=16).buffer_mib == 16


LATE = """
    import numpy as np
    import aclnn_py as ap
    table, out = ap.full((4, 3), 1, np.float32), ap.empty((1, 3), np.float32)
    rows = ap.from_numpy(np.array([9], np.int64))
    try:
        ap.ops.add(table, table, 1.0, table)
        ap.ops.index_select(table, 0, rows, out)  # this line
        ap.ops.add(table, table, 1.0, table)
        ap.synchronize()
    except ap.errors.DeviceError as error:
        print(error)
"""


def test_row_16_the_launches_before_a_late_fault():
    clean = {name: "" for name in os.environ if name.startswith("ACLNN_PY_CHECK")}
    out = run_script(LATE, env=clean).check().out
    launched = re.findall(r"aclnn[A-Z]\w+", out.partition("launched")[2])
    assert launched == ["aclnnAdd", "aclnnIndexSelect", "aclnnAdd"]
    out = run_script(LATE, env={**clean, "ACLNN_PY_BLOCKING": "1"}).check().out
    assert out.startswith("aclnnIndexSelect: ")
    out = run_script(LATE, env={**clean, "ACLNN_PY_LINES": "1"}).check().out
    assert "<string>:8" in out


def test_row_17_what_a_capture_forbids(device, stream):
    for code, cause, words in (
        ("107027", "capture-forbidden", "End the capture before"),
        ("107030", "capture-forbidden", "aclmdlRICaptureThreadExchangeMode"),
        ("107025", "capture-unjoined", "Side streams"),
        ("207008", "streams-exhausted", "streams"),
        ("207001", "out-of-memory", "memory_info"),
    ):
        [found] = explain(code)
        assert found.cause == cause
        assert words in told(code)
    x = ap.zeros(4, np.float32)
    with ap.Graph() as graph, pytest.raises(errors.CaptureError) as caught, graph.capture():
        x.numpy()
    assert "Tensor.numpy" in str(caught.value)


def test_row_18_rules_of_fractal_nz(device):
    weight = ap.functional.trans_matmul_weight(ap.full((32, 32), 1, np.float16))
    assert weight.format == ap.Format.FRACTAL_NZ
    assert weight.storage_shape == (2, 2, 16, 16)
    x, out = ap.full((4, 32), 1, np.float16), ap.empty((4, 32), np.float16)
    ops.matmul_weight_nz(x, weight, out, 0)
    assert (out.numpy() == 32).all()
    plain, narrow = ap.full((32, 32), 1, np.float16), ap.full((4, 16), 1, np.float16)
    for left, right, words in (
        (x, plain, "mat2 is not in FRACTAL_NZ"),
        (narrow, weight, "self (4, 16) and mat2 (32, 32) cannot be multiplied"),
    ):
        with pytest.raises(errors.AclnnError) as caught:
            ops.matmul_weight_nz(left, right, out, 0)
        assert [rule.rule for rule in caught.value.broken] == [words]


def test_row_19_the_time_of_the_host(device, tmp_path, capsys):
    x = ap.zeros(4, np.float32)
    with ap.tools.trace(tmp_path / "calls.txt"):
        ops.add(x, x, 1.0, x)
    assert main(["trace", str(tmp_path / "calls.txt")]) == 0
    assert "aclnnAdd" in capsys.readouterr().out


def test_row_20_the_workspace_belongs_to_the_stream(device, stream, tmp_path):
    source = """
    #include <string.h>
    void *last;
    int aclnnOwnGetWorkspaceSize(void *x, unsigned long *n, void **e)
    { *n = 4096; *e = x; return 0; }
    int aclnnOwn(void *w, unsigned long n, void *e, void *s)
    { last = w; memset(w, 1, n); return 0; }
    """
    library = tinylib.build(tmp_path / "libown.so", source)
    own = ops.declare(
        "aclnnStatus aclnnOwnGetWorkspaceSize(const aclTensor *x, uint64_t *workspaceSize,"
        " aclOpExecutor **executor);",
        library=library,
    )
    last = ctypes.c_void_p.in_dll(ctypes.CDLL(str(library)), "last")
    x, out = ap.full(4, 2, np.float32), ap.empty(4, np.float32)
    places = []
    with device.create_stream() as other:
        for each in (stream, stream, other):
            step = ap.plan(own, x)
            assert step.workspace_nbytes == 4096
            step.run(each)
            places.append(last.value)
    assert places[0] == places[1] != places[2]
    ops.muls(x, 3.0, out, stream=stream)
    x.close()  # the stream keeps what its work needs
    stream.synchronize()
    assert out.numpy().tolist() == [6.0] * 4


def test_each_row_of_the_page_is_here() -> None:
    rows: Any = re.findall(r"^\| (\d+) \|", (DOCS / "pains.md").read_text(), re.MULTILINE)
    here = {match[1] for name in globals() if (match := re.match(r"test_row_(\d+)_", name))}
    assert [int(row) for row in rows] == list(range(1, 21))
    assert set(rows) == here
