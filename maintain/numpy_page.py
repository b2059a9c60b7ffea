# SPDX-License-Identifier: Apache-2.0
"""Write docs/numpy.md: ``python -m maintain.numpy_page``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

from aclnn_py.array import arithmetic, composed, names, products
from maintain.written_file import write_or_check

__all__ = ["PAGE_PATH", "text"]

PAGE_PATH = Path(__file__).resolve().parent.parent / "docs" / "numpy.md"
_INTRODUCTION = """\
# NumPy's names

Written by `python -m maintain.numpy_page` from the tables of `aclnn_py/array`.

With a tensor among its arguments, a function of NumPy runs on the device and gives a tensor, with
NumPy's shapes, dtypes and errors. What cannot run there is refused with the reason; nothing is
copied to the host in silence. `out=` is taken everywhere; `order`, `casting` and `subok` where they
ask for nothing special.

In arithmetic an array on the host beside a tensor is refused: copy it with `ap.from_numpy`. Where a
function takes a list beside a tensor (indices, bins, weights, choices, values to insert) it takes
an array on the host too, and copies it to the device. Nothing else is copied.

CANN's operators decide about dtypes. Where an operator lacks float64, uint16 and wider unsigned
integers, or complex numbers, the call is refused; matrix products and decompositions are of float32
at most, Fourier transforms of float32 and complex64."""
_KEYWORDS = (
    "Ufuncs take `out`, `where` and `dtype`, and have the methods `reduce`, `accumulate`, `outer`, "
    "`at` and `reduceat`. `at` with an element named twice is for `add` and `subtract` only."
)
_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}


def text() -> str:
    """Return the page: ufuncs, functions with what they take, refusals with reasons."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield from ("", "## Ufuncs", "", _KEYWORDS, "")
    for title, found in (
        ("One operator", arithmetic.NAMES),
        ("Several operators", composed.FUNCTIONS),
        ("Matrix products", products.FUNCTIONS),
    ):
        yield f"- {title}: {', '.join(f'`{name}`' for name in sorted(found))}."
    yield from ("", "## Functions", "", "| Function | Arguments taken |", "| --- | --- |")
    for name in sorted(names.HOMES):
        yield f"| `np.{name}` | {_arguments(name)} |"
    yield from ("", "## Refused", "", "| Function | Reason |", "| --- | --- |")
    for name, reason in sorted(names.REFUSED.items()):
        yield f"| `np.{name}` | {reason} |"


def _arguments(name: str) -> str:
    evaluator = names.evaluator(name)
    assert evaluator is not None
    found = inspect.signature(evaluator).parameters.values()
    return ", ".join(f"`{_STARS.get(str(item.kind.name), '')}{item.name}`" for item in found)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE_PATH, text(), "python -m maintain.numpy_page"))
