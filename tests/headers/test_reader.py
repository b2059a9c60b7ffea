# SPDX-License-Identifier: Apache-2.0
"""The reader of C declarations; pycparser, which knows all of C, reads the contract beside it."""

from __future__ import annotations

import re

import pytest
from compiling import known_fragments
from pycparser import c_ast, c_generator, c_parser

from aclnn_py._ffi.contract.headers import cdef_text
from aclnn_py._ffi.contract.reader import (
    DeclarationError,
    Header,
    Statement,
    function_of,
    integer,
    read_file,
    read_header,
    statements,
    without_comments,
)

BASIC_TYPES = "bool size_t " + " ".join(f"{s}int{n}_t" for s in ("", "u") for n in (8, 16, 32, 64))


@pytest.fixture(scope="module")
def ours() -> Header:
    whole = Header({}, {}, {})
    for path in known_fragments():
        one = read_file(path)
        whole.functions.update(one.functions)
        whole.constants.update(one.constants)
        whole.structures.update(one.structures)
    return whole


@pytest.fixture(scope="module")
def theirs() -> c_ast.FileAST:
    text = "".join(f"typedef int {name};\n" for name in BASIC_TYPES.split())
    for path in known_fragments():
        text += without_comments(cdef_text(path.read_text(encoding="utf-8")))
    return c_parser.CParser().parse(re.sub(r"^#.*$", "", text, flags=re.MULTILINE))


def named(node: c_ast.Node) -> str:
    """A parameter as pycparser prints it, in the spelling of our reader."""
    name = node.name
    kind = node.type
    if isinstance(kind, c_ast.ArrayDecl):
        while isinstance(kind, c_ast.ArrayDecl):
            kind = kind.type
        kind = c_ast.PtrDecl([], kind)
    innermost = kind
    while not isinstance(innermost, c_ast.TypeDecl):
        innermost = innermost.type
    innermost.declname = None
    text = c_generator.CGenerator().visit(c_ast.Typename(None, [], None, kind))
    words = text.replace("*", " * ").split()
    stars = "*" * words.count("*")
    plain = [word for word in words if word != "*"]
    return f"{' '.join(sorted(plain))} {stars} {name}"


def test_functions_are_those_pycparser_reads(ours: Header, theirs: c_ast.FileAST) -> None:
    found = {}
    for node in theirs.ext:
        if isinstance(node, c_ast.Decl) and isinstance(node.type, c_ast.FuncDecl):
            arguments = node.type.args.params if node.type.args else []
            variadic = bool(arguments) and isinstance(arguments[-1], c_ast.EllipsisParam)
            parameters = [named(p) for p in arguments if isinstance(p, c_ast.Decl)]
            found[node.name] = (parameters, variadic)
    assert list(found) == list(ours.functions)
    for name, function in ours.functions.items():
        parameters = []
        for parameter in function.parameters:
            words = parameter.ctype.replace("*", " * ").split()
            plain = " ".join(sorted(word for word in words if word != "*"))
            parameters.append(f"{plain} {'*' * words.count('*')} {parameter.name}")
        assert (parameters, function.variadic) == found[name], name


def test_structures_and_enumerators_are_those_pycparser_reads(
    ours: Header, theirs: c_ast.FileAST
) -> None:
    def members(node: c_ast.Struct | c_ast.Union) -> list[str]:
        names = []
        for declared in node.decls:
            unnamed = declared.name is None
            names += members(declared.type) if unnamed else [declared.name]
        return names

    structures, enumerators = {}, {}
    for node in theirs.ext:
        kind = getattr(getattr(node, "type", None), "type", None)
        if isinstance(kind, (c_ast.Struct, c_ast.Union)) and kind.decls:
            structures[node.name] = members(kind)
        elif isinstance(kind, c_ast.Enum) and kind.values:
            for item in kind.values.enumerators:
                enumerators[item.name] = integer(c_generator.CGenerator().visit(item.value))
    assert structures == ours.structures
    assert len(enumerators) > 800
    assert enumerators.items() <= ours.constants.items()


def test_every_form_of_declaration() -> None:
    found = read_header(
        '#define LIMIT 0x10U\n#define LOW (-3)\n#define TEXT "s"\n/* int hidden(void); */\n'
        "typedef enum Kind { A = -1, B = 7, } Kind;\n"
        "typedef struct Thing {\n    int64_t a[3];\n    union {\n        void *b;\n"
        "        Kind c;\n    };\n    union {\n        int d;\n    } e;\n"
        "    void (*f)(int x);\n} Thing;\n"
        "typedef void (*Call)(int x);\nint f(Thing *t,\n      Call c);\nconst char *g(void);\n"
        "int h(void (*call)(int, char *), const int *const sizes[2][3], ...);\n"
    )
    assert found.constants == {"LIMIT": 16, "LOW": -3, "A": -1, "B": 7}
    assert found.structures == {"Thing": ["a", "b", "c", "e", "f"]}
    assert {name: function.prototype for name, function in found.functions.items()} == {
        "f": "int f(Thing *t, Call c);",
        "g": "const char *g(void);",
        "h": "int h(void (*call)(int, char *), const int *const sizes[2][3], ...);",
    }
    last = found.functions["h"]
    assert last.variadic and [parameter.name for parameter in last.parameters] == ["call", "sizes"]
    assert found.functions["g"].result == "const char *"


def test_comments_and_guards_belong_to_the_next_declaration() -> None:
    functions = read_header(
        "/* file */\n#ifndef OUTER\n#define OUTER\n/* of one */\nint one(void);\n"
        "int two(void);\n#ifndef INNER\n#define INNER\n// of three\nint three(int /* n */ n);\n"
        "#ifdef SOMETHING\nint four(void);\n#endif\n#endif\nint five(void);\n#endif\n"
    ).functions
    told = {name: (f.comment, f.guard) for name, f in functions.items()}
    assert told == {
        "one": ("/* of one */", "OUTER"),
        "two": ("", "OUTER"),
        "three": ("// of three", "INNER"),
        "four": ("", "INNER"),
        "five": ("", "OUTER"),
    }
    assert functions["three"].prototype == "int three(int n);"


def test_braces_that_define_no_type_only_end_what_is_before_them() -> None:
    text = "extern \"C\" { int f(void); } inline int g(void) { return f(); } int h(char c = ';');"
    found = [item for item in statements(text) if isinstance(item, Statement)]
    names = [function_of(item).name for item in found if item.tokens[0].text == "int"]
    assert names == ["f", "h"], "g has a body"


@pytest.mark.parametrize(
    "text",
    [
        "int f(int);",
        "int f(const int);",
        "f(int a);",
        "int f(int a;",
        "int f(int a) noexcept;",
        "int x;",
        "typedef struct S {\n    int;\n} S;",
        "typedef enum E { A } E;",
        "typedef enum E { A = 1 << 3 } E;",
    ],
)
def test_what_the_contract_does_not_contain_is_an_error(text: str) -> None:
    with pytest.raises(DeclarationError):
        read_header(text)


def test_a_long_text_is_shown_shortened() -> None:
    with pytest.raises(DeclarationError) as caught:
        read_header(f"int {'x' * 1_000_000};")
    assert len(str(caught.value)) < 300
