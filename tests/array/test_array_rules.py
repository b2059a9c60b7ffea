# SPDX-License-Identifier: Apache-2.0
"""What the table of expressions cannot say: promotion of ml_dtypes, identity, devices, captures."""

from __future__ import annotations

import inspect
import re
import subprocess
import sys
import weakref
from collections.abc import Callable
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors
from aclnn_py.array import rows
from aclnn_py.tensor import elements, shown

ROOT = Path(__file__).resolve().parents[2]


def ones(dtype: Any) -> ap.Tensor:
    return ap.from_numpy(np.ones(3, dtype))


@pytest.mark.parametrize(
    ("other", "wanted"),
    [
        (1, "bfloat16"),
        (1.5, "bfloat16"),
        (np.float32(1), "float32"),
        ("bool", "bfloat16"),
        ("int8", "bfloat16"),
        ("uint8", "bfloat16"),
        ("int16", "float32"),
        ("int32", "float64"),
        ("int64", "float64"),
        ("float16", "float32"),
        ("float32", "float32"),
        ("float64", "float64"),
        ("bfloat16", "bfloat16"),
    ],
)
def test_bfloat16_promotes_as_the_documented_rule_says(device, other, wanted):
    left = ones(ml_dtypes.bfloat16)
    right = ones(np.dtype(getattr(ml_dtypes, other, other))) if isinstance(other, str) else other
    for result in (left + right, right + left):
        assert result.dtype_name == wanted
        np.testing.assert_array_equal(result.numpy().astype(float), 2.5 if other == 1.5 else 2.0)


def test_bfloat16_arithmetic_rounds_to_its_own_precision(device):
    values = np.linspace(-3, 3, 20).astype(ml_dtypes.bfloat16)
    tensor = ap.from_numpy(values)
    wide = values.astype(np.float64)
    for result, wanted in (
        (tensor * tensor - 1, wide * wide - 1),
        (np.exp(tensor), np.exp(wide)),
        (tensor.mean(), wide.mean()),
        (tensor[tensor > 0], wide[wide > 0]),
        (tensor.reshape(4, 5) @ tensor.reshape(5, 4), wide.reshape(4, 5) @ wide.reshape(5, 4)),
    ):
        assert result.dtype_name == "bfloat16"
        np.testing.assert_allclose(result.numpy().astype(float), wanted, rtol=0.02, atol=0.04)


def test_types_without_a_common_one_are_a_type_error(device):
    with pytest.raises(TypeError, match="common DType"):
        ones(ml_dtypes.float8_e4m3fn) + ones(ml_dtypes.float8_e5m2)


@pytest.mark.emulator_only(reason="needs a second device")
@pytest.mark.parametrize(
    "call",
    [
        lambda a, b: a + b,
        lambda a, b: a @ b,
        lambda a, b: np.concatenate([a, b]),
        lambda a, b: a[b > 0],
        lambda a, b: a[b.astype("int64")],
        lambda a, b: a.__setitem__(0, b[0]),
        lambda a, b: a.__iadd__(b),
    ],
)
def test_tensors_on_two_devices_are_a_typed_error(device, call):
    here, there = ones("float32"), ap.from_numpy(np.ones(3, np.float32), device=1)
    with pytest.raises(errors.DeviceMismatchError, match=r"device|Device"):
        call(here, there)


def test_tensors_are_equal_by_element_and_hashed_by_identity(device):
    a, b = ones("float32"), ones("float32")
    assert (a == b).all() and not (a != b).any()
    other = ap.from_numpy(np.arange(16, dtype=np.float32) % 3)
    assert (other == 1).tolist() == [index % 3 == 1 for index in range(16)]
    assert {a: "a", b: "b"}[a] == "a"
    assert len({a, b, a}) == 2


