# SPDX-License-Identifier: Apache-2.0
"""What phase one of the fused operators refuses: the code, the class and the argument named."""

from __future__ import annotations

import ctypes
from collections.abc import Callable, Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py import ops
from aclnn_py._ffi import C, ffi
from aclnn_py.distributed import Communicator
from aclnn_py.emulator import library_path
from aclnn_py.errors import AclnnError, InvalidArgumentError

F16, F32, BF16 = np.float16, np.float32, ml_dtypes.bfloat16
INT4 = ml_dtypes.int4
Arguments = dict[str, Any]
Change = Callable[[Arguments], None]


def new(*shape: int, dtype: Any = F16, format: str = "ND") -> ap.Tensor:
    return ap.empty(shape, dtype, format=format)


def sliced(m: int = 4, k: int = 256, n: int = 3, ranks: int = 2) -> Arguments:
    return {"x1": new(m, k), "x2": new(k, n), "bias": None, "output": new(m // ranks, n)}


def gathered(m: int = 4, k: int = 256, n: int = 3, ranks: int = 2) -> Arguments:
    rows = m * ranks
    return {
        **sliced(m, k, n), "output": new(rows, n), "gather_out": new(rows, k), "gather_index": 0,
    }  # fmt: skip


def summed(m: int = 2, k: int = 64, n: int = 3, dtype: Any = F16) -> Arguments:
    return {
        "x1": new(m, k, dtype=dtype),
        "x2": new(k, n, dtype=dtype),
        "bias": new(n, dtype=dtype),
        "x3": new(m, n, dtype=dtype),
        "output": new(m, n, dtype=dtype),
    }


def few_bits() -> Arguments:
    return {
        **summed(),
        "x2": new(64, 3, dtype=np.int8),
        "antiquant_scale": new(3),
        "antiquant_offset": new(3),
        "antiquant_group_size": 0,
    }


def integers() -> Arguments:
    return {
        **summed(),
        "x1": new(2, 64, dtype=np.int8),
        "x2": new(64, 3, dtype=np.int8),
        "bias": new(3, dtype=np.int32),
        "dequant_scale": new(3, dtype=np.uint64),
        "pertoken_scale": None,
        "comm_quant_scale1": None,
        "comm_quant_scale2": None,
    }


def grouped() -> Arguments:
    return {
        "x": [new(3, 4)],
        "weight": [new(4, 5), new(4, 5)],
        "bias": [new(5), new(5)],
        "group_list": [1, 3],
        "split_item": 3,
        "y": [new(3, 5)],
    }


def with_norm(base: Callable[[], Arguments]) -> Callable[[], Arguments]:
    def build() -> Arguments:
        arguments = {name: value for name, value in base().items() if name != "x3"}
        del arguments["output"]
        residual = {"residual": new(1, 2, 3), "residual_ref": new(1, 2, 3)}
        outputs = {"y": new(1, 2, 3), "norm_out": new(1, 2, 3)}
        return {**arguments, **residual, **outputs, "gamma": new(3), "epsilon": 1e-6}

    return build


BASES: dict[str, Callable[[], Arguments]] = {
    "all_gather_matmul": gathered,
    "matmul_reduce_scatter": sliced,
    "matmul_all_reduce": summed,
    "matmul_all_reduce_v2": summed,
    "weight_quant_matmul_all_reduce": few_bits,
    "quant_matmul_all_reduce": integers,
    "quant_matmul_all_reduce_v2": integers,
    "quant_matmul_all_reduce_v3": integers,
    "grouped_mat_mul_all_reduce": grouped,
    "matmul_all_reduce_add_rms_norm": with_norm(summed),
    "weight_quant_matmul_all_reduce_add_rms_norm": with_norm(few_bits),
    "quant_matmul_all_reduce_add_rms_norm": with_norm(integers),
    "inplace_matmul_all_reduce_add_rms_norm": with_norm(summed),
    "inplace_weight_quant_matmul_all_reduce_add_rms_norm": with_norm(few_bits),
    "inplace_quant_matmul_all_reduce_add_rms_norm": with_norm(integers),
}
SLICED = ["all_gather_matmul", "matmul_reduce_scatter"]
FLOATING = ["matmul_all_reduce", "matmul_all_reduce_v2", "matmul_all_reduce_add_rms_norm"]
WEIGHTS = [name for name in BASES if "weight_quant" in name]
INT8 = [name for name in BASES if "quant_" in name and "weight_quant" not in name]
NORMS = [name for name in BASES if "rms_norm" in name]
ALL_REDUCE = [name for name in BASES if name not in (*SLICED, "grouped_mat_mul_all_reduce")]
GROUPED = "grouped_mat_mul_all_reduce"


def plan(name: str, group: str | None, change: Arguments | Change = {}) -> ap.Plan:  # noqa: B006
    """Phase one with the arguments of the base, changed."""
    arguments = BASES[name]()
    arguments |= {"group": group, "reduce_op": "sum", "comm_turn": 0, "stream_mode": 1}
    if callable(change):
        change(arguments)
    else:
        arguments |= change
    op = getattr(ops, name)
    taken = {p.name for p in op.parameters}
    assert callable(change) or set(change) <= taken, f"{name} has no {set(change) - taken}"
    return ap.plan(op, **{key: value for key, value in arguments.items() if key in taken})


@pytest.fixture(scope="module")
def groups() -> Iterator[dict[int, str]]:
    """Names of communicators of device 0, by their number of ranks."""
    made = {count: Communicator.init_all(count) for count in (1, 2, 3)}
    yield {count: comms[0].name for count, comms in made.items()}
    for comms in made.values():
        for comm in comms:
            comm.close()


@pytest.fixture(autouse=True)
def _on_device_0(device: ap.Device) -> None:
    pass


def refused(name: str, group: str | None, change: Arguments | Change = {}) -> AclnnError:  # noqa: B006
    with pytest.raises(AclnnError) as caught:
        plan(name, group, change)
    error = caught.value
    c_name = getattr(ops, name).c_name
    assert c_name in str(error)
    assert isinstance(error, InvalidArgumentError) == (error.status in (161001, 161002))
    return error


@pytest.mark.parametrize("name", BASES)
def test_what_the_changes_start_from_is_accepted(name: str, groups: dict[int, str]) -> None:
    step = plan(name, groups[2])
    assert step.workspace_nbytes > 0
    step.close()


Case = tuple[list[str], Arguments, int, str]
TABLE: list[Case] = [
    # mandatory tensors
    (SLICED, {"x1": None}, 161001, "x1"),
    (SLICED, {"x2": None}, 161001, "x2"),
    (SLICED, {"output": None}, 161001, "output"),
    (ALL_REDUCE, {"x1": None}, 161001, "x1"),
    (ALL_REDUCE, {"x2": None}, 161001, "x2"),
    (WEIGHTS, {"antiquant_scale": None}, 161001, "antiquantScale"),
    (INT8, {"dequant_scale": None}, 161001, "dequantScale"),
    (NORMS, {"gamma": None}, 161001, "gamma"),
    (NORMS, {"norm_out": None}, 161001, "normOut"),
    ([GROUPED], {"x": None}, 161001, "x"),
    ([GROUPED], {"weight": None}, 161002, "weight"),
    ([GROUPED], {"y": None}, 161002, "y"),
    # attributes
    (list(BASES), {"stream_mode": 0}, 161002, "streamMode"),
    ([n for n in BASES if n != GROUPED], {"comm_turn": 1}, 561002, "commTurn"),
    ([GROUPED], {"comm_turn": 1}, 161002, "commTurn"),
    ([*ALL_REDUCE, GROUPED], {"reduce_op": "max"}, 161002, "reduceOp"),
    (["matmul_reduce_scatter"], {"reduce_op": "max"}, 561002, "reduceOp"),
    (["all_gather_matmul"], {"gather_index": 1}, 561002, "gatherIndex"),
    ([n for n in BASES if n != GROUPED], {"group": "nobody"}, 361001, "nobody"),
    ([GROUPED], {"group": "nobody"}, 161002, "nobody"),
    (NORMS, {"epsilon": 0.0}, 561002, "epsilon"),
    (NORMS, {"epsilon": 1.0}, 561002, "epsilon"),
]


@pytest.mark.parametrize(
    ("name", "change", "status", "argument"),
    [
        pytest.param(name, change, status, argument, id=f"{name}-{change}")
        for names, change, status, argument in TABLE
        for name in names
    ],
)
def test_decision_table(
    name: str, change: Arguments, status: int, argument: str, groups: dict[int, str]
) -> None:
    error = refused(name, groups[2], change)
    assert (error.status, argument in str(error)) == (status, True), error


def shape(argument: str, *dims: int, dtype: Any = F16, format: str = "ND") -> Change:
    def change(arguments: Arguments) -> None:
        arguments[argument] = new(*dims, dtype=dtype, format=format)

    change.__name__ = f"{argument}={dims} {np.dtype(dtype).name} {format}"
    return change


def both(*changes: Change) -> Change:
    def change(arguments: Arguments) -> None:
        for one in changes:
            one(arguments)

    change.__name__ = ", ".join(one.__name__ for one in changes)
    return change


def value(**given: Any) -> Change:
    def change(arguments: Arguments) -> None:
        arguments |= given

    change.__name__ = str(given)
    return change


def turned(argument: str) -> Change:
    def change(arguments: Arguments) -> None:
        rows, columns = arguments[argument].shape
        arguments[argument] = new(columns, rows).T

    change.__name__ = f"{argument} transposed"
    return change


def sliced_of(**sizes: int) -> Change:
    def change(arguments: Arguments) -> None:
        base = gathered if "gather_index" in arguments else sliced
        arguments |= base(**sizes)

    change.__name__ = str(sizes)
    return change


def numbered(argument: str, index: int, *dims: int, dtype: Any = F16) -> Change:
    def change(arguments: Arguments) -> None:
        arguments[argument][index] = new(*dims, dtype=dtype)

    change.__name__ = f"{argument}[{index}]={dims} {np.dtype(dtype).name}"
    return change


NZ = "FRACTAL_NZ"
BF16_OUTPUT = both(shape("output", 2, 3, dtype=BF16), value(x3=None))
SHAPES: list[tuple[list[str], Change, int]] = [
    # AGM-5 and MRS-4
    (SLICED, sliced_of(k=255), 161002),
    (SLICED, sliced_of(k=65535), 161002),
    (SLICED, shape("x2", 256, 3, dtype=BF16), 161002),
    (SLICED, shape("x1", 4, 256, dtype=F32), 161002),
    (SLICED, shape("bias", 3, dtype=BF16), 161002),
    (SLICED, shape("x1", 4, 0), 161002),
    (SLICED, turned("x1"), 161002),
    (SLICED, shape("x1", 1, 4, 256), 161002),
    (SLICED, shape("x2", 257, 3), 161002),
    (SLICED, shape("output", 2, 4), 161002),
    (SLICED, shape("output", 5, 3), 161002),
    (SLICED, shape("x2", 256, 3, format=NZ), 561002),
    (["all_gather_matmul"], shape("gather_out", 8, 255), 161002),
    (["all_gather_matmul"], shape("gather_out", 7, 256), 161002),
    (["matmul_reduce_scatter"], sliced_of(m=3), 561002),
    # the first line of checks comes before the second
    (SLICED, both(value(comm_turn=1), shape("x2", 256, 3, dtype=BF16)), 161002),
    (ALL_REDUCE, both(value(comm_turn=1), shape("x1", 2, 64, dtype=F32)), 161002),
    # MAR-7
    (FLOATING, shape("bias", 1, 3), 161002),
    (FLOATING, shape("bias", 4), 161002),
    (FLOATING, shape("bias", 3, dtype=F32), 161002),
    (["matmul_all_reduce_v2"], shape("x3", 3), 161002),
    (["matmul_all_reduce_v2"], shape("x3", 2, 3, dtype=BF16), 161002),
    (FLOATING, shape("x2", 64, 3, dtype=BF16), 161002),
    (FLOATING, shape("x2", 65, 3), 161002),
    (FLOATING, shape("x2", 1, 64, 3), 161002),
    (FLOATING, shape("x1", 64), 161002),
    (FLOATING, shape("x1", 1, 1, 2, 64), 161002),
    (FLOATING, shape("x2", 64, 3, format=NZ), 161002),
    (["matmul_all_reduce", "matmul_all_reduce_v2"], shape("output", 3, 3), 161002),
    (["matmul_all_reduce", "matmul_all_reduce_v2"], shape("output", 2, 4), 161002),
    (
        ["matmul_all_reduce"],
        both(shape("x1", 0, 64), shape("output", 0, 3)),
        561002,
    ),
    # WQ-4
    (WEIGHTS, value(antiquant_group_size=16), 161002),
    (WEIGHTS, value(antiquant_group_size=33), 161002),
    (WEIGHTS, value(antiquant_group_size=64), 161002),
    (WEIGHTS, value(antiquant_group_size=-32), 161002),
    (WEIGHTS, shape("antiquant_scale", 2, 3), 161002),
    (WEIGHTS, both(value(antiquant_group_size=32), shape("antiquant_scale", 1, 3)), 161002),
    (WEIGHTS, shape("antiquant_offset", 1, 3), 161002),
    (WEIGHTS, shape("antiquant_scale", 3, dtype=BF16), 161002),
    (WEIGHTS, shape("bias", 3, dtype=F32), 161002),
    (WEIGHTS, shape("x2", 64, 3, dtype=np.int32), 161002),
    (
        ["weight_quant_matmul_all_reduce"],
        both(shape("x1", 2, 65536), shape("x2", 65536, 3, dtype=np.int8)),
        561002,
    ),
    # QMAR-7
    (INT8, shape("x2", 64, 3, dtype=np.uint8), 161002),
    (INT8, shape("bias", 3, dtype=F32), 161002),
    (INT8, shape("dequant_scale", 3, dtype=BF16), 161002),
    (INT8, shape("dequant_scale", 3, dtype=F32), 561002),
    (INT8, shape("dequant_scale", 2, dtype=np.uint64), 161002),
    (INT8, shape("dequant_scale", 3, 1, dtype=np.uint64), 161002),
    (INT8, shape("x2", 63, 3, dtype=np.int8), 161002),
    (["quant_matmul_all_reduce_v2"], BF16_OUTPUT, 161002),
    (["quant_matmul_all_reduce_v2"], shape("pertoken_scale", 2, dtype=F32), 161002),
    (
        ["quant_matmul_all_reduce_v2"],
        both(shape("dequant_scale", 3, dtype=F32), shape("pertoken_scale", 2, 1, dtype=F32)),
        161002,
    ),
    (
        ["quant_matmul_all_reduce_v2"],
        both(shape("dequant_scale", 3, dtype=F32), shape("pertoken_scale", 2, dtype=F16)),
        161002,
    ),
    (["quant_matmul_all_reduce_v3"], shape("comm_quant_scale1", 3), 161002),
    (["quant_matmul_all_reduce_v3"], shape("comm_quant_scale2", 3), 161002),
    (
        ["quant_matmul_all_reduce_v3"],
        both(shape("comm_quant_scale1", 3), shape("comm_quant_scale2", 3, dtype=BF16)),
        161002,
    ),
    (
        ["quant_matmul_all_reduce_v3"],
        both(shape("comm_quant_scale1", 1), shape("comm_quant_scale2", 3)),
        161002,
    ),
    (
        ["quant_matmul_all_reduce"],
        both(shape("x1", 2, 0, dtype=np.int8), shape("x2", 0, 3, dtype=np.int8)),
        561002,
    ),
    # a blocked x2 is judged by the second line of checks
    (INT8, shape("x2", 63, 3, dtype=np.int8, format=NZ), 561002),
    (WEIGHTS, shape("x2", 63, 3, dtype=np.int8, format=NZ), 561002),
    # residual and norm
    (NORMS, shape("gamma", 4), 161002),
    (NORMS, shape("gamma", 3, dtype=BF16), 161002),
    (NORMS, shape("norm_out", 2, 3), 161002),
    ([n for n in NORMS if "inplace" not in n], shape("residual", 2, 3), 161002),
    ([n for n in NORMS if "inplace" not in n], shape("residual", 1, 3, 3), 161002),
    ([n for n in NORMS if "inplace" in n], shape("residual_ref", 1, 2, 4), 161002),
    # GMMAR-4
    ([GROUPED], value(split_item=4), 161002),
    ([GROUPED], value(split_item=0), 161002),
    ([GROUPED], value(split_item=2), 161002),
    ([GROUPED], value(group_list=None), 161002),
    ([GROUPED], value(group_list=[2, 1]), 161002),
    ([GROUPED], value(group_list=[-1, 3]), 161002),
    ([GROUPED], value(group_list=[1, 2]), 161002),
    ([GROUPED], value(group_list=[3]), 161002),
    ([GROUPED], lambda a: a["bias"].pop(), 161002),
    ([GROUPED], lambda a: a["weight"].pop(), 161002),
    ([GROUPED], numbered("weight", 1, 3, 5), 161002),
    ([GROUPED], numbered("weight", 1, 4, 6), 161002),
    ([GROUPED], numbered("weight", 0, 1, 4, 5), 161002),
    ([GROUPED], numbered("weight", 0, 4, 5, dtype=BF16), 161002),
    ([GROUPED], numbered("bias", 0, 4), 161002),
    ([GROUPED], numbered("bias", 0, 5, dtype=F32), 161002),
    ([GROUPED], numbered("y", 0, 4, 5), 161002),
    ([GROUPED], numbered("x", 0, 1, 3, 4), 161002),
]


@pytest.mark.parametrize(
    ("name", "change", "status"),
    [
        pytest.param(name, change, status, id=f"{name}-{change.__name__}")
        for names, change, status in SHAPES
        for name in names
    ],
)
def test_shapes_and_dtypes(name: str, change: Change, status: int, groups: dict[int, str]) -> None:
    error = refused(name, groups[2], change)
    assert error.status == status, error


def test_grouped_bias_of_bfloat16_must_be_float32(groups: dict[int, str]) -> None:
    def change(arguments: Arguments) -> None:
        for name in ("x", "weight", "y", "bias"):
            arguments[name] = [new(*t.shape, dtype=BF16) for t in arguments[name]]

    assert refused(GROUPED, groups[2], change).status == 161002

    def mended(arguments: Arguments) -> None:
        change(arguments)
        arguments["bias"] = [new(5, dtype=F32), new(5, dtype=F32)]

    plan(GROUPED, groups[2], mended).close()


def test_grouped_lists_hold_at_most_64_tensors(groups: dict[int, str]) -> None:
    def of(count: int) -> Arguments:
        return {
            "weight": [new(4, 5)] * count, "bias": None, "group_list": [3] * count,
        }  # fmt: skip

    plan(GROUPED, groups[2], of(64)).close()
    assert refused(GROUPED, groups[2], of(65)).status == 161002


@pytest.mark.parametrize(
    ("name", "status"),
    [(n, 561002) for n in (*SLICED, *ALL_REDUCE)] + [(GROUPED, 161002)],
)
def test_three_ranks_are_refused(name: str, status: int, groups: dict[int, str]) -> None:
    change = sliced_of(m=3, ranks=3) if name in SLICED else {}
    error = refused(name, groups[3], change)
    assert (error.status, "3 ranks" in str(error)) == (status, True), error


@pytest.mark.parametrize("name", BASES)
def test_one_rank(name: str, groups: dict[int, str]) -> None:
    if name in SLICED:
        assert refused(name, groups[1], sliced_of(ranks=1)).status == 561002
    else:
        plan(name, groups[1]).close()


@pytest.mark.parametrize("name", SLICED)
@pytest.mark.parametrize("sizes", [{"m": 0}, {"n": 0}], ids=str)
def test_sliced_operators_have_nothing_to_do(
    name: str, sizes: dict[str, int], groups: dict[int, str]
) -> None:
    if name == "all_gather_matmul" and "n" in sizes:
        return  # x1 is still gathered, which takes a workspace or gatherOut
    step = plan(name, groups[2], sliced_of(**sizes))
    assert step.workspace_nbytes == 0
    step.run()


def test_norms_of_nothing_succeed(groups: dict[int, str]) -> None:
    def change(arguments: Arguments) -> None:
        arguments["x1"] = new(0, 64)
        for name in ("residual", "y", "norm_out"):
            arguments[name] = new(0, 2, 3)

    step = plan("matmul_all_reduce_add_rms_norm", groups[2], change)
    assert step.workspace_nbytes == 0
    step.run()


def _on_chip(rank: int, ranks: int) -> dict[str, Any]:
    """Codes on the chip of this process; 0 where phase one accepts."""
    found: dict[str, Any] = {}
    made = {count: Communicator.init_all(count) for count in (1, 2, 4, 8, 16, 32)}

    def code(name: str, group: str, change: Arguments | Change) -> int:
        try:
            plan(name, group, change).close()
        except AclnnError as error:
            return error.status
        return 0

    with ap.Device(0):
        for name in ("matmul_reduce_scatter", "matmul_all_reduce", GROUPED):
            for count, comms in made.items():
                change = sliced_of(m=32, ranks=count) if name in SLICED else {}
                found[f"{name} {count}"] = code(name, comms[0].name, change)
        two = made[2][0].name
        found["bf16"] = code("matmul_all_reduce", two, lambda a: a.update(summed(dtype=BF16)))
        found["x3"] = code("matmul_all_reduce_v2", two, {})
        found["no x3"] = code("matmul_all_reduce_v2", two, {"x3": None})
        found["NZ"] = code("matmul_all_reduce", two, shape("x2", 64, 3, format=NZ))
        per_token = {"dequant_scale": new(3, dtype=F32), "pertoken_scale": new(2, dtype=F32)}
        found["per token"] = code("quant_matmul_all_reduce_v2", two, per_token)
        found["packed"] = code("quant_matmul_all_reduce_v2", two, {})
    for comms in made.values():
        for comm in comms:
            comm.close()
    return found


ON_CHIP = {
    "Ascend910B1": ([2, 4, 8], [1, 2, 4, 8], set()),
    "Ascend910_9391": ([2, 4, 8, 16, 32], [], set()),
    "Ascend310P3": ([], [1, 2, 4], {"bf16", "x3", "per token"}),
    "Ascend950": ([2, 4, 8, 16, 32], [1, 2, 4, 8, 16, 32], set()),
}


@pytest.mark.emulator_only(reason="the emulator can be any chip")
@pytest.mark.parametrize("soc", ON_CHIP)
def test_limits_of_a_chip(soc: str) -> None:
    env = {"ACLNN_PY_EMULATOR_SOC": soc, "ACLNN_PY_EMULATOR_DEVICES": "32"}
    (found,) = run_ranks(1, _on_chip, env=env)
    spread, summing, refused_here = ON_CHIP[soc]
    for name, allowed, other in (
        ("matmul_reduce_scatter", spread, 561002),
        ("matmul_all_reduce", summing, 561002),
        (GROUPED, summing, 161002),
    ):
        codes = {count: found[f"{name} {count}"] for count in (1, 2, 4, 8, 16, 32)}
        assert codes == {count: 0 if count in allowed else other for count in codes}, name
    absent = 0 if summing else 561002
    for what in ("bf16", "x3", "no x3", "per token", "packed"):
        assert found[what] == (161002 if what in refused_here else absent), what
    assert found["NZ"] == (0 if soc == "Ascend310P3" else 161002)


@pytest.mark.parametrize("name", ["matmul_reduce_scatter", "matmul_all_reduce"])
@pytest.mark.parametrize("argument", ["group", "reduce_op"])
def test_python_wants_texts(name: str, argument: str, groups: dict[int, str]) -> None:
    with pytest.raises(TypeError, match=argument):
        plan(name, groups[2], {argument: None})


@pytest.mark.emulator_only(reason="ctypes finds the operators in one known library")
@pytest.mark.parametrize(
    ("name", "group", "reduction", "status"),
    [
        ("matmul_reduce_scatter", False, True, 561002),
        ("matmul_reduce_scatter", True, False, 561002),
        ("matmul_all_reduce", False, True, 561002),
        ("matmul_all_reduce", True, False, 161001),
    ],
)
def test_null_texts_in_c(
    name: str, group: bool, reduction: bool, status: int, groups: dict[int, str]
) -> None:
    arguments = BASES[name]()
    made = []
    for key in ("x1", "x2", "output"):
        t = arguments[key]
        dims, where = ffi.new("int64_t[]", t.shape), ffi.cast("void *", t.address)
        made.append(C.aclCreateTensor(dims, 2, 1, ffi.NULL, 0, 2, dims, 2, where))
    pointers = [int(ffi.cast("uintptr_t", handle)) for handle in made]
    library = ctypes.CDLL(str(library_path()))
    phase_one = getattr(library, getattr(ops, name).c_name + "GetWorkspaceSize")
    text, whole, address = ctypes.c_char_p, ctypes.c_int64, ctypes.c_void_p
    phase_one.argtypes = [*[address] * 3, text, text, whole, whole, *[address] * 3]
    size, executor = ctypes.c_uint64(), ctypes.c_void_p()
    found = phase_one(
        pointers[0],
        pointers[1],
        None,
        groups[2].encode() if group else None,
        b"sum" if reduction else None,
        0,
        1,
        pointers[2],
        ctypes.addressof(size),
        ctypes.addressof(executor),
    )
    for handle in made:
        C.aclDestroyTensor(handle)
    assert (found, executor.value) == (status, None)


@pytest.mark.emulator_only(reason="ctypes finds the operators in one known library")
@pytest.mark.parametrize(
    ("name", "status"),
    [("matmul_reduce_scatter", 0), ("matmul_all_reduce", 561000), (GROUPED, 561000)],
)
def test_phase_two_without_a_workspace(name: str, status: int, groups: dict[int, str]) -> None:
    """Sliced operators skip all their work; the wrappers of the others say only that it failed."""
    library = ctypes.CDLL(str(library_path()))
    phase_two = getattr(library, getattr(ops, name).c_name)
    phase_two.argtypes = [ctypes.c_void_p, ctypes.c_uint64, ctypes.c_void_p, ctypes.c_void_p]
    step = plan(name, groups[2])
    stream = ap.Device(0).default_stream
    stream.activate()
    executor = int(ffi.cast("uintptr_t", step.raw.executor))
    assert phase_two(None, 0, executor, int(ffi.cast("uintptr_t", stream.raw))) == status
    step.close()  # the executor is gone already, which closing has to stand
