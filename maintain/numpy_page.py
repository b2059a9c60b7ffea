# SPDX-License-Identifier: Apache-2.0
"""Write docs/numpy.md: ``python -m maintain.numpy_page``."""

from __future__ import annotations

import inspect
import sys
from collections.abc import Iterator
from pathlib import Path

import numpy as np

from aclnn_py.array import arithmetic, names, products, ufuncs
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

`str` and `format` of a tensor give NumPy's text, `repr` also tells shape, dtype and device.
`linalg.inv` and `linalg.solve` do not wait for the device: of a singular matrix they give NaN and
raise nothing. `order="K"` and `order="A"` ask how the elements lie in the memory of the tensor;
results of operators are row-major.

Views of NumPy's are views here. No view of the device runs backwards, so `t[::-1]`, `np.flip` and
`np.rot90` make copies, which stay the same as the elements they show: what an expression, an
assignment or `out=` writes into one is written into the other. `ap.ops` and `ap.functional` write
into one of them only.

An element `t[i]` of a vector is a tensor without dimensions that keeps its value whatever
expressions write into `t`, and `+=` makes a new one of it, as of NumPy's numbers. `[0] * t[i]`
multiplies. Results such as `t.sum()` are tensors too: `+=` changes them under every name.

`np.vectorize`, `np.nditer`, `np.ndenumerate`, `np.r_` and `np.c_` are no functions that ask their
arguments: they call `np.asarray(t)`, which copies to the host, and give arrays or numbers of it.
So does NumPy with a list of tensors where a function takes one array, `np.sum([s, t])`: write
`np.sum(np.stack([s, t]))`.

A list of numbers is taken where NumPy takes one. In arithmetic an array on the host beside a tensor
is refused: copy it with `ap.from_numpy`. Where a function takes a list beside a tensor (indices,
bins, weights, choices, values to insert) it takes an array on the host too, and copies it to the
device. Nothing else is copied.

To type checkers operators and methods of a tensor, `ap.functional` and `ap.xp` give tensors. The
functions of `np` are typed by NumPy, whose stubs say `Any` or an array: write
`y: ap.Tensor = np.sum(x)` where they say `Any`, and use a method or `ap.xp` elsewhere. Notebooks
show a vector or a matrix as a table.

## Random numbers

`ap.Generator` has methods of `numpy.random.Generator` with its arguments, dtypes and errors:
`random`, `uniform`, `standard_normal`, `normal`, `exponential`, `integers`, `permutation`,
`shuffle` and `choice`. The distributions are NumPy's, the numbers of a seed are CANN's.

```python
import aclnn_py as ap

rng = ap.Generator().manual_seed(7)
x = rng.normal(10, 2, size=(1000,))
print(x.shape, x.dtype, abs(x.mean().item() - 10) < 0.3, rng.integers(1, 7, size=3).shape)
```

```text
(1000,) float64 True (3,)
```

## Dtypes

CANN's operators decide about dtypes. What one lacks, several others give where they can: matrix
products of float64, integers and complex numbers are sums of products, which takes longer than the
matrix product of float32. These are refused:

- of float64: in `ap.functional` and `ap.ops` each operator that takes none;
- of complex numbers: `tanh`, `expm1`, `log1p`, `exp2`, `arcsin`, `arccos`, `arctan`, `cumprod`, and
  orderings such as `max`;
- of uint16, uint32 and uint64: arithmetic, comparisons and sorting; they are moved and indexed.

The error names the operator and the ways out: `astype(np.float32)`, or the setting
`ap.unsupported_dtypes`, which is of one thread and has three values:

| Value | Where an operator refuses a dtype |
| --- | --- |
| `"refuse"` | the default: the error is raised |
| `"float32"` | float64 is computed in float32, complex128 in complex64, on the device |
| `"host"` | the elements are copied to the host, computed by NumPy and copied back |

Results have the dtype that NumPy gives, also where they were computed in float32: such a float64
has 24 significant bits. Operators that take their arguments run as without the setting, except
matrix products and `linalg.cholesky` of float64, which it turns into CANN's of float32 or NumPy's.
The setting holds for expressions, NumPy's functions, `ap.xp`, `ap.functional` and `ap.ops`. With
`"host"` NumPy also computes `linalg.eig`, `linalg.eigvals` and `roots`, which no operator gives.

```python
import numpy as np
import aclnn_py as ap

x = ap.from_numpy(np.array([[4.0, 1.0], [1.0, 3.0]]))
with ap.unsupported_dtypes("float32"):
    y = np.linalg.cholesky(x)
print(y.dtype, np.abs(y @ y.T - x).max().item() < 1e-6)
```

```text
float64 True
```"""
_KEYWORDS = """\
Ufuncs take `out`, `where` and `dtype`, and have the methods that NumPy's have; a dash stands where
NumPy has none. `at` is one operator for `add` and `subtract`; others take as many
turns as an element is named. `reduce` is one
operator for `add`, `multiply`, `maximum`, `minimum`, `logical_and` and `logical_or`, `accumulate`
for the first four; others combine slice by slice."""
_FOLDS = ("`reduce`", "`accumulate`", "`reduceat`")
_STARS = {"VAR_POSITIONAL": "*", "VAR_KEYWORD": "**"}


def text() -> str:
    """Return the page: ufuncs, functions with what they take, refusals with reasons."""
    return "\n".join(_lines()) + "\n"


def _lines() -> Iterator[str]:
    yield _INTRODUCTION
    yield from ("", "## Ufuncs", "", _KEYWORDS, "")
    columns = ("Ufunc", "Made of", "`out`", "`where`", *_FOLDS, "`outer`", "`at`")
    yield f"| {' | '.join(columns)} |"
    yield f"|{' --- |' * len(columns)}"
    for name in sorted(ufuncs.NAMES):
        yield f"| `np.{name}` | {_made_of(name)} | {' | '.join(_methods(getattr(np, name)))} |"
    yield from ("", "## Functions", "", "| Function | Arguments taken |", "| --- | --- |")
    for name in sorted(names.HOMES):
        yield f"| `np.{name}` | {_arguments(name)} |"
    yield from ("", "## Refused", "", "| Function | Reason |", "| --- | --- |")
    for name, reason in sorted(names.REFUSED.items()):
        yield f"| `np.{name}` | {reason} |"


def _made_of(name: str) -> str:
    if name in arithmetic.NAMES:
        return "one operator"
    return "matrix products" if name in products.FUNCTIONS else "several operators"


def _methods(ufunc: np.ufunc) -> Iterator[str]:
    """Whether `out`, `where` and the methods are there; NumPy itself has not all for each."""
    plain = ufunc.signature is None
    folds = plain and ufunc.nin == 2 and ufunc.nout == 1
    for there in (
        True,
        plain,
        folds,
        folds,
        folds,
        plain and ufunc.nin == 2,
        plain and ufunc.nout == 1,
    ):
        yield "yes" if there else "-"


def _arguments(name: str) -> str:
    evaluator = names.evaluator(name)
    assert evaluator is not None
    found = inspect.signature(evaluator).parameters.values()
    return ", ".join(f"`{_STARS.get(str(item.kind.name), '')}{item.name}`" for item in found)


if __name__ == "__main__":
    sys.exit(write_or_check(PAGE_PATH, text(), "python -m maintain.numpy_page"))
