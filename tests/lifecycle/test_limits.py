# SPDX-License-Identifier: Apache-2.0
"""The same program under limits of the system: it works, or one sentence names the limit."""

from __future__ import annotations

import contextlib
import ctypes
import os
import resource
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest
from helpers.processes import environment

pytestmark = pytest.mark.emulator_only(reason="the limits are those of the emulator's process")

GIB, MIB = 1 << 30, 1 << 20
PROGRAM = """\
import numpy as np
import aclnn_py as ap

def doubled(device):
    with ap.Device(device):
        x = ap.from_numpy(np.arange(4, dtype=np.float32))
        assert (x + x).numpy().tolist() == [0, 2, 4, 6]

print(ap.Device(0).memory_info().total)
for device in range(ap.device_count()):
    doubled(device)
square = ap.from_numpy(np.ones((256, 256), np.float32))
assert (ap.functional.matmul(square, square).numpy() == 256).all()
streams = [ap.Stream() for _ in range(4)]
for stream in streams:
    ap.ops.abs(square, square, stream=stream)
    stream.synchronize()
print("it works")
"""
# Fills the device with memory that is written to, until there is no more.
FULL = """\
import numpy as np
import aclnn_py as ap

device, kept = ap.Device(0), []
print(device.memory_info().total)
try:
    while True:
        kept.append(ap.from_numpy(np.ones(1 << 20, np.uint8)))
except ap.errors.OutOfMemoryError as error:
    print(error)
"""
RANK = """\
import numpy as np
import aclnn_py as ap
from aclnn_py.distributed import Communicator, all_reduce

with Communicator.from_env() as group:
    x = ap.from_numpy(np.ones(3, np.float32))
    all_reduce(x, group=group)
    assert x.numpy().tolist() == [2, 2, 2]
    print("it works")
"""


@dataclass(frozen=True)
class Ended:
    status: int
    text: str

    @property
    def works(self) -> bool:
        return self.status == 0 and self.text.rstrip().endswith("it works")

    def total(self) -> int:
        """Bytes of a device, which programs print first."""
        return int(self.text.split()[0])


def run(source: str, prepare: Callable[[], None] = lambda: None, *before: str, **env: str) -> Ended:
    """Run a program in a process that has prepared itself, by a command if need be."""
    done = subprocess.run(
        [*before, sys.executable, "-c", source],
        # numpy's own threads end the process where they cannot be started.
        env={**environment(env), "OPENBLAS_NUM_THREADS": "1"},
        preexec_fn=prepare, capture_output=True, text=True, timeout=240, check=False,
    )  # fmt: skip
    return Ended(done.returncode, done.stdout + done.stderr)


def limiting(name: str, value: int) -> Callable[[], None]:
    def prepare() -> None:
        resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (value, value))

    return prepare


@pytest.mark.parametrize(
    ("name", "value"),
    [
        *(("AS", size * GIB) for size in (1, 2, 4, 8, 16, 24)),
        *(("DATA", size * MIB) for size in (256, 1024, 4096)),
        ("NOFILE", 16),
        ("FSIZE", 0),
        ("FSIZE", GIB),
        ("MEMLOCK", 0),
        ("STACK", MIB),
    ],
)
def test_the_program_works(name: str, value: int) -> None:
    ended = run(PROGRAM, limiting(name, value))
    assert ended.works, ended.text
    if name in ("AS", "DATA"):
        assert 16 * MIB <= ended.total() <= value // 2
    if name == "AS":
        # All devices have their addresses, and the process keeps some.
        assert 8 * ended.total() <= value * 3 // 4


@pytest.mark.parametrize(
    ("name", "value", "env", "words"),
    [
        (
            "AS", GIB, {"ACLNN_PY_EMULATOR_MEMORY": "4G"},
            "aclrtMalloc: the system refused the 4096 MiB of addresses of device 0: Cannot allocate"
            " memory; `ulimit -v` is 1024 MiB: raise what is too low, or set"
            " ACLNN_PY_EMULATOR_MEMORY or ACLNN_PY_EMULATOR_DEVICES to less.",
        ),
        ("AS", 448 * MIB, {"ACLNN_PY_EMULATOR_DEVICES": "64"}, "`ulimit -v` is 448 MiB"),
    ],
)  # fmt: skip
def test_a_refusal_names_the_limit(name: str, value: int, env: dict[str, str], words: str) -> None:
    ended = run(PROGRAM, limiting(name, value), **env)
    assert ended.status == 1
    assert words in ended.text
    assert "too many live" not in ended.text and "Release tensors" not in ended.text


