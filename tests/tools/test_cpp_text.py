# SPDX-License-Identifier: Apache-2.0
"""Text stays text: whatever it is, in generated source it is a literal, a comment or refused."""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import struct
import subprocess
import zipfile
from pathlib import Path

import pytest
from helpers.processes import environment
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from aclnn_py.tools import config
from aclnn_py.tools.cli import main
from aclnn_py.tools.cpp_text import (
    Code,
    block_comment,
    comment,
    cpp,
    identifier,
    integer,
    integers,
    joined,
    json_text,
    real,
    string,
)

HOSTILE = [
    '"; system("echo PWNED"); "',
    "*/ PWNED /*",
    "/*",
    "//",
    "\nPWNED();\n",
    "\r\nPWNED();",
    "\x0bPWNED\x0c\x85\u2028\u2029",
    "ends with a backslash \\",
    "ends with a trigraph ??/",
    "???/\nPWNED",
    "??'??!??-",
    "%:include <PWNED> <% %> <: :>",
    "%s%n%s%n",
    "{0} {} {{}} {name!r:>9}",
    "R\"(PWNED)\" u8'x'",
    "\\u000aPWNED \\x0a \\",
    "\u202ePWNED\u2066",
    "grün 漢字 🙂 \udcff\udc80",
    "#include </etc/passwd>",
    '__attribute__((constructor)) void pwned() { __builtin_puts("PWNED"); }',
    "*" * 9 + "/" * 9,
    "x" * 5000,
    "",
    " ",
    "\t",
    "0123456789abcdefABCDEF",
]
# Any text that a name of a file or an argument can be: bytes that are no UTF-8 included.
TEXTS = st.text(
    st.one_of(
        st.sampled_from("\\\"'?/*%#{}\n\r\t\x0b\x0c\x00\x1b\x7f\x85\u2028\udcff0a1fF<>:"),
        st.characters(exclude_categories=["Cs"]),
    ),
    max_size=60,
)
FLAGS = [
    "-O0",
    "-Wall",
    "-Wextra",
    "-Wcomment",
    "-Wtrigraphs",
    "-Woverflow",
    "-Wnarrowing",
    "-Werror",
]


