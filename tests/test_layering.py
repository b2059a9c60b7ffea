# SPDX-License-Identifier: Apache-2.0
"""Imports go down, never up, wherever they stand; what goes up is a hook of `late`."""

from __future__ import annotations

import re
import sys
from pathlib import Path

import pytest
from helpers.sources import Source, circles

PACKAGE = Path(__file__).parent.parent / "aclnn_py"
EMULATOR = PACKAGE / "emulator" / "src"
INCLUDED = re.compile(r'^#include "(.+)/[^/]+"$', re.MULTILINE)
# Folders of the emulator that include each other: what watches a program looks at its devices,
# tensors and communicators, and is told by them.
WATCHED = ["core", "faults", "hccl", "meta"]
# From low to high, one folder (or module at the top) per layer. A module may import its own folder
# and those before it.
LAYERS = (
    "late",
    "facts",
    "errors",
    "emulator",
    "_ffi",
    "runtime",
    "memory",
    "tensor",
    "random",
    "operators",
    "operators.describe",
    "operators.rulebook",
    "operators.record",
    "operators.launch",
    "graphs",
    "ops",
    "checking",
    "functional",
    "array",
    "xp",
    "distributed",
    "acl",
    "tools",
)
AT_THE_TOP = 6
LARGEST_CIRCLE = 3
PRIVATE_READS = 30
# `from aclnn_py import Name` loads a name of any layer, so only the package's users may write it.
PUBLIC = {"aclnn_py.__version__"}
# Modules that import inside functions, each for its reason.
IN_FUNCTIONS = {
    "aclnn_py.tools.profiles.profile": "only drawing needs matplotlib",
    "aclnn_py.tools.cli": "a command loads what it needs, and nothing else",
    "aclnn_py.tools.doctor.trial": "runs in a child process, whose imports are what is tried",
}
# Modules that import by a text, or run one; an `__init__.py` may as well.
BY_TEXT = {
    "aclnn_py.array.names": "loads a family of NumPy's functions when one of them is called",
    "aclnn_py.late": "leads upwards",
    "aclnn_py.operators.launch.generate": "compiles the launch functions of `ops`",
    "aclnn_py.tools.cann.pyacl": "asks where the packages lie that a script needs",
    "aclnn_py.tools.gdb.printers": "asks whether it is read by gdb, which alone has its module",
    "aclnn_py.xp.info": "answers with the namespace that stands above it",
}
# Names that begin with an underscore and are read outside the module that defines them.
STEPS = "a sequence is made of plans, and users of a plan have no use for the name"
STRUCTURE = "a launch reads it of whatever it is given, and only a Tensor has this name"
BASE = "a Buffer is a Memory, and this is the part of it that Memory defines"
PRIVATE = {
    ("aclnn_py.memory.buffer", "_slice"): (1, BASE),
    ("aclnn_py.operators.launch.op", "_desc"): (3, STRUCTURE),
    ("aclnn_py.operators.launch.plans", "_desc"): (1, STRUCTURE),
    ("aclnn_py.operators.launch.rebinding", "_desc"): (2, STRUCTURE),
    ("aclnn_py.operators.launch.sequence_steps", "_desc"): (1, STRUCTURE),
    ("aclnn_py.tensor.recipes", "_at"): (1, STRUCTURE),
    ("aclnn_py.operators.launch.sequence", "_values"): (4, STEPS),
    ("aclnn_py.operators.launch.sequence", "_exchange"): (2, STEPS),
    ("aclnn_py.operators.launch.sequence", "_prepare_again"): (1, STEPS),
    ("aclnn_py.operators.launch.sequence", "_renew"): (1, STEPS),
    ("aclnn_py.operators.launch.sequence", "_tensors"): (1, STEPS),
}
# NumPy is imported where arrays are converted or made, and nowhere else.
NUMPY = (
    "acl.util",
    "array",
    "checking.launches",
    "functional",
    "memory.buffer",
    "operators",
    "tensor",
    "xp",
    "distributed.collectives",
    "tools.doctor.trial",
    "tools.dumps",
    "tools.records.difference",
    "tools.verify.cases",
)
FRAMEWORKS = {"torch", "torch_npu", "mindspore", "tensorflow", "jax", "cupy", "paddle", "oneflow"}


def read_package() -> dict[str, Source]:
    found = {}
    for path in sorted(PACKAGE.rglob("*.py")):
        parts = path.relative_to(PACKAGE.parent).with_suffix("").parts
        if parts[1] in ("lib", "include"):
            continue
        is_face = parts[-1] == "__init__"
        name = ".".join(parts[:-1] if is_face else parts)
        found[name] = Source.read(name, path.read_text(), is_face=is_face)
    return found


@pytest.fixture(scope="module")
def sources() -> dict[str, Source]:
    """The modules of the package by name."""
    return read_package()


