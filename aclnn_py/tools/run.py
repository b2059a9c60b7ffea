# SPDX-License-Identifier: Apache-2.0
"""``aclnn-py run``: start the ranks of a job on this host, and end them together."""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import IO

__all__ = ["run_ranks"]

ADDRESS = "127.0.0.1"
MAX_LINE_NBYTES = 1024 * 1024
"""Longer lines are passed on in pieces, so that a rank cannot fill the launcher's memory."""
ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
PASSED_ON = (signal.SIGUSR1, signal.SIGUSR2, signal.SIGCONT)
_PR_SET_PDEATHSIG = 1


@dataclass
class _Rank:
    number: int
    process: subprocess.Popen[bytes]
    status: int | None = None


@dataclass
class _Output:
    prefix: bytes
    target: int
    pending: bytearray = field(default_factory=bytearray)


def run_ranks(
    command: Sequence[str],
    count: int,
    *,
    grace_s: float = 5.0,
    prefix: bool = True,
    environment: dict[str, str] | None = None,
) -> int:
    """Run ``count`` processes of a command on this host and wait for all of them.

    Each process gets ``RANK``, ``LOCAL_RANK``, ``WORLD_SIZE``, ``LOCAL_WORLD_SIZE``,
    ``MASTER_ADDR``, ``MASTER_PORT`` and ``ACLNN_PY_JOB_TOKEN``, and no standard input. SIGINT,
    SIGTERM, SIGHUP and SIGQUIT are passed on to all ranks once. When a rank fails, the others get
    SIGTERM, and SIGKILL after ``grace_s``. Processes that a rank leaves running are killed when it
    ends, and the ranks are killed when the launcher ends. Call it from the main thread.

    Parameters
    ----------
    command : Sequence[str]
        Program and arguments; the same for every rank.
    count : int
        Number of ranks, at least 1.
    grace_s : float, default 5.0
        Seconds between SIGTERM and SIGKILL.
    prefix : bool, default True
        Whether every line of output begins with ``[rank]``.
    environment : dict[str, str], optional
        Other variables of the ranks; default is ``os.environ``.

    Returns
    -------
    int
        0, or the exit status of the rank that failed first; 128 + n for signal n. A signal to the
        launcher gives 128 + n too, unless every rank takes it and ends with 0.

    Raises
    ------
    OSError
        The program cannot be started.
    """
    if count < 1:
        raise ValueError(f"the number of ranks is {count}, not at least 1")
    return _Job(command, count, grace_s, prefix, environment).run()


