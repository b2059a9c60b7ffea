# SPDX-License-Identifier: Apache-2.0
"""Records: what they keep, that replays compare it, and that no file does harm."""

from __future__ import annotations

import json
import os
import pickle
import weakref
import zipfile

import ml_dtypes
import numpy as np
import pytest
from helpers.processes import run_script
from helpers.ranks import run_ranks

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.distributed import Communicator, all_reduce
from aclnn_py.operators.launch.observers import observers
from aclnn_py.operators.record.file import RecordError, RecordReader
from aclnn_py.tools.cli import main


def tampered(path, change):
    """Rewrite the index of a record."""
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(parts["index.json"])
    change(index, parts)
    parts["index.json"] = json.dumps(index).encode()
    with zipfile.ZipFile(path, "w") as archive:
        for name, data in parts.items():
            archive.writestr(name, data)


@pytest.mark.parametrize("dtype", [np.float32, np.float16, ml_dtypes.bfloat16, np.int32, np.int8])
def test_a_block_replays_as_recorded(device, tmp_path, dtype):
    x = ap.from_numpy(np.arange(12).reshape(3, 4).astype(dtype))
    out = ap.zeros((4, 3), dtype)
    before = observers()
    with ap.tools.record(tmp_path / "block") as kept:
        ops.add(x.T, x.T, 2, out)
        ops.mul(out, out, out)
    assert observers() == before and (kept.calls, kept.left_out) == (2, 0)
    result = out.numpy()
    first, second = ap.tools.replay(tmp_path / "block")
    assert first.agrees and second.agrees and second.operator == "aclnnMul"
    np.testing.assert_array_equal(out.numpy(), result)  # a replay touches nothing of the program
    assert "test_record.py" in first.line


def test_every_kind_of_argument_survives(device, tmp_path):
    x = ap.from_numpy(np.arange(24, dtype=np.float32).reshape(2, 3, 4))
    path = tmp_path / "block"
    with ap.tools.record(path) as kept:
        ops.reduce_sum(x, [0, 2], False, "float32", ap.empty(3, np.float32))
        ops.cat([x, x], 0, ap.empty((4, 3, 4), np.float32))
        ops.add(x, x, ap.Scalar(1.5, "float16"), ap.empty((2, 3, 4), np.float32))
        ops.add(x[0], x[1], -0.0, ap.empty((3, 4), np.float32))
        ops.layer_norm(x, [4], None, None, 1e-5, ap.empty((2, 3, 4), np.float32), None, None)
        ops.softmax(ap.empty((0, 3), np.float32), 1, ap.empty((0, 3), np.float32))
    assert kept.calls == 6
    assert [item.agrees for item in ap.tools.replay(path)] == [True] * 6
    scalar = RecordReader(path).calls[2].arguments[2]
    assert scalar == ["float16", np.float16(1.5).tobytes().hex()]


