# SPDX-License-Identifier: Apache-2.0
"""The table of the forms of inference that the emulator has; `maintain.coverage` writes it.

Layouts and modes are asked of the library itself: an accepted call of each operator is made with a
word or a number that cannot be right, and the refusal says what is allowed. A process of its own
asks each chip, since a process has one.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from collections.abc import Iterable
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from aclnn_py import facts
from aclnn_py._ffi.contract.naming import operator_name
from aclnn_py.operators.launch.table import operator_named, python_name
from maintain.coverage import TOLERANCE_TEXT, implemented

__all__ = ["FAMILIES", "forms_path", "forms_table", "inference_operators", "refused"]

ROOT = Path(__file__).resolve().parent.parent
# Families whose operators serve inference, and single operators of others.
FAMILIES = (
    "attention", "ffn", "gmm", "matmul", "mc2", "mhc", "moe", "norm", "optim", "posembedding",
    "quant", "vfusion",
)  # fmt: skip
OTHERS = {
    "sampling": (
        "aclnnApplyTopKTopP", "aclnnMultinomial", "aclnnMultinomialTensor",
        "aclnnSimThreadExponential", "aclnnTopKTopPSample", "aclnnTopKTopPSampleV2",
    ),
    "formats and adapters": (
        "aclnnAddLora", "aclnnConvertWeightToINT4Pack", "aclnnNpuFormatCast",
        "aclnnQuantConvolution", "aclnnQuantConvolutionWeightNz", "aclnnTransConvolutionWeight",
        "aclnnTransMatmulWeight", "aclnnWeightQuantPreprocess",
    ),
    "gated units": (
        "aclnnClippedSwiglu", "aclnnClippedSwigluV2", "aclnnFatreluMul", "aclnnGeluMul",
        "aclnnGeluQuant", "aclnnSituGlu", "aclnnSwigluGroup", "aclnnSwigluGroupQuant",
    ),
    "states, lists and waiting": (
        "aclnnCausalConv1dFn", "aclnnCausalConv1dUpdate", "aclnnInplaceQuantScatter",
        "aclnnInplaceQuantScatterV2", "aclnnScatterList", "aclnnSleep",
        "aclnnTransformBiasRescaleQkv",
    ),
}  # fmt: skip
CHIPS = {"910B": "Ascend910B1", "950": "Ascend950PR_9599", "310P": "Ascend310P3"}
_NO_NUMBERS = ("_kinds", "_refusals", "_codes", "_limits", "_facts", "_sizes")  # of test files
_WORD, _NUMBER = "?", -77
_MODE = re.compile(r"layout|mode|type|format|alg$|flag|activation|order", re.IGNORECASE)
_REFUSAL = re.compile(
    rf'aclnn\w+: (\w+) is (?:"\{_WORD}"|-?{abs(_NUMBER)}); (.*?)(?: \[(?:rank|device) .*)?$'
)
_HEAD = """\
# Forms of inference

Written by `python -m maintain.coverage`; a test compares it with the library. Each row has

- the dtypes of the first tensor, those that only other tensors take, and those that a 950 adds,
- layouts, modes and kinds of quantisation: what phase one names when it is given a wrong one,
- tensors that may be strided,
- the test file whose oracle, NumPy, judges the numbers,
- the tolerance: "exact", or by the dtype of the result, relative to the value: {tolerances}.

[COVERAGE.md](COVERAGE.md) says what is decided where the documents leave a result open. The last
section lists dtypes that a document gives to a tensor and no chip takes here, with the reason.
"""
_REFUSED_HEAD = """
## Documented and refused

