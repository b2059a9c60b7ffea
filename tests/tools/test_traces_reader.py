# SPDX-License-Identifier: Apache-2.0
"""Traces that anybody may have written: a typed error on one line, or their calls."""

from __future__ import annotations

import json

import pytest
from helpers.processes import run_script

from aclnn_py.tools.cli import main
from aclnn_py.tools.traces import reader, table
from aclnn_py.tools.traces.reader import TraceError, read_calls
from aclnn_py.tools.traces.table import totals

TEXT = "# aclnn_py trace 1, process 7, 2025-01-01 00:00:00\n"


LINE = "1.000 us +2.000 us  thread 5  stream 3  aclnnAdd(self=NULL) -> ACLNN_SUCCESS  [kind run]\n"


NAME = {"name": "process_name", "ph": "M", "pid": 7, "tid": 0,
        "args": {"name": "aclnn_py trace 1, now"}}  # fmt: skip


EVENT = {"name": "aclnnAdd", "cat": "launch", "ph": "X", "ts": 1.0, "dur": 2, "pid": 7, "tid": 5,
         "args": {"arguments": "", "status": "ACLNN_SUCCESS", "stream": 3}}  # fmt: skip


def event(**over):
    return {key: value for key, value in {**EVENT, **over}.items() if value is not ...}


def details(**over):
    return event(args={k: v for k, v in {**EVENT["args"], **over}.items() if v is not ...})


def json_trace(*events):
    return "[\n" + ",\n".join(json.dumps(one) for one in (NAME, *events)) + "\n]\n"


GOOD = json_trace(EVENT)


BAD = {
    "empty": ("", "it starts with ''"),
    "other text": ("hello\n", "it starts with 'hello"),
    "escapes": ("\x1b]0;pwned\x07\n", r"'\\x1b\]0;pwned\\x07"),
    "brackets": ("[" * 200_000, "it has no title"),
    "brackets behind the title": (
        f"[\n{json.dumps(NAME)},\n{'[' * 200_000}\n{{}}", "line 3 is no call"),
    "title of another": ('[\n{"args": {"name": "other"}}\n]\n', "it has no title"),
    "title of a list": ('[\n{"args": []}\n]\n', "it has no title"),
    "no event": (json_trace(5, EVENT), "line 3 is no call: 5,"),
    "null": (json_trace(None, EVENT), "line 3 is no call: null"),
    "two events in a line": (json_trace(EVENT).replace("[\n", "[").replace(",\n", ","), "no title"),
    "name is a number": (json_trace(event(name=5)), "name: found 5; allowed is text"),
    "name is an escape": (json_trace(event(name="\x1b[31mX")), r"name: found '\\x1b\[31mX'"),
    "name is long": (json_trace(event(name="x" * 201)), "name: found 'xxx"),
    "no name": (json_trace(event(name=...)), "an event has no 'name'"),
    "duration is text": (json_trace(event(dur="x")), "dur: found 'x'"),
    "duration is true": (json_trace(event(dur=True)), "dur: found True"),
    "duration is negative": (json_trace(event(dur=-1)), "dur: found -1"),
    "duration is huge": (json_trace(event(dur=1e308)), "dur: found float"),
    "duration is infinite": (json_trace(event(dur=float("inf"))), "dur: found float"),
    "duration is no number": (json_trace(event(dur=float("nan"))), "dur: found"),
    "duration is long": (json_trace(event(dur=10**4000)), "dur: found int"),
    "time is null": (json_trace(event(ts=None)), "ts: found NoneType"),
    "thread is a list": (json_trace(event(tid=[])), "tid: found list"),
    "no details": (json_trace(event(args=...)), "an event has no 'args'"),
    "details are text": (json_trace(event(args="x")), "args: found 'x'; allowed is an object"),
    "no status": (json_trace(details(status=...)), "an event has no 'status'"),
    "status is a number": (json_trace(details(status=1)), "status: found 1"),
    "stream is text": (json_trace(details(stream="x")), "stream: found 'x'"),
    "a note is a list": (json_trace(details(kind=[])), "kind: found list"),
    "a note has a strange name": (json_trace(details(**{"\x1b": []})), r"\\x1b: found list"),
    "a line between": (TEXT + LINE + "hello \x1b\n" + LINE, r"line 3 is no call: hello \\x1b"),
    "time of dots": (TEXT + LINE.replace("1.000", "1.2.3") + LINE, "line 2 is no call"),
    "time of many digits": (TEXT + LINE.replace("1.000", "1" * 5000) + LINE, "line 2 is no call"),
    "digits of another script": (TEXT + LINE.replace("thread 5", "thread \u0665") + LINE, "line 2"),
}  # fmt: skip