@pytest.fixture
def few_threads() -> Callable[[], None]:
    """Leaves a process one thread: root has no such limit, another user with root's files has."""
    libc = ctypes.CDLL(None, use_errno=True)

    def prepare() -> None:
        if os.getuid() == 0:
            for capability in (21, 24):  # CAP_SYS_ADMIN, CAP_SYS_RESOURCE
                if libc.prctl(24, capability, 0, 0, 0) != 0:  # PR_CAPBSET_DROP
                    raise OSError(ctypes.get_errno(), "capabilities cannot be dropped")
            os.setresuid(65534, 0, 0)
        resource.setrlimit(resource.RLIMIT_NPROC, (1, 1))

    starts = "import threading; threading.Thread(target=print).start()"
    if run(starts, prepare).status == 0:
        pytest.skip("RLIMIT_NPROC does not hold for this user")
    return prepare


def test_a_thread_that_is_refused_names_the_limit(few_threads: Callable[[], None]) -> None:
    ended = run(PROGRAM, few_threads, ACLNN_PY_EMULATOR_INLINE="never")
    assert ended.status == 1
    assert "the system refused a thread: Resource temporarily unavailable" in ended.text
    assert "`ulimit -u` is 1: raise what is too low" in ended.text


# --- what files say ------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def unshare() -> tuple[str, ...]:
    """The command that gives a process mounts of its own."""
    reasons = []
    for words in (("unshare", "-m"), ("unshare", "-r", "-m")):
        try:
            done = subprocess.run(
                [*words, "mount", "-t", "tmpfs", "tmpfs", "/mnt"],
                capture_output=True, text=True, check=False,
            )  # fmt: skip
        except FileNotFoundError:
            pytest.skip("there is no program unshare")
        if done.returncode == 0:
            return words
        reasons.append(done.stderr.strip())
    pytest.skip(f"no mounts of one's own: {'; '.join(reasons)}")


def after(command: str) -> tuple[str, ...]:
    """Return the words of a shell that runs a command before the program."""
    return ("sh", "-ec", f'{command}; exec "$@"', "sh")


@pytest.mark.parametrize(
    "command",
    [
        "mount -t tmpfs -o size=4k tmpfs /dev/shm",
        "mount -t tmpfs tmpfs /proc",
        "mount -o remount,bind,ro /",
    ],
    ids=["4 KiB of /dev/shm", "no /proc", "read-only root"],
)
def test_the_program_works_with_other_mounts(unshare: tuple[str, ...], command: str) -> None:
    ended = run(PROGRAM, lambda: None, *unshare, *after(command))
    assert ended.works, ended.text


