# SPDX-License-Identifier: Apache-2.0
"""Read operator prototypes from CANN's own headers and propose additions to the contract."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aclnn_py._ffi.contract.operators import operator_of
from aclnn_py.facts import OperatorFact
from aclnn_py.tools.cpp_text import Code, block_comment, cpp, identifier, joined, json_text
from aclnn_py.tools.headers_reader import Declared, read_prototypes

__all__ = ["declared_operators", "proposals"]

# A table of ours has no more; what is longer is no parameter that a header of CANN has.
_MAX_PARAMETERS = 64
_MAX_WIDTH = 100
# Of text whose blanks are single.
_DOCUMENTED = re.compile(
    r"@param ?\[ ?(in|out|in ?,? ?out) ?\] ?:? ?(\w{1,100})", re.IGNORECASE | re.ASCII
)
_WRITTEN_NAME = re.compile(r"(^out|Out|^y)(Optional)?$|^output$")
_VERSION = re.compile(r"(V\d+)+$", re.ASCII)
_FRAGMENT = """\
{place}
#ifndef {guard}
#define {guard}
{about}
aclnnStatus {name}GetWorkspaceSize({arguments});
aclnnStatus {name}(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, \
aclrtStream stream);
#endif
/* For aclnn_py/facts/operators/{file}.json:
{row}
*/
"""


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
    def spelled(self) -> str:
        return f"{self.c_type}{'' if self.pointer else ' '}{self.name}"

    @property
    def spelled_by_cann(self) -> str:
        return f"{self.cann_type}{'' if self.pointer else ' '}{self.cann_name}"

    @property
    def name(self) -> str:
        marked = self.cann_name.endswith("Ref")
        return self.cann_name if marked or not self.in_place else f"{self.cann_name}Ref"


def declared_operators(cann_include: Path) -> Mapping[str, str]:
    """Operator -> header that declares it, relative to the tree; the shortest path wins."""
    return {name: found.home for name, found in read_prototypes(cann_include).items()}


def proposals(cann_include: Path, known: Mapping[str, OperatorFact]) -> str:
    """Text to add for each operator of the tree that ``known`` lacks; empty when there is none.

    A prototype with a type the contract has no form for is named in a comment and left out, so
    that nothing wrong is proposed.
    """
    parts: list[str] = []
    families = {_VERSION.sub("", n.removeprefix("aclnn")): fact.family for n, fact in known.items()}
    for name, found in sorted(read_prototypes(cann_include).items()):
        if name in known:
            continue
        try:
            parameters = _parameters(found)
        except ValueError as problem:
            parts.append(block_comment(f"{name} ({found.home}) is left out: {problem}") + "\n")
            continue
        parts.append(_fragment(name, Path(found.home).name, parameters, families))
    return "\n".join(parts)


def _fragment(
    name: str, header: str, parameters: list[_Parameter], families: Mapping[str, str]
) -> Code:
    family = _family(name, families)
    arguments = [
        cpp("{}{}{}", Code(p.c_type), Code("" if p.pointer else " "), identifier(p.name))
        for p in parameters
    ] + [Code("uint64_t *workspaceSize"), Code("aclOpExecutor **executor")]
    place = f"include/aclnnop/{family}.h" if family else "a family header of your choice"
    row: dict[str, Any] = {"header": header, "since": "later"}
    cann = {p.name: p.spelled_by_cann for p in parameters if p.spelled_by_cann != p.spelled}
    if cann:
        row["cann"] = cann
    written = ", ".join(p.name for p in parameters if p.written) or "nothing"
    stem = re.sub(r"\W", "_", Path(header).stem, flags=re.ASCII).upper()
    return cpp(
        _FRAGMENT,
        place=block_comment(f"For {place}; check what it computes and that it writes {written}."),
        guard=identifier(f"ACLNN_PY_{(family or 'FAMILY').upper()}_{stem}"[:128]),
        about=block_comment(f"{name.removeprefix('aclnn')}: say here what it computes."),
        name=identifier(name),
        arguments=joined(arguments),
        file=identifier(family or "FAMILY"),
        row=json_text({name: row}),
    )


def _family(name: str, families: Mapping[str, str]) -> str | None:
    """The family of the operator this one is a version, in-place form or gradient of."""
    stem = _VERSION.sub("", name.removeprefix("aclnn"))
    stems = [stem, stem.removeprefix("Inplace")]
    stems += [s.removesuffix(end) for s in stems for end in ("Backward", "Grad")]
    return next((families[s] for s in stems if s in families), None)


def _parameters(declared: Declared) -> list[_Parameter]:
    """The parameters of one phase-one prototype, each with its direction.

    CANN's ``const`` does not tell the direction: the comment in front of the prototype does, and
    where there is none, the name.
    """
    if declared.function is None:
        raise ValueError(declared.problem)
    parameters = operator_of(declared.function).parameters
    if len(parameters) > _MAX_PARAMETERS:
        raise ValueError(f"it has {len(parameters)} parameters; operators have {_MAX_PARAMETERS}")
    documented = _documented(declared.function.comment)
    result = []
    for c_type, name in parameters:
        if len(name) > _MAX_WIDTH:
            raise ValueError(f"the name of a parameter has {len(name)} characters")
        direction = documented.get(name)
        tensor = c_type.removeprefix("const ") in ("aclTensor *", "aclTensorList *")
        in_place = tensor and (direction == "in,out" or name.endswith("Ref"))
        if direction is None:
            written = _WRITTEN_NAME.search(name) is not None or not c_type.startswith("const")
        else:
            written = "out" in direction
        result.append(_Parameter(c_type, name, tensor and (written or in_place), in_place))
    return result


def _documented(comment: str) -> dict[str, str]:
    """Parameter -> "in", "out" or "in,out" from the comment in front of a prototype."""
    return {
        parameter: ",".join(re.findall(r"in|out", direction.lower()))
        for direction, parameter in _DOCUMENTED.findall(" ".join(comment.split()))
    }
