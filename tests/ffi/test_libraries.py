# SPDX-License-Identifier: Apache-2.0
"""Loading: absent and broken libraries, routing in a real process, forks, the emulator's identity.

Each test is a process of its own, because a process loads the device's libraries once.
"""

from __future__ import annotations

import textwrap

import pytest
from helpers import tinylib
from helpers.processes import run_script

PROBE = """
import aclnn_py
from aclnn_py._ffi import C
def show(call):
    try:
        print("value", call())
    except Exception as error:
        print(type(error).__name__, error)
"""


def run(source: str, **env: str) -> str:
    clean = {"ASCEND_HOME_PATH": "", "ASCEND_TOOLKIT_HOME": "", "ACLNN_PY_LIBRARY_PATH": ""}
    return run_script(PROBE + textwrap.dedent(source), env={**clean, **env}).check().out


def test_import_loads_no_library():
    out = run(
        """
        import sys, aclnn_py.ops, aclnn_py._ffi as f
        print(f.loaded(), "libaclnn_py_emulator" in open("/proc/self/maps").read())
        """,
        ACLNN_PY_DEVICE="npu",
    )
    assert out.strip() == "False False"


def test_npu_without_cann_lists_what_was_searched():
    out = run("show(lambda: C.aclInit)", ACLNN_PY_DEVICE="npu")
    assert out.startswith("LibraryNotFoundError No CANN installation was found")
    assert "/usr/local/Ascend/cann: no such directory" in out


def test_auto_takes_the_emulator_with_one_warning():
    out = run(
        """
        import warnings
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always")
            C.aclInit, C.aclFinalize, aclnn_py.library_info()
        print(len(caught), caught[0].category.__name__, aclnn_py.library_info().kind)
        """,
        ACLNN_PY_DEVICE="auto",
    )
    assert out.strip() == "1 RuntimeWarning emulator"


