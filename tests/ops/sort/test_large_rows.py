# SPDX-License-Identifier: Apache-2.0
"""Rows long enough that threads share them: order, extremes, masks and sums against NumPy.

The rows hold what kernels could treat wrongly: NaN of either sign, infinities, zeros of either
sign, ties, and the ends of the range of integers.
"""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap

pytestmark = pytest.mark.usefixtures("device")

Array = np.ndarray[Any, Any]
LENGTH = 200_003
FLOATS = ("float32", "float16", ml_dtypes.bfloat16)
INTEGERS = ("int8", "uint8", "int16", "int32", "int64")
KINDS = [*FLOATS, *INTEGERS]
named = {"ids": lambda kind: np.dtype(kind).name}


def row_of(kind: Any, length: int = LENGTH) -> Array:
    """A row with special values at many places, and many ties."""
    rng = np.random.default_rng(3)
    dtype = np.dtype(kind)
    if dtype.kind in "iu":
        ends = np.iinfo(dtype)
        row = rng.integers(-50, 50, length).clip(ends.min).astype(dtype)
        row[rng.integers(0, length, 500)] = ends.min
        row[rng.integers(0, length, 500)] = ends.max
        return row
    row = (np.round(rng.standard_normal(length) * 64) / 16).astype(dtype)
    row[length // 2 :] = rng.standard_normal(length - length // 2).astype(dtype)
    for special in (np.inf, -np.inf, np.nan, -np.nan, 0.0, -0.0, 1e-7, -1e-7):
        row[rng.integers(0, length, 300)] = np.asarray(special, dtype)
    return row


def wide(x: Array) -> Array:
    """As a dtype whose comparisons NumPy has."""
    return x.astype(np.float32) if x.dtype.kind not in "biu" else x


def expected_order(x: Array, descending: bool, axis: int = -1) -> Array:
    """Places of a stable order in which NaN is the greatest."""
    kind = wide(x)
    if not descending:
        return np.argsort(kind, axis, kind="stable")
    # the greatest first, equal elements still by place: the order backwards of the row backwards
    backwards = np.flip(np.argsort(np.flip(kind, axis), axis, kind="stable"), axis)
    return x.shape[axis] - 1 - backwards


def bits(x: Array) -> Array:
    return x.view(f"u{x.dtype.itemsize}")


def filled(shape: tuple[int, ...], kind: Any) -> ap.Tensor:
    """A result that holds what no kernel writes there."""
    return ap.from_numpy(np.full(shape, 77).astype(kind))


def check_sorted(x: Array, tensor: ap.Tensor, descending: bool, axis: int = -1) -> None:
    order = expected_order(x, descending, axis)
    values, places = filled(x.shape, x.dtype), filled(x.shape, np.int64)
    ap.ops.sort(tensor, True, axis, descending, values, places)
    np.testing.assert_array_equal(places.numpy(), order)
    np.testing.assert_array_equal(bits(values.numpy()), bits(np.take_along_axis(x, order, axis)))


@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("kind", KINDS, **named)
def test_a_long_row_is_sorted_and_equal_elements_stay_in_order(kind: Any, descending: bool) -> None:
    x = row_of(kind)
    check_sorted(x, ap.from_numpy(x), descending)


@pytest.mark.parametrize("length", [1, 2, 1023, 1024, 1025, 65_536, 131_072])
def test_every_length_is_sorted(length: int) -> None:
    x = row_of("float32", length)
    check_sorted(x, ap.from_numpy(x), False)


@pytest.mark.parametrize("shape", [(3, 70_001), (70_001, 3), (40, 2_000), (5, 1, 2_000)])
@pytest.mark.parametrize("axis", [0, -1])
def test_rows_of_any_axis_are_sorted(shape: tuple[int, ...], axis: int) -> None:
    x = row_of("float32", int(np.prod(shape))).reshape(shape)
    check_sorted(x, ap.from_numpy(x), False, axis)
    check_sorted(x.T, ap.from_numpy(x).T, True, axis)


def test_a_row_of_every_other_element_is_sorted() -> None:
    x = row_of("float32")
    check_sorted(x[::2], ap.from_numpy(x)[::2], False)


def test_a_row_is_sorted_in_place() -> None:
    x = row_of("float32")
    tensor, places = ap.from_numpy(x), filled(x.shape, np.int64)
    ap.ops.sort(tensor, True, 0, False, tensor, places)
    order = expected_order(x, False)
    np.testing.assert_array_equal(places.numpy(), order)
    np.testing.assert_array_equal(bits(tensor.numpy()), bits(x[order]))


@pytest.mark.parametrize("largest", [False, True])
@pytest.mark.parametrize("k", [3, 5_000])
def test_the_first_of_a_long_order(k: int, largest: bool) -> None:
    x = row_of("float32")
    order = expected_order(x, largest)[:k]
    values, places = filled((k,), x.dtype), filled((k,), np.int64)
    ap.ops.topk(ap.from_numpy(x), k, 0, largest, True, values, places)
    np.testing.assert_array_equal(places.numpy(), order)
    np.testing.assert_array_equal(bits(values.numpy()), bits(x[order]))


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "int32", "int64"])
def test_different_elements_of_a_long_row(kind: str) -> None:
    x = row_of(kind)
    if x.dtype.kind == "f":
        x = x[x == x]
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    tensor = ap.from_numpy(x)
    found = ap.xp.unique_all(tensor)
    np.testing.assert_array_equal(found.values.numpy(), values)
    np.testing.assert_array_equal(found.inverse_indices.numpy(), inverse)
    np.testing.assert_array_equal(found.counts.numpy(), counts)
    np.testing.assert_array_equal(np.unique(tensor).numpy(), values)
    results = [filled(x.shape, kind), filled(x.shape, np.int64), filled(x.shape, np.int64)]
    ap.ops.unique2(tensor, True, True, True, *results)
    np.testing.assert_array_equal(results[0].numpy()[: len(values)], values)
    np.testing.assert_array_equal(results[1].numpy(), inverse)
    np.testing.assert_array_equal(results[2].numpy()[: len(values)], counts)


