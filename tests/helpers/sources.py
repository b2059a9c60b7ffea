# SPDX-License-Identifier: Apache-2.0
"""What a module of the package imports, and which private names of others it reads."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field

ROOT = "aclnn_py"
# Whatever imports by a text instead of a statement.
_DYNAMIC = frozenset(
    [
        "import_module",
        "__import__",
        "find_spec",
        "spec_from_file_location",
        "module_from_spec",
        "SourceFileLoader",
        "pkgutil",
        "runpy",
        "exec",
        "eval",
    ]
)
# The package's own, which says what it means when Python is exiting.
_LOADER = f"{ROOT}.late.load"


@dataclass(frozen=True)
class Import:
    """One import: what, on which line, and whether it is inside a function."""

    target: str
    line: int
    in_function: bool


@dataclass
class Source:
    """One module.

    Attributes
    ----------
    name : str
        Its full name; of a package the name of the folder.
    is_face : bool
        Whether it is an ``__init__.py``.
    imports : list of Import
        Every import statement, those in functions, branches and under ``TYPE_CHECKING`` included.
    dynamic : list of int
        Lines that import by a text, or that could.
    texts : list of str
        All texts, for modules that may import by one.
    private : list of (str, int)
        Names that begin with an underscore, are read of an object or imported, and are defined
        nowhere in this module.
    """

    name: str
    is_face: bool
    imports: list[Import] = field(default_factory=list)
    dynamic: list[int] = field(default_factory=list)
    texts: list[str] = field(default_factory=list)
    private: list[tuple[str, int]] = field(default_factory=list)

    @classmethod
    def read(cls, name: str, text: str, *, is_face: bool = False) -> Source:
        """Read the source of a module."""
        source = cls(name, is_face)
        tree = ast.parse(text)
        source._visit(tree, in_function=False)
        own = set(_defined(tree))
        libraries = _other_libraries(tree)
        source.private = [
            (attribute, line)
            for attribute, base, line in _private_reads(tree)
            if attribute not in own and base not in libraries
        ]
        return source

    def _visit(self, node: ast.AST, in_function: bool) -> None:
        for child in ast.iter_child_nodes(node):
            inside = in_function or isinstance(
                child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda
            )
            if isinstance(child, ast.Import):
                for alias in child.names:
                    self._add(alias.name, child.lineno, in_function)
            elif isinstance(child, ast.ImportFrom):
                base = child.module or ""
                if child.level:
                    parts = self.name.split(".")
                    keep = len(parts) - child.level + (1 if self.is_face else 0)
                    base = ".".join([*parts[:keep], *([base] if base else [])])
                for alias in child.names:
                    self._add(f"{base}.{alias.name}", child.lineno, in_function)
                    if alias.name in _DYNAMIC or f"{base}.{alias.name}" == _LOADER:
                        self.dynamic.append(child.lineno)
            elif isinstance(child, ast.Name) and child.id in _DYNAMIC:
                self.dynamic.append(child.lineno)
            elif isinstance(child, ast.Attribute):
                base = child.value.id if isinstance(child.value, ast.Name) else ""
                ways = (("sys", "modules"), ("late", "load"))
                if child.attr in _DYNAMIC or (base, child.attr) in ways:
                    self.dynamic.append(child.lineno)
            elif isinstance(child, ast.Constant) and isinstance(child.value, str):
                self.texts.append(child.value)
                if child.value in _DYNAMIC:
                    self.dynamic.append(child.lineno)
            self._visit(child, inside)

    def _add(self, target: str, line: int, in_function: bool) -> None:
        self.imports.append(Import(target, line, in_function))
        if target.split(".")[0] in _DYNAMIC:
            self.dynamic.append(line)

    def targets(self, modules: Iterable[str]) -> dict[str, Import]:
        """The modules of the package that this one imports.

        A face that imports by a text may lead to every module whose name is one of its texts.
        """
        known = set(modules)
        found: dict[str, Import] = {}
        for item in self.imports:
            target = item.target
            while target and target not in known:
                target = target.rpartition(".")[0]
            if target and target not in (self.name, ROOT):
                found.setdefault(target, item)
        if self.dynamic and self.is_face:
            line = self.dynamic[0]
            for text in self.texts:
                for name in (text, f"{ROOT}.{text}", f"{self.name}.{text}"):
                    if name in known and name not in (self.name, ROOT):
                        found.setdefault(name, Import(name, line, False))
        return found


def _is_private(name: str) -> bool:
    dunder = name.startswith("__") and name.endswith("__")
    return name.startswith("_") and not dunder and name != "_ffi"  # a folder


def _private_reads(tree: ast.AST) -> Iterator[tuple[str, str, int]]:
    """(name, what it is read of, line)."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute) and _is_private(node.attr):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            if base not in ("self", "cls"):
                yield node.attr, base, node.lineno
        elif isinstance(node, ast.ImportFrom):
            for alias in node.names:
                if _is_private(alias.name) and (node.module or "").startswith(ROOT):
                    yield alias.name, node.module or "", node.lineno
        elif isinstance(node, ast.Call) and getattr(node.func, "id", "") in ("getattr", "setattr"):
            name = node.args[1] if len(node.args) > 1 else None
            if isinstance(name, ast.Constant) and _is_private(str(name.value)):
                base = node.args[0].id if isinstance(node.args[0], ast.Name) else ""
                yield str(name.value), base, node.lineno


def _defined(tree: ast.AST) -> Iterator[str]:
    """Names of the attributes and methods of the classes of a module."""
    for node in ast.walk(tree):
        if isinstance(node, ast.ClassDef):
            for member in node.body:
                yield from _members(member)
        elif isinstance(node, ast.Attribute) and isinstance(node.ctx, ast.Store):
            base = node.value.id if isinstance(node.value, ast.Name) else ""
            if base in ("self", "cls"):
                yield node.attr


def _members(node: ast.AST) -> Iterator[str]:
    if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
        yield node.name
    elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
        yield node.target.id
    elif isinstance(node, ast.Assign):
        names = [target.id for target in node.targets if isinstance(target, ast.Name)]
        yield from names
        if "__slots__" in names:
            slots = ast.walk(node.value)
            yield from (str(c.value) for c in slots if isinstance(c, ast.Constant))


def _other_libraries(tree: ast.AST) -> set[str]:
    """Names under which modules of other libraries are known."""
    return {
        alias.asname or alias.name.split(".")[0]
        for node in ast.walk(tree)
        if isinstance(node, ast.Import)
        for alias in node.names
        if alias.name.split(".")[0] != ROOT
    }


def circles(graph: dict[str, set[str]]) -> list[list[str]]:
    """Groups of modules that import each other, directly or through others, largest first."""
    reached = {name: _reached(name, graph) for name in graph}
    groups = {
        tuple(sorted(other for other in reached[name] if name in reached.get(other, set())))
        for name in graph
    }
    return sorted((list(group) for group in groups if len(group) > 1), key=len, reverse=True)


def _reached(start: str, graph: dict[str, set[str]]) -> set[str]:
    found: set[str] = set()
    waiting = [start]
    while waiting:
        for name in graph.get(waiting.pop(), set()) - found:
            found.add(name)
            waiting.append(name)
    return found
