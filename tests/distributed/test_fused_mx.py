# SPDX-License-Identifier: Apache-2.0
"""Products per expert with operands of 8 and 4 bits, and exchanges, on a 950 against NumPy."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import NAME
from helpers.experts import call, on_threads
from helpers.jobs import on_processes
from helpers.ranks import run_ranks

import aclnn_py as ap
import aclnn_py.distributed as dist
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
F16, BF16 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
FOUR = np.dtype(ml_dtypes.float4_e2m1fn)
EXPERTS, DEPTH, COLUMNS = 2, 70, 6  # 70 values have three blocks of 32
KINDS = ("even", "uneven", "empty")


class Operand:
    """Whole numbers with scales of a quarter to four: products and their sums are exact.

    ``values`` has the depth last; ``scales`` has, last, pairs of scales and 2.
    """

    def __init__(self, seed: int, *shape: int, dtype: Any = E4M3) -> None:
        random = np.random.default_rng(seed)
        self.values = random.integers(-4, 5, shape).astype(np.float32).astype(dtype)
        pairs = -(-shape[-1] // 64)
        self.scales = random.integers(125, 130, (*shape[:-1], pairs, 2)).astype(np.uint8)

    def exact(self) -> np.ndarray:
        codes = self.scales.reshape(*self.scales.shape[:-2], 2 * self.scales.shape[-2])
        each = np.repeat(codes, 32, axis=-1)
        factors = np.ldexp(1.0, each[..., : self.values.shape[-1]].astype(np.int32) - 127)
        return np.asarray(self.values.astype(np.float64) * factors)

    def tensors(self) -> tuple[ap.Tensor, ap.Tensor]:
        """As a left operand, or a transposed right one."""
        return ap.from_numpy(self.values), _scales(self.scales)

    def upright(self) -> tuple[ap.Tensor, ap.Tensor]:
        """As a right operand that is not transposed."""
        values = np.ascontiguousarray(self.values.swapaxes(-1, -2))
        return ap.from_numpy(values), _scales(self.scales.swapaxes(-3, -2))


class Whole(Operand):
    """Whole numbers of HIFLOAT8, whose values are codes here, with one scale for all."""

    def __init__(self, seed: int, *shape: int) -> None:
        random = np.random.default_rng(seed)
        numbers = random.integers(-4, 5, shape)
        # A sign, an exponent of 0, 1 or 2 behind its prefix, and three bits behind the point.
        magnitudes = np.array([0x00, 0x08, 0x10, 0x14, 0x20], np.uint8)
        self.values = magnitudes[np.abs(numbers)] | np.where(numbers < 0, 128, 0).astype(np.uint8)
        self.numbers = numbers
        self.scale = 2.0 ** float(random.integers(-3, 4))

    def exact(self) -> np.ndarray:
        return np.asarray(self.numbers * self.scale)

    def tensors(self) -> tuple[ap.Tensor, ap.Tensor]:
        return ap.from_numpy(self.values, dtype="hifloat8"), ap.full((1,), self.scale, np.float32)

    def upright(self) -> tuple[ap.Tensor, ap.Tensor]:
        values = np.ascontiguousarray(self.values.swapaxes(-1, -2))
        return ap.from_numpy(values, dtype="hifloat8"), self.tensors()[1]


def operand(form: str, seed: int, *shape: int, other: bool = False) -> Operand:
    """Of float8 there are two kinds, which may meet."""
    if form == "hifloat8":
        return Whole(seed, *shape)
    return Operand(seed, *shape, dtype=FOUR if form == "float4" else E5M2 if other else E4M3)


def blank(form: str, shape: tuple[int, int]) -> ap.Tensor:
    if form == "hifloat8":
        return ap.from_numpy(np.ones(shape, np.uint8), dtype=form)
    return ap.from_numpy(np.ones(shape, FOUR if form == "float4" else E4M3))


def _scales(codes: np.ndarray) -> ap.Tensor:
    return ap.from_numpy(np.ascontiguousarray(codes).view(ml_dtypes.float8_e8m0fnu))


def product(left: np.ndarray, right: np.ndarray, dtype: Any) -> np.ndarray:
    return (left @ right.T).astype(np.float32).astype(dtype)


def counts_of(ranks: int, kind: str) -> np.ndarray:
    """counts[source][rank][expert]."""
    shape = (ranks, ranks, EXPERTS)
    if kind == "even":
        return np.full(shape, 2)
    if kind == "uneven":
        return np.random.default_rng(8).integers(0, 4, shape)
    counts = np.zeros(shape, np.int64)
    counts[:, -1, -1] = 3
    return counts


def arguments(
    comm: Communicator,
    rows: Operand,
    weight: Operand,
    shared: bool,
    turned: bool,
    form: str = "float8",
) -> dict[str, Any]:
    depth, mode = 34 if form == "float4" else 33, 1 if form == "hifloat8" else 6
    one, other = operand(form, 40, 3, depth), operand(form, 41, 4, depth, other=True)
    x, x_scale = rows.tensors()
    w, w_scale = weight.tensors() if turned else weight.upright()
    left = one.tensors() if shared else (None, None)
    right = (other.tensors() if turned else other.upright()) if shared else (None, None)
    return {
        "gmm_x": x, "gmm_weight": w, "gmm_x_scale": x_scale, "gmm_weight_scale": w_scale,
        "send_counts_tensor": None, "recv_counts_tensor": None, "mm_x": left[0],
        "mm_weight": right[0], "mm_x_scale": left[1], "mm_weight_scale": right[1],
        "comm_quant_scale": None, "gmm_x_quant_mode": mode, "gmm_weight_quant_mode": mode,
        "mm_x_quant_mode": mode, "mm_weight_quant_mode": mode, "comm_quant_mode": 0,
        "comm_quant_dtype": -1, "group_size": 0, "group": comm.name, "comm_mode": "ai_cpu",
        "ep_world_size": comm.world_size, "trans_gmm_weight": turned, "trans_mm_weight": turned,
        "mm_y": ap.full((3, 4), -7, F16) if shared else None, "shared": (one, other),
    }  # fmt: skip


def of_the_function(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments that the functions of `distributed` take."""
    names = ("gmm_x", "gmm_weight", "mm_x", "mm_weight")
    scaled = [name for each in names for name in (each, f"{each}_scale")]
    others = ("send_counts", "recv_counts", "trans_gmm_weight", "trans_mm_weight")
    return {name: values[name] for name in (*scaled, *others)}