@pytest.fixture(scope="module")
def inside(sources: dict[str, Source]) -> list[str]:
    """The names of all but the face of the package."""
    return sorted(sources.keys() - {"aclnn_py"})


def layer_of(module: str) -> int:
    """The number of the layer of a module; the longest name of a folder counts."""
    name = module.removeprefix("aclnn_py.")
    while name not in LAYERS:
        assert "." in name, f"{module} lies in no layer; add its folder to LAYERS"
        name = name.rpartition(".")[0]
    return LAYERS.index(name)


def judge(source: Source, modules: set[str]) -> list[str]:
    """What a module does that no module may do."""
    faults = []
    for target, item in source.targets(modules).items():
        if layer_of(target) > layer_of(source.name):
            faults.append(f"line {item.line}: imports {target}, which lies above")
        if item.in_function and source.name not in IN_FUNCTIONS:
            faults.append(f"line {item.line}: imports {target} inside a function")
    for item in source.imports:
        outside = item.target == "aclnn_py" or (
            item.target.rpartition(".")[0] == "aclnn_py" and item.target not in modules | PUBLIC
        )
        if outside:
            faults.append(f"line {item.line}: imports {item.target}, which leads anywhere")
    if not source.is_face and source.name not in BY_TEXT:
        faults += [f"line {line}: imports by a text" for line in source.dynamic]
    return faults


def test_imports_go_down_and_stand_at_the_top(
    sources: dict[str, Source], inside: list[str]
) -> None:
    judged = {name: judge(sources[name], set(sources)) for name in inside}
    assert {name: faults for name, faults in judged.items() if faults} == {}


def test_no_exception_has_lost_its_reason(sources: dict[str, Source], inside: list[str]) -> None:
    found = {name: sources[name].targets(sources).values() for name in inside}
    inner = {name for name, items in found.items() if any(item.in_function for item in items)}
    assert inner == set(IN_FUNCTIONS)
    assert {n for n in inside if sources[n].dynamic and not sources[n].is_face} == set(BY_TEXT)


def test_no_circle_has_more_than_three_modules(
    sources: dict[str, Source], inside: list[str]
) -> None:
    graph = {name: set(sources[name].targets(sources)) for name in inside}
    assert [circle for circle in circles(graph) if len(circle) > LARGEST_CIRCLE] == []


def test_folders_of_the_emulator_form_no_circle() -> None:
    graph: dict[str, set[str]] = {}
    for path in sorted(EMULATOR.rglob("*.*")):
        folder = path.parent.relative_to(EMULATOR).as_posix()
        read = {name for name in INCLUDED.findall(path.read_text()) if (EMULATOR / name).is_dir()}
        graph.setdefault(folder, set()).update(read - {folder})
    assert len(graph) > 30
    assert circles(graph) == [WATCHED]


def test_few_modules_stand_at_the_top() -> None:
    at_the_top = {path.stem for path in PACKAGE.glob("*.py")} - {"__init__"}
    assert at_the_top <= set(LAYERS)
    assert len(at_the_top) <= AT_THE_TOP


def test_private_names_are_read_where_they_are_defined(
    sources: dict[str, Source], inside: list[str]
) -> None:
    found: dict[tuple[str, str], list[int]] = {}
    for name in inside:
        for attribute, line in sources[name].private:
            found.setdefault((name, attribute), []).append(line)
    assert {place: lines for place, lines in found.items() if place not in PRIVATE} == {}
    counts = {place: len(lines) for place, lines in found.items()}
    assert counts == {place: count for place, (count, _reason) in PRIVATE.items()}
    assert sum(counts.values()) < PRIVATE_READS


def test_late_imports_nothing_of_the_package(sources: dict[str, Source]) -> None:
    assert sources["aclnn_py.late"].targets(sources) == {}


def test_only_the_door_to_c_knows_the_emulator(
    sources: dict[str, Source], inside: list[str]
) -> None:
    users = {name for name in inside if "aclnn_py.emulator" in sources[name].targets(sources)}
    allowed = ("aclnn_py._ffi", "aclnn_py.emulator")
    assert {name for name in users if not name.startswith(allowed)} == set()


def test_what_is_imported_from_outside(sources: dict[str, Source], inside: list[str]) -> None:
    for name in inside:
        roots = {item.target.split(".")[0] for item in sources[name].imports}
        assert not roots & FRAMEWORKS, name
        allowed = {"aclnn_py", "numpy", "ml_dtypes"}
        if name == "aclnn_py.tools.profiles.plot":
            allowed.add("matplotlib")  # of the extra `plot`; only drawing needs it
        assert roots <= allowed | sys.stdlib_module_names, f"{name}: an undeclared dependency"
        place = name.removeprefix("aclnn_py.")
        arrays = any(place == part or place.startswith(f"{part}.") for part in NUMPY)
        assert arrays or not {"numpy", "ml_dtypes"} & roots, f"{name} may not import NumPy"


