# SPDX-License-Identifier: Apache-2.0
"""What the namespace can do, as the array API standard asks for it."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from aclnn_py.late import load as _load
from aclnn_py.runtime.device import Device, device_count
from aclnn_py.xp.dtypes import KINDS, complex64, float32, int64, isdtype

__all__ = ["VERSION", "Info", "namespace"]

VERSION = "2024.12"
_VERSIONS = ("2021.12", "2022.12", "2023.12", VERSION)


def namespace(api_version: str | None = None) -> ModuleType:
    """The module ``aclnn_py.xp``.

    Raises
    ------
    ValueError
        It does not follow that version of the standard.
    """
    if api_version is not None and api_version not in _VERSIONS:
        raise ValueError(
            f"api_version: {api_version!r} is not known here; known are {', '.join(_VERSIONS)}"
        )
    return _load("aclnn_py.xp")


class Info:
    """Answers about devices, dtypes and capabilities."""

    def capabilities(self) -> dict[str, Any]:
        """Masks as indices and results whose shape depends on the elements are there."""
        return {"boolean indexing": True, "data-dependent shapes": True, "max dimensions": 8}

    def default_device(self) -> Device:
        """The current device of this thread."""
        return Device.current()

    def default_dtypes(self, *, device: Device | int | None = None) -> dict[str, Any]:
        """float32: many operators of CANN take no float64."""
        return {
            "real floating": float32,
            "complex floating": complex64,
            "integral": int64,
            "indexing": int64,
        }

    def dtypes(self, *, device: Device | int | None = None, kind: Any = None) -> dict[str, Any]:
        """The dtypes of tensors, by name."""
        every = (*KINDS["bool"], *KINDS["numeric"])
        return {item.name: item for item in every if kind is None or isdtype(item, kind)}

    def devices(self) -> list[Device]:
        """All devices."""
        return [Device(index) for index in range(device_count())]