def check_shared(values: dict[str, Any]) -> None:
    one, other = values["shared"]
    np.testing.assert_array_equal(
        values["mm_y"].numpy(), product(one.exact(), other.exact(), np.float16)
    )


def first(comm: Communicator, kind: str, version: int, form: str, *, turned: bool) -> None:
    ranks, rank = comm.world_size, comm.rank
    counts = counts_of(ranks, kind)
    x = [operand(form, r, int(counts[r].sum()), DEPTH) for r in range(ranks)]
    weight = operand(form, 30 + rank, EXPERTS, COLUMNS, DEPTH, other=turned)
    total = int(counts[:, rank].sum())
    if form == "hifloat8":  # the ranks' rows have one scale
        for each in x:
            each.scale = x[0].scale
    values = arguments(comm, x[rank], weight, True, turned, form) | {
        "send_counts": counts[rank].reshape(-1).tolist(),
        "recv_counts": counts[:, rank].reshape(-1).tolist(),
        "permute_out_flag": not turned,
        "gmm_y": ap.full((total, COLUMNS), -7, F16),
        "permute_out": None if turned else blank(form, (total, DEPTH)),
    }
    call("allto_allv_quant_grouped_mat_mul" + ("_v2" if version == 2 else ""), values)
    rows, results = [], []
    for expert in range(EXPERTS):
        for r in range(ranks):
            before = int(counts[r].reshape(-1)[: rank * EXPERTS + expert].sum())
            mine = slice(before, before + int(counts[r, rank, expert]))
            rows.append(x[r].values[mine])
            results.append(product(x[r].exact()[mine], weight.exact()[expert], np.float16))
    if not turned:
        kept = values["permute_out"].numpy()
        np.testing.assert_array_equal(kept.view(np.uint8), np.concatenate(rows).view(np.uint8))
    np.testing.assert_array_equal(values["gmm_y"].numpy(), np.concatenate(results))
    check_shared(values)
    if version == 1:
        y, own, kept_rows = dist.all_to_allv_quant_grouped_matmul(
            **of_the_function(values), group=comm, permute_out_flag=not turned
        )
        np.testing.assert_array_equal(y.numpy(), values["gmm_y"].numpy())
        np.testing.assert_array_equal(own.numpy(), values["mm_y"].numpy())
        assert (kept_rows is None) == turned
        if kept_rows is not None:
            np.testing.assert_array_equal(
                kept_rows.numpy().view(np.uint8), values["permute_out"].numpy().view(np.uint8)
            )


