# SPDX-License-Identifier: Apache-2.0
"""Dispatch with the quantisation of a 950, against NumPy and the operators that quantise alone."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import NAME
from helpers.experts import Layer, dispatch, on_threads
from helpers.jobs import on_processes
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclnnError
from aclnn_py.tensor.dtypes import dtype_of

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

WIDTH, TOKENS, EACH, EXPERTS = 1100, 3, 2, 8
E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)


def layer_of(ranks: int, **more: Any) -> Layer:
    rng = np.random.default_rng(7)
    x = [rng.normal(size=(TOKENS, WIDTH)).astype(np.float16) for _ in range(ranks)]
    x[0][1] = 0
    ids = [
        np.stack([rng.permutation(EXPERTS)[:EACH] for _ in range(TOKENS)]).astype(np.int32)
        for _ in range(ranks)
    ]
    return Layer(x, ids, EXPERTS, **more)


def sources(layer: Layer, rank: int) -> list[Any]:
    return [s for expert in layer.received(rank) for group in expert for s in group]


def codes(array: np.ndarray) -> np.ndarray:
    return array.view(np.uint8)


def dynamic(layer: Layer, comm: Communicator, kind: Any, mode: int, *, smooth: bool) -> None:
    """Scales of rows, or of 128 values."""
    rng = np.random.default_rng(8)
    factors = rng.uniform(0.5, 2, (EXPERTS, WIDTH)).astype(np.float32) if smooth else None
    rows = layer.rows(comm.rank)
    group = WIDTH if mode == 2 else 128
    each = -(-WIDTH // group)
    y = ap.from_numpy(np.full((rows, WIDTH), 3, np.uint8).view(kind))
    scales = ap.full((rows,) if mode == 2 else (rows, each), -7, np.float32)
    dispatch(
        layer,
        comm,
        *(3,),
        factors=factors,
        quant_mode=mode,
        expand_x_out=y,
        dynamic_scales_out=scales,
    )
    wanted = sources(layer, comm.rank)
    found_y, found_scales = y.numpy(), scales.numpy().reshape(rows, each)
    most = np.float32(ml_dtypes.finfo(kind).max)
    for row, source in enumerate(wanted):
        values = layer.x[source[0]][source[1]].astype(np.float32)
        if factors is not None:
            values = values * factors[layer.factor_row(source)]
        for part in range(each):
            piece = values[part * group : (part + 1) * group]
            largest = np.abs(piece).max()
            factor = most / largest if largest else np.float32(0)
            got = found_y[row, part * group : (part + 1) * group]
            np.testing.assert_array_equal(codes(got), codes((piece * factor).astype(kind)))
            assert found_scales[row, part] == (np.float32(1) / factor if largest else 0)
    assert (codes(found_y[len(wanted) :]) == 3).all()
    assert (found_scales[len(wanted) :] == -7).all()


def cast(layer: Layer, comm: Communicator, form: str) -> None:
    """A scale that is given, for all values or for each; or none, to HIFLOAT8."""
    rng = np.random.default_rng(9)
    rows, rank = layer.rows(comm.rank), comm.rank
    shape = {"one": (1,), "each": (WIDTH,), "experts": (EXPERTS, WIDTH)}.get(form)
    factors = None if shape is None else rng.uniform(4, 40, shape).astype(np.float32)
    kind = "hifloat8" if form in ("one", "none") else "int8"
    number = np.uint8 if kind == "hifloat8" else np.int8
    y = ap.from_numpy(np.full((rows, WIDTH), 3, number), dtype=kind)
    mode = 0 if form == "none" else 1
    dispatch(layer, comm, 2, factors=factors, quant_mode=mode, expand_x_out=y)
    wanted = sources(layer, rank)
    found = y.numpy().view(number)
    for row, source in enumerate(wanted):
        x = layer.x[source[0]][source[1]].astype(np.float32)
        if kind == "hifloat8":
            out = ap.from_numpy(np.zeros((1, WIDTH), np.uint8), dtype="hifloat8")
            scale = ap.from_numpy(np.ones(1, np.float32) if factors is None else factors)
            ap.ops.ascend_quant_v3(ap.from_numpy(x[None]), scale, None, False, "round", 34, -1, out)
            expected = out.numpy().view(np.uint8)[0]
        else:
            assert factors is not None
            factor = factors[layer.factor_row(source)] if factors.ndim == 2 else factors
            expected = np.rint(x * factor).clip(-128, 127).astype(np.int8)
        np.testing.assert_array_equal(found[row], expected)
    assert (found[len(wanted) :] == 3).all()


def coded(numbers: np.ndarray, kind: str) -> ap.Tensor:
    """A tensor of these codes."""
    number = dtype_of(kind).numpy if "float4" in kind else np.dtype(np.uint8)
    return ap.from_numpy(numbers.astype(np.uint8).view(number), dtype=kind)


def moved(layer: Layer, comm: Communicator, kind: str, scale: str) -> None:
    """Rows of 8 or 4 bits travel with scales of their own."""
    most = 16 if "float4" in kind else 64
    numbers = [
        np.random.default_rng(r).integers(0, most, (TOKENS, WIDTH)) for r in range(layer.ranks)
    ]
    factors = [np.random.default_rng(r).integers(1, 99, (TOKENS, 9)) for r in range(layer.ranks)]
    rows, rank = layer.rows(comm.rank), comm.rank
    store = np.float32 if scale == "float32" else np.uint8
    y = coded(np.full((rows, WIDTH), 3), kind)
    scales = ap.from_numpy(np.full((rows, 9), 3, store), dtype=scale)
    dispatch(
        layer,
        comm,
        4,
        x=coded(numbers[rank], kind),
        scales=ap.from_numpy(factors[rank].astype(store), dtype=scale),
        expand_x_out=y,
        dynamic_scales_out=scales,
    )
    wanted = sources(layer, rank)
    for row, (source, token, _) in enumerate(wanted):
        np.testing.assert_array_equal(codes(y.numpy())[row], numbers[source][token])
        got = scales.numpy().view(store)[row]
        np.testing.assert_array_equal(got, factors[source][token].astype(store))
    assert (codes(y.numpy())[len(wanted) :] == 3).all()


def refused(layer: Layer, comm: Communicator) -> None:
    rows = layer.rows(comm.rank)
    eight = ap.from_numpy(np.zeros((rows, WIDTH), np.uint8), dtype="float8_e4m3fn")
    x = ap.from_numpy(np.zeros((TOKENS, WIDTH), np.uint8), dtype="float8_e4m3fn")
    one, wide = ap.full((1,), 1, np.float32), ap.full((TOKENS, 9), 1, np.float32)
    four, fours = (coded(np.zeros((n, WIDTH)), "float4_e2m1fn") for n in (TOKENS, rows))
    for change, status, text in (
        ({"quant_mode": 4, "expand_x_out": eight}, 561002, "quantMode is 4"),
        ({"quant_mode": 1, "expand_x_out": eight}, 161002, "expandXOut has dtype FLOAT8_E4M3FN"),
        ({"quant_mode": 3, "expand_x_out": eight}, 561002, "dynamicScalesOut has shape"),
        ({"x": x, "expand_x_out": eight}, 561002, "scalesOptional is null"),
        ({"x": x, "expand_x_out": eight, "scales": one}, 561002, "scalesOptional"),
        ({"x": x}, 161002, "expandXOut has dtype FLOAT16"),
        ({"x": four, "expand_x_out": fours, "scales": wide}, 561002, "beside x of FLOAT4_E2M1"),
    ):
        with pytest.raises(AclnnError, match=text) as caught:
            dispatch(layer, comm, 2, **change)
        assert caught.value.status == status


def everything(comm: Communicator) -> None:
    layer = layer_of(comm.world_size)
    dynamic(layer, comm, E4M3, 2, smooth=True)
    dynamic(layer, comm, E5M2, 3, smooth=False)
    dynamic(layer, comm, E4M3, 3, smooth=True)
    for form in ("one", "each", "experts", "none"):
        cast(layer, comm, form)
    moved(layer, comm, "hifloat8", "float32")
    moved(layer, comm, "float8_e5m2", "float8_e8m0fnu")
    moved(layer, comm, "float4_e2m1fn", "float8_e8m0fnu")
    moved(layer, comm, "float4_e1m2", "float8_e8m0fnu")
    if comm.world_size == 2:
        refused(layer, comm)


def _on_a_950(rank: int, ranks: int) -> None:
    for count in (2, 4, 8):
        comms = Communicator.init_all(count)
        on_threads([[comm] for comm in comms], everything)
        for comm in comms:
            comm.close()


def test_rows_are_quantised_on_their_way() -> None:
    run_ranks(1, _on_a_950, env={"ACLNN_PY_EMULATOR_SOC": NAME}, timeout_s=300.0)


def test_rows_of_processes_are_quantised_on_their_way(
    process_counts: tuple[int, ...], tmp_path: Path
) -> None:
    on_processes(everything, process_counts, tmp_path, {"ACLNN_PY_EMULATOR_SOC": NAME})
