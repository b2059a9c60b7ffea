# SPDX-License-Identifier: Apache-2.0
"""Rotary positions: the angles of a model's config.json, as the models were trained with."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[Any]
KINDS = ("default", "linear", "llama3", "yarn")


@dataclass(frozen=True)
class Rope:
    """Angles of rotary positions.

    ``size`` elements of a head are rotated; element i with element i + size / 2.
    """

    kind: str
    base: float
    size: int
    options: Mapping[str, float]
    original: int
    """Positions that the model was trained with before it was extended."""

    @staticmethod
    def parse(
        values: Mapping[str, Any],
        size: int,
        context: int,
        refuse: Callable[[str, str], Exception],
    ) -> Rope:
        """Read rope_parameters, or rope_theta and rope_scaling of older files."""
        name = "rope_parameters" if values.get("rope_parameters") else "rope_scaling"
        given = values.get(name) or {}
        if not isinstance(given, dict):
            raise refuse(name, f"expected an object, got {given!r}")
        kind = given.get("rope_type") or given.get("type") or "default"
        if kind not in KINDS:
            raise refuse(name, f"rope_type: expected one of {', '.join(KINDS)}, got {kind!r}")
        base = given.get("rope_theta") or values.get("rope_theta") or 10000.0
        factor = given.get("partial_rotary_factor", values.get("partial_rotary_factor", 1.0))
        if factor not in (None, 1, 1.0):
            raise refuse("partial_rotary_factor", f"only whole heads are rotated, got {factor!r}")
        if size % 2:
            raise refuse("head_dim", f"a head of {size} elements has no halves to rotate")
        needed = {
            "linear": ("factor",),
            "llama3": ("factor", "low_freq_factor", "high_freq_factor"),
            "yarn": ("factor",),
        }
        options: dict[str, float] = {}
        for key, value in given.items():
            if isinstance(value, (int, float)) and not isinstance(value, bool):
                options[key] = float(value)
        original = int(
            options.get("original_max_position_embeddings")
            or values.get("original_max_position_embeddings")
            or context
        )
        if kind == "yarn" and given.get("factor") is None:
            options["factor"] = context / original
        absent = [key for key in needed.get(kind, ()) if key not in options]
        if absent:
            raise refuse(name, f"{kind!r} needs {', '.join(absent)}")
        options["truncate"] = float(bool(given.get("truncate", True)))
        return Rope(kind, float(base), size, options, original)

    @property
    def score_factor(self) -> float:
        """What latent attention multiplies its scores with, for positions beyond the training."""
        if self.kind == "default" or not self.options.get("mscale_all_dim"):
            return 1.0
        return _stretched(self.options["factor"], self.options["mscale_all_dim"]) ** 2

    @property
    def amplitude(self) -> float:
        """Factor of sines and cosines."""
        if self.kind != "yarn":
            return 1.0
        options = self.options
        if "attention_factor" in options:
            return options["attention_factor"]
        factor, one, other = options["factor"], options.get("mscale"), options.get("mscale_all_dim")
        if one and other:
            return _stretched(factor, one) / _stretched(factor, other)
        return _stretched(factor, 1.0)

    def frequencies(self) -> Array:
        """Radians per position, float32 (size / 2,)."""
        plain = 1.0 / self.base ** (np.arange(0, self.size, 2, dtype=np.float64) / self.size)
        if self.kind == "linear":
            plain = plain / self.options["factor"]
        elif self.kind == "llama3":
            plain = self._by_wavelength(plain)
        elif self.kind == "yarn":
            plain = self._by_rotations(plain)
        return plain.astype(np.float32)

    def table(self, positions: int) -> Array:
        """Cosines, then sines, of every position: float32 (positions, size)."""
        angles = np.outer(np.arange(positions, dtype=np.float32), self.frequencies())
        halves = np.concatenate((np.cos(angles), np.sin(angles)), axis=1)
        return (halves * np.float32(self.amplitude)).astype(np.float32)

    def _by_wavelength(self, plain: Array) -> Array:
        factor = self.options["factor"]
        low, high = self.options["low_freq_factor"], self.options["high_freq_factor"]
        turns = self.original * plain / (2 * math.pi)
        part = np.clip((turns - low) / (high - low), 0.0, 1.0)
        blended: Array = (1 - part) * plain / factor + part * plain
        return blended

    def _by_rotations(self, plain: Array) -> Array:
        def dimension(rotations: float) -> float:
            turns = math.log(self.original / (rotations * 2 * math.pi))
            return self.size * turns / (2 * math.log(self.base))

        low = dimension(self.options.get("beta_fast") or 32.0)
        high = dimension(self.options.get("beta_slow") or 1.0)
        if self.options["truncate"]:
            low, high = math.floor(low), math.ceil(high)
        low, high = max(low, 0), min(high, self.size - 1)
        if low == high:
            high += 0.001
        ramp = np.clip((np.arange(self.size // 2) - low) / (high - low), 0.0, 1.0)
        blended: Array = plain / self.options["factor"] * ramp + plain * (1 - ramp)
        return blended


def _stretched(factor: float, strength: float) -> float:
    return 1.0 if factor <= 1 else 0.1 * strength * math.log(factor) + 1.0
