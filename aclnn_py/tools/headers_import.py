# SPDX-License-Identifier: Apache-2.0
"""Read operator prototypes from CANN's own headers and propose additions to the contract."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path

from aclnn_py.facts import OperatorFact, ParameterFact

__all__ = ["declared_operators", "proposals"]

_PHASE_ONE = re.compile(r"\b(aclnn\w+?)GetWorkspaceSize\s*\(([^;{}]*)\)\s*;")
_BLOCK_COMMENT = re.compile(r"/\*.*?\*/", re.DOTALL)
_LINE_COMMENT = re.compile(r"//[^\n]*")
_DOCUMENTED = re.compile(r"@param\s*\[\s*(in|out|in\s*,?\s*out)\s*\]\s*:?\s*(\w+)", re.IGNORECASE)
_ARGUMENT = re.compile(r"^(.*?)(\w+)$", re.DOTALL)
_WRITTEN_NAME = re.compile(r"(^out|Out|^y)(Optional)?$|^output$")
_VERSION = re.compile(r"(V\d+)+$")
_POINTERS = frozenset(
    f"acl{kind} *"
    for kind in (
        *("Tensor", "TensorList", "Scalar", "ScalarList"),
        *("IntArray", "FloatArray", "BoolArray"),
    )
) | {"char *"}
_VALUES = frozenset(
    {"bool", "float", "double", "int", "aclDataType", "aclFormat"}
    | {f"{sign}int{bits}_t" for sign in ("", "u") for bits in (8, 16, 32, 64)}
)


@dataclass(frozen=True)
class _Parameter:
    cann_type: str
    cann_name: str
    written: bool
    in_place: bool

    @property
    def pointer(self) -> bool:
        return self.cann_type.endswith("*")

    @property
    def c_type(self) -> str:
        bare = self.cann_type.replace("const ", "")
        return f"const {bare}" if self.pointer and not self.written else bare

    @property
    def name(self) -> str:
        marked = self.cann_name.endswith("Ref")
        return self.cann_name if marked or not self.in_place else f"{self.cann_name}Ref"


def _operator_headers(cann_include: Path) -> list[Path]:
    folder = cann_include / "aclnnop"
    return sorted(folder.glob("*.h")) + sorted(folder.glob("level2/*.h"))


@lru_cache(maxsize=8)
def declared_operators(cann_include: Path) -> Mapping[str, str]:
    """Operator -> header that declares it, relative to the tree; the shortest path wins."""
    homes: dict[str, str] = {}
    for path in _operator_headers(cann_include):
        text = _without_comments(path.read_text(encoding="utf-8", errors="replace"))
        for name, _ in _PHASE_ONE.findall(text):
            homes.setdefault(name, path.relative_to(cann_include).as_posix())
    return homes


def proposals(cann_include: Path, known: Mapping[str, OperatorFact]) -> str:
    """Text to add for each operator of the tree that ``known`` lacks; empty when there is none.

    A prototype with a type the contract has no form for is named in a comment and left out, so
    that nothing wrong is proposed.
    """
    parts = []
    for name, home in sorted(declared_operators(cann_include).items()):
        if name in known:
            continue
        source = (cann_include / home).read_text(encoding="utf-8", errors="replace")
        try:
            parameters = _parameters(name, source)
        except ValueError as problem:
            parts.append(f"/* {name} ({home}) is left out: {problem} */\n")
            continue
        parts.append(_fragment(name, Path(home).name, parameters, known))
    return "\n".join(parts)


def _fragment(
    name: str, header: str, parameters: list[_Parameter], known: Mapping[str, OperatorFact]
) -> str:
    family = _family(name, known)
    arguments = [f"{p.c_type}{'' if p.pointer else ' '}{p.name}" for p in parameters] + [
        "uint64_t *workspaceSize",
        "aclOpExecutor **executor",
    ]
    place = f"include/aclnnop/{family}.h" if family else "a family header of your choice"
    rows: list[ParameterFact] = []
    for p in parameters:
        row: ParameterFact = {"name": p.name}
        if p.cann_type != p.c_type:
            row["cann_type"] = p.cann_type
        if p.cann_name != p.name:
            row["cann_name"] = p.cann_name
        rows.append(row)
    entry = {
        "header": header,
        "family": family or "",
        "since": "later",
        "source": "header",
        "experimental": False,
        "status": [],
        "params": rows,
    }
    written = ", ".join(p.name for p in parameters if p.written) or "nothing"
    guard = f"ACLNN_PY_{(family or 'FAMILY').upper()}_{Path(header).stem.upper()}"
    return (
        f"/* For {place}; check what it computes and that it writes {written}. */\n"
        f"#ifndef {guard}\n#define {guard}\n"
        f"/* {name.removeprefix('aclnn')}: say here what it computes. */\n"
        f"aclnnStatus {name}GetWorkspaceSize({', '.join(arguments)});\n"
        f"aclnnStatus {name}(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, "
        "aclrtStream stream);\n#endif\n"
        f"/* For aclnn_py/facts/operators.json:\n"
        f"{json.dumps({name: entry}, separators=(',', ':'))[1:-1]}\n*/\n"
    )


def _family(name: str, known: Mapping[str, OperatorFact]) -> str | None:
    """The family of the operator this one is a version, in-place form or gradient of."""
    stem = _VERSION.sub("", name.removeprefix("aclnn"))
    stems = [stem, stem.removeprefix("Inplace")]
    stems += [s.removesuffix(end) for s in stems for end in ("Backward", "Grad")]
    by_stem = {_VERSION.sub("", n.removeprefix("aclnn")): row["family"] for n, row in known.items()}
    return next((by_stem[s] for s in stems if s in by_stem), None)


def _parameters(name: str, source: str) -> list[_Parameter]:
    """The parameters of one phase-one prototype, each with its direction.

    CANN's ``const`` does not tell the direction: the comment in front of the prototype does, and
    where there is none, the name.
    """
    plain = _without_comments(source)
    arguments = next(args for found, args in _PHASE_ONE.findall(plain) if found == name)
    documented = _documented(name, source)
    parameters = []
    for argument in arguments.split(","):
        text = " ".join(argument.split("=")[0].split())
        found = _ARGUMENT.match(text)
        if found is None:
            raise ValueError(f"cannot read the parameter {text!r}")
        c_type = re.sub(r"\s*\*\s*", " *", found[1].strip())
        parameters.append((c_type.replace(" * *", " **"), found[2]))
    if [c_type for c_type, _ in parameters[-2:]] != ["uint64_t *", "aclOpExecutor **"]:
        raise ValueError("it does not end in workspace size and executor")
    result = []
    for c_type, parameter in parameters[:-2]:
        bare = c_type.replace("const ", "")
        if bare not in _POINTERS and bare not in _VALUES:
            raise ValueError(f"{parameter} has the type {c_type!r}")
        direction = documented.get(parameter)
        tensor = bare in ("aclTensor *", "aclTensorList *")
        in_place = tensor and (direction == "in,out" or parameter.endswith("Ref"))
        if direction is None:
            written = _WRITTEN_NAME.search(parameter) is not None or not c_type.startswith("const")
        else:
            written = "out" in direction
        result.append(_Parameter(c_type, parameter, tensor and (written or in_place), in_place))
    return result


def _documented(name: str, source: str) -> dict[str, str]:
    """Parameter -> "in", "out" or "in,out" from the comment that ends just before the prototype."""
    place = re.search(rf"\b{name}GetWorkspaceSize\s*\(", source)
    if place is None:
        return {}
    comments = list(_BLOCK_COMMENT.finditer(source, 0, place.start()))
    if not comments or ";" in source[comments[-1].end() : place.start()]:
        return {}
    return {
        parameter: ",".join(re.findall(r"in|out", direction.lower()))
        for direction, parameter in _DOCUMENTED.findall(comments[-1][0])
    }


def _without_comments(text: str) -> str:
    return _LINE_COMMENT.sub("", _BLOCK_COMMENT.sub(" ", text))
