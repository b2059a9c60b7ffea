# SPDX-License-Identifier: Apache-2.0
"""What holds for every operator that communicates, whoever wrote it.

Their accepted calls are the table: an operator whose call names a communicator is tested here.
Ranks that are threads and ranks that are processes compute the same bytes, and a killed rank is
named. ``pytest --every-rank-count`` repeats the calls that any number of ranks may make on 4 and 8.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from helpers.accepted_calls import Call, TensorSpec, calls, operators, pattern
from helpers.chip_950 import NAME
from helpers.experts import on_threads
from helpers.ranks import run_ranks, start_ranks

import aclnn_py as ap
from aclnn_py import facts
from aclnn_py.distributed import Communicator
from aclnn_py.tensor.dtypes import dtype_of

pytestmark = pytest.mark.emulator_only(reason="the emulator can be any chip")

CHIPS = {"910B": {}, "950": {"ACLNN_PY_EMULATOR_SOC": NAME}}
CLOCKS = {"performance_info"}  # results that are times
CHANGE_NOTHING = {"aclnnDistributeBarrier", "aclnnDistributeBarrierV2"}

Digests = dict[str, list[str]]


def fused(chip: str) -> list[str]:
    """The operators of a chip whose calls name a communicator."""
    known = facts.emulated()
    names = (name for name in operators() if (known[name].chip or "910B") == chip)
    return [name for name in names if any(call.group_keys for call in calls(name))]


def made_by(call: Call, rank: int) -> Call:
    """The call as a rank makes it: floats without meaning of their own differ between ranks."""
    call = call.at(rank)
    for position, spec in enumerate(call.arguments):
        if not isinstance(spec, TensorSpec) or spec.contents is not None:
            continue
        kind = dtype_of(spec.dtype)
        if kind.exact and kind.bits >= 16 and kind.numpy.kind not in "iub":
            step = rank * kind.bits // 8
            shifted = pattern(kind, spec.nbytes + step)[step:]
            call = call.changed(position, contents=shifted)
    return call


def groups_of(comm: Communicator) -> Iterator[tuple[int, Communicator]]:
    """Communicators by `Group.key`: the same ranks, once more, and this rank's whole job as one."""
    ranks = comm.world_size
    yield ranks, comm
    yield 1, comm  # what one rank may call, any number may
    second = comm.split(range(ranks))
    assert second is not None
    yield -ranks, second


def digests_of(call: Call, given: list[Any]) -> list[str]:
    """Digests of the tensors among the arguments of a call, members of lists included."""
    digests = []
    for parameter, argument in zip(call.op.parameters, given, strict=True):
        if parameter.name in CLOCKS:
            continue
        for tensor in argument if isinstance(argument, list) else [argument]:
            if isinstance(tensor, ap.Tensor):
                data = tensor.numpy().tobytes()
                digests.append(hashlib.blake2b(data, digest_size=8).hexdigest())
    return digests


def compute(comm: Communicator, chip: str) -> Digests:
    """The bytes of every tensor of every call that this number of ranks can make."""
    groups = dict(groups_of(comm))
    names = {key: group.name for key, group in groups.items()}
    digests: Digests = {}
    changing = set()
    for operator in fused(chip):
        for call in calls(operator):
            if not call.group_keys or not set(call.group_keys) <= set(groups):
                continue
            given = made_by(call, comm.rank).build(names)
            before = digests_of(call, given)
            call.op(*given)
            comm.device.synchronize()
            after = digests_of(call, given)
            digests.setdefault(operator, []).extend(after)
            if after != before:
                changing.add(operator)
    if comm.world_size == 2:  # else some calls have nothing to do
        assert set(digests) - changing <= CHANGE_NOTHING
    groups[-comm.world_size].close()
    return digests


def _threads(rank: int, ranks: int, count: int, chip: str) -> list[Digests]:
    comms = Communicator.init_all(count)
    try:
        return on_threads([[comm] for comm in comms], lambda comm: compute(comm, chip))
    finally:
        for comm in comms:
            comm.close()


def _process(rank: int, ranks: int, chip: str, meeting: str) -> Digests:
    os.environ.update(
        RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(ranks), ACLNN_PY_RENDEZVOUS=meeting
    )
    with Communicator.from_env() as comm:
        return compute(comm, chip)


@pytest.mark.parametrize("chip", CHIPS)
def test_threads_and_processes_compute_the_same_bytes(
    chip: str, tmp_path: Path, request: pytest.FixtureRequest
) -> None:
    wider = chip == "910B" and request.config.getoption("--every-rank-count")
    for ranks in (2, 4, 8) if wider else (2,):
        (threads,) = run_ranks(1, _threads, ranks, chip, env=CHIPS[chip], timeout_s=300.0)
        meeting = f"file://{tmp_path / str(ranks)}"
        processes = run_ranks(ranks, _process, chip, meeting, env=CHIPS[chip], timeout_s=300.0)
        assert processes == threads
        assert threads[0] != threads[1]  # some bytes are a rank's own
        if ranks == 2:
            assert set(threads[0]) == set(fused(chip))


KILLED = """
import os, signal, sys
import aclnn_py as ap
from test_fused_operators import calls, fused, groups_of, made_by
from aclnn_py.distributed import Communicator

chip = os.environ["FUSED_CHIP"]
comm = Communicator.from_env(timeout_s=60)
todo = []
for operator in fused(chip):
    # The largest: some have nothing to do.
    call = max(
        (call for call in calls(operator) if call.group_keys),
        key=lambda call: sum(tensor.nbytes for tensor in call.tensors()),
    )
    fresh = {key: comm.split(range(2)) for key in (2, -2)}
    fresh[1] = fresh[2]
    todo.append((operator, call, fresh))
comm.synchronize()
comm.barrier()
comm.synchronize()
if comm.rank == 1:
    os.kill(os.getpid(), signal.SIGKILL)
for operator, call, fresh in todo:
    try:
        with comm.device.create_stream():
            call = made_by(call, 0)
            call.op(*call.build({key: group.name for key, group in fresh.items()}))
            comm.device.synchronize()
        print(operator, "succeeded")
    except ap.errors.StatusError as error:
        if "rank 1" not in str(error):
            print(operator, error)
print("done")
sys.stdout.flush()
os._exit(0)  # what the killed rank holds is not waited for
"""
# They wait for nobody: their teardowns do.
WAIT_FOR_NOBODY = {"aclnnMoeDistributeDispatchSetup", "aclnnMoeDistributeCombineSetup"}


@pytest.mark.parametrize("chip", CHIPS)
def test_a_killed_rank_is_named(chip: str, tmp_path: Path, monkeypatch: Any) -> None:
    for name, value in {**CHIPS[chip], "FUSED_CHIP": chip}.items():
        monkeypatch.setenv(name, value)
    here = str(Path(__file__).parent)
    script = f"import sys; sys.path.insert(0, {here!r})" + KILLED
    (status, output), killed = start_ranks(tmp_path, 2, script)
    assert killed[0] < 0
    waited = {f"{name} succeeded" for name in WAIT_FOR_NOBODY} if chip == "950" else set()
    assert set(output.splitlines()) == {"done"} | waited
    assert status == 0
