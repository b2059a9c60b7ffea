# SPDX-License-Identifier: Apache-2.0
"""Random programs on tensors and on NumPy arrays: `python -m tests.random_statements`.

A program takes views of views, elements and copies, and writes into any of them: by assignment,
in place, through `out=` and by functions. After each statement every variable must have the same
shape, dtype and values on both sides. A program ends where one side raises; a value where NumPy
raises is a defect. Values are small, so that most results are exact; tolerances are those of
`random_prompt`.
"""

from __future__ import annotations

import argparse
import collections
import sys
import warnings
from typing import Any

import numpy as np

import aclnn_py as ap
from tests.random_prompt import TOLERANCES, difference

KINDS = ("f2", "f4", "f8", "i2", "i4", "i8", "u1", "b1", "c8")
VIEWS = (
    "{v}[::-1]", "{v}[:, ::-1]", "{v}[::-1, ::-1]", "{v}[1:]", "{v}[:, 1:]", "{v}[::2]", "{v}[-1]",
    "{v}[::-2]", "{v}[:, ::-2]", "{v}[2:0:-1]", "{v}[1:3, 1:4]", "{v}[0]", "{v}[:, 0]", "{v}[1, 2]",
    "{v}[..., 0]", "{v}[None]", "{v}[...]", "{v}.T", "{v}.reshape(-1)", "{v}.ravel()",
    "{v}.swapaxes(0, -1)", "{v}.squeeze()", "{v}.copy()", "{v}.flatten()", "{v}[[1, 0]]",
    "{v}.T[::-1]", "np.flip({v})", "np.flipud({v})", "np.fliplr({v})", "np.rot90({v})",
    "np.moveaxis({v}, 0, -1)", "np.split({v}, [1])[1]", "np.expand_dims({v}, 0)", "np.real({v})",
    "np.roll({v}, 1)", "np.sort({v}, axis=0)", "np.einsum('i...->...i', {v})", "list({v})[0]",
)  # fmt: skip
WRITES = (
    "{v}[{k}] = {x}", "{v}[{k}] = {x}", "{v} {op} {x}", "{v} {op} {x}", "{v}[{k}] {op} {x}",
    "{v}[{v} > {n}] = {n}", "{v}[{v} == {n}] {op} {n}", "{v}.sort(axis=0)", "{v}.fill({n})",
    "np.add({v}, {x}, out={v})", "np.negative({v}, out={v})", "np.copyto({v}, {x})",
    "np.put({v}, [0, 1], {n})", "np.add.at({v}, [0, 0], {n})", "np.maximum.at({v}, [0, 0], {x})",
    "{v}.flat[0] = {n}", "np.fill_diagonal({v}, {n})", "np.putmask({v}, {v} > {n}, [1, 2])",
    "np.cumsum({v}, axis=0, out={v})", "np.clip({v}, 0, 2, out={v})", "{v}.real = {n}",
    "{v}[0], {v}[1] = {v}[1], {v}[0]", "{v} = {v} + {x}", "{v} = {w}",
)  # fmt: skip
KEYS = ("0", "-1", ":", "::-1", "1:", "..., 0", "[0]", "[0, 1]", "..., ::-1", "...", "1::2", "::-2")
OPERATORS = ("+=", "-=", "*=", "|=", "&=", "//=", "/=", "<<=")


def program(rng: np.random.Generator) -> tuple[list[str], list[str]]:
    """The statements, and the variables they bind."""

    def pick(options: Any) -> Any:
        return options[int(rng.integers(len(options)))]

    statements, names = [f"a = {pick(KINDS)}.copy()"], ["a"]
    for _ in range(int(rng.integers(2, 8))):
        v, w = pick(names), pick(names)
        if rng.random() < 0.4:
            names.append("abcdefghij"[len(names)])
            statements.append(f"{names[-1]} = {pick(VIEWS).format(v=v)}")
            continue
        number = pick(("0", "1", "2", "3"))
        value = pick((number, w, f"{w}[0]", f"{w}[::-1]", f"{w}.sum()"))
        text = pick(WRITES)
        statements.append(
            text.format(v=v, w=w, x=value, n=number, k=pick(KEYS), op=pick(OPERATORS))
        )
    return statements, names


def wholes() -> dict[str, Any]:
    grid = np.random.default_rng(0).integers(0, 5, (4, 5))
    made = {kind: grid / 2 if kind[0] == "f" else grid for kind in KINDS}
    made |= {"b1": grid > 2, "c8": grid + 1j * grid[::-1]}
    return {kind: value.astype(kind) for kind, value in made.items()}


def _raised(statement: str, scope: dict[str, Any]) -> Exception | None:
    try:
        with np.errstate(all="ignore"), warnings.catch_warnings():
            warnings.simplefilter("ignore")
            exec(statement, scope)
    except (
        TypeError, ValueError, IndexError, OverflowError, ZeroDivisionError, AttributeError
    ) as error:  # fmt: skip
        return error
    return None


def _differs(device: dict[str, Any], host: dict[str, Any], names: list[str]) -> str:
    for name in names:
        if name in host:
            least = TOLERANCES.get(np.asarray(host[name]).dtype.name, 0.0)
            if found := difference(device[name], np.asarray(host[name]), least):
                return f"{name} {found}"
    return ""


def run(calls: int, seed: int) -> tuple[collections.Counter[str], list[str]]:
    """Compare so many programs; return the counts and the defects."""
    counts: collections.Counter[str] = collections.Counter()
    defects: list[str] = []
    for number in range(calls):
        statements, names = program(np.random.default_rng((seed, number)))
        host: dict[str, Any] = {"np": np, **wholes()}
        device: dict[str, Any] = {"np": np}
        device |= {kind: ap.from_numpy(value) for kind, value in wholes().items()}
        for at, statement in enumerate(statements):
            if isinstance(host.get(statement.split(".flat")[0]), np.generic):
                break  # NumPy writes into a copy of the number
            wanted, found = _raised(statement, host), _raised(statement, device)
            fault = ""
            if wanted is not None and found is None:
                # Into NumPy's numbers, and views that are only read, nothing can be written.
                number = any(isinstance(host.get(name), np.generic) for name in names)
                allowed = number or "read-only" in str(wanted)
                fault = "" if allowed else f"NumPy raises {wanted!r:.80}"
            elif wanted is None and found is None:
                fault = _differs(device, host, names)
            if fault:
                defects.append(f"{'; '.join(statements[: at + 1])}: {fault}")
            counts["statements"] += 1
            if fault or wanted is not None or found is not None:
                counts["refused on the device"] += wanted is None and found is not None
                break
        else:
            counts["equal to the end"] += 1
    return counts, defects


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("--calls", type=int, default=20_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    counts, defects = run(given.calls, given.seed)
    for text in defects[:100]:
        print(text)
    print(*(f"{count:8d}  {name}" for name, count in counts.most_common()), sep="\n")
    return bool(defects)


if __name__ == "__main__":
    sys.exit(main())