def test_plans_sequences_and_refusals_are_calls(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    path = tmp_path / "block"
    with ap.tools.record(path):
        plan = ap.plan(ops.add, x, x, 1.0, x, repeatable=True)
        plan.run()
        plan.run()
        plan.close()
        with pytest.raises(errors.AclnnError):
            ops.add(x, None, 1.0, x)
        with pytest.raises(errors.AclnnError):
            ap.plan(ops.add, x, None, 1.0, x)
    found = ap.tools.replay(path)
    assert [item.status for item in found] == [0, 0, 161001, 161001]
    assert all(item.agrees for item in found)
    assert found[2].stage == "phase one" and "other" in found[2].message


@pytest.mark.emulator_only(reason="an NPU may need a reset after a fault")
def test_a_fault_of_the_device_is_kept_and_comes_again(device, tmp_path):
    x, bad = ap.from_numpy(np.ones((4, 3), np.float32)), ap.from_numpy(np.array([7]))
    out = ap.empty((1, 3), np.float32)
    with ap.tools.record(tmp_path / "block") as kept, pytest.raises(errors.DeviceError):
        ops.index_select(x, 0, bad, out)
    assert kept.calls == 1
    (item,) = ap.tools.replay(tmp_path / "block")
    assert (item.expected, item.status, item.stage) == (507015, 507015, "device")


def test_the_first_argument_that_differs_is_named(device, tmp_path, capsys):
    x = ap.from_numpy(np.arange(6, dtype=np.float32).reshape(2, 3))
    out = ap.empty((2, 3), np.float32)
    path = tmp_path / "block"
    with ap.tools.record(path):
        ops.add(x, x, 1.0, out)
        ops.mul(x, x, out)

    def other_result(index, parts):
        wrong = 2 * np.arange(6, dtype=np.float32)
        wrong[4] += 0.5
        parts[f"data/{0:064}.bin"] = wrong.tobytes()
        place = index["calls"][0]["views"][index["calls"][0]["arguments"][3]]["memory"]
        index["calls"][0]["memories"][place]["after"] = f"data/{0:064}.bin"

    tampered(path, other_result)
    first, second = ap.tools.replay(path)
    assert not first.agrees and second.agrees
    assert first.parted == "out" and first.difference.beyond == 1
    assert first.difference.at == (1, 1) and first.difference.max_error == 0.5
    assert (first.difference.first, first.difference.second) == ("8.5", "8.0")
    assert main(["replay", str(path)]) == 1
    text = capsys.readouterr().out
    assert "1 of 2 calls as recorded" in text and "first to part: call 0: aclnnAdd" in text
    assert main(["replay", "--call", "1", str(path)]) == 0
    assert main(["replay", "--json", str(path)]) == 1
    rows = json.loads(capsys.readouterr().out.splitlines()[-1])["calls"]
    assert [row["agrees"] for row in rows] == [False, True]


def test_another_status_is_a_difference(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    path = tmp_path / "block"
    with ap.tools.record(path), pytest.raises(errors.AclnnError):
        ops.add(x, None, 1.0, x)
    tampered(path, lambda index, parts: index["calls"][0].update(status=561103))
    (item,) = ap.tools.replay(path)
    assert not item.agrees and (item.expected, item.status) == (561103, 161001)
    assert "status 161001, recorded 561103" in str(item)


def test_an_exception_saves_its_call(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(errors.AclnnError) as caught:
        ops.add(x, ap.empty((4, 5), np.float32), 1.0, x)
    error = caught.value
    error.save(tmp_path / "call")
    (item,) = ap.tools.replay(tmp_path / "call")
    assert item.agrees and item.status == error.status
    again = pickle.loads(pickle.dumps(error))
    assert str(again) == str(error)
    with pytest.raises(ValueError, match="no operator call to save"):
        again.save(tmp_path / "other")
    x.close()
    with pytest.raises(errors.ClosedError, match="gone"):
        error.save(tmp_path / "late")


def test_a_stored_exception_does_not_keep_device_memory(device):
    stored, seen = [], []

    def fails():
        big = ap.empty((1 << 12,), np.float32)
        seen.append(weakref.ref(big))
        try:
            ops.add(big, None, 1.0, big)
        except errors.AclnnError as error:
            error.__context__ = None  # its traceback has the frames of the call as well
            stored.append(error.with_traceback(None))

    fails()
    assert stored and seen[0]() is None


def test_damaged_and_foreign_files_are_refused(device, tmp_path, capsys):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    good = tmp_path / "good"
    with ap.tools.record(good):
        ops.add(x, x, 1.0, x)
    text = tmp_path / "text"
    text.write_text("hello")
    with pytest.raises(RecordError, match="not a record"):
        ap.tools.replay(text)
    assert main(["replay", str(text)]) == 2
    assert "not a record" in capsys.readouterr().err

    def refused(name, change, words):
        path = tmp_path / name
        path.write_bytes(good.read_bytes())
        tampered(path, change)
        with pytest.raises(RecordError, match=words):
            ap.tools.replay(path)

    refused("later", lambda i, p: i.update(version=2), "version 2; this package reads version 1")
    refused("other", lambda i, p: i.update(kind="zip"), "another kind")
    refused("far", lambda i, p: i["calls"][0]["views"][0].update(offset=9), "outside its memory")
    refused("low", lambda i, p: i["calls"][0]["views"][0].update(strides=[-3, 1]), "integer in 0")
    refused("short", lambda i, p: p.update({n: b"" for n in p if "data" in n}), "does not hold")
    refused("op", lambda i, p: i["calls"][0].update(operator="aclnnNothing"), "no operator of CANN")
    refused("row", lambda i, p: i["calls"][0].pop("views"), "damaged")
    refused("few", lambda i, p: i["calls"][0]["arguments"].pop(), "parameters")


def test_minimizing_keeps_the_failure_and_little_else(device, tmp_path, capsys):
    x = ap.from_numpy(np.ones((64, 48), np.float32))
    path, small = tmp_path / "call", tmp_path / "small"
    with pytest.raises(errors.AclnnError) as caught:
        ops.matmul(x, x, ap.empty((64, 48), np.float32), 0)
    caught.value.save(path)
    assert main(["replay", "--minimize", str(small), str(path)]) == 0
    assert "bytes of tensors became" in capsys.readouterr().err
    (item,) = ap.tools.replay(small)
    assert item.agrees and item.status == caught.value.status
    (call,) = RecordReader(small).calls
    assert max(dim for view in call.views for dim in view.shape) <= 2
    assert sum(memory.nbytes for memory in call.memories) < 64
    with ap.tools.record(path):
        ops.add(x, x, 1.0, x)
    assert main(["replay", "--minimize", str(small), str(path)]) == 2
    assert "only a failure that comes again" in capsys.readouterr().err


def test_only_what_the_tensors_cover_is_kept(device, tmp_path):
    arena = ap.from_numpy(np.arange(100_000, dtype=np.float32))
    x, y = arena[50_003:50_015].reshape((3, 4)), arena[50_101:50_201:2][:12].reshape((3, 4))
    out = arena[90_000:90_012].reshape((3, 4))
    path = tmp_path / "block"
    with ap.tools.record(path):
        ops.add(x, y.T.T, 1.0, x)
        ops.add(x, y, 1.0, ap.empty((3, 4), np.float32))
    first, _second = RecordReader(path).calls
    (memory,) = first.memories
    assert memory.nbytes <= (50_101 + 23 - 50_003) * 4 + 64
    assert [item.agrees for item in ap.tools.replay(path)] == [True, True]
    with pytest.raises(errors.AclnnError) as caught:
        ops.add(x, out[:2], 1.0, x)
    caught.value.save(path)
    (item,) = ap.tools.replay(path)
    assert item.agrees and item.status == 161002
    arena.close()


def test_four_bit_elements_keep_their_places(device, tmp_path):
    table = ap.from_numpy((np.arange(512) % 16 - 8).astype(ml_dtypes.int4))
    path = tmp_path / "block"
    part = table[386:390]
    with pytest.raises(errors.AclnnError) as caught:
        ops.add(part, None, 1.0, part)
    caught.value.save(path)
    (call,) = RecordReader(path).calls
    view, memory = call.views[0], call.memories[0]
    assert (view.offset, memory.nbytes) == (2, 3)  # 192 bytes, 384 elements, are left out
    # Elements 384 to 389 are -8, -7, ..., -3; the first of two is low.
    assert RecordReader(path).data(memory.before, 3) == bytes([0x98, 0xBA, 0xDC])


def test_files_of_other_kinds_are_refused(device, tmp_path, capsys):
    x = ap.from_numpy(np.ones((64, 64), np.float32))
    good = tmp_path / "good"
    with ap.tools.record(good):
        ops.add(x, x, 1.0, x)
    raw = good.read_bytes()

    def refused(name, data):
        (tmp_path / name).write_bytes(data)
        assert main(["replay", str(tmp_path / name)]) == 2
        text = capsys.readouterr().err
        assert text.startswith("aclnn-py replay: ") and name in text, text

    refused("empty", b"")
    refused("cut", raw[: len(raw) // 2])
    refused("short", raw[:-40])
    refused("text", b"# aclnn_py trace 1, process 3\n")
    for at in range(0, len(raw), max(len(raw) // 40, 1)):
        broken = tmp_path / "broken"
        broken.write_bytes(raw[:at] + bytes([raw[at] ^ 0x55]) + raw[at + 1 :])
        assert main(["replay", str(broken)]) in (0, 1, 2)
    with zipfile.ZipFile(tmp_path / "other", "w") as archive:
        archive.writestr("hello", "world")
    assert main(["replay", str(tmp_path / "other")]) == 2
    assert main(["replay", str(tmp_path)]) == 2
    assert "aclnn-py replay: " in capsys.readouterr().err


def test_a_file_that_cannot_be_written_leaves_what_was_there(device, tmp_path, monkeypatch):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    path = tmp_path / "block"
    with ap.tools.record(path):
        ops.add(x, x, 1.0, x)
    before, real = path.read_bytes(), zipfile.ZipFile.writestr

    def full(self, name, data, *rest):
        raise OSError(28, "No space left on device")

    for stage in ("data", "index"):

        def sometimes(self, name, data, *rest, stage=stage):
            return (full if stage in str(name) else real)(self, name, data, *rest)

        monkeypatch.setattr(zipfile.ZipFile, "writestr", sometimes)
        with pytest.raises(OSError, match="No space left") as caught, ap.tools.record(path):
            ops.add(x, x, 1.0, x)
            ops.add(x, x, 1.0, x)
        assert caught.value.filename == str(path)
        with pytest.raises(errors.AclnnError) as refused:
            ops.add(x, None, 1.0, x)
        with pytest.raises(OSError, match="No space left"):
            refused.value.save(path)
        with (
            pytest.warns(RuntimeWarning, match="nothing was recorded"),
            pytest.raises(KeyError),
            ap.tools.record(path),
        ):
            ops.add(x, x, 1.0, x)
            raise KeyError
    assert path.read_bytes() == before and [p.name for p in tmp_path.iterdir()] == ["block"]
    assert observers() == ()
    with pytest.raises(FileNotFoundError), ap.tools.record(tmp_path / "absent/block"):
        raise AssertionError("the block must not run")


def test_trace_record_and_compare_may_be_nested(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    before = observers()
    with (
        ap.tools.trace(tmp_path / "calls"),
        ap.tools.record(tmp_path / "outer") as outer,
        ap.tools.compare() as found,
        ap.tools.record(tmp_path / "inner") as inner,
        ap.strict(),
    ):
        ops.add(x, x, 1.0, x)
        with pytest.raises(errors.AclnnError):
            ops.add(x, ap.empty((4, 5), np.float32), 1.0, x)
    assert observers() == before
    assert (outer.calls, inner.calls) == (2, 2)
    assert [call.status for call in found.calls] == [0, 161002] and found.first is None
    assert all(
        item.agrees for name in ("outer", "inner") for item in ap.tools.replay(tmp_path / name)
    )


def test_replay_chooses_its_device(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    path = tmp_path / "block"
    with ap.tools.record(path):
        ops.add(x, x, 1.0, x)
    program = "import sys; from aclnn_py.tools.cli import main; sys.exit(main(sys.argv[1:]))"
    none = {"ACLNN_PY_DEVICE": "npu", "ACLNN_PY_LIBRARY_PATH": str(tmp_path)}
    for arguments, status in (([], 2), (["--device", "emulator"], 0)):
        done = run_script(program, "replay", *arguments, str(path), env=none)
        assert done.status == status, done
    assert "1 of 1 calls as recorded, on the emulator" in done.out
    absent = run_script(program, "replay", "--device", "npu", str(path), env={
        "ACLNN_PY_DEVICE": "emulator", "ACLNN_PY_LIBRARY_PATH": str(tmp_path)})  # fmt: skip
    assert absent.status == 2 and "aclnn-py replay: " in absent.err


def _record_a_sum(rank, ranks, folder):
    os.environ.update(RANK=str(rank), WORLD_SIZE=str(ranks), LOCAL_RANK=str(rank))
    os.environ["ACLNN_PY_RENDEZVOUS"] = f"file://{folder}/job"
    with Communicator.from_env() as comm, comm.device:
        x = ap.from_numpy(np.full((2, 3), rank + 1.0, np.float32))
        with ap.tools.record(f"{folder}/%r.rec") as kept:
            ops.mul(x, x, x)
            all_reduce(x, "sum", comm)
            ops.add(x, x, 1.0, x)
        return kept.calls, x.numpy().tolist()


def test_every_rank_has_a_file_of_its_own(device, tmp_path):
    found = run_ranks(2, _record_a_sum, str(tmp_path))
    assert found == [(2, [[10.0] * 3] * 2)] * 2
    for rank in range(2):
        path = tmp_path / f"{rank}.rec"
        assert [item.agrees for item in ap.tools.replay(path)] == [True, True]
        product = RecordReader(path).calls[0].memories[0]
        values = np.frombuffer(RecordReader(path).data(product.after, 24), np.float32)
        assert values.tolist() == [(rank + 1.0) ** 2] * 6


def test_a_block_is_entered_once_at_a_time(device, tmp_path):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    for kept in (ap.tools.record(tmp_path / "block"), ap.tools.compare()):
        for _ in range(2):
            with kept:
                ops.add(x, x, 1.0, x)
                with pytest.raises(RuntimeError, match="under way"), kept:
                    raise AssertionError("the block must not run")
    assert len(ap.tools.replay(tmp_path / "block")) == 1
    assert observers() == ()


def test_a_forked_child_leaves_the_record_to_its_parent(tmp_path):
    source = """
        import os, sys
        import numpy as np, aclnn_py as ap
        x = ap.from_numpy(np.ones((2, 3), np.float32))
        with ap.tools.record(sys.argv[1]) as kept:
            ap.ops.add(x, x, 1.0, x)
            child = os.fork()
            if child == 0:
                sys.exit(0)
            assert os.waitpid(child, 0)[1] == 0
            ap.ops.mul(x, x, x)
        print([item.agrees for item in ap.tools.replay(sys.argv[1])])
    """
    assert run_script(source, str(tmp_path / "block")).check().out == "[True, True]\n"


def test_a_long_list_does_not_bury_the_message(device):
    x = ap.from_numpy(np.ones((2, 3), np.float32))
    with pytest.raises(errors.AclnnError) as caught:
        ops.cat([x] * 3000, 5, x)
    lines = str(caught.value).splitlines()
    assert len(caught.value.arguments) > 3000 and len(lines) < 60
    assert any("more, see `arguments` of the exception" in line for line in lines)
