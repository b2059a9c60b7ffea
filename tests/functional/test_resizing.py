# SPDX-License-Identifier: Apache-2.0
"""Images of another size, sampled images and their gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from helpers.numerics import assert_close
from helpers.operators import Array, place, wide
from helpers.slopes import slopes as analytic_slopes
from ops.window.resize_oracle import resized, sampled
from ops.window.window_oracle import slopes

import aclnn_py as ap
from aclnn_py import functional as f

pytestmark = pytest.mark.usefixtures("device")

RNG = np.random.default_rng(5)


def drawn(*shape: int) -> Array:
    return RNG.standard_normal(shape).astype(np.float32)


@pytest.mark.parametrize(
    ("mode", "kind", "shape", "more"),
    [
        ("nearest", "below", (2, 3, 5), {}),
        ("nearest", "below", (2, 2, 3, 4), {}),
        ("nearest", "below", (1, 2, 2, 3, 2), {}),
        ("nearest-exact", "middle", (2, 3, 5), {}),
        ("nearest-exact", "middle", (2, 2, 3, 4), {}),
        ("nearest-exact", "middle", (1, 2, 2, 3, 2), {}),
        ("linear", "linear", (2, 3, 5), {"align_corners": True}),
        ("bilinear", "linear", (2, 2, 3, 4), {}),
        ("trilinear", "linear", (1, 1, 2, 3, 4), {"align_corners": True}),
        ("bicubic", "cubic", (1, 2, 3, 4), {}),
        ("bilinear", "smooth linear", (1, 2, 5, 4), {"antialias": True}),
        ("bicubic", "smooth cubic", (1, 2, 5, 4), {"antialias": True}),
    ],
)
@pytest.mark.parametrize("by", ["size", "scale"])
def test_images_of_another_size(
    mode: str, kind: str, shape: tuple[int, ...], more: dict[str, Any], by: str
) -> None:
    x, align = drawn(*shape), more.get("align_corners", False)
    scale = 1.5 if by == "scale" else 0.0
    given: dict[str, Any] = {"scale_factor": 1.5} if scale else {}
    counts = [int(n * 1.5) if scale else 3 for n in shape[2:]]

    def forward(image: Array) -> Array:
        return resized(kind, image, counts, align, [scale] * len(counts))

    size = {} if scale else {"size": 3}
    y = f.interpolate(place(x), **size, **given, mode=mode, **more)
    assert_close(y.numpy(), forward(wide(x)), scale=8)
    dy = drawn(*y.shape)
    dx = f.interpolate_backward(place(dy), place(x), **given, mode=mode, **more)
    assert_close(dx.numpy(), slopes(forward, wide(dy), np.zeros(shape)), scale=8)


@pytest.mark.parametrize("spatial", [2, 3])
@pytest.mark.parametrize("padding", ["zeros", "border", "reflection"])
def test_an_affine_map_of_an_image(spatial: int, padding: str) -> None:
    x = drawn(*(2, 2, 4, 3, 2)[: spatial + 2])
    theta = 0.6 * drawn(2, spatial, spatial + 1)
    shape = (2, 2, 2, 3, 4)[: spatial + 2]
    grid = f.affine_grid(place(theta), shape)
    axes = [(2 * np.arange(n) + 1) / n - 1 for n in shape[2:]]
    ones = np.ones(shape[2:])
    points = np.stack([*np.meshgrid(*axes, indexing="ij")[::-1], ones], -1)
    assert_close(grid.numpy(), np.einsum("nij,...j->n...i", wide(theta), points), scale=8)
    y = f.grid_sample(place(x), grid, "bilinear", padding)
    mode = ["zeros", "border", "reflection"].index(padding)

    def forward(image: Array, places: Array) -> Array:
        return sampled(image, places, 0, mode, False)

    parts = [wide(x), wide(grid.numpy())]
    assert_close(y.numpy(), forward(*parts), scale=8)
    dy = drawn(*y.shape)
    found = f.grid_sample_backward(place(dy), place(x), grid, "bilinear", padding)
    for gradient, exact in zip(found, analytic_slopes(forward, parts, wide(dy)), strict=True):
        assert_close(gradient.numpy(), exact, scale=64)


@pytest.mark.parametrize(
    ("call", "words"),
    [
        ("f.interpolate(x)", "size, scale_factor: one of them is needed, and not both"),
        ("f.interpolate(x, 3, 2.0)", "size, scale_factor: one of them is needed, and not both"),
        ("f.interpolate(x, (3, 3, 3))", "size: .* has 3 numbers; expected 1 or 2"),
        ("f.interpolate(x, scale_factor=-1.0)", "scale_factor: -1.0; expected 1 or 2 positive"),
        (
            "f.interpolate(x, 3, mode='linear')",
            "allowed: nearest, nearest-exact, bilinear, bicubic",
        ),
        ("f.interpolate(x, 3, mode='nearest', antialias=True)", "allowed: bilinear, bicubic"),
        ("f.interpolate(x, 3, align_corners=True)", "align_corners: 'nearest' has no corners"),
        ("f.interpolate(x[0, 0], 3)", "none, an image has 3 to 5 dimensions"),
        ("f.grid_sample(x[0], x)", "input: shape .* expected 4 or 5 dimensions"),
        ("f.grid_sample(x, x, 'cubic')", "mode: 'cubic'; allowed: bilinear, nearest, bicubic"),
        ("f.grid_sample(x, x, padding_mode='wrap')", "padding_mode: 'wrap'; allowed: zeros"),
        ("f.affine_grid(x, (1, 2, 3))", "size: .* has 3 numbers; expected 4 or 5"),
    ],
)
def test_wrong_arguments_are_named(call: str, words: str) -> None:
    x = ap.zeros((2, 3, 4, 4), np.float32)
    with pytest.raises(ap.errors.InvalidArgumentError, match=words):
        eval(call, {"f": f, "x": x})
