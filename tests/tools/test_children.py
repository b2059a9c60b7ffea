# SPDX-License-Identifier: Apache-2.0
"""Commands stand in a directory of hostile modules, and run none of them."""

from __future__ import annotations

import ast
import os
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.native import made_once
from helpers.processes import environment

import aclnn_py
from aclnn_py.tools import children

PACKAGE = Path(aclnn_py.__file__).parent
# As pip writes it.
CONSOLE_SCRIPT = "import sys\nfrom aclnn_py.tools.cli import main\nsys.exit(main())\n"
# Says which modules a process has when it ends.
WITNESS = """\
import atexit, os, sys
def tell():
    with open(os.path.join(os.environ["WITNESSES"], str(os.getpid())), "w") as file:
        file.write("\\n".join(list(sys.modules)))
atexit.register(tell)
"""
HOSTILE = 'open({marker!r}, "ab").write(__name__.encode() + b"\\n")\n'
COMPARE = """\
import os, shutil, sys
import numpy as np
import aclnn_py as ap

def compared():
    x = ap.from_numpy(np.arange(4, dtype=np.float32))
    with ap.tools.compare() as found:
        ap.ops.abs(x, ap.empty((4,), np.float32))
    assert str(found).endswith("all agree"), found

hostile, here = sys.argv[1], os.path.dirname(os.path.abspath(__file__))
compared()
os.chdir(hostile)
for path in (None, os.pathsep + "absent", hostile + os.pathsep + "."):
    os.environ.pop("PYTHONPATH", None)
    if path is not None:
        os.environ["PYTHONPATH"] = path
    compared()
os.environ.pop("PYTHONPATH", None)
# What this process needs is loaded: files that come to lie beside the script are the child's alone.
shutil.copytree(hostile, here, dirs_exist_ok=True)
os.chdir(here)
compared()
"""
MATERIAL = """\
import os, sys
import numpy as np
import aclnn_py as ap

folder = sys.argv[1]
x = ap.from_numpy(np.arange(4, dtype=np.float32))
with ap.tools.record(f"{folder}/record"), ap.tools.trace(f"{folder}/trace"):
    ap.ops.abs(x, ap.empty((4,), np.float32))
"""
RANK = "import beside\nassert beside.HERE\n"
COMMANDS = {
    "doctor": ("doctor", "--smoke", "--all-reduce"),
    "verify": ("verify", "--device", "emulator", "aclnnAbs"),
    "run": ("run", "-n", "2", "SAFE/rank.py"),
    "run of a module": ("run", "-n", "1", "-m", "aclnn_py.tools.cli", "explain", "161002"),
    "replay": ("replay", "SAFE/record"),
    "replay --cpp": ("replay", "SAFE/record", "--cpp", "--call", "0"),
    "replay --minimize": ("replay", "SAFE/record", "--minimize", "SAFE/small", "--call", "0"),
    "trace": ("trace", "SAFE/trace"),
    "dump": ("dump", "SAFE/record"),
    "explain": ("explain", "161002"),
    "ops": ("ops", "abs*"),
    "config": ("config", "--cflags", "--libs"),
    "cann": ("cann", "SAFE/cann"),
    "cann --run": ("cann", "SAFE/cann", "--run", "true"),
    "headers": ("headers", "import", str(PACKAGE / "include")),
    "gdb": ("gdb", "--path"),
}
# A record is no dump, and a call that ended well cannot be minimized.
STATUS = {"dump": 1, "replay --minimize": 2}
# `run -m` is `python -m`, which looks into the current directory: the user names a module there.
OF_THE_USER = {"run of a module"}


