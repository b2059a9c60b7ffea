# SPDX-License-Identifier: Apache-2.0
"""Read from the launcher's environment variables which rank this process is."""

from __future__ import annotations

import os
import re
import zlib
from collections.abc import Mapping
from dataclasses import dataclass

from aclnn_py.errors.ranks import RankEnvironmentError

__all__ = ["RankEnvironment", "detect_environment"]

MAX_WORLD_SIZE = 65536


@dataclass(frozen=True, kw_only=True)
class RankEnvironment:
    """The rank of this process in its job, and where the ranks of the job meet.

    Source
    ------
    Environment variables of ``aclnn-py run``, torchrun, Open MPI, SLURM or msrun.
    """

    source: str
    """The launcher whose variables were read."""
    rank: int
    """Number of this process in the job, from 0."""
    world_size: int
    """Number of processes in the job."""
    local_rank: int | None
    """Number of this process on its host; None when the launcher does not tell it."""
    address: str | None
    """Host name or IP address that rank 0 listens on; None for a file rendezvous."""
    port: int | None
    """TCP port that rank 0 listens on; None for a file rendezvous."""
    directory: str | None
    """Directory shared by all ranks for a file rendezvous; None for TCP."""
    token: str
    """Secret shared by the ranks of the job; empty when the launcher gave none."""


def detect_environment(environ: Mapping[str, str] | None = None) -> RankEnvironment:
    """Read rank, world size and meeting place from the launcher's environment variables.

    ``RANK`` and ``WORLD_SIZE`` (``aclnn-py run``, torchrun) are tried first, then the variables of
    msrun, Open MPI and SLURM.
    ``ACLNN_PY_RENDEZVOUS`` (``tcp://host:port`` or ``file:///directory``) overrides the meeting
    place, ``ACLNN_PY_JOB_TOKEN`` the secret.

    Parameters
    ----------
    environ : Mapping[str, str], optional
        Variables to read; default is ``os.environ``.

    Returns
    -------
    RankEnvironment
        Checked: ``0 <= rank < world_size``.

    Raises
    ------
    RankEnvironmentError
        No launcher is recognised, a variable is missing or is not a number in range.
    """
    env = os.environ if environ is None else environ
    if not isinstance(env, Mapping):
        raise TypeError(f"environ: expected a mapping of names to texts, got {type(env).__name__}")
    for present, read in (
        ("RANK", _from_torchrun),
        ("MS_WORKER_NUM", _from_msrun),
        ("OMPI_COMM_WORLD_RANK", _from_open_mpi),
        ("SLURM_PROCID", _from_slurm),
    ):
        if present in env:
            return read(env)
    raise RankEnvironmentError(
        "no launcher is recognised: none of RANK, MS_WORKER_NUM, OMPI_COMM_WORLD_RANK, SLURM_PROCID"
        " is set. Start the program with `aclnn-py run -n N script.py`, or set RANK, WORLD_SIZE,"
        " MASTER_ADDR and MASTER_PORT."
    )


def _from_torchrun(env: Mapping[str, str]) -> RankEnvironment:
    rank, world_size = _place(env, "RANK", "WORLD_SIZE")
    port = None
    if "MASTER_PORT" in env:
        # torchrun's agent listens on MASTER_PORT itself, so we take the next port.
        port = _port(env, "MASTER_PORT", env.get("TORCHELASTIC_USE_AGENT_STORE") == "True")
    token = env.get("TORCHELASTIC_RUN_ID", "")
    return _finish(
        env,
        source="torchrun" if "TORCHELASTIC_RUN_ID" in env else "RANK",
        rank=rank,
        world_size=world_size,
        local_rank=_optional_number(env, "LOCAL_RANK"),
        address=env.get("MASTER_ADDR"),
        port=port,
        # "none" is what torchrun gives a job without an id: everybody knows it, so it is no secret.
        token="" if token == "none" else token,
        needed="MASTER_ADDR and MASTER_PORT",
    )


def _from_msrun(env: Mapping[str, str]) -> RankEnvironment:
    if env.get("MS_ROLE") == "MS_SCHED":
        raise RankEnvironmentError(
            "this process is msrun's scheduler (MS_ROLE=MS_SCHED), not a rank: return from the"
            " program when MS_ROLE is MS_SCHED."
        )
    if "MS_NODE_ID" not in env:
        raise RankEnvironmentError(
            "msrun left the rank open (MS_NODE_ID is not set): start it with --node_rank."
        )
    rank, world_size = _place(env, "MS_NODE_ID", "MS_WORKER_NUM")
    # MS_SCHED_PORT belongs to msrun's scheduler, so we take the next port.
    port = _port(env, "MS_SCHED_PORT", True) if "MS_SCHED_PORT" in env else None
    return _finish(
        env,
        source="msrun",
        rank=rank,
        world_size=world_size,
        local_rank=_optional_number(env, "LOCAL_RANK"),
        address=env.get("MS_SCHED_HOST"),
        port=port,
        token="",
        needed="MS_SCHED_HOST and MS_SCHED_PORT",
    )


