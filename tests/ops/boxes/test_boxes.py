# SPDX-License-Identifier: Apache-2.0
"""How much of two boxes lies in both, and which boxes remain of those that overlap."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, place, refusal, wide

import aclnn_py as ap

from ..problems import Case, In, Out, Problem, message, suite

pytestmark = pytest.mark.usefixtures("device")

Rng = np.random.Generator


def draw(rng: Rng, count: int) -> Array:
    """Boxes (x0, y0, x1, y1) that often overlap."""
    corner, size = rng.uniform(0, 4, (count, 2)), rng.uniform(0.5, 4, (count, 2))
    return np.concatenate([corner, corner + size], 1)


def overlap_of(a: Array, b: Array, eps: float, foreground: bool) -> Array:
    """The overlap of the boxes in the last dimensions of both."""

    def area(box: Array) -> Array:
        return (box[..., 2] - box[..., 0] + eps) * (box[..., 3] - box[..., 1] + eps)

    sides = np.minimum(a[..., 2:], b[..., 2:]) - np.maximum(a[..., :2], b[..., :2]) + eps
    both = np.maximum(sides, 0).prod(-1)
    return both / (area(b) if foreground else area(a) + area(b) - both)


def iou_case(mode: str, eps: float, aligned: bool) -> Case:
    def build(rng: Rng, dtype: Any) -> Problem:
        a, b = draw(rng, 5).astype(dtype), draw(rng, 5 if aligned else 3).astype(dtype)
        other = wide(b)[:, None] if aligned else wide(b)[None]
        y = overlap_of(wide(a)[:, None], other, eps, mode == "iof")
        return [In(a), In(b), mode, eps, aligned, Out(y, dtype, 8)]

    return Case("Iou", build, f"{mode}-{eps}-{aligned}")


TestIou = suite([iou_case("iou", 0.0, False), iou_case("iof", 1.0, True)])


def test_the_example_of_the_document() -> None:
    a = np.array([[1, 1, 5, 3], [1, 1, 5, 3]], np.float32)
    b = np.array([[4, 2, 9, 5], [4, 2, 9, 5]], np.float32)
    out = hollow((2, 1), np.float32)
    ap.ops.iou(place(a), place(b), "iou", 0.0, True, out)
    assert_close(out.numpy(), np.full((2, 1), 1 / 22))


def test_boxes_apart_and_none() -> None:
    a, b = np.array([[0, 0, 1, 1]], np.float32), np.array([[2, 2, 3, 3]], np.float32)
    out = hollow((1, 1), np.float32)
    ap.ops.iou(place(a), place(b), "iou", 0.0, False, out)
    assert out.numpy() == 0
    none = ap.empty((0, 4), np.float32)
    ap.ops.iou(none, place(b), "iou", 0.0, False, ap.empty((0, 1), np.float32))
    ap.synchronize()


def test_iou_refuses_what_does_not_fit() -> None:
    a, b, out = (hollow(shape, np.float32) for shape in ((3, 4), (2, 4), (3, 2)))
    good = [a, b, "iou", 0.0, False, out]
    for position, wrong, words in [
        (0, hollow((3, 5), np.float32), "bBoxes has shape (3, 5)"),
        (2, "giou", 'mode is "giou"'),
        (3, -1.0, "eps is -1"),
        (4, True, "gtBoxes has shape (2, 4)"),
    ]:
        given = [wrong if i == position else x for i, x in enumerate(good)]
        assert words in message("aclnnIou", 161002, given)
    text = message("aclnnIou", 161002, [a, a, "iou", 0.0, True, hollow((3, 3), np.float32)])
    assert "overlap has shape (3, 3)" in text


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def complete(a: Array, b: Array, foreground: bool) -> tuple[Array, Array]:
    """CIoU of the columns of boxes (4, n) by their corners, and the difference of the angles."""
    overlap = overlap_of(a.T, b.T, 0.0, foreground)
    centre_a, centre_b = (a[:2] + a[2:]) / 2, (b[:2] + b[2:]) / 2
    spanned = np.maximum(a[2:], b[2:]) - np.minimum(a[:2], b[:2])
    (wa, ha), (wb, hb) = a[2:] - a[:2], b[2:] - b[:2]
    angle = np.arctan(wb / hb) - np.arctan(wa / ha)
    v = 4 / np.pi**2 * angle**2
    shape = np.divide(v * v, 1 - overlap + v, out=np.zeros_like(v), where=v > 0)
    return overlap - ((centre_a - centre_b) ** 2).sum(0) / (spanned**2).sum(0) - shape, angle


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize(("centred", "mode"), [(False, "iou"), (True, "iof")])
@pytest.mark.parametrize(("dtype", "kind"), [("float32", np.float32), ("float16", np.float16)])
def test_complete_overlap(newer: Chip950, centred: bool, mode: str, dtype: str, kind: Any) -> None:
    rng = np.random.default_rng(6)
    a, b = (draw(rng, 1024).T for _ in range(2))
    b[:, :2] = a[:, :2]  # the same boxes
    if centred:
        a, b = (np.concatenate([(x[:2] + x[2:]) / 2, x[2:] - x[:2]]) for x in (a, b))
    a, b = a.astype(kind), b.astype(kind)
    given = [x.astype(float) for x in (a, b)]
    if centred:
        given = [np.concatenate([x[:2] - x[2:] / 2, x[:2] + x[2:] / 2]) for x in given]
    expected = complete(given[0], given[1], mode == "iof")
    results = newer.operator(
        "c_io_u", Given(a, dtype, stepped=True), Given(b, dtype), centred, False, mode,
        Made((1, 1024), dtype, stepped=True), Made((1, 1024), dtype),
    )  # fmt: skip
    for result, oracle in zip(results, expected, strict=True):
        assert_close(result, oracle[None].astype(kind), scale=4)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_complete_overlap_refuses_what_does_not_fit(newer: Chip950) -> None:
    boxes = Given(np.ones((4, 1024), np.float32), "float32")
    made = Made((1, 1024), "float32")
    good = [boxes, boxes, False, False, "iou", made, made]
    few = Given(np.ones((4, 1000), np.float32), "float32")
    for position, wrong, words in [
        (0, few, "multiple of 1024"),
        (3, True, "isCross is true"),
        (4, "diou", 'mode is "diou"'),
        (5, Made((1, 2048), "float32"), "overlap has shape (1, 2048)"),
    ]:
        answer = newer.operator(
            "c_io_u", *[wrong if i == position else x for i, x in enumerate(good)]
        )
        assert isinstance(answer, Refused)
        assert answer.status == 161002 and words in answer.text


def test_other_chips_lack_complete_overlap_and_suppression() -> None:
    boxes, made = hollow((4, 1024), np.float32), hollow((1, 1024), np.float32)
    assert refusal("aclnnCIoU", boxes, boxes, False, False, "iou", made, made) == 161002
    three, scores = hollow((1, 2, 4), np.float32), hollow((1, 1, 2), np.float32)
    out = hollow((2, 3), np.int32)
    assert refusal("aclnnNonMaxSuppression", three, scores, [1], [0.5], [0.5], 0, out) == 361001


@pytest.fixture(scope="module")
def older() -> Iterator[Chip950]:
    with Chip950("310P") as process:
        yield process


def suppressed(
    boxes: Array, scores: Array, most: int, overlap: float, score: float, rows: int
) -> Array:
    """The rows that remain, of boxes (y1, x1, y2, x2), and -1 behind them."""
    found: list[tuple[int, int, int]] = []
    for batch, kind in np.ndindex(*scores.shape[:2]):
        waiting = [i for i in range(boxes.shape[1]) if scores[batch, kind, i] >= score]
        kept = 0
        while waiting and kept < most:
            best = max(waiting, key=lambda i: (scores[batch, kind, i], -i))
            found.append((batch, kind, best))
            kept += 1
            waiting = [
                i
                for i in waiting
                if i != best
                and overlap_of(boxes[batch, best], boxes[batch, i], 0.0, False) <= overlap
            ]
    padded = [*found, *[(-1, -1, -1)] * rows]
    return np.array(padded[:rows], np.int32)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
@pytest.mark.parametrize(("rows", "centred"), [(40, False), (7, True)])
@pytest.mark.parametrize(("dtype", "kind"), [("float32", np.float32), ("float16", np.float16)])
def test_the_best_boxes_remain(
    older: Chip950, rows: int, centred: bool, dtype: str, kind: Any
) -> None:
    rng = np.random.default_rng(7)
    boxes = np.stack([draw(rng, 20) for _ in range(2)])
    if centred:
        middle, size = (boxes[..., :2] + boxes[..., 2:]) / 2, boxes[..., 2:] - boxes[..., :2]
        boxes = np.concatenate([middle, size], -1)
    scores = (rng.integers(0, 8, (2, 3, 20)) / 8).astype(kind)  # with equal ones
    given = boxes.astype(kind)
    corners = given.astype(float)
    if centred:
        corners = np.concatenate(
            [corners[..., :2] - corners[..., 2:] / 2, corners[..., :2] + corners[..., 2:] / 2], -1
        )
    (result,) = older.operator(
        "non_max_suppression", Given(given, dtype, stepped=True), Given(scores, dtype),
        [5], [0.3], [0.25], int(centred), Made((rows, 3), "int32"),
    )  # fmt: skip
    oracle = suppressed(corners, scores.astype(float), 5, 0.3, 0.25, rows)
    assert_same(result, oracle)
    assert (oracle[-1] == -1).all() != centred


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_suppression_refuses_what_does_not_fit(older: Chip950) -> None:
    boxes, scores = np.ones((1, 2, 4), np.float32), np.ones((1, 3, 2), np.float32)
    good = [
        Given(boxes, "float32"), Given(scores, "float32"), [1], [0.5], [0.5], 0,
        Made((2, 3), "int32"),
    ]  # fmt: skip
    for position, wrong, words in [
        (0, Given(boxes[..., :3], "float32"), "boxes has shape (1, 2, 3)"),
        (1, Given(scores[..., :1], "float32"), "scores has shape (1, 3, 1)"),
        (2, [701], "maxOutputBoxesPerClass is 701"),
        (2, [1, 2], "maxOutputBoxesPerClass has 2"),
        (3, [1.5], "iouThreshold is 1.5"),
        (4, [-0.5], "scoreThreshold is -0.5"),
        (5, 2, "centerPointBox is 2"),
        (6, Made((2, 4), "int32"), "selectedIndices has shape (2, 4)"),
    ]:
        given = [wrong if i == position else x for i, x in enumerate(good)]
        answer = older.operator("non_max_suppression", *given)
        assert isinstance(answer, Refused)
        assert answer.status == 161002 and words in answer.text


def nearest(values: Array) -> Array:
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_images_are_blended_by_their_alpha(older: Chip950) -> None:
    rng = np.random.default_rng(8)
    rgb, frame = (rng.integers(0, 256, (9, 11, 3)).astype(np.uint8) for _ in range(2))
    alpha = rng.integers(0, 256, (9, 11, 1)).astype(np.uint8)
    alpha[0], alpha[1] = 0, 255
    made = Made(rgb.shape, "uint8")
    share = alpha.astype(float) / 255
    (seen,) = older.operator(
        "mrgba_custom", Given(rgb, "uint8", stepped=True), Given(alpha, "uint8"), made
    )
    assert_same(seen, nearest(rgb * share))
    (both,) = older.operator(
        "blend_images_custom",
        Given(rgb, "uint8"), Given(alpha, "uint8"), Given(frame, "uint8", stepped=True), made,
    )  # fmt: skip
    assert_same(both, nearest(rgb * share + frame * (1 - share)))
    assert_same(both[0], frame[0])


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_a_background_is_replaced(older: Chip950) -> None:
    rng = np.random.default_rng(9)
    mask = (rng.integers(0, 9, (9, 11, 1)) / 8).astype(np.float16)
    behind, front = (rng.integers(0, 256, (9, 11, 3)).astype(np.uint8) for _ in range(2))
    share = mask.astype(float)
    (result,) = older.operator(
        "background_replace", Given(behind, "uint8"), Given(front, "uint8", stepped=True),
        Given(mask, "float16"), Made(front.shape, "uint8"),
    )  # fmt: skip
    assert_same(result, nearest(behind * (1 - share) + front * share))
    behind, front = (rng.normal(size=(5, 2)).astype(np.float16) for _ in range(2))
    mask = rng.uniform(size=(5, 2)).astype(np.float16)
    share = mask.astype(float)
    (result,) = older.operator(
        "background_replace", Given(behind, "float16"), Given(front, "float16"),
        Given(mask, "float16"), Made(front.shape, "float16"),
    )  # fmt: skip
    assert_close(result, (behind * (1 - share) + front * share).astype(np.float16), scale=2)


@pytest.mark.emulator_only(reason="chooses the chip of the emulator")
def test_images_that_do_not_fit_are_refused(older: Chip950) -> None:
    rgb, alpha = (
        Given(np.ones((4, 3), np.uint8), "uint8"),
        Given(np.ones((4, 1), np.uint8), "uint8"),
    )
    five, few = (np.ones((5, 1), kind) for kind in (np.uint8, np.float16))
    half, made = Given(few[:4], "float16"), Made((4, 3), "uint8")
    for name, arguments, words in [
        ("mrgba_custom", (alpha, alpha, made), "rgb has 1 channels"),
        ("mrgba_custom", (rgb, rgb, made), "alpha has 3 channels"),
        ("mrgba_custom", (rgb, alpha, Made((5, 3), "uint8")), "out has shape"),
        ("blend_images_custom", (rgb, Given(five, "uint8"), rgb, made), "alpha"),
        ("background_replace", (rgb, rgb, Given(few, "float16"), made), "mask"),
        ("background_replace", (rgb, alpha, half, made), "src has shape"),
    ]:  # fmt: skip
        answer = older.operator(name, *arguments)
        assert isinstance(answer, Refused)
        assert answer.status == 161002 and words in answer.text


def test_another_chip_lacks_the_blending_of_images() -> None:
    rgb, alpha = hollow((4, 3), np.uint8), hollow((4, 1), np.uint8)
    assert refusal("aclnnMrgbaCustom", rgb, alpha, rgb) == 161002
    assert refusal("aclnnBlendImagesCustom", rgb, alpha, rgb, rgb) == 161002
    mask = hollow((4, 1), np.float16)
    assert refusal("aclnnBackgroundReplace", rgb, rgb, mask, rgb) == 161002
