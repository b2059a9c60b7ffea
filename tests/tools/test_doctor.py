# SPDX-License-Identifier: Apache-2.0
"""The doctor's verdict on installations made up for it, and what a person sees."""

from __future__ import annotations

import json
import os
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest
from helpers.processes import run_script
from installations import FORMER, KERNELS, MACHINE, Libraries, Tree, library

from aclnn_py.errors import LibraryNotFoundError, SymbolNotFoundError, status_error
from aclnn_py.tools.doctor import Finding, Host, examine, findings_for, release_order
from aclnn_py.tools.doctor.report import GROUPS


@pytest.fixture(scope="module")
def libraries(tmp_path_factory: pytest.TempPathFactory) -> Libraries:
    return Libraries.compile(tmp_path_factory.mktemp("libraries"))


@pytest.fixture
def tree(tmp_path: Path, libraries: Libraries) -> Tree:
    return Tree(tmp_path, libraries)


# Rules that ask for something whatever the test builds: the libraries here lack most functions, and
# other programs of this machine may use the ports of ranks.
APART = {"operators-by-family", "hccl-ports"}


def asking(tree: Tree) -> dict[str, Finding]:
    """Findings that ask for something, by rule."""
    report = examine(tree.host, device=False)
    return {f.rule: f for f in report.worst() if f.rule not in APART}


def good_8_0(tree: Tree) -> None:
    tree.cann("8.0.RC2", 18)
    tree.driver("24.1.rc2", 18, firmware="7.5.0.1.129")


def good_8_1(tree: Tree) -> None:
    tree.cann("8.1.RC1", 21, compatible=FORMER)
    tree.driver("25.0.rc1.1", 21)


def good_8_5(tree: Tree) -> None:
    tree.cann("8.5.0", 25, split=True)
    tree.driver("25.5.0", 23)


def good_9(tree: Tree) -> None:
    tree.cann("9.0.0", 26, split=True)
    tree.driver("26.0.rc1", 10)
    tree.write(
        "usr/local/Ascend/firmware/version.info",
        "Version=7.7.0.9",
        "compatible_version_drv=[26.0,26.0.]",
    )


@pytest.mark.parametrize("build", [good_8_0, good_8_1, good_8_5, good_9])
def test_a_matching_set_asks_for_nothing(tree: Tree, build: Callable[[Tree], None]) -> None:
    build(tree)
    report = examine(tree.host, device=False)
    assert asking(tree) == {}
    matches = [f for f in report.findings if f.rule == "driver-matches-cann"]
    assert [f.level for f in matches] == ["ok"]
    assert report.versions["CANN"] == tree.home.name or report.versions["CANN"] in (
        "8.5.0",
        "9.0.0",
    )
    assert report.verdict != "error"


def too_old(tree: Tree) -> None:
    tree.cann("8.0.RC1", 15)
    tree.driver("24.1.rc1", 15)


def other_driver(tree: Tree) -> None:
    tree.cann("8.1.RC1", 21, compatible=FORMER)
    tree.driver("25.5.0", 25)


def newer_driver_of_an_unknown_kind(tree: Tree) -> None:
    good_8_1(tree)
    tree.driver("26.0.rc1", 10)


def other_firmware(tree: Tree) -> None:
    good_8_1(tree)
    tree.driver("25.0.rc1.1", 21, firmware="7.8.0.1.2")


def firmware_of_another_driver(tree: Tree) -> None:
    good_8_1(tree)
    tree.write(
        "usr/local/Ascend/firmware/version.info",
        "Version=7.7.0.1.231",
        "compatible_version_drv=[24.1,24.1.]",
    )


def old_driver_interface(tree: Tree) -> None:
    good_8_1(tree)
    info = tree.root / "usr/local/Ascend/driver/version.info"
    info.write_text(info.read_text().replace("7.35.23", "3.9.1"))


def no_driver(tree: Tree) -> None:
    tree.cann("8.1.RC1", 21, compatible=FORMER)


def broken_latest(tree: Tree) -> None:
    good_8_1(tree)
    shutil.rmtree(tree.home)


def broken_library(tree: Tree) -> None:
    good_8_1(tree)
    (tree.home / "lib64/libopapi.so").unlink()
    (tree.home / "lib64/libopapi.so").symlink_to("libopapi.so.8")


