# SPDX-License-Identifier: Apache-2.0
"""The one reader of C declarations, for our headers, CANN's headers and prototypes users give.

A text becomes tokens, tokens become statements, and a statement becomes a function, a structure or
an enumeration when it is asked for. Comments, guards and macros are kept, because they carry facts
here. Every step takes time that grows with the length of the text and not faster, whatever the
text is.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import NamedTuple

__all__ = [
    "DeclarationError",
    "Function",
    "Header",
    "Parameter",
    "Statement",
    "Token",
    "function_of",
    "integer",
    "macro_of",
    "parameters_of",
    "read_file",
    "read_header",
    "spelled",
    "statements",
    "without_comments",
]

_TOKEN = re.compile(
    r"""
    (?P<comment>/\*.*?(?:\*/|\Z)|//[^\n]*)
    |(?P<directive>^[ \t]*\#(?:/\*.*?(?:\*/|\Z)|\\.|[^\n\\])*)
    |(?P<text>"(?:[^"\\\n]|\\.)*"?|'(?:[^'\\\n]|\\.)*'?|[A-Za-z0-9_]+|\.\.\.|\S)
    """,
    re.DOTALL | re.MULTILINE | re.VERBOSE,
)
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)|//[^\n]*", re.DOTALL)
_MACRO = re.compile(r"#define[ \t]+([A-Za-z_]\w*)[ \t]+\(?(-?\w+)\)?")
_INTEGER = re.compile(r"(0[xX][0-9a-fA-F]+|\d+)[uUlL]*")
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_TYPE_WORDS = frozenset(
    {"bool", "char", "const", "double", "enum", "float", "int", "long"}
    | {"short", "signed", "struct", "union", "unsigned", "void"}
)
_AGGREGATES = ("struct", "union")
_CLOSING = {"(": ")", "[": "]", "{": "}"}


class DeclarationError(ValueError):
    """The text is no declaration of the wanted form; the message shows where it leaves it."""


class Token(NamedTuple):
    """A word, a mark or a literal, and whether white space or a comment stands before it."""

    text: str
    spaced: bool


class Statement(NamedTuple):
    """Tokens up to a semicolon, which is left out."""

    tokens: list[Token]
    comment: str
    """The last comment in front, or ""; a comment serves the next statement only."""
    guard: str
    """The macro of the innermost ``#ifndef`` around it, or ""."""


class Parameter(NamedTuple):
    """One parameter. ``ctype`` is spelled ``const aclTensor *``, whatever the text's spacing."""

    ctype: str
    name: str

    @property
    def is_const(self) -> bool:
        """Whether what it points to, or its value, is const."""
        return self.ctype.startswith("const ")

    @property
    def bare(self) -> str:
        """The type without const."""
        return self.ctype.removeprefix("const ")


class Function(NamedTuple):
    """One prototype."""

    result: str
    name: str
    parameters: tuple[Parameter, ...]
    variadic: bool
    prototype: str
    """The text on one line, without comments, with its semicolon."""
    comment: str
    guard: str


class Header(NamedTuple):
    """The content of one header, each kind in the order of the text."""

    functions: dict[str, Function]
    constants: dict[str, int]
    """Enumerators and integer macros."""
    structures: dict[str, list[str]]
    """Structure or union -> its members; those of an unnamed union count as its own."""


def read_file(path: Path) -> Header:
    """Read one header of the contract."""
    return read_header(path.read_text(encoding="utf-8"))


def read_header(text: str) -> Header:
    """Read declarations in the forms that headers of the contract have.

    Raises
    ------
    DeclarationError
        A declaration has another form.
    """
    found = Header({}, {}, {})
    for item in statements(text):
        if isinstance(item, str):
            if macro := macro_of(item):
                found.constants[macro[0]] = integer(macro[1])
            continue
        words = [token.text for token in item.tokens]
        if words[0] != "typedef":
            function = function_of(item)
            found.functions[function.name] = function
        elif "{" in words:
            body = item.tokens[words.index("{") + 1 : -2]
            if words[1] == "enum":
                found.constants.update(_enumerators(body))
            else:
                found.structures[words[-1]] = list(_members(body))
    return found


def statements(text: str) -> Iterator[Statement | str]:
    """Yield each statement outside of braces, and each preprocessor line as a str.

    Braces of type definitions belong to their statement. Any other brace, such as that of
    ``extern "C"`` or of a body, only ends what stands before it.
    """
    tokens: list[Token] = []
    guards: list[str] = []
    comment = ""
    depth = 0
    end = 0
    for match in _TOKEN.finditer(text):
        word = match["text"]
        if word is None:
            if match["directive"] is not None:
                line = without_comments(match["directive"]).strip()
                _follow(guards, line)
                yield line
            elif not tokens:
                comment = match["comment"]
            continue
        spaced, end = match.start() > end, match.end()
        if depth:
            depth += (word == "{") - (word == "}")
        elif word == "{" and tokens and tokens[0].text in ("typedef", "enum", *_AGGREGATES):
            depth = 1
        elif word in ("{", "}"):
            tokens = []
            continue
        elif word == ";":
            if tokens:
                yield Statement(tokens, comment, guards[-1] if guards else "")
            tokens, comment = [], ""
            continue
        tokens.append(Token(word, spaced))


def function_of(statement: Statement, name: re.Pattern[str] = _NAME) -> Function:
    """Read a prototype. With ``name``, macros and attributes may stand around it.

    Raises
    ------
    DeclarationError
        It is none.
    """
    tokens = statement.tokens
    for at in range(1, len(tokens) - 1):
        if tokens[at + 1].text == "(" and name.fullmatch(tokens[at].text):
            break
    else:
        raise DeclarationError(f"not a C prototype: {_shown(tokens)}")
    close = _close(tokens, at + 1)
    before = tokens[:at]
    if close is None or (
        name is _NAME
        and (close != len(tokens) - 1 or not all(_is_of_a_type(token.text) for token in before))
    ):
        raise DeclarationError(f"not a C prototype: {_shown(tokens)}")
    arguments = tokens[at + 2 : close]
    variadic = bool(arguments) and arguments[-1].text == "..."
    return Function(
        result=_type(before),
        name=tokens[at].text,
        parameters=tuple(parameters_of(arguments[:-2] if variadic else arguments)),
        variadic=variadic,
        prototype=spelled(tokens) + ";",
        comment=statement.comment,
        guard=statement.guard,
    )


def parameters_of(tokens: list[Token]) -> Iterator[Parameter]:
    """Read what stands between the parentheses of a prototype; defaults of C++ are left out."""
    if [token.text for token in tokens] in ([], ["void"]):
        return
    for part in _split(tokens, ","):
        words = [token.text for token in part]
        declarator = part[: words.index("=")] if "=" in words else part
        at = _name_at(declarator)
        if at is None or at == 0:
            raise DeclarationError(f"not a parameter with a name: {_shown(part)}")
        after = declarator[at + 1 :]
        if after and after[0].text == "[":
            yield Parameter(_type([*declarator[:at], Token("*", True)]), declarator[at].text)
        elif after:
            yield Parameter(spelled(declarator[:at] + after), declarator[at].text)
        else:
            yield Parameter(_type(declarator[:at]), declarator[at].text)


def spelled(tokens: Iterable[Token]) -> str:
    """Return tokens as text on one line, with blanks where the source has white space."""
    return "".join(f" {text}" if spaced else text for text, spaced in tokens).strip()


def without_comments(text: str) -> str:
    """Return the text with one blank in the place of every comment."""
    return _COMMENT.sub(" ", text)


def macro_of(line: str) -> tuple[str, str] | None:
    """Return name and literal of ``#define NAME 1``; None for any other preprocessor line."""
    found = _MACRO.fullmatch(line)
    if found is None or not _INTEGER.fullmatch(found[2].removeprefix("-")):
        return None
    return found[1], found[2]


def integer(text: str) -> int:
    """Return the value of a C integer literal, with or without sign and suffix.

    Raises
    ------
    DeclarationError
        It is none.
    """
    found = _INTEGER.fullmatch(text.removeprefix("-"))
    if found is None:
        raise DeclarationError(f"not an integer literal: {text[:60]!r}")
    value = int(found[1], 0)
    return -value if text.startswith("-") else value


def _follow(guards: list[str], line: str) -> None:
    words = line[1:].split()
    if words[:1] == ["ifndef"]:
        guards.append(words[1] if len(words) > 1 else "")
    elif words and words[0].startswith("if"):
        guards.append(guards[-1] if guards else "")
    elif words[:1] == ["endif"] and guards:
        guards.pop()


def _split(tokens: list[Token], mark: str) -> Iterator[list[Token]]:
    """The parts between marks that stand outside of all brackets."""
    part: list[Token] = []
    depth = 0
    for token in tokens:
        if token.text == mark and depth == 0:
            yield part
            part = []
            continue
        depth += (token.text in _CLOSING) - (token.text in _CLOSING.values())
        part.append(token)
    yield part


def _close(tokens: list[Token], opening: int) -> int | None:
    """Where the bracket that opens there is closed."""
    depth = 0
    for at in range(opening, len(tokens)):
        depth += (tokens[at].text == "(") - (tokens[at].text == ")")
        if depth == 0:
            return at
    return None


def _name_at(declarator: list[Token]) -> int | None:
    """Where the declared name stands: in ``(*name)``, or last apart from ``[...]``."""
    words = [token.text for token in declarator]
    end = len(words)
    if "(" in words:
        end = words.index(")") if ")" in words else 0
    elif "[" in words:
        end = words.index("[")
    if not end or not _NAME.fullmatch(words[end - 1]) or words[end - 1] in _TYPE_WORDS:
        return None
    return end - 1


def _is_of_a_type(word: str) -> bool:
    return word == "*" or _NAME.fullmatch(word) is not None


def _type(tokens: list[Token]) -> str:
    """One spelling of a type: single blanks, ``const`` in front, stars together at the end."""
    words = [token.text for token in tokens if token.text != "*"]
    if "const" in words and words[0] != "const":
        words.remove("const")
        words.insert(0, "const")
    stars = "*" * (len(tokens) - len(words))
    return " ".join([*words, stars] if stars else words)


def _enumerators(body: list[Token]) -> Iterator[tuple[str, int]]:
    for part in _split(body, ","):
        words = [token.text for token in part]
        if not words:
            continue  # behind the last comma
        if len(words) < 3 or words[1] != "=":
            raise DeclarationError(f"not an enumerator with a value: {_shown(part)}")
        yield words[0], integer("".join(words[2:]))


def _members(body: list[Token]) -> Iterator[str]:
    for part in _split(body, ";"):
        if not part:
            continue  # behind the last semicolon
        if part[0].text == "union" and part[-1].text == "}":
            yield from _members(part[2:-1])
            continue
        nested = part[0].text in _AGGREGATES and part[1].text == "{"
        at = len(part) - 1 if nested else _name_at(part)
        if at is None:
            raise DeclarationError(f"not a member with a name: {_shown(part)}")
        yield part[at].text


def _shown(tokens: list[Token]) -> str:
    text = spelled(tokens[:80])
    return ascii(text if len(tokens) <= 80 and len(text) <= 200 else f"{text[:200]}...")
