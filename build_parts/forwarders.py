# SPDX-License-Identifier: Apache-2.0
"""Per-operator headers (``aclnnop/aclnn_add.h``) for C and C++ programs written for CANN.

A family header in ``include/`` says with ``const`` what an operator writes. CANN's own headers
often do not, and a program that passes a ``const aclTensor *`` as an output compiles only against
CANN's spelling. Each forwarder therefore declares the operators of one CANN header in that
spelling. Two spellings of one C function cannot meet in a translation unit, so forwarder and
family header share a guard macro per CANN header: the one included first declares.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from aclnn_py._ffi.contract.headers import families
from aclnn_py._ffi.contract.operators import Operator, operator_of
from aclnn_py.facts import OperatorFact

_TOP = (
    "/* SPDX-License-Identifier: Apache-2.0 */\n"
    "/* [compiler only] Generated: the operators of {} in CANN's own spelling. */\n"
)


def forwarder_texts(include: Path, facts: Mapping[str, OperatorFact]) -> dict[str, str]:
    """One header per CANN operator header, in aclnnop and its level2 folder: path -> text."""
    sections: dict[str, list[str]] = {}
    for family, functions in families(include):
        groups: dict[str, dict[str, list[str]]] = {}
        for function in functions:
            operator = operator_of(function)
            if operator.name not in facts:
                raise ValueError(f"{family}.h declares {operator.name}, which has no facts")
            fact = facts[operator.name]
            headers = groups.setdefault(function.guard, {})
            headers.setdefault(fact.header, []).append(_declaration(operator, fact))
        for guard, headers in groups.items():
            if len(headers) != 1:
                raise ValueError(f"{guard} in {family}.h mixes headers: {sorted(headers)}")
            ((header, declarations),) = headers.items()
            sections.setdefault(header, []).append(
                f"#ifndef {guard}\n#define {guard}\n" + "\n".join(declarations) + "\n#endif\n"
            )
    texts = {}
    for header, parts in sections.items():
        texts[f"aclnnop/{header}"] = _forwarder(header, parts)
        forward = _TOP.format(f"level2/{header}") + f'#include "aclnnop/{header}"\n'
        texts[f"aclnnop/level2/{header}"] = forward
    return texts


def _declaration(operator: Operator, fact: OperatorFact) -> str:
    arguments = []
    for parameter in operator.parameters:
        gap = "" if parameter.ctype.endswith("*") else " "
        ours = f"{parameter.ctype}{gap}{parameter.name}"
        arguments.append(fact.cann.get(parameter.name, ours))
    arguments += ["uint64_t *workspaceSize", "aclOpExecutor **executor"]
    return (
        f"aclnnStatus {operator.name}GetWorkspaceSize({', '.join(arguments)});\n"
        f"aclnnStatus {operator.name}(void *workspace, uint64_t workspaceSize, "
        "aclOpExecutor *executor, aclrtStream stream);"
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
