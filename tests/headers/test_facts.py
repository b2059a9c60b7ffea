# SPDX-License-Identifier: Apache-2.0
"""The prototypes and the facts tell the same story."""

from __future__ import annotations

import functools
import json
import re
from collections import Counter
from pathlib import Path
from typing import NamedTuple

import pytest
from compiling import INCLUDE

from aclnn_py import facts
from aclnn_py._ffi.contract.headers import families
from aclnn_py._ffi.contract.kinds import KINDS
from aclnn_py._ffi.contract.operators import PHASE_ONE_SUFFIX, operator_of
from aclnn_py._ffi.contract.reader import Function, Parameter, read_file
from maintain.facts import FOLDER, laid_out

FACTS = {"dtypes", "dtypes_950", "ranks", "shape", "formats", "strided", "documented", "why"}
NOTHING = facts.ParameterFact()
_SETTLED = re.compile(r"Direction settled by meaning: (.*?)\.$")
POINTER_TYPES = {c_type for c_type in KINDS if c_type.endswith("*")}
VALUE_TYPES = set(KINDS) - POINTER_TYPES


class Declared(NamedTuple):
    family: str
    guard: str
    comment: str
    parameters: tuple[Parameter, ...]


@functools.cache
def declarations() -> dict[str, Declared]:
    found: dict[str, Declared] = {}
    for family, functions in families(INCLUDE):
        for function in functions:
            name, parameters = operator_of(function)
            assert name not in found, f"{name} is declared twice"
            comment = function.comment.removeprefix("/* ").removesuffix(" */")
            found[name] = Declared(family, function.guard, comment, parameters)
    return found


def test_every_operator_has_a_row_in_the_file_of_its_header() -> None:
    rows = facts.operators()
    assert declarations().keys() == rows.keys()
    for name, declared in declarations().items():
        ours = [parameter for _, parameter in declared.parameters]
        assert len(set(ours)) == len(ours), name
        assert {*rows[name].parameters, *rows[name].cann} <= set(ours), name
        assert rows[name].family == declared.family, name


def test_what_is_known_of_an_operator_stands_in_one_place() -> None:
    found: Counter[str] = Counter()
    for path in sorted(FOLDER.glob("*.json")):
        text = path.read_text(encoding="utf-8")
        rows = json.loads(text, object_pairs_hook=without_a_key_twice)
        found.update(list(rows))
        # Parameters of an operator about which the same is known share one line.
        assert laid_out(rows) == text, f"{path.name}: run python -m maintain.facts"
        for name, row in rows.items():
            names = [p for names in row.get("parameters", {}) for p in names.split(", ")]
            assert len(set(names)) == len(names), f"{name} has a parameter in two lines"
    assert found == Counter(facts.operators().keys())
    others = [path for path in FOLDER.parent.rglob("*.json") if path.parent != FOLDER]
    assert [path.name for path in others if '"dtypes"' in path.read_text(encoding="utf-8")] == []


