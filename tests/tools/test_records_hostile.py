# SPDX-License-Identifier: Apache-2.0
"""Records that anybody may have written: bounded before unpacking, checked before use."""

from __future__ import annotations

import json
import os
import secrets
import struct
import zipfile

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import errors, ops
from aclnn_py.operators.record import archive
from aclnn_py.operators.record.file import RecordError, RecordReader
from aclnn_py.tools.cli import main

DATA = "data/" + "0" * 64 + ".bin"


def view(**over):
    return {"memory": 0, "offset": 0, "shape": [2], "strides": [1], "dtype": "float32",
            "format": "ND", "storage_shape": [2], **over}  # fmt: skip


def memory(**over):
    return {"nbytes": 8, "before": None, "after": None, **over}


def call(**over):
    return {"operator": "aclnnAbs", "arguments": [0, 1], "views": [view(), view()],
            "memories": [memory()], "status": 161002, "stage": "phase one", "message": "",
            "line": "a.py:1", "group": None, **over}  # fmt: skip


def without(row, key):
    return {name: value for name, value in row.items() if name != key}


def index(*calls, **over):
    return {"kind": "aclnn_py record", "version": 1, "about": {}, "calls": list(calls), **over}


def written(path, content, parts=()):
    text = content if isinstance(content, (str, bytes)) else json.dumps(content)
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("index.json", text)
        for name, data in parts:
            archive.writestr(name, data)
    return path


BLOCKED = {"format": "FRACTAL_NZ", "shape": [64, 64], "strides": [64, 1]}
FIELDS = {
    "about is a list": (index(about=[]), "about: found"),
    "about holds a number": (index(about={"cann": 8}), r"about\['cann'\]: found 8"),
    "calls is text": (index(calls="abc"), "calls: found 'abc'"),
    "a call is a number": (index(5), r"calls\[0\]: found 5"),
    "no status": (index(without(call(), "status")), r"calls\[0\].status is missing"),
    "operator is a list": (index(call(operator=["a"])), r"calls\[0\].operator: found \['a'\]"),
    "operator is code": (index(call(operator="a(); b")), "the C name of an operator"),
    "stage is code": (index(call(stage="x\n#include")), r"calls\[0\].stage"),
    "status is text": (index(call(status="0")), "calls.0..status: found '0'"),
    "status is true": (index(call(status=True)), "found True"),
    "status is a fraction": (index(call(status=0.5)), "found 0.5"),
    "status is huge": (index(call(status=10**4000)), "an integer of 13288 bits"),
    "line is a number": (index(call(line=5)), "calls.0..line: found 5; allowed is text"),
    "line is long": (index(call(line="x" * 20000)), "a text of 20000 characters"),
    "group is huge": (index(call(group=10**9)), "1..1024"),
    "group is negative": (index(call(group=-1)), "1..1024"),
    "too many arguments": (index(call(arguments=[None] * 65)), "at most 64"),
    "view is null": (index(call(views=[None])), r"views\[0\]: found None; allowed is an object"),
    "memory is absent": (index(call(views=[view(memory=1)])), r"views\[0\].memory: found 1"),
    "no memory at all": (index(call(memories=[])), r"views\[0\].memory: found 0; allowed is none"),
    "shape is text": (index(call(views=[view(shape="22")])), "shape: found '22'"),
    "shape holds text": (index(call(views=[view(shape=["2"])])), r"shape\[0\]: found '2'"),
    "length of 2**80": (index(call(views=[view(shape=[2**80])])), r"shape\[0\]"),
    "product of lengths": (
        index(call(views=[view(shape=[2**32] * 2, strides=[0, 0])])), "elements of at most"),
    "product beside a 0": (
        index(call(views=[view(shape=[0, 2**62, 2**62], strides=[0] * 3)])), "elements of at most"),
    "product of storage": (index(call(views=[view(storage_shape=[2**62] * 3)])), "storage_shape"),
    "rank of 11": (index(call(views=[view(shape=[1] * 11, strides=[1] * 11)])), "at most 10"),
    "storage rank of 13": (index(call(views=[view(storage_shape=[1] * 13)])), "at most 12"),
    "fewer strides": (index(call(views=[view(strides=[])])), "strides: found"),
    "negative stride": (index(call(views=[view(strides=[-1])])), r"strides\[0\]: found -1"),
    "long stride": (index(call(views=[view(strides=[2**62])])), "outside its memory"),
    "offset outside": (index(call(views=[view(offset=1)])), "outside its memory"),
    "empty, far outside": (index(call(views=[view(offset=99, shape=[0])])), "outside its memory"),
    "dtype is a list of types": (index(call(views=[view(dtype="i4,i4")])), "dtype: found 'i4,i4'"),
    "dtype is an object": (index(call(views=[view(dtype={})])), "dtype: found an object of 0"),
    "format is a number": (index(call(views=[view(format=2)])), "format: found 2"),
    "blocks of a lie": (index(call(views=[view(**BLOCKED, storage_shape=[2])])), "8, 4, 16, 8"),
    "blocks at an offset": (
        index(call(views=[view(**BLOCKED, storage_shape=[8, 4, 16, 8], offset=1)])), "0 for FRAC"),
    "blocks with strides": (
        index(call(views=[view(**{**BLOCKED, "strides": [1, 1]})])), "strides: found"),
    "blocks of one dimension": (
        index(call(views=[view(format="FRACTAL_NZ")])), "at least 2 dimensions"),
    "memory of 2**62": (index(call(memories=[memory(nbytes=2**62)])), "nbytes: found 46116860"),
    "memories too large together": (
        index(call(memories=[memory(nbytes=200 << 20)] * 2)), "419430400 bytes in all"),
    "bytes elsewhere": (index(call(memories=[memory(before="../../etc/passwd")])), "data/SHA256"),
    "bytes are a number": (index(call(memories=[memory(after=5)])), "after: found 5"),
}  # fmt: skip


