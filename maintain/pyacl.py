# SPDX-License-Identifier: Apache-2.0
"""Write docs/pyacl.md and the stubs of `aclnn_py.acl`: ``python -m maintain.pyacl``."""

from __future__ import annotations

import argparse
import importlib
import inspect
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from aclnn_py import facts
from aclnn_py._ffi import ffi, lib
from aclnn_py.acl import constants
from aclnn_py.acl.calls import returns_status, signature_of
from aclnn_py.acl.refusals import FAMILIES, REASONS, refused_names
from aclnn_py.acl.table import Parameter, Row, rows

__all__ = ["COMMAND", "differences", "main", "page", "stub", "tested", "texts"]

COMMAND = "python -m maintain.pyacl"
_ROOT = Path(__file__).resolve().parent.parent
_PACKAGE = _ROOT / "aclnn_py" / "acl"
_TESTS = _ROOT / "tests" / "acl"
_HEAD = f"# SPDX-License-Identifier: Apache-2.0\n# Written by `{COMMAND}` from facts/pyacl.json.\n"
_CALL = re.compile(r"\bacl\.((?:[a-z]+\.)?\w+)\(")
_TITLES = {
    "": "Initialization, tensor descriptions, data buffers: `acl`",
    "rt": "Runtime: `acl.rt`",
    "op": "Single operators: `acl.op`",
    "util": "Addresses and threads: `acl.util`",
    "mdl": "Offline models: `acl.mdl`",
    "prof": "Profiling: `acl.prof`",
    "tdt": "Channels and queues: `acl.tdt`",
}
_OPERATORS = """\
CANN's own pyACL does not call aclnn operators. Here `acl.op` has both phases of every operator
under their C names, as an addition.
`workspace_size, executor, ret = acl.op.aclnnAddGetWorkspaceSize(self, other, alpha, out)` plans,
`ret = acl.op.aclnnAdd(workspace, workspace_size, executor, stream)` runs; `__doc__` of each has
the parameters. Tensors, scalars and lists are handles, which these functions make and destroy:"""
_INTRODUCTION = (_ROOT / "maintain" / "pyacl_introduction.md").read_text(encoding="utf-8")


def texts() -> dict[Path, str]:
    """Return every file that the command writes, with its text."""
    stubs = {_PACKAGE / f"{name or '__init__'}.pyi": stub(name) for name in ("", *_stubbed())}
    return {_ROOT / "docs" / "pyacl.md": page(), **stubs}


def differences() -> list[str]:
    """Return the files that differ from what the command writes."""
    return [
        str(path.relative_to(_ROOT))
        for path, text in texts().items()
        if not path.is_file() or path.read_text(encoding="utf-8") != text
    ]


def tested() -> set[str]:
    """Return the functions that tests/acl calls, by their names after ``acl.``."""
    sources = [path.read_text(encoding="utf-8") for path in sorted(_TESTS.glob("*.py"))]
    return {name for text in sources for name in _CALL.findall(text)}


def page() -> str:
    """Return docs/pyacl.md."""
    return _INTRODUCTION.rstrip("\n") + "\n" + "\n".join(_tables()) + "\n"


def _tables() -> Iterator[str]:
    by_hand, refused, called = facts.pyacl()["by_hand"], refused_names(), tested()
    added = {*facts.pyacl()["extensions"], "create_scalar"}
    names = sorted({*rows(), *by_hand, *refused} - added)
    present = [name for name in names if name not in refused]
    yield ""
    yield "| Documented | Present | Refused | Called by tests |"
    yield "| --- | --- | --- | --- |"
    counted = (len(names), len(present), len(refused), len(called & set(present)))
    yield f"| {' | '.join(map(str, counted))} |"
    for module, title in _TITLES.items():
        mine = [name for name in names if name.rpartition(".")[0] == module]
        shown = [name for name in mine if name not in refused]
        yield from ("", f"## {title}")
        yield from _functions(shown)
        for reason, (what, instead) in REASONS.items():
            out = [f"`{n.rpartition('.')[2]}`" for n in mine if refused.get(n) == reason]
            if out:
                yield from ("", f"Refused, since {what}. Instead: {instead}.", "", ", ".join(out))
    yield from (
        "",
        "## Refused as a whole",
        "",
        "| Module | Why | Instead |",
        "| --- | --- | --- |",
    )
    for module, reason in FAMILIES.items():
        yield f"| `acl.{module}` | {REASONS[reason][0]} | {REASONS[reason][1]} |"
    objects = [name for name in sorted(added) if "." not in name]
    yield from ("", "## Additions", "", _OPERATORS)
    yield from _functions(objects)
    yield from ("", "These follow the rule by which pyACL names its functions:")
    yield from _functions([name for name in sorted(added) if "." in name])


