# SPDX-License-Identifier: Apache-2.0
"""Optimizers and the scaling of losses against their formulas in float64."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import LAYOUTS, NUMPY, Array, hollow, op, place, refusal, wide

import aclnn_py as ap

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

FLOATS = ("FLOAT", "FLOAT16", "BFLOAT16")
LR, BETA1, BETA2, DECAY, EPS = 0.05, 0.9, 0.99, 0.1, 1e-3


def adamw(
    var: Array,
    m: Array,
    v: Array,
    grad: Array,
    power1: float,
    power2: float,
    largest: Array | None = None,
    maximize: bool = False,
    decay: float = DECAY,
) -> tuple[Array, Array, Array, Array]:
    """The formulas of the kernels; the fourth result is the second moment that divides."""
    g = -grad if maximize else grad
    m = BETA1 * m + (1 - BETA1) * g
    v = BETA2 * v + (1 - BETA2) * g**2
    second = v if largest is None else np.maximum(largest, v)
    corrected = m / (1 - power1), second / (1 - power2)
    moved = var - LR / (np.sqrt(corrected[1]) + EPS) * corrected[0] - LR * decay * var
    return moved, m, v, second


def state(shape: tuple[int, ...], kind: Any, seed: int = 1) -> list[Array]:
    """Variables, first and second moments, the largest of those, gradients."""
    rng = np.random.default_rng(seed)
    signs = [rng.normal(size=shape) for _ in range(3)]
    seconds = [rng.uniform(0.01, 2, shape) for _ in range(2)]
    made = [signs[0], signs[1], seconds[0], seconds[1], signs[2]]
    return [one.astype(kind) for one in made]


def check(given: Sequence[Any], expected: Sequence[Array], what: str) -> None:
    for index, (tensor, oracle) in enumerate(zip(given, expected, strict=True)):
        assert_close(tensor.numpy(), oracle, scale=4, what=f"{what} [{index}]")


@pytest.mark.parametrize("amsgrad", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_adamw_v2(layout: str, amsgrad: bool) -> None:
    for name in FLOATS:
        for step, maximize in [
            (np.array([3], np.int64), True),
            (np.array([0.0], np.float32), False),
        ]:
            arrays = state((4, 300), NUMPY[name])
            var, m, v, largest, grad = map(wide, arrays)
            t = float(step[0]) + 1  # the kernels are given the steps taken before this one
            expected = adamw(
                var, m, v, grad, BETA1**t, BETA2**t, largest if amsgrad else None, maximize
            )
            tensors = [place(array, layout) for array in arrays]
            op("aclnnApplyAdamWV2")(
                *tensors[:3], tensors[3] if amsgrad else None, tensors[4], place(step),
                LR, BETA1, BETA2, DECAY, EPS, amsgrad, maximize,
            )  # fmt: skip
            kept = expected[3] if amsgrad else largest
            check(tensors, [*expected[:3], kept, grad], f"{name} {layout} {step}")


def test_adamw_v2_takes_halves_beside_float32() -> None:
    arrays = [one.astype(np.float32) for one in state((50,), np.float32)]
    arrays[3:] = [one.astype(np.float16) for one in arrays[3:]]
    expected = adamw(*map(wide, (*arrays[:3], arrays[4])), BETA1**3, BETA2**3, wide(arrays[3]))
    tensors = [place(array) for array in arrays]
    two = place(np.array([2.0], np.float32))
    op("aclnnApplyAdamWV2")(*tensors, two, LR, BETA1, BETA2, DECAY, EPS, True, False)
    check(tensors, [*expected, wide(arrays[4])], "mixed")
    wrong = [place(array) for array in state((50,), np.float16)]
    wrong[1] = place(np.zeros(50, np.float32))
    text = message(
        "aclnnApplyAdamWV2", 561103, (*wrong, two, LR, BETA1, BETA2, DECAY, EPS, True, False)
    )
    assert "no kernel for varRef of FLOAT16" in text


@pytest.mark.parametrize("amsgrad", [False, True])
def test_fused_adamw_steps_lists(amsgrad: bool) -> None:
    for name in FLOATS:
        for scale, found in [(None, None), (4.0, 0.0), (4.0, 1.0)]:
            members = [state(shape, NUMPY[name], 5) for shape in [(3, 40), (), (2000,)]]
            steps = [0, 7, 30]
            lists = [[place(one[i], "stepped") for one in members] for i in range(5)]
            var, m, v, largest, grads = lists
            op("aclnnFusedAdamw")(
                var, grads, m, v, largest if amsgrad else None,
                [place(np.array([step], np.float32)) for step in steps],
                None if scale is None else place(np.array([scale], np.float32)),
                None if found is None else place(np.array([found], np.float32)),
                LR, BETA1, BETA2, DECAY, EPS, amsgrad, True,
            )  # fmt: skip
            for index, (one, step) in enumerate(zip(members, steps, strict=True)):
                before = list(map(wide, one))
                expected = adamw(
                    *before[:3], before[4] / (scale or 1), BETA1 ** (step + 1), BETA2 ** (step + 1),
                    before[3] if amsgrad else None, True,
                )  # fmt: skip
                if found == 1:  # nothing is updated
                    after = before
                else:
                    kept = expected[3] if amsgrad else before[3]
                    after = [*expected[:3], kept, before[4]]
                check([part[index] for part in lists], after, f"{name} {scale} {found} {index}")


def test_fused_adamw_takes_steps_as_integers() -> None:
    var, m, v, _, grad = state((9,), np.float32)
    expected = adamw(*map(wide, (var, m, v, grad)), BETA1**6, BETA2**6)
    tensors = [[place(one)] for one in (var, grad, m, v)]
    five = [place(np.array([5]))]
    op("aclnnFusedAdamw")(
        *tensors, None, five, None, None, LR, BETA1, BETA2, DECAY, EPS, False, False
    )
    check([tensors[i][0] for i in (0, 2, 3)], expected[:3], "integers")


MOMENTUM, DAMPENING = 0.8, 0.25


@pytest.mark.parametrize("nesterov", [False, True])
@pytest.mark.parametrize("first", [False, True])
@pytest.mark.parametrize("buffered", [False, True])
def test_fused_sgd_steps_lists(buffered: bool, first: bool, nesterov: bool) -> None:
    for name in FLOATS:
        for scale, maximize in [(None, True), (2.0, False)]:
            members = [state(shape, NUMPY[name], 2)[:3] for shape in [(3, 40), (1500,)]]
            params, grads, speeds = [
                [place(one[i], "stepped") for one in members] for i in range(3)
            ]
            op("aclnnFusedSgd")(
                params, grads, speeds if buffered else None,
                None if scale is None else place(np.array([scale], np.float32)),
                DECAY, MOMENTUM, LR, DAMPENING, nesterov, maximize, first,
            )  # fmt: skip
            for index, one in enumerate(members):
                var, grad, speed = map(wide, one)
                unscaled = grad / (scale or 1)
                g = (-unscaled if maximize else unscaled) + DECAY * var
                after = g if first or not buffered else MOMENTUM * speed + (1 - DAMPENING) * g
                final = g + MOMENTUM * after if nesterov else after if buffered else g
                what = f"{name} {scale} {index}"
                check([params[index], grads[index]], [var - LR * final, unscaled], what)
                check([speeds[index]], [after if buffered else speed], what)


@pytest.mark.parametrize("mode", [0, 1])
@pytest.mark.parametrize("corrects", [False, True])
def test_adam_with_averaged_weights(corrects: bool, mode: int) -> None:
    ema, step = 0.75, 4
    for name in FLOATS:
        for layout in LAYOUTS:
            var, m, v, s, grad = state((3, 90), NUMPY[name])
            tensors = [place(one, layout) for one in (grad, var, m, v, s)]
            op("aclnnApplyFusedEmaAdam")(
                *tensors, place(np.array([step])), LR, ema, BETA1, BETA2, EPS, mode, corrects, DECAY
            )
            w, g = wide(var), wide(grad)
            g = g + DECAY * w if mode == 0 else g
            m_out, v_out = BETA1 * wide(m) + (1 - BETA1) * g, BETA2 * wide(v) + (1 - BETA2) * g**2
            both = (1 - BETA1**step, 1 - BETA2**step) if corrects else (1, 1)
            update = (m_out / both[0]) / (np.sqrt(v_out / both[1]) + EPS)
            w_out = w - LR * (update + (DECAY * w if mode == 1 else 0))
            expected = [wide(grad), w_out, m_out, v_out, ema * wide(s) + (1 - ema) * w_out]
            check(tensors, expected, f"{name} {layout}")


# --- moments of 8 bits


def nearest(table: Array, values: Array) -> Array:
    return np.abs(table[None, :] - values[:, None]).argmin(1)


def test_a_first_step_is_step_0() -> None:
    """As in the documents' examples of frameworks: the number of steps before is given."""
    var, ones, step = (place(np.array([1, 1], np.float32)) for _ in range(3))
    m, v = place(np.zeros(2, np.float32)), place(np.zeros(2, np.float32))
    op("aclnnApplyAdamWV2")(
        var, m, v, None, ones, step[:1], 0.1, 0.9, 0.999, 0.0, 1e-8, False, False
    )
    # The second step after a first one without a gradient.
    expected = 1 - 0.1 * (0.1 / (1 - 0.9**2)) / np.sqrt(0.001 / (1 - 0.999**2))
    assert_close(var.numpy(), np.full(2, expected), scale=4)
    first = place(np.array([1, 1], np.float32))
    m, v = place(np.zeros(2, np.float32)), place(np.zeros(2, np.float32))
    op("aclnnFusedAdamw")(
        [first], [ones], [m], [v], None, [place(np.zeros(1, np.float32))], None, None,
        0.1, 0.9, 0.999, 0.0, 1e-8, False, False,
    )  # fmt: skip
    assert_close(first.numpy(), np.full(2, 0.9), scale=4)


