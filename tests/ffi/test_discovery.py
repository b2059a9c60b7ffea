# SPDX-License-Identifier: Apache-2.0
"""Where CANN is looked for, in which order, and what is said about it. Nothing is loaded."""

from __future__ import annotations

import os
import platform
from pathlib import Path

import pytest

from aclnn_py._ffi import discovery

OPERATORS = f"built-in/op_impl/ai_core/tbe/op_api/lib/linux/{platform.machine()}"


def file(path: Path, text: str = "") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)
    return path


def root_at(path: Path, runtime: str = "libascendcl.so") -> Path:
    file(path / "lib64" / runtime)
    return path


def find(environ: dict[str, str], *roots: Path, tmp_path: Path) -> discovery.Installation:
    return discovery.find_installation(
        {key: str(value) for key, value in environ.items()},
        well_known=tuple(map(str, roots)),
        driver_root=str(tmp_path / "driver"),
        install_info=str(tmp_path / "install.info"),
    )


def places(found: discovery.Installation) -> str:
    return "\n".join(f"{entry.place}: {entry.reason}" for entry in found.searched)


def test_nothing_installed_is_absent_and_lists_every_place(tmp_path):
    found = find({}, tmp_path / "a", tmp_path / "b", tmp_path=tmp_path)
    assert not found.present and not found.broken
    assert str(tmp_path / "a") in places(found) and str(tmp_path / "b") in places(found)
    assert "LD_LIBRARY_PATH" in places(found)


def test_home_path_comes_before_toolkit_home_and_well_known_roots(tmp_path):
    home, toolkit, known = (root_at(tmp_path / name) for name in ("home", "toolkit", "known"))
    environ = {"ASCEND_TOOLKIT_HOME": toolkit, "ASCEND_HOME_PATH": home}
    assert find(environ, known, tmp_path=tmp_path).root == home
    assert find({"ASCEND_TOOLKIT_HOME": toolkit}, known, tmp_path=tmp_path).root == toolkit
    assert find({}, known, tmp_path=tmp_path).root == known


@pytest.mark.parametrize("runtime", ["libascendcl.so", "libacl_rt.so"])
def test_either_runtime_library_makes_a_root(tmp_path, runtime):
    root = root_at(tmp_path / "cann", runtime)
    assert find({}, root, tmp_path=tmp_path).root == root


def test_variable_that_names_nothing_is_broken_not_absent(tmp_path):
    known = root_at(tmp_path / "known")
    found = find({"ASCEND_HOME_PATH": tmp_path / "gone"}, known, tmp_path=tmp_path)
    assert found.present and "ASCEND_HOME_PATH" in found.broken
    assert found.root is None


def test_root_with_libraries_but_no_runtime_is_broken(tmp_path):
    file(tmp_path / "cann/lib64/libopapi.so")
    found = find({}, tmp_path / "cann", tmp_path=tmp_path)
    assert found.present and "no runtime library" in found.broken


def test_empty_leftover_directory_is_absent(tmp_path):
    (tmp_path / "cann").mkdir()
    assert not find({}, tmp_path / "cann", tmp_path=tmp_path).present


def test_named_directories_come_first_and_keep_the_root(tmp_path):
    root = root_at(tmp_path / "cann")
    mine = file(tmp_path / "mine/libopapi.so").parent
    environ = {"ACLNN_PY_LIBRARY_PATH": mine, "ASCEND_HOME_PATH": root}
    found = find(environ, tmp_path=tmp_path)
    assert found.directories[0] == mine
    assert found.root == root
    assert next(found.locate("libascendcl.so")).parent == root / "lib64"


def test_named_directory_that_is_missing_is_an_error(tmp_path):
    found = find({"ACLNN_PY_LIBRARY_PATH": tmp_path / "no"}, tmp_path=tmp_path)
    assert "ACLNN_PY_LIBRARY_PATH" in found.broken


@pytest.mark.parametrize("name", ["stub", "devlib"])
def test_link_time_directories_are_refused(tmp_path, name):
    directory = file(tmp_path / "cann/runtime/lib64" / name / "libascendcl.so").parent
    found = find({"ACLNN_PY_LIBRARY_PATH": directory}, tmp_path=tmp_path)
    assert not found.directories and "linking only" in places(found)
    found = find({"LD_LIBRARY_PATH": directory}, tmp_path=tmp_path)
    assert not found.directories and "linking only" in places(found)


def test_loader_path_is_the_last_resort(tmp_path):
    directory = file(tmp_path / "x/libascendcl.so").parent
    assert find({"LD_LIBRARY_PATH": directory}, tmp_path=tmp_path).directories == [directory]
    root = root_at(tmp_path / "cann")
    assert find({"LD_LIBRARY_PATH": directory}, root, tmp_path=tmp_path).root == root


