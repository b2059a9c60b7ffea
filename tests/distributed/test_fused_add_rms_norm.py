# SPDX-License-Identifier: Apache-2.0
"""Sums over the ranks followed by a residual and a norm: three products, two forms each."""

from __future__ import annotations

from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.staging import added, all_reduced, contribution, dequantised, weight_of

import aclnn_py as ap
from aclnn_py import distributed, ops
from aclnn_py.distributed import Communicator
from aclnn_py.functional import pack_scale, unpack_scale

FLOATS = [np.float16, ml_dtypes.bfloat16]
B, S, K, N = 2, 3, 40, 16
EPSILON = 1e-5
PRODUCTS = ["matmul", "weight_quant_matmul", "quant_matmul"]


def values(rank: int, dtype: Any) -> dict[str, np.ndarray]:
    rng = np.random.default_rng(rank)

    def draw(*shape: int) -> np.ndarray:
        return rng.integers(-3, 4, shape)

    return {
        "x1": draw(B, S, K),
        "x2": draw(K, N),
        "bias": draw(N),
        "scale": np.exp2(rng.integers(-2, 1, N)),
        "residual": np.random.default_rng(99).standard_normal((B, S, N)).astype(dtype),
        "gamma": (np.random.default_rng(98).random(N) + 0.5).astype(dtype),
    }


def scale_of(v: dict[str, np.ndarray], dtype: Any) -> np.ndarray:
    return v["scale"].astype(dtype) if dtype == FLOATS[1] else pack_scale(v["scale"])


def share(product: str, v: dict[str, np.ndarray], dtype: Any) -> np.ndarray:
    if product == "quant_matmul":
        scale = scale_of(v, dtype)
        plain = scale if dtype == FLOATS[1] else unpack_scale(scale)[0]
        return dequantised(v["x1"], v["x2"], plain, dtype, v["bias"])
    weight = v["x2"] if product == "matmul" else weight_of(v["x2"], v["scale"].astype(dtype), dtype)
    return contribution(v["x1"], weight, dtype, v["bias"])


def normalised(y: np.ndarray, gamma: np.ndarray) -> np.ndarray:
    wide = y.astype(np.float64)
    root = np.sqrt((wide * wide).mean(axis=-1, keepdims=True) + EPSILON)
    return wide / root * gamma.astype(np.float64)


@pytest.mark.parametrize("dtype", FLOATS, ids=["float16", "bfloat16"])
@pytest.mark.parametrize("in_place", [False, True], ids=["new", "in place"])
@pytest.mark.parametrize("product", PRODUCTS)
@pytest.mark.parametrize(
    ("flat", "ranks"), [(False, 2), (True, 4), (False, 8)], ids=["3-D x1, 2", "2-D x1, 4", "8"]
)
def test_residual_and_norm_follow_the_sum(
    run_threads: Any, product: str, in_place: bool, dtype: Any, flat: bool, ranks: int
) -> None:
    op = getattr(ops, ("inplace_" if in_place else "") + product + "_all_reduce_add_rms_norm")
    quantised = product == "quant_matmul"

    def work(comm: Communicator) -> Any:
        v = values(comm.rank, dtype)
        kinds = {
            "x1": np.int8 if quantised else dtype,
            "x2": dtype if product == "matmul" else np.int8,
            "bias": np.int32 if quantised else dtype,
        }
        x1 = v["x1"].reshape(B * S, K) if flat else v["x1"]
        given = {"x1": ap.from_numpy(x1.astype(kinds["x1"]))}
        given |= {n: ap.from_numpy(v[n].astype(kinds[n])) for n in ("x2", "bias")}
        given["gamma"] = ap.from_numpy(v["gamma"])
        if product == "weight_quant_matmul":
            given["antiquant_scale"] = ap.from_numpy(v["scale"].astype(dtype))
        if quantised:
            given["dequant_scale"] = ap.from_numpy(scale_of(v, dtype))
        residual, norm_out = ap.from_numpy(v["residual"]), ap.empty((B, S, N), dtype)
        y = residual if in_place else ap.empty((B, S, N), dtype)
        targets = {"residual_ref": residual} if in_place else {"residual": residual, "y": y}
        attributes = {"group": comm.name, "reduce_op": "sum", "comm_turn": 0, "stream_mode": 1}
        if product == "weight_quant_matmul":
            attributes |= {"antiquant_offset": None, "antiquant_group_size": 0}
        op(**given, **targets, **attributes, epsilon=EPSILON, norm_out=norm_out)
        fresh = ap.from_numpy(v["residual"])
        call = getattr(distributed, product + "_all_reduce_add_rms_norm")
        again = call(**given, residual=fresh, epsilon=EPSILON, group=comm, inplace=in_place)
        assert (again[0] is fresh) == in_place
        return y.numpy(), norm_out.numpy(), *(tensor.numpy() for tensor in again)

    sums = all_reduced([share(product, values(r, dtype), dtype) for r in range(ranks)], dtype)
    v = values(0, dtype)
    expected = added(sums, v["residual"], dtype)
    for y, norm, y_again, norm_again in run_threads(ranks, work):
        np.testing.assert_array_equal(y.view(np.uint16), expected.view(np.uint16))
        assert_close(norm, normalised(expected, v["gamma"]))
        np.testing.assert_array_equal(y_again.view(np.uint16), y.view(np.uint16))
        np.testing.assert_array_equal(norm_again.view(np.uint16), norm.view(np.uint16))


@pytest.mark.parametrize("product", PRODUCTS)
def test_refusals_name_the_argument(run_threads: Any, product: str) -> None:
    call = getattr(distributed, product + "_all_reduce_add_rms_norm")

    def work(comm: Communicator) -> Any:
        x, flat = ap.empty((1, 2, 32), np.float16), ap.empty((2, 32), np.float16)
        scale = () if product == "matmul" else (ap.empty((32,), np.float16),)
        with pytest.raises(ValueError, match="residual: expected 3 dimensions"):
            call(x, flat.T, *scale, flat, flat, group=comm)
        with pytest.raises(ValueError, match="world_size: 3"):
            call(x, flat.T, *scale, x, flat, group=comm, world_size=3)
        with pytest.raises(TypeError, match="residual"):
            call(x, flat.T, *scale, x.numpy(), flat, group=comm)
        gamma = ap.empty((32,), np.float32)
        with pytest.raises(ap.errors.InvalidArgumentError) as caught:
            call(x, ap.empty((32, 32), np.float16), *scale, x, gamma, group=comm)
        return caught.value.status

    assert set(run_threads(2, work)) == {161002}


def test_one_rounding_in_all_where_that_is_asked_for(
    run_threads: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ACLNN_PY_REDUCE", "fp32")

    def work(comm: Communicator) -> Any:
        x1 = ap.from_numpy(np.array([[[2048, 1]]], np.float16))
        x2, one = ap.from_numpy(np.ones((2, 1), np.float16)), ap.from_numpy(np.ones(1, np.float16))
        y, norm = ap.empty((1, 1, 1), np.float16), ap.empty((1, 1, 1), np.float16)
        residual = ap.from_numpy(np.ones((1, 1, 1), np.float16))
        ops.matmul_all_reduce_add_rms_norm(
            x1, x2, None, residual, one, EPSILON, comm.name, "sum", 0, 1, y, norm
        )
        return y.item()

    # 2049 + 2049 + 1 lies between 4096 and 4100
    assert run_threads(2, work) == [4100.0] * 2