def test_adamw_with_moments_of_8_bits() -> None:
    rng = np.random.default_rng(3)
    count, norm, step = 700, 0.5, 3
    map_m = np.sort(np.append(rng.uniform(-1, 1, 254), [-1, 1])).astype(np.float32)
    map_v = np.sort(np.append(rng.uniform(0, 1, 254), [0, 1])).astype(np.float32)
    codes = [rng.integers(0, 256, count).astype(np.uint8) for _ in range(2)]
    scales = [rng.uniform(0.5, 2, 3).astype(np.float32) for _ in range(2)]
    for name in FLOATS:
        var, grad = (rng.normal(size=count).astype(NUMPY[name]) for _ in range(2))
        m, v = (
            wide(table)[code] * np.repeat(wide(scale), 256)[:count]
            for table, code, scale in zip((map_m, map_v), codes, scales, strict=True)
        )
        powers = BETA1 ** (step + 1), BETA2 ** (step + 1)
        moved, m, v, _ = adamw(wide(var), m, v, wide(grad) * norm, *powers, decay=0)
        moved *= 1 - LR * DECAY  # last: the step decays too
        tensors = [place(one, "stepped") for one in (var, grad, *codes, map_m, map_v, *scales)]
        op("aclnnApplyAdamWQuant")(
            *tensors, place(np.array([step])), LR, BETA1, BETA2, DECAY, EPS, norm, None, 256
        )
        check(tensors[:1], [moved], name)
        for table, code, scale, moment in [
            (map_m, tensors[2], tensors[6], m),
            (map_v, tensors[3], tensors[7], v),
        ]:
            blocks = [moment[at : at + 256] for at in range(0, count, 256)]
            largest = np.array([np.abs(block).max() for block in blocks])
            assert_close(scale.numpy(), largest, what=name)
            places = np.concatenate(
                [nearest(wide(table), b / top) for b, top in zip(blocks, largest, strict=True)]
            )
            # A value in the middle of two entries may go to either, after its rounding.
            assert (code.numpy() != places).mean() < 0.01