def test_auto_takes_an_installed_cann(tmp_path):
    tinylib.cann_tree(tmp_path)
    out = run(
        "print(C.aclInit(b'')); i = aclnn_py.library_info(); print(i.kind, i.root, i.libraries)",
        ACLNN_PY_DEVICE="auto",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    assert out.splitlines()[0] == "0"
    assert out.splitlines()[1].startswith(f"npu {tmp_path}")
    assert str(tmp_path / "lib64/libascendcl.so") in out


def test_auto_never_replaces_a_broken_cann(tmp_path):
    (tmp_path / "lib64").mkdir()
    (tmp_path / "lib64/libascendcl.so").write_text("not a library")
    out = run("show(lambda: C.aclInit)", ACLNN_PY_DEVICE="auto", ASCEND_HOME_PATH=str(tmp_path))
    assert out.startswith("LibraryLoadError")
    assert "cannot be loaded" in out and "libascendcl.so" in out


def test_missing_home_is_an_error_in_auto(tmp_path):
    out = run(
        "show(lambda: C.aclInit)", ACLNN_PY_DEVICE="auto", ASCEND_HOME_PATH=str(tmp_path / "no")
    )
    assert out.startswith("LibraryLoadError CANN is installed but cannot work")


def test_unknown_device_kind_is_refused():
    out = run("show(lambda: C.aclInit)", ACLNN_PY_DEVICE="gpu")
    assert out.startswith("ValueError ACLNN_PY_DEVICE")


def test_missing_symbol_names_library_version_and_release(tmp_path):
    tinylib.cann_tree(tmp_path)
    (tmp_path / "version.cfg").write_text("runtime_running_version=[7.7:8.1.RC1]\n")
    out = run(
        "show(lambda: C.aclrtMemPoolCreate); show(lambda: C.aclInit(b''))",
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    first, *verdict, second = out.splitlines()  # between them what the doctor finds in this tree
    assert verdict
    assert first.startswith("SymbolNotFoundError aclrtMemPoolCreate is not in the loaded libraries")
    assert "8.1.RC1" in first and "libascendcl.so" in first and "CANN has it since 9" in first
    assert second == "value 0"


def test_split_runtime_is_preferred_over_the_old_name(tmp_path):
    tinylib.build(tmp_path / "lib64/libascendcl.so", "int aclrtSynchronizeDevice(void){return 1;}")
    tinylib.build(
        tmp_path / "lib64/libacl_rt.so",
        "int aclInit(const char*p){return 0;} int aclrtSynchronizeDevice(void){return 2;}",
    )
    out = run(
        "print(C.aclrtSynchronizeDevice())",
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    assert out.strip() == "2"


def test_old_spelling_serves_the_new_name(tmp_path):
    tinylib.cann_tree(tmp_path)
    tinylib.build(tmp_path / "lib64/libnnopbase.so", "int AclSetTensorAddr(void*e){return 77;}")
    out = run(
        "from aclnn_py._ffi import ffi; n = ffi.NULL; print(C.aclSetTensorAddr(n, 0, n, n))",
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    assert out.strip() == "77"


def test_dependencies_outside_the_loader_path_are_opened_first(tmp_path):
    deep = tinylib.build(tmp_path / "lib64/libdeep.so", "int deep(void){return 5;}")
    tinylib.build(
        tmp_path / "lib64/libascendcl.so",
        "int deep(void); int aclInit(const char*p){return deep();}",
        str(deep),
    )
    out = run(
        "print(C.aclInit(b'')); print(aclnn_py.library_info().searched)",
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    assert out.splitlines()[0] == "5"
    assert "libascendcl.so needs it" in out


def test_missing_dependency_is_named(tmp_path):
    deep = tinylib.build(tmp_path / "gone/libdeep.so", "int deep(void){return 5;}")
    tinylib.build(
        tmp_path / "lib64/libascendcl.so",
        "int deep(void); int aclInit(const char*p){return deep();}",
        str(deep),
    )
    deep.unlink()
    out = run("show(lambda: C.aclInit)", ACLNN_PY_DEVICE="npu", ASCEND_HOME_PATH=str(tmp_path))
    assert out.startswith("LibraryLoadError") and "libdeep.so" in out


def test_symbols_never_come_from_the_global_scope(tmp_path):
    tinylib.cann_tree(tmp_path)
    stranger = tinylib.build(
        tmp_path / "stranger.so", "int aclrtSynchronizeDevice(void){return 9;}"
    )
    out = run(
        f"""
        import ctypes
        ctypes.CDLL({str(stranger)!r}, mode=ctypes.RTLD_GLOBAL)
        show(lambda: C.aclrtSynchronizeDevice)
        """,
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    assert out.startswith("SymbolNotFoundError")


PHASES = """
int {name}GetWorkspaceSize(void *x, unsigned long *n, void **e)
{{ *n = 0; *e = (void *)1; return {code}; }}
int {name}(void *w, unsigned long n, void *e, void *s) {{ return 0; }}
"""


def test_custom_package_wins_and_the_provider_is_known(tmp_path):
    tinylib.cann_tree(tmp_path)
    tinylib.build(tmp_path / "lib64/libopapi.so", PHASES.format(name="aclnnAbs", code=1))
    mine = tmp_path / "mine/op_api/lib/libcust_opapi.so"
    tinylib.build(mine, PHASES.format(name="aclnnAbs", code=2))
    out = run(
        "print(aclnn_py.ops.abs.available(), aclnn_py.ops.abs.library)",
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
        ASCEND_CUSTOM_OPP_PATH=str(tmp_path / "mine"),
    )
    assert out.strip() == f"True {mine}"


def test_operator_with_one_phase_only_is_absent(tmp_path):
    tinylib.cann_tree(tmp_path)
    tinylib.build(tmp_path / "lib64/libopapi.so", "int aclnnAbsGetWorkspaceSize(void){return 0;}")
    out = run(
        "print(aclnn_py.ops.abs.available(), C.has('aclnnAbs'))",
        ACLNN_PY_DEVICE="npu",
        ASCEND_HOME_PATH=str(tmp_path),
    )
    assert out.strip() == "False False"


def test_emulator_of_another_contract_is_refused(tmp_path):
    tinylib.build(
        tmp_path / "libascendcl.so",
        tinylib.RUNTIME + 'const char *aclnn_py_emulator_contract(void) { return "other"; }',
    )
    out = run("show(lambda: C.aclInit)", ACLNN_PY_DEVICE="npu", ACLNN_PY_LIBRARY_PATH=str(tmp_path))
    assert out.startswith("LibraryLoadError") and "another version of include/" in out


def test_emulator_is_recognised_under_a_cann_name():
    out = run(
        """
        from pathlib import Path
        import os
        os.environ["ACLNN_PY_LIBRARY_PATH"] = str(Path(aclnn_py.__file__).parent / "lib")
        print(aclnn_py.library_info().kind)
        """,
        ACLNN_PY_DEVICE="npu",
    )
    assert out.strip() == "emulator"


def test_use_chooses_before_the_first_call_and_not_after():
    out = run(
        """
        aclnn_py.use("emulator")
        print(aclnn_py.library_info().kind)
        aclnn_py.use("emulator"); aclnn_py.use("auto")
        show(lambda: aclnn_py.use("npu"))
        show(lambda: aclnn_py.use("tpu"))
        """,
        ACLNN_PY_DEVICE="npu",
    )
    lines = out.splitlines()
    assert lines[0] == "emulator"
    assert lines[1].startswith("RuntimeError the emulator is in use")
    assert lines[2].startswith("ValueError")


FORK = """
import os
def in_child(*calls):
    read, write = os.pipe()
    pid = os.fork()
    if pid == 0:
        for call in calls:
            try:
                call(); text = "nothing"
            except BaseException as error:
                text = type(error).__name__
            os.write(write, (text + " ").encode())
        os._exit(0)
    os.close(write)
    os.waitpid(pid, 0)
    print(os.read(read, 1000).decode())
"""


@pytest.mark.emulator_only(reason="forks with a device open")
def test_every_door_is_closed_in_a_forked_child():
    out = run(
        FORK
        + """
import numpy as np, aclnn_py as ap
x = ap.from_numpy(np.ones(4, np.float32)); out = ap.empty(4, np.float32)
ap.ops.abs(x, out)
step = ap.plan(ap.ops.abs, x, out, repeatable=True)
has = C.has
in_child(
    lambda: ap.ops.abs(x, out), lambda: ap.ops.exp(x, out), lambda: C.aclrtGetDevice,
    lambda: has("aclInit"), lambda: step.run(), lambda: ap.empty(3, np.float32),
    ap.library_info,
)
ap.ops.abs(x, out); print(out.numpy().tolist())
""",
        ACLNN_PY_DEVICE="emulator",
    )
    child, parent = out.splitlines()
    assert child.split() == ["ForkError"] * 7
    assert parent == "[1.0, 1.0, 1.0, 1.0]"


def test_fork_before_the_first_call_is_harmless():
    out = run(
        FORK
        + """
import numpy as np, aclnn_py as ap
in_child(lambda: ap.from_numpy(np.ones(4, np.float32)).numpy())
""",
        ACLNN_PY_DEVICE="emulator",
    )
    assert out.split() == ["nothing"]
