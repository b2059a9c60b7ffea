# SPDX-License-Identifier: Apache-2.0
"""Changed accepted calls: is each refusal explained by one rule, with the status of the refusal?"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from contextlib import ExitStack
from dataclasses import dataclass, field
from typing import Any

from aclnn_py.errors import AclnnPyError, StatusError
from aclnn_py.operators.rulebook.book import judge
from aclnn_py.runtime.device import Device, soc_name
from helpers.accepted_calls import Call, Group, calls, calls_950, read_argument, write_argument
from helpers.phase_one import NoObjectError, PhaseOne, emulator


@dataclass
class Explained:
    """What was found: refusals, by the kind of their rule, and those without one right rule."""

    asked: int = 0
    kinds: Counter[str] = field(default_factory=Counter)
    unexplained: list[str] = field(default_factory=list)


def of_chip(operator: str) -> list[Call]:
    """Accepted calls of an operator on the chip of this process."""
    return (soc_name().startswith("Ascend950") and calls_950(operator)) or calls(operator)


def changed(call: Call, step: int, first: int) -> Iterator[tuple[str, int, Any]]:
    """Yield what is changed, the position, and the argument, of every so manieth change."""
    from aclnn_py.tools.verify.questions import changes

    row = [write_argument(argument) for argument in call.arguments]
    for number, change in enumerate(changes(call.op.parameters, row)):
        if number % step == first % step:
            name = call.op.parameters[change.position].name
            what = f"{call.operator}: {name}: {change.kind} {change.what}"
            yield what, change.position, read_argument(change.argument)


class _Groups(dict[int, str]):
    """Names of communicators, made at the first use."""

    def __init__(self, stack: ExitStack) -> None:
        super().__init__()
        self._stack = stack

    def __missing__(self, key: int) -> str:
        from aclnn_py.distributed import Communicator

        members = [self._stack.enter_context(comm) for comm in Communicator.init_all(abs(key))]
        self[key] = members[0].name
        Device(0).activate()
        return self[key]


def explained(names: list[str], step: int) -> Explained:
    """Ask phase one through its C interface about every so manieth change of every call."""
    found = Explained()
    library = emulator()
    with ExitStack() as stack:
        stack.enter_context(Device(0))
        groups = _Groups(stack)
        for operator in names:
            for index, call in enumerate(of_chip(operator)[: None if step == 1 else 2]):
                for argument in call.arguments:
                    if isinstance(argument, Group):
                        _ = groups[argument.key]
                with PhaseOne(call, groups) as question:
                    for what, position, argument in changed(call, step, len(operator) + index):
                        try:
                            status = question.ask_with({position: argument})
                        except NoObjectError:
                            continue
                        found.asked += 1
                        if status == 0:
                            continue
                        refusal, text = library.refusal(operator), question.message()
                        if refusal is None or refusal.status != status or not refusal.text:
                            found.unexplained.append(f"{what}: {status}, {refusal}, {text}")
                        else:
                            found.kinds[refusal.kind] += 1
    return found


def raised(names: list[str], step: int) -> Explained:
    """Make every so manieth changed call through the package; look at what is raised."""
    found = Explained()
    with ExitStack() as stack:
        stack.enter_context(Device(0))
        groups = _Groups(stack)
        for operator in names:
            for index, call in enumerate(of_chip(operator)[: None if step == 1 else 1]):
                for what, position, argument in changed(call, step, len(operator) + index):
                    found.asked += 1
                    _look(found, what, call.changed(position, argument), groups)
    return found


def _look(found: Explained, what: str, call: Call, groups: _Groups) -> None:
    try:
        for argument in call.arguments:
            if isinstance(argument, Group):
                _ = groups[argument.key]
        values = call.build(groups)
        verdict = judge(call.op, values)
    except (AclnnPyError, ValueError, TypeError):
        return  # the package makes no such argument
    if verdict.rule is None:
        if verdict.unasked and "makes no such tensor" not in verdict.unasked:
            found.unexplained.append(f"{what}: {verdict.unasked}")
        return  # to run what phase one accepts is not the question
    try:
        call.op(*values)
    except StatusError as error:
        if error.broken != (verdict.rule,) or error.status != verdict.rule.status:
            found.unexplained.append(f"{what}: {verdict.rule}; {error.broken}; {error}")
        else:
            found.kinds[verdict.rule.kind] += 1
    else:
        found.unexplained.append(f"{what}: accepted; {verdict.rule}")


def refused_by_strict(names: list[str]) -> list[str]:
    """Return the accepted calls of this chip that the rule book refuses."""
    found = []
    with ExitStack() as stack:
        stack.enter_context(Device(0))
        groups = _Groups(stack)
        for operator in names:
            for call in of_chip(operator):
                for argument in call.arguments:
                    if isinstance(argument, Group):
                        _ = groups[argument.key]
                verdict = judge(call.op, call.build(groups))
                if verdict.rule or verdict.unasked:
                    found.append(f"{operator}: {verdict}")
    return found
