# SPDX-License-Identifier: Apache-2.0
"""Arguments against what the documents say about each parameter on its own.

Rules that bind several parameters are in `relations`; both read data files of `aclnn_py.facts`.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import lru_cache

from aclnn_py import facts
from aclnn_py.errors import BrokenRule
from aclnn_py.operators.describe.operator import Operator
from aclnn_py.operators.describe.parameter import TENSOR_LIST, Parameter
from aclnn_py.operators.rules.relations import broken_relations, relations_of
from aclnn_py.operators.rules.terms import Call, python_dtype
from aclnn_py.tensor.dtypes import NARROWER
from aclnn_py.tensor.tensor import Tensor

__all__ = ["advice", "broken_rules", "documented_rules"]

_NULL_STATUS = 161001
# Kinds of parameters that are pointers in C; a null one is for phase one to judge.
_POINTERS = "TLSRIFB"
# What makes an argument of the wrong kind a right one.
_FIXES = {
    "dtype": "convert it with astype()",
    "format": "with_format() names a plain one, functional.trans_matmul_weight() makes FRACTAL_NZ",
    "strided": "pass a copy, contiguous()",
}


def broken_rules(op: Operator, values: Sequence[object]) -> list[BrokenRule]:
    """What the documents say against the arguments, in the order in which libraries check.

    Null arguments first, then each parameter on its own, then what binds several of them.
    """
    fact = _fact_of(op)
    if fact is None:
        return []
    call = Call(op, values)
    missing = [
        BrokenRule(
            parameter.name,
            "must not be None",
            call.status_of(parameter.c_name, "null", _NULL_STATUS),
        )
        for parameter, value in zip(op.parameters, values, strict=True)
        if value is None and _required(parameter)
    ]
    if missing:
        # The library stops here, and what is left has nothing to be compared with.
        return missing
    single = [
        BrokenRule(name, text, call.status_of(parameter.c_name, kind), _FIXES.get(kind, ""))
        for parameter, value in zip(op.parameters, values, strict=True)
        for name, tensor in _tensors(parameter, value)
        for kind, text in _against(fact.parameter(parameter.c_name), tensor)
    ]
    return [*single, *broken_relations(call)]


def advice(op: Operator, rules: Sequence[BrokenRule], values: Sequence[object]) -> str:
    """The next step after a refusal of arguments."""
    if _fact_of(op) is None:
        return "The operator was declared at run time: compare its prototype with the library's."
    documents = f"help(aclnn_py.ops.{op.name}) has the documented parameters."
    of_dtypes = not rules or any(rule.fix == _FIXES["dtype"] for rule in rules)
    wide = next(_wide(op, values), None) if of_dtypes else None
    if wide is not None:
        name, narrower = wide
        return (
            f"if {op.c_name} lacks the dtype of {name}, convert it with astype(np.{narrower}), or "
            "compute in float32 or on the host: help(aclnn_py.unsupported_dtypes). " + documents
        )
    fix = next((f"{rule.argument}: {rule.fix}; " for rule in rules if rule.fix), "")
    return fix + documents


def _wide(op: Operator, values: Sequence[object]) -> Iterator[tuple[str, str]]:
    """Arguments of dtypes that many operators lack, with the narrower dtype."""
    for parameter, value in zip(op.parameters, values, strict=True):
        for name, tensor in _tensors(parameter, value):
            if tensor.dtype_name in NARROWER:
                yield name, NARROWER[tensor.dtype_name]


def documented_rules(op: Operator) -> list[str]:
    """The rules that `broken_rules` checks for an operator, one sentence part each."""
    fact = _fact_of(op)
    if fact is None:
        return []
    rules = []
    for parameter in op.parameters:
        if _required(parameter):
            rules.append(f"{parameter.name}: must not be None")
        if parameter.is_tensor:
            known = fact.parameter(parameter.c_name)
            rules += [f"{parameter.name}: {text}" for text in _sentences(known)]
    return rules + [str(relation) for relation in relations_of(op.c_name)]


def _fact_of(op: Operator) -> facts.OperatorFact | None:
    """The facts of an operator, unless it was declared with other parameters than theirs."""
    fact = facts.operator(op.c_name)
    names = {parameter.c_name for parameter in op.parameters}
    return fact if fact is not None and set(fact.parameters) <= names else None


def _required(parameter: Parameter) -> bool:
    return parameter.kind in _POINTERS and not parameter.nullable


def _sentences(known: facts.ParameterFact) -> Iterator[str]:
    dtypes = _dtypes(known)
    if dtypes:
        yield f"dtype {_listed(dtypes)}"
    if known.ranks:
        yield f"{known.ranks} dimensions"
    if known.formats:
        yield f"format {', '.join(known.formats)}"
    if known.strided is False:
        yield "contiguous"


def _dtypes(known: facts.ParameterFact) -> tuple[str, ...]:
    """The dtypes that the documents name, then others that the source takes."""
    return tuple(dict.fromkeys((*known.documented_dtypes, *(known.dtypes or ()))))


def _tensors(parameter: Parameter, value: object) -> Iterator[tuple[str, Tensor]]:
    if isinstance(value, Tensor):
        yield parameter.name, value
    elif parameter.kind == TENSOR_LIST and isinstance(value, Sequence):
        for index, item in enumerate(value):
            if isinstance(item, Tensor):
                yield f"{parameter.name}[{index}]", item


def _against(known: facts.ParameterFact, tensor: Tensor) -> Iterator[tuple[str, str]]:
    dtypes = _dtypes(known)
    if dtypes and tensor.dtype_name not in _dtype_set(dtypes):
        yield "dtype", f"dtype {tensor.dtype_name} is not among {_listed(dtypes)}"
    ranks = rank_set(known.ranks)
    if ranks and tensor.ndim not in ranks:
        yield "dims", f"{tensor.ndim} dimensions; documented are {known.ranks}"
    if known.formats and tensor.format.name not in known.formats:
        yield "format", f"format {tensor.format.name} is not among {', '.join(known.formats)}"
    if known.strided is False and not tensor.is_contiguous:
        yield "strided", f"strides {tensor.strides} are not those of a contiguous tensor"


def _listed(dtypes: tuple[str, ...]) -> str:
    return ", ".join(python_dtype(name) for name in dtypes)


@lru_cache(maxsize=1024)
def _dtype_set(names: tuple[str, ...]) -> frozenset[str]:
    return frozenset(python_dtype(name) for name in names)


@lru_cache(maxsize=256)
def rank_set(dims: str) -> frozenset[int]:
    """The ranks of "0-8", "2" or "3,5"."""
    ranks: set[int] = set()
    for part in filter(None, dims.split(",")):
        low, _, high = part.partition("-")
        ranks.update(range(int(low), int(high or low) + 1))
    return frozenset(ranks)