@pytest.mark.parametrize("kinds", [3, 2048, 2049])
@pytest.mark.parametrize("dtype", ["float32", "float64", "uint16", "int64", "uint64"])
def test_few_different_elements_of_a_long_row(dtype: str, kinds: int) -> None:
    rng = np.random.default_rng(kinds)
    low = 0 if dtype[0] == "u" else -(kinds // 2)
    x = rng.integers(low, low + kinds, 50_000).astype(dtype)
    x[-kinds:] = np.arange(low, low + kinds)  # the last ones come when most were seen
    if dtype[0] == "f":
        x[x == 0] = rng.choice([0.0, -0.0], int((x == 0).sum()))
    values, inverse, counts = np.unique(x, return_inverse=True, return_counts=True)
    tensor = ap.from_numpy(x)
    for place, layout in ((tensor, "dense"), (ap.from_numpy(x.repeat(2))[::2], "stepped")):
        found = np.unique(place, return_inverse=True, return_counts=True)
        for mine, exact in zip(found, (values, inverse, counts), strict=True):
            np.testing.assert_array_equal(mine.numpy(), exact, err_msg=layout)
        np.testing.assert_array_equal(np.unique(place).numpy(), values, err_msg=layout)
    if dtype[0] == "f":
        first = x[np.flatnonzero(x == 0)[0]]
        zero = np.unique(tensor).numpy()[values == 0]
        assert np.signbit(zero) == np.signbit(first)
        x[1::7] = np.nan
        for equal in (True, False):
            exact = np.unique(x, return_counts=True, equal_nan=equal)
            found = np.unique(ap.from_numpy(x), return_counts=True, equal_nan=equal)
            for mine, wanted in zip(found, exact, strict=True):
                np.testing.assert_array_equal(mine.numpy(), wanted)


def test_nan_is_one_kind_to_numpy_and_each_its_own_to_the_operator() -> None:
    x = row_of("float32")
    nans, kinds = int(np.isnan(x).sum()), len(np.unique(x))
    tensor, values, inverse = ap.from_numpy(x), filled(x.shape, x.dtype), filled(x.shape, np.int64)
    ap.ops.unique(tensor, True, True, values, inverse)
    np.testing.assert_array_equal(values.numpy()[: kinds - 1 + nans], np.unique(x, equal_nan=False))
    assert inverse.numpy().max() == kinds - 2 + nans
    np.testing.assert_array_equal(np.unique(tensor).numpy(), np.unique(x))


@pytest.mark.parametrize("axis", [None, 0, 1])
@pytest.mark.parametrize("kind", KINDS, **named)
def test_the_first_extreme_of_long_rows(kind: Any, axis: int | None) -> None:
    whole = row_of(kind)
    several = [whole, whole[~np.isnan(wide(whole))], np.abs(whole)]
    for x in (row[: len(row) // 2 * 2].reshape(2, -1) for row in several):
        tensor = ap.from_numpy(x)
        for name in ("argmax", "argmin"):
            place = getattr(np, name)(wide(x), axis)
            np.testing.assert_array_equal(getattr(np, name)(tensor, axis).numpy(), place)
            # every other column, from the end of the rows of another tensor
            place = getattr(np, name)(wide(x)[:, 1::2], axis)
            np.testing.assert_array_equal(getattr(np, name)(tensor[:, 1::2], axis).numpy(), place)


@pytest.mark.parametrize("bound", [np.inf, -np.inf, 0.0])
def test_a_row_of_one_value_has_its_extreme_in_front(bound: float) -> None:
    x = np.full(LENGTH, bound, np.float32)
    tensor = ap.from_numpy(x)
    assert int(np.argmax(tensor)) == 0 and int(np.argmin(tensor)) == 0
    x[150_000] = np.nan
    assert int(np.argmax(ap.from_numpy(x))) == int(np.argmin(ap.from_numpy(x))) == 150_000


@pytest.mark.parametrize("kind", [*KINDS, "bool"], **named)
def test_places_that_are_not_zero(kind: Any) -> None:
    x = row_of("int8").astype(bool) if kind == "bool" else row_of(kind)
    x[::3] = 0
    for shape in [(LENGTH,), (LENGTH // 3, 3), (3, 7, LENGTH // 21)]:
        part = x[: np.prod(shape)].reshape(shape)
        tensor = ap.from_numpy(part)
        for mine, theirs in zip(np.nonzero(tensor), np.nonzero(wide(part)), strict=True):
            np.testing.assert_array_equal(mine.numpy(), theirs)
        places = filled((part.ndim, part.size), np.int64)
        ap.ops.nonzero_v2(tensor[..., ::2], places)
        expected = np.stack(np.nonzero(wide(part)[..., ::2]))
        found = places.numpy().reshape(-1)[: expected.size].reshape(expected.shape)
        np.testing.assert_array_equal(found, expected)


@pytest.mark.parametrize("kind", [*KINDS, "float64", "complex64"], **named)
def test_elements_a_mask_selects(kind: Any) -> None:
    rng = np.random.default_rng(4)
    x = row_of("float32").astype(kind) if kind in ("float64", "complex64") else row_of(kind)
    tensor = ap.from_numpy(x)
    for share in (0.0, 0.01, 0.5, 1.0):
        mask = rng.random(LENGTH) < share
        found = tensor[ap.from_numpy(mask)].numpy()
        np.testing.assert_array_equal(bits_of(found), bits_of(x[mask]))


def bits_of(x: Array) -> Array:
    return np.frombuffer(x.tobytes(), np.uint8)


def test_a_mask_selects_of_views_and_of_what_it_broadcasts_to() -> None:
    x = row_of("float32")[:200_000].reshape(400, 500)
    mask = np.random.default_rng(5).random((400, 500)) < 0.3
    tensor, mask_tensor = ap.from_numpy(x), ap.from_numpy(mask)
    for mine, theirs in [
        (tensor.T[mask_tensor.T], x.T[mask.T]),
        (tensor[::2, 1::2][mask_tensor[::2, 1::2]], x[::2, 1::2][mask[::2, 1::2]]),
        (tensor[mask_tensor[:, 0]], x[mask[:, 0]]),
        (ap.functional.masked_select(tensor, mask_tensor[0]), x[:, mask[0]].reshape(-1)),
    ]:
        np.testing.assert_array_equal(bits(mine.numpy()), bits(theirs))


def test_a_selection_may_overwrite_what_it_is_taken_from() -> None:
    x, mask = row_of("float32"), np.random.default_rng(6).random(LENGTH) < 0.5
    tensor = ap.from_numpy(x)
    ap.ops.masked_select(tensor, ap.from_numpy(mask), tensor)
    np.testing.assert_array_equal(bits(tensor.numpy()[: mask.sum()]), bits(x[mask]))


@pytest.mark.parametrize("kind", FLOATS, **named)
@pytest.mark.parametrize("axis", [None, 0, 1])
def test_sums_of_long_rows_are_rounded_once(kind: Any, axis: int | None) -> None:
    rng = np.random.default_rng(7)
    x = (rng.standard_normal((2, LENGTH)) * 3 + 1).astype(kind)
    exact, tensor = x.astype(np.float64), ap.from_numpy(x)
    close = {"rtol": 2 * float(ml_dtypes.finfo(kind).eps), "atol": 1e-6}
    for name in ("mean", "var", "std", "sum"):
        with np.errstate(over="ignore"):
            expected = getattr(np, name)(exact, axis).astype(kind).astype(np.float64)
        found = getattr(np, name)(tensor, axis).numpy().astype(np.float64)
        np.testing.assert_allclose(found, expected, **close, err_msg=name)
    found = np.linalg.norm(tensor, axis=axis).numpy().astype(np.float64)
    np.testing.assert_allclose(found, np.linalg.norm(exact, axis=axis), **close)


@pytest.mark.parametrize("order", [2, 1, 3, 0.5, 0, np.inf, -np.inf])
@pytest.mark.parametrize("axis", [0, 1])
def test_norms_of_long_rows(axis: int, order: float) -> None:
    x = (np.random.default_rng(8).standard_normal((2, LENGTH)) * 3).astype(np.float32)
    expected = np.linalg.norm(x.astype(np.float64), order, axis)
    found = np.linalg.norm(ap.from_numpy(x), order, axis).numpy()
    np.testing.assert_allclose(found, expected, rtol=1e-6)


@pytest.mark.parametrize("special", [np.nan, np.inf, -np.inf])
def test_one_special_value_reaches_the_sum(special: float) -> None:
    x = np.ones(LENGTH, np.float32)
    x[190_001] = special
    tensor = ap.from_numpy(x)
    np.testing.assert_array_equal(np.sum(tensor).numpy(), np.float32(special))
    np.testing.assert_array_equal(np.linalg.norm(tensor).numpy(), np.abs(np.float32(special)))
    assert np.isnan(np.std(tensor).numpy())


def test_the_correction_of_a_variance_may_leave_nothing_to_divide_by() -> None:
    tensor = ap.from_numpy(np.asarray([1, 2], np.float32))
    with np.errstate(all="ignore"):
        assert np.isinf(np.var(tensor, ddof=2).numpy()) and np.isinf(np.std(tensor, ddof=3).numpy())
    assert np.var(tensor, ddof=1).numpy() == 0.5
    assert np.var(tensor, ddof=0.5).numpy() == np.float32(0.5 / 1.5)


@pytest.mark.parametrize("kind", ["float32", "float16", "int8", "complex64"])
@pytest.mark.parametrize("width", [1, 3, 64])
def test_rows_chosen_by_index(kind: str, width: int) -> None:
    rng = np.random.default_rng(9)
    x = row_of("float32", 6_000 * width).reshape(6_000, width)
    if kind == "int8":
        x = row_of(kind, 6_000 * width).reshape(6_000, width)
    x = x.astype(kind) if kind != "int8" else x
    places = rng.integers(-6_000, 6_000, 50_000 // width)
    tensor, index = ap.from_numpy(x), ap.from_numpy(places)
    for mine, theirs in [
        (tensor[index], x[places]),
        (np.take(tensor, index, 0), np.take(x, places, 0)),
        (tensor[ap.from_numpy(places.astype(np.int32))], x[places]),
        (tensor.T[:, index], x.T[:, places]),
        (tensor[::2][index[:100] // 2], x[::2][places[:100] // 2]),
        (
            tensor[index[:100][:, None], index[:50] % width],
            x[places[:100, None], places[:50] % width],
        ),
    ]:
        np.testing.assert_array_equal(bits_of(mine.numpy()), bits_of(theirs))


def test_chosen_rows_may_overwrite_what_they_are_taken_from() -> None:
    x = row_of("float32", 64_000).reshape(1_000, 64)
    places = np.random.default_rng(10).integers(0, 1_000, 1_000)
    tensor, index = ap.from_numpy(x), ap.from_numpy(places)
    ap.ops.index(tensor, [index], tensor)
    np.testing.assert_array_equal(bits(tensor.numpy()), bits(x[places]))


@pytest.mark.parametrize("wrong", [1_000, -1_001, 2**40])
@pytest.mark.parametrize("at", [0, 49_999])
def test_one_wrong_index_among_many_is_refused(wrong: int, at: int) -> None:
    places = np.zeros(50_000, np.int64)
    places[at] = wrong
    tensor = ap.from_numpy(np.ones((1_000, 2), np.float32))
    with pytest.raises(IndexError, match=str(wrong)):
        tensor[ap.from_numpy(places)]