def cut_off_library(tree: Tree) -> None:
    good_8_1(tree)
    path = tree.home / "lib64/libopapi.so"
    path.write_bytes(path.read_bytes()[:-200])


def no_operator_library(tree: Tree) -> None:
    good_8_1(tree)
    (tree.home / "lib64/libopapi.so").unlink()


def missing_functions(tree: Tree) -> None:
    good_8_1(tree)
    shutil.copy(tree.libraries.plain, tree.home / "lib64/libnnopbase.so")


def no_driver_library(tree: Tree) -> None:
    good_8_1(tree)
    shutil.rmtree(tree.root / "usr/local/Ascend/driver/lib64")


def linking_first(tree: Tree) -> None:
    good_8_1(tree)
    directory = tree.home / f"{MACHINE}-linux/devlib"
    directory.mkdir()
    shutil.copy(tree.libraries.plain, directory / "libascendcl.so")
    tree.environ["LD_LIBRARY_PATH"] = f"{directory}:{tree.environ['LD_LIBRARY_PATH']}"


def no_kernels(tree: Tree) -> None:
    good_8_1(tree)
    shutil.rmtree(tree.home / KERNELS)


def mixed_packages(tree: Tree) -> None:
    good_8_1(tree)
    tree.write(
        tree.home.relative_to(tree.root) / "opp/version.info", "Version=7.6", "version_dir=8.0.0"
    )


def no_set_env(tree: Tree) -> None:
    good_8_1(tree)
    tree.environ.clear()


def stale_home(tree: Tree) -> None:
    good_8_1(tree)
    tree.environ["ASCEND_AICPU_PATH"] = f"{tree.root}/gone"


def two_canns(tree: Tree) -> None:
    tree.cann("8.2.RC1", 22)
    opp = tree.environ["ASCEND_OPP_PATH"]
    (tree.home.parent / "latest").unlink()
    good_8_1(tree)
    tree.environ["ASCEND_OPP_PATH"] = opp


def other_cann_first(tree: Tree) -> None:
    tree.cann("8.2.RC1", 22)
    former = tree.home
    (tree.home.parent / "latest").unlink()
    good_8_1(tree)
    tree.environ["LD_LIBRARY_PATH"] = f"{former}/lib64:{tree.home}/lib64"


def no_nodes(tree: Tree) -> None:
    good_8_1(tree)
    (tree.root / "dev/davinci0").unlink()


def no_control_node(tree: Tree) -> None:
    good_8_1(tree)
    (tree.root / "dev/devmm_svm").unlink()


def chip_without_driver(tree: Tree) -> None:
    tree.write("sys/bus/pci/devices/0000:c1:00.0/vendor", "0x19e5")
    tree.write("sys/bus/pci/devices/0000:c1:00.0/class", "0x120000")


def hidden_devices(tree: Tree) -> None:
    good_8_1(tree)
    tree.environ["ASCEND_RT_VISIBLE_DEVICES"] = " 0,1"


def absent_device(tree: Tree) -> None:
    good_8_1(tree)
    tree.environ["ASCEND_RT_VISIBLE_DEVICES"] = "9"


def one_absent_device(tree: Tree) -> None:
    good_8_1(tree)
    tree.environ["ASCEND_RT_VISIBLE_DEVICES"] = "0,9"


def replaced_operator(tree: Tree) -> None:
    good_8_1(tree)
    place = tree.home / "opp/vendors/mine/op_api/lib/libcust_opapi.so"
    place.parent.mkdir(parents=True)
    shutil.copy(tree.libraries.operators, place)
    config = tree.home.relative_to(tree.root) / "opp/vendors/config.ini"
    tree.write(config, "load_priority=mine")