def compiled(source: Path, *flags: str) -> str:
    """Compile a program, run it, and return what it printed."""
    command = shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or "clang++"]
    target = source.with_suffix("")
    command = [*command, *FLAGS, *flags]
    done = subprocess.run(
        [*command, str(source), "-o", str(target)], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr[:3000]
    done = subprocess.run([str(target)], capture_output=True, text=True, check=True, timeout=300)
    return done.stdout


def program(texts: list[str]) -> str:
    """Print the bytes of each text; comments of the same text stand around them."""
    lines = ["#include <cstdio>", "int main() {", "  int count = 0;"]
    for number, text in enumerate(texts):
        lines += [
            cpp("  {}", comment(text)),
            cpp("  static const char text{}[] = {};  {}", number, string(text), comment(text)),
            cpp("  {} ++count; {}", block_comment(text), block_comment(text)),
            cpp("  for (unsigned i = 0; i + 1 < sizeof text{}; ++i)", number),
            cpp('    std::printf("%02x", static_cast<unsigned char>(text{}[i]));', number),
            '  std::printf("\\n");',
        ]
    return "\n".join([*lines, '  std::printf("%d\\n", count);', "}", ""])


def check_texts(folder: Path, texts: list[str], standard: str) -> None:
    source = folder / "texts.cpp"
    source.write_text(program(texts), encoding="ascii")
    found = compiled(source, standard, "-trigraphs").split("\n")
    wanted = [text.encode("utf-8", "surrogateescape").hex() for text in texts]
    assert found == [*wanted, str(len(texts)), ""]


@pytest.mark.parametrize("standard", ["-std=c++11", "-std=c++17", "-std=gnu++20"])
def test_hostile_text_stays_text(tmp_path, standard):
    check_texts(tmp_path, HOSTILE, standard)


@settings(max_examples=5, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.lists(TEXTS.filter(lambda text: "\0" not in text), min_size=60, max_size=200))
def test_any_text_stays_text(tmp_path_factory, texts):
    check_texts(tmp_path_factory.mktemp("texts"), texts, "-std=c++14")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_comments_are_one_line_of_printable_ascii_that_nothing_ends(text):
    for spelled in (comment(text), block_comment(text)):
        assert spelled.isascii() and (spelled.isprintable() or not spelled)
        assert "\\" not in spelled and "??" not in spelled
    assert comment(text).startswith("// ")
    inside = block_comment(text)[2:-2]
    assert "*/" not in inside and "/*" not in inside and not inside.endswith("*")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_strings_are_one_literal_or_refused(text):
    if "\0" in text:
        with pytest.raises(ValueError, match="zero byte"):
            string(text)
        return
    spelled = string(text)
    assert spelled.isascii() and spelled.isprintable() and "?" not in spelled
    assert spelled[0] == spelled[-1] == '"'
    # Octal escapes have three digits, so what follows them is not theirs; nothing else is escaped.
    inside, raw, at = spelled[1:-1], bytearray(), 0
    while at < len(inside):
        assert inside[at] != '"'
        if inside[at] == "\\":
            raw.append(int(inside[at + 1 : at + 4], 8))
            at += 4
        else:
            raw.append(ord(inside[at]))
            at += 1
    assert bytes(raw) == text.encode("utf-8", "surrogateescape")


@settings(max_examples=300, deadline=None)
@given(TEXTS)
def test_a_template_takes_code_and_integers_only(text):
    for value in (text, True, 1.5, None, b"x", [text]):
        with pytest.raises(TypeError):
            cpp("{}", value)
        with pytest.raises(TypeError):
            joined([value])
    assert cpp("a{}b{c}", 1, c=string(text.replace("\0", ""))).startswith("a1b")
    plain = text.isascii() and text.isidentifier() and len(text) <= 128
    if plain:
        assert identifier(text) == text
    else:
        with pytest.raises(ValueError, match="no C identifier"):
            identifier(text)


def test_a_template_has_no_way_into_a_value():
    for template in ("{0.__class__}", "{0[0]}", "{0!r}", "{0:>9}", "{}{}"):
        with pytest.raises((TypeError, ValueError, IndexError, KeyError)):
            cpp(template, Code("x"))


def test_numbers_keep_their_values(tmp_path):
    limits = [-(2**63), 1 - 2**63, -(2**31), -1, 0, 2**31, 2**63 - 1]
    doubles = [0.0, -0.0, 5e-324, 1.7976931348623157e308, 0.1, math.inf, -math.inf, math.nan, 1e22]
    floats = [
        0.0,
        -0.0,
        1e-45,
        3.4028234663852886e38,
        3.5e38,
        -1e300,
        0.1,
        math.inf,
        math.nan,
        1e22,
    ]
    lines = [
        "#include <cstdint>\n#include <cstdio>\n#include <cstring>",
        "int main() {",
        cpp("  const int64_t whole[] = {};", integers(limits)),
        cpp("  const double reals[] = {{{}}};", joined(map(real, doubles))),
        cpp("  const float singles[] = {{{}}};", joined(real(x, single=True) for x in floats)),
        cpp("  const int8_t small[] = {{{}, {}}};", integer(-128, 8), integer(127, 8)),
        cpp("  const uint32_t word = {};", integer(2**32 - 1, 32, signed=False)),
        cpp("  const uint64_t big = {};", integer(2**64 - 1, 64, signed=False)),
        '  for (int64_t x : whole) std::printf("%lld\\n", static_cast<long long>(x));',
        '  for (double x : reals) std::printf("%a\\n", x);',
        '  for (float x : singles) std::printf("%a\\n", static_cast<double>(x));',
        '  std::printf("%d %d %u\\n", small[0], small[1], word);',
        '  std::printf("%llu\\n", static_cast<unsigned long long>(big));',
        "}\n",
    ]
    source = tmp_path / "numbers.cpp"
    source.write_text("\n".join(lines))
    found = compiled(source, "-std=c++17").split("\n")[:-1]
    assert list(map(int, found[:7])) == limits
    assert found[-2:] == ["-128 127 4294967295", str(2**64 - 1)]

    def single(value):
        try:
            return struct.unpack("f", struct.pack("f", value))[0]
        except OverflowError:
            return math.copysign(math.inf, value)

    wanted = [*doubles, *map(single, floats)]
    for text, value in zip(found[7:-2], wanted, strict=True):
        back = float.fromhex(text)
        assert struct.pack("d", back) == struct.pack("d", value) or (
            back != back and value != value
        )


@pytest.mark.parametrize(
    ("value", "bits", "signed"),
    [(128, 8, True), (-129, 8, True), (2**63, 64, True), (-1, 64, False), (2**32, 32, False)],
)
def test_integers_that_do_not_fit_are_refused(value, bits, signed):
    with pytest.raises(ValueError, match="does not fit"):
        integer(value, bits, signed=signed)


@pytest.mark.parametrize("value", ["0", True, 1.0, None])
def test_what_is_no_number_is_no_number(value):
    with pytest.raises(TypeError):
        integer(value)
    with pytest.raises(TypeError):
        integers([value])
    if not isinstance(value, float):
        with pytest.raises(TypeError):
            real(value)


def test_json_in_a_comment_is_json_still():
    row = {"a": ["*/ int x; /*", "/*/", "\n"]}
    spelled = json_text(row)
    assert "*/" not in spelled and "/*" not in spelled and spelled.isprintable()
    assert json.loads("{" + spelled + "}") == row


def part(m=0):
    return {"memory": m, "offset": 0, "shape": [2], "strides": [1], "dtype": "float32",
            "format": "ND", "storage_shape": [2]}  # fmt: skip


@pytest.mark.emulator_only(reason="the programs are linked with the emulator")
def test_a_program_of_a_hostile_record_does_what_the_call_does_and_no_more(tmp_path, capsys):
    evil = '\n#include <cstdio>\nstatic int pwned = std::puts("PWNED");\n// \\'
    call = {"operator": "aclnnApplyRotaryPosEmbV2",
            "arguments": [0, 1, 2, 3, -(2**63), '"); std::puts("PWNED"); ("\n??/'],
            "views": [part(n) for n in range(4)],
            "memories": [{"nbytes": 8, "before": None, "after": None}] * 4,
            "status": 161002, "stage": "phase one", "message": evil, "line": f"a.py:1{evil}",
            "group": None}  # fmt: skip
    for number, argument in enumerate((call["arguments"], [0, 1, 2, 3, 1, None])):
        index = {"kind": "aclnn_py record", "version": 1, "about": {"cann": evil},
                 "calls": [{**call, "arguments": argument}]}  # fmt: skip
        path = tmp_path / f"{number}.rec"
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("index.json", json.dumps(index))
        status = main(["replay", "--cpp", str(path)])
        text = capsys.readouterr()
        if status == 2:  # the operator takes no null, or no such number
            assert "argument" in text.err
            continue
        hits = [line for line in text.out.splitlines() if "PWNED" in line]
        assert all(line.startswith(("// Recorded from ", "  char ")) for line in hits)
        source = tmp_path / f"{number}.cpp"
        source.write_text(text.out, encoding="ascii")
        target = source.with_suffix("")
        command = shlex.split(os.environ.get("CXX", "")) or [shutil.which("g++") or "clang++"]
        flags = ["-std=c++17", *FLAGS, *config.compiler_flags()]
        subprocess.run(
            [*command, *flags, str(source), *config.linker_flags(), "-o", str(target)], check=True
        )
        done = subprocess.run(
            [str(target)], capture_output=True, text=True, timeout=120, env=environment()
        )
        assert done.returncode == 1 and "PWNED" not in done.stdout.split("GetWorkspaceSize: ")[0]
        assert not any(line == "PWNED" for line in done.stdout.splitlines())
