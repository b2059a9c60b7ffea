# SPDX-License-Identifier: Apache-2.0
"""Dumps of operators: the files that a configuration asks for, and what reads them."""

from __future__ import annotations

import contextlib
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import ml_dtypes
import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py._ffi import C, ffi
from aclnn_py.tools import read_dump
from aclnn_py.tools.cli import main
from aclnn_py.tools.dumps.file import Dump, DumpError, dump_files

NAME = re.compile(r"(\w+)\.(\w+)\.(\d+)\.(\d+)\.(\d{16})")
OK, INVALID_CONFIG, UNSUPPORTED = 0, 100009, 200006
ALREADY_RUN, NOT_RUN = 100044, 100045
DATA_DUMP = 4

pytestmark = pytest.mark.emulator_only(reason="the dumps of the emulator")


def set_dump(folder: Path, **settings: Any) -> int:
    """Return the status of aclmdlSetDump with these settings."""
    config = folder / "acl.json"
    config.write_text(json.dumps({"dump": settings}))
    return int(C.aclmdlSetDump(str(config).encode()))


@contextlib.contextmanager
def initialized() -> Iterator[None]:
    assert C.aclmdlInitDump() == OK
    try:
        yield
    finally:
        assert C.aclmdlFinalizeDump() == OK


@contextlib.contextmanager
def dumping(tmp_path: Path, **settings: Any) -> Iterator[Path]:
    """Dump what runs inside, and wait for it."""
    folder = tmp_path / "dumps"
    folder.mkdir(exist_ok=True)
    with initialized():
        asked = {"dump_path": str(folder), "dump_list": [{}], "dump_op_switch": "on", **settings}
        assert set_dump(tmp_path, **asked) == OK
        yield folder
        ap.synchronize()


def dumps(folder: Path) -> list[Dump]:
    return [read_dump(file) for file in dump_files(folder)]


def test_outputs_are_written_where_the_documents_say(device: ap.Device, tmp_path: Path) -> None:
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    with dumping(tmp_path) as folder:
        ap.functional.add(x, x)
    (file,) = dump_files(folder)
    time, index = file.parent.parent.name, file.parent.name
    assert re.fullmatch(r"\d{14}", time) and index == str(device.index)
    assert file.parent.parent.parent == folder
    found = NAME.fullmatch(file.name)
    assert found and found.group(1, 2) == ("Add", "aclnnAdd")
    dump = read_dump(file)
    assert dump.operator == "aclnnAdd" and str(dump.at_us) == found[5]
    (out,) = dump.tensors
    assert (out.kind, out.index, out.format) == ("output", 0, int(ap.Format.ND))
    assert out.shape == out.stored_shape == (2, 3)
    np.testing.assert_array_equal(out.numpy(), 2 * np.arange(6, dtype=np.float32).reshape(2, 3))


def test_inputs_are_as_they_were_before(device: ap.Device, tmp_path: Path) -> None:
    before = np.arange(8, dtype=np.int32)
    x, y = ap.from_numpy(before), ap.from_numpy(before[::-1].copy())
    with dumping(tmp_path, dump_mode="all") as folder:
        ap.ops.inplace_mul(x, y)
    given, made = dumps(folder)
    assert [t.kind for t in given.tensors] == ["input", "input"]
    np.testing.assert_array_equal(given.tensors[0].numpy(), before)
    np.testing.assert_array_equal(given.tensors[1].numpy(), before[::-1])
    assert [t.kind for t in made.tensors] == ["output"]
    np.testing.assert_array_equal(made.tensors[0].numpy(), before * before[::-1])
    with dumping(tmp_path, dump_mode="input") as folder:
        ap.ops.inplace_mul(x, y)
    assert [t.kind for d in dumps(folder)[2:] for t in d.tensors] == ["input", "input"]


@pytest.mark.parametrize(
    "dtype",
    [np.float16, ml_dtypes.bfloat16, np.int64, np.uint8, np.bool_, np.complex64, np.float64],
)
def test_every_width_comes_back(device: ap.Device, tmp_path: Path, dtype: Any) -> None:
    values = np.arange(24).reshape(4, 6).astype(dtype)
    x = ap.from_numpy(values)
    view = x.transpose(1, 0)[::2]
    with dumping(tmp_path, dump_mode="all") as folder:
        out = ap.empty(view.shape, x.dtype)
        ap.ops.inplace_copy(out, view)
    tensors = {t.index: t for d in dumps(folder) for t in d.tensors if t.kind == "input"}
    found = [t for t in tensors.values() if t.shape == view.shape]
    assert found
    assert all(t.dtype is not None and t.dtype.numpy == np.dtype(dtype) for t in found)
    assert any(np.array_equal(t.numpy(), values.T[::2]) for t in found)