def last(comm: Communicator, kind: str, version: int, form: str, *, turned: bool) -> None:
    ranks, rank = comm.world_size, comm.rank
    counts = counts_of(ranks, kind)  # of the way there: back they go the other way
    weights = [operand(form, 30 + r, EXPERTS, COLUMNS, DEPTH) for r in range(ranks)]
    everyone = [
        operand(form, r, int(counts[:, r].sum()), DEPTH, other=turned) for r in range(ranks)
    ]
    total = int(counts[rank].sum())
    values = arguments(comm, everyone[rank], weights[rank], False, turned, form) | {
        "send_counts": counts[:, rank].reshape(-1).tolist(),
        "recv_counts": counts[rank].reshape(-1).tolist(),
        "y": ap.full((total, COLUMNS), -7, BF16),
    }
    call("quant_grouped_mat_mul_allto_allv" + ("_v2" if version == 2 else ""), values)
    expected = []
    for r in range(ranks):
        for expert in range(EXPERTS):
            by_expert = counts[:, r].T.reshape(-1)
            before = int(by_expert[: expert * ranks + rank].sum())
            rows = everyone[r].exact()[before : before + int(counts[rank, r, expert])]
            expected.append(product(rows, weights[r].exact()[expert], BF16))
    np.testing.assert_array_equal(
        values["y"].numpy().astype(np.float32), np.concatenate(expected).astype(np.float32)
    )
    if version == 1:
        y, own = dist.quant_grouped_matmul_all_to_allv(
            **of_the_function(values), group=comm, output_dtype="bfloat16"
        )
        assert own is None
        np.testing.assert_array_equal(
            y.numpy().view(np.uint16), values["y"].numpy().view(np.uint16)
        )


def refused(comm: Communicator) -> None:
    x, weight = Operand(1, 2, DEPTH), Operand(2, 1, COLUMNS, DEPTH)
    base = arguments(comm, x, weight, False, True) | {
        "send_counts": [1, 1], "recv_counts": [1, 1], "y": ap.zeros((2, COLUMNS), F16),
    }  # fmt: skip
    short = Operand(1, 2, 64).tensors()[1]
    one_scale = {"gmm_x_quant_mode": 1, "gmm_weight_quant_mode": 1}
    left, right = Whole(1, 2, DEPTH).tensors(), Whole(2, 1, COLUMNS, DEPTH).tensors()
    whole = {"gmm_x": left[0], "gmm_weight": right[0], "gmm_weight_scale": right[1]}
    four = Operand(1, 2, DEPTH, dtype=FOUR)
    for change, text in (
        ({"gmm_x_quant_mode": 3}, "gmmXQuantMode is 3; allowed: 1"),
        ({"gmm_weight_quant_mode": 1}, "it must be gmmXQuantMode, 6"),
        (one_scale, "gmmX has dtype FLOAT8_E4M3FN; allowed: HIFLOAT8"),
        (one_scale | whole | {"gmm_x_scale": short}, "gmmXScale has dtype FLOAT8_E8M0"),
        (one_scale | whole | {"gmm_x_scale": ap.zeros((2,), np.float32)}, "gmmXScale"),
        ({"gmm_x": four.tensors()[0]}, "gmmWeight has dtype FLOAT8_E4M3FN; allowed: FLOAT4_E2M1"),
        ({"group_size": 32}, "groupSize"),
        ({"comm_quant_mode": 1}, "commQuantMode"),
        ({"comm_quant_dtype": 1}, "commQuantDtype"),
        ({"gmm_x_scale": short}, "gmmXScale"),
        ({"mm_x_scale": short}, "mmXScaleOptional"),
        ({"gmm_x": ap.zeros((2, DEPTH), F16)}, "gmmX"),
    ):
        with pytest.raises(AclnnError, match=text) as caught:
            call("quant_grouped_mat_mul_allto_allv", base | change)
        assert caught.value.status == 161002


def everything(comm: Communicator) -> None:
    for version, turned in ((1, False), (2, True)):
        for kind in KINDS:
            first(comm, kind, version, "float8", turned=turned)
            last(comm, kind, version, "float8", turned=turned)
        for form in ("float4", "hifloat8"):
            first(comm, "uneven", version, form, turned=turned)
            last(comm, "uneven", version, form, turned=turned)
    if comm.world_size == 2:
        refused(comm)


def _on_a_950(rank: int, ranks: int) -> None:
    for count in (2, 4, 8):
        comms = Communicator.init_all(count)
        on_threads([[comm] for comm in comms], everything)
        for comm in comms:
            comm.close()


def test_mx_products_exchange_rows() -> None:
    run_ranks(1, _on_a_950, env={"ACLNN_PY_EMULATOR_SOC": NAME}, timeout_s=300.0)


def test_mx_products_exchange_rows_of_processes(
    process_counts: tuple[int, ...], tmp_path: Path
) -> None:
    on_processes(everything, process_counts, tmp_path, {"ACLNN_PY_EMULATOR_SOC": NAME})


def test_another_chip_has_none(device: ap.Device) -> None:
    (comm,) = Communicator.init_all(1)
    with comm, comm.device:
        values = arguments(comm, Operand(1, 2, 64), Operand(2, 1, 3, 64), False, True) | {
            "send_counts": [1, 1], "recv_counts": [1, 1], "y": ap.zeros((2, 3), F16),
        }  # fmt: skip
        with pytest.raises(AclnnError, match="950"):
            call("quant_grouped_mat_mul_allto_allv", values)