def test_linked_lib64_is_looked_at_once(tmp_path):
    real = file(tmp_path / f"cann/{platform.machine()}-linux/lib64/libascendcl.so").parent
    (tmp_path / "cann/lib64").symlink_to(real)
    assert len(find({}, tmp_path / "cann", tmp_path=tmp_path).directories) == 1


def test_operator_directory_below_opp_is_searched(tmp_path):
    root = root_at(tmp_path / "cann")
    opp = tmp_path / "elsewhere"
    file(opp / OPERATORS / "libaclnn_math.so")
    found = find({"ASCEND_HOME_PATH": root, "ASCEND_OPP_PATH": opp}, tmp_path=tmp_path)
    assert next(found.locate("libaclnn_math.so")).parent == opp / OPERATORS


def test_split_operator_libraries_are_in_directory_order(tmp_path):
    root = root_at(tmp_path / "cann", "libacl_rt.so")
    for name in ("nn", "math", "transformer"):
        file(root / f"lib64/libopapi_{name}.so")
    found = find({}, root, tmp_path=tmp_path)
    assert found.split_operator_libraries() == (
        "libopapi_math.so",
        "libopapi_nn.so",
        "libopapi_transformer.so",
    )


def custom(base: Path) -> Path:
    return file(base / "op_api/lib/libcust_opapi.so")


def test_custom_packages_precede_vendors_in_priority_order(tmp_path):
    root = root_at(tmp_path / "cann")
    config = "# load_priority=wrong\nload_priority=b, a\n"
    file(root / "opp/vendors/config.ini", config)
    a, b = custom(root / "opp/vendors/a"), custom(root / "opp/vendors/b")
    mine = custom(tmp_path / "mine")
    environ = {"ASCEND_HOME_PATH": root, "ASCEND_CUSTOM_OPP_PATH": f"{tmp_path}/mine:{tmp_path}/no"}
    found = find(environ, tmp_path=tmp_path)
    assert found.custom_libraries == [mine, b, a]
    assert f"{tmp_path}/no/op_api/lib/libcust_opapi.so" in places(found)


@pytest.mark.parametrize(
    ("text", "vendors"),
    [
        ("load_priority=x,y", ["x", "y"]),
        ("other=1\npriority = z ,\n", ["z"]),
        ("#load_priority=x", []),
        ("", []),
    ],
)
def test_vendor_config(tmp_path, text, vendors):
    assert discovery.vendor_priority(file(tmp_path / "config.ini", text)) == vendors


def test_vendor_config_may_be_missing(tmp_path):
    assert discovery.vendor_priority(tmp_path / "config.ini") == []


def test_custom_library_of_another_user_is_skipped(tmp_path, monkeypatch):
    root = root_at(tmp_path / "cann")
    library = custom(tmp_path / "mine")
    monkeypatch.setattr(discovery.os, "getuid", lambda: library.stat().st_uid + 1)
    real = Path.stat

    def stat(self, **kwargs):
        values = list(real(self, **kwargs))
        if self == library:
            values[4] = 4242
        return os.stat_result(values)

    monkeypatch.setattr(Path, "stat", stat)
    environ = {"ASCEND_HOME_PATH": root, "ASCEND_CUSTOM_OPP_PATH": tmp_path / "mine"}
    found = find(environ, tmp_path=tmp_path)
    assert found.custom_libraries == []
    assert "owned by user 4242" in places(found)


def test_driver_directories_come_from_the_install_file(tmp_path):
    root = root_at(tmp_path / "cann")
    (tmp_path / "ascend/driver/lib64/driver").mkdir(parents=True)
    (tmp_path / "driver/lib64/common").mkdir(parents=True)
    file(tmp_path / "install.info", f"Driver_Install_Path_Param={tmp_path}/ascend\nUserName=x\n")
    found = find({}, root, tmp_path=tmp_path)
    assert found.driver_directories == [
        tmp_path / "ascend/driver/lib64/driver",
        tmp_path / "driver/lib64/common",
    ]


@pytest.mark.parametrize(
    ("name", "text", "version"),
    [
        ("ascend_toolkit_install.info", "arch=x\nversion=8.1.RC1\n", "8.1.RC1"),
        ("share/info/runtime/version.info", "Version=8.5.0\n", "8.5.0"),
        ("version.cfg", "runtime_running_version=[7.7.0.1.238:8.1.RC1]\n", "8.1.RC1"),
    ],
)
def test_version_files(tmp_path, name, text, version):
    file(tmp_path / name, text)
    assert discovery.read_version(tmp_path) == version


def test_version_is_empty_without_files(tmp_path):
    assert discovery.read_version(tmp_path) == ""
