# SPDX-License-Identifier: Apache-2.0
"""Fuzz of records: changed archives, changed indexes, changed values; read, replayed, printed."""

from __future__ import annotations

import contextlib
import io
import json
import random
import zipfile
from pathlib import Path

import numpy as np

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.errors import StatusError
from aclnn_py.operators.record.file import RecordError, RecordReader
from aclnn_py.tools.cpp_text import Code
from aclnn_py.tools.records.replayer import replay
from aclnn_py.tools.records.reproducer import program

from .budget import Budget
from .file_mutations import adjusted_tree, changed_bytes, changed_tree, encoded
from .files import run

# What a replay may raise: the file is wrong, or the device does not have so much memory.
ERRORS = (RecordError, StatusError)
# Small, so that no call works for long.
LIMIT_NBYTES = 1 << 20
INDEX = "index.json"


def fuzz(budget: Budget) -> int:
    """Change records while the budget lasts; return the number of defects."""
    return run(budget, "tests.fuzz.records")


def seeds(folder: Path) -> list[bytes]:
    """Record a call for each kind of argument, each alone and all together."""
    return [_recorded(folder / "seed", calls) for calls in ([c] for c in CALLS)] + [
        _recorded(folder / "seed", CALLS[:4])
    ]


def mutated(rng: random.Random, known: list[bytes]) -> bytes:
    """Return a changed record."""
    data = rng.choice(known)
    way = rng.random()
    if way < 0.15:
        return changed_bytes(rng, data, known)
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    index = json.loads(parts[INDEX])
    if way < 0.2:
        parts[INDEX] = changed_bytes(rng, parts[INDEX], known)
    elif way < 0.4:
        parts[INDEX] = encoded(changed_tree(rng, index))
    else:
        index["calls"] = adjusted_tree(rng, index["calls"])
        parts[INDEX] = encoded(index)
    target = io.BytesIO()
    with zipfile.ZipFile(
        target, "w", rng.choice((zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED))
    ) as new:
        for name, part in parts.items():
            new.writestr(name, part)
    return target.getvalue()


def attempt(path: Path) -> str:
    """Read a record, write each call as a program, replay; return how it ended."""
    RecordReader(path)  # with the limits of everyday
    reader = RecordReader(path, limit_nbytes=LIMIT_NBYTES)
    for call in reader.calls:
        with contextlib.suppress(RecordError):
            text = program(call, reader.data)
            assert isinstance(text, str) and text.isascii(), "a program is ASCII"
            assert all(line.isprintable() for line in text.split("\n")), "a line is printable"
            assert not isinstance(call.line, Code)
    found = replay(path, limit_nbytes=LIMIT_NBYTES)
    for item in found:
        assert str(item).replace("\n", "").isprintable() or item.message, "a line is printable"
    if all(item.agrees for item in found):
        return "as recorded"
    return "other result" if any(item.parted for item in found) else "other status"


def _recorded(path: Path, calls: list[object]) -> bytes:
    with ap.Device(0), ap.tools.record(path):
        for call in calls:
            with contextlib.suppress(errors.AclnnError):
                call()  # type: ignore[operator]
    return path.read_bytes()


def _floats(*shape: int) -> ap.Tensor:
    return ap.from_numpy(np.arange(np.prod(shape, dtype=int), dtype=np.float32).reshape(shape))


def _add() -> None:
    x = _floats(3, 4)
    ops.add(x.T, x.T, 2.5, ap.empty((4, 3), np.float32))


def _refused() -> None:
    ops.add(_floats(2, 3), None, 1.0, _floats(2, 3))


def _cat() -> None:
    ops.cat([_floats(2, 3), _floats(2, 3)], 0, ap.empty((4, 3), np.float32))


def _sum() -> None:
    ops.reduce_sum(_floats(2, 3, 4), [0, 2], False, "float32", ap.empty(3, np.float32))


def _norm() -> None:
    ops.layer_norm(_floats(2, 4), [4], None, None, 1e-5, ap.empty((2, 4), np.float32), None, None)


def _foreach() -> None:
    x, one = _floats(2, 3), ap.from_numpy(np.ones(1, np.float32))
    ops.foreach_add_list([x, x], [x, x], one, [ap.empty((2, 3), np.float32) for _ in "ab"])


def _blocks() -> None:
    weight = ap.from_numpy(np.ones((32, 16), np.float16), format="FRACTAL_NZ")
    x = ap.from_numpy(np.ones((4, 32), np.float16))
    ops.matmul(x, weight, ap.empty((4, 16), np.float16), 0)


def _permute() -> None:
    ops.permute(_floats(2, 3), [1, 0], ap.empty((3, 2), np.float32))


def _rotary() -> None:
    x = ap.from_numpy(np.ones((1, 2, 1, 64), np.float16))
    ops.apply_rotary_pos_emb_v2(x, x, x, x, 1, "half")


def _pick() -> None:
    ops.index_select(_floats(4, 3), 0, ap.from_numpy(np.array([1, 2])), _floats(2, 3))


def _pool() -> None:
    x = ap.from_numpy(np.ones((1, 1, 4, 4), np.float32), format="NCHW")
    out = ap.empty((1, 1, 2, 2), np.float32, format="NCHW")
    ops.avg_pool2d(x, [2, 2], [2, 2], [0, 0], False, True, 0, 0, out)


CALLS: list[object] = [_add, _refused, _cat, _sum, _norm, _foreach, _blocks, _permute, _rotary,
                       _pick, _pool]  # fmt: skip
