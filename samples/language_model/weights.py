# SPDX-License-Identifier: Apache-2.0
"""The arrays of a model directory: one is read at a time, from one file or several."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Protocol

import ml_dtypes
import numpy as np
import numpy.typing as npt
from safetensors import SafetensorError, safe_open

Array = npt.NDArray[Any]
BFLOAT16 = np.dtype(ml_dtypes.bfloat16)
FLOATS = (np.dtype(np.float16), np.dtype(np.float32), BFLOAT16)


class WeightError(ValueError):
    """An array of the checkpoint is absent, or has another shape or dtype than the config says."""


def dtype_of(name: str) -> np.dtype[Any]:
    """The NumPy dtype of "float16" or "bfloat16"."""
    return BFLOAT16 if name == "bfloat16" else np.dtype(name)


class Source(Protocol):
    """Arrays by name: a checkpoint, or a part of it."""

    def __contains__(self, name: str) -> bool: ...

    def array(self, name: str, shape: Sequence[int]) -> Array:
        """The array of this name, which must have this shape."""
        ...


class Checkpoint:
    """The *.safetensors of a directory. Arrays come from mapped files, so nothing is read early."""

    def __init__(self, directory: str | Path) -> None:
        self.directory = Path(directory)
        self._files: dict[str, Any] = {}
        self._places = self._index()

    def _index(self) -> dict[str, str]:
        """The file of every array."""
        index = self.directory / "model.safetensors.index.json"
        if index.is_file():
            places = json.loads(index.read_text("utf-8")).get("weight_map")
            if not isinstance(places, dict):
                raise WeightError(f"{index}: weight_map is absent")
            for file in set(places.values()):
                if Path(file).name != file or not (self.directory / file).is_file():
                    raise WeightError(f"{index}: {file!r} is not a file of {self.directory}")
            return dict(places)
        files = sorted(path.name for path in self.directory.glob("*.safetensors"))
        if not files:
            raise WeightError(
                f"{self.directory} has no *.safetensors; other forms of weights are not read"
            )
        return {name: file for file in files for name in self._open(file).keys()}  # noqa: SIM118

    def _open(self, file: str) -> Any:
        if file not in self._files:
            try:
                self._files[file] = safe_open(self.directory / file, framework="np")
            except (OSError, SafetensorError) as error:
                raise WeightError(f"{self.directory / file}: {error}") from None
        return self._files[file]

    def __contains__(self, name: str) -> bool:
        return name in self._places

    def array(self, name: str, shape: Sequence[int]) -> Array:
        """An array of this name and shape, in the dtype of the file."""
        if name not in self._places:
            raise WeightError(
                f"{self.directory}: no array is named {name}; the files do not belong to this "
                "config.json"
            )
        array: Array = self._open(self._places[name]).get_tensor(name)
        if array.shape != tuple(shape):
            raise WeightError(f"{name}: shape {array.shape}, config.json says {tuple(shape)}")
        if array.dtype not in FLOATS:
            raise WeightError(f"{name}: dtype {array.dtype}; only float16, bfloat16, float32")
        return array

    def close(self) -> None:
        """Let go of the files."""
        self._files.clear()