def test_a_moment_keeps_its_sign() -> None:
    """Where the nearest entry has the other sign, the next one towards the value is taken."""
    table = np.concatenate([np.linspace(-1, -0.01, 128), np.linspace(0.2, 1, 128)])
    table = table.astype(np.float32)
    grads = np.array([1.0, 0.03, -0.03], np.float32)
    codes, zeros = place(np.zeros(3, np.uint8)), place(np.zeros(3, np.uint8))
    none, scales = place(np.zeros(3, np.float32)), [place(np.zeros(1, np.float32)) for _ in "mv"]
    map_v = place(np.linspace(0, 1, 256, dtype=np.float32))
    op("aclnnApplyAdamWQuant")(
        none, place(grads), codes, zeros, place(table), map_v, *scales, place(np.array([0])),
        LR, BETA1, BETA2, DECAY, EPS, 1.0, None, 256,
    )  # fmt: skip
    assert_same(codes.numpy(), np.array([255, 128, 124], np.uint8))


def test_a_block_of_zeros_has_the_places_of_zero() -> None:
    table = np.linspace(-1, 1, 256, dtype=np.float32)
    none, zeros = place(np.zeros(2, np.float32)), place(np.zeros(2, np.uint8))
    codes, one = place(np.full(2, 9, np.uint8)), place(np.zeros(1, np.float32))
    op("aclnnApplyAdamWQuant")(
        none, none, codes, zeros, place(table), place(np.linspace(0, 1, 256, dtype=np.float32)),
        one, one, place(np.array([1])), LR, BETA1, BETA2, DECAY, EPS, 1.0, None, 256,
    )  # fmt: skip
    assert_same(codes.numpy(), np.full(2, 127, np.uint8))
    assert_same(zeros.numpy(), np.zeros(2, np.uint8))


