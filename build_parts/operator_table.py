# SPDX-License-Identifier: Apache-2.0
"""The operator table of the extension: include/aclnnop as C data, and one invoker per shape."""

from __future__ import annotations

import json
import re
from dataclasses import dataclass
from pathlib import Path

from build_parts.loading import load_by_path
from build_parts.op_facts import dtype_mask, dtype_numbers
from build_parts.paths import FACTS, INCLUDE, PACKAGE
from build_parts.toolchain import BuildError

MACHINE_TYPES = {
    "p": ("int64_t", "int64"),
    "i": ("int32_t", "int32"),
    "u": ("uint32_t", "uint32"),
    "b": ("int8_t", "int8"),
    "z": ("bool", "boolean"),
    "f": ("float", "float32"),
    "d": ("double", "float64"),
}
TRAMPOLINE_WIDTHS = (8, 16, 32, 58)
TRAMPOLINE_FLOATS = 8
SUMMARY = re.compile(r"/\*\s*(.*?)\s*\*/\s*$", re.DOTALL)


@dataclass(frozen=True)
class Row:
    """One operator as the table holds it."""

    name: str
    c_name: str
    kinds: str
    modes: str
    parameters: str
    family: str
    shape: str
    summary: str
    scalars: str


def read_operators(include: Path = INCLUDE) -> list[Row]:
    """Every pair of include/aclnnop, sorted by Python name."""
    naming = load_by_path("naming", PACKAGE / "_ffi" / "naming.py")
    masks = scalar_masks(include)
    prototypes = load_by_path("prototypes", PACKAGE / "_ffi" / "prototypes.py")
    rows: dict[str, Row] = {}
    for header in sorted((include / "aclnnop").glob("*.h")):
        previous = ""
        for line in header.read_text(encoding="utf-8").splitlines():
            if prototypes.PHASE_ONE_SUFFIX + "(" not in line or not line.startswith("aclnnStatus"):
                previous = line if line.startswith("/*") else previous
                continue
            try:
                operator = prototypes.parse_operator(line)
            except ValueError as error:
                raise BuildError(f"{header}: {error}") from error
            row = make_row(naming, prototypes, operator, header.stem, summary_of(previous), masks)
            if row.name in rows:
                raise BuildError(
                    f"{header}: {row.c_name} and {rows[row.name].c_name} have one Python name"
                )
            rows[row.name] = row
            previous = ""
    return [rows[name] for name in sorted(rows)]


def make_row(naming, prototypes, operator, family, summary, masks) -> Row:  # type: ignore[no-untyped-def]
    """One parsed prototype as a row."""
    modes = ""
    for argument in operator.arguments:
        mode = "i"
        if naming.is_in_place(argument.name):
            mode = "r"
        elif prototypes.KINDS[argument.bare][0] in "TL" and not argument.is_const:
            mode = "o"
        modes += mode.upper() if naming.is_optional(argument.name) else mode
    names = [argument.name for argument in operator.arguments]
    return Row(
        name=naming.operator_name(operator.name),
        c_name=operator.name,
        kinds=prototypes.kinds_of(operator.arguments),
        modes=modes,
        parameters=",".join(names),
        family=family,
        shape=prototypes.shape_of(operator.arguments),
        summary=summary,
        scalars=",".join(
            f"{masks.get((operator.name, argument.name), 0):x}"
            for argument in operator.arguments
            if prototypes.KINDS[argument.bare][0] in "SR"
        ),
    )


def scalar_masks(include: Path) -> dict[tuple[str, str], int]:
    """Documented dtypes of every parameter, as bits."""
    facts = json.loads((FACTS / "operators.json").read_text(encoding="utf-8"))
    numbers = dtype_numbers(include)
    return {
        (operator, parameter["name"]): dtype_mask(parameter.get("dtypes", []), numbers)
        for operator, entry in facts.items()
        for parameter in entry["params"]
    }


def summary_of(comment: str) -> str:
    """The sentence in front of a pair."""
    found = SUMMARY.search(comment)
    return " ".join(found.group(1).split()) if found else ""