| operator | tensors and dtypes | reason |
|---|---|---|
"""


def asked_of_this_chip() -> dict[str, dict[str, str]]:
    """What the library of this process allows for the attributes of its operators, by name."""
    sys.path.insert(0, str(ROOT / "tests"))
    from helpers.accepted_calls import calls, operators  # type: ignore[import-not-found]

    import aclnn_py as ap
    from aclnn_py.distributed import Communicator

    chip = next(name for name, soc in CHIPS.items() if soc == os.environ["ACLNN_PY_EMULATOR_SOC"])
    shown = {name for family in _families().values() for name in family}
    here = {name: facts.operators()[name].chip or "910B" for name in shown}
    names = [name for name in operators() if here.get(name) == chip]
    found: dict[str, dict[str, str]] = {}
    with ExitStack() as stack:
        stack.enter_context(ap.Device(0))
        groups = {}
        for key in {key for name in names for call in calls(name) for key in call.group_keys}:
            members = [stack.enter_context(comm) for comm in Communicator.init_all(abs(key))]
            groups[key] = members[0].name
        ap.Device(0).activate()
        for name in names:
            allowed: dict[str, str] = {}
            formats: set[str] = set()
            for call in calls(name):
                allowed = {**_allowed(call, groups), **allowed}
                formats |= {tensor.format for tensor in call.tensors()} - {"ND"}
            if formats:
                allowed["formats beside ND"] = ", ".join(sorted(formats))
            found[name] = allowed
    return found


def _allowed(call: Any, groups: dict[int, str]) -> dict[str, str]:
    import aclnn_py as ap
    from aclnn_py.errors import StatusError

    given = call.build(groups)
    found = {}
    for position, parameter in enumerate(call.op.parameters):
        value = given[position]
        if not _MODE.search(parameter.name) or isinstance(value, bool):
            continue
        if not isinstance(value, (str, int)):
            continue
        number = abs(_NUMBER) if parameter.kind == "u" else _NUMBER
        wrong = _WORD if isinstance(value, str) else number
        try:  # phase one only: nothing runs, and nobody waits for other ranks
            ap.plan(call.op, *given[:position], wrong, *given[position + 1 :]).close()
        except StatusError as error:
            if match := _REFUSAL.search(str(error).splitlines()[0]):
                found[match[1]] = match[2].removeprefix("allowed: ")
    return found


def _asked(chip: str) -> dict[str, dict[str, str]]:
    environment = {
        **os.environ,
        "ACLNN_PY_EMULATOR_SOC": CHIPS[chip],
        "ACLNN_PY_DEVICE": "emulator",
    }
    done = subprocess.run(
        [sys.executable, "-m", "maintain.forms"],
        capture_output=True,
        text=True,
        check=False,
        cwd=ROOT,
        env=environment,
        timeout=120,
    )
    if done.returncode:
        raise RuntimeError(f"asking a {chip} failed:\n{done.stderr}")
    answers: dict[str, dict[str, str]] = json.loads(done.stdout)
    return answers


def forms_table() -> str:
    """Return the page as Markdown: one table for each family."""
    asked = {name: row for chip in CHIPS for name, row in _asked(chip).items()}
    oracles = _oracles()
    tolerances = ", ".join(f"{name} {bound}" for name, bound in TOLERANCE_TEXT.items())
    parts = [_HEAD.format(tolerances=tolerances)]
    for family, names in _families().items():
        parts.append(
            f"\n## {family}\n\n| operator | dtypes | layouts and modes | strided | oracle "
            "| tolerance |\n|---|---|---|---|---|---|\n"
        )
        for name in names:
            fact = facts.operators()[name]
            modes = "; ".join(f"{k}: {v}" for k, v in sorted(asked.get(name, {}).items()))
            row = (
                name,
                _dtypes(name),
                modes,
                " ".join(p for p, known in _tensors(name) if known.strided),
                ", ".join(_oracle(name, oracles)),
                "exact" if fact.exact else "by dtype",
            )
            parts.append("".join(f"| {cell.replace('|', '/')} " for cell in row) + "|\n")
    parts.append(_REFUSED_HEAD)
    for name in sorted({name for names in _families().values() for name in names}):
        by_reason: dict[str, list[str]] = {}
        for parameter, (dtypes, reason) in refused(name).items():
            by_reason.setdefault(reason, []).append(f"{parameter}: {_text(dtypes)}")
        for reason, given in by_reason.items():
            parts.append(f"| {name} | {'; '.join(given)} | {reason} |\n")
    return "".join(parts)


def refused(name: str) -> dict[str, tuple[list[str], str]]:
    """Return the dtypes that the document gives to a tensor and no chip takes, with the reason."""
    found: dict[str, tuple[list[str], str]] = {}
    for parameter, known in _tensors(name):
        missing = [dtype for dtype in known.documented_dtypes if dtype not in known.every_dtype]
        if known.dtypes is not None and missing:
            found[parameter] = missing, known.why.get("dtypes", "").removeprefix("exception: ")
    return found


def _tensors(name: str) -> list[tuple[str, facts.ParameterFact]]:
    """The tensors of an operator in C order, by their C names."""
    fact, parameters = facts.operators()[name], operator_named(python_name(name)).parameters
    return [(p.c_name, fact.parameter(p.c_name)) for p in parameters if p.is_tensor]


def inference_operators() -> list[str]:
    """Return the C names of the operators that CANN gives to inference."""
    lines = Path(__file__).with_name("inference_operators.txt").read_text("utf-8").splitlines()
    return [line for line in lines if not line.startswith("#")]


def forms_path() -> Path:
    """Return where the page is kept: beside the emulator's sources."""
    return ROOT / "aclnn_py" / "emulator" / "FORMS.md"


