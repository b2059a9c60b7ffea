# SPDX-License-Identifier: Apache-2.0
"""The next step after a refusal of arguments."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from aclnn_py import facts
from aclnn_py.errors import BrokenRule
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import TENSOR_LIST, Parameter
from aclnn_py.tensor.dtypes import NARROWER
from aclnn_py.tensor.tensor import Tensor

__all__ = ["advice"]


def advice(op: Operator, rule: BrokenRule | None, values: Sequence[object]) -> str:
    """Return what to do about a rule that the arguments of a call break.

    Parameters
    ----------
    op : Operator
    rule : BrokenRule or None
        None where the rule is not known.
    values : sequence
        The arguments in C order.
    """
    if facts.operator(op.c_name) is None:
        return "The operator was declared at run time: compare its prototype with the library's."
    documents = f"help(aclnn_py.ops.{op.name}) has the documented parameters."
    wide = next(_wide(op, values), None) if rule is None or rule.kind == "dtype" else None
    if wide is not None:
        name, narrower = wide
        return (
            f"if {op.c_name} lacks the dtype of {name}, convert it with astype(np.{narrower}), or "
            "compute in float32 or on the host: help(aclnn_py.unsupported_dtypes). " + documents
        )
    fix = f"{rule.argument}: {rule.fix}; " if rule is not None and rule.fix else ""
    return fix + documents


def _wide(op: Operator, values: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Arguments of dtypes that many operators lack, with the narrower dtype."""
    for parameter, value in zip(op.parameters, values, strict=True):
        for name, tensor in _tensors(parameter, value):
            if tensor.dtype_name in NARROWER:
                yield name, NARROWER[tensor.dtype_name]


def _tensors(parameter: Parameter, value: object) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield parameter.name, value
    elif parameter.kind == TENSOR_LIST and isinstance(value, Sequence):
        for index, item in enumerate(value):
            if isinstance(item, Tensor):
                yield f"{parameter.name}[{index}]", item
