# SPDX-License-Identifier: Apache-2.0
"""Products per expert with MX quantisation, and exchanges, on a 950 against NumPy."""

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
from aclnn_py.distributed import Communicator
from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

E4M3, E5M2 = np.dtype(ml_dtypes.float8_e4m3fn), np.dtype(ml_dtypes.float8_e5m2)
F16, BF16 = np.dtype(np.float16), np.dtype(ml_dtypes.bfloat16)
EXPERTS, DEPTH, COLUMNS = 2, 70, 5  # 70 values have three blocks of 32
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
    comm: Communicator, rows: Operand, weight: Operand, shared: bool, turned: bool
) -> dict[str, Any]:
    one, other = Operand(40, 3, 33), Operand(41, 4, 33, dtype=E5M2)
    x, x_scale = rows.tensors()
    w, w_scale = weight.tensors() if turned else weight.upright()
    left = one.tensors() if shared else (None, None)
    right = (other.tensors() if turned else other.upright()) if shared else (None, None)
    return {
        "gmm_x": x, "gmm_weight": w, "gmm_x_scale": x_scale, "gmm_weight_scale": w_scale,
        "send_counts_tensor": None, "recv_counts_tensor": None, "mm_x": left[0],
        "mm_weight": right[0], "mm_x_scale": left[1], "mm_weight_scale": right[1],
        "comm_quant_scale": None, "gmm_x_quant_mode": 6, "gmm_weight_quant_mode": 6,
        "mm_x_quant_mode": 6, "mm_weight_quant_mode": 6, "comm_quant_mode": 0,
        "comm_quant_dtype": -1, "group_size": 0, "group": comm.name, "comm_mode": "",
        "ep_world_size": comm.world_size, "trans_gmm_weight": turned, "trans_mm_weight": turned,
        "mm_y": ap.full((3, 4), -7, F16) if shared else None, "shared": (one, other),
    }  # fmt: skip


def check_shared(values: dict[str, Any]) -> None:
    one, other = values["shared"]
    np.testing.assert_array_equal(
        values["mm_y"].numpy(), product(one.exact(), other.exact(), np.float16)
    )


def first(comm: Communicator, kind: str, version: int, *, turned: bool) -> None:
    ranks, rank = comm.world_size, comm.rank
    counts = counts_of(ranks, kind)
    x = [Operand(r, int(counts[r].sum()), DEPTH) for r in range(ranks)]
    weight = Operand(30 + rank, EXPERTS, COLUMNS, DEPTH, dtype=E5M2 if turned else E4M3)
    total = int(counts[:, rank].sum())
    values = arguments(comm, x[rank], weight, True, turned) | {
        "send_counts": counts[rank].reshape(-1).tolist(),
        "recv_counts": counts[:, rank].reshape(-1).tolist(),
        "permute_out_flag": not turned,
        "gmm_y": ap.full((total, COLUMNS), -7, F16),
        "permute_out": None if turned else ap.from_numpy(np.ones((total, DEPTH), E4M3)),
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


def last(comm: Communicator, kind: str, version: int, *, turned: bool) -> None:
    ranks, rank = comm.world_size, comm.rank
    counts = counts_of(ranks, kind)  # of the way there: back they go the other way
    dtype = E5M2 if turned else E4M3
    weights = [Operand(30 + r, EXPERTS, COLUMNS, DEPTH) for r in range(ranks)]
    everyone = [Operand(r, int(counts[:, r].sum()), DEPTH, dtype=dtype) for r in range(ranks)]
    total = int(counts[rank].sum())
    values = arguments(comm, everyone[rank], weights[rank], False, turned) | {
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


def refused(comm: Communicator) -> None:
    x, weight = Operand(1, 2, DEPTH), Operand(2, 1, COLUMNS, DEPTH)
    base = arguments(comm, x, weight, False, True) | {
        "send_counts": [1, 1], "recv_counts": [1, 1], "y": ap.zeros((2, COLUMNS), F16),
    }  # fmt: skip
    short = Operand(1, 2, 64).tensors()[1]
    for change, text in (
        ({"gmm_x_quant_mode": 1}, "gmmXQuantMode"),
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
            first(comm, kind, version, turned=turned)
            last(comm, kind, version, turned=turned)
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
