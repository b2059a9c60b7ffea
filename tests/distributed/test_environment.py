# SPDX-License-Identifier: Apache-2.0
"""Rank, world size and meeting place as the launchers say them."""

from __future__ import annotations

import pytest

from aclnn_py.distributed.environment import RankEnvironment, detect_environment, first_host
from aclnn_py.errors.ranks import RankEnvironmentError

PLACE = {"MASTER_ADDR": "node0", "MASTER_PORT": "29500"}


def place(found: RankEnvironment) -> tuple[object, ...]:
    return found.rank, found.world_size, found.local_rank, found.address, found.port


def test_run_and_torchrun_variables_name_the_place() -> None:
    found = detect_environment({"RANK": "1", "WORLD_SIZE": "4", "LOCAL_RANK": "1", **PLACE})
    assert place(found) == (1, 4, 1, "node0", 29500)
    assert found.token == ""


def test_torchrun_agent_store_keeps_its_port() -> None:
    env = {"RANK": "0", "WORLD_SIZE": "2", **PLACE, "TORCHELASTIC_USE_AGENT_STORE": "True"}
    found = detect_environment({**env, "TORCHELASTIC_RUN_ID": "7f3a"})
    assert found.port == 29501
    assert found.token == "7f3a"
    assert detect_environment({**env, "TORCHELASTIC_RUN_ID": "none"}).token == ""


def test_job_token_wins_over_the_run_id() -> None:
    env = {"RANK": "0", "WORLD_SIZE": "2", **PLACE, "TORCHELASTIC_RUN_ID": "7f3a"}
    assert detect_environment({**env, "ACLNN_PY_JOB_TOKEN": "secret"}).token == "secret"


def test_msrun_worker_uses_the_port_after_the_scheduler() -> None:
    env = {
        "MS_ROLE": "MS_WORKER",
        "MS_NODE_ID": "3",
        "MS_WORKER_NUM": "8",
        "MS_SCHED_HOST": "10.0.0.1",
        "MS_SCHED_PORT": "8118",
    }
    assert place(detect_environment(env)) == (3, 8, None, "10.0.0.1", 8119)


def test_msrun_scheduler_is_not_a_rank() -> None:
    with pytest.raises(RankEnvironmentError, match="scheduler"):
        detect_environment({"MS_ROLE": "MS_SCHED", "MS_WORKER_NUM": "8"})


def test_open_mpi_on_one_host_needs_no_address() -> None:
    env = {
        "OMPI_COMM_WORLD_RANK": "2",
        "OMPI_COMM_WORLD_SIZE": "4",
        "OMPI_COMM_WORLD_LOCAL_RANK": "2",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "4",
        "PMIX_NAMESPACE": "prterun-node0-4711@1",
    }
    found = detect_environment(env)
    assert place(found)[:4] == (2, 4, 2, "127.0.0.1")
    assert found.port == detect_environment({**env, "OMPI_COMM_WORLD_RANK": "0"}).port
    assert found.port != detect_environment({**env, "PMIX_NAMESPACE": "prterun-node0-1@1"}).port


def test_open_mpi_on_two_hosts_needs_an_address() -> None:
    env = {
        "OMPI_COMM_WORLD_RANK": "2",
        "OMPI_COMM_WORLD_SIZE": "4",
        "OMPI_COMM_WORLD_LOCAL_SIZE": "2",
        "PMIX_NAMESPACE": "job",
    }
    with pytest.raises(RankEnvironmentError, match="MASTER_ADDR"):
        detect_environment(env)


def test_slurm_meets_on_the_first_host_of_the_step() -> None:
    env = {
        "SLURM_PROCID": "5",
        "SLURM_NTASKS": "16",
        "SLURM_STEP_NUM_TASKS": "8",
        "SLURM_LOCALID": "1",
        "SLURM_STEP_NODELIST": "npu[03-06,9],login1",
        "SLURM_JOB_ID": "99",
    }
    assert place(detect_environment(env))[:4] == (5, 8, 1, "npu03")


@pytest.mark.parametrize(
    ("nodes", "first"),
    [("a1", "a1"), ("a1,a2", "a1"), ("n[7]", "n7"), ("n[01-04].rack,x", "n01.rack")],
)
def test_first_host_of_a_node_list(nodes: str, first: str) -> None:
    assert first_host(nodes) == first


def test_rendezvous_variable_overrides_the_place() -> None:
    env = {"RANK": "0", "WORLD_SIZE": "2", **PLACE}
    found = detect_environment({**env, "ACLNN_PY_RENDEZVOUS": "tcp://[::1]:1234"})
    assert (found.address, found.port, found.directory) == ("::1", 1234, None)
    found = detect_environment({**env, "ACLNN_PY_RENDEZVOUS": "file:///shared/job"})
    assert (found.address, found.port, found.directory) == (None, None, "/shared/job")


@pytest.mark.parametrize(
    ("env", "names"),
    [
        ({}, "aclnn-py run"),
        ({"RANK": "0"}, "WORLD_SIZE is not set"),
        ({"RANK": "-1", "WORLD_SIZE": "2"}, "RANK"),
        ({"RANK": "2", "WORLD_SIZE": "2"}, "RANK=2"),
        ({"RANK": "0", "WORLD_SIZE": "0"}, "WORLD_SIZE=0"),
        ({"RANK": "one", "WORLD_SIZE": "2"}, "'one'"),
        ({"RANK": "0", "WORLD_SIZE": "2"}, "MASTER_ADDR"),
        ({"RANK": "0", "WORLD_SIZE": "2", "MASTER_ADDR": "a", "MASTER_PORT": "70000"}, "70000"),
        ({"RANK": "0", "WORLD_SIZE": "2", "ACLNN_PY_RENDEZVOUS": "http://x"}, "http://x"),
        ({"RANK": "0", "WORLD_SIZE": "2", "ACLNN_PY_RENDEZVOUS": "file://x"}, "absolute"),
    ],
)
def test_a_wrong_environment_says_which_variable(env: dict[str, str], names: str) -> None:
    with pytest.raises(RankEnvironmentError) as caught:
        detect_environment(env)
    assert names in str(caught.value)
    assert isinstance(caught.value, ValueError)
