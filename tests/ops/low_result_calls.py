# SPDX-License-Identifier: Apache-2.0
"""Casts and sums of ranks with floats of 8 and 4 bits, made in the process with the newer chip."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any

import numpy as np

import aclnn_py as ap
from aclnn_py.distributed import Communicator

Array = np.ndarray[Any, Any]


def cast_there_and_back(kind: str, shape: tuple[int, int]) -> tuple[Array, Array]:
    """The bytes of the blocks of random codes, and what a cast makes of them again."""
    from aclnn_py.tensor.dtypes import dtype_of

    codes = np.random.default_rng(8).integers(0, 16, shape).astype(np.uint8)
    plain = ap.from_numpy(codes.view(dtype_of(kind).numpy), dtype=kind)
    blocks = ap.empty(shape, kind, format="FRACTAL_NZ")
    back = ap.from_numpy((codes ^ 1).view(dtype_of(kind).numpy), dtype=kind)
    ap.ops.npu_format_cast(plain, blocks)
    ap.ops.npu_format_cast(blocks, back)
    ap.synchronize()
    raw = np.zeros(blocks.nbytes, np.uint8)
    blocks.buffer.read(raw)
    return raw, back.numpy()


def on_threads(ranks: int, work: Callable[[Communicator], Any]) -> list[Any]:
    """What each rank returns."""
    comms, found, errors = Communicator.init_all(ranks), [None] * ranks, []

    def run(comm: Communicator) -> None:
        try:
            with comm.device:
                found[comm.rank] = work(comm)
        except Exception as error:  # the test is told
            errors.append(error)

    threads = [threading.Thread(target=run, args=(comm,)) for comm in comms]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    for comm in comms:
        comm.close()
    if errors:
        raise errors[0]
    return found


def reduced(kind: str, scale: str, codes: list[Array], scales: list[Array]) -> tuple[Any, Any]:
    """The sums that each rank gets whole, and its share of them."""

    def work(comm: Communicator) -> tuple[Array, Array]:
        x = ap.from_numpy(codes[comm.rank], dtype=kind)
        factors = ap.from_numpy(scales[comm.rank], dtype=scale)
        rows, width = codes[0].shape
        whole = ap.from_numpy(np.full((rows, width), 77, np.float32))
        part = ap.from_numpy(np.full((rows // comm.world_size, width), 77, np.float32))
        ap.ops.quant_all_reduce(x, factors, comm.name, "sum", whole)
        ap.ops.quant_reduce_scatter(x, factors, comm.name, "sum", part)
        ap.synchronize()
        return whole.numpy(), part.numpy()

    made = on_threads(len(codes), work)
    return [one[0] for one in made], [one[1] for one in made]


def meet(kind: str) -> bool:
    """Whether two ranks pass a barrier."""

    def work(comm: Communicator) -> bool:
        x = ap.empty((2, 4), kind)
        ap.ops.distribute_barrier(x, comm.name, 2)
        ap.synchronize()
        return True

    return on_threads(2, work) == [True, True]


def exchanged(
    first: bool, kinds: tuple[str, str], arrays: dict[str, Any], modes: tuple[int, int], **more: Any
) -> list[Any]:
    """The results of the quantised products of each rank; ``arrays`` has lists by rank.

    ``first``: the rows are exchanged in front of the product, else its columns behind it.
    """
    ranks = len(arrays["x1"])
    scale = "float8_e8m0fnu" if modes[0] == 6 else "float32"

    def work(comm: Communicator) -> tuple[Array, ...]:
        def tensor(name: str, dtype: str | None = None) -> Any:
            given = arrays.get(name)
            return None if given is None else ap.from_numpy(given[comm.rank], dtype=dtype)

        (rows, width), turned = arrays["x1"][0].shape, modes[0] == 6
        columns = arrays["x2"][0].shape[0 if turned else 1]
        shape = (rows // ranks, columns) if first else (rows * ranks, columns // ranks)
        out = ap.from_numpy(np.full(shape, 77, np.float32))
        x1, x2 = tensor("x1", kinds[0]), tensor("x2", kinds[1])
        shared = [x1, x2, tensor("bias"), tensor("x1_scale", scale), tensor("x2_scale", scale)]
        shared += [None, None, None]
        if not first:
            ap.ops.quant_matmul_allto_all(
                *(*shared, None, comm.name, *modes, 0, -1, 0, False, turned, out)
            )
            ap.synchronize()
            return (out.numpy(),)
        whole = ap.empty((rows // ranks, width * ranks), kinds[0])
        ap.ops.allto_all_quant_matmul(
            *(*shared, comm.name, None, *modes, 0, -1, more.get("made", -1), 0, False, turned),
            *(out, whole),
        )
        ap.synchronize()
        return out.numpy(), whole.numpy()

    return on_threads(ranks, work)


def exchanged_dynamic(kinds: tuple[str, str], arrays: dict[str, Any], made: int) -> list[Any]:
    """The same with rows that are quantised to the dtype of this number behind their exchange."""
    return exchanged(True, kinds, arrays, (7, 2), made=made)


def sliced(kind: str, arrays: dict[str, Any]) -> list[Any]:
    """AllGatherMatmulV2 and MatmulReduceScatterV2 with powers of two; x2 is a transposed view."""
    ranks, (rows, width) = len(arrays["x1"]), arrays["x1"][0].shape
    columns = len(arrays["x2"][0])

    def work(comm: Communicator) -> tuple[Array, ...]:
        given = {name: ap.from_numpy(arrays[name][comm.rank], dtype=kind) for name in ("x1", "x2")}
        scales = [
            ap.from_numpy(arrays[name][comm.rank], dtype="float8_e8m0fnu")
            for name in ("x1_scale", "x2_scale")
        ]
        bias = ap.from_numpy(arrays["bias"][comm.rank])
        shared = [given["x1"], given["x2"].swapaxes(0, 1), bias, *scales, None, 0, comm.name]
        whole = ap.from_numpy(np.full((rows * ranks, columns), 77, np.float32))
        part = ap.from_numpy(np.full((rows // ranks, columns), 77, np.float32))
        everyone = ap.empty((rows * ranks, width), kind)
        ap.ops.all_gather_matmul_v2(*shared, 0, 0, 1, 0, "", whole, everyone, None)
        ap.ops.matmul_reduce_scatter_v2(*shared, "sum", 0, 1, 0, "", part, None)
        ap.synchronize()
        return whole.numpy(), everyone.numpy(), part.numpy()

    return on_threads(ranks, work)
