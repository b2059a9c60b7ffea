# SPDX-License-Identifier: Apache-2.0
"""Products of floats of 8 bits spread over ranks, on a 950: bit for bit the parts they fuse."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import NAME
from helpers.experts import on_threads
from helpers.jobs import on_processes
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py.distributed import (
    Communicator,
    all_reduce,
    quant_matmul_all_to_all,
    reduce_scatter_tensor,
)
from aclnn_py.errors import AclnnError

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

K, N = 288, 12
DTYPES = ("float8_e4m3fn", "float8_e5m2", "hifloat8")


class Operands:
    """The rows of one rank and a weight, with scales of a form."""

    def __init__(self, seed: int, rows: int, form: str, dtype: str) -> None:
        rng = np.random.default_rng(seed)
        # Small numbers in each of the formats: exponents near 0, either sign.
        small = np.array([0x00, 0x08, 0x30, 0x38, 0x3C, 0xB8, 0xB0], np.uint8)
        self.form, self.dtype = form, dtype
        self.x = rng.choice(small, (rows, K))
        self.w = rng.choice(small, (K, N))
        tall, deep = -(-rows // 128), -(-K // 128)
        if form == "whole":
            self.left, self.right = (rng.uniform(0.5, 2, 1).astype(np.float32) for _ in range(2))
        elif form == "blocks":
            self.left = rng.uniform(0.5, 2, (tall, deep)).astype(np.float32)
            self.right = rng.uniform(0.5, 2, (deep, 1)).astype(np.float32)
        else:
            pairs = -(-K // 64)
            self.left = rng.integers(124, 130, (rows, pairs, 2)).astype(np.uint8)
            self.right = rng.integers(124, 130, (N, pairs, 2)).astype(np.uint8)
        self.bias = None if form == "blocks" else rng.uniform(-4, 4, N).astype(np.float32)

    @property
    def turned(self) -> bool:
        return self.form == "mx"

    def weight(self) -> ap.Tensor:
        if not self.turned:
            return ap.from_numpy(self.w, dtype=self.dtype)
        return self.turned_weight().permute(1, 0)

    def turned_weight(self) -> ap.Tensor:
        return ap.from_numpy(np.ascontiguousarray(self.w.T), dtype=self.dtype)

    def put(self, array: np.ndarray) -> ap.Tensor:
        return ap.from_numpy(array, dtype="float8_e8m0fnu" if self.turned else "float32")

    def optional_bias(self) -> ap.Tensor | None:
        return None if self.bias is None else ap.from_numpy(self.bias)

    def alone(self, weight: Operands, out: Any) -> np.ndarray:
        """The product by QuantMatmulV5."""
        y = ap.full((len(self.x), N), -7, out)
        w = np.ascontiguousarray(weight.w.T) if self.turned else weight.w
        ap.ops.quant_matmul_v5(
            *(ap.from_numpy(self.x, dtype=self.dtype), ap.from_numpy(w, dtype=self.dtype)),
            *(self.put(self.left), self.put(weight.right), None, None, None, None),
            *(weight.optional_bias(), False, self.turned, 0, y),
        )
        return y.numpy()


def gather(comm: Communicator, form: str, dtype: str, out: Any, rows: int) -> None:
    everyone = [Operands(r, rows, form, dtype) for r in range(comm.world_size)]
    mine, total = everyone[comm.rank], rows * comm.world_size
    y = ap.full((total, N), -7, out)
    kept = ap.from_numpy(np.full((total, K), 1, np.uint8), dtype=dtype)
    ap.ops.all_gather_matmul_v2(
        *(ap.from_numpy(mine.x, dtype=dtype), mine.weight(), mine.optional_bias()),
        *(mine.put(mine.left), mine.put(mine.right), None, 0, comm.name, 0, 0, 1, 0, ""),
        *(y, kept, None),
    )
    expected = np.concatenate([part.alone(mine, out) for part in everyone])
    np.testing.assert_array_equal(y.numpy().astype(np.float32), expected.astype(np.float32))
    codes = np.concatenate([part.x for part in everyone])
    np.testing.assert_array_equal(kept.numpy().view(np.uint8), codes)


def scatter(comm: Communicator, form: str, dtype: str, out: Any, rows: int) -> None:
    mine = Operands(comm.rank, rows * comm.world_size, form, dtype)
    y = ap.full((rows, N), -7, out)
    ap.ops.matmul_reduce_scatter_v2(
        *(ap.from_numpy(mine.x, dtype=dtype), mine.weight(), mine.optional_bias()),
        *(mine.put(mine.left), mine.put(mine.right), None, 0, comm.name, "sum", 0, 1, 0, ""),
        *(y, None),
    )
    share = ap.full((rows, N), -7, out)
    reduce_scatter_tensor(share, ap.from_numpy(mine.alone(mine, out)), "sum", comm)
    np.testing.assert_array_equal(y.numpy().astype(np.float32), share.numpy().astype(np.float32))


def reduce(comm: Communicator, form: str, dtype: str, out: Any, rows: int, more: bool) -> None:
    mine = Operands(comm.rank, rows, form, dtype)
    x3 = np.random.default_rng(comm.rank).uniform(-4, 4, (rows, N)).astype(out) if more else None
    y = ap.full((rows, N), -7, out)
    ap.ops.quant_matmul_all_reduce_v5(
        *(ap.from_numpy(mine.x, dtype=dtype), mine.weight(), mine.optional_bias()),
        *(None if x3 is None else ap.from_numpy(x3), mine.put(mine.left), mine.put(mine.right)),
        *(None, None, comm.name, "sum", "ccu", 0, 1, 0, 0, y),
    )
    part = mine.alone(mine, out)
    if x3 is not None:
        part = (part.astype(np.float32) + x3.astype(np.float32)).astype(out)
    total = ap.from_numpy(part)
    all_reduce(total, "sum", comm)
    np.testing.assert_array_equal(y.numpy().astype(np.float32), total.numpy().astype(np.float32))


def exchanged(comm: Communicator, form: str, dtype: str) -> None:
    """The functions of products between exchanges are the parts."""
    ranks, rank, rows = comm.world_size, comm.rank, 4
    everyone = [Operands(r, rows, form, dtype) for r in range(ranks)]
    for r, part in enumerate(everyone):
        if form == "whole":
            rng = np.random.default_rng(50 + r)
            part.left, part.right = (rng.uniform(0.5, 2, n).astype(np.float32) for n in (rows, N))
    mine = everyone[rank]
    y = quant_matmul_all_to_all(
        *(ap.from_numpy(mine.x, dtype=dtype), mine.turned_weight(), mine.put(mine.left)),
        *(mine.put(mine.right), comm),
        bias=mine.optional_bias(), trans_x2=True, output_dtype="bfloat16",
    )  # fmt: skip
    share = slice(N // ranks * rank, N // ranks * (rank + 1))
    out = np.dtype(ml_dtypes.bfloat16)
    expected = np.concatenate([part.alone(part, out)[:, share] for part in everyone])
    np.testing.assert_array_equal(y.numpy().astype(np.float32), expected.astype(np.float32))


def rows_and_columns(comm: Communicator) -> None:
    """Scales of rows and columns, of a stack of matrices; and packed ones."""
    rng = np.random.default_rng(comm.rank)
    mine = Operands(comm.rank, 6, "whole", DTYPES[0])
    mine.left, mine.right = (rng.uniform(0.5, 2, n).astype(np.float32) for n in (6, N))
    y = ap.full((2, 3, N), -7, "bfloat16")
    common = ap.from_numpy(mine.x.reshape(2, 3, K), dtype=mine.dtype), mine.weight()
    ap.ops.quant_matmul_all_reduce_v4(
        *(*common, mine.optional_bias(), None, mine.put(mine.left), mine.put(mine.right)),
        *(None, None, comm.name, "sum", 0, 1, 0, 0, y),
    )
    total = ap.from_numpy(mine.alone(mine, np.dtype(ml_dtypes.bfloat16)))
    all_reduce(total, "sum", comm)
    whole = y.numpy().astype(np.float32).reshape(6, N)
    np.testing.assert_array_equal(whole, total.numpy().astype(np.float32))
    packed = ap.from_numpy(np.full(N, 0.25, np.float32).view(np.uint32).astype(np.uint64))
    ap.ops.quant_matmul_all_reduce_v4(
        *(*common, None, None, None, packed, None, None, comm.name, "sum", 0, 1, 0, 0, y),
    )
    mine.left, mine.right, mine.bias = np.ones(6, np.float32), np.full(N, 0.25, np.float32), None
    total = ap.from_numpy(mine.alone(mine, np.dtype(ml_dtypes.bfloat16)))
    all_reduce(total, "sum", comm)
    whole = y.numpy().astype(np.float32).reshape(6, N)
    np.testing.assert_array_equal(whole, total.numpy().astype(np.float32))


def refused(comm: Communicator) -> None:
    good = Operands(0, 4, "whole", DTYPES[0])
    mx = Operands(0, 4, "mx", DTYPES[0])

    def call(**changed: Any) -> None:
        given = {
            "x1": ap.from_numpy(good.x, dtype=good.dtype), "x2": good.weight(),
            "left": good.put(good.left), "right": good.put(good.right), "size": 0,
            "kept": ap.from_numpy(np.zeros((8, K), np.uint8), dtype=good.dtype),
        } | changed  # fmt: skip
        ap.ops.all_gather_matmul_v2(
            *(given["x1"], given["x2"], None, given["left"], given["right"], None, 0),
            *(comm.name, 0, 0, 1, given["size"], "", ap.zeros((8, N), "float16")),
            *(given["kept"], None),
        )

    scales = {"left": mx.put(mx.left), "right": mx.put(mx.right)}
    for change, status, text in (
        ({"left": None}, 161001, "x1ScaleOptional"),
        ({"right": mx.put(mx.right)}, 161002, "x2ScaleOptional has dtype FLOAT8_E8M0"),
        ({"size": 5}, 161002, "groupSize is 5"),
        ({"left": ap.zeros((2,), "float32")}, 161002, r"x1ScaleOptional has shape \(2,\)"),
        (scales, 161002, "x2 is no transposed view"),
        ({"x2": ap.from_numpy(good.w, dtype="hifloat8")}, 161002, "x2 has dtype HIFLOAT8"),
        ({"kept": ap.zeros((8, K), "float16")}, 161002, "gatherOut has dtype FLOAT16"),
    ):
        with pytest.raises(AclnnError, match=text) as caught:
            call(**change)
        assert caught.value.status == status


def everything(comm: Communicator) -> None:
    gather(comm, "whole", DTYPES[2], np.dtype(np.float32), 3)
    gather(comm, "blocks", DTYPES[0], np.dtype(np.float16), 130)
    gather(comm, "mx", DTYPES[1], np.dtype(ml_dtypes.bfloat16), 5)
    scatter(comm, "whole", DTYPES[1], np.dtype(np.float16), 2)
    scatter(comm, "blocks", DTYPES[2], np.dtype(ml_dtypes.bfloat16), 3)
    scatter(comm, "mx", DTYPES[0], np.dtype(np.float32), 2)
    reduce(comm, "blocks", DTYPES[2], np.dtype(np.float16), 130, False)
    reduce(comm, "mx", DTYPES[0], np.dtype(ml_dtypes.bfloat16), 4, True)
    rows_and_columns(comm)
    if N % comm.world_size == 0:
        exchanged(comm, "whole", DTYPES[0])
        exchanged(comm, "mx", DTYPES[1])
    if comm.world_size == 2:
        refused(comm)


def _on_a_950(rank: int, ranks: int) -> None:
    for count in (2, 4, 8):
        comms = Communicator.init_all(count)
        on_threads([[comm] for comm in comms], everything)
        for comm in comms:
            comm.close()


def test_products_of_8_bits_are_their_parts() -> None:
    run_ranks(1, _on_a_950, env={"ACLNN_PY_EMULATOR_SOC": NAME}, timeout_s=300.0)


def test_ranks_that_are_processes(process_counts: tuple[int, ...], tmp_path: Path) -> None:
    on_processes(everything, process_counts, tmp_path, {"ACLNN_PY_EMULATOR_SOC": NAME})
