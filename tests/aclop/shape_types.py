# SPDX-License-Identifier: Apache-2.0
"""Shapes, indices and scatters, with NumPy's answers."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.aclop import Side, const, host

from .problem import I32, I64, PROBLEMS, RANDOM, F, Problem, problem, spread


# --- shapes
def shaped(name: str, function: Any, value: Any, port: str | None, **attributes: Any) -> None:
    """A type with a list as an input; `port` names the attribute of its type with D at the end."""
    source = spread(4, 6)
    answer = np.ascontiguousarray(function(source))
    PROBLEMS[name] = lambda: Problem([source, const(I64(value))], [answer], attributes)
    if port is not None:
        PROBLEMS[name + "D"] = lambda: Problem([source], [answer], {port: value, **attributes})


shaped("Transpose", np.transpose, [1, 0], "perm")
shaped("Tile", lambda x: np.tile(x, (2, 3)), [2, 3], "multiples")
shaped("BroadcastTo", lambda x: np.broadcast_to(x, (3, 4, 6)), [3, 4, 6], "shape")
shaped("Expand", lambda x: np.broadcast_to(x, (3, 4, 6)), [3, 4, 6], "shape")
shaped("ReverseV2", lambda x: x[::-1], [0], None)
shaped("Reshape", lambda x: x.reshape(3, 8), [3, -1], None)
shaped("Pad", lambda x: np.pad(x, ((1, 0), (2, 3))), [[1, 0], [2, 3]], None)


@problem
def PadD() -> Problem:
    x = spread(4, 6)
    return Problem([x], [np.pad(x, ((1, 0), (2, 3)))], {"paddings": [[1, 0], [2, 3]]})


for _name in ("PadV2", "PadV3"):

    def _pad() -> Problem:
        x = spread(4, 6)
        answer = np.pad(x, ((1, 0), (2, 3)), constant_values=7)
        return Problem([x, const(I32([[1, 0], [2, 3]])), const(F([7]))], [answer])

    PROBLEMS[_name] = _pad


def joined(name: str, stacked: bool, place: str) -> None:
    """A type that joins a list."""

    def make() -> Problem:
        parts = [spread(2, 3) for _ in range(3)]
        axis = 0 if stacked else 1
        answer = np.stack(parts, 0) if stacked else np.concatenate(parts, 1)
        number = const(I32([axis]))
        given = {"first": [number, *parts], "last": [*parts, number]}.get(place, parts)
        names = {"axis": axis} if stacked else {"concat_dim": axis}
        return Problem(given, [answer], {"N": 3, **(names if place == "attribute" else {})})

    PROBLEMS[name] = make


joined("ConcatD", False, "attribute")
joined("ConcatV2D", False, "attribute")
joined("ConcatV2", False, "last")
joined("Concat", False, "first")
joined("Pack", True, "attribute")


def parted(name: str, *, even: bool, attribute: bool) -> None:
    """A type that splits a tensor."""

    def make() -> Problem:
        x = spread(4, 6)
        sizes = [3, 3] if even else [1, 5]
        answers = [np.ascontiguousarray(p) for p in np.split(x, [sizes[0]], 1)]
        if even and attribute:
            return Problem([x], answers, {"split_dim": 1, "num_split": 2})
        if even:
            return Problem([const(I32([1])), x], answers, {"num_split": 2})
        if attribute:
            return Problem([x], answers, {"size_splits": sizes, "split_dim": 1, "num_split": 2})
        return Problem([x, const(I64(sizes)), const(I32([1]))], answers, {"num_split": 2})

    PROBLEMS[name] = make


parted("Split", even=True, attribute=False)
parted("SplitD", even=True, attribute=True)
parted("SplitV", even=False, attribute=False)
parted("SplitVD", even=False, attribute=True)


@problem
def Slice() -> Problem:
    x = spread(4, 6)
    return Problem([x, const(I32([1, 2])), const(I32([2, -1]))], [x[1:3, 2:].copy()])


@problem
def SliceD() -> Problem:
    x = spread(4, 6)
    return Problem([x], [x[1:3, 2:5].copy()], {"offsets": [1, 2], "size": [2, 3]})


@problem
def StridedSlice() -> Problem:
    x = spread(4, 6)
    given = [x, const(I64([1, 0])), const(I64([4, 6])), const(I64([2, 3]))]
    return Problem(given, [x[1:4:2, ::3].copy()])


@problem
def StridedSliceD() -> Problem:
    x = spread(4, 6)
    lists = {"begin": [2, 0], "end": [3, 6], "strides": [1, 1]}
    return Problem([x], [x[2].copy()], {**lists, "shrink_axis_mask": 1})


@problem
def TransData() -> Problem:
    x = spread(16, 16)
    blocks = x.reshape(1, 16, 2, 8).transpose(2, 0, 1, 3).copy()
    return Problem(
        [x],
        [Side(blocks, shape=(16, 16), storage_format=29, storage_shape=blocks.shape)],
        {"src_format": "ND", "dst_format": "FRACTAL_NZ"},
    )


@problem
def Assign() -> Problem:
    x, value = spread(3, 5), spread(3, 5)
    return Problem([x, value], [value], shared={0: 0})


@problem
def Fill() -> Problem:
    return Problem([const(I64([3, 4])), host(F([2.5]))], [np.full((3, 4), 2.5, F)])


@problem
def Eye() -> Problem:
    return Problem([], [np.eye(4, 6, dtype=F)], {"num_rows": 4, "num_columns": 6})


@problem
def Range() -> Problem:
    given = [const(F([v])) for v in (1, 6, 0.5)]
    return Problem(given, [np.arange(1, 6, 0.5, F)])


@problem
def LinSpace() -> Problem:
    return Problem([const(F([1])), const(F([5])), const(I32([9]))], [np.linspace(1, 5, 9, dtype=F)])


@problem
def ConfusionTransposeD() -> Problem:
    x = spread(4, 6)
    answer = x.reshape(2, 2, 6).transpose(1, 0, 2).copy()
    lists = {"perm": [1, 0, 2], "shape": [2, 2, 6], "transpose_first": False}
    return Problem([x], [answer], lists)


# --- indices
def indexed(name: str, given: Any, answer: Any, attributes: dict[str, Any] | None = None) -> None:
    """A type that reads places of a tensor."""
    PROBLEMS[name] = lambda: Problem(given, [np.ascontiguousarray(answer)], attributes or {})


_X, _AT = spread(4, 6), np.array([2, 0, 3], I64)
indexed("GatherV2", [_X, _AT, const(I32([1]))], _X[:, _AT])
indexed("GatherV2D", [_X, _AT], _X[_AT], {"axis": 0})
indexed("Gather", [_X, _AT], _X[_AT])
_PLACES = RANDOM.integers(0, 4, (3, 6)).astype(I64)
indexed("GatherElements", [_X, _PLACES], np.take_along_axis(_X, _PLACES, 0))
_PAIRS = np.array([[0, 1], [3, 5]], I64)
indexed("GatherNd", [_X, _PAIRS], _X[_PAIRS[:, 0], _PAIRS[:, 1]])
_LABELS = np.array([0, 2, 1], I32)
_HOT = np.where(np.arange(3) == _LABELS[:, None], 5, -1).astype(I32)
indexed("OneHot", [_LABELS, const(I32([3])), I32([5]), I32([-1])], _HOT)
indexed("OneHotD", [_LABELS, I32([5]), I32([-1])], _HOT, {"depth": 3})
_EDGES = np.array([-1, 0, 1], F)
indexed("BucketizeV2", [_X, _EDGES], np.digitize(_X, _EDGES, right=True).astype(I64))
_SCATTERED = _X.copy()
_ROWS, _NEW = np.array([[1] * 6, [3] * 6], I64), spread(2, 6)
_SCATTERED[[1, 3]] += _NEW
indexed("ScatterElements", [_X, _ROWS, _NEW], _SCATTERED, {"reduction": "add"})
_SUMS = np.zeros((4, 6), F)
np.add.at(_SUMS, np.array([1, 3, 1]), spread(3, 6) * 0 + 1)
indexed(
    "EmbeddingDenseGrad",
    [np.ones((3, 6), F), np.array([1, 3, 1], I64)],
    _SUMS,
    {"num_weights": 4},
)


def scattered(name: str, rule: Any, pairs: bool = False) -> None:
    """A type that changes places of its first input."""

    def make() -> Problem:
        x, new = spread(4, 6, low=1, high=3), spread(2, 6, low=1, high=3)
        answer, at = x.copy(), np.array([[1], [3]] if pairs else [1, 3], I32)
        answer[[1, 3]] = rule(x[[1, 3]], new)
        return Problem([x, at, new], [answer], shared={0: 0})

    PROBLEMS[name] = make


scattered("ScatterAdd", np.add)
scattered("ScatterNdUpdate", lambda old, new: new, pairs=True)
scattered("ScatterDiv", np.divide)
scattered("ScatterMax", np.maximum)
scattered("ScatterMin", np.minimum)
scattered("ScatterMul", np.multiply)