def test_blocks_are_dumped_as_they_are_stored(device: ap.Device, tmp_path: Path) -> None:
    matrix = np.arange(20 * 18).reshape(20, 18).astype(np.float16)
    x = ap.from_numpy(matrix)
    with dumping(tmp_path) as folder:
        packed = ap.functional.npu_format_cast(x, "FRACTAL_NZ")
    (dump,) = dumps(folder)
    (out,) = dump.tensors
    assert (out.format, out.shape) == (int(ap.Format.FRACTAL_NZ), (20, 18))
    assert out.stored_shape == (2, 2, 16, 16)
    blocks = np.zeros((32, 32), np.float16)
    blocks[:20, :18] = matrix
    expected = blocks.reshape(2, 16, 2, 16).transpose(2, 0, 1, 3)
    np.testing.assert_array_equal(out.numpy(), expected)
    packed.close()


def test_each_replay_of_a_graph_is_dumped(device: ap.Device, tmp_path: Path) -> None:
    x, out = ap.from_numpy(np.ones(4, np.float32)), ap.empty((4,), np.float32)
    graph = ap.Graph()
    with graph.capture():
        ap.ops.exp(x, out)
    with dumping(tmp_path) as folder:
        graph.replay()
        graph.replay()
    assert [d.operator for d in dumps(folder)] == ["aclnnExp"] * 2
    graph.close()


def test_nothing_is_dumped_without_the_switch_or_after_the_end(
    device: ap.Device, tmp_path: Path
) -> None:
    x = ap.from_numpy(np.ones(4, np.float32))
    with dumping(tmp_path, dump_op_switch="off") as folder:
        ap.functional.exp(x)
    ap.functional.exp(x)
    ap.synchronize()
    assert dump_files(folder) == []


def test_a_program_dumps_tensors_by_itself(device: ap.Device, tmp_path: Path) -> None:
    x, y = (ap.from_numpy(np.full(3, value, np.float32)) for value in (1, 2))
    stream = ap.Stream()
    with dumping(tmp_path, dump_op_switch="off", dump_mode="all") as folder:
        tensors = [native(tensor) for tensor in (x, y)]
        array = ffi.new("aclTensor *[]", tensors)
        assert C.aclDumpOpTensors(b"My.Type", b"layer/1 x", array, 1, 1, stream.raw) == OK
        assert C.aclDumpOpTensors(b"L" * 300, b"x", array, 1, 0, stream.raw) == OK
        stream.synchronize()
    for tensor in tensors:
        assert C.aclDestroyTensor(tensor) == OK
    files = dump_files(folder)
    assert [f.name.split(".")[:2] for f in files[:2]] == [["My_Type", "layer_1_x"]] * 2
    given, made, renamed = (read_dump(file) for file in files)
    np.testing.assert_array_equal(given.tensors[0].numpy(), x.numpy())
    np.testing.assert_array_equal(made.tensors[0].numpy(), y.numpy())
    assert given.operator == "layer/1 x" and renamed.path.name.isdigit()
    mapping = (renamed.path.parent / "mapping.csv").read_text()
    assert mapping.startswith(f"{renamed.path.name},{'L' * 300}.x.")


def native(tensor: ap.Tensor) -> Any:
    """Make an aclTensor of a contiguous tensor."""
    shape = ffi.new("int64_t[]", list(tensor.shape))
    strides = ffi.new("int64_t[]", [1])
    rank = len(tensor.shape)
    return C.aclCreateTensor(
        shape, rank, 0, strides, 0, 2, shape, rank, ffi.cast("void *", tensor.address)
    )


def test_a_function_of_the_program_gets_the_pieces(device: ap.Device, tmp_path: Path) -> None:
    x = ap.from_numpy(np.arange(700_000, dtype=np.float32))
    pieces: list[tuple[str, int, bytes]] = []

    @ffi.callback("int32_t(*)(const acldumpChunk *, int32_t)")
    def listen(chunk: Any, length: int) -> int:
        head = ffi.offsetof("acldumpChunk", "dataBuf")
        assert (chunk.offset, chunk.flag, length) == (-1, 0, head + chunk.bufLen)
        data = bytes(ffi.buffer(ffi.addressof(chunk, "dataBuf"), chunk.bufLen))
        pieces.append((ffi.string(chunk.fileName).decode(), chunk.isLastChunk, data))
        return 0

    with initialized():
        assert C.acldumpRegCallback(listen, 0) == OK
        assert C.acldumpRegCallback(listen, 0) != OK
        try:
            ap.functional.neg(x)
            ap.synchronize()
        finally:
            C.acldumpUnregCallback()
        ap.functional.neg(x)
        ap.synchronize()
    assert [last for _, last, _ in pieces] == [0, 0, 1]
    (name,) = {name for name, _, _ in pieces}
    assert NAME.fullmatch(name.rpartition("/")[2])
    joined = tmp_path / "joined"
    joined.write_bytes(b"".join(data for _, _, data in pieces))
    (out,) = read_dump(joined).tensors
    np.testing.assert_array_equal(out.numpy(), -np.arange(700_000, dtype=np.float32))