# --- the scale of losses


@pytest.mark.parametrize("odd", [None, np.inf, -np.inf, np.nan])
def test_gradients_are_checked_and_unscaled(odd: float | None) -> None:
    for name in FLOATS:
        arrays = [np.linspace(-4, 4, n).astype(NUMPY[name]) for n in (7, 3000)]
        if odd is not None:
            arrays[1][2100] = odd
        tensors = [place(one, "stepped") for one in arrays]
        found = place(np.array([-2.0], np.float32))
        op("aclnnForeachNonFiniteCheckAndUnscale")(
            tensors, found, place(np.array([0.25], np.float32))
        )
        for tensor, array in zip(tensors, arrays, strict=True):
            assert_same(tensor.numpy(), (array.astype(np.float32) * 0.25).astype(NUMPY[name]))
        assert found.numpy()[0] == (-2.0 if odd is None else 1.0)


@pytest.mark.parametrize(
    ("scale", "tracker", "found", "expected"),
    [
        (1024, 5, 0, (1024, 6)),
        (1024, 9, 0, (2048, 0)),
        (1024, 9, 1, (512, 0)),
        (1024, 3, np.nan, (512, 0)),
        (3e38, 9, 0, (3e38, 0)),
    ],
)
def test_the_scale_follows(
    scale: float, tracker: int, found: float, expected: tuple[float, int]
) -> None:
    for name in FLOATS:
        kind = NUMPY[name]
        start = np.array([min(scale, 60000) if name == "FLOAT16" else scale]).astype(kind)
        new, steps = hollow((1,), kind), hollow((1,), np.int32)
        op("aclnnAmpUpdateScale")(
            place(start), place(np.array([tracker], np.int32)), place(np.array([found], kind)),
            2.0, 0.5, 10, new, steps,
        )  # fmt: skip
        result = start if scale == 3e38 else np.array([expected[0]]).astype(kind)
        assert_same(new.numpy(), result, name)
        assert_same(steps.numpy(), np.array([expected[1]], np.int32))


# --- refusals


def test_optimizers_are_refused() -> None:
    x, one = hollow((2, 3), np.float32), place(np.ones(1, np.float32))
    other, two = hollow((3, 2), np.float32), hollow((2,), np.float32)
    numbers = (LR, BETA1, BETA2, DECAY, EPS)
    adam = "aclnnApplyAdamWV2"
    assert refusal(adam, x, None, x, None, x, one, *numbers, False, False) == 161001
    assert refusal(adam, x, x, x, None, x, one, *numbers, True, False) == 161001
    assert refusal(adam, x, other, x, None, x, one, *numbers, False, False) == 161002
    assert refusal(adam, x, x, x, other, x, one, *numbers, True, False) == 161002
    assert refusal(adam, x, x, x, None, x, two, *numbers, False, False) == 161002
    assert refusal(adam, x, x, x, None, x, place(np.ones(1)), *numbers, False, False) == 161002
    scalar = place(np.float32(1))
    assert (
        refusal(adam, scalar, scalar, scalar, None, scalar, one, *numbers, False, False) == 161002
    )
    fused = "aclnnFusedAdamw"
    rest = (None, [one], None, None, *numbers, False, False)
    assert refusal(fused, [x], [x], [x], None, *rest) == 161001
    assert "grads has 2 members" in message(fused, 161002, ([x], [x, x], [x], [x], *rest))
    assert "grads[0] has shape" in message(fused, 161002, ([x], [other], [x], [x], *rest))
    assert refusal(fused, [x], [hollow((2, 3), np.float16)], [x], [x], *rest) == 161002
    no_largest = (None, [one], None, None, *numbers, True, False)
    assert refusal(fused, [x], [x], [x], [x], *no_largest) == 161001
    ema = "aclnnApplyFusedEmaAdam"
    step = place(np.array([1]))
    tail = (LR, 0.5, BETA1, BETA2, EPS)
    assert refusal(ema, x, x, x, x, other, step, *tail, 1, True, DECAY) == 561002
    assert refusal(ema, x, x, x, x, x, step, *tail, 2, True, DECAY) == 561002
    assert refusal(ema, x, x, x, x, x, one, *tail, 1, True, DECAY) == 161002


