# SPDX-License-Identifier: Apache-2.0
"""New tensors filled on the device: ranges, constants, random numbers."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import SAME

__all__ = [
    "CHANCE",
    "DRAWN",
    "FIXED",
    "NUMBERS",
    "REAL_BOUNDS",
    "ROWS",
    "SEED",
    "bernoulli_calls",
    "normal_calls",
    "uniform_calls",
]

_PLACE = "dtype: DTypeLike | None = None, device: Device | int | None = None"
_WHOLE = (
    "The operator draws float32 numbers from ``low`` to ``high`` and drops their fraction. From 0 "
    "on all integers are equally likely, as far as float32 tells them apart. Below 0 the fraction "
    "is dropped towards 0: 0 is twice as likely as its neighbours and ``low`` itself hardly comes. "
    "Draw from 0 to ``high - low`` and add ``low`` for integers that are equally likely. Bool is "
    "whether the nearest integer is not 0.\n\n"
)
_SIZED = Output("Shape ``size``.", "size", "'float32' if dtype is None else dtype")
_DTYPE = {"dtype": "Element type; default is float32."}
DRAWN = "generator: Generator | None = None, seed: int | None = None, offset: int | None = None"
NUMBERS = (
    "Without ``seed`` the generator supplies the numbers, and each replay of a graph or sequence "
    "that captured the call draws new ones. With ``seed``, element ``i`` is always number "
    "``offset + i`` of the sequence of that seed, in every replay too. The emulator's sequence is "
    "Philox 4x32-10; that of a real device differs."
)
FIXED = (
    "Without ``seed`` the generator supplies the numbers. The operator takes its place in their "
    "sequence as numbers, so that a replay cannot draw new ones: a graph or a sequence captures "
    "the call with ``seed`` alone. Element ``i`` is made of number ``offset + i`` of the sequence; "
    "the emulator's is Philox 4x32-10, that of a real device differs."
)
CHANCE = "Chance of a 1, as a number or as a tensor in the shape of ``input``."
SEED = {
    "generator": "Source of the numbers; default is the generator of the device, see "
    "``default_generator``.",
    "seed": "Seed to use instead of a generator. Equal seeds and offsets give equal numbers.",
    "offset": "Position in the sequence of ``seed`` to start from; default is 0.",
}
_SPREAD = {"mean": "Mean of the distribution.", "std": "Standard deviation."}
_SIZE = "size = whole_numbers('size', size)"
REAL_BOUNDS = "expect_numbers(low=low, high=high)"
_BOUNDS = {"low": "Lower bound, included.", "high": "Upper bound, excluded."}

_CAPTURED = "isinstance(place, Replayed)"


def normal_calls(target: str) -> tuple[Call | str, ...]:
    """The calls that fill a tensor with normally distributed numbers."""
    captured = f"inplace_normal_tensor({target}, mean, std, place.seed, place.offset, place.start)"
    return (
        Call(_CAPTURED, (captured,)),
        f"inplace_normal({target}, mean, std, signed(place.seed), place.offset)",
    )


def uniform_calls(target: str) -> tuple[Call | str, ...]:
    """The calls that fill a tensor with uniformly distributed numbers."""
    captured = (
        f"inplace_uniform_tensor({target}, low, high, unsigned(place.seed), "
        "unsigned(place.offset), place.start)"
    )
    return (
        Call(_CAPTURED, (captured,)),
        f"inplace_uniform({target}, low, high, place.seed, place.offset)",
    )


def bernoulli_calls(operator: str, target: str) -> tuple[Call | str, ...]:
    """The calls that draw ones and zeros; `target` is where they go, if not to the input."""
    rest = f"(input, p, signed(place.seed), place.offset{target})"
    return (
        Call("isinstance(p, Tensor)", (f"{operator}_tensor{rest}",)),
        f"{operator}{rest}",
    )


ROWS = (
    Row("arange", f"start: Number, end: Number, step: Number = 1, *, {_PLACE}",
        "Make the numbers from ``start`` up to ``end``, without ``end``.",
        (Output("One dimension.", "(arange_length(start, end, step, dtype),)",
                "arange_type(start, end, step, dtype)"),),
        ("arange(start, end, step, out)",),
        {"start": "First number.", "end": "Limit, excluded.",
         "step": "Difference between neighbours.",
         "dtype": "Element type; default is int64, or float32 when one of the three numbers is not "
         "an integer. With int64 the three numbers are truncated before anything is computed."},
        device="device"),
    Row("linspace", f"start: Number, end: Number, steps: int, *, {_PLACE}",
        "Make evenly spaced numbers from ``start`` to ``end``, both included.",
        (Output("Shape ``(steps,)``.", "(steps,)", "'float32' if dtype is None else dtype"),),
        ("linspace(start, end, steps, out)",),
        {"start": "First number.", "end": "Last number.", "steps": "How many numbers.", **_DTYPE},
        steps=("expect_whole(steps=steps)",), device="device"),
    Row("eye", f"n: int, m: int | None = None, *, {_PLACE}",
        "Make a matrix with ones on its diagonal and zeros elsewhere.",
        (Output("Shape ``(n, m)``.", "(n, m)", "'float32' if dtype is None else dtype"),),
        ("eye(n, m, out)",),
        {"n": "Number of rows.", "m": "Number of columns; default is ``n``.", **_DTYPE},
        steps=("if m is None: m = n", "expect_whole(n=n, m=m)"), device="device"),
    Row("zeros_like", "input: Tensor", "Make a tensor of zeros in the shape of another.", (SAME,),
        ("inplace_zero(out)",)),
    Row("ones_like", "input: Tensor", "Make a tensor of ones in the shape of another.", (SAME,),
        ("inplace_one(out)",)),
    Row("full_like", "input: Tensor, fill_value: Number",
        "Make a tensor of one value in the shape of another.", (SAME,),
        ("inplace_fill_scalar(out, fill_value)",), {"fill_value": "Value of all elements."},
        steps=("expect_numbers(fill_value=fill_value)",)),
    Row("normal", "mean: float, std: float, size: tuple[int, ...], *, "
        f"{DRAWN}, {_PLACE}", "Draw normally distributed random numbers.", (_SIZED,),
        normal_calls("out"), {**_SPREAD, "size": "Shape of the result.", **SEED, **_DTYPE},
        steps=(_SIZE,), device="device", notes=NUMBERS, draws="out"),
    Row("uniform", "low: float, high: float, size: tuple[int, ...], *, "
        f"{DRAWN}, {_PLACE}", "Draw uniformly distributed random numbers.",
        (_SIZED,), uniform_calls("out"),
        {**_BOUNDS, "size": "Shape of the result.", **SEED, **_DTYPE},
        steps=(REAL_BOUNDS, _SIZE), device="device", notes=NUMBERS, draws="out"),
    Row("randint", "low: int, high: int, size: tuple[int, ...], *, "
        f"{DRAWN}, {_PLACE}", "Draw random integers.",
        (Output("Shape ``size``.", "size", "'int64' if dtype is None else dtype"),),
        (Call(_CAPTURED, ("inplace_random_tensor(out, low, high, place.seed, place.offset, "
                          "place.start)",)),
         "inplace_random(out, low, high, signed(place.seed), place.offset)"),
        {**_BOUNDS, "size": "Shape of the result.", **SEED,
         "dtype": "Element type; default is int64."},
        steps=("expect_whole(low=low, high=high)", _SIZE), device="device",
        notes=_WHOLE + NUMBERS, draws="out"),
    Row("randperm", f"n: int, *, {DRAWN}, {_PLACE}",
        "Draw the numbers from 0 to ``n - 1`` in random order.",
        (Output("Shape ``(n,)``.", "(n,)", "'int64' if dtype is None else dtype"),),
        ("randperm(n, signed(place.seed), place.offset, out)",),
        {"n": "How many numbers.", **SEED, "dtype": "Element type; default is int64."},
        steps=("expect_whole(n=n)",), device="device", notes=FIXED, draws="out",
        replayable=False),
    Row("bernoulli", f"input: Tensor, p: Tensor | Number, *, {DRAWN}",
        "Draw ones and zeros in the shape of a tensor.", (SAME,),
        bernoulli_calls("bernoulli", ", out"),
        {"input": "Gives shape and dtype; its elements are not read.", "p": CHANCE, **SEED},
        notes=FIXED, draws="out", replayable=False),
)  # fmt: skip
