# SPDX-License-Identifier: Apache-2.0
"""The launcher on a library that counts its objects and fails on demand.

Nothing leaks on any path, and every failure is told apart.
"""

from __future__ import annotations

import textwrap
from pathlib import Path

import pytest
from helpers import tinylib
from helpers.processes import run_script

SOURCE = Path(__file__).with_name("counting_library.c")

HEAD = """
import ctypes, os
library = ctypes.CDLL(os.path.join(os.environ["ACLNN_PY_LIBRARY_PATH"], "libascendcl.so"))
def value(name, kind=ctypes.c_int):
    return kind.in_dll(library, name).value
def put(name, number, kind=ctypes.c_int):
    kind.in_dll(library, name).value = number
import aclnn_py as ap
from aclnn_py import errors
import pytest
x, y, out = (ap.empty((2, 3), "float32") for _ in range(3))
CALLS = {
    "add": lambda: ap.ops.add(x, y, 1.0, out),
    "cat": lambda: ap.ops.cat([x, y], 0, out),
    "foreach": lambda: ap.ops.foreach_add_scalar_list([x, y], [1.0, 2.0], [out, y]),
    "permute": lambda: ap.ops.permute(x, (1, 0), out),
}
def clean():
    assert value("live_objects") == 0, value("live_objects")
    assert value("live_executors") == 0, value("live_executors")
def refused(call, kind):
    with pytest.raises(kind) as caught:
        call()
    clean()
    return caught.value
"""


@pytest.fixture(scope="session")
def library(tmp_path_factory):
    folder = tmp_path_factory.mktemp("counting")
    path = tinylib.build(folder / "libascendcl.so", SOURCE.read_text())
    for name in ("libnnopbase.so", "libopapi.so"):
        (folder / name).symlink_to(path.name)
    return folder


@pytest.fixture
def run(library):
    def run_source(source: str, **environment: str) -> None:
        env = {
            "ACLNN_PY_DEVICE": "npu",
            "ACLNN_PY_LIBRARY_PATH": str(library),
            "ACLNN_PY_REUSE": "never",  # every launch is to leave nothing behind
            **environment,
        }
        run_script(HEAD + textwrap.dedent(source), env=env).check()

    return run_source


def test_success_leaves_no_object(run):
    run(
        """
        for call in CALLS.values():
            call(); call()
            clean()
        assert value("phase_two_calls") == 2 * len(CALLS)
        """
    )


def test_creation_that_fails_midway_destroys_what_was_made(run):
    run(
        """
        for name, call in CALLS.items():
            for made in range(12):
                put("creates_left", made)
                try:
                    call()
                except errors.InvalidArgumentError as error:
                    assert "no more objects" in str(error) and "aclCreate" in str(error), error
                else:
                    break
                clean()
            assert made >= 3, (name, made)
            clean()
        """
    )


def test_creation_failure_names_the_parameter(run):
    run(
        """
        put("creates_left", 1)
        assert "refused other" in str(refused(CALLS["add"], errors.InvalidArgumentError))
        put("creates_left", 1)
        assert "refused tensors[1]" in str(refused(CALLS["cat"], errors.InvalidArgumentError))
        put("creates_left", 3)
        assert "aclCreateScalar" in str(refused(CALLS["foreach"], errors.InvalidArgumentError))
        """
    )


def test_phase_one_refusal_carries_status_message_and_arguments(run):
    run(
        """
        put("phase_one_status", 161002)
        for call in CALLS.values():
            error = refused(call, errors.AclnnError)
            assert isinstance(error, errors.InvalidArgumentError) and error.status == 161002
            assert error.routine.endswith("GetWorkspaceSize")
            assert error.detail == "phase one does not like it"
            assert any("(2, 3) float32 strides (3, 1) ND" in str(line) for line in error.arguments)
        assert value("phase_two_calls") == 0
        """
    )


def test_phase_two_refusal_is_told_apart_and_the_executor_is_not_destroyed_twice(run):
    run(
        """
        put("phase_two_status", 361001)
        for call in CALLS.values():
            error = refused(call, errors.AclnnError)
            assert error.status == 361001 and not error.routine.endswith("GetWorkspaceSize")
            assert error.detail == "phase two does not like it"
        """
    )