def test_other_optimizers_are_refused() -> None:
    x, one = hollow((2, 3), np.float32), place(np.ones(1, np.float32))
    sgd = "aclnnFusedSgd"
    flags = (False, False, False)
    assert refusal(sgd, [x], None, None, None, 0.0, 0.0, 0.1, 0.0, *flags) == 161001
    assert refusal(sgd, [x], [None], None, None, 0.0, 0.0, 0.1, 0.0, *flags) == 161001
    negative = ([x], [x], None, None, 0.0, 0.0, -0.1, 0.0, *flags)
    assert "lr is -0.1" in message(sgd, 161002, negative)
    quant = "aclnnApplyAdamWQuant"
    codes, table = hollow((2, 3), np.uint8), hollow((256,), np.float32)
    step = place(np.array([1]))
    tail = (LR, BETA1, BETA2, DECAY, EPS, 1.0, None)
    good = [x, x, codes, codes, table, table, one, one, step, *tail]
    assert refusal(quant, *good, 128) == 561002
    assert refusal(quant, *good[:4], one, *good[5:], 256) == 561002
    assert refusal(quant, *good[:6], table, *good[7:], 256) == 561002
    assert refusal(quant, x, x, x, *good[3:], 256) == 161002
    unscale = "aclnnForeachNonFiniteCheckAndUnscale"
    assert refusal(unscale, [x], one, table) == 561002
    assert refusal(unscale, [x, hollow((2,), np.float16)], one, one) == 561002
    assert refusal(unscale, [x] * 257, one, one) == 561002
    assert refusal(unscale, [x], None, one) == 161001
    scale = "aclnnAmpUpdateScale"
    count = place(np.zeros(1, np.int32))
    assert refusal(scale, one, count, one, 2.0, 0.5, 0, one, count) == 561002
    assert refusal(scale, one, count, hollow((1,), np.float16), 2.0, 0.5, 9, one, count) == 161002
    assert refusal(scale, one, None, one, 2.0, 0.5, 9, one, count) == 161001


def test_empty_parameters() -> None:
    none = hollow((0, 3), np.float32)
    one = place(np.ones(1, np.float32))
    op("aclnnApplyAdamWV2")(none, none, none, None, none, one, LR, 0.9, 0.9, 0.0, EPS, False, False)
    op("aclnnFusedSgd")([], [], None, None, 0.0, 0.0, 0.1, 0.0, False, False, True)
    ap.synchronize()


# --- what only the 950 series has


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