def table_source(rows: list[Row]) -> str:
    """C text: invokers, their table, the trampoline, the operator table and the lookups."""
    shapes = sorted({row.shape for row in rows})
    parts = [invoker_source(shape) for shape in shapes]
    parts.append("static const struct { const char *shape; ap_invoker invoke; } ap_invokers[] = {")
    parts += [f'    {{"{shape}", invoke_{shape or "none"}}},' for shape in shapes]
    parts.append("    {NULL, NULL}};")
    parts.append(f"#define AP_INVOKERS {len(shapes)}")
    parts.append(trampoline_source())
    parts.append("static ap_op ap_ops[] = {")
    for row in rows:
        texts = (row.name, row.c_name, row.kinds, row.modes, row.parameters, row.family, row.shape)
        fields = ", ".join(json.dumps(text) for text in (*texts, row.summary, row.scalars))
        parts.append(
            f"    {{{fields}, invoke_{row.shape or 'none'}, NULL, NULL, 0, {in_order(row)}}},"
        )
    parts.append("    {0}};")
    parts.append(f"#define AP_OPS {len(rows)}")
    return "\n".join(parts) + "\n"


def in_order(row: Row) -> int:
    """Whether its tensors are single ones, read before written and never both."""
    modes = "".join(m.lower() for m, kind in zip(row.modes, row.kinds, strict=True) if kind in "TL")
    return int("L" not in row.kinds and "r" not in modes and "oi" not in modes)


def invoker_source(shape: str) -> str:
    """One typed call of phase one."""
    types = ", ".join([*(MACHINE_TYPES[s][0] for s in shape), "uint64_t *", "void **"])
    words = "".join(f"w[{i}].{MACHINE_TYPES[s][1]}, " for i, s in enumerate(shape))
    unused = "" if shape else " (void)w;"
    return (
        f"static int32_t invoke_{shape or 'none'}(const ap_op *op, const ap_word *w, "
        f"uint64_t *n, void **e) {{{unused} "
        f"return ((int32_t (*)({types}))op->phase_one)({words}n, e); }}"
    )


def trampoline_source() -> str:
    """Calls of shapes the build has not seen.

    Integer and pointer arguments travel in order, floating-point ones in order, whatever stands
    between them, as long as the latter fit into the eight vector registers: so one wide call per
    width serves all shapes on x86-64 and aarch64. C does not define such a call, the ABIs do.
    """
    floats = TRAMPOLINE_FLOATS
    float_types = ", ".join(["double"] * floats)
    float_words = ", ".join(f"f[{i}]" for i in range(floats))
    cases = []
    for width in TRAMPOLINE_WIDTHS:
        types = ", ".join(["int64_t"] * width)
        words = ", ".join(f"n[{i}]" for i in range(width))
        cases.append(
            f"    if (count <= {width}) return ((int32_t (*)({types}, {float_types}))op->phase_one)"
            f"({words}, {float_words});"
        )
    return "\n".join(
        [
            "static int32_t trampoline(const ap_op *op, const ap_word *w, uint64_t *size,",
            "                          void **executor)",
            "{",
            f"    int64_t n[{TRAMPOLINE_WIDTHS[-1]}] = {{0}};",
            f"    double f[{floats}] = {{0}};",
            "    uint32_t count = 0, reals = 0;",
            "    for (const char *s = op->shape; *s; ++s, ++w)",
            "        switch (*s) {",
            "        case 'p': n[count++] = w->int64; break;",
            "        case 'i': n[count++] = w->int32; break;",
            "        case 'u': n[count++] = w->uint32; break;",
            "        case 'b': n[count++] = w->int8; break;",
            "        case 'z': n[count++] = w->boolean; break;",
            "        case 'f': memcpy(&f[reals++], &w->float32, sizeof(float)); break;",
            "        default: f[reals++] = w->float64; break;",
            "        }",
            "    n[count++] = (int64_t)(intptr_t)size;",
            "    n[count++] = (int64_t)(intptr_t)executor;",
            *cases,
            "    return AP_UNBOUND; /* ap_trampoline_for refuses longer lists */",
            "}",
            "static int trampoline_takes(const char *shape)",
            "{",
            "    uint32_t count = 2, reals = 0;",
            "    for (; *shape; ++shape)",
            "        *shape == 'f' || *shape == 'd' ? ++reals : ++count;",
            f"    return count <= {TRAMPOLINE_WIDTHS[-1]} && reals <= {floats};",
            "}",
        ]
    )