WRONG: dict[Callable[[Tree], None], tuple[str, str, str]] = {
    too_old: ("cann-release", "error", "bus error"),
    other_driver: ("driver-matches-cann", "error", "bus error"),
    newer_driver_of_an_unknown_kind: ("driver-matches-cann", "warning", "newer than CANN 8.1.RC1"),
    other_firmware: ("firmware-in-driver-range", "error", "7.0.0 to 7.7.99"),
    firmware_of_another_driver: ("driver-in-firmware-range", "error", "24.1"),
    old_driver_interface: ("driver-interfaces", "error", "ascendhal is 3.9.1, CANN requires 4.0.0"),
    no_driver: ("driver-present", "error", "container"),
    broken_latest: ("cann-links", "error", "does not exist"),
    broken_library: ("libraries-readable", "error", "libopapi.so.8"),
    cut_off_library: ("libraries-readable", "error", "cut off"),
    no_operator_library: ("runtime-library", "error", "no library for operators"),
    missing_functions: ("essential-functions", "error", "aclCreateTensor"),
    no_driver_library: ("dependencies", "error", "libascend_hal.so, which libascendcl.so needs"),
    linking_first: ("link-time-directories", "error", "100039"),
    no_kernels: ("kernel-packages", "error", "561112"),
    mixed_packages: ("package-versions", "error", "opp 8.0.0"),
    no_set_env: ("set-env", "error", "561107"),
    stale_home: ("stale-variables", "error", "ASCEND_AICPU_PATH"),
    two_canns: ("one-cann", "error", "ASCEND_OPP_PATH"),
    other_cann_first: ("one-cann", "error", "LD_LIBRARY_PATH"),
    no_nodes: ("device-nodes", "error", "107001"),
    no_control_node: ("device-nodes", "error", "devmm_svm"),
    chip_without_driver: ("chips-on-the-bus", "error", "0000:c1:00.0"),
    hidden_devices: ("visible-devices", "error", "hides every device"),
    absent_device: ("visible-devices", "error", "'9' does not exist: there are 1 devices"),
    one_absent_device: ("visible-devices", "warning", "is cut after 0: '9' does not exist"),
    replaced_operator: ("custom-packages", "warning", "aclnnAdd"),
}


@pytest.mark.parametrize("build", WRONG, ids=lambda build: build.__name__)
def test_each_mistake_is_named_with_what_to_do(tree: Tree, build: Callable[[Tree], None]) -> None:
    rule, level, text = WRONG[build]
    build(tree)
    found = asking(tree)
    assert rule in found, found
    finding = found[rule]
    assert finding.level == level
    assert text in f"{finding.seen}; {finding.why}"
    assert finding.why and finding.action
    # One mistake is not reported as many: what else is said follows from it.
    assert len(found) <= 4, found


def test_kernels_of_another_chip(tree: Tree) -> None:
    from aclnn_py.tools.doctor.device_rules import kernel_packages
    from aclnn_py.tools.doctor.facts import Facts

    good_8_1(tree)
    (other,) = kernel_packages(Facts(tree.host, "Ascend310P3"))
    assert other.level == "error" and "ascend310p" in other.seen
    (own,) = kernel_packages(Facts(tree.host, "Ascend910B3"))
    assert own.level == "ok"


def test_a_variable_set_late_is_seen(tree: Tree) -> None:
    good_8_1(tree)
    before = {**tree.environ, "ASCEND_OPP_PATH": "/elsewhere"}
    report = examine(Host(tree.root, tree.environ, before), device=False)
    (late,) = [f for f in report.worst() if f.rule == "late-variables"]
    assert "ASCEND_OPP_PATH was changed inside the process" in late.seen


def test_missing_operators_are_counted_by_family(tree: Tree) -> None:
    good_8_1(tree)
    found = [
        f for f in examine(tree.host, device=False).findings if f.rule == "operators-by-family"
    ]
    assert any(f.seen.startswith("math: 1 of ") and "missing: " in f.seen for f in found)
    assert any(f.level == "warning" and "the whole family is missing" in f.seen for f in found)


def test_custom_library_with_names_of_its_own_is_fine(tree: Tree) -> None:
    good_8_1(tree)
    library(tree.root / "mine/op_api/lib/libcust_opapi.so", ["aclnnMine"])
    tree.environ["ASCEND_CUSTOM_OPP_PATH"] = f"{tree.root}/mine"
    assert asking(tree) == {}