def stepped(arrays: Sequence[Array], dtype: str) -> list[Given]:
    return [Given(array, dtype, stepped=True) for array in arrays]


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
@pytest.mark.parametrize("operator", ["apply_adam", "apply_adam_w"])
def test_forms_of_a_950(newer: Chip950, operator: str) -> None:
    for name in FLOATS:
        kind = NUMPY[name]
        found = newer.call("ops.optim.test_optimizers", "steps_of_a_950", operator, name)
        var, m, v, largest, grad = map(wide, state((4, 60), kind))
        if operator == "apply_adam":
            b1, b2 = np.float32(BETA1), np.float32(BETA2)
            m_out, v_out = BETA1 * m + (1 - BETA1) * grad, BETA2 * v + (1 - BETA2) * grad**2
            rate = LR * np.sqrt(1 - float(b2) ** 3) / (1 - float(b1) ** 3)
            for nesterov, result in enumerate(found):
                ahead = BETA1 * m_out + (1 - BETA1) * grad if nesterov else m_out
                expected = var - rate * ahead / (np.sqrt(v_out) + EPS)
                assert_close(result, expected, scale=8, what=f"{name} {nesterov}")
            continue
        # The numbers have the dtype of the tensors: what they are rounded to counts.
        p1, p2, lr, decay, b1, b2, eps = (
            float(np.asarray(number).astype(kind)) for number in NUMBERS_950
        )
        for amsgrad, results in enumerate(found):
            m_out, v_out = b1 * m - (1 - b1) * grad, b2 * v + (1 - b2) * grad**2
            v_out = np.maximum(largest, v_out) if amsgrad else v_out
            corrected = m_out / (1 - p1 * b1), v_out / (1 - p2 * b2)
            moved = var - lr / (np.sqrt(corrected[1]) + eps) * corrected[0] - lr * decay * var
            for result, expected in zip(results, [moved, m_out, v_out], strict=True):
                assert_close(result, expected, scale=8, what=f"{name} {amsgrad}")


NUMBERS_950 = (0.75, 0.875, LR, DECAY, 0.875, 0.9375, EPS)


def steps_of_a_950(operator: str, name: str) -> list[Any]:
    """Run there: the variables after ApplyAdam, or all three tensors after ApplyAdamW."""
    kind = NUMPY[name]
    found: list[Any] = []
    for flag in (False, True):
        var, m, v, largest, grad = (place(one, "stepped") for one in state((4, 60), kind))
        if operator == "apply_adam":
            b1, b2 = float(np.float32(BETA1)), float(np.float32(BETA2))
            numbers = [
                place(np.array([one], np.float32)) for one in (b1**3, b2**3, LR, BETA1, BETA2, EPS)
            ]
            ap.ops.apply_adam(var, m, v, *numbers, grad, False, flag)
            found.append(var.numpy())
        else:
            numbers = [place(np.array([one]).astype(kind)) for one in NUMBERS_950]
            ap.ops.apply_adam_w(var, m, v, *numbers, grad, largest if flag else None, flag, True)
            found.append([var.numpy(), m.numpy(), v.numpy()])
    return found


@pytest.mark.emulator_only(reason="the chip of the emulator can be chosen")
def test_forms_of_a_950_are_refused(newer: Chip950) -> None:
    x, one = Given(np.ones(3, np.float32), "float32"), Given(np.ones(1, np.float32), "float32")
    half = Given(np.ones(1, np.float16), "float16")
    for numbers, tail, status in [
        ([one] * 7, (x, None, True, False), 161001),
        ([x, *[one] * 6], (x, None, False, False), 161002),
        ([half, *[one] * 6], (x, None, False, False), 161002),
        ([one] * 7, (one, None, False, False), 161002),
    ]:
        refused = newer.operator("apply_adam_w", x, x, x, *numbers, *tail)
        assert isinstance(refused, Refused)
        assert refused.status == status, refused.text
    refused = newer.operator("apply_adam", x, x, x, half, *[one] * 5, x, False, False)
    assert isinstance(refused, Refused)
    assert refused.status == 161002
    y, number = hollow((3,), np.float32), place(np.ones(1, np.float32))
    assert refusal("aclnnApplyAdam", y, y, y, *[number] * 6, y, False, False) == 161002
    assert refusal("aclnnApplyAdamW", y, y, y, *[number] * 7, y, None, False, False) == 161002


def test_tensors_that_share_memory_are_read_before_they_change() -> None:
    rng = np.random.default_rng(12)
    memory = rng.standard_normal(3001).astype(np.float32)
    step, moments = np.ones(1, np.float32), np.zeros(3000, np.float32)
    results = []
    for apart in (True, False):
        whole = place(memory)
        var, grad = whole[1:], place(memory[:-1]) if apart else whole[:-1]
        ap.functional.adamw_(var, place(moments), place(moments), grad, place(step))
        results.append(var.numpy())
    assert (results[0] != memory[1:]).all()
    assert_same(*results)
