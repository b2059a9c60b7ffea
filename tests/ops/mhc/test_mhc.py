# SPDX-License-Identifier: Apache-2.0
"""Layers with several residual streams."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import ml_dtypes
import numpy as np
import pytest
from helpers.chip_950 import Chip950, Given, Made, Refused
from helpers.numerics import assert_close, assert_same
from helpers.operators import Array, hollow, op, place, refusal, wide
from helpers.slopes import slopes

from ..problems import message

pytestmark = pytest.mark.usefixtures("device")

F32, N, WIDTH = np.float32, 4, 128
HALVES = [np.float16, ml_dtypes.bfloat16]
EPS = 1e-6


def normal(shape: tuple[int, ...], dtype: Any = F32, seed: int = 1) -> Any:
    return np.random.default_rng(seed).standard_normal(shape).astype(dtype)


def sigmoid(x: Any) -> Any:
    return 1 / (1 + np.exp(-x))


def projection(rows: int, scales: int) -> tuple[Any, Any, Any]:
    """phi within the bound that the documents name, alpha and bias."""
    phi = np.random.default_rng(3).uniform(-1, 1, (rows, N * WIDTH)).astype(F32)
    return phi / F32(np.sqrt(N * WIDTH)) * 8, normal((scales,), seed=4), normal((rows,), seed=5)


def mixed(x: Any, phi: Any, alpha: Any, bias: Any, gamma: Any, eps: float) -> dict[str, Any]:
    """The formula in float64, by the names of the results."""
    flat = wide(x).reshape(*x.shape[:-2], N * WIDTH)
    inverse = (np.square(flat).mean(-1) + EPS) ** -0.5
    mix = (flat if gamma is None else flat * wide(gamma).reshape(-1)) @ wide(phi).T
    w = mix * inverse[..., None]
    parts = [slice(0, N), slice(N, 2 * N), slice(2 * N, None)]
    gates = [w[..., p] * a + wide(bias)[p] for p, a in zip(parts, wide(alpha), strict=False)]
    pre = sigmoid(gates[0]) + eps
    return {
        "inverse": inverse,
        "mix": mix,
        "pre": pre,
        "post": 2 * sigmoid(gates[1]) + (eps if len(gates) == 2 else 0),
        "rest": gates[2] if len(gates) == 3 else None,
        "in": np.einsum("...n,...nd->...d", pre, wide(x)),
    }


@pytest.mark.parametrize("layout", ["dense", "stepped"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("lead", [(2, 3), (21,)], ids=str)
@pytest.mark.parametrize("rows", [24, 32, 8])
def test_the_input_of_a_layer(dtype: Any, lead: tuple[int, ...], rows: int, layout: str) -> None:
    x = normal((*lead, N, WIDTH), dtype)
    phi, alpha, bias = projection(rows, 2 if rows == 8 else 3)
    gamma = normal((N, WIDTH), seed=6) if rows == 24 else None
    eps = 0.125
    shapes = {24: (N, N), 32: (24,), 8: (N, N)}[rows]
    outs = {
        "in": hollow((*lead, WIDTH), dtype, layout),
        "post": hollow((*lead, N), F32),
        "rest": hollow((*lead, *shapes), F32, layout),
        "inverse": hollow(lead, F32),
        "mix": hollow((*lead, rows), F32, layout),
        "pre": hollow((*lead, N), F32),
    }
    op("aclnnMhcPre")(
        *(place(one, layout) for one in (x, phi, alpha, bias)),
        *(None if gamma is None else place(gamma, layout), EPS, eps, *outs.values()),
    )
    exact = mixed(x, phi, alpha, bias, gamma, eps)
    if rows == 8:
        exact["rest"] = np.zeros((*lead, N, N))
    for name, out in outs.items():
        assert_close(out.numpy(), exact[name].reshape(out.shape), scale=40, what=name)


def test_results_for_training_may_be_left_out() -> None:
    x = normal((3, N, WIDTH), np.float16)
    phi, alpha, bias = projection(8, 2)
    joined, post = hollow((3, WIDTH), np.float16), hollow((3, N), F32)
    given = [place(one) for one in (x, phi, alpha, bias)]
    op("aclnnMhcPre")(*given, None, EPS, EPS, joined, post, None, None, None, None)
    exact = mixed(x, phi, alpha, bias, None, EPS)
    assert_close(joined.numpy(), exact["in"], scale=4)
    assert_close(post.numpy(), exact["post"], scale=20)


def stages(rest: Any, rounds: int) -> tuple[list[Any], list[Any]]:
    powers = np.exp(rest - rest.max(-1, keepdims=True))
    norms, sums = [powers / powers.sum(-1, keepdims=True) + EPS], []
    for stage in range(1, 2 * rounds):
        axis = -2 if stage % 2 else -1
        sums.append(norms[-1].sum(axis, keepdims=True) + EPS)
        norms.append(norms[-1] / sums[-1])
    return norms, sums


@pytest.mark.parametrize("backward", [True, False])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("lead", [(2, 9), (0, 3)], ids=str)
def test_the_input_and_the_doubly_stochastic_mix(
    dtype: Any, lead: tuple[int, int], backward: bool
) -> None:
    x = normal((*lead, N, WIDTH), dtype)
    phi, alpha, bias = projection(24, 3)
    outs = {
        "in": hollow((*lead, WIDTH), dtype),
        "post": hollow((*lead, N), F32),
        "rest": hollow((*lead, N * N), F32),
    }
    extra = {
        "pre": hollow((*lead, N), F32),
        "mix": hollow((*lead, 24), F32),
        "inverse": hollow((*lead, 1), F32),
        "sums": hollow((40, *lead, N), F32),
        "norms": hollow((40, *lead, N, N), F32),
    }
    given = [place(one, "stepped") for one in (x, phi, alpha, bias)]
    op("aclnnMhcPreSinkhorn")(*given, 4, 20, EPS, EPS, backward, *outs.values(), *extra.values())
    exact = mixed(x, phi, alpha, bias, None, EPS)
    norms, sums = stages(exact["rest"].reshape(*lead, N, N), 20)
    assert_close(outs["in"].numpy(), exact["in"], scale=4)
    assert_close(outs["post"].numpy(), exact["post"], scale=20)
    assert_close(outs["rest"].numpy(), norms[-1].reshape(*lead, N * N), scale=100)
    if not backward:
        for out in extra.values():
            assert (out.numpy() == 77).all(), "it is not asked for"
        return
    for name in ("pre", "mix", "inverse"):
        assert_close(extra[name].numpy(), exact[name].reshape(extra[name].shape), scale=40)
    assert_close(extra["norms"].numpy(), np.stack(norms), scale=100)
    made = extra["sums"].numpy()
    assert_close(made[1:], np.stack([s.reshape(*lead, N) for s in sums]), scale=100)
    assert (made[0] == 77).all(), "the first stage has no sums"


@pytest.mark.parametrize("layout", ["dense", "transposed", "stepped"])
@pytest.mark.parametrize("dtype", HALVES, ids=str)
@pytest.mark.parametrize("lead", [(2, 3), (5,), (0,)], ids=str)
def test_the_output_of_a_layer(dtype: Any, lead: tuple[int, ...], layout: str) -> None:
    x, added = normal((*lead, N, WIDTH), dtype), normal((*lead, WIDTH), dtype, 2)
    mix, weights = normal((*lead, N, N), seed=3), normal((*lead, N), seed=4)
    out = hollow(x.shape, dtype, layout)
    op("aclnnMhcPost")(*(place(one, layout) for one in (x, mix, added, weights)), out)
    exact = np.swapaxes(wide(mix), -1, -2) @ wide(x)
    exact = exact + wide(added)[..., None, :] * wide(weights)[..., None]
    assert_close(out.numpy(), exact, scale=6)


def test_the_output_may_lie_on_the_streams() -> None:
    x, added = normal((3, N, WIDTH), np.float16), normal((3, WIDTH), np.float16, 2)
    mix, weights = normal((3, N, N), seed=3), normal((3, N), seed=4)
    apart, over = hollow(x.shape, np.float16), place(x)
    op("aclnnMhcPost")(place(x), place(mix), place(added), place(weights), apart)
    op("aclnnMhcPost")(over, place(mix), place(added), place(weights), over)
    assert_same(over.numpy(), apart.numpy())


def test_outputs_refuse() -> None:
    name = "aclnnMhcPost"
    x, mix, added, weights = (
        hollow(s, k)
        for s, k in (
            ((3, N, WIDTH), np.float16),
            ((3, N, N), F32),
            ((3, WIDTH), np.float16),
            ((3, N), F32),
        )
    )
    assert refusal(name, x, None, added, weights, x) == 161001
    assert "hRes has shape" in message(name, 161002, [x, mix[:2], added, weights, x])
    assert "hOut has dtype" in message(name, 161002, [x, mix, hollow(added.shape, F32), weights, x])
    assert "hPost has shape" in message(name, 161002, [x, mix, added, weights[:, :3], x])
    for streams, width in ((3, 128), (4, 64), (4, 100096)):
        shapes = ((1, streams, width), (1, streams, streams), (1, width), (1, streams))
        kinds = (np.float16, F32, np.float16, F32)
        one = [hollow(s, k) for s, k in zip(shapes, kinds, strict=True)]
        assert f"{streams} streams of {width}" in message(name, 561103, [*one, one[0]])


def test_inputs_refuse() -> None:
    name = "aclnnMhcPre"
    x = hollow((3, N, WIDTH), np.float16)
    phi, alpha, bias = (place(one) for one in projection(24, 3))
    joined, post, rest = hollow((3, WIDTH), np.float16), hollow((3, N), F32), hollow((3, N, N), F32)

    def text(status: int = 161002, **other: Any) -> str:
        given = {
            "x": x,
            "phi": phi,
            "alpha": alpha,
            "bias": bias,
            "gamma": None,
            "normEps": EPS,
            "hcEps": EPS,
            "in": joined,
            "post": post,
            "rest": rest,
            "inverse": None,
            "mix": None,
            "pre": None,
            **other,
        }
        return message(name, status, list(given.values()))

    assert "phi" in text(161001, phi=None)
    assert "hRes" in text(161001, rest=None)
    assert "alpha has 1 values" in text(alpha=alpha[:1])
    assert "phi has 24 rows; beside alpha of 2" in text(alpha=alpha[:2])
    assert "phi has shape" in text(phi=phi[:, :100])
    assert "bias has shape" in text(bias=bias[:8])
    assert "x has 3 streams" in text(x=x[:, :3])
    assert "x has a last dimension of 64" in text(x=x[..., :64])
    assert "x is empty" in text(x=x[:0])
    assert "hMixOptional is null" in text(inverse=hollow((3,), F32))
    assert "gammaOptional has shape" in text(gamma=hollow((4, 64), F32))
    name = "aclnnMhcPreSinkhorn"
    x4, in4, post4, rest4 = (
        hollow((1, *t.shape), np.float16) if i < 2 else hollow((1, 3, 4 if i == 2 else 16), F32)
        for i, t in enumerate((x, joined, post, rest))
    )
    rest_of_call = [in4, post4, rest4, None, None, None, None, None]
    given = [x4, phi, alpha, bias]
    for changed, says in (((3, 20), "hcMult is 3"), ((4, 19), "numIters is 19")):
        arguments = [*given, *changed, EPS, EPS, False, *rest_of_call]
        assert says in message(name, 161002, arguments)
    assert "hPre" in message(name, 161001, [*given, 4, 20, EPS, EPS, True, *rest_of_call])
    arguments = [x, phi, alpha, bias, 4, 20, EPS, EPS, False, *rest_of_call]
    assert "x has 3 dimensions" in message(name, 161002, arguments)


@pytest.fixture(scope="module")
def newer() -> Iterator[Chip950]:
    with Chip950() as process:
        yield process


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize(("shape", "rounds"), [((2, 3, 4, 4), 20), ((5, 6, 6), 1), ((3, 8, 8), 7)])
def test_doubly_stochastic_matrices(
    newer: Chip950, shape: tuple[int, ...], rounds: int, stepped: bool
) -> None:
    x = 3 * normal(shape)
    (made,) = newer.operator(
        "mhc_sinkhorn",
        *(Given(x, "float32", stepped), EPS, rounds, Made(shape, "float32", stepped), None, None),
    )
    norms, _ = stages(wide(x), rounds)
    assert_close(made, norms[-1], scale=40)


def unpadded(kept: Array, shape: tuple[int, ...], rounds: int) -> Array:
    """What a forward call keeps: stage by stage, in rows of 8 of which the first n count."""
    lead = int(np.prod(shape[:-2]))
    return kept.reshape(2 * rounds, lead, -1, 8)[..., : shape[-1]]


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
@pytest.mark.parametrize("stepped", [False, True])
@pytest.mark.parametrize(("shape", "rounds"), [((2, 3, 4, 4), 5), ((5, 6, 6), 1), ((3, 8, 8), 3)])
def test_the_stages_that_are_kept_lead_back(
    newer: Chip950, shape: tuple[int, ...], rounds: int, stepped: bool
) -> None:
    x, grad = 2 * normal(shape), normal(shape, seed=5)
    count = 2 * rounds * 8 * int(np.prod(shape[:-2]))
    _, norm_out, sum_out = newer.operator(
        "mhc_sinkhorn",
        *(Given(x, "float32", stepped), EPS, rounds, Made(shape, "float32", stepped)),
        *(Made((count * shape[-1],), "float32", stepped), Made((count,), "float32", stepped)),
    )
    norms, sums = stages(wide(x), rounds)
    lead = int(np.prod(shape[:-2]))
    kept = unpadded(norm_out, shape, rounds)
    assert_close(kept, np.stack(norms).reshape(kept.shape), scale=40)
    kept_sums = sum_out.reshape(2 * rounds, lead, 8)[1:, :, : shape[-1]]
    exact = np.stack([one.reshape(lead, -1) for one in sums])
    assert_close(kept_sums, exact, scale=40)
    (made,) = newer.operator(
        "mhc_sinkhorn_backward",
        *(Given(one, "float32", stepped) for one in (grad, norm_out, sum_out)),
        Made(shape, "float32", stepped),
    )
    (slope,) = slopes(lambda z: stages(z, rounds)[0][-1], [x], grad)
    # The document multiplies by the first stage, which is the softmax and epsilon.
    assert_close(made, slope, scale=400)


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
def test_doubly_stochastic_matrices_refuse(newer: Chip950) -> None:
    x, out = Given(normal((2, 4, 4)), "float32"), Made((2, 4, 4), "float32")
    for arguments, status, says in [
        ((None, EPS, 20, out, None, None), 161001, "x"),
        ((x, EPS, 0, out, None, None), 161002, "numIters is 0"),
        ((x, EPS, 101, out, None, None), 161002, "numIters is 101"),
        ((x, EPS, 20, Made((2, 4, 5), "float32"), None, None), 161002, "output has shape"),
        ((Given(normal((2, 5, 5)), "float32"), EPS, 20, out, None, None), 161002, "(2, 5, 5)"),
        ((x, EPS, 20, out, Made((2559,), "float32"), None), 161002, "normOutOptional has shape"),
        ((x, EPS, 20, out, None, Made((2, 320), "float32")), 161002, "sumOutOptional has shape"),
    ]:
        found = newer.operator("mhc_sinkhorn", *arguments)
        assert isinstance(found, Refused)
        assert found.status == status, found
        assert says in found.text
    norms, sums = (Given(np.ones(n, F32), "float32") for n in (2560, 640))
    for arguments, status, says in [
        ((x, norms, None, out), 161001, "sumOut"),
        ((x, norms, Given(np.ones(641, F32), "float32"), out), 161002, "sumOut has 641 elements"),
        ((x, norms, Given(np.ones(32 * 101, F32), "float32"), out), 161002, "sumOut has 3232"),
        ((x, norms, Given(np.ones(0, F32), "float32"), out), 161002, "sumOut has 0 elements"),
        ((x, Given(np.ones(2559, F32), "float32"), sums, out), 161002, "normOut has shape"),
        ((x, norms, sums, Made((2, 4, 5), "float32")), 161002, "out has shape"),
        (
            (Given(normal((2, 5, 5)), "float32"), norms, sums, Made((2, 5, 5), "float32")),
            161002,
            "(2, 5, 5)",
        ),
    ]:
        found = newer.operator("mhc_sinkhorn_backward", *arguments)
        assert isinstance(found, Refused)
        assert found.status == status, found
        assert says in found.text
    one = hollow((1, 4, 4), F32)
    assert "950 series" in message("aclnnMhcSinkhornBackward", 361001, [one, one, one, one])
    assert "950 series" in message("aclnnMhcSinkhorn", 361001, [one, EPS, 20, one, None, None])


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
def test_streams_of_a_950_may_stay_unmixed(newer: Chip950) -> None:
    x, added = normal((3, 5, 20), np.float16), normal((3, 20), np.float16, 2)
    weights = normal((3, 5), seed=4)
    (out,) = newer.operator(
        "mhc_post",
        *(Given(x, "float16"), None, Given(added, "float16"), Given(weights, "float32")),
        Made(x.shape, "float16"),
    )
    assert_close(out, wide(x) + wide(added)[:, None] * wide(weights)[..., None], scale=2)


@pytest.mark.emulator_only(reason="the chip of the emulator is chosen")
def test_six_streams_on_a_950(newer: Chip950) -> None:
    streams, width = 6, 32
    x = normal((2, 2, streams, width), np.float16)
    phi = normal((streams * streams + 2 * streams, streams * width), seed=2) / 16
    alpha, bias = normal((3,), seed=3), normal((len(phi),), seed=4)
    joined, post, rest = newer.operator(
        "mhc_pre",
        *(Given(x, "float16"), *(Given(one, "float32") for one in (phi, alpha, bias)), None),
        *(EPS, EPS, Made((2, 2, width), "float16"), Made((2, 2, streams), "float32")),
        *(Made((2, 2, streams, streams), "float32"), None, None, None),
    )
    flat = wide(x).reshape(2, 2, -1)
    w = flat @ wide(phi).T * (np.square(flat).mean(-1, keepdims=True) + EPS) ** -0.5
    shift = wide(bias)
    pre = sigmoid(w[..., :6] * alpha[0] + shift[:6]) + EPS
    assert_close(joined, np.einsum("...n,...nd->...d", pre, wide(x)), scale=4)
    assert_close(post, 2 * sigmoid(w[..., 6:12] * alpha[1] + shift[6:12]), scale=40)
    mixing = (w[..., 12:] * alpha[2] + shift[12:]).reshape(rest.shape)
    assert_close(rest, mixing, scale=40)
