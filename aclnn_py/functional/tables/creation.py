# SPDX-License-Identifier: Apache-2.0
"""Tensors made on the device: ranges, constants, random numbers."""

from __future__ import annotations

from aclnn_py.functional.row import Call, Output, Row

__all__ = ["DRAWN", "NUMBERS", "ROWS", "SEED", "normal_calls", "uniform_calls"]

_PLACE = "dtype: DTypeLike | None = None, device: Device | int | None = None"
_LIKE = Output("Of the shape and dtype of ``input``.")
_SIZED = Output("The tensor.", "size", "'float32' if dtype is None else dtype")
_DTYPE = {"dtype": "Of the result; float32 by default."}
DRAWN = "generator: Generator | None = None, seed: int | None = None, offset: int | None = None"
NUMBERS = (
    "Without ``seed`` the numbers are the next ones of the generator, and each replay of a graph "
    "or sequence that captured the call draws others. With ``seed``, number ``i`` of the result is "
    "number ``offset + i`` of its sequence, also at each replay. The emulator's sequence is Philox "
    "4x32-10; a device has another."
)
SEED = {
    "generator": "Where the numbers come from; by default the device's own, see "
    "``default_generator``.",
    "seed": "Instead of a generator: the same seed and offset give the same numbers.",
    "offset": "Where to begin in the sequence of ``seed``; 0 by default.",
}


# A capture has its place in tensors, everything else in numbers.
_CAPTURED = "place.start is not None"


def normal_calls(target: str) -> tuple[Call | str, ...]:
    """The calls that fill a tensor with numbers of a normal distribution."""
    captured = f"inplace_normal_tensor({target}, mean, std, place.seed, place.offset, place.start)"
    return (
        Call(_CAPTURED, (captured,)),
        f"inplace_normal({target}, mean, std, signed(place.seed), place.offset)",
    )


def uniform_calls(target: str) -> tuple[Call | str, ...]:
    """The calls that fill a tensor with numbers of a range."""
    captured = (
        f"inplace_uniform_tensor({target}, low, high, unsigned(place.seed), "
        "unsigned(place.offset), place.start)"
    )
    return (
        Call(_CAPTURED, (captured,)),
        f"inplace_uniform({target}, low, high, place.seed, place.offset)",
    )


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
    Row("normal", "mean: float, std: float, size: tuple[int, ...], *, "
        f"{DRAWN}, {_PLACE}", "Random numbers of a normal distribution.", (_SIZED,),
        normal_calls("out"),
        {"mean": "Middle of the distribution.", "std": "Standard deviation.",
         "size": "Shape of the result.", **SEED, **_DTYPE}, device="device",
        notes=NUMBERS, draws="out"),
    Row("uniform", "low: float, high: float, size: tuple[int, ...], *, "
        f"{DRAWN}, {_PLACE}", "Random numbers, all of one range equally likely.",
        (_SIZED,), uniform_calls("out"),
        {"low": "Lower bound.", "high": "Upper bound, not reached.",
         "size": "Shape of the result.", **SEED, **_DTYPE}, device="device", notes=NUMBERS,
        draws="out"),
)  # fmt: skip
