# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py trace`` of a profile: device time by operator."""

from __future__ import annotations

import json
import sys
from collections.abc import Sequence
from dataclasses import asdict

from aclnn_py.tools.profiles.files import ProfileError, read_tasks
from aclnn_py.tools.profiles.table import lines, sum_up

__all__ = ["run"]


def run(paths: Sequence[str], *, by_shape: bool = False, as_json: bool = False) -> int:
    """Print the table of one or more profiles.

    Parameters
    ----------
    paths : Sequence[str]
        Folders ``PROF_...`` or tables ``op_summary_*.csv``; several are added up.
    by_shape : bool, default False
        Keep calls with different shapes of inputs apart.
    as_json : bool, default False
        Print one JSON array instead.

    Returns
    -------
    int
        0; 1 when a file cannot be read or is no profile.
    """
    try:
        rows = sum_up((task for path in paths for task in read_tasks(path)), by_shape=by_shape)
    except (OSError, ProfileError) as error:
        print(f"aclnn-py trace: {error}", file=sys.stderr)
        return 1
    if as_json:
        print(json.dumps([asdict(row) for row in rows]))
        return 0
    print("\n".join(lines(rows)))
    print("\nTimes are device times, from the beginning to the end of a kernel.")
    return 0