@pytest.mark.parametrize(
    ("variables", "rule", "text"),
    [
        ({"HCCL_CONNECT_TIMEOUT": "60"}, "hccl-variables", "120..7200"),
        ({"HCCL_BUFFSIZE": "0"}, "hccl-variables", "HCCL_BUFFSIZE='0'"),
        ({"HCCL_BUFFSIZE": "2147483648"}, "hccl-variables", "1..2147483647"),
        ({"HCCL_IF_BASE_PORT": "80"}, "hccl-variables", "1024..65520"),
        ({"HCCL_SOCKET_FAMILY": "ipv4"}, "hccl-variables", "AF_INET6"),
        ({"HCCL_IF_IP": "not-an-address"}, "hccl-variables", "an IP address"),
        ({"HCCL_HOST_SOCKET_PORT_RANGE": "61000-60000"}, "hccl-variables", "port ranges"),
        ({"HCCL_DETERMINISTIC": "1"}, "hccl-variables", "strict"),
        ({"HCCL_WHITELIST_DISABLE": "0"}, "hccl-whitelist", "unset"),
        ({"HCCL_SOCKET_IFNAME": "=nosuch0"}, "hccl-interface", "selects none of"),
        ({"HCCL_IF_IP": "192.0.2.1"}, "hccl-interface", "no address of this host"),
        ({"RANK_TABLE_FILE": "/nonexistent.json"}, "rank-table", "cannot be read"),
    ],
)
def test_wrong_communication_variables(
    tmp_path: Path, variables: dict[str, str], rule: str, text: str
) -> None:
    report = examine(Host(tmp_path, variables, {}), device=False)
    (finding,) = report.worst()
    assert (finding.rule, finding.level) == (rule, "error")
    assert text in finding.seen


def test_right_communication_variables(tmp_path: Path) -> None:
    table = {"server_list": [{"device": [{"rank_id": "0"}, {"rank_id": "1"}]}]}
    place = tmp_path / "table.json"
    place.write_text(json.dumps(table))
    right = {
        "HCCL_CONNECT_TIMEOUT": "600",
        "HCCL_SOCKET_IFNAME": "^=nosuch0",
        "HCCL_IF_IP": "127.0.0.1",
        "HCCL_NPU_SOCKET_PORT_RANGE": "auto",
        "HCCL_HOST_SOCKET_PORT_RANGE": "61000-61031,61050",
        "RANK_TABLE_FILE": str(place),
        "RANK_ID": "1",
    }
    assert examine(Host(tmp_path, right, {}), device=False).worst() == []
    (finding,) = examine(Host(tmp_path, {**right, "RANK_ID": "2"}, {}), device=False).worst()
    assert finding.rule == "rank-table" and "RANK_ID=2" in finding.seen


def test_a_port_in_use_is_named(tree: Tree) -> None:
    good_8_1(tree)
    with socket.create_server(("", 0)) as server:
        port = server.getsockname()[1]
        if port > 65520:
            port = 65520
        tree.environ["HCCL_IF_BASE_PORT"] = str(port)
        worst = examine(tree.host, device=False).worst()
    (finding,) = [f for f in worst if f.rule == "hccl-ports"]
    assert finding.level == "warning" and str(port) in finding.seen and "EJ0003" in finding.why


def test_nothing_installed_is_no_problem(tmp_path: Path) -> None:
    (tmp_path / "sys/bus/pci/devices").mkdir(parents=True)
    report = examine(Host(tmp_path, {}, {}), device=False)
    assert report.worst() == []
    notes = {f.rule for f in report.findings if f.level == "note"} - APART
    assert notes == {"cann-release", "nothing-here"}
    assert any("usr/local/Ascend/cann" in place for place, _ in report.searched)


def test_exceptions_of_an_installation_get_its_findings(
    tree: Tree, monkeypatch: pytest.MonkeyPatch
) -> None:
    other_driver(tree)
    # So that this machine has something to find too.
    monkeypatch.setenv("HCCL_BUFFSIZE", "0")
    for fault in (
        SymbolNotFoundError("aclnnAdd"),
        LibraryNotFoundError("none"),
        status_error("aclnn", 561103),
        status_error("acl", 507033),
    ):
        assert [f.rule for f in findings_for(fault, tree.host) if f.level == "error"] == [
            "driver-matches-cann"
        ]
        assert "hccl-variables" in [finding.rule for finding in fault.diagnosis()]
    assert findings_for(status_error("aclnn", 161002), tree.host) == []
    assert status_error("aclnn", 161002).diagnosis() == []
    assert findings_for(ValueError("mine"), tree.host) == []


PROGRAM = """
    import pickle
    import aclnn_py as ap
    try:
        ap.device_count()
    except (ap.errors.LibraryNotFoundError, ap.errors.SymbolNotFoundError) as error:
        print(type(error).__name__)
        print(error)
        assert str(pickle.loads(pickle.dumps(error))) == str(error)
        assert error.verdict and error.verdict.splitlines()[0] in error.explain()
"""


