# SPDX-License-Identifier: Apache-2.0
"""Which dtypes phase one takes for each tensor of an operator, found by asking the library.

A dtype counts as taken when some call has it: what a tensor may be often depends on the others, so
each question is tried with the others as in a known call, with all tensors that had one dtype moved
together, and with one more tensor of each dtype that the facts give it.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager

import aclnn_py as ap
from aclnn_py.distributed import Communicator
from aclnn_py.tensor.dtypes import DType, all_types, dtype_of
from helpers.accepted_calls import calls, calls_950, operators
from helpers.operators import tensor_dtypes
from helpers.phase_one import PhaseOne

_DTYPES = all_types()
# What results, indices, masks, statistics and scales usually are.
_OTHERS = tuple(
    dtype_of(name)
    for name in (
        *("float32", "float16", "bfloat16", "float64", "int8", "uint8", "int16", "int32", "int64"),
        *("uint64", "bool", "complex64", "complex128"),
    )
)
_BOOL = dtype_of("bool")


@contextmanager
def group_names() -> Iterator[dict[int, str]]:
    """Names of communicators by their number of ranks, device 0 being the first of each."""
    keys = {key for name in operators() for call in calls(name) for key in call.group_keys}
    with ExitStack() as stack:
        stack.enter_context(ap.Device(0))
        names = {}
        for key in sorted(keys, reverse=True):
            members = Communicator.init_all(abs(key))
            for member in members:
                stack.enter_context(member)
            names[key] = members[0].name
        ap.Device(0).activate()
        yield names


def taken(operator: str, groups: Mapping[int, str]) -> dict[str, set[DType]]:
    """Return the dtypes phase one takes, by the name of the tensor or list of tensors.

    Parameters
    ----------
    operator : str
        C name.
    groups : mapping
        Names of communicators by their number of ranks.
    """
    found: dict[str, set[DType]] = {}
    for call in calls(operator):
        with PhaseOne(call, groups) as question:
            assert question.ask({}) == 0, f"{call}: {question.message()}"
            _add_taken(found, question, tensor_dtypes(operator))
    return found


def taken_by_950(operator: str, groups: Mapping[int, str]) -> dict[str, set[DType]]:
    """Return the same for a chip of the 950 series: it need not take the calls of other chips."""
    found: dict[str, set[DType]] = {}
    accepts = tensor_dtypes(operator, of_950=True)
    own = calls_950(operator)
    for call in (*own, *calls(operator)):
        with PhaseOne(call, groups) as question:
            if question.ask({}) == 0:
                _add_taken(found, question, accepts)
            else:
                assert call not in own, f"{call}: {question.message()}"
    return found


def _add_taken(
    found: dict[str, set[DType]], question: PhaseOne, accepts: Mapping[str, tuple[str, ...]]
) -> None:
    names = [parameter.c_name for parameter in question.call.op.parameters]
    kinds = {}
    for position in question.tensors:
        known_kinds = {dtype_of(name.lower()) for name in accepts.get(names[position], ())}
        kinds[position] = [kind for kind in _OTHERS if kind in known_kinds]
    for position in question.tensors:
        known = found.setdefault(names[position], set())
        for dtype in _DTYPES:
            if dtype not in known and _takes(question, kinds, position, dtype):
                known.add(dtype)


def _takes(
    question: PhaseOne, kinds: Mapping[int, list[DType]], position: int, dtype: DType
) -> bool:
    """Ask in all ways to give the tensor at a position a dtype, the likeliest first."""
    tensors = question.tensors
    alone = {position: dtype}
    alike = {p: dtype for p, name in tensors.items() if name == tensors[position]}
    everywhere = dict.fromkeys(tensors, dtype)
    ways = [alone, alike, everywhere] if alike != alone else [alone, everywhere]
    scalars: list[dict[int, DType]] = [{}]
    if question.scalars:
        scalars.append(dict.fromkeys(question.scalars, _BOOL))
        if dtype.exact:
            scalars.append(dict.fromkeys(question.scalars, dtype))
    for others in scalars:
        for way in ways:
            dtypes = {**others, **way}
            if question.ask(dtypes) == 0 or _takes_attribute(question, dtypes):
                return True
    for others in scalars:
        for way in ways[:2]:
            more = [
                (other, kind)
                for other in tensors
                if other != position
                for kind in kinds[other]
                if kind is not way.get(other, question.given.get(other))  # that was asked above
            ]
            dtypes = {**others, **way}
            if question.takes_one_of(dtypes, more):
                return True
            if question.dtype_attributes and any(
                _takes_attribute(question, {**dtypes, other: kind}) for other, kind in more
            ):
                return True
    return False


def _takes_attribute(question: PhaseOne, dtypes: dict[int, DType]) -> bool:
    """Attributes that name a dtype have to be that of a result: try each that is given."""
    attributes = question.dtype_attributes
    return bool(attributes) and any(
        question.ask({**dtypes, **dict.fromkeys(attributes, kind)}) == 0
        for kind in {*dtypes.values()}
    )