def test_the_extension_module_has_one_door(sources: dict[str, Source], inside: list[str]) -> None:
    users = {
        name
        for name in inside
        for item in sources[name].imports
        if item.target.startswith("aclnn_py._ffi._binding")
    }
    assert {name for name in users if not name.startswith("aclnn_py._ffi")} == set()


@pytest.mark.parametrize("folder", ["errors", "facts", "late"])
def test_errors_and_what_explains_them_need_the_standard_library_only(
    folder: str, sources: dict[str, Source], inside: list[str]
) -> None:
    # A process that cannot load the C library still has to unpickle and explain an exception.
    below = ("aclnn_py.errors", "aclnn_py.facts", "aclnn_py.late")
    for name in inside:
        if name.startswith(f"aclnn_py.{folder}"):
            for item in sources[name].imports:
                own = item.target.startswith(below)
                assert own or item.target.split(".")[0] in sys.stdlib_module_names, item


# The check itself: none of these ways past it is overlooked.

LOW = "aclnn_py.memory.planted"
WAYS_UP = {
    "statement": "from aclnn_py.functional.row import build",
    "module": "import aclnn_py.functional.row",
    "from the package": "from aclnn_py import functional",
    "relative": "from ..functional import row",
    "in a function": "def f():\n    from aclnn_py.functional import row",
    "in a lambda's class": "class A:\n    async def f(self):\n        import aclnn_py.tools",
    "for typing": "if TYPE_CHECKING:\n    from aclnn_py.graphs.capture import Capture",
    "for typing, by another name": "if typing.TYPE_CHECKING:\n    import aclnn_py.graphs.graph",
    "where it may fail": "try:\n    import aclnn_py.tools\nexcept ImportError:\n    pass",
    "through the package": "import aclnn_py\naclnn_py.functional.cast",
    "a public name": "from aclnn_py import Tensor",
    "by text": 'from importlib import import_module\nimport_module("aclnn_py.tools")',
    "by another name": "from importlib import import_module as load\nload(name)",
    "by a text put together": 'import importlib\nimportlib.import_module(f"aclnn_py.{name}")',
    "by the package's loader": 'from aclnn_py.late import load\nload("aclnn_py.tools")',
    "by the loader of a module": 'from aclnn_py import late\nlate.load("aclnn_py.tools")',
    "by running a text": 'exec("import aclnn_py.tools")',
    "by the builtin": '__import__("aclnn_py.tools")',
    "by the builtin's name": 'getattr(builtins, "__import__")("aclnn_py.tools")',
    "out of the table of modules": 'sys.modules["aclnn_py.tools"]',
}


@pytest.mark.parametrize("way", WAYS_UP)
def test_a_way_up_is_seen(way: str, sources: dict[str, Source]) -> None:
    assert judge(Source.read(LOW, WAYS_UP[way]), set(sources)) != []


def test_a_face_may_import_by_text_but_not_upwards(sources: dict[str, Source]) -> None:
    text = 'from importlib import import_module\n_HOMES = {"x": "%s"}\n'
    modules = set(sources)
    own = Source.read("aclnn_py.tensor", text % "tensor.layout", is_face=True)
    up = Source.read("aclnn_py.tensor", text % "tools.doctor", is_face=True)
    assert judge(own, modules) == []
    assert judge(up, modules) == ["line 1: imports aclnn_py.tools.doctor, which lies above"]


def test_imports_below_and_beside_are_allowed(sources: dict[str, Source]) -> None:
    text = "from aclnn_py import late\nfrom aclnn_py.runtime.device import Device\nimport numpy"
    assert judge(Source.read(LOW, text), set(sources)) == []


@pytest.mark.parametrize(
    "text",
    [
        "def f(stream):\n    return stream._queue",
        "tensor.buffer._block.use",
        'getattr(tensor, "_layout")',
        "from aclnn_py.memory.buffer import _copy",
        "Tensor._of(memory, layout)",
        "x = lambda tensor: tensor._layout",
        "def _desc(): ...\ndef f(tensor):\n    return tensor._desc",
    ],
)
def test_a_private_read_is_seen(text: str) -> None:
    assert len(Source.read(LOW, text).private) == 1


@pytest.mark.parametrize(
    "text",
    [
        "class A:\n    __slots__ = ('_at',)\ndef f(a):\n    return a._at",
        "class A:\n    def _g(self): ...\n    def f(self, other):\n        return other._g()",
        "import os\nos._exit(1)",
        "class A:\n    def f(self):\n        return self._inherited",
    ],
)
def test_what_a_module_defines_is_its_own(text: str) -> None:
    assert Source.read(LOW, text).private == []


def test_circles_are_found() -> None:
    graph = {"a": {"b"}, "b": {"c"}, "c": {"a", "d"}, "d": {"e"}, "e": {"d"}, "f": {"a"}}
    assert circles(graph) == [["a", "b", "c"], ["d", "e"]]
