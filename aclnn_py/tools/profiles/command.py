# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py trace`` of a profile: times by operator, marks, calls of the host."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from aclnn_py.tools.profiles.files import ProfileError, read_calls, read_marks, read_tasks
from aclnn_py.tools.profiles.table import call_lines, lines, mark_lines, sum_up

__all__ = ["run"]


def run(
    paths: Sequence[str], *, by_shape: bool = False, host: bool = False, as_json: bool = False
) -> int:
    """Print the table of one or more profiles.

    Parameters
    ----------
    paths : Sequence[str]
        Folders ``PROF_...`` or tables ``op_summary_*.csv``; several are added up.
    by_shape : bool, default False
        Keep calls with different shapes of inputs apart.
    host : bool, default False
        Print the calls of the host below, the longest first.
    as_json : bool, default False
        Print one JSON array of the operators instead.

    Returns
    -------
    int
        0; 1 when a file cannot be read or is no profile.
    """
    try:
        calls = [call for path in paths for call in read_calls(path)]
        marks = [mark for path in paths for mark in read_marks(path)]
        tasks = (task for path in paths for task in read_tasks(path))
        rows = sum_up(tasks, by_shape=by_shape, calls=calls)
    except (OSError, ProfileError) as error:
        print(f"aclnn-py trace: {error}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return 0
    print("\n".join(lines(rows)))
    print("\nDevice times are from the beginning to the end of a kernel.")
    if marks:
        print("\n" + "\n".join(mark_lines(marks)))
    if host:
        print("\n" + "\n".join(call_lines(calls)))
    return 0
