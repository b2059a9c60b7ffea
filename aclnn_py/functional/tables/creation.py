# SPDX-License-Identifier: Apache-2.0
"""Tensors made on the device: ranges, constants, random numbers."""

from __future__ import annotations

from aclnn_py.functional.row import Output, Row

__all__ = ["NUMBERS", "ROWS", "SEED"]

_PLACE = "dtype: DTypeLike | None = None, device: Device | int | None = None"
_LIKE = Output("Of the shape and dtype of ``input``.")
_SIZED = Output("The tensor.", "size", "'float32' if dtype is None else dtype")
_DTYPE = {"dtype": "Of the result; float32 by default."}
NUMBERS = ("Number ``i`` of the result is number ``offset + i`` of the sequence of the seed. The "
            "emulator's sequence is Philox 4x32-10; a device has another.")  # fmt: skip
SEED = {"seed": "The same seed and offset give the same numbers.", "offset": "See ``seed``."}

ROWS = (
    Row("arange", f"start: Number, end: Number, step: Number = 1, *, {_PLACE}",
        "Numbers from ``start`` up to but without ``end``.",
        (Output("One dimension; int64, float32 when a number is no integer.",
                "arange_length(start, end, step)", "arange_type(start, end, step, dtype)"),),
        ("arange(start, end, step, out)",),
        {"start": "First number.", "end": "Not reached.", "step": "Distance of neighbours.",
         "dtype": "Of the result; int64 or float32 by default."}, device="device"),
    Row("linspace", f"start: Number, end: Number, steps: int, *, {_PLACE}",
        "Numbers at equal distances from ``start`` to ``end``.",
        (Output("One dimension.", "steps", "'float32' if dtype is None else dtype"),),
        ("linspace(start, end, steps, out)",),
        {"start": "First number.", "end": "Last number.", "steps": "How many.", **_DTYPE},
        device="device"),
    Row("eye", f"n: int, m: int | None = None, *, {_PLACE}", "Matrix with ones on its diagonal.",
        (Output("Shape ``(n, m)``.", "(n, n if m is None else m)",
                "'float32' if dtype is None else dtype"),),
        ("eye(n, n if m is None else m, out)",),
        {"n": "Rows.", "m": "Columns; as many as rows by default.", **_DTYPE}, device="device"),
    Row("zeros_like", "input: Tensor", "Tensor of zeros.", (_LIKE,), ("inplace_zero(out)",)),
    Row("ones_like", "input: Tensor", "Tensor of ones.", (_LIKE,), ("inplace_one(out)",)),
    Row("full_like", "input: Tensor, fill_value: Number", "Tensor of one value.", (_LIKE,),
        ("inplace_fill_scalar(out, fill_value)",), {"fill_value": "The value."}),
    Row("normal", "mean: float, std: float, size: tuple[int, ...], *, seed: int = 0, "
        f"offset: int = 0, {_PLACE}", "Random numbers of a normal distribution.", (_SIZED,),
        ("inplace_normal(out, mean, std, seed, offset)",),
        {"mean": "Middle of the distribution.", "std": "Standard deviation.",
         "size": "Shape of the result.", **SEED, **_DTYPE}, device="device",
        notes=NUMBERS),
    Row("uniform", "low: float, high: float, size: tuple[int, ...], *, seed: int = 0, "
        f"offset: int = 0, {_PLACE}", "Random numbers, all of one range equally likely.",
        (_SIZED,), ("inplace_uniform(out, low, high, seed, offset)",),
        {"low": "Lower bound.", "high": "Upper bound, not reached.",
         "size": "Shape of the result.", **SEED, **_DTYPE}, device="device", notes=NUMBERS),
)  # fmt: skip
