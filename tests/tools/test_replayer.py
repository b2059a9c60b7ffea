# SPDX-License-Identifier: Apache-2.0
"""Replays compare status and data with the record, and refuse files that are no record."""

from __future__ import annotations

import json
import zipfile

import numpy as np
import pytest
from helpers.processes import run_script

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.operators.record.file import RecordError
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

    words = "version 3; this package reads versions 1 and 2"
    refused("later", lambda i, p: i.update(version=3), words)
    refused("other", lambda i, p: i.update(kind="zip"), "another kind")
    refused("far", lambda i, p: i["calls"][0]["views"][0].update(offset=9), "outside its memory")
    refused("low", lambda i, p: i["calls"][0]["views"][0].update(strides=[-3, 1]), "integer in 0")
    refused("short", lambda i, p: p.update({n: b"" for n in p if "data" in n}), "does not hold")
    refused("op", lambda i, p: i["calls"][0].update(operator="aclnnNothing"), "no operator of CANN")
    refused("row", lambda i, p: i["calls"][0].pop("views"), "damaged")
    refused("few", lambda i, p: i["calls"][0]["arguments"].pop(), "parameters")


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
    # What lacks nothing but its directory is read without it.
    (tmp_path / "short").write_bytes(raw[:-40])
    assert main(["replay", str(tmp_path / "short")]) == 0
    assert "the process ended before the record was complete" in capsys.readouterr().out
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
