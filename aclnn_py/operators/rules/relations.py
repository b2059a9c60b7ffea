# SPDX-License-Identifier: Apache-2.0
"""The rule table: what binds several arguments of an operator, or an attribute to its values.

A row of `facts/rules.json` names operators, a kind of rule and its words; the kinds are the
functions of this module. A row whose arguments are absent holds. `when` maps terms to the value, or
the list of values, that they must have for the row to apply.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from aclnn_py import facts
from aclnn_py.errors import BrokenRule
from aclnn_py.operators.rules.shapes import match_shapes
from aclnn_py.operators.rules.terms import Call, python_dtype

__all__ = ["Relation", "broken_relations", "relations_of"]

_INVALID = 161002
_Findings = Iterator[tuple[str, str]]


@dataclass(frozen=True)
class Relation:
    """One row of the rule table, as it is checked."""

    row: facts.RuleRow

    def __str__(self) -> str:
        words = {k: v for k, v in self.row.items() if k not in ("for", "rule", "status", "when")}
        text = f"{self.row['rule']} {', '.join(f'{k} {v}' for k, v in words.items())}"
        when = " and ".join(
            f"{term} is {value}" for term, value in self.row.get("when", {}).items()
        )
        return f"{text} when {when}" if when else text

    def broken(self, call: Call) -> Iterator[BrokenRule]:
        """What a call has against it."""
        if not call.applies(self.row):
            return
        status = int(self.row.get("status", _INVALID))
        for name, text in KINDS[self.row["rule"]](call, self.row):
            yield BrokenRule(name, text, status)


def relations_of(c_name: str) -> tuple[Relation, ...]:
    """The rows of the rule table for one operator, in the order in which libraries check."""
    return tuple(Relation(row) for row in facts.rules(c_name) if row["rule"] != "status")


def broken_relations(call: Call) -> list[BrokenRule]:
    """All rows that the arguments of a call break."""
    return [rule for one in relations_of(call.op.c_name) for rule in one.broken(call)]


def _same(call: Call, row: Any) -> _Findings:
    """All tensors of `of` have the dtype, shape or format of the first."""
    what = row["what"]
    members = [pair for c_name in row["of"] for pair in call.tensors(c_name)]
    if not members:
        return
    read: Callable[[Any], Any] = {
        "dtype": lambda tensor: tensor.dtype_name,
        "shape": lambda tensor: tensor.shape,
        "format": lambda tensor: tensor.format.name,
    }[what]
    first, wanted = members[0][0], read(members[0][1])
    for name, tensor in members[1:]:
        if read(tensor) != wanted:
            yield name, f"{what} {read(tensor)}; it must be that of {first}, {wanted}"


def _paired(call: Call, row: Any) -> _Findings:
    """Members of the lists of `of` that stand at one place have the same dtype or shape."""
    lists = [call.tensors(c_name) for c_name in row["of"] if call.given(c_name)]
    for members in zip(*lists):  # noqa: B905 (lengths are another rule's)
        first, wanted = members[0]
        for name, tensor in members[1:]:
            if row["what"] == "shape" and tensor.shape != wanted.shape:
                yield name, f"shape {tensor.shape}; it must be that of {first}, {wanted.shape}"
            elif row["what"] == "dtype" and tensor.dtype_name != wanted.dtype_name:
                yield (
                    name,
                    f"dtype {tensor.dtype_name}; it must be that of {first}, {wanted.dtype_name}",
                )


def _combinations(call: Call, row: Any) -> _Findings:
    """The dtypes of `of` are one of the rows of `allowed`; null stands for an absent argument."""
    left = row["allowed"]
    given: list[str] = []
    for position, c_name in enumerate(row["of"]):
        tensors = call.tensors(c_name)
        dtype = tensors[0][1].dtype_name if tensors else None
        fitting = [one for one in left if one[position] == "*" or _dtype(one[position]) == dtype]
        if not fitting:
            choices = dict.fromkeys(_dtype(one[position]) for one in left)
            allowed = " or ".join(choice or "absent" for choice in choices)
            beside = f" beside {', '.join(given)}" if given else ""
            what = "it is absent" if dtype is None else f"dtype {dtype}"
            name = tensors[0][0] if tensors else call.name(c_name)
            yield name, f"{what}; it must be {allowed}{beside}"
            return
        left = fitting
        given.append(f"{dtype or 'no'} {call.name(c_name)}")


def _dtype(name: str | None) -> str | None:
    return None if name is None else python_dtype(name)


def _broadcast(call: Call, row: Any) -> _Findings:
    """The shapes of `of` broadcast together, to that of `to` if there is one."""
    shape: tuple[int, ...] = ()
    names: list[str] = []
    for c_name in row["of"]:
        for name, tensor in call.tensors(c_name):
            joined = _broadcast_shape(shape, tensor.shape)
            if joined is None:
                yield (
                    name,
                    f"shape {tensor.shape} does not broadcast with {shape} of {', '.join(names)}",
                )
                return
            shape = joined
            names.append(name)
    for name, tensor in call.tensors(row["to"]) if "to" in row else []:
        if tensor.shape != shape:
            source = " and ".join(names)
            yield name, f"shape {tensor.shape}; {source} broadcast to {shape}"


def _broadcast_shape(a: tuple[int, ...], b: tuple[int, ...]) -> tuple[int, ...] | None:
    width = max(len(a), len(b))
    pairs = list(zip((1,) * (width - len(a)) + a, (1,) * (width - len(b)) + b, strict=True))
    if any(x != y and 1 not in (x, y) for x, y in pairs):
        return None
    return tuple(y if x == 1 else x for x, y in pairs)


def _values(call: Call, row: Any) -> _Findings:
    """An attribute has one of some values."""
    value = call.term(row["argument"])
    if value is not None and value not in row["allowed"]:
        allowed = ", ".join(repr(item) for item in row["allowed"])
        what = f"{row['argument']} is {value!r}," if "(" in row["argument"] else f"{value!r} is"
        yield _named(call, row["argument"]), f"{what} not among {allowed}"


def _range(call: Call, row: Any) -> _Findings:
    """A term lies between two others, both included, as a multiple; or is one of `except`."""
    value, low, high = (call.term(row.get(key)) for key in ("argument", "low", "high"))
    if not isinstance(value, int) or value in row.get("except", ()):
        return
    name = _named(call, row["argument"])
    if (low is not None and value < low) or (high is not None and value > high):
        bounds = (
            f"{low} to {high}"
            if None not in (low, high)
            else (f"at most {high}" if low is None else f"{low} or more")
        )
        yield name, f"{row['argument']} is {value}; allowed is {bounds}"
        return
    multiple = call.term(row.get("multiple"))
    if multiple and value % multiple:
        yield name, f"{row['argument']} is {value}; it must be a multiple of {multiple}"


def _equal(call: Call, row: Any) -> _Findings:
    """Two terms are equal; the first one is to blame."""
    value, wanted = call.term(row["argument"]), call.term(row["to"])
    if None not in (value, wanted) and value != wanted:
        yield (
            _named(call, row["argument"]),
            (f"{row['argument']} is {value}; it must be {row['to']}, {wanted}"),
        )


def _named(call: Call, term: str) -> str:
    """The Python name of the parameter that a term speaks of."""
    c_name = term.split("(")[-1].split(")")[0].split("[")[0].split("+")[0].split("-")[0]
    return call.name(c_name)


def _absent(call: Call, row: Any) -> _Findings:
    """An optional argument is not given."""
    if call.given(row["argument"]):
        yield call.name(row["argument"]), f"given; it must be None {row.get('why', 'here')}"


def _present(call: Call, row: Any) -> _Findings:
    """An optional argument is given."""
    if not call.given(row["argument"]):
        yield call.name(row["argument"]), f"absent; it is needed {row.get('why', 'here')}"


def _axis(call: Call, row: Any) -> _Findings:
    """A dimension, or a list of different ones, exists in a tensor."""
    value, tensors = call.value(row["argument"]), call.tensors(row["of"])
    if value is None or not tensors:
        return
    extent = max(tensors[0][1].ndim + int(row.get("more", 0)), 1)
    dims = list(value) if isinstance(value, Iterable) else [value]
    name = call.name(row["argument"])
    seen: set[int] = set()
    for dim in dims:
        if not -extent <= dim < extent:
            yield (
                name,
                f"{dim} is not within {-extent}..{extent - 1}, the dimensions of {row['of']}",
            )
        elif dim % extent in seen:
            yield name, f"{list(value)} names dimension {dim % extent} twice"
        seen.add(dim % extent)


def _ascending(call: Call, row: Any) -> _Findings:
    """A list of numbers does not decrease; its last is at most, or exactly, a term."""
    value = call.value(row["argument"])
    if not isinstance(value, (list, tuple)):
        return
    name, before = call.name(row["argument"]), 0
    for index, item in enumerate(value):
        if item < before:
            yield (
                f"{name}[{index}]",
                f"{item} is less than {before} before it; ends do not decrease",
            )
            return
        before = item
    end = call.term(row.get("end"))
    if end is not None and value and value[-1] != end:
        yield f"{name}[{len(value) - 1}]", f"{value[-1]}; the last end must be {row['end']}, {end}"


def _orientation(call: Call, row: Any) -> _Findings:
    """A matrix is, or is not, a transposed view: rows are 1 apart, columns a whole column."""
    for name, tensor in call.tensors(row["argument"]):
        if tensor.ndim < 2 or 1 in tensor.shape[-2:]:
            continue  # both readings are the same memory
        turned = tensor.strides[-2] == 1 and tensor.strides[-1] == tensor.shape[-2]
        if turned and not row["transposed"]:
            yield (
                name,
                f"strides {tensor.strides} are those of a transposed view; it must be row-major",
            )
        elif not turned and row["transposed"]:
            yield name, f"strides {tensor.strides}; it must be a transposed view, strides (1, rows)"


def _shapes(call: Call, row: Any) -> _Findings:
    return match_shapes(call, row)


def _reduced(call: Call, row: Any) -> _Findings:
    """`to` has the shape of `of` with the dimensions of `dims` taken out, or of extent 1."""
    source, target = call.tensors(row["of"]), call.tensors(row["to"])
    dims, keep = call.value(row["dims"]), bool(call.value(row["keep"])) if "keep" in row else False
    if not source or not target:
        return
    shape = source[0][1].shape
    given = list(dims) if isinstance(dims, Iterable) else [] if dims is None else [dims]
    rank = max(len(shape), 1)
    if any(not -rank <= dim < rank for dim in given):
        return  # another rule's
    gone = {dim % rank for dim in given} or set(range(len(shape)))
    kept = tuple(1 if i in gone else n for i, n in enumerate(shape) if keep or i not in gone)
    if target[0][1].shape != kept:
        yield target[0][0], f"shape {target[0][1].shape}; reducing {row['of']} gives {kept}"


def _joined(call: Call, row: Any) -> _Findings:
    """`to` is the tensors of `of` one after another along `dim`."""
    parts = [pair for pair in call.tensors(row["of"]) if pair[1].shape != (0,)]
    target, dim = call.tensors(row["to"]), call.value(row["dim"])
    if not parts or not target or not isinstance(dim, int):
        return
    first, rank = parts[0][1].shape, parts[0][1].ndim
    if rank == 0 or not -rank <= dim < rank:
        return
    axis, total = dim % rank, 0
    for name, tensor in parts:
        if tensor.ndim != rank or any(
            n != m for i, (n, m) in enumerate(zip(tensor.shape, first, strict=False)) if i != axis
        ):
            yield name, f"shape {tensor.shape}; but for dimension {axis} it must be {first}"
            return
        total += tensor.shape[axis]
    wanted = (*first[:axis], total, *first[axis + 1 :])
    if target[0][1].shape != wanted:
        yield target[0][0], f"shape {target[0][1].shape}; the parts give {wanted}"


def _permuted(call: Call, row: Any) -> _Findings:
    """`to` has the dimensions of `of` in the order of `dims`."""
    source, target, dims = call.tensors(row["of"]), call.tensors(row["to"]), call.value(row["dims"])
    if not source or not target or dims is None:
        return
    shape = source[0][1].shape
    if len(dims) != len(shape):
        yield (
            call.name(row["dims"]),
            f"{len(dims)} numbers for the {len(shape)} dimensions of {row['of']}",
        )
        return
    if any(not -len(shape) <= dim < len(shape) for dim in dims):
        return
    wanted = tuple(shape[dim] for dim in dims)
    if target[0][1].shape != wanted:
        yield target[0][0], f"shape {target[0][1].shape}; permuting {row['of']} gives {wanted}"


KINDS: dict[str, Callable[[Call, Any], _Findings]] = {
    "absent": _absent,
    "ascending": _ascending,
    "axis": _axis,
    "broadcast": _broadcast,
    "combinations": _combinations,
    "equal": _equal,
    "joined": _joined,
    "orientation": _orientation,
    "paired": _paired,
    "permuted": _permuted,
    "present": _present,
    "range": _range,
    "reduced": _reduced,
    "same": _same,
    "shapes": _shapes,
    "values": _values,
}
