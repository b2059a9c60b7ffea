# SPDX-License-Identifier: Apache-2.0
"""The rule table: its rows speak of parameters that exist, each kind of rule finds its mistake."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pytest

import aclnn_py as ap
from aclnn_py import facts, ops
from aclnn_py.operators.launch.table import operator_named, operator_names
from aclnn_py.operators.rules.parameters import broken_rules, documented_rules
from aclnn_py.operators.rules.relations import KINDS, Relation
from aclnn_py.operators.rules.terms import Call

OPERATORS = {op.c_name: op for op in map(operator_named, operator_names())}
ROWS = {id(row): row for name in facts.operators() for row in facts.rules(name)}
WORDS = {"for", "rule", "status", "when"}


def names_in(row: dict[str, Any]) -> set[str]:
    """Every parameter a row speaks of."""
    terms = [*row.get("when", {}), row.get("argument"), row.get("to"), row.get("low")]
    terms += [row.get(key) for key in ("high", "multiple", "end", "dim", "dims", "keep")]
    of = row.get("of", [])
    terms += [of] if isinstance(of, str) else of
    terms += list(row.get("shapes", {}))
    found: set[str] = set()
    for term in terms:
        if isinstance(term, str):
            found.add(re.sub(r"^\w+\((\w+)\)|\[.*|[+-]\d+$", r"\1", term))
    return found


def test_every_row_speaks_of_parameters_of_its_operators() -> None:
    assert len(ROWS) > 200
    assert len({name for row in ROWS.values() for name in row["for"]}) > 300
    for row in ROWS.values():
        assert row["rule"] == "status" or row["rule"] in KINDS, row
        for c_name in row["for"]:
            parameters = {p.c_name for p in OPERATORS[c_name].parameters}
            unknown = names_in(row) - parameters
            assert not unknown, f"{c_name} has no {unknown}: {row}"


def test_every_kind_is_used() -> None:
    assert {row["rule"] for row in ROWS.values()} - {"status"} == set(KINDS)


# What programs call most, first of all the fused and grouped products.
USED = {
    "AllGatherMatmul", "MatmulReduceScatter", "MatmulAllReduce", "MatmulAllReduceV2",
    "QuantMatmulAllReduce", "QuantMatmulAllReduceV2", "QuantMatmulAllReduceV3",
    "WeightQuantMatmulAllReduce", "GroupedMatMulAllReduce", "GroupedMatmul", "GroupedMatmulV2",
    "GroupedMatmulV3", "GroupedMatmulV4", "GroupedMatmulV5", "GroupedMatmulWeightNz",
    "GroupedMatmulAdd", "Matmul", "Mm", "BatchMatMul", "InplaceCopy", "Cast",
    "FusedInferAttentionScoreV2", "Add", "Cat", "Mul", "Div", "Sub", "InplaceIndexCopy",
    "WeightQuantBatchMatmulV2", "IndexSelect", "Argsort", "Convolution", "Silu", "RmsNorm",
    "InplaceMul", "Gelu", "LayerNorm", "ConstantPadNd", "Slice", "InplaceAdd", "Softmax", "Muls",
    "GatherV2", "Sigmoid", "ReduceSum", "Clamp", "Sin", "Repeat", "Cos", "Sort", "Sqrt", "Relu",
    "RotaryPositionEmbedding", "RepeatInterleaveIntWithDim", "AvgPool2d", "Divs", "Neg",
    "PowScalarTensor",
}  # fmt: skip


def test_the_most_used_operators_have_rows() -> None:
    assert not [name for name in sorted(USED) if not facts.rules(f"aclnn{name}")]


def test_every_operator_has_a_rule_to_check() -> None:
    # These take numbers only: nothing that C passes by pointer, nothing documented.
    numbers = {
        name
        for name, op in OPERATORS.items()
        if all(p.kind not in "TLSRIFBs" for p in op.parameters)
    }
    assert {name for name, op in OPERATORS.items() if not documented_rules(op)} <= numbers
    assert len(numbers) <= 1


def test_an_absent_argument_breaks_exactly_the_rule_of_its_presence() -> None:
    for name, op in OPERATORS.items():
        values: list[Any] = [None] * len(op.parameters)
        rules = broken_rules(op, values)
        required = [p.name for p in op.parameters if p.kind in "TLSRIFB" and not p.nullable]
        if required:
            assert [rule.argument for rule in rules] == required, name
        assert all(rule.status in (161001, 161002) for rule in rules), name


def found(operator: str, row: dict[str, Any], *values: Any, **named: Any) -> list[str]:
    """What one row finds in a call."""
    op = getattr(ops, operator)
    call = Call(op, op.arguments(*values, **named))
    return [str(rule) for rule in Relation({"for": [op.c_name], **row}).broken(call)]


def new(*shape: int, dtype: Any = np.float32) -> ap.Tensor:
    return ap.empty(shape, dtype)


@pytest.mark.usefixtures("device")
class TestKinds:
    def test_shapes_bind_letters_at_their_first_place(self) -> None:
        row = {"rule": "shapes", "shapes": {"self": "m k", "mat2": "k n", "out": "m n"}}
        assert found("mm", row, new(2, 3), new(3, 4), new(2, 4), 0) == []
        assert found("mm", row, new(2, 3), new(4, 4), new(3, 5), 0) == [
            "mat2: dimension 0 is 4; it must be 3 (k), as dimension 1 of self",
            "out: dimension 0 is 3; it must be 2 (m), as dimension 0 of self",
        ]

    def test_shapes_take_numbers_leading_dimensions_and_alternatives(self) -> None:
        row = {"rule": "shapes", "shapes": {"self": "... n", "other": ["1", "n"], "out": "... 2"}}
        assert found("add", row, new(5, 6, 3), new(3), 1, new(5, 6, 2)) == []
        assert found("add", row, new(5, 6, 3), new(1), 1, new(5, 6, 2)) == []
        assert found("add", row, new(5, 6, 3), new(2), 1, new(6, 5, 3)) == [
            "other: shape (2,); it must be (1,) or (n,) with n = 3",
            "out: leading dimensions (6, 5); they must be (5, 6), as in self",
        ]
        assert found("add", row, new(5, 3), new(3), 1, new(5, 3)) == [
            "out: dimension 1 is 3; it must be 2"
        ]

    def test_limits_blame_the_parameter_that_bound_the_letter(self) -> None:
        row = {"rule": "shapes", "shapes": {"self": "m k"}, "limits": {"k": [4, 8], "m": [2, None]}}
        assert found("mm", row, new(1, 9), None, None, 0) == [
            "self: dimension 1 (k) is 9; allowed is 4 to 8",
            "self: dimension 0 (m) is 1; allowed is 2 or more",
        ]

    def test_each_pairs_the_members_of_lists(self) -> None:
        row = {"rule": "shapes", "each": True, "shapes": {"x": "n", "out": "n"}}
        lists = [[new(2), new(3)], [new(2), new(4)]]
        assert found("foreach_abs", row, *lists) == [
            "out[1]: dimension 0 is 4; it must be 3 (n), as dimension 0 of x[1]"
        ]

    def test_combinations_blame_the_first_argument_that_fits_none(self) -> None:
        allowed = [["FLOAT", "FLOAT", None], ["FLOAT16", "FLOAT", "FLOAT"]]
        row = {"rule": "combinations", "of": ["self", "other", "out"], "allowed": allowed}
        assert found("add", row, new(2), new(2), 1, None) == []
        half = new(2, dtype=np.float16)
        assert found("add", row, half, half, 1, new(2)) == [
            "other: dtype float16; it must be float32 beside float16 self"
        ]
        assert found("add", row, half, new(2), 1, None) == [
            "out: it is absent; it must be float32 beside float16 self, float32 other"
        ]

    def test_when_holds_a_row_back(self) -> None:
        row = {"rule": "values", "argument": "dim", "allowed": [0], "when": {"rank(self)": [2, 3]}}
        assert found("softmax", row, new(3), 1, new(3)) == []
        assert found("softmax", row, new(3, 2), 1, new(3)) == ["dim: 1 is not among 0"]

    @pytest.mark.parametrize(
        ("row", "value", "text"),
        [
            ({"low": 0, "high": 4}, 5, "allowed is 0 to 4"),
            ({"low": 0}, -1, "allowed is 0 or more"),
            ({"high": "rank(self)-1"}, 2, "allowed is at most 1"),
            ({"low": 0, "multiple": 2}, 3, "it must be a multiple of 2"),
            ({"low": 2, "except": [0]}, 0, ""),
            ({"low": 2, "high": "self[1]"}, 3, ""),
        ],
    )
    def test_range(self, row: dict[str, Any], value: int, text: str) -> None:
        rules = found(
            "softmax", {"rule": "range", "argument": "dim", **row}, new(2, 3), value, None
        )
        assert [text in rule for rule in rules] == ([True] if text else [])

    def test_presence_of_optional_arguments(self) -> None:
        absent = {"rule": "absent", "argument": "weightOptional", "why": "in this mode"}
        present = {"rule": "present", "argument": "weightOptional"}
        with_weight = ([new(2, 3), [3], new(3), None, 1e-5, new(2, 3), None, None],)
        assert found("layer_norm", absent, *with_weight[0]) == [
            "weight: given; it must be None in this mode"
        ]
        without = [new(2, 3), [3], None, None, 1e-5, new(2, 3), None, None]
        assert found("layer_norm", present, *without) == ["weight: absent; it is needed here"]

    def test_orientation_reads_strides_but_not_of_vectors(self) -> None:
        row = {"rule": "orientation", "argument": "self", "transposed": True}
        assert found("mm", row, new(3, 2).T, None, None, 0) == []
        assert found("mm", row, new(1, 2), None, None, 0) == []
        [text] = found("mm", row, new(2, 3), None, None, 0)
        assert "it must be a transposed view" in text
        [text] = found("mm", {**row, "transposed": False}, new(3, 2).T, None, None, 0)
        assert "it must be row-major" in text

    def test_a_term_that_is_none_is_an_error_of_the_table(self) -> None:
        with pytest.raises(ValueError, match="no term"):
            found("mm", {"rule": "range", "argument": "self[0", "low": 1}, new(1), None, None, 0)


@pytest.mark.parametrize("dtype", ["float32", "uint8"])
def test_a_status_may_depend_on_what_was_given(device, dtype):
    x = ap.empty((2, 64), "int8")
    values = (x, ap.empty((64, 3), "int8"), None, None, ap.empty(3, dtype), "", "sum", 0, 1,
              ap.empty((2, 3), "float16"))  # fmt: skip
    rules = broken_rules(ops.quant_matmul_all_reduce, values)
    expected = 561002 if dtype == "float32" else 161002
    assert next(r.status for r in rules if r.argument == "dequant_scale") == expected