@pytest.mark.parametrize(
    "call",
    [
        lambda t: np.add(t, 1, out=np.zeros(3, np.float32)),
        lambda t: np.concatenate([t, np.zeros(3, np.float32)]),
        lambda t: np.linalg.eigvals(t.reshape(1, 3)),
        lambda t: np.vstack([t, np.zeros(3)]),
        lambda t: np.where(t > 0, t, np.zeros(3)),
        lambda t: np.add.outer(t, np.zeros(3)),
        lambda t: np.busday_count(t, t),
        lambda t: np.zeros(3) + t,
        lambda t: np.isnat(t),
    ],
)
def test_nothing_copies_to_the_host_silently(device, call, monkeypatch):
    tensor = ones("float32")

    def copied(*_: object) -> None:
        raise AssertionError("the elements were copied to the host")

    monkeypatch.setattr("aclnn_py.tensor.transfer.read", copied)
    with pytest.raises(TypeError, match=r"device|Tensor|out"):
        call(tensor)


def test_an_index_out_of_range_leaves_the_device_usable(device):
    tensor = ap.from_numpy(np.arange(6.0))
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 0 with size 6"):
        tensor[ap.from_numpy(np.array([0, 6]))]
    with pytest.raises(IndexError, match="index -7 is out of bounds"):
        tensor[[-7]] = 0
    assert tensor[[5, -6]].tolist() == [5.0, 0.0]


@pytest.mark.parametrize("count", [5, 70_000])
def test_one_index_tensor_selects_as_in_numpy(device, count: int) -> None:
    """Few indices are checked on the host, many on the device."""
    rng = np.random.default_rng(count)
    x = rng.standard_normal((6, 3)).astype(np.float32)
    places = rng.integers(-6, 6, count)
    index = ap.from_numpy(places)
    for kind in ("float32", "complex64", "complex128"):
        y = x.astype(kind)
        np.testing.assert_array_equal(ap.from_numpy(y)[index].numpy(), y[places])
    across = ap.from_numpy(x.T)
    table = ap.from_numpy(places.reshape(5, -1).astype(np.int32))
    np.testing.assert_array_equal(
        np.take(across, table, axis=-1).numpy(), np.take(x.T, places.reshape(5, -1), axis=-1)
    )
    places[count // 2] = 6
    with pytest.raises(IndexError, match="index 6 is out of bounds for axis 1 with size 6"):
        np.take(across, ap.from_numpy(places), axis=1)


@pytest.mark.parametrize("bad", [6, -7, 2**63 - 1, -(2**63), 2**63 - 6, 6 - 2**63])
def test_one_bad_index_among_a_few_is_found(device, bad: int) -> None:
    x = np.arange(6.0)
    places = np.arange(-6, 6).repeat(9)
    tensor, index = ap.from_numpy(x), ap.from_numpy(places)
    np.testing.assert_array_equal(np.take(tensor, index).numpy(), np.take(x, places))
    for at in (0, 50, places.size - 1):
        wrong = places.copy()
        wrong[at] = bad
        with pytest.raises(IndexError, match=rf"index {bad} is out of bounds for axis 0"):
            tensor[ap.from_numpy(wrong)]
    np.testing.assert_array_equal(tensor[index[::2]].numpy(), x[places[::2]])


def test_expressions_are_captured(device):
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    index = ap.from_numpy(np.array([1, 0]))
    with ap.Graph() as graph:
        with graph.capture():
            y = (x * 2 + 1)[index] / x.sum(axis=0)
            y[:, 0] = 0
        x.copy_from(np.full((2, 3), 2, np.float32))
        graph.replay()
        np.testing.assert_array_equal(y.numpy(), [[0, 1.25, 1.25]] * 2)


def test_a_condition_on_the_device_cannot_be_captured(device):
    x = ones("float32")
    with ap.Graph() as graph, pytest.raises(errors.CaptureError), graph.capture():
        x[x > 0]


def test_expressions_keep_their_operands_until_they_ran(device):
    total = ap.zeros((64, 64), "float32")
    for i in range(20):
        total += ap.full((64, 64), i, "float32") * 2 - 1
    np.testing.assert_array_equal(total.numpy(), 2 * 190 - 20)


@pytest.mark.parametrize(
    "text",
    [
        lambda: repr(ap.from_numpy(np.float16([[1.5]]))),
        lambda: repr(ap.empty((0, 3), "int8")),
        lambda: repr(ap.from_numpy(np.arange(4000).reshape(2, 2000))[:, ::2]),
        lambda: repr(ap.zeros((40, 1, 40), "bool")),
    ],
)
def test_text_is_numpys_with_shape_dtype_and_device(device, text: Callable[[], str]):
    shown = text()
    assert shown.startswith("Tensor([")
    assert "shape=(" in shown and "dtype=" in shown and "device=0" in shown


def test_a_closed_tensor_has_a_text_and_no_values(device):
    tensor = ones("float32")
    tensor.close()
    assert "closed" in repr(tensor) and "closed" in str(tensor)
    with pytest.raises(errors.ClosedError):
        tensor + 1


def test_expressions_have_types_for_a_checker():
    """``mypy --strict`` also warns about an ignored mistake that is none."""
    program = Path(__file__).with_name("typed_program.py")
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)]
    done = subprocess.run(command, capture_output=True, text=True, cwd=ROOT, check=False)
    assert done.returncode == 0, done.stdout + done.stderr