def test_refused_destruction_is_reported(run):
    run(
        """
        put("destroy_status", 561000)
        error = refused(CALLS["add"], errors.AclnnError)
        assert error.status == 561000 and error.routine == "aclDestroyTensor"
        put("destroy_status", 0)
        CALLS["add"]()
        """
    )


def test_workspace_is_lent_with_the_exact_size_and_kept(run):
    run(
        """
        import ctypes
        u64 = ctypes.c_uint64
        put("workspace_wanted", 1000, u64)
        CALLS["add"]()
        first = value("workspace_given", u64)
        assert first and value("workspace_passed", u64) == 1000
        put("workspace_wanted", 500, u64)
        CALLS["add"]()
        assert value("workspace_given", u64) == first and value("workspace_passed", u64) == 500
        put("workspace_wanted", 0, u64)
        CALLS["add"]()
        assert value("workspace_given", u64) == 0
        put("workspace_wanted", 5 << 20, u64)
        CALLS["add"]()
        assert value("workspace_given", u64) not in (0, first)
        assert value("phase_two_calls") == 4
        clean()
        """
    )


def test_workspace_beyond_four_gib_keeps_its_size(run):
    run(
        """
        u64 = ctypes.c_uint64
        put("workspace_wanted", (4 << 30) + 64, u64)
        CALLS["add"]()  # malloc of untouched pages
        assert value("workspace_passed", u64) == (4 << 30) + 64
        """
    )


def test_workspace_that_cannot_be_had_leaves_nothing_behind(run):
    run(
        """
        u64 = ctypes.c_uint64
        put("workspace_wanted", 64 << 20, u64)
        put("refuse_allocations_from", 32 << 20, u64)
        for call in CALLS.values():
            refused(call, errors.OutOfMemoryError)
        assert value("phase_two_calls") == 0
        put("workspace_wanted", 0, u64)
        CALLS["add"]()
        """
    )


def test_old_arena_is_kept_until_the_stream_has_passed(run):
    run(
        """
        u64 = ctypes.c_uint64
        stream = ap.current_stream()
        put("workspace_wanted", 1000, u64)
        CALLS["add"]()
        before = value("frees")
        put("workspace_wanted", 100 << 20, u64)
        CALLS["add"]()
        assert value("frees") == before
        stats = stream.workspace_stats()
        assert stats.peak_nbytes == 100 << 20 <= stats.nbytes and stats.exchanges == 2
        assert stream.trim_workspace() == stats.nbytes
        assert value("frees") == before and stream.workspace_stats().nbytes == 0
        put("workspace_wanted", 10, u64)
        CALLS["add"]()
        stats = stream.workspace_stats()
        assert 10 <= stats.nbytes < 100 << 20 and stats.peak_nbytes == 100 << 20
        assert value("workspace_passed", u64) == 10
        """
    )


def test_plan_releases_its_executor_whatever_happens(run):
    run(
        """
        for repeatable in (False, True):
            step = ap.plan(ap.ops.add, x, y, 1.0, out, repeatable=repeatable)
            assert value("live_executors") == 1
            step.close()
            clean()
        step = ap.plan(ap.ops.add, x, y, 1.0, out)
        step.run()
        refused(step.run, errors.ClosedError)
        step.close()
        with ap.plan(ap.ops.add, x, y, 1.0, out, repeatable=True) as step:
            step.run(); step.run()
            put("phase_two_status", 361001)
            with pytest.raises(errors.AclnnError):
                step.run()
            put("phase_two_status", 0)
            step.run()
        clean()
        put("repeatable_status", 561000)
        error = refused(
            lambda: ap.plan(ap.ops.add, x, y, 1.0, out, repeatable=True), errors.AclnnError
        )
        assert error.routine == "aclSetAclOpExecutorRepeatable" and error.status == 561000
        """
    )


