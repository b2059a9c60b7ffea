# SPDX-License-Identifier: Apache-2.0
"""The process that makes the calls; its parent (`operators`) sees to it when it dies or hangs.

Arguments are one JSON object: seed, first, calls, pattern, page, address_space, for a single case
``case`` (a file) instead of a range, and for a walk over listed cases its name. Defects go to
standard output, a line each.
"""

from __future__ import annotations

import importlib
import json
import os
import random
import re
import resource
import sys
from pathlib import Path
from types import ModuleType
from typing import Any

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # `helpers`

from helpers.accepted_calls import Call, calls, calls_950, operators

import aclnn_py as ap
from aclnn_py._ffi import C
from aclnn_py.runtime.status import check_acl

from .cases import Case, read_case
from .mutations import mutated
from .progress import Page

MOST_MUTATIONS = 3
# A kernel may sleep as long as an argument says.
LONGEST_KERNEL_MS = 200


def names_of(pattern: str) -> list[str]:
    """C names of the operators to be fuzzed, in an order that has nothing to do with families."""
    names = [name for name in operators() if re.search(pattern, name)]
    if not names:
        raise SystemExit(f"no operator's name has {pattern!r}")
    random.Random(0).shuffle(names)
    return names


def case_of(names: list[str], seed: int, number: int, kept: tuple[int, ...] | None = None) -> Case:
    """Return a case by its number; ``kept`` are the mutations to apply, all of them by default."""
    rng = random.Random(f"{seed}/{number}")
    name = names[number % len(names)]
    call: Call = rng.choice(calls_here(name))
    count = rng.choices(range(MOST_MUTATIONS + 1), (1, 12, 8, 4))[0]
    seeds = [rng.getrandbits(63) for _ in range(count)]
    if kept is not None:
        seeds = [seeds[i] for i in kept]
    return mutated(call, seeds)


_known: dict[str, list[Call]] = {}


def calls_here(name: str) -> list[Call]:
    """Return the calls of an operator that the chip takes."""
    if name not in _known:
        # Asked of the environment: a process that only writes cases down loads no device.
        newer = os.environ.get("ACLNN_PY_EMULATOR_SOC", "").startswith("Ascend950")
        _known[name] = (newer and calls_950(name)) or calls(name)
    return _known[name]


def walked(walk: str, pattern: str, calls: int | None = None) -> list[Case]:
    """Return the cases of a walk, or so many of them, spread over all operators.

    Parameters
    ----------
    walk : str
        The module of the walk: its ``cases(names)`` are what is made, ``maker(machine)`` makes it.
    """
    found: list[Case] = _module(walk).cases(names_of(pattern))
    if calls is None or calls >= len(found):
        return found
    return [found[i * len(found) // calls] for i in range(calls)]


def _module(walk: str) -> ModuleType:
    return importlib.import_module(f"{__package__}.{walk}")


def main(asked: dict[str, Any]) -> None:
    """Make the calls that are asked for."""
    page = Page(Path(asked["page"]))
    with ap.Device(0):
        from .native import Machine

        limited = C.aclrtSetOpExecuteTimeOutWithMs(LONGEST_KERNEL_MS)
        check_acl(limited, "aclrtSetOpExecuteTimeOutWithMs")
        if asked.get("before"):  # a planted fault, for the tests of the fuzzer itself
            module, function = asked["before"].split(":")
            getattr(importlib.import_module(module), function)()
        machine = Machine()
        limit = asked.get("address_space")
        if limit:
            resource.setrlimit(resource.RLIMIT_AS, (_mapped() + limit, resource.RLIM_INFINITY))
        if asked.get("case"):
            page.begin(0)
            _make(machine, page, 0, read_case(Path(asked["case"])))
            return
        if asked.get("walk"):
            cases = walked(asked["walk"], asked["pattern"], asked["most"])
            maker = _module(asked["walk"]).maker(machine)
            for number in range(asked["first"], len(cases)):
                if page.stopping:
                    break
                page.begin(number)
                _make(maker, page, number, cases[number])
            return
        names = names_of(asked["pattern"])
        kept = tuple(asked["kept"]) if asked.get("kept") is not None else None
        for number in range(asked["first"], asked["first"] + asked["calls"]):
            if page.stopping:
                break
            page.begin(number)
            _make(machine, page, number, case_of(names, asked["seed"], number, kept))


def _make(machine: Any, page: Page, number: int, case: Case) -> None:
    result = machine.make(case, page.step)
    if result.defect:
        row = {"number": number, "defect": result.defect, "what": result.what}
        print(json.dumps(row), flush=True)
    page.done(result.counts or {result.outcome: 1})


def _mapped() -> int:
    """Bytes of address space that the process has now, the emulator's windows included."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmSize:"):
            return int(line.split()[1]) * 1024
    return 0


if __name__ == "__main__":
    main(json.loads(sys.argv[1]))