@pytest.mark.parametrize("name", FIELDS)
def test_each_field_is_checked_and_named(name, tmp_path, capsys):
    content, words = FIELDS[name]
    path = written(tmp_path / "file", json.dumps(content) if content else "")
    with pytest.raises(RecordError, match=words):
        RecordReader(path)
    for option in ([], ["--cpp"]):
        assert main(["replay", *option, str(path)]) == 2
        text = capsys.readouterr().err
        assert text.startswith(f"aclnn-py replay: {path}: ") and text.count("\n") == 1, text


ARGUMENTS = {
    "position outside": ("aclnnAbs", [7, 0], "self: found 7; allowed is an integer in 0..1"),
    "position below": ("aclnnAbs", [-1, 0], "argument self: found -1"),
    "position is text": ("aclnnAbs", ["0", 0], "argument self: found '0'"),
    "list of no tensors": ("aclnnCat", [["x"], 0, 1], r"argument tensors\[0\]: found 'x'"),
    "list is a number": ("aclnnCat", [0, 0, 1], "argument tensors: found 0; allowed is a list"),
    "integer is code": ("aclnnCat", [[0], "0); evil(", 1], r"argument dim: found '0\); evil\('"),
    "integer is null": ("aclnnCat", [[0], None, 1], "argument dim: found None"),
    "integer is large": ("aclnnCat", [[0], 2**63, 1], "argument dim: found 9223372036854775808"),
    "integers are code": ("aclnnPermute", [0, [0, "evil()"], 1], r"dims\[1\]: found 'evil"),
    "scalar of text": ("aclnnAdd", [0, 0, "1", 1], "argument alpha: found '1'"),
    "scalar of no dtype": ("aclnnAdd", [0, 0, ["evil", "00"], 1], "argument alpha: found"),
    "scalar without bytes": ("aclnnAdd", [0, 0, ["float32", "00"], 1], "8 hexadecimal digits"),
    "scalar of 4 bits": ("aclnnAdd", [0, 0, ["int4", "0"], 1], "argument alpha: found"),
    "too few": ("aclnnAdd", [0, 0], "has 4 parameters, the record has 2"),
    "no such operator": ("aclnnNoSuchThing", [0], "no operator of CANN"),
    "a name of Python": ("__class__", [0], "no operator of CANN"),
    "real is a number": ("aclnnLayerNorm", [0, [2], None, None, 1e-5, 1, None, None], "eps: found"),
    "real is too large": (
        "aclnnLayerNorm", [0, [2], None, None, "0x1p+9999", 1, None, None], "eps: found '0x1p"),
    "flag is 2": ("aclnnReduceSum", [0, [0], 2, "float32", 1], "allowed is 0 or 1"),
    "dtype is code": ("aclnnReduceSum", [0, [0], 0, "evil()", 1], r"found 'evil\(\)'"),
}  # fmt: skip