def test_arguments_of_another_device_and_closed_ones_never_reach_the_library(run):
    run(
        """
        far = ap.empty((2, 3), "float32", device=1)
        error = refused(lambda: ap.ops.add(x, far, 1.0, out), errors.DeviceMismatchError)
        assert "other" in str(error)
        error = refused(lambda: ap.ops.cat([x, far], 0, out), errors.DeviceMismatchError)
        assert "tensors[1]" in str(error)
        stream = ap.Device(1).create_stream()
        refused(lambda: ap.ops.add(x, y, 1.0, out, stream=stream), errors.DeviceMismatchError)
        ap.ops.add(far, far, 1.0, far, stream=stream)
        stream.close()
        refused(lambda: ap.ops.add(far, far, 1.0, far, stream=stream), errors.ClosedError)
        gone = ap.empty((2, 3), "float32"); gone.close()
        error = refused(lambda: ap.ops.add(gone, y, 1.0, out), errors.ClosedError)
        assert "self is closed" in str(error)
        assert value("phase_two_calls") == 1
        """
    )


def test_missing_creation_function_is_a_missing_symbol(run, library, tmp_path):
    run(
        """
        error = refused(lambda: ap.ops.masked_select(x, y, out), errors.SymbolNotFoundError)
        assert error.symbol == "aclnnMaskedSelectGetWorkspaceSize"
        assert "libopapi.so" in str(error)
        """
    )


def test_threads_share_one_stream_and_its_workspace(run):
    run(
        """
        import threading
        put("workspace_wanted", 3 << 20, ctypes.c_uint64)
        failures = []
        def work():
            try:
                for _ in range(300):
                    CALLS["add"](); CALLS["cat"]()
            except BaseException as error:
                failures.append(error)
        threads = [threading.Thread(target=work) for _ in range(4)]
        for thread in threads: thread.start()
        for thread in threads: thread.join()
        assert not failures, failures
        assert value("phase_two_calls") == 4 * 600
        """
    )


def test_kept_executors_are_bounded_and_go_with_the_runtime(run):
    run(
        """
        from aclnn_py.operators.launch.reuse_statistics import reuse_counts
        for _ in range(3):
            for alpha in range(3000):
                ap.ops.add(x, y, float(alpha), out)
        counts = reuse_counts()
        assert counts.kept == value("live_executors") <= 1024, counts
        assert counts.made > 1024 and value("live_objects") == 4 * counts.kept
        ap.runtime.initialization._runtime.close()
        clean()
        """,
        ACLNN_PY_REUSE="always",
    )


def test_a_refused_executor_is_used_once_and_never_asked_for_again(run):
    run(
        """
        from aclnn_py.operators.launch.reuse_statistics import reuse_counts
        put("repeatable_status", 561000)
        for _ in range(4):
            CALLS["add"]()
            clean()
        assert reuse_counts() == (0, 0, 0, 1) and value("phase_two_calls") == 4
        put("repeatable_status", 0)
        CALLS["add"](); clean()
        CALLS["permute"](); CALLS["permute"]()
        assert reuse_counts() == (1, 1, 1, 1)
        """,
        ACLNN_PY_REUSE="always",
    )


def test_a_kept_executor_that_fails_is_released(run):
    run(
        """
        from aclnn_py.operators.launch.reuse_statistics import reuse_counts
        CALLS["add"](); CALLS["add"](); CALLS["add"]()
        assert reuse_counts()[:3] == (1, 1, 1)
        put("phase_two_status", 361001)
        assert refused(CALLS["add"], errors.AclnnError).status == 361001
        put("phase_two_status", 0)
        CALLS["add"](); CALLS["add"]()
        assert reuse_counts().kept == value("live_executors") == 1
        """,
        ACLNN_PY_REUSE="auto",
    )


def test_a_workspace_that_grows_leaves_nothing_behind_with_reuse(run):
    run(
        """
        u64 = ctypes.c_uint64
        for nbytes in (1000, 9 << 20, 40 << 20):
            put("workspace_wanted", nbytes, u64)
            for alpha in (1.0, 2.0):
                for _ in range(3):
                    ap.ops.add(x, y, alpha, out)
                    assert value("workspace_passed", u64) == nbytes or nbytes > 1000
        from aclnn_py.operators.launch.reuse_statistics import reuse_counts
        assert reuse_counts().kept == value("live_executors") == 2
        put("refuse_allocations_from", 1, u64)
        put("workspace_wanted", 900 << 20, u64)
        with pytest.raises(errors.OutOfMemoryError):
            ap.ops.add(x, y, 3.0, out)
        assert value("live_executors") == 2
        """,
        ACLNN_PY_REUSE="always",
    )