# Files of /proc/self, limits of cgroups, and the limit that counts.
_MOUNT = "30 20 0:26 {root} {mount} rw,nosuid shared:9 - {kind} cgroup rw,{options}\n"
LIMIT = 512 * MIB
GROUPS = {
    "version 2, set by a group around": (
        ("/", "cgroup2", ""), "0::/jobs/seven\n",
        {"jobs/memory.max": LIMIT, "jobs/seven/memory.max": "max"},
    ),
    "version 2, the least of both": (
        ("/", "cgroup2", ""), "0::/jobs/seven\n",
        {"jobs/memory.max": 2 * LIMIT, "jobs/seven/memory.max": LIMIT},
    ),
    "version 2, in a container": (("/", "cgroup2", ""), "0::/\n", {"memory.max": LIMIT}),
    "version 1": (
        ("/", "cgroup", "memory"), "5:cpu:/\n4:memory:/jobs/seven\n0::/\n",
        {"memory.limit_in_bytes": 9223372036854771712,
         "jobs/seven/memory.limit_in_bytes": LIMIT},
    ),
    "version 1, in a container that sees the host's names": (
        ("/docker/abc", "cgroup", "memory"), "4:memory:/docker/abc\n",
        {"memory.limit_in_bytes": LIMIT},
    ),
    "version 1, a group below the container's": (
        ("/docker/abc", "cgroup", "memory"), "4:memory:/docker/abc/in ner\n",
        {"memory.limit_in_bytes": 2 * LIMIT, "in ner/memory.limit_in_bytes": LIMIT},
    ),
    "a group outside of what is mounted": (
        ("/", "cgroup2", ""), "0::/../other\n", {"memory.max": LIMIT},
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", GROUPS)
def test_the_cgroup_bounds_a_device(unshare: tuple[str, ...], name: str, tmp_path: Path) -> None:
    (root, kind, options), groups, limits = GROUPS[name]
    mount = tmp_path / "mounted here"
    for place, limit in limits.items():
        (mount / place).parent.mkdir(parents=True, exist_ok=True)
        (mount / place).write_text(f"{limit}\n")
    proc = tmp_path / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self/cgroup").write_text(groups)
    escaped = str(mount).replace(" ", "\\040")
    line = _MOUNT.format(root=root, mount=escaped, kind=kind, options=options)
    (proc / "self/mountinfo").write_text(f"21 20 0:2 / / rw - ext4 /dev/sda rw\n{line}")
    ended = run(PROGRAM, lambda: None, *unshare, *after(f"mount --bind '{proc}' /proc"))
    assert ended.works, ended.text
    assert ended.total() == LIMIT // 2


@pytest.fixture
def small_group() -> Iterator[Path]:
    """A cgroup of 300 MiB."""
    mine = Path("/proc/self/cgroup").read_text().splitlines()
    place = next((line.split(":")[2] for line in mine if ":memory:" in line), "")
    if place:
        parent, limit = Path("/sys/fs/cgroup/memory", place.strip("/")), "memory.limit_in_bytes"
    else:
        parent, limit = Path("/sys/fs/cgroup", mine[-1].split("::")[-1].strip("/")), "memory.max"
    group = parent / f"aclnn_py-{os.getpid()}"
    try:
        group.mkdir()
        try:
            (group / limit).write_text(str(300 * MIB))
        except OSError:
            group.rmdir()
            raise
    except OSError as error:
        pytest.skip(f"no cgroup can be made: {error}")
    yield group
    with contextlib.suppress(OSError):  # the system may still count a page
        group.rmdir()


def test_a_full_device_ends_before_the_cgroup_does(small_group: Path) -> None:
    def join() -> None:
        (small_group / "cgroup.procs").write_text(str(os.getpid()))

    ended = run(FULL, join)
    assert ended.status == 0, ended.text
    assert ended.total() == 150 * MIB
    assert f"half of the cgroup's {small_group}/memory." in ended.text
    assert "Set ACLNN_PY_EMULATOR_MEMORY" in ended.text


# --- ranks ---------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def alone() -> tuple[str, ...]:
    """The command that takes a process's network away, the loopback interface too."""
    reasons = []
    for words in (("unshare", "-n"), ("unshare", "-r", "-n")):
        try:
            done = subprocess.run([*words, "true"], capture_output=True, text=True, check=False)
        except FileNotFoundError:
            pytest.skip("there is no program unshare")
        if done.returncode == 0:
            return words
        reasons.append(done.stderr.strip())
    pytest.skip(f"no network of one's own: {'; '.join(reasons)}")


def ranks(folder: Path, *before: str, **env: str) -> Ended:
    program = folder / "rank.py"
    program.write_text(RANK)
    launcher = "import sys; from aclnn_py.tools.cli import main; sys.exit(main({!r}))"
    return run(launcher.format(["run", "-n", "2", str(program)]), lambda: None, *before, **env)


def test_without_a_loopback_one_process_works(alone: tuple[str, ...]) -> None:
    ended = run(PROGRAM, lambda: None, *alone)
    assert ended.works, ended.text


def test_without_a_loopback_ranks_are_told(alone: tuple[str, ...], tmp_path: Path) -> None:
    ended = ranks(tmp_path, *alone)
    assert ended.status == 1
    assert "its loopback interface is down" in ended.text and "did not come" not in ended.text
    assert "`ip link set lo up`" in ended.text


def test_ranks_work_with_little_shared_memory(unshare: tuple[str, ...], tmp_path: Path) -> None:
    ended = ranks(tmp_path, *unshare, *after("mount -t tmpfs -o size=4k tmpfs /dev/shm"))
    assert ended.status == 0 and ended.text.count("it works") == 2, ended.text


# --- what tools say ------------------------------------------------------------------------------


def test_the_doctor_says_what_bounds_a_device() -> None:
    source = "from aclnn_py.tools.cli import main; main(['doctor'])"
    ended = run(source, limiting("AS", 2 * GIB))
    text = " ".join(ended.text.split())
    assert "MiB: the share of each of 8 devices in `ulimit -v`" in text
    assert "ACLNN_PY_EMULATOR_MEMORY sets the size" in text


def test_explain_names_the_limits() -> None:
    source = "from aclnn_py.tools.cli import main; main(['explain', '207001'])"
    ended = run(source)
    for word in ("`ulimit -v`", "`ulimit -d`", "cgroup", "ACLNN_PY_EMULATOR_MEMORY"):
        assert word in ended.text