@pytest.mark.parametrize("loads", [False, True], ids=["LibraryLoadError", "SymbolNotFoundError"])
def test_what_is_missing_comes_with_the_verdict(tree: Tree, loads: bool) -> None:
    tree.cann("8.0.RC1", 15)  # too old, and without aclrtGetDeviceCount
    if loads:
        tree.copy(tree.libraries.plain, tree.home.relative_to(tree.root) / "lib64/libascend_hal.so")
    done = run_script(PROGRAM, env={**tree.environ, "ACLNN_PY_DEVICE": "npu"}).check()
    kind, *lines = done.out.splitlines()
    assert kind == ("SymbolNotFoundError" if loads else "LibraryLoadError")
    assert ("aclrtGetDeviceCount" if loads else "libascend_hal.so") in lines[0]
    findings = [line for line in lines if line.startswith("  installation: ")]
    assert any("8.0.RC2" in line for line in findings)


def test_the_emulator_has_no_installation_to_blame(tmp_path: Path) -> None:
    source = """
        import aclnn_py as ap
        try:
            ap.ops.resize.bind()
        except ap.errors.SymbolNotFoundError as error:
            assert not error.verdict and "installation" not in str(error)
            print("none")
    """
    env = {"ACLNN_PY_DEVICE": "emulator", "ASCEND_HOME_PATH": str(tmp_path / "absent")}
    assert run_script(source, env=env).check().out == "none\n"


def test_releases_are_ordered_as_they_appeared() -> None:
    releases = ["8.0.RC1", "8.0.RC2", "8.0.RC3", "8.0.0", "8.1.RC1", "8.2.RC1"]
    releases += ["8.5.0-beta.1", "8.5.0", "9.0.0", "9.0.1"]
    assert sorted(releases, key=release_order) == releases
    assert len({release_order(release) for release in releases}) == len(releases)


def doctor(*words: str, **env: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "aclnn_py.tools.cli", "doctor", *words],
        capture_output=True,
        text=True,
        timeout=240,
        cwd=Path(__file__).parent,
        env={**os.environ, **env},
    )


def test_a_device_that_the_emulator_lacks_is_named(tmp_path: Path) -> None:
    for variables, said in (
        ({"ASCEND_RT_VISIBLE_DEVICES": "9"}, "there are 8 devices, 0 to 7"),
        ({"ASCEND_RT_VISIBLE_DEVICES": "2", "ACLNN_PY_EMULATOR_DEVICES": "2"}, "0 to 1"),
    ):
        (finding,) = examine(Host(tmp_path, variables, {}), device=False).worst()
        assert (finding.rule, finding.level) == ("visible-devices", "error")
        assert said in finding.seen


def test_text_names_the_device_and_ends_with_a_summary(device_kind: str) -> None:
    result = doctor("--smoke", ACLNN_PY_JOB_TOKEN="a-secret-of-the-job")
    assert result.returncode == 0, result.stdout + result.stderr
    assert f"device in use: {device_kind}" in result.stdout
    assert "aclnnAdd of 32 numbers on device 0 is right" in result.stdout
    assert result.stdout.rstrip().endswith("no problem found")
    assert "a-secret-of-the-job" not in result.stdout
    assert "ACLNN_PY_JOB_TOKEN=(set)" in result.stdout


def test_json_is_one_object_with_what_is_documented(device_kind: str) -> None:
    result = doctor("--json", "--all-reduce")
    assert result.returncode == 0, result.stdout + result.stderr
    report = json.loads(result.stdout)
    assert report["kind"] == device_kind
    assert report["verdict"] in ("ok", "note")
    assert len(report["devices"]) >= 1
    assert 0 < report["operators"]["available"] <= report["operators"]["declared"]
    trials = {f["rule"]: f for f in report["findings"] if f["group"] == "trial"}
    assert trials["all-reduce"]["level"] == "ok"
    assert "2 ranks" in trials["all-reduce"]["seen"]
    fields = {"level", "seen", "why", "action", "rule", "group"}
    assert all(set(finding) == fields for finding in report["findings"])


def test_a_root_that_is_named_and_absent(tmp_path: Path) -> None:
    absent = str(tmp_path / "absent")
    result = doctor(ACLNN_PY_DEVICE="npu", ASCEND_HOME_PATH=absent)
    assert result.returncode == 1
    assert f"ASCEND_HOME_PATH={absent}: no such directory" in result.stdout
    assert "the device cannot be used: LibraryLoadError" in result.stdout


