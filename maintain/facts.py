# SPDX-License-Identifier: Apache-2.0
"""Lay out the rows about operators: sorted, and what is known of several parameters in one line."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

__all__ = ["DTYPE_ORDER", "FOLDER", "laid_out", "main"]

FOLDER = Path(__file__).resolve().parent.parent / "aclnn_py" / "facts" / "operators"
_OPERATOR = ("header", "since", "chip", "exact", "absent", "cann", "parameters")
_PARAMETER = ("dtypes", "950", "ranks", "shape", "formats", "strided", "documented", "why")
DTYPE_ORDER = (
    *("FLOAT", "FLOAT16", "BFLOAT16", "DOUBLE", "INT8", "INT16", "INT32", "INT64"),
    *("UINT8", "UINT16", "UINT32", "UINT64", "BOOL", "COMPLEX32", "COMPLEX64", "COMPLEX128"),
    *("INT4", "UINT1", "FLOAT8_E4M3FN", "FLOAT8_E5M2", "HIFLOAT8", "FLOAT8_E8M0"),
    *("FLOAT4_E2M1", "FLOAT4_E1M2", "STRING"),
)


def laid_out(rows: Mapping[str, Mapping[str, Any]]) -> str:
    """Return the text of a file.

    Parameters
    ----------
    rows : mapping
        The rows of a family by C name, as JSON has them.

    Returns
    -------
    str
    """
    return "{\n" + ",\n".join(_row(name, rows[name]) for name in sorted(rows)) + "\n}\n"


def _row(name: str, row: Mapping[str, Any]) -> str:
    _check_keys(name, row, _OPERATOR)
    cells = [f'"{key}": {json.dumps(row[key])}' for key in _OPERATOR[:-1] if key in row]
    groups: dict[str, list[str]] = {}
    for names, fact in row.get("parameters", {}).items():
        _check_keys(f"{name}: {names}", fact, _PARAMETER)
        groups.setdefault(_line(fact), []).extend(names.split(", "))
    if groups:
        lines = [f'\n  "{", ".join(names)}": {line}' for line, names in groups.items()]
        cells.append(f'"parameters": {{{",".join(lines)}\n}}')
    return f'"{name}": {{{", ".join(cells)}}}'


def _line(fact: Mapping[str, Any]) -> str:
    ordered = {key: fact[key] for key in _PARAMETER if key in fact}
    for key in ("950", "documented"):
        if key in ordered:
            ordered[key] = _sorted(ordered[key])
    return json.dumps(_sorted(ordered))


def _sorted(fact: Mapping[str, Any]) -> dict[str, Any]:
    """The facts with their dtypes in order."""
    if "dtypes" not in fact:
        return dict(fact)
    if unknown := set(fact["dtypes"].split()) - set(DTYPE_ORDER):
        raise ValueError(f"no dtype has the name {', '.join(sorted(unknown))}")
    return {**fact, "dtypes": " ".join(sorted(fact["dtypes"].split(), key=DTYPE_ORDER.index))}


def _check_keys(where: str, given: Mapping[str, Any], known: tuple[str, ...]) -> None:
    if unknown := set(given) - set(known):
        raise ValueError(
            f"{where} has {', '.join(sorted(unknown))}; a row can have {', '.join(known)}"
        )


def main() -> int:
    """Lay out all files, or with --check say which are not laid out."""
    parser = argparse.ArgumentParser(description="Lay out aclnn_py/facts/operators.")
    parser.add_argument(
        "--check", action="store_true", help="change nothing; exit 1 on a difference"
    )
    check = parser.parse_args().check
    different = []
    for path in sorted(FOLDER.glob("*.json")):
        text = path.read_text(encoding="utf-8")
        wanted = laid_out(json.loads(text))
        if text != wanted:
            different.append(path.name)
            if not check:
                path.write_text(wanted, encoding="utf-8")
    if check and different:
        print(f"not laid out: {', '.join(different)}; run python -m maintain.facts")
        return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