@pytest.mark.parametrize("name", ARGUMENTS)
def test_each_argument_is_checked_against_its_operator(name, device, tmp_path, capsys):
    operator, arguments, words = ARGUMENTS[name]
    path = written(tmp_path / "file", index(call(operator=operator, arguments=arguments)))
    with pytest.raises(RecordError, match=words):
        ap.tools.replay(path)
    assert main(["replay", "--cpp", str(path)]) == 2
    assert main(["replay", "--minimize", str(tmp_path / "small"), str(path)]) == 2
    assert not (tmp_path / "small").exists() and "Traceback" not in capsys.readouterr().err


@pytest.mark.parametrize(
    "text", ["[" * 200_000, '{"a":' * 100_000, "9" * 5000, "", b"\xff{}", "[]"]
)
def test_json_that_is_none_is_refused(text, tmp_path):
    with pytest.raises(RecordError, match=r"nested too deeply|not a record of calls"):
        RecordReader(written(tmp_path / "file", text))


def test_a_small_file_that_unpacks_to_much_is_not_unpacked(tmp_path, monkeypatch, capsys):
    parts = [(DATA, b"\0" * (300 << 20))]
    path = written(tmp_path / "file", index(call()), parts)
    assert path.stat().st_size < 1 << 20

    def unpacked(self, info):
        raise AssertionError("it was unpacked")

    monkeypatch.setattr(archive.Archive, "_unpacked", unpacked)
    words = "would unpack to 31457[0-9]* bytes from [0-9]*; at most 268435456 are read.*--max-mib"
    with pytest.raises(RecordError, match=words):
        RecordReader(path)
    assert main(["replay", str(path)]) == 2
    assert "--max-mib" in capsys.readouterr().err
    monkeypatch.undo()
    # Whoever trusts it says so.
    assert len(RecordReader(path, limit_nbytes=1 << 30).calls) == 1
    assert main(["replay", "--max-mib", "1024", "--cpp", str(path)]) == 0
    with pytest.raises(RecordError, match="at most 1048576 are read"):
        RecordReader(path, limit_nbytes=1 << 20)


def test_an_index_of_too_many_bytes_or_values_is_not_decoded(tmp_path, monkeypatch):
    monkeypatch.setattr(archive, "_INDEX_NBYTES", 1 << 16)
    with pytest.raises(RecordError, match=r"index.json has 65537 bytes; at most 65536 are read"):
        RecordReader(written(tmp_path / "long", " " * 65537))
    with pytest.raises(RecordError, match=r"index.json has 5001 values, which is too many"):
        RecordReader(written(tmp_path / "many", "[" + "0," * 5000 + "0]"))


def test_a_directory_that_lies_about_lengths_costs_nothing(tmp_path, monkeypatch):
    path = written(
        tmp_path / "file", index(call(memories=[memory(before=DATA)])), [(DATA, b"12345678")]
    )
    raw = path.read_bytes()
    at = raw.rindex(b"PK\1\2")
    for field, value in (
        (24, 0xFFFFFFF0),
        (24, 9),
        (24, 7),
        (42, 0x7FFFFFFF),
        (10, 14),
        (8, 1),
    ):
        size = 4 if field >= 20 else 2
        bent = raw[: at + field] + struct.pack("<Q", value)[:size] + raw[at + field + size :]
        path.write_bytes(bent)
        with pytest.raises(RecordError):
            RecordReader(path).data(DATA, 8)
    monkeypatch.setattr(archive, "_DIRECTORY_NBYTES", 200)
    path.write_bytes(raw)
    with pytest.raises(RecordError, match="its directory has"):
        RecordReader(written(path, index(), [(f"data/{n:064}.bin", b"") for n in range(9)]))


