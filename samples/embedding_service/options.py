# SPDX-License-Identifier: Apache-2.0
"""Numbers on a command line."""

from __future__ import annotations

import argparse
from collections.abc import Callable
from math import inf
from typing import Any


def at_least(kind: Callable[[str], Any], least: float, most: float = inf) -> Callable[[str], Any]:
    """An argparse type: numbers within bounds."""

    def number(text: str) -> Any:
        value = kind(text)
        if not least <= value <= most or value == inf:
            above = f"at least {least}" if most == inf else f"{least} to {most}"
            raise argparse.ArgumentTypeError(f"{text} is not allowed, {above} is")
        return value

    number.__name__ = kind.__name__
    return number
