# SPDX-License-Identifier: Apache-2.0
"""The hundred operators that programs call most are behind Python functions."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import aclnn_py
from aclnn_py.operators.launch.table import operator_named

# By the number of kinds of programs that call them: inference, training, operator tests, samples.
HUNDRED = """
AllGatherMatmul QuantMatmulAllReduceV2 GroupedMatMulAllReduce GroupedMatmulV4 GroupedMatmulV2
GroupedMatmulV5 MatmulAllReduce QuantMatmulAllReduce MatmulReduceScatter WeightQuantMatmulAllReduce
Matmul InplaceCopy Cast FusedInferAttentionScoreV2 Add Cat Mul Div InplaceIndexCopy
WeightQuantBatchMatmulV2 IndexSelect BatchMatMul Argsort Sub Convolution Silu Mm RmsNorm InplaceMul
Gelu LayerNorm ConstantPadNd Slice InplaceZero InplaceAdd InplaceFillScalar Softmax Muls GatherV2
Sigmoid ReduceSum Clamp Sin Repeat Cos RotaryPositionEmbedding InplaceMuls
RepeatInterleaveIntWithDim Arange PowScalarTensor Softplus Sqrt Sort AvgPool2d Divs Neg Relu
InplaceOne Linspace BitwiseOrTensor MaxPool SWhere Mean TriangularSolve Any Flip GeluV2 Cumsum Sign
LinalgVectorNorm Dot LinalgQr Im2col Permute InplaceNormal Svd Renorm NeTensor Abs Exp Slogdet Cosh
Cdist GtScalar BatchNorm Tanh InplaceUniform GtTensor Maximum Reciprocal Adds InplaceAdds InplaceSub
ArgMax ProdDim Log LogSoftmax SoftMarginLoss SoftMarginLossBackward Rsub
""".split()  # noqa: SIM905

PACKAGE = Path(aclnn_py.__file__).parent


@pytest.fixture(scope="module")
def called() -> set[str]:
    """The C names of the operators that functions of `functional` and `distributed` call."""
    paths = [*(PACKAGE / "functional").glob("*.py"), *(PACKAGE / "distributed").rglob("*.py")]
    names = {
        node.func.attr
        for path in paths
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and isinstance(node.func.value, ast.Name)
        and node.func.value.id == "ops"
    }
    return {operator_named(name).c_name for name in names}


def test_there_are_a_hundred() -> None:
    assert len(set(HUNDRED)) == 100


@pytest.mark.parametrize("name", HUNDRED)
def test_a_function_calls_the_operator(name: str, called: set[str]) -> None:
    assert f"aclnn{name}" in called