def _functions(names: list[str]) -> Iterator[str]:
    by_hand, called = facts.pyacl()["by_hand"], tested()
    if names:
        yield from ("", "| Function | C function | Tested |", "| --- | --- | --- |")
    for name in names:
        c_name = rows()[name].c_name if name in rows() else by_hand[name]
        function = f"`{c_name}`" if c_name else ""
        yield f"| `{_signature(name)}` | {function} | {'yes' if name in called else ''} |"


def _signature(name: str) -> str:
    if name in rows():
        return signature_of(rows()[name])
    function = _by_hand(name)
    return f"acl.{name}({', '.join(inspect.signature(function).parameters)})"


def _by_hand(name: str) -> Any:
    module, _, function = name.rpartition(".")
    home = "aclnn_py.acl" + (f".{module}" if module else "")
    return getattr(importlib.import_module(home), function)


def _stubbed() -> list[str]:
    return ["blas", "himpi", "mdl", "media", "op", "prof", "rt", "tdt"]


def stub(module: str) -> str:
    """Return the stub of a module; ``""`` stands for ``acl`` itself."""
    return _HEAD + "\n".join(_stub_lines(module)) + "\n"


def _stub_lines(module: str) -> Iterator[str]:
    yield "from collections.abc import Callable, Sequence"
    yield "from types import ModuleType"
    yield "from typing import Any, NoReturn"
    yield ""
    if not module:
        for name in [*_stubbed(), "constants", "util"]:
            yield f"from aclnn_py.acl import {name} as {name}"
        yield ""
        yield 'def stand_in(name: str = "acl") -> ModuleType: ...'
    if module == "op":  # both phases of every operator
        yield "def __getattr__(name: str) -> Callable[..., Any]: ..."
    if module in FAMILIES:
        yield "def __getattr__(name: str) -> Callable[..., NoReturn]: ..."
    for name, found in rows().items():
        if name.rpartition(".")[0] == module:
            yield _stub_line(found)
    for name in facts.pyacl()["by_hand"]:
        if name.rpartition(".")[0] == module:
            signature = str(inspect.signature(_by_hand(name))).replace("'", "")
            yield f"def {name.rpartition('.')[2]}{signature}: ..."
    for name in refused_names():
        if name.rpartition(".")[0] == module:
            yield f"def {name.rpartition('.')[2]}(*arguments: Any) -> NoReturn: ..."
    if not module:
        yield from (f"{name}: int" for name in constants.names())


def _stub_line(found: Row) -> str:
    ctype = ffi.typeof(getattr(lib, found.c_name))
    pairs = zip(found.parameters, ctype.args, strict=True)
    types = {p.name: t for p, t in pairs if p.role != "count"}
    inputs = [_input(p, types[p.name]) for p in found.inputs]
    by_name = {p.name: p for p in found.parameters if p.role == "result"}
    results = [_result(by_name[name], types[name]) for name in found.results]
    if returns_status(ctype):
        results.append("int")
    elif ctype.result.kind != "void":
        results.append(_plain(ctype.result))
    result = {0: "None", 1: results[0] if results else ""}.get(
        len(results), f"tuple[{', '.join(results)}]"
    )
    given = f"{', '.join(inputs)}, /" if inputs else ""
    return f"def {found.name.rpartition('.')[2]}({given}) -> {result}: ..."


def _input(parameter: Parameter, ctype: Any) -> str:
    if parameter.role == "list":
        nested = parameter.length.isdigit()
        kind = f"Sequence[{_plain(ctype.item.item if nested else ctype.item)}]"
        kind = f"Sequence[{kind}]" if nested else kind
    elif parameter.role == "dictionary":
        kind = "dict[str, Any]"
    else:
        kind = _plain(ctype)
    if parameter.role == "optional":
        return f"{parameter.name}: {kind} | None = None"
    if parameter.nullable:
        return f"{parameter.name}: {kind} | None"
    return f"{parameter.name}: {kind}"


def _result(parameter: Parameter, ctype: Any) -> str:
    if parameter.length:
        return "str" if ctype.item.cname == "char" else f"list[{_plain(ctype.item)}]"
    return "dict[str, Any]" if ctype.item.kind in ("struct", "union") else _plain(ctype.item)


def _plain(ctype: Any) -> str:
    if ctype.kind == "pointer" and ctype.item.cname == "char":
        return "str"
    return "float" if ctype.cname in ("float", "double") else "int"


def main() -> int:
    """Write the files, or with ``--check`` name those that differ."""
    parser = argparse.ArgumentParser(prog=COMMAND, description=__doc__)
    parser.add_argument(
        "--check", action="store_true", help="write nothing; exit 1 if files differ"
    )
    if parser.parse_args().check:
        found = differences()
        for name in found:
            print(f"{name} is out of date: run {COMMAND}")
        return 1 if found else 0
    for path, text in texts().items():
        path.write_text(text, encoding="utf-8")
        print(f"wrote {path.relative_to(_ROOT)}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