def test_functions_say_the_types_of_arguments_and_results():
    for space in (ap.functional, ap.xp, ap.xp.linalg, ap.xp.fft):
        for name in space.__all__:
            function = getattr(space, name)
            if not inspect.isfunction(function):
                continue
            found = inspect.signature(function)
            written = [item.annotation for item in found.parameters.values()]
            assert inspect.Parameter.empty not in written, name
            assert found.return_annotation not in (inspect.Signature.empty, "Any", Any), name
            if space is ap.functional:
                assert not {"Any", "Any | None"} & set(written), name


def test_notebooks_show_a_table(device):
    whole = np.arange(200).reshape(10, 20)
    html = ap.from_numpy(whole)._repr_html_()
    assert html.startswith(
        "<table><caption>Tensor, shape=(10, 20), dtype=int64, device=0</caption>"
    )
    rows = re.findall("<tr>(.*?)</tr>", html)
    cells = [re.findall("<td>(.*?)</td>", row) for row in rows]
    kept = [0, 1, 2, -3, -2, -1]
    shown = [row[:3] + row[4:] for row in cells[:3] + cells[4:]]
    assert shown == [[str(whole[i, j]) for j in kept] for i in kept]
    assert {row[3] for row in cells[:3]} == {"\u2026"} and set(cells[3]) == {"\u22ee"}
    row = ap.from_numpy(np.array([1.5, -2], np.float16))
    assert re.findall("<td>(.*?)</td>", row._repr_html_()) == ["1.5", "-2."]
    for other in (ap.zeros((2, 2, 2), "int8"), ap.zeros((0, 3), "int8"), ap.zeros((), "int8")):
        assert other._repr_html_().startswith("<pre>Tensor(")
    row.close()
    assert row._repr_html_().startswith("<pre>&lt;Tensor closed")


def test_a_product_makes_no_operator_but_its_own() -> None:
    code = (
        "import sys, numpy as np, aclnn_py as ap\n"
        "x = ap.from_numpy(np.ones((2, 2), np.float32))\n"
        "before, loaded = set(vars(ap.ops)), set(sys.modules)\n"
        "x @ x\n"
        "print(*sorted(set(vars(ap.ops)) - before))\n"
        "new = set(sys.modules) - loaded\n"
        "print(*sorted(m for m in new if m.startswith('aclnn_py.array.')))\n"
    )
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True
    )
    assert done.stdout.splitlines() == ["matmul", "aclnn_py.array.products"]


def test_the_operators_that_rows_name_exist() -> None:
    for row in (*rows.BINARY.values(), *rows.UNARY.values()):
        for operator in (row.tensors, row.number):
            assert not isinstance(operator, str) or operator in dir(ap.ops)


