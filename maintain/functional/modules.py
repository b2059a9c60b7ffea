# SPDX-License-Identifier: Apache-2.0
"""The texts of the modules of `aclnn_py.functional`: one per family, and the face of the package.

Everything is formatted by ruff, so that a written module looks like one written by hand.
"""

from __future__ import annotations

import ast
import builtins
import re
import subprocess
import sys
from types import ModuleType

from maintain.functional.row import Row
from maintain.functional.source import function_text
from maintain.functional.tables import FAMILIES, WRITTEN

__all__ = ["COMMAND", "MARK", "module_texts"]

COMMAND = "python -m maintain.functional"
MARK = f"# Written by `{COMMAND}`; change its tables, not this file.\n"
_LICENSE = "# SPDX-License-Identifier: Apache-2.0\n"
_HOMES = {
    "Device": "aclnn_py.runtime.device",
    "Format": "aclnn_py.tensor.formats",
    "Generator": "aclnn_py.random.generator",
    "Number": "aclnn_py.operators.describe.scalar",
    "Sequence": "collections.abc",
    "Stream": "aclnn_py.runtime.stream",
    "Tensor": "aclnn_py.tensor.tensor",
    "empty": "aclnn_py.tensor.creation",
    **dict.fromkeys(
        ("expect_flags", "expect_tensors", "expect_whole", "whole_numbers"),
        "aclnn_py.operators.describe.argument_errors",
    ),
    "ops": "aclnn_py",
    "prod": "math",
    "remembered": "aclnn_py.tensor.recipes",
}
_HELPERS = (
    "arguments", "blocks", "classes", "drawing", "latent", "masks", "promotion", "routed", "shapes",
)  # fmt: skip
_FACE = '''\
"""Operators that allocate their result: `functional.matmul(x, w)` returns a new tensor.

Each function queues one operator of `ops`, sometimes two, on the current stream, or on `stream`,
and returns before the device finishes. Names and the order of arguments are torch's where torch has
the function; a name that ends in an underscore writes its first argument and returns it. A function
is loaded when it is first named; `dir(functional)` lists them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_py.late import load as _load

'''
_LOADER = """
_HOMES = {name: module for module, names in _FUNCTIONS.items() for name in names}
__all__ = [*_HOMES]


# Functions become globals of this module and some are called like builtins (abs, any, sum), so
# nothing here may use a builtin that a function can be named after. Type checkers read the imports
# above instead, and so know a name that does not exist.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'aclnn_py.functional' has no function {name!r}")
        function = getattr(_load(f"aclnn_py.functional.{_HOMES[name]}"), name)
        globals()[name] = function
        return function


def __dir__() -> list[str]:
    return __all__
"""


def module_texts() -> dict[str, str]:
    """The text of every written module, by its name in `aclnn_py.functional`."""
    texts = {name: _family(module) for name, module in FAMILIES.items()}
    return {name: _formatted(text) for name, text in {"__init__": _face(), **texts}.items()}


def _family(module: ModuleType) -> str:
    rows: tuple[Row, ...] = module.ROWS
    body = "\n\n".join(function_text(row) for row in rows)
    names = "".join(f"    {name!r},\n" for name in _ordered(rows))
    return (
        f'{_LICENSE}{MARK}"""{module.__doc__}"""\n\nfrom __future__ import annotations\n\n'
        f"{_imports(body)}\n__all__ = [\n{names}]\n\n\n{body}"
    )


def _ordered(rows: tuple[Row, ...]) -> list[str]:
    """The names of functions in ruff's order, in which log2 comes before log10."""
    names = (row.name for row in rows)
    return sorted(
        names, key=lambda name: [int(t) if t.isdigit() else t for t in re.split(r"(\d+)", name)]
    )


def _imports(body: str) -> str:
    """The import lines for the names that a text takes from elsewhere, in ruff's order."""
    tree = ast.parse(body)
    functions = [node for node in tree.body if isinstance(node, ast.FunctionDef)]
    unknown = {name for node in functions for name in _free_names(node)}
    unknown -= {node.name for node in functions}
    homes: dict[str, set[str]] = {}
    for name in unknown:
        homes.setdefault(_home(name), set()).add(name)
    groups = ([m for m in homes if not m.startswith("aclnn_py")],
              [m for m in homes if m.startswith("aclnn_py")])  # fmt: skip
    return "\n".join(
        "".join(f"from {m} import {', '.join(sorted(homes[m], key=_order))}\n" for m in sorted(g))
        for g in groups
        if g
    )


def _free_names(function: ast.FunctionDef) -> set[str]:
    """The names that a function reads without making them: not its parameters or variables."""
    names = [node for node in ast.walk(function) if isinstance(node, ast.Name)]
    arguments = [*function.args.args, *function.args.kwonlyargs]
    made = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    made |= {argument.arg for argument in arguments}
    annotations = [argument.annotation for argument in arguments]
    annotated = {
        node.id
        for annotation in annotations
        if annotation is not None
        for node in ast.walk(annotation)
        if isinstance(node, ast.Name)
    }
    read = {node.id for node in names} - made | annotated
    return {name for name in read if not hasattr(builtins, name)}


def _home(name: str) -> str:
    if name in _HOMES:
        return _HOMES[name]
    for module in _HELPERS:
        full = f"aclnn_py.functional.{module}"
        __import__(full)
        if name in sys.modules[full].__all__:
            return full
    raise ValueError(f"no module is known for the name {name!r} in a row")


def _order(name: str) -> tuple[int, str]:
    """ruff's order of imported names: constants, classes, the rest."""
    return (0 if name.isupper() else 1 if name[0].isupper() else 2), name


def _face() -> str:
    families = {
        **WRITTEN,
        **{name: _ordered(module.ROWS) for name, module in FAMILIES.items()},
    }
    typed = "".join(
        f"    from aclnn_py.functional.{name} import *  # noqa: F403\n" for name in sorted(families)
    )
    table = "".join(f"    {name!r}: {tuple(families[name])!r},\n" for name in sorted(families))
    return (
        f"{_LICENSE}{MARK}{_FACE}if TYPE_CHECKING:\n{typed}\n"
        f"# Module -> the functions it defines.\n_FUNCTIONS = {{\n{table}}}\n{_LOADER}"
    )


def _formatted(text: str) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "ruff", "format", "--stdin-filename", "functional.py", "-"],
        input=text,
        capture_output=True,
        text=True,
        check=False,
    )
    if done.returncode:
        raise RuntimeError(f"ruff cannot format a written module:\n{done.stderr}")
    return done.stdout