def test_what_is_no_regular_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "fifo")
    for path in (tmp_path / "fifo", "/dev/zero"):
        with pytest.raises(RecordError, match="no regular file"):
            RecordReader(path)
    with pytest.raises(OSError):
        RecordReader(tmp_path / "absent")


def test_a_result_whose_elements_share_memory_is_not_compared(device, tmp_path):
    wide = view(shape=[1 << 20], strides=[0], storage_shape=[1])
    bad = call(operator="aclnnAbs", arguments=[1, 0], views=[wide, wide], status=0, stage="",
               memories=[memory(after=DATA)])  # fmt: skip
    path = written(tmp_path / "file", index(bad), [(DATA, bytes(8))])
    try:
        (item,) = ap.tools.replay(path)
    except RecordError as error:
        assert "share memory" in str(error)
    else:
        assert item.status != 0  # phase one does not take such a result


def test_more_memory_than_the_device_has_is_said(device, tmp_path, capsys):
    total = device.memory_info().total
    path = written(tmp_path / "file", index(call(memories=[memory(nbytes=total + 1)])))
    with pytest.raises(errors.OutOfMemoryError):
        ap.tools.replay(path, limit_nbytes=2 * total)
    assert main(["replay", "--max-mib", str(total >> 19), str(path)]) == 2
    assert "aclnn-py replay: " in capsys.readouterr().err


def test_text_of_a_file_does_not_reach_the_terminal_as_it_is(device, tmp_path, capsys):
    path = written(tmp_path / "file", index(call(line="\x1b]0;x\x07\u202e\ud800\n")))
    assert main(["replay", str(path)]) == 1
    out = capsys.readouterr().out
    assert r"(\x1b]0;x\x07\u202e\ud800\n)" in out and out.replace("\n", "").isprintable()


def test_bytes_that_are_no_utf_8_survive(device, tmp_path):
    path = tmp_path / "call"
    x = ap.from_numpy(np.ones((2, 2), np.float32))
    with pytest.raises(errors.AclnnError) as caught:
        ops.apply_rotary_pos_emb_v2(x, x, x, x, 1, b"\xff\xfe")
    caught.value.save(path)
    (item,) = ap.tools.replay(path)
    assert item.status == caught.value.status
    assert main(["replay", "--cpp", str(path)]) == 0


def test_an_operator_that_no_library_has_is_said(device, tmp_path, capsys):
    absent = call(operator="aclnnSleep", arguments=[[1]])
    path = written(tmp_path / "file", index(absent))
    (item,) = ap.tools.replay(path)
    if item.missing:
        assert not item.agrees and "aclnnSleep" in item.missing
    assert main(["replay", str(path)]) == 1
    assert main(["replay", "--minimize", str(tmp_path / "small"), str(path)]) == 2
    assert "Traceback" not in capsys.readouterr().err


def test_a_link_in_the_place_of_the_new_file_is_not_followed(device, tmp_path, monkeypatch):
    victim, path = tmp_path / "victim", tmp_path / "calls"
    victim.write_text("precious")
    names = iter(["guessed", "fresh"])
    monkeypatch.setattr(secrets, "token_hex", lambda length: next(names))
    for suffix in ("guessed", f"{os.getpid()}"):
        os.symlink(victim, f"{path}.{suffix}.partial")
    x = ap.from_numpy(np.ones(2, np.float32))
    with ap.tools.record(path):
        ops.add(x, x, 1, x)
    assert victim.read_text() == "precious" and not path.is_symlink()
    assert [item.agrees for item in ap.tools.replay(path)] == [True]
    assert next(names, "none left") == "none left"
