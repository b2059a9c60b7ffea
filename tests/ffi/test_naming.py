# SPDX-License-Identifier: Apache-2.0
"""Python names of operators and parameters, and the prototypes they are read from."""

from __future__ import annotations

import pytest

from aclnn_py._ffi.contract import naming
from aclnn_py._ffi.contract.operators import parse_operator
from aclnn_py._ffi.contract.reader import DeclarationError


@pytest.mark.parametrize(
    ("c_name", "name"),
    [
        ("aclnnFFNV3", "ffn_v3"),
        ("aclnnLog1p", "log1p"),
        ("aclnnGroupedMatmulV4", "grouped_matmul_v4"),
        ("aclnnAllGatherMatmulV2", "all_gather_matmul_v2"),
        ("aclnnMaxPool2dWithIndices", "max_pool2d_with_indices"),
        ("aclnnUpsampleBicubic2dAA", "upsample_bicubic2d_aa"),
        ("aclnnGeluBackwardV2", "gelu_backward_v2"),
    ],
)
def test_operator_names(c_name, name):
    assert naming.operator_name(c_name) == name


def test_parameter_names_drop_optional_and_avoid_keywords():
    names = ["biasOptional", "varRef", "lambda", "cubeMathType", "stream", "rstdOptionalRef"]
    assert naming.parameter_names(names) == [
        "bias",
        "var_ref",
        "lambda_",
        "cube_math_type",
        "stream_",
        "rstd_ref",
    ]


def test_parameter_names_stay_different():
    assert naming.parameter_names(["x", "xOptional"]) == ["x", "x_optional"]


def test_prototype_over_several_lines():
    found = parse_operator(
        """aclnnStatus aclnnFooGetWorkspaceSize(
               const aclTensor* x, aclTensor const *y, double eps, char *mode, aclTensor *out,
               uint64_t* workspaceSize, aclOpExecutor** executor);"""
    )
    assert found.name == "aclnnFoo"
    assert [p.ctype for p in found.parameters] == [
        "const aclTensor *",
        "const aclTensor *",
        "double",
        "char *",
        "aclTensor *",
    ]
    assert found.kinds == "TTdsT"
    assert found.shape == "ppdpp"
    assert found.modes == "iiiio"


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("not C at all", "not a C prototype"),
        ("int aclnnFoo(uint64_t *n, aclOpExecutor **e);", "ends in GetWorkspaceSize"),
        ("int aclnnFooGetWorkspaceSize(const aclTensor *x);", "last two parameters"),
        ("int aclnnFooGetWorkspaceSize(FILE *f, uint64_t *n, aclOpExecutor **e);", "'FILE \\*'"),
        ("int aclnnFooGetWorkspaceSize(int, uint64_t *n, aclOpExecutor **e);", "with a name"),
    ],
)
def test_prototype_errors_say_what_is_wrong(text, reason):
    with pytest.raises(DeclarationError, match=reason):
        parse_operator(text)
