# SPDX-License-Identifier: Apache-2.0
"""The operator table of the extension: include/aclnnop as C data, and one invoker per shape."""

from __future__ import annotations

import json
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from aclnn_py._ffi.contract.headers import dtype_numbers, families
from aclnn_py._ffi.contract.naming import operator_name
from aclnn_py._ffi.contract.operators import operator_of
from aclnn_py._ffi.contract.reader import DeclarationError, Function
from aclnn_py.facts import operators
from build_parts.op_facts import dtype_mask
from build_parts.paths import INCLUDE
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


@cache
def read_operators(include: Path = INCLUDE) -> list[Row]:
    """Every pair of include/aclnnop, sorted by Python name."""
    masks = scalar_masks(include)
    rows: dict[str, Row] = {}
    for family, functions in families(include):
        for function in functions:
            try:
                row = make_row(function, family, masks)
            except DeclarationError as error:
                raise BuildError(f"include/aclnnop/{family}.h: {error}") from error
            if row.name in rows:
                raise BuildError(
                    f"include/aclnnop/{family}.h: {row.c_name} and {rows[row.name].c_name} have "
                    "one Python name"
                )
            rows[row.name] = row
    return [rows[name] for name in sorted(rows)]


def make_row(function: Function, family: str, masks: dict[tuple[str, str], int]) -> Row:
    """One phase-one prototype as a row."""
    operator = operator_of(function)
    return Row(
        name=operator_name(operator.name),
        c_name=operator.name,
        kinds=operator.kinds,
        modes=operator.modes,
        parameters=",".join(parameter.name for parameter in operator.parameters),
        family=family,
        shape=operator.shape,
        summary=" ".join(function.comment.removeprefix("/*").removesuffix("*/").split()),
        scalars=",".join(
            f"{masks.get((operator.name, parameter.name), 0):x}"
            for parameter, kind in zip(operator.parameters, operator.kinds, strict=True)
            if kind in "SR"
        ),
    )


def scalar_masks(include: Path) -> dict[tuple[str, str], int]:
    """The dtypes of every parameter, as bits."""
    numbers = dtype_numbers(include)
    return {
        (name, parameter): dtype_mask(fact.dtypes or (), numbers)
        for name, operator in operators().items()
        for parameter, fact in operator.parameters.items()
    }


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
