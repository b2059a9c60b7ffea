# SPDX-License-Identifier: Apache-2.0
"""Which triangle is in front at each pixel, against the document's formulas in float64."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place

from ..problems import fault, message

pytestmark = pytest.mark.usefixtures("device")

WIDTH, HEIGHT = 13, 9
CORNERS = np.array(
    [[-1, -1, 0, 1], [1, -1, 0, 1], [-1, 1, 0, 1], [1, 1, 0, 1]], np.float32
)  # those of the screen


def weights_of(corners: Array, width: int, height: int) -> tuple[Array, Array]:
    """The weights of three corners at the centre of every pixel, and their depth."""
    x, y, z, w = corners.astype(np.float64).T
    x = (x / w * 0.5 + 0.5) * (width - 1) + 0.5
    y = (y / w * 0.5 + 0.5) * (height - 1) + 0.5
    z = z / w * 0.49999 + 0.5
    centres = np.meshgrid(np.arange(width) + 0.5, np.arange(height) + 0.5)

    def edge(a: int, b: int) -> Array:
        twice: Array = (x[b] - x[a]) * (centres[1] - y[a]) - (y[b] - y[a]) * (centres[0] - x[a])
        return twice

    area = (x[1] - x[0]) * (y[2] - y[0]) - (y[1] - y[0]) * (x[2] - x[0])
    weights: Array = np.stack([edge(1, 2), edge(2, 0), edge(0, 1)], -1) / area
    return weights, weights @ z


def drawn(v: Array, f: Array, width: int, height: int) -> tuple[Array, Array, Array]:
    """The face of every pixel, its weights, and whether no rounding can change the face."""
    found = np.zeros((height, width), np.int32)
    nearest = np.full((height, width), np.inf)
    weights, certain = np.zeros((height, width, 3)), np.ones((height, width), bool)
    for number, face in enumerate(f):
        mine, depth = weights_of(v[face], width, height)
        inside = (mine >= 0).all(-1)
        certain &= np.abs(mine.min(-1)) > 1e-4
        certain &= ~inside | (np.abs(depth - nearest) > 1e-4)
        front = inside & (depth < nearest)
        found[front], nearest[front] = number + 1, depth[front]
        mine = mine / v[face, 3].astype(np.float64)
        weights[front] = (mine / mine.sum(-1, keepdims=True))[front]
    return found, weights, certain


def rasterized(v: Array, f: Array, width: int, height: int) -> tuple[Array, Array]:
    found, weights = hollow((height, width), np.int32), hollow((height, width, 3), np.float32)
    op("Rasterizer")(place(v), place(f), None, width, height, 0.0, 0, found, weights)
    return found.numpy(), weights.numpy()


@pytest.mark.parametrize(("count", "width", "height"), [(1, 13, 9), (12, 40, 37), (3, 3, 64)])
def test_the_face_in_front_and_its_weights(count: int, width: int, height: int) -> None:
    rng = np.random.default_rng(count)
    v = rng.uniform(-1.3, 1.3, (3 * count, 4)).astype(np.float32)
    v[:, 3] = rng.uniform(0.5, 2, len(v))
    v[:, :3] *= v[:, 3:]
    f = rng.permutation(len(v)).reshape(count, 3).astype(np.int32)
    wanted, wanted_weights, certain = drawn(v, f, width, height)
    found, weights = rasterized(v, f, width, height)
    assert certain.mean() > 0.9
    assert_same(found[certain], wanted[certain])
    # Corners on the screen are rounded to a part of its size.
    assert_close(weights[certain], wanted_weights[certain].astype(np.float32), scale=50)


def test_edges_belong_to_both_faces_and_the_first_one_stays() -> None:
    f = np.array([[0, 1, 2], [3, 2, 1], [0, 1, 2]], np.int32)
    found, weights = rasterized(CORNERS, f, 5, 5)
    wanted = np.where(np.add.outer(np.arange(5), np.arange(5)) <= 4, 1, 2)
    assert_same(found, wanted.astype(np.int32))
    assert_same(weights[0, 0], np.array([1, 0, 0], np.float32))
    assert_same(weights[2, 2], np.array([0, 0.5, 0.5], np.float32))
    assert_same(weights[4, 4], np.array([1, 0, 0], np.float32))


def test_the_smaller_depth_is_in_front_whichever_face_comes_first() -> None:
    v = np.concatenate([CORNERS, CORNERS + np.array([0, 0, -0.5, 0], np.float32)])
    for order in ([0, 1, 2], [4, 5, 6]), ([4, 5, 6], [0, 1, 2]):
        found, _ = rasterized(v, np.array(order, np.int32), 5, 5)
        assert found[0, 0] == 1 + order.index([4, 5, 6])


@pytest.mark.parametrize(
    "face",
    [
        pytest.param([[0, 0, 0, 1], [0.5, 0.5, 0, 1], [1, 1, 0, 1]], id="a line"),
        pytest.param([[0, 0, 0, 0], [1, 0, 0, 0], [0, 1, 0, 0]], id="no fourth coordinate"),
        pytest.param([[2, 2, 0, 1], [3, 2, 0, 1], [2, 3, 0, 1]], id="beside the screen"),
    ],
)
def test_where_no_face_is_both_results_are_zero(face: list[list[float]]) -> None:
    v, f = np.array(face, np.float32), np.array([[0, 1, 2]], np.int32)
    found, weights = rasterized(v, f, WIDTH, HEIGHT)
    assert_same(found, np.zeros((HEIGHT, WIDTH), np.int32))
    assert_same(weights, np.zeros((HEIGHT, WIDTH, 3), np.float32))


def some_call(**changed: Any) -> list[Any]:
    call: dict[str, Any] = {
        "v": CORNERS,
        "f": np.array([[0, 1, 2]], np.int32),
        "d": None,
        "width": WIDTH,
        "height": HEIGHT,
        "truncation": 0.0,
        "prior": 0,
        "found": np.zeros((HEIGHT, WIDTH), np.int32),
        "weights": np.zeros((HEIGHT, WIDTH, 3), np.float32),
    } | changed
    return [place(x) if isinstance(x, np.ndarray) else x for x in call.values()]


REFUSALS: list[tuple[dict[str, Any], int, str]] = [
    ({"v": None}, 161001, "v is null"),
    ({"f": None}, 161001, "f is null"),
    ({"found": None}, 161001, "findicesOut is null"),
    ({"weights": None}, 161001, "barycentricOut is null"),
    ({"v": CORNERS.astype(np.float16)}, 161002, "v has dtype FLOAT16"),
    ({"f": np.zeros((1, 3), np.int64)}, 161002, "f has dtype INT64"),
    ({"d": np.zeros((HEIGHT, WIDTH), np.float16)}, 161002, "dOptional has dtype FLOAT16"),
    ({"v": np.zeros((4, 3), np.float32)}, 561002, "v has shape (4, 3)"),
    ({"v": np.zeros((0, 4), np.float32)}, 561002, "v has shape (0, 4)"),
    ({"f": np.zeros((1, 4), np.int32)}, 561002, "f has shape (1, 4)"),
    ({"f": np.zeros(3, np.int32)}, 561002, "f has 1 dimensions"),
    ({"width": 0}, 561002, "width is 0; it must be in [1, 4096]"),
    ({"height": 4097}, 561002, "height is 4097; it must be in [1, 4096]"),
    ({"prior": 1}, 561002, "useDepthPrior is 1; allowed: 0"),
    ({"found": np.zeros((WIDTH, HEIGHT), np.int32)}, 561002, "findicesOut has shape (13, 9)"),
    ({"weights": np.zeros((HEIGHT, WIDTH, 2), np.float32)}, 561002, "barycentricOut has shape"),
]


@pytest.mark.parametrize(("changed", "status", "words"), REFUSALS, ids=[r[2] for r in REFUSALS])
def test_refusals(changed: dict[str, Any], status: int, words: str) -> None:
    assert words in message("Rasterizer", status, some_call(**changed))


@pytest.mark.parametrize("bad", [-1, 4])
def test_a_corner_that_is_no_point_is_a_fault(bad: int) -> None:
    assert f"{bad}" in fault("Rasterizer", *some_call(f=np.array([[0, 1, bad]], np.int32)))


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_a_950_lacks_it() -> None:
    with Chip950() as newer:
        refused = newer.operator(
            *(
                "rasterizer",
                Given(CORNERS, "float32"),
                Given(np.zeros((1, 3), np.int32), "int32"),
                None,
                2,
                2,
            ),
            *(0.0, 0, Made((2, 2), "int32"), Made((2, 2, 3), "float32")),
        )
    assert isinstance(refused, Refused)
    assert "does not have the operator" in refused.text