def test_a_dump_that_cannot_be_written_is_said_once(
    device: ap.Device, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    x = ap.from_numpy(np.ones(4, np.float32))
    folder = tmp_path / "gone"
    folder.mkdir()
    with initialized(), ap.Stream() as stream:
        assert set_dump(tmp_path, dump_path=str(folder), dump_list=[], dump_op_switch="on") == OK
        folder.rmdir()
        for _ in range(3):
            out = ap.empty((4,), np.float32)
            ap.ops.exp(x, out, stream=stream)
            stream.synchronize()
            np.testing.assert_allclose(out.numpy(), np.e, rtol=1e-6)
    said = capfd.readouterr().err
    assert said.count("the dumps are incomplete, aclnnExp is missing: the folder") == 1


def test_configurations_are_judged(device: ap.Device, tmp_path: Path) -> None:
    good: dict[str, Any] = {"dump_path": str(tmp_path), "dump_list": [{}], "dump_op_switch": "on"}
    assert set_dump(tmp_path, **good) == NOT_RUN
    assert C.aclmdlFinalizeDump() == NOT_RUN
    with initialized():
        assert C.aclmdlInitDump() == ALREADY_RUN
        assert C.acldumpGetPath(DATA_DUMP) == ffi.NULL
        assert set_dump(tmp_path, **good) == OK
        assert ffi.string(C.acldumpGetPath(DATA_DUMP)).decode() == str(tmp_path)
        for change in (
            {"dump_path": ""},
            {"dump_path": str(tmp_path / "missing")},
            {"dump_mode": "both"},
            {"dump_op_switch": "yes"},
            {"dump_level": "layer"},
            {"dump_data": "bytes"},
        ):
            assert set_dump(tmp_path, **{**good, **change}) == INVALID_CONFIG, change
        for change in ({"dump_data": "stats"}, {"dump_debug": "on"}, {"dump_scene": "watcher"}):
            assert set_dump(tmp_path, **{**good, **change}) == UNSUPPORTED, change


def test_the_command_prints_tensors_and_writes_arrays(
    device: ap.Device, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    x = ap.from_numpy(np.arange(6, dtype=np.float16))
    with dumping(tmp_path, dump_mode="all") as folder:
        ap.functional.neg(x)
    arrays = tmp_path / "arrays"
    assert main(["dump", str(folder), "--npy", str(arrays)]) == 0
    printed = capsys.readouterr().out
    assert "aclnnNeg" in printed
    assert "input 0: (6,) float16, [0.0 1.0 2.0 3.0 ...]" in printed
    written = {file.name.split(".", 5)[5]: np.load(file) for file in arrays.iterdir()}
    np.testing.assert_array_equal(written["input.0.npy"], np.arange(6, dtype=np.float16))
    np.testing.assert_array_equal(written["output.0.npy"], -np.arange(6, dtype=np.float16))
    assert main(["dump", str(tmp_path / "no_such_file")]) == 1
    (tmp_path / "empty").mkdir()
    assert main(["dump", str(tmp_path / "empty")]) == 1


def test_damaged_files_are_refused(device: ap.Device, tmp_path: Path) -> None:
    x = ap.from_numpy(np.arange(6, dtype=np.int32).reshape(2, 3))
    with dumping(tmp_path) as folder:
        ap.functional.neg(x)
    whole = dump_files(folder)[0].read_bytes()
    damaged = tmp_path / "damaged"
    for size in range(len(whole)):
        damaged.write_bytes(whole[:size])
        with pytest.raises(DumpError):
            read_dump(damaged)
    rng = np.random.default_rng(3)
    for _ in range(2000):
        changed = bytearray(whole)
        changed[rng.integers(len(whole))] = rng.integers(256)
        damaged.write_bytes(changed)
        with contextlib.suppress(DumpError):
            for tensor in read_dump(damaged).tensors:
                assert tensor.numpy().nbytes <= 8 * len(whole)
