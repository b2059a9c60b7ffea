# SPDX-License-Identifier: Apache-2.0
"""How often launches went the way of a kept executor; see ``kept_executors``."""

from __future__ import annotations

from typing import NamedTuple

from aclnn_py._ffi import ffi, lib

__all__ = ["ReuseCounts", "reuse_counts"]


class ReuseCounts(NamedTuple):
    """Executors kept now, and how many launches used one, made one, or were refused one."""

    kept: int
    hits: int
    made: int
    refused: int


def reuse_counts() -> ReuseCounts:
    """Return how much was reused in this process so far."""
    out = ffi.new("ap_reuse_counts *")
    lib.ap_reuse_statistics(out)
    return ReuseCounts(int(out.kept), int(out.hits), int(out.made), int(out.refused))