def _from_open_mpi(env: Mapping[str, str]) -> RankEnvironment:
    rank, world_size = _place(env, "OMPI_COMM_WORLD_RANK", "OMPI_COMM_WORLD_SIZE")
    local_size = _optional_number(env, "OMPI_COMM_WORLD_LOCAL_SIZE")
    address = env.get("MASTER_ADDR")
    if address is None and local_size == world_size:
        address = "127.0.0.1"
    job = env.get("PMIX_NAMESPACE") or env.get("OMPI_MCA_ess_base_jobid")
    return _finish(
        env,
        source="Open MPI",
        rank=rank,
        world_size=world_size,
        local_rank=_optional_number(env, "OMPI_COMM_WORLD_LOCAL_RANK"),
        address=address,
        port=_port(env, "MASTER_PORT", False) if "MASTER_PORT" in env else _port_of_job(job),
        token="",
        needed="MASTER_ADDR and MASTER_PORT",
    )


def _from_slurm(env: Mapping[str, str]) -> RankEnvironment:
    size_name = "SLURM_STEP_NUM_TASKS" if "SLURM_STEP_NUM_TASKS" in env else "SLURM_NTASKS"
    rank, world_size = _place(env, "SLURM_PROCID", size_name)
    address = env.get("MASTER_ADDR")
    nodes = env.get("SLURM_STEP_NODELIST") or env.get("SLURM_JOB_NODELIST")
    if address is None and nodes:
        address = first_host(nodes)
    job = env.get("SLURM_JOB_ID")
    if job is not None:
        job = f"{job}.{env.get('SLURM_STEP_ID', '0')}"
    return _finish(
        env,
        source="SLURM",
        rank=rank,
        world_size=world_size,
        local_rank=_optional_number(env, "SLURM_LOCALID"),
        address=address,
        port=_port(env, "MASTER_PORT", False) if "MASTER_PORT" in env else _port_of_job(job),
        token="",
        needed="MASTER_ADDR and MASTER_PORT",
    )


def first_host(nodes: str) -> str:
    """Return the first host of a SLURM node list such as ``"npu[03-06,9],login"``."""
    head = re.match(r"([^,\[]*)(?:\[([^\]]*)\])?([^,]*)", nodes)
    assert head is not None  # every part of the pattern may be empty
    prefix, ranges, suffix = head.groups()
    if not ranges:
        return prefix + suffix
    return f"{prefix}{re.split('[,-]', ranges)[0]}{suffix}"


def _finish(
    env: Mapping[str, str],
    *,
    source: str,
    rank: int,
    world_size: int,
    local_rank: int | None,
    address: str | None,
    port: int | None,
    token: str,
    needed: str,
) -> RankEnvironment:
    directory = None
    place = env.get("ACLNN_PY_RENDEZVOUS")
    if place:
        address, port, directory = _meeting_place(place)
    if directory is None and (not address or port is None):
        raise RankEnvironmentError(
            f"{source} says rank {rank} of {world_size} but not where the ranks meet: set {needed},"
            " or ACLNN_PY_RENDEZVOUS to tcp://host:port or file:///shared/directory."
        )
    return RankEnvironment(
        source=source,
        rank=rank,
        world_size=world_size,
        local_rank=local_rank,
        address=address,
        port=port,
        directory=directory,
        token=env.get("ACLNN_PY_JOB_TOKEN") or token,
    )


def _meeting_place(place: str) -> tuple[str | None, int | None, str | None]:
    if place.startswith("file://"):
        directory = place[len("file://") :]
        if not os.path.isabs(directory):
            raise RankEnvironmentError(
                f"ACLNN_PY_RENDEZVOUS={place!r}: a file rendezvous needs an absolute directory,"
                " file:///shared/directory."
            )
        return None, None, directory
    parts = re.fullmatch(r"tcp://(?:\[([^\]]+)\]|([^:/\[\]]+)):([0-9]+)/?", place)
    if parts is None:
        raise RankEnvironmentError(
            f"ACLNN_PY_RENDEZVOUS={place!r} is neither tcp://host:port nor file:///directory."
        )
    return parts[1] or parts[2], _checked_port("ACLNN_PY_RENDEZVOUS", int(parts[3])), None


def _place(env: Mapping[str, str], rank_name: str, size_name: str) -> tuple[int, int]:
    rank = _number(env, rank_name)
    world_size = _number(env, size_name)
    if not 1 <= world_size <= MAX_WORLD_SIZE:
        raise RankEnvironmentError(f"{size_name}={world_size} is not in 1..{MAX_WORLD_SIZE}.")
    if not 0 <= rank < world_size:
        raise RankEnvironmentError(f"{rank_name}={rank} is not below {size_name}={world_size}.")
    return rank, world_size


def _number(env: Mapping[str, str], name: str) -> int:
    text = env.get(name)
    if text is None:
        raise RankEnvironmentError(
            f"{name} is not set although the launcher's other variables are."
        )
    if not re.fullmatch(r"[0-9]{1,9}", text.strip()):
        raise RankEnvironmentError(f"{name}={text!r} is not a number from 0.")
    return int(text)


def _optional_number(env: Mapping[str, str], name: str) -> int | None:
    return _number(env, name) if name in env else None


def _port(env: Mapping[str, str], name: str, taken: bool) -> int:
    return _checked_port(name, _number(env, name) + (1 if taken else 0))


def _checked_port(name: str, port: int) -> int:
    if not 1 <= port <= 65535:
        raise RankEnvironmentError(f"{name} gives port {port}, which is not in 1..65535.")
    return port


def _port_of_job(job: str | None) -> int | None:
    # Every rank computes the same port. Two jobs on one host rarely share it; when they do, the job
    # token or the world size shows it, and the user can set MASTER_PORT.
    return None if job is None else 20000 + zlib.crc32(job.encode()) % 20000