def test_a_library_that_ends_the_process_is_reported(tmp_path: Path) -> None:
    library(tmp_path / "lib64/libascendcl.so", [])
    crash = "void end(void) __attribute__((constructor)); void end(void) { __asm__(CALL); }"
    calls = {
        "x86_64": "mov $39,%eax; syscall; mov %eax,%edi; mov $7,%esi; mov $62,%eax; syscall",
        "aarch64": "mov x8,#172; svc #0; mov x1,#7; mov x8,#129; svc #0",
    }
    source = crash.replace("CALL", f'"{calls[MACHINE]}"')
    command = ["cc", "-shared", "-fPIC", "-nostdlib", "-w", "-x", "c", "-", "-o"]
    place = tmp_path / "lib64/libascendcl.so"
    subprocess.run([*command, str(place)], input=source, text=True, check=True)
    result = doctor("--json", ACLNN_PY_DEVICE="auto", ASCEND_HOME_PATH=str(tmp_path))
    assert result.returncode == 1
    (trial,) = [f for f in json.loads(result.stdout)["findings"] if f["group"] == "trial"]
    assert "ended by SIGBUS" in trial["seen"]
    assert "driver, firmware and CANN that do not match" in trial["why"]


def test_a_missing_compiled_part_is_a_finding() -> None:
    source = """
        import sys
        sys.modules["aclnn_py._ffi._binding"] = None  # as in a source tree that was never built
        from aclnn_py.tools.cli import main
        sys.exit(main(["doctor"]))
    """
    result = run_script(source)
    assert result.status == 1, result.err
    assert "the compiled part of aclnn_py is missing" in result.out
    assert "python build_ffi.py" in result.out


def test_a_trial_that_does_not_end_is_ended() -> None:
    from aclnn_py.tools.children import Child
    from aclnn_py.tools.doctor import probe

    endless = Child((sys.executable, "-c", "import time; time.sleep(600)"), dict(os.environ))
    outcome = probe._run(endless, 0.2)
    assert "no end after 0.2 s" in probe.device_finding(outcome).seen


@pytest.mark.parametrize(
    ("variables", "level", "text"),
    [
        ({"ASCEND_SLOG_PRINT_TO_STDOUT": "yes"}, "warning", "SLOG_PRINT_TO_STDOUT='yes' is not 0"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "info"}, "warning", "0 (debug) to 4 (nothing)"),
        ({"ASCEND_MODULE_LOG_LEVEL": "OP = 1"}, "warning", "MODULE=0"),
        ({"ASCEND_HOST_LOG_FILE_NUM": "0"}, "warning", "1 to 1000"),
        ({"ASCEND_GLOBAL_LOG_LEVEL": "1"}, "note", "LEVEL=1 prints nothing on the emulator"),
        ({"ASCEND_MODULE_LOG_LEVEL": "OP=1"}, "note", "LEVEL=OP=1 prints nothing"),
        (
            {"ASCEND_GLOBAL_LOG_LEVEL": "4", "ASCEND_SLOG_PRINT_TO_STDOUT": "1"},
            "warning",
            "turns CANN's log off",
        ),
        ({"ASCEND_PROCESS_LOG_PATH": f"{__file__}/logs"}, "warning", "cannot be written below"),
    ],
)
def test_log_variables_that_print_nothing(
    tmp_path: Path, variables: dict[str, str], level: str, text: str
) -> None:
    report = examine(Host(tmp_path, variables, {}), device=False)
    found = [f for f in report.findings if f.rule.startswith("log-") and f.level != "ok"]
    assert [f.level for f in found if text in f.seen] == [level], found
    assert {f.group for f in report.findings} <= set(GROUPS)


def test_log_variables_that_print(tmp_path: Path) -> None:
    for variables in (
        {"ASCEND_SLOG_PRINT_TO_STDOUT": "1", "ASCEND_GLOBAL_LOG_LEVEL": "0"},
        {"ASCEND_PROCESS_LOG_PATH": str(tmp_path / "new"), "ASCEND_MODULE_LOG_LEVEL": "OP=0:GE=4"},
    ):
        report = examine(Host(tmp_path, variables, {}), device=False)
        assert {f.level for f in report.findings if f.rule.startswith("log-")} == {"ok"}
