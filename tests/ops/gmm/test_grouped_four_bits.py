# SPDX-License-Identifier: Apache-2.0
"""Grouped products of INT4 with INT4 and of INT8 with INT4, in float64 from their formulas."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import hollow, place, wide

import aclnn_py as ap
from aclnn_py import errors

from ..quantised import packed, put_packed
from .grouped_oracle import coarse, group_of_rows, grouped, packed_scale, put_weight

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
F16, BF16, F32 = np.float16, ml_dtypes.bfloat16, np.float32
VERSIONS = ("v4", "v5", "weight_nz")
SIZES = np.array([3, 0, 4])
ROWS = 8  # the last one belongs to no group


def numbers(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-8, 8, shape)


def bytes_(rng: np.random.Generator, *shape: int) -> Array:
    return rng.integers(-128, 128, shape)


def listed(value: Any) -> Any:
    if value is None or isinstance(value, list):
        return value
    return [value if isinstance(value, ap.Tensor) else place(value)]


def call(version: str, x: Any, weight: Any, out: ap.Tensor, **given: Any) -> None:
    """One call with sizes of groups, if nothing else is said."""
    hint: tuple[Any, ...] = {
        "v4": (),
        "v5": (None,),
        "weight_nz": (None, given.get("group_size", 0)),
    }[version]
    if "tuning" in given:
        hint = (given["tuning"], *hint[1:])
    groups = np.asarray(given.get("groups", SIZES), np.int64)
    operators = {
        "v4": ap.ops.grouped_matmul_v4,
        "v5": ap.ops.grouped_matmul_v5,
        "weight_nz": ap.ops.grouped_matmul_weight_nz,
    }
    operators[version](
        *(listed(x), listed(weight), listed(given.get("bias")), listed(given.get("scale"))),
        *(listed(given.get("offset")), listed(given.get("antiquant")), None),
        *(listed(given.get("token")), place(groups), None, None, None),
        *(given.get("split", 3), given.get("group_type", 0), given.get("listed", 1)),
        *(given.get("act", 0), *hint, [out], None, None),
    )


def halves_bias(weight: Array, scale: Array) -> Array:
    """What the caller computes beforehand: 8 * weight * scale summed along K."""
    spread = np.repeat(scale.astype(np.float64), weight.shape[1] // scale.shape[1], axis=1)
    return (8 * weight * spread).sum(axis=1).astype(F32)


def of_rows(values: Array, owner: Array) -> Array:
    return values[np.maximum(owner, 0)]


def assert_rows(out: ap.Tensor, exact: Array, owner: Array, scale: float = 8) -> None:
    """Rows of no group keep what lay there."""
    found = wide(out.numpy())
    used = owner >= 0
    assert_close(out.numpy()[used], exact[used], scale=scale)
    assert not np.any(np.isfinite(found[~used]) & (found[~used] == exact[~used]))


@pytest.mark.parametrize("dtype", [F16, BF16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("pieces", [0, 2], ids=["columns", "groups"])
@pytest.mark.parametrize("token", [False, True], ids=["static", "token"])
@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("v4", "int4"), ("v4", "int4-nz"), ("v5", "int4"), ("v5", "int4-nz"),
        ("v5", "int4-transposed"), ("weight_nz", "int4-nz"), ("weight_nz", "int4-transposed"),
    ],
)  # fmt: skip
def test_four_bits_with_four_bits(
    version: str, kind: str, token: bool, pieces: int, dtype: Any
) -> None:
    rng = np.random.default_rng(pieces)
    x, w = numbers(rng, ROWS, 128), numbers(rng, 3, 128, 64)
    scale = coarse((3, pieces, 64) if pieces else (3, 64), rng)
    tokens = rng.uniform(0.5, 2, ROWS).astype(F32) if token else None
    out = hollow((ROWS, 64), dtype)
    call(version, put_packed(x, "int4"), put_weight(w, kind), out,
         scale=packed_scale(scale), token=tokens)  # fmt: skip
    owner = group_of_rows(SIZES, 1, ROWS)
    exact = grouped(x, w, scale, np.ones(ROWS) if tokens is None else tokens, owner)
    assert_rows(out, exact, owner)


def test_words_hold_eight_numbers() -> None:
    rng = np.random.default_rng(1)
    x, w = numbers(rng, ROWS, 64), numbers(rng, 3, 64, 64)
    scale = coarse((3, 4, 64), rng)
    weight = ap.from_numpy(packed(w), format=ap.Format.FRACTAL_NZ)
    out = hollow((ROWS, 64), BF16)
    call("weight_nz", place(packed(x)), weight, out, scale=packed_scale(scale), group_size=16)
    owner = group_of_rows(SIZES, 1, ROWS)
    assert_rows(out, grouped(x, w, scale, np.ones(ROWS), owner), owner)


@pytest.mark.parametrize("kind", ["sizes", "ends", "pairs"])
def test_group_lists_of_four_bits(kind: str) -> None:
    rng = np.random.default_rng(2)
    x, w, scale = numbers(rng, ROWS, 32), numbers(rng, 3, 32, 16), coarse((3, 16), rng)
    groups, owner = {
        "sizes": (SIZES, group_of_rows(SIZES, 1, ROWS)),
        "ends": (np.cumsum(SIZES), group_of_rows(SIZES, 1, ROWS)),
        "pairs": (np.array([[2, 4], [0, 3], [1, 0]]), np.array([2, 2, 2, 2, 0, 0, 0, -1])),
    }[kind]
    out = hollow((ROWS, 16), F16)
    call("v5", put_packed(x, "int4"), put_weight(w, "int4"), out, scale=packed_scale(scale),
         groups=groups, listed={"ends": 0, "sizes": 1, "pairs": 2}[kind])  # fmt: skip
    assert_rows(out, grouped(x, w, scale, np.ones(ROWS), owner), owner)


def test_extreme_numbers() -> None:
    x, w = np.full((2, 19998), -8), np.full((1, 19998, 8), -8)
    scale = np.full((1, 8), 2.0**-8, F32)
    out = hollow((2, 8), F16)
    call("v5", put_packed(x, "int4"), put_weight(w, "int4"), out, scale=packed_scale(scale),
         groups=[2])  # fmt: skip
    np.testing.assert_array_equal(wide(out.numpy()), float(F16(64 * 19998 / 256)))
    x, w = np.full((2, 18432), -128), np.full((1, 18432, 8), -8)
    halves = np.full((1, 72, 8), 2.0**-12, F32)
    call("v5", place(x.astype(np.int8)), put_weight(w, "int4"), out, groups=[2],
         scale=packed_scale(halves), bias=halves_bias(w, halves),
         token=np.ones(2, F32))  # fmt: skip
    np.testing.assert_array_equal(wide(out.numpy()), 1024 * 18432 / 4096)


def test_no_rows() -> None:
    out = hollow((0, 16), F16)
    empty = ap.empty((0, 32), ml_dtypes.int4)
    scale = packed_scale(np.ones((3, 16), F32))
    call("v5", empty, put_weight(np.ones((3, 32, 16)), "int4"), out, scale=scale, groups=[0, 0, 0])
    assert out.shape == (0, 16)


@pytest.mark.parametrize("dtype", [F16, BF16], ids=["float16", "bfloat16"])
@pytest.mark.parametrize("pieces", [1, 2])
@pytest.mark.parametrize(
    ("version", "kind"),
    [
        ("v4", "int4"), ("v4", "int4-nz"), ("v4", "int32"), ("v5", "int4"), ("v5", "int4-nz"),
        ("v5", "int32"), ("weight_nz", "int4-nz"),
    ],
)  # fmt: skip
def test_eight_bits_with_four_bits(version: str, kind: str, pieces: int, dtype: Any) -> None:
    rng = np.random.default_rng(pieces)
    x, w = bytes_(rng, ROWS, 512), numbers(rng, 3, 512, 64)
    scale, token = coarse((3, pieces, 64), rng), rng.uniform(0.5, 2, ROWS).astype(F32)
    out = hollow((ROWS, 64), dtype)
    # Whatever groupListType says, the list holds sizes.
    call(version, place(x.astype(np.int8), "stepped"), put_weight(w, kind), out, listed=0,
         scale=packed_scale(scale), bias=halves_bias(w, scale), token=token)  # fmt: skip
    owner = group_of_rows(SIZES, 1, ROWS)
    assert_rows(out, grouped(x, w, scale, token, owner), owner, scale=64)


@pytest.mark.parametrize("lists", [False, True], ids=["single", "lists"])
@pytest.mark.parametrize("version", ["v5", "weight_nz"])
def test_offsets_and_lists_of_weights(version: str, lists: bool) -> None:
    rng = np.random.default_rng(3)
    x, w = bytes_(rng, ROWS, 128), numbers(rng, 3, 128, 64)
    scale, token = coarse((3, 1, 64), rng), rng.uniform(0.5, 2, ROWS).astype(F32)
    shift = rng.integers(-3, 4, (3, 1, 64))
    offset, bias = (shift * scale).astype(F32), halves_bias(w, scale)
    form = "int4-nz" if version == "weight_nz" else "int4"
    given = {"scale": packed_scale(scale), "offset": offset, "bias": bias}
    weight = put_weight(w, form)
    if lists:
        given = {name: [place(part) for part in value] for name, value in given.items()}
        weight = [put_weight(part, form) for part in w]
    out = hollow((ROWS, 64), F16)
    call(version, place(x.astype(np.int8)), weight, out, token=token, **given)
    owner = group_of_rows(SIZES, 1, ROWS)
    assert_rows(out, grouped(x, w + shift, scale[:, 0], token, owner), owner, scale=64)


def test_the_hint_tells_of_a_weight_by_columns() -> None:
    rng = np.random.default_rng(4)
    x, w = bytes_(rng, ROWS, 128), numbers(rng, 3, 128, 64)
    scale, token = coarse((3, 1, 64), rng), np.ones(ROWS, F32)
    turned = np.ascontiguousarray(w.swapaxes(1, 2))
    out = hollow((ROWS, 64), F16)
    call("v5", place(x.astype(np.int8)), put_weight(turned, "int4-nz"), out, tuning=[2, 1],
         scale=packed_scale(scale), bias=halves_bias(w, scale), token=token)  # fmt: skip
    owner = group_of_rows(SIZES, 1, ROWS)
    assert_rows(out, grouped(x, w, scale, token, owner), owner, scale=64)


def test_version_4_takes_a_bias_of_bfloat16_beside_blocks() -> None:
    rng = np.random.default_rng(5)
    x, w = bytes_(rng, ROWS, 64), bytes_(rng, 3, 64, 32)
    scale, token = coarse((3, 32), rng), rng.uniform(0.5, 2, ROWS).astype(F32)
    bias = rng.integers(-99, 99, (3, 32)).astype(BF16)
    out = hollow((ROWS, 32), BF16)
    call("v4", place(x.astype(np.int8)), put_weight(w, "int8-nz"), out, scale=scale,
         bias=bias, token=token)  # fmt: skip
    owner = group_of_rows(SIZES, 1, ROWS)
    exact = grouped(x, w, scale, token, owner) + of_rows(wide(bias), owner)
    assert_rows(out, exact, owner)


@pytest.mark.parametrize("seed", range(10))
def test_random_products(seed: int) -> None:
    """Any form, any sizes: 40 calls a seed."""
    rng = np.random.default_rng(seed)
    for _ in range(40):
        random_call(rng)


def random_call(rng: np.random.Generator) -> None:
    version, four = str(rng.choice(VERSIONS)), bool(rng.integers(2))
    groups, dtype = int(rng.integers(1, 5)), [F16, BF16][rng.integers(2)]
    sizes = rng.integers(0, 9, groups) * rng.integers(0, 2, groups)
    rows = max(1, int(sizes.sum()) + int(rng.integers(0, 2)))
    blocks = version == "weight_nz" or bool(rng.integers(2))
    turned = four and blocks and version != "v4" and bool(rng.integers(2))
    columns = 64 * int(rng.integers(1, 4)) if blocks else 8 * int(rng.integers(1, 20))
    pieces = int(rng.integers(1, 4))
    if four:
        depth = pieces * int(rng.choice([64, 128] if blocks else [2, 6, 30, 64, 88]))
    else:
        depth = 256 * pieces
    w = numbers(rng, groups, depth, columns)
    scale = coarse((groups, pieces, columns), rng)
    token: Array | None = rng.uniform(0.5, 2, rows).astype(F32)
    given: dict[str, Any] = {}
    if four:
        x = numbers(rng, rows, depth)
        put = put_packed(x, "int4")
        if rng.integers(2):
            token = None
        if version == "weight_nz" and pieces > 1 and rng.integers(2):
            given["group_size"] = depth // pieces
    else:
        x = bytes_(rng, rows, depth)
        put = place(x.astype(np.int8), str(rng.choice(["dense", "stepped"])))
        given["bias"] = halves_bias(w, scale)
    kind = "int4" + ("-transposed" if turned else "-nz" if blocks else "")
    out = hollow((rows, columns), dtype)
    call(version, put, put_weight(w, kind), out, groups=sizes, scale=packed_scale(scale),
         token=token, **given)  # fmt: skip
    owner = group_of_rows(sizes, 1, rows)
    exact = grouped(x, w, scale, np.ones(rows) if token is None else token, owner)
    assert_rows(out, exact, owner, scale=64)


def refused(status: int, says: str, version: str, *arguments: Any, **given: Any) -> None:
    with pytest.raises(errors.AclnnError) as caught:
        call(version, *arguments, **given)
    assert says in str(caught.value), str(caught.value)
    assert caught.value.status == status


def test_refusals_of_four_bits() -> None:
    x, w = ap.zeros((4, 32), ml_dtypes.int4), ap.zeros((2, 32, 16), ml_dtypes.int4)
    out, scale = hollow((4, 16), F16), packed_scale(np.ones((2, 16), F32))
    fine: dict[str, Any] = {"groups": [2, 2], "scale": scale}
    ones = np.ones((2, 16), F32)
    bias = np.zeros((2, 16), np.int32)
    for status, says, arguments, changes in (
        (161001, "scaleOptional", (x, w, out), {"scale": None}),
        (161002, "scaleOptional has dtype FLOAT", (x, w, out), {"scale": ones}),
        (161002, "biasOptional is given", (x, w, out), {"bias": bias}),
        (161002, "offsetOptional is given", (x, w, out), {"offset": ones}),
        (161002, "antiquantScaleOptional is given", (x, w, out), {"antiquant": ones.astype(F16)}),
        (161002, "groupType is 2", (x, w, hollow((2, 4, 16), F16)), {"group_type": 2}),
        (161002, "actType is 1", (x, w, out), {"act": 1}),
        (161002, "out has dtype INT32", (x, w, hollow((4, 16), np.int32)), {}),
        (161002, "weight has dtype INT8", (x, ap.zeros((2, 32, 16), "int8"), out), {}),
        (161002, "perTokenScaleOptional has shape", (x, w, out), {"token": np.ones(3, F32)}),
        (161002, "multiple of 8", (x, ap.zeros((2, 32, 12), ml_dtypes.int4), hollow((4, 12), F16)),
         {"scale": packed_scale(np.ones((2, 12), F32))}),
        (161002, "cuts K into 3", (x, w, out), {"scale": packed_scale(np.ones((2, 3, 16), F32))}),
        (161002, "a multiple of 2", (x, w, out),
         {"scale": packed_scale(np.ones((2, 32, 16), F32))}),
        (161002, "transposed view",
         (x, ap.zeros((2, 16, 32), ml_dtypes.int4).swapaxes(1, 2), out), {}),
        (161002, "each has one", (x, [w, w], out), {}),
        (161002, "tuningConfigOptional begins with 5", (x, w, out), {"tuning": [5]}),
    ):  # fmt: skip
        refused(status, says, "v5", *arguments, **{**fine, **changes})
    with ap.Stream() as stream, stream:
        call("v5", x, w, out, **{**fine, "groups": [2, 3]})
        with pytest.raises(errors.StatusError, match="beyond the grouped length"):
            stream.synchronize()
    blocks = put_weight(np.zeros((2, 64, 64)), "int4-transposed")
    large = ap.zeros((4, 64), ml_dtypes.int4), blocks, hollow((4, 64), F16)
    whole = packed_scale(np.ones((2, 64), F32))
    refused(161002, "transposed view", "v4", *large, groups=[2, 2], scale=whole)
    halves = packed_scale(np.ones((2, 2, 64), F32))
    refused(161002, "a multiple of 64", "v5", *large, groups=[2, 2], scale=halves)
    refused(161002, "quantGroupSize is 16", "weight_nz", *large, groups=[2, 2], scale=whole,
            group_size=16)  # fmt: skip


def test_refusals_of_eight_with_four_bits() -> None:
    x, w = ap.zeros((4, 512), "int8"), ap.zeros((2, 512, 16), ml_dtypes.int4)
    out, scale = hollow((4, 16), F16), packed_scale(np.ones((2, 2, 16), F32))
    fine: dict[str, Any] = {"groups": [2, 2], "scale": scale, "bias": np.ones((2, 16), F32),
                            "token": np.ones(4, F32)}  # fmt: skip
    single = packed_scale(np.ones((2, 1, 16), F32))
    offset = np.ones((2, 1, 16), F32)
    for status, says, arguments, changes in (
        (161001, "biasOptional", (x, w, out), {"bias": None}),
        (161001, "perTokenScaleOptional", (x, w, out), {"token": None}),
        (161002, "biasOptional has dtype INT32", (x, w, out), {"bias": np.ones((2, 16), np.int32)}),
        (161002, "groups of 128", (x, w, out), {"scale": packed_scale(np.ones((2, 4, 16), F32))}),
        (161002, "or a single row", (x, w, out), {"scale": packed_scale(np.ones((2, 16), F32))}),
        (161002, "scaleOptional has 2 rows", (x, w, out), {"offset": offset}),
        (161002, "offsetOptional has shape", (x, w, out),
         {"scale": single, "offset": np.ones((2, 16), F32)}),
        (161002, "it is FLOAT16", (x, w, hollow((4, 16), BF16)),
         {"scale": single, "offset": offset}),
        (161002, "at most 18432", (ap.zeros((4, 18688), "int8"),
                                   ap.zeros((2, 18688, 16), ml_dtypes.int4), out),
         {"scale": packed_scale(np.ones((2, 73, 16), F32))}),
        (161002, "out has dtype INT8", (x, w, hollow((4, 16), np.int8)), {}),
        (161002, "transposed view",
         (x, ap.zeros((2, 16, 512), ml_dtypes.int4).swapaxes(1, 2), out), {}),
    ):  # fmt: skip
        refused(status, says, "v5", *arguments, **{**fine, **changes})
    weights = [ap.zeros((512, 16), ml_dtypes.int4)] * 2
    refused(161002, "each has one", "v4", x, weights, out, **fine)