def _families() -> dict[str, list[str]]:
    grouped: dict[str, list[str]] = {family: [] for family in FAMILIES}
    for name in implemented():
        fact = facts.operator(name)
        if fact is not None and fact.family in grouped:
            grouped[fact.family].append(name)
    here = set(implemented())
    return grouped | {family: [n for n in names if n in here] for family, names in OTHERS.items()}


def _dtypes(name: str) -> str:
    chip, tensors = facts.operators()[name].chip, [known for _, known in _tensors(name)]
    tables = [known.dtypes for known in tensors if known.dtypes]
    newer = dict.fromkeys(
        dtype
        for known in tensors
        for dtype in known.dtypes_950 or ()
        if dtype not in (known.dtypes or ())
    )
    if not tables:  # a 910B refuses every call
        tables = [known.dtypes_950 for known in tensors if known.dtypes_950]
        chip, newer = "950", {}
    if not tables:
        return "no tensors"
    first = tables[0]
    others = dict.fromkeys(dtype for table in tables[1:] for dtype in table if dtype not in first)
    parts = [_text(first)]
    parts += [f"others {_text(others)}"] if others else []
    parts += [f"a 950 adds {_text(newer)}"] if newer else []
    return "; ".join(parts) + (f" (on a {chip})" if chip else "")


def _text(names: Iterable[str]) -> str:
    return " ".join(names).lower()


def _oracles() -> dict[str, set[str]]:
    """The words of the tests of operators, by their paths below tests/."""
    tests = ROOT / "tests"
    files = [
        path for folder in ("ops", "distributed") for path in sorted((tests / folder).rglob("*.py"))
    ]
    files = [path for path in files if not path.stem.endswith(_NO_NUMBERS)]
    return {
        path.relative_to(tests).as_posix(): set(re.findall(r"\w+", path.read_text("utf-8")))
        for path in files
    }


def _oracle(name: str, words: dict[str, set[str]]) -> list[str]:
    """The files that name an operator, or, where its name is put together, its first version."""
    short = name.removeprefix("aclnn")
    older = re.sub(r"V\d+$", "", short)
    for base in dict.fromkeys((short, older, re.sub(r"WeightN[zZ]$", "", older))):
        spellings = {f"aclnn{base}", base, operator_name(f"aclnn{base}")}
        found = [path for path, known in words.items() if known & spellings]
        tests = [path for path in found if path.rpartition("/")[2].startswith("test_")]
        if found:
            return tests or found
    return []


if __name__ == "__main__":
    print(json.dumps(asked_of_this_chip()))
