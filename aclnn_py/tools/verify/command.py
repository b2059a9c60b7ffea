# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py verify``: compare operators of the device with the emulator and write the reports."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from pathlib import Path

from aclnn_py.tools.verify.comparison import verify
from aclnn_py.tools.verify.page import page
from aclnn_py.tools.verify.side import VerifyError

__all__ = ["run"]


def run(
    patterns: Sequence[str],
    *,
    html: str,
    as_json: str,
    seed: int,
    timeout_s: float,
    device: str,
    records: str | None,
) -> int:
    """Compare for the command line.

    Parameters
    ----------
    patterns : Sequence[str]
        The operators, as for ``operators.find``.
    html, as_json : str
        Where to write the reports.
    seed : int
    timeout_s : float
    device : str
        "npu" or "emulator".
    records : str, optional
        A folder for records of calls whose results differ.

    Returns
    -------
    int
        0 when all calls agree, 1 when one differs, 2 when nothing could be compared.
    """
    try:
        report = verify(
            patterns,
            seed=seed,
            timeout_s=timeout_s,
            device=device,
            records=None if records is None else Path(records),
            progress=_show,
        )
        Path(html).write_text(page(report), encoding="utf-8")
        text = json.dumps(report.written(), indent=1)
        Path(as_json).write_text(text + "\n", encoding="utf-8")
    except (VerifyError, OSError) as error:
        print(f"aclnn-py verify: {error}", file=sys.stderr)
        return 2
    for finding in report.findings:
        print(
            f"{finding.operator} call {finding.case} ({finding.what}): {finding.kind}:"
            f" {finding.device}, on the emulator {finding.emulator}"
        )
    differing = sum(bool(row.findings) for row in report.rows)
    print(
        f"{report.cases} calls of {sum(bool(row.cases) for row in report.rows)} operators compared,"
        f" {len(report.findings)} of {differing} operators differ; reports: {html}, {as_json}"
    )
    return 1 if report.findings else 0


def _show(name: str, done: int, all: int) -> None:
    if sys.stderr.isatty():
        text = f"{done} of {all} operators {name}"
        end = "\n" if done == all else ""
        # Not the stream of the command, on which such characters become visible.
        print(f"\r{text[:78]:78}", end=end, file=sys.__stderr__, flush=True)
    else:
        print(f"{done} of {all} operators", file=sys.stderr, flush=True)
