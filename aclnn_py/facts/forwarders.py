# SPDX-License-Identifier: Apache-2.0
"""Per-operator headers (``aclnnop/aclnn_add.h``) for C and C++ programs written for CANN.

A family header in ``include/`` says with ``const`` what an operator writes. CANN's own headers
often do not, and a program that passes a ``const aclTensor *`` as an output compiles only against
CANN's spelling. Each forwarder therefore declares the operators of one CANN header in that
spelling. Two spellings of one C function cannot meet in a translation unit, so forwarder and
family header share a guard macro per CANN header: the one included first declares.

Only the standard library is used and nothing of the package is imported: the build loads this
file by its path before the package exists.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

_PHASE_ONE = re.compile(r"aclnnStatus\s+(aclnn\w+)GetWorkspaceSize\s*\(([^;]*)\)\s*;")
_FAMILY_GROUP = re.compile(
    r"^#ifndef (ACLNN_PY_\w+)\n#define \1\n((?:(?!#ifndef|#endif).*\n)*?)#endif", re.MULTILINE
)
_PARAMETER = re.compile(r"^(.*?)\s*(\w+)$", re.DOTALL)

_TOP = (
    "/* SPDX-License-Identifier: Apache-2.0 */\n"
    "/* [compiler only] Generated: the operators of {} in CANN's own spelling. */\n"
)


def forwarder_texts(
    include_dir: str | Path, facts: str | Path | Mapping[str, Any]
) -> dict[str, str]:
    """One header per CANN operator header, in aclnnop and its level2 folder: path -> text.

    ``facts`` is the folder of operators.json or the content of that file.
    """
    if isinstance(facts, (str, Path)):
        text = (Path(facts) / "operators.json").read_text(encoding="utf-8")
        entries: Mapping[str, Any] = json.loads(text)
    else:
        entries = facts
    sections: dict[str, list[str]] = {}
    for family in sorted((Path(include_dir) / "aclnnop").glob("*.h")):
        for guard, operators in family_groups(family.read_text(encoding="utf-8")):
            by_header: dict[str, list[str]] = {}
            for name, parameters in operators:
                if name not in entries:
                    raise ValueError(f"{family.name} declares {name}, which has no facts")
                entry = entries[name]
                by_header.setdefault(entry["header"], []).append(
                    _declaration(name, parameters, entry)
                )
            if len(by_header) != 1:
                raise ValueError(f"{guard} in {family.name} mixes headers: {sorted(by_header)}")
            ((header, declarations),) = by_header.items()
            sections.setdefault(header, []).append(
                f"#ifndef {guard}\n#define {guard}\n" + "\n".join(declarations) + "\n#endif\n"
            )
    texts = {}
    for header, parts in sections.items():
        texts[f"aclnnop/{header}"] = _forwarder(header, parts)
        forward = _TOP.format(f"level2/{header}") + f'#include "aclnnop/{header}"\n'
        texts[f"aclnnop/level2/{header}"] = forward
    return texts


def family_groups(text: str) -> Iterator[tuple[str, list[tuple[str, list[tuple[str, str]]]]]]:
    """The guarded groups of a family header: (guard, [(operator, [(type, name)])])."""
    for guard, body in _FAMILY_GROUP.findall(text):
        operators = [(name, parameters(args)) for name, args in _PHASE_ONE.findall(body)]
        if operators:
            yield guard, operators


def parameters(arguments: str) -> list[tuple[str, str]]:
    """(type, name) of each argument of a phase-one prototype, without the two every one ends in."""
    pairs = []
    for argument in arguments.split(","):
        found = _PARAMETER.match(argument.strip())
        if found is None:
            raise ValueError(f"cannot read the parameter {argument.strip()!r}")
        pairs.append((found[1].strip(), found[2]))
    if [name for _, name in pairs[-2:]] != ["workspaceSize", "executor"]:
        raise ValueError(f"not a phase-one prototype: ({arguments})")
    return pairs[:-2]


def _declaration(name: str, ours: list[tuple[str, str]], entry: Mapping[str, Any]) -> str:
    known = {row["name"]: row for row in entry["params"]}
    arguments = []
    for c_type, parameter in ours:
        row = known[parameter]
        spelled = row.get("cann_type", c_type)
        gap = "" if spelled.endswith("*") else " "
        arguments.append(f"{spelled}{gap}{row.get('cann_name', parameter)}")
    arguments += ["uint64_t *workspaceSize", "aclOpExecutor **executor"]
    return (
        f"aclnnStatus {name}GetWorkspaceSize({', '.join(arguments)});\n"
        f"aclnnStatus {name}(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, "
        "aclrtStream stream);"
    )


def _forwarder(header: str, parts: list[str]) -> str:
    guard = "ACLNN_PY_FORWARD_" + re.sub(r"\W", "_", header).upper()
    return (
        _TOP.format(header)
        + f'#ifndef {guard}\n#define {guard}\n\n#include "aclnn/host_calls.h"\n\n'
        + '#include "aclnn_py/c_begin.h"\n\n'
        + "\n".join(parts)
        + f'\n#include "aclnn_py/c_end.h"\n\n#endif /* {guard} */\n'
    )
