# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.pyacl` from facts/pyacl.json.
from collections.abc import Callable, Sequence
from types import ModuleType
from typing import Any, NoReturn

def __getattr__(name: str) -> Callable[..., NoReturn]: ...
