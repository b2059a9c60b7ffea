# SPDX-License-Identifier: Apache-2.0
"""Batches: sources that one run of the compiler reads together, where all of them are compiled.

The headers and the templates behind them cost a small source more than its own text, and a batch
pays for them once. A batch is a generated file that includes its sources, so they share unnamed
namespaces and headers. Each name means there what it means without the other sources. A name that a
source keeps to itself is changed there: `run` of max_pool.cpp is `run_in_max_pool`. A name that
cannot be changed keeps two sources apart where it occurs in what the other one reads alone.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

from build_parts.paths import GENERATED, write_tree
from build_parts.precompiled import STANDARD
from build_parts.toolchain import Unit, own_flags

# Larger ones would keep processors waiting for the last batch.
BATCH_BYTES = 100_000
# A source that other sources would change although no name shows it says so near its top, and why.
ALONE = "// build alone: "

_NOISE = re.compile(
    r'//[^\n]*|/\*.*?\*/|R"(?P<end>\w*)\(.*?\)(?P=end)"|"(?:[^"\\\n]|\\.)*"|'
    r"(?<!\w)'(?:[^'\\\n]|\\.)+'",
    re.DOTALL,
)
_INCLUDED = re.compile(r'^#include "(.+)"$', re.MULTILINE)
_HEADER = re.compile(r"^#include (?:<.+>|\".+\.h\")$", re.MULTILINE)
_CONDITION = re.compile(r"^# *(?!include\b)\w", re.MULTILINE)
_MACRO = re.compile(r"^# *define +(\w+)", re.MULTILINE)
_DIRECTIVE = re.compile(r"^#(?:.*\\\n)*.*", re.MULTILINE)
_WORD = re.compile(r"[A-Za-z_]\w*")
# A member that is named after its object is not looked up among the names of a source.
_MEMBER = re.compile(r"(?:\.|->)\s*[A-Za-z_]\w*")
# Such a name belongs to what stands before it, and stays. `emu` is the namespace of the sources.
_OF_ANOTHER = re.compile(r"(?:\.|->|(?<!\bemu)::)\s*([A-Za-z_]\w*)")
# clang-format keeps the lines of a body off the margin and its closing brace on it.
_BODY = re.compile(r"\{\n(?: .*\n|\n)*\}")
_UNNAMED = re.compile(r"^namespace \{\n(.*?)^\}", re.MULTILINE | re.DOTALL)
_INTERNAL = re.compile(r"^(?:static|constexpr|const|using)\b[^;]*;", re.MULTILINE)
_ENUMERATORS = re.compile(r"\benum (?!class)[^;{}]*(\{[^{}]*\})")
_TAKEN_OVER = re.compile(r"\busing (?:namespace )?[\w:]+;|\bfinal\b")
_ARGUMENTS = re.compile(r"<[^<>(){};]*>")
_BRACKETS = re.compile(r"\([^()]*\)|\[[^\[\]]*\]")
_SHORT_BODY = re.compile(r"\{(?!\n)[^{}]*\}")  # not that of a namespace
_BASES = re.compile(r"(?<!:):(?!:)[^;@]*")
_VALUE = re.compile(r"=[^,;]*")
_NAME = re.compile(r"([A-Za-z_]\w*)\s*(?=[=,@;])")
_NO_NAMES = {"__attribute__", "alignas", "asm", "const", "decltype", "explicit", "noexcept"} | {
    "catch",
    "enum",
    "operator",
    "static_assert",
    "try",
}


_HEAD = """\
// Generated: sources that the compiler reads together (build_parts/batches.py).
// build flags: {flags}
#ifndef __clang__
// GCC takes every included file for a header, which should keep no unnamed type in a named one.
#pragma GCC diagnostic ignored "-Wsubobject-linkage"
#endif
"""


@dataclass(frozen=True)
class Source:
    """What a source may share with another one, and what not."""

    path: Path
    size: int
    headers: tuple[str, ...]
    """Its lines that include them."""
    reads: frozenset[str]
    """Itself and every header of ours behind it."""
    renamed: frozenset[str]
    """What it keeps to itself and nothing else that it reads mentions."""
    strangers: frozenset[str]
    """Files that it does not read and that mention another name which it keeps to itself."""


def batched(units: Sequence[Unit], folders: Sequence[Path]) -> list[Unit]:
    """The units, those that may meet others joined in batches; writes the files of these."""
    alike: dict[tuple[str, ...], list[Unit]] = {}
    joined = []
    for unit in units:
        # Kernels are long and have names of their own.
        if unit.headers == STANDARD and ALONE not in unit.source.read_text(encoding="utf-8"):
            alike.setdefault((*unit.flags, "", *own_flags(unit.source)), []).append(unit)
        else:
            joined.append(unit)
    texts = {}
    folder = GENERATED / "batches"
    sources = {unit.source for group in alike.values() for unit in group}
    known = {source.path: source for source in described(sorted(sources), folders)}
    for group in alike.values():
        of_source = {unit.source: unit for unit in group}
        for batch in batches([known[path] for path in of_source]):
            first = of_source[batch[0].path]
            if len(batch) == 1:
                joined.append(first)
                continue
            name = first.label.replace("/", ".")
            texts[name] = _HEAD.format(flags=" ".join(own_flags(first.source))) + text_of(batch)
            label = f"{first.label}+{len(batch) - 1}"
            members = tuple(source.path for source in batch)
            joined.append(Unit(folder / name, first.flags, label, members=members))
    write_tree(folder, texts)
    return joined


def text_of(sources: Sequence[Source]) -> str:
    """What the compiler reads: the headers, which no new name may change, then the sources."""
    lines = dict.fromkeys(line for source in sources for line in source.headers)
    text = "".join(f"{line}\n" for line in lines)
    for source in sources:
        names = sorted(source.renamed)
        text += "".join(f"#define {name} {name}_in_{source.path.stem}\n" for name in names)
        text += f'#include "{source.path}"\n'
        text += "".join(f"#undef {name}\n" for name in names)
    return text


def batches(sources: Iterable[Source]) -> list[list[Source]]:
    """Put each source into the first batch that has room and nothing against it."""
    made: list[tuple[list[Source], int]] = []
    for source in sources:
        for at, (members, size) in enumerate(made):
            fits = size + source.size <= BATCH_BYTES
            if fits and all(may_meet(source, member) for member in members):
                made[at] = ([*members, source], size + source.size)
                break
        else:
            made.append(([source], source.size))
    return [members for members, _ in made]


def may_meet(one: Source, other: Source) -> bool:
    """Whether each of the two means the same in a batch as alone."""
    if one.path.stem == other.path.stem:  # changed names would be the same
        return False
    return one.strangers.isdisjoint(other.reads) and other.strangers.isdisjoint(one.reads)


def described(sources: Iterable[Path], folders: Sequence[Path]) -> list[Source]:
    """Read the sources and what they include from `folders`."""
    files: dict[str, tuple[str, list[str]]] = {}
    closures = {path: frozenset(read_closure(path, folders, files)) for path in sources}
    mentions: dict[str, set[str]] = {}
    of_macros: dict[str, set[str]] = {}  # the preprocessor knows no members
    macros = {word for text, _ in files.values() for word in _MACRO.findall(text)}
    words = {name: set(_WORD.findall(_MEMBER.sub(" ", text))) for name, (text, _) in files.items()}
    own = {path: own_names(files[str(path)][0]) for path in closures}
    headers = {path: headers_of(path) for path in closures}
    renamed: dict[Path, set[str]] = {}
    for path, reads in closures.items():
        taken = macros.union(*(words[name] for name in reads if name != str(path)))
        taken.update(_OF_ANOTHER.findall(files[str(path)][0]))
        renamed[path] = set() if headers[path] is None else own[path] - taken
    for path, names in renamed.items():
        words[str(path)] -= names
    for name, (text, _) in files.items():
        for word in words[name]:
            mentions.setdefault(word, set()).add(name)
        for word in macros.intersection(_WORD.findall(text)):
            of_macros.setdefault(word, set()).add(name)
    return [
        Source(
            path,
            path.stat().st_size,
            headers[path] or (),
            reads,
            frozenset(renamed[path]),
            frozenset().union(
                *((of_macros if w in macros else mentions)[w] for w in own[path] - renamed[path])
            )
            - reads,
        )
        for path, reads in closures.items()
    ]


def headers_of(path: Path) -> tuple[str, ...] | None:
    """The lines that include headers; None where one of them depends on a condition or a macro."""
    text = path.read_text(encoding="utf-8")
    found = list(_HEADER.finditer(text))
    if found and _CONDITION.search(text[: found[-1].start()]):
        return None
    return tuple(line[0] for line in found)


def read_closure(
    path: Path, folders: Sequence[Path], files: dict[str, tuple[str, list[str]]]
) -> set[str]:
    """Names of the file and of all that it includes; their texts and includes join `files`."""
    found: set[str] = set()
    waiting = [str(path)]
    while waiting:
        name = waiting.pop()
        if name in found:
            continue
        found.add(name)
        if name not in files:
            raw = Path(name).read_text(encoding="utf-8")
            places = (folder / given for given in _INCLUDED.findall(raw) for folder in folders)
            included = [str(place) for place in places if place.is_file()]
            files[name] = (
                _NOISE.sub(lambda text: '""' if text[0][0] in '"R' else " ", raw),
                included,
            )
        waiting += files[name][1]
    return found


def own_names(text: str) -> set[str]:
    """Names that a source without comments declares for itself alone.

    They are the macros, and what stands in unnamed namespaces or is internal by its first word.
    """
    names = set(_MACRO.findall(text))
    text = _DIRECTIVE.sub("", text)
    for members in _ENUMERATORS.findall(text):
        names.update(_NAME.findall(_VALUE.sub("=", members.replace("}", ";"))))
    text = _BODY.sub("@;", text)
    before = ""
    while text != before:
        before = text
        for pattern, mark in ((_ARGUMENTS, " "), (_BRACKETS, "@"), (_SHORT_BODY, "@;")):
            text = pattern.sub(mark, text)
    internal = [*_UNNAMED.findall(text), *_INTERNAL.findall(_UNNAMED.sub("", text))]
    declarations = _TAKEN_OVER.sub("", "\n".join(internal))
    declarations = _VALUE.sub("=", _BASES.sub("@", declarations))
    return names.union(_NAME.findall(declarations)) - _NO_NAMES