def test_a_boolean_without_dimensions_is_squared_as_a_scalar(device) -> None:
    flags = np.array([True, False])
    on_device = ap.from_numpy(flags)
    for squared, wanted in (
        (on_device**2, flags**2),
        (on_device[0] ** 2, flags[0] ** 2),
        (np.logical_not(on_device[1]) ** 2, np.logical_not(flags[1]) ** 2),
        (on_device.any() ** 2, flags.any() ** 2),
    ):
        assert squared.dtype == wanted.dtype
        np.testing.assert_array_equal(squared.numpy(), wanted)


def test_slices_backwards_stay_the_same_when_their_recipes_are_known(device) -> None:
    x = ap.zeros((4,), "float32")
    for number in range(6):
        for flipped in (np.flip(x), x[::-1], np.flipud(x)):
            flipped[0] = number
            assert x[3].item() == number
            x[3] = -1
            assert flipped[0].item() == -1


def test_slices_backwards_keep_no_memory(device) -> None:
    x = ap.from_numpy(np.arange(4.0))
    memory = weakref.ref(x.buffer)
    x = x[::-1]
    assert memory() is None
    x[0] = 9  # nothing else shows this
    first = x
    for _ in range(9):
        x = x[::-1] + 0
        x = x[1:][::-1]
        x = np.concatenate([x, x[:1]])
    assert first.tolist() == [9, 2, 1, 0]
    del x, first
    assert not shown.SHOWN and not shown.COPIES


def test_a_closed_tensor_is_no_view_of_its_slices(device) -> None:
    x = ap.from_numpy(np.arange(4.0))
    y, z = x[::-1], x[::-1]
    z.close()
    x[0] = 7
    x.close()
    y[0] = 5
    assert y.tolist() == [5, 2, 1, 7]


def test_text_follows_the_options_of_printing(device) -> None:
    x = np.arange(20.0).reshape(4, 5) / 3
    tensor = ap.from_numpy(x)
    for options in ({"threshold": 3, "edgeitems": 1}, {"threshold": 3}, {"precision": 2}):
        with np.printoptions(**options):
            assert str(tensor) == str(x)
            assert str(tensor[0]) == str(x[0])


def test_bubbles_rise_by_swaps_of_elements(device) -> None:
    x = ap.from_numpy(np.array([3, 1, 2, 5, 4]))
    for end in range(len(x) - 1, 0, -1):
        for i in range(end):
            if x[i] > x[i + 1]:
                x[i], x[i + 1] = x[i + 1], x[i]
    assert x.tolist() == [1, 2, 3, 4, 5]


def test_an_element_is_a_view_to_operators(device) -> None:
    x = ap.zeros((3,), "float32")
    place, other = x[1], x[2]
    ap.ops.adds(place, 5.0, 1.0, place)
    assert x.tolist() == [0, 5, 0]
    with ap.Sequence.record() as record:
        ap.ops.adds(other, 1.0, 1.0, other)
    x[0] = 1  # from here on both have memory of their own; what was recorded keeps its place
    record.run()
    assert x.tolist() == [1, 5, 2] and other.item() == 1 and place.item() == 5
    del x, place, other, record
    assert not elements.ELEMENTS


def test_an_element_in_a_capture_is_a_number(device) -> None:
    x = ap.from_numpy(np.arange(3.0, dtype=np.float32))
    outside = x[0]
    with ap.Graph() as graph:
        with graph.capture():
            x[0], x[2] = x[2], x[0]
        graph.replay()
        assert x.tolist() == [2, 1, 0]
        graph.replay()
        assert x.tolist() == [0, 1, 2]
    assert outside.item() == 0


def test_a_number_that_is_written_in_place_stays_where_it_is(device) -> None:
    step = ap.zeros((), "int64")
    with ap.Graph() as graph:
        with graph.capture():
            step += 1
        graph.replay()
        graph.replay()
    assert step.item() == 2