class _Job:
    """One run: a single loop over exits, signals and output."""

    def __init__(
        self,
        command: Sequence[str],
        count: int,
        grace_s: float,
        prefix: bool,
        environment: dict[str, str] | None,
    ) -> None:
        self._command = list(command)
        self._count = count
        self._grace_s = grace_s
        self._prefix = prefix
        self._environment = dict(os.environ if environment is None else environment)
        self._ranks: list[_Rank] = []
        self._selector = selectors.DefaultSelector()
        self._exit_status: int | None = None
        self._kill_at: float | None = None
        self._interrupts = 0
        self._ending: int | None = None

    def run(self) -> int:
        wake_in, wake_out = socket.socketpair()
        wake_in.setblocking(False)
        wake_out.setblocking(False)
        self._selector.register(wake_out, selectors.EVENT_READ)
        caught = [
            number
            for number in (*ENDING, *PASSED_ON, signal.SIGCHLD)
            # nohup and background shells ignore some signals on purpose
            if number == signal.SIGCHLD or signal.getsignal(number) is not signal.SIG_IGN
        ]
        # The handlers do nothing: the signal numbers arrive through the wakeup descriptor.
        before = {number: signal.signal(number, lambda *_: None) for number in caught}
        wakeup_before = signal.set_wakeup_fd(wake_in.fileno(), warn_on_full_buffer=False)
        try:
            sys.stdout.flush()
            self._start()
            self._loop(wake_out)
        except BaseException:
            self._kill_all()
            raise
        finally:
            signal.set_wakeup_fd(wakeup_before)
            for number, handler in before.items():
                signal.signal(number, handler)
            self._selector.close()
            wake_in.close()
            wake_out.close()
        return self._exit_status or 0

    def _start(self) -> None:
        listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM)
        with listener:
            # Bound here and passed to rank 0, so that no other program can take it in between.
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind((ADDRESS, 0))
            shared = self._shared_environment(listener.getsockname()[1])
            for number in range(self._count):
                own = {"RANK": str(number), "LOCAL_RANK": str(number)}
                passed: tuple[int, ...] = ()
                if number == 0:
                    passed = (listener.fileno(),)
                    own["ACLNN_PY_RENDEZVOUS_FD"] = str(listener.fileno())
                process = subprocess.Popen(
                    self._command,
                    stdin=subprocess.DEVNULL,
                    stdout=subprocess.PIPE,
                    stderr=subprocess.PIPE,
                    env={**shared, **own},
                    pass_fds=passed,
                    preexec_fn=_bind_to_launcher(os.getpid()),
                )
                self._ranks.append(_Rank(number, process))
                self._watch(number, process.stdout, sys.stdout.fileno())
                self._watch(number, process.stderr, sys.stderr.fileno())

    def _shared_environment(self, port: int) -> dict[str, str]:
        # A job started inside another one must not inherit its rendezvous.
        dropped = ("TORCHELASTIC_", "ACLNN_PY_RENDEZVOUS")
        env = {k: v for k, v in self._environment.items() if not k.startswith(dropped)}
        cores = len(os.sched_getaffinity(0))
        env.setdefault("ACLNN_PY_THREADS", str(max(1, cores // self._count)))
        env.setdefault("PYTHONUNBUFFERED", "1")
        env.update(
            WORLD_SIZE=str(self._count),
            LOCAL_WORLD_SIZE=str(self._count),
            MASTER_ADDR=ADDRESS,
            MASTER_PORT=str(port),
            ACLNN_PY_JOB_TOKEN=secrets.token_hex(32),
        )
        return env

    def _watch(self, number: int, source: IO[bytes] | None, target: int) -> None:
        assert source is not None  # both streams are pipes
        os.set_blocking(source.fileno(), False)
        text = f"[{number}] ".encode() if self._prefix else b""
        self._selector.register(source, selectors.EVENT_READ, _Output(text, target))

    def _loop(self, wake_out: socket.socket) -> None:
        self._reap()
        drain_until: float | None = None
        while True:
            now = time.monotonic()
            if drain_until is None and all(rank.status is not None for rank in self._ranks):
                # A process that left the rank's group may hold the pipes open forever.
                drain_until = now + 1.0
            if drain_until is not None and (
                len(self._selector.get_map()) == 1 or now >= drain_until
            ):
                return
            limits = [t for t in (self._kill_at, drain_until) if t is not None]
            for key, _ in self._selector.select(max(0.0, min(limits) - now) if limits else None):
                if key.fileobj is wake_out:
                    self._signals(wake_out.recv(4096))
                else:
                    self._read(key)
            if self._kill_at is not None and time.monotonic() >= self._kill_at:
                self._kill_all()
                self._kill_at = None

    def _signals(self, numbers: bytes) -> None:
        for number in numbers:
            if number == signal.SIGCHLD:
                self._reap()
            elif number in PASSED_ON:
                self._send_all(number)
            else:
                self._interrupts += 1
                if self._interrupts > 1:
                    self._kill_all()
                elif self._exit_status is None:
                    self._ending = number
                    self._end_all(number)

    def _reap(self) -> None:
        for rank in self._ranks:
            if rank.status is None and _has_exited(rank.process.pid):
                # Kill what the rank left running before the system reuses the process number.
                os.killpg(rank.process.pid, signal.SIGKILL)
                code = rank.process.wait()
                rank.status = 128 - code if code < 0 else code
                if rank.status and self._exit_status is None and self._ending is not None:
                    self._exit_status = 128 + self._ending
                elif rank.status and self._exit_status is None:
                    self._exit_status = rank.status
                    self._report_failure(rank, code)
                    self._end_all(signal.SIGTERM)

    def _report_failure(self, rank: _Rank, code: int) -> None:
        how = f"ended by {signal.Signals(-code).name}" if code < 0 else f"exited with status {code}"
        others = any(other.status is None for other in self._ranks)
        tail = "; ending the other ranks" if others else ""
        text = f"aclnn-py run: rank {rank.number} (process {rank.process.pid}) {how}{tail}\n"
        _write(sys.stderr.fileno(), text.encode())

    def _end_all(self, number: int) -> None:
        self._send_all(number)
        self._kill_at = time.monotonic() + self._grace_s

    def _kill_all(self) -> None:
        self._send_all(signal.SIGKILL)

    def _send_all(self, number: int) -> None:
        for rank in self._ranks:
            if rank.status is None:  # not reaped, so the number still belongs to it
                os.killpg(rank.process.pid, number)

    def _read(self, key: selectors.SelectorKey) -> None:
        source, output = key.fileobj, key.data
        data = os.read(key.fd, 65536)
        output.pending += data
        if data:
            end = output.pending.rfind(b"\n") + 1
            if end == 0 and len(output.pending) >= MAX_LINE_NBYTES:
                end = len(output.pending)
        else:
            end = len(output.pending)
            self._selector.unregister(source)
            source.close()  # type: ignore[union-attr]
        lines = bytes(output.pending[:end])
        del output.pending[:end]
        if lines:
            if not lines.endswith(b"\n"):
                lines += b"\n"
            parts = lines[:-1].split(b"\n")
            _write(output.target, b"".join(output.prefix + part + b"\n" for part in parts))


def _has_exited(pid: int) -> bool:
    return os.waitid(os.P_PID, pid, os.WEXITED | os.WNOHANG | os.WNOWAIT) is not None


def _write(descriptor: int, text: bytes) -> None:
    # Not with sys.stdout: when it is unbuffered, it loses the rest of an interrupted write.
    left = memoryview(text)
    while left:
        left = left[os.write(descriptor, left) :]


def _bind_to_launcher(launcher: int) -> Callable[[], None]:
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        # Runs between fork and exec. The rank gets its own process group, so that Ctrl-C reaches
        # only the launcher, which passes it on once; and the rank is killed when the launcher ends.
        os.setpgid(0, 0)
        libc.prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != launcher:
            os._exit(1)  # the launcher ended before the request was made

    return prepare