@pytest.mark.parametrize("name", BAD)
def test_a_bad_trace_is_one_line_of_error(name, tmp_path, capsys):
    content, words = BAD[name]
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(TraceError, match=words):
        read_calls(path)
    assert main(["trace", str(path)]) == 1
    text = capsys.readouterr().err
    assert text.startswith(f"aclnn-py trace: {path}: ") and text.count("\n") == 1, text
    assert text.replace("\n", "").isprintable()


@pytest.mark.parametrize("content", [GOOD, TEXT + LINE])
def test_the_last_line_may_be_cut_off_anywhere(content, tmp_path):
    path = tmp_path / "file"
    path.write_text(content)
    (whole,) = read_calls(path)
    assert (whole.name, whole.begun_us, whole.lasted_us) == ("aclnnAdd", 1.0, 2.0)
    assert (whole.thread, whole.stream, whole.status) == (5, 3, "ACLNN_SUCCESS")
    start = content.index('{"name": "aclnnAdd"') if content is GOOD else len(TEXT)
    for end in range(start, len(content)):
        path.write_text(content[:end])
        assert len(read_calls(path)) <= 1


def test_bytes_that_are_no_text_are_refused(tmp_path):
    path = tmp_path / "file"
    for content in (
        bytes(range(256)) * 20,
        b"[\n" + bytes(range(256)) * 20,
        b"[",
        b"#",
        b"\n" * 99,
    ):
        path.write_bytes(content)
        with pytest.raises(TraceError, match="not a trace of aclnn_py"):
            read_calls(path)


def test_a_long_line_is_refused_before_it_is_read(tmp_path, monkeypatch):
    monkeypatch.setattr(reader, "MAX_LINE_NBYTES", 1000)
    path = tmp_path / "file"
    for content in (TEXT + LINE + "x" * 1000, GOOD.replace("\n]", ",\n" + " " * 1000 + "\n]")):
        path.write_text(content)
        with pytest.raises(TraceError, match="is longer than 1000 bytes"):
            read_calls(path)
    with pytest.raises(TraceError, match="not a trace"):
        read_calls("/dev/zero")


LONG = {
    "endings": LINE.replace("self=NULL", ") -> " * 700_000),
    "notes": LINE.replace("[kind run]", "  [" * 1_000_000 + "x"),
    "both": LINE.replace("self=NULL", ") ->   [" * 400_000).replace("run]", "run"),
    "blanks": " " * 3_000_000 + "x\n",
    "digits": "1" * 3_000_000 + "\n",
    "a word": LINE.replace("aclnnAdd", "a" * 3_000_000),
}


@pytest.mark.parametrize("name", LONG)
def test_time_grows_with_the_length_of_a_line(name, tmp_path):
    path = tmp_path / "file"
    path.write_text(TEXT + LONG[name] + LINE)
    source = "import sys; from aclnn_py.tools.cli import main; sys.exit(main(sys.argv[1:]))"
    done = run_script(source, "trace", str(path))
    assert done.status in (0, 1) and "Traceback" not in done.err, done


def test_too_many_names_are_refused(monkeypatch):

    monkeypatch.setattr(table, "_MAX_NAMES", 10)
    call = reader._call(LINE.strip())
    calls = [type(call)(f"f{n}", True, 0, 1, 1, 1, "", "") for n in range(11)]
    assert len(totals(calls[:10])) == 10
    with pytest.raises(TraceError, match="more than 10 different functions"):
        totals(calls)