def without_a_key_twice(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """An object of JSON, which may have a key twice."""
    keys = [key for key, _ in pairs]
    assert len(set(keys)) == len(keys), keys
    return dict(pairs)


def test_the_prototype_is_not_repeated() -> None:
    for name, declared in declarations().items():
        fact = facts.operators()[name]
        for parameter in declared.parameters:
            known = fact.parameter(parameter.name)
            kind = KINDS[parameter.bare][0]
            allowed = {"T": FACTS, "L": FACTS, "S": {"dtypes"}, "R": {"dtypes"}}
            own = {"I": {"shape"}, "F": {"shape"}, "B": {"shape"}, "y": {"dtypes"}, "l": {"dtypes"}}
            given = {key for key in FACTS if getattr(known, key) != getattr(NOTHING, key)}
            assert given <= {**allowed, **own}.get(kind, set()), f"{name}: {parameter.name}"


def test_a_difference_is_one() -> None:
    for name, fact in facts.operators().items():
        for parameter, known in fact.parameters.items():
            where = f"{name}: {parameter}"
            if known.dtypes_950 is not None:
                assert set(known.dtypes_950) != set(known.dtypes or ()), where
            if "dtypes" in known.documented:
                assert set(known.documented_dtypes) != set(known.every_dtype), where
            for key in known.documented.keys() - {"dtypes"}:
                assert known.documented[key] != getattr(known, key), where


def test_both_phases_are_declared() -> None:
    functions: dict[str, Function] = {}
    for path in sorted((INCLUDE / "aclnnop").glob("*.h")):
        if path.stem in {declared.family for declared in declarations().values()}:
            functions.update(read_file(path).functions)
    assert len(functions) == 2 * len(declarations())
    for name in declarations():
        assert f"{name}{PHASE_ONE_SUFFIX}" in functions
        assert functions[name].prototype == (
            f"aclnnStatus {name}(void *workspace, uint64_t workspaceSize, "
            "aclOpExecutor *executor, aclrtStream stream);"
        )


def test_types_and_names_tell_the_direction() -> None:
    for name, declared in declarations().items():
        for c_type, parameter in declared.parameters:
            where = f"{name}({parameter})"
            bare = c_type.removeprefix("const ")
            if c_type in VALUE_TYPES:
                assert "Optional" not in parameter, where
                assert not parameter.endswith("Ref"), where
                continue
            assert bare in POINTER_TYPES, where
            written = not c_type.startswith("const ")
            assert not written or bare in ("aclTensor *", "aclTensorList *"), where
            if parameter.endswith("Ref"):
                assert written, f"{where} is named in place and is const"
            if "Optional" in parameter:
                assert re.search(r"Optional(Ref)?$", parameter), where


def test_every_operator_writes_something() -> None:
    # these act on other ranks or on time alone
    silent = {"aclnnAttentionToFFN", "aclnnFFNToAttention", "aclnnSleep"}
    for name, declared in declarations().items():
        writes = any(not t.startswith("const ") and t.endswith("*") for t, _ in declared.parameters)
        assert writes != (name in silent), name
        if name.startswith("aclnnInplace"):
            assert any(p.endswith("Ref") for _, p in declared.parameters), name


def test_cann_spelling_differs_in_const_and_names_only() -> None:
    def bare(c_type: str) -> str:
        return c_type.replace("const ", "")

    spelled = 0
    for name, declared in declarations().items():
        types = {parameter: c_type for c_type, parameter in declared.parameters}
        for parameter, text in facts.operators()[name].cann.items():
            found = re.fullmatch(r"(.*?) ?(\w+)", text)
            assert found is not None, text
            assert found.groups() != (types[parameter], parameter), name
            assert bare(found[1]) == bare(types[parameter]), name
            spelled += found[1] != types[parameter]
            stems = [
                re.sub("optional|Ref$", "", n, flags=re.IGNORECASE).lower()
                for n in (parameter, found[2])
            ]
            assert stems[0] == stems[1], name
    assert spelled > 900


def test_comments_are_sentences() -> None:
    for declared in declarations().values():
        sentence = declared.comment.split(" [document]")[0].split(" Direction settled")[0]
        assert re.fullmatch(r"[A-Z][^.]*\.( [A-Z][^.]*\.)?|[A-Z].*4:2:2\.", sentence), sentence


def test_settled_directions_are_the_declared_ones() -> None:
    settled = 0
    for name, declared in declarations().items():
        found = _SETTLED.search(declared.comment)
        if found is None:
            continue
        types = {parameter: c_type for c_type, parameter in declared.parameters}
        for part in found[1].split("; "):
            names, verb = re.fullmatch(r"(.*?) (written|read|read and written)", part).groups()
            for parameter in names.split(", "):
                settled += 1
                c_type = types[parameter]
                if verb == "read":
                    assert c_type.startswith("const ") or c_type in VALUE_TYPES, name
                else:
                    assert not c_type.startswith("const "), name
                    assert parameter.endswith("Ref") == (verb == "read and written"), name
    assert settled == 524


def test_guards_are_unique_per_cann_header() -> None:
    headers: dict[str, set[str]] = {}
    for name, declared in declarations().items():
        headers.setdefault(declared.guard, set()).add(facts.operators()[name].header)
    assert all(len(names) == 1 for names in headers.values())
    for guard, (header,) in headers.items():
        assert guard.endswith(header.removesuffix(".h").upper())


def test_prototypes_shared_with_8_1_have_its_types() -> None:
    table = json.loads((Path(__file__).parent / "signatures_8_1.json").read_text())
    rows = facts.operators().items()
    assert table.keys() == {name for name, fact in rows if fact.since == "8.1.RC1"}
    for name, types in table.items():
        ours = [
            c_type.replace("const ", "").replace(" *", "*")
            for c_type, _ in declarations()[name].parameters
        ]
        assert " ".join(ours) == types, name


def test_values_are_of_the_known_kinds() -> None:
    enumerators = read_file(INCLUDE / "acl" / "acl_base_rt.h").constants
    enumerators["ACL_BFLOAT16"] = enumerators["ACL_BF16"]
    for name, fact in facts.operators().items():
        assert fact.since in ("8.1.RC1", "later"), name
        assert fact.chip in ("", "950", "310P"), name
        for known in fact.parameters.values():
            dtypes = {*known.every_dtype, *known.documented_dtypes}
            assert all(f"ACL_{dtype}" in enumerators for dtype in dtypes), name
            assert all(f"ACL_FORMAT_{f}" in enumerators for f in known.formats), name
            for ranks in (known.ranks, known.documented.get("ranks", "")):
                assert re.fullmatch(r"|\d+|\d+-\d+|\d+(,\d+)+", ranks), f"{name}: {ranks}"


def test_facts_of_one_operator() -> None:
    row = facts.operator("aclnnAllGatherMatmul")
    assert row is not None
    assert row.header == "aclnn_all_gather_matmul.h"
    assert row.parameter("x1") == facts.ParameterFact(
        dtypes=("FLOAT16", "BFLOAT16"),
        ranks="2",
        formats=("ND",),
        strided=True,
        documented={"strided": False},
        why={"strided": "the kernel copies it"},
    )
    assert row.parameter("biasOptional").dtypes == ()
    assert row.parameter("noSuchParameter") == facts.ParameterFact()
    assert row.cann["biasOptional"] == "const aclTensor *bias"
    assert row.cann["gatherOut"] == "const aclTensor *gatherOut"
    assert facts.operator("aclnnNoSuchOperator") is None
    assert facts.operators() is facts.operators()


@pytest.mark.parametrize(
    ("code", "hccl", "name"),
    [
        (0, False, "ACL_SUCCESS"),
        (0, True, "HCCL_SUCCESS"),
        (9, True, "HCCL_E_TIMEOUT"),
        (161002, False, "ACLNN_ERR_PARAM_INVALID"),
        (507015, False, "ACL_ERROR_RT_AICORE_EXCEPTION"),
        (561105, False, "ACLNN_ERR_INNER_KEY_CONFLICT"),
    ],
)
def test_status_by_number(code: int, hccl: bool, name: str) -> None:
    row = facts.status(code, hccl=hccl)
    assert row is not None
    assert row["name"] == name
    assert row["meaning"]


def test_unknown_codes() -> None:
    assert facts.status(424242) is None
    assert facts.status(161001, hccl=True) is None
    assert facts.message("ZZ0000") is None
    row = facts.message("EZ8765")
    assert row is not None
    assert row["domain"] == "msg_prefix"


def test_domains() -> None:
    counts = Counter(row["domain"] for row in facts.statuses())
    assert counts == {
        "acl": 70,
        "rt": 144,
        "ge": 39,
        "aclnn": 28,
        "hccl": 26,
        "message": 625,
        "msg_prefix": 30,
    }