@dataclass
class Place:
    """A directory that is safe, one that is hostile, and the file that hostile modules write to."""

    safe: Path
    hostile: Path
    marker: Path

    def console(self, *words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
        words = tuple(word.replace("SAFE", str(self.safe)) for word in words)
        return self.python(str(self.safe / "aclnn-py"), *words, cwd=cwd, **env)

    def python(self, *words: str, cwd: Path, **env: str) -> subprocess.CompletedProcess[str]:
        return subprocess.run(
            [sys.executable, *words],
            cwd=cwd, env=environment(env), capture_output=True, text=True, timeout=240, check=False,
        )  # fmt: skip

    def ran(self) -> list[str]:
        """Return the hostile modules that ran since this was asked last."""
        if not self.marker.exists():
            return []
        names = self.marker.read_text().splitlines()
        self.marker.unlink()
        return names


@pytest.fixture(scope="module")
def place(run_folder: Path, tmp_path_factory: pytest.TempPathFactory) -> Place:
    """Directories for the commands: the hostile one has a file for each module they load."""
    folder = tmp_path_factory.mktemp("children")
    made = Place(folder / "safe", folder / "hostile", folder / "marker")
    shutil.copytree(made_once(run_folder / "children", loads), made.safe)
    names = {*(made.safe / "modules").read_text().splitlines(), "usercustomize", "linecache"}
    made.hostile.mkdir()
    for name in names - {"__main__"}:
        (made.hostile / f"{name}.py").write_text(HOSTILE.format(marker=str(made.marker)))
    return made


def loads(folder: Path) -> None:
    """Write the programs into a folder, and a list of the modules that processes load."""
    folder.mkdir()
    made = Place(folder, folder, folder)
    for name, text in {
        "aclnn-py": CONSOLE_SCRIPT, "compare.py": COMPARE, "rank.py": RANK,
        "material.py": MATERIAL, "beside.py": "HERE = True\n",
    }.items():  # fmt: skip
        (folder / name).write_text(text)
    for name in ("witnesses", "hook", "work"):
        (folder / name).mkdir()
    (folder / "hook/sitecustomize.py").write_text(WITNESS)
    path = os.pathsep.join([str(folder / "hook"), str(PACKAGE.parent)])
    env = {"PYTHONPATH": path, "WITNESSES": str(folder / "witnesses")}
    done = made.python(str(folder / "material.py"), str(folder), cwd=folder, **env)
    assert done.returncode == 0, done.stderr
    for name in ("doctor", "verify"):
        done = made.console(*COMMANDS[name], cwd=folder / "work", **env)
        assert done.returncode == 0, done.stdout + done.stderr
    witnesses = [path.read_text().splitlines() for path in (folder / "witnesses").iterdir()]
    # The commands, the trials of the device, two ranks with their launcher, and verify's devices.
    assert len(witnesses) >= 9
    names = {name.split(".")[0] for names in witnesses for name in names}
    assert {"typing", "json", "numpy", "_cffi_backend", "aclnn_py", "subprocess"} <= names
    (folder / "modules").write_text("\n".join(sorted(names)))


def test_the_directory_is_hostile(place: Place) -> None:
    place.python("-c", "import typing, numpy", cwd=place.hostile)
    assert "typing" in place.ran()


@pytest.mark.emulator_only(reason="verify compares the emulator with itself")
@pytest.mark.parametrize("name", COMMANDS)
def test_a_command_runs_no_file_of_the_current_directory(place: Place, name: str) -> None:
    done = place.console(*COMMANDS[name], cwd=place.hostile)
    ran = place.ran()
    if name in OF_THE_USER:
        assert ran
        return
    assert ran == [], done.stdout + done.stderr
    assert done.returncode == STATUS.get(name, 0), done.stdout + done.stderr


@pytest.mark.emulator_only(reason="compares with the emulator")
def test_compare_runs_no_file_around_the_program(place: Place) -> None:
    """Neither of the current directory, however PYTHONPATH names it, nor beside the script."""
    script = place.safe / "apart" / "compare.py"
    script.parent.mkdir()
    shutil.copy(place.safe / "compare.py", script)
    done = place.python(str(script), str(place.hostile), cwd=place.safe)
    assert place.ran() == []
    assert done.returncode == 0, done.stderr


@pytest.fixture
def gdb() -> None:
    if shutil.which("gdb") is None:
        pytest.skip("gdb is not on the path")


def test_gdb_runs_no_file_of_the_current_directory(place: Place, gdb: None) -> None:
    (place.hostile / ".gdbinit").write_text(f"shell touch {place.marker}\n")
    ask = "python import typing; print(typing.__file__)"
    done = place.console("gdb", "-batch", "-ex", ask, cwd=place.hostile)
    assert place.ran() == [] and "typing.py" in done.stdout, done.stdout + done.stderr


def test_other_entries_of_the_search_path_keep_their_meaning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "lib").mkdir()
    kept = ["lib", str(tmp_path / "lib"), str(tmp_path / "absent")]
    path = os.pathsep.join([kept[0], "", kept[1], ".", str(tmp_path), kept[2]])
    child = children.python_child("aclnn_py.tools.cli", environ={"PYTHONPATH": path, "A": "b"})
    assert child.environment == {"PYTHONPATH": os.pathsep.join(kept), "A": "b"}
    for text in ("", os.pathsep, f".{os.pathsep}"):
        assert children.python_child("x", environ={"PYTHONPATH": text}).environment == {}


def test_pythons_without_the_option_p_do_not_look_around_either(
    place: Place, tmp_path: Path
) -> None:
    """Python 3.10 has no -P; the program that the child begins with does the same."""
    for name in ("typing", "json", "runpy", "os", "argparse", "aclnn_py"):
        shutil.copy(place.hostile / f"{name}.py", tmp_path)
    child = children.python_child("aclnn_py.tools.cli", "explain", "161002")
    words = [word for word in child.words[1:] if word != "-P"]
    done = place.python(*words, cwd=tmp_path)
    assert place.ran() == [] and "161002" in done.stdout, done.stderr


def test_a_child_is_as_isolated_as_its_parent(place: Place) -> None:
    source = (
        "import sys; from aclnn_py.tools.children import python_child;"
        " print([w for w in python_child('m').words if w in ('-I', '-E', '-s')])"
    )
    for flags, wanted in (((), []), (("-I",), ["-I"]), (("-E", "-s"), ["-E", "-s"])):
        code = f"import sys; sys.path.append({str(PACKAGE.parent)!r}); {source}"
        done = place.python(*flags, "-c", code, cwd=place.safe)
        assert done.stdout.strip() == str(wanted), done.stderr


def test_a_program_that_embeds_python_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "executable", "")
    with pytest.raises(RuntimeError, match=r"sys\.executable is empty"):
        children.python_child("aclnn_py.tools.cli")


# What starts a process, and who does so besides `children.py`: module -> reason.
STARTERS = {"executable", "multiprocessing", "ProcessPoolExecutor", "_base_executable"}
ELSEWHERE = {"tools/cli.py": "`run` starts the program of the user as `python program` does"}


def test_no_other_module_starts_python() -> None:
    found = set()
    for path in PACKAGE.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
            if STARTERS.intersection(named(node)):
                found.add(path.relative_to(PACKAGE).as_posix())
    assert found == {"tools/children.py", *ELSEWHERE}


def named(node: ast.AST) -> list[str]:
    if isinstance(node, ast.Attribute):
        return [node.attr]
    if isinstance(node, ast.Name):
        return [node.id]
    if isinstance(node, ast.Import | ast.ImportFrom):
        return [alias.name.split(".")[0] for alias in node.names]
    return []
