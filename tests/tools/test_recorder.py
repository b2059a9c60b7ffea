# SPDX-License-Identifier: Apache-2.0
"""Records: which calls and which data they keep, and what a full disk leaves."""

from __future__ import annotations

import os
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
from aclnn_py.operators.record.file import RecordReader


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
    assert "test_recorder.py" in first.line


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
        with (
            pytest.warns(RuntimeWarning, match="nothing was recorded.*No space left"),
            ap.tools.record(path) as kept,
        ):
            ops.add(x, x, 1.0, x)
            ops.add(x, x, 1.0, x)
        assert isinstance(kept.failure, OSError) and kept.failure.filename == str(path)
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


IN_THE_ENVIRONMENT = """
    import os
    import numpy as np
    import aclnn_py as ap

    with ap.Device(0):
        x = ap.from_numpy(np.arange(6, dtype=np.float32))
        ap.ops.add(x, x, 1, x)
        try:
            ap.ops.add(x, ap.empty((7,), np.float32), 1, x)
        except ap.errors.AclnnError:
            pass
        ap.ops.mul(x, x, x)
"""


@pytest.mark.parametrize("end", ["", "    os._exit(0)\n"])
def test_the_environment_records_a_whole_process(tmp_path, end):
    target = tmp_path / "calls-%r.rec"
    run_script(IN_THE_ENVIRONMENT + end, env={"ACLNN_PY_RECORD": str(target)}).check()
    reader = RecordReader(tmp_path / "calls-0.rec")
    assert [(call.operator, call.status) for call in reader.calls] == [
        ("aclnnAdd", 0), ("aclnnAdd", 161002), ("aclnnMul", 0)]  # fmt: skip
    assert reader.complete == (not end) and not reader.left_out
    memory = reader.calls[2].memories[0]
    found = np.frombuffer(reader.data(memory.after, 24), np.float32)
    np.testing.assert_array_equal(found, (2 * np.arange(6, dtype=np.float32)) ** 2)


def test_the_environment_s_record_has_a_limit(tmp_path):
    env = {"ACLNN_PY_RECORD": str(tmp_path / "calls.rec"), "ACLNN_PY_RECORD_LIMIT": "1K"}
    done = run_script(IN_THE_ENVIRONMENT, env=env).check()
    assert "is left out: the record has reached its limit of 1024 bytes" in done.err
    reader = RecordReader(tmp_path / "calls.rec")
    assert sum(row.calls for row in reader.left_out) + len(reader.calls) == 3


def test_the_environment_s_record_may_be_impossible(tmp_path):
    env = {"ACLNN_PY_RECORD": str(tmp_path / "absent" / "calls.rec")}
    done = run_script(IN_THE_ENVIRONMENT, env=env).check()
    assert "ACLNN_PY_RECORD" in done.err and "the record ends here, after 0 calls" in done.err
    assert not (tmp_path / "absent").exists()
