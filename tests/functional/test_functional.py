# SPDX-License-Identifier: Apache-2.0
"""Functions that allocate their result: values, shapes, signatures, errors."""

from __future__ import annotations

import inspect
import math
import pickle
import traceback
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
from functional_table import CALLS
from helpers.each import each
from helpers.numerics import assert_close
from ops.attention.attention_calls import attention, meets
from ops.window import window_oracle

import aclnn_py as ap
from aclnn_py import functional
from aclnn_py.functional import masks
from maintain.functional.__main__ import differences
from maintain.functional.modules import COMMAND
from maintain.functional.tables import FAMILIES, ROWS

RNG = np.random.default_rng(7)
HOST: dict[str, npt.NDArray[Any]] = {
    "x": RNG.standard_normal((3, 4)).astype(np.float32),
    "y": RNG.standard_normal(4).astype(np.float32),
    "p": RNG.uniform(0.5, 1.5, (3, 4)).astype(np.float32),
    "u": RNG.uniform(-0.9, 0.9, (3, 4)).astype(np.float32),
    "w": RNG.standard_normal((4, 5)).astype(np.float32),
    "c": RNG.standard_normal((2, 3, 4)).astype(np.float32),
    "relu": np.maximum(RNG.standard_normal((3, 4)), 0).astype(np.float32),
    "i": RNG.integers(-9, 9, (3, 4)).astype(np.int32),
    "j": np.arange(1, 13, dtype=np.int32).reshape(3, 4),
    "a": RNG.uniform(1.5, 3.0, (3, 4)).astype(np.float32),
    "b": RNG.integers(0, 2, (3, 4)).astype(np.bool_),
    "k": np.array([2, 0]),
    "images": RNG.standard_normal((2, 4, 3, 3)).astype(np.float32),
    "volume": RNG.standard_normal((2, 1, 2, 3, 3)).astype(np.float32),
    "turned": RNG.standard_normal((1, 1, 2, 64)).astype(np.float32),
    "ones": np.ones((1, 1, 2, 64), np.float32),
    "qs": RNG.standard_normal((2, 4, 3, 16)).astype(np.float16),
    "one": RNG.standard_normal((2, 4, 1, 16)).astype(np.float16),
    "ks": RNG.standard_normal((2, 2, 5, 16)).astype(np.float16),
    "taken": np.array([[1, 0, 1, 1, 0], [0, 0, 0, 0, 0], [0, 1, 1, 1, 1]], np.bool_),
    "pushed": RNG.standard_normal((4, 1, 5)).astype(np.float16),
}


def normed(x: npt.NDArray[Any]) -> npt.NDArray[Any]:
    centred = x - x.mean(-1, keepdims=True)
    return np.asarray(centred / np.sqrt((centred**2).mean(-1, keepdims=True) + 1e-5))


def replaced(x: npt.NDArray[Any], at: Any, values: npt.NDArray[Any]) -> npt.NDArray[Any]:
    result = x.copy()
    result[at] = values
    return result


def scattered(
    x: npt.NDArray[Any], index: npt.NDArray[Any], values: npt.NDArray[Any]
) -> npt.NDArray[Any]:
    return replaced(x, (index[0], [0, 1]), values)


def oracle(text: str) -> npt.NDArray[Any]:
    wide = {
        name: value.astype(np.float64) if value.dtype.kind == "f" else value
        for name, value in HOST.items()
    }
    known = {
        "np": np,
        "math": math,
        "attention": attention,
        "meets": meets,
        "normed": normed,
        "replaced": replaced,
        **wide,
    }
    known |= {"scattered": scattered, "windows": window_oracle}
    with np.errstate(all="ignore"):
        return np.asarray(eval(text, known))


def device_side(text: str, tensors: dict[str, ap.Tensor] | None = None) -> Any:
    if tensors is None:
        tensors = {name: ap.from_numpy(value) for name, value in HOST.items()}
    return eval(text, {"f": functional, **tensors})


@pytest.mark.parametrize(
    ("call", "text"),
    [pair for pairs in CALLS.values() for pair in pairs],
    ids=[call for pairs in CALLS.values() for call, _ in pairs],
)
def test_values_and_shapes_are_numpys(call: str, text: str) -> None:
    result = device_side(call)
    values = np.asarray(result)
    if values.dtype.kind == "f":
        assert_close(values, oracle(text), scale=4.0, what=call)
    else:
        np.testing.assert_array_equal(values, oracle(text), strict=False)
        assert values.shape == oracle(text).shape


@pytest.mark.parametrize("name", [name for name in CALLS if name.endswith("_")])
def test_an_underscore_writes_and_returns_the_first_argument(name: str) -> None:
    call, text = CALLS[name][0]
    tensors = {key: ap.from_numpy(value) for key, value in HOST.items()}
    first = tensors[call.removeprefix(f"f.{name}(")[0]]
    assert device_side(call, tensors) is first
    np.testing.assert_allclose(first.numpy(), oracle(text), rtol=1e-5)


# In test_attention.py, test_caches.py, test_normalization.py, test_quantisation.py and
# test_serving.py.
_ELSEWHERE = {
    "add_layer_norm", "add_rms_norm", "add_rms_norm_", "add_rms_norm_cast",
    "add_rms_norm_dynamic_quant", "add_rms_norm_quant", "attention_update", "einsum",
    "gemma_rms_norm",
    "incre_flash_attention", "prompt_flash_attention", "quant_matmul", "rms_norm_dynamic_quant",
    "scatter_update_", "transpose_batch_matmul",
}  # fmt: skip


def test_every_function_of_the_table_is_tested() -> None:
    # These have test files of their own.
    own = (
        "activation_backward", "boxes", "classification", "experts", "latent_attention",
        "latent_gradients", "quantisation", "rotary", "routing", "serving", "sparse_attention",
        "training", "convolution_gradients", "pool_gradients", "margins",
    )  # fmt: skip
    tested = {*CALLS, "weight_quant_batchmatmul", *_ELSEWHERE}
    tested |= {row.name for name in own for row in FAMILIES[name].ROWS}
    assert set(ROWS) - tested == set()


def test_long_causal_masks_are_a_triangle(monkeypatch: pytest.MonkeyPatch) -> None:
    call = "f.scaled_dot_product_attention(qs, ks, ks, is_causal=True, enable_gqa=True)"
    short = device_side(call).numpy()
    monkeypatch.setattr(masks, "_LARGEST_MASK", 14)
    np.testing.assert_array_equal(device_side(call).numpy(), short)
    wanted = "attention(qs, ks, ks, 0.25, met=meets(3, 5, after=0))[0]"
    assert_close(short, oracle(wanted))


def test_weight_quant_batchmatmul() -> None:
    x = RNG.standard_normal((2, 32)).astype(np.float16)
    weight = RNG.integers(-8, 8, (32, 16)).astype(np.int8)
    scale = np.full((16,), 0.5, np.float16)
    result = functional.weight_quant_batchmatmul(*map(ap.from_numpy, (x, weight, scale)))
    assert_close(result.numpy(), x.astype(np.float64) @ (weight * 0.5), scale=4.0)


def test_the_modules_are_those_of_the_table() -> None:
    assert differences() == [], f"run: {COMMAND}"


def test_signatures_and_errors_are_those_of_a_function() -> None:
    assert str(inspect.signature(functional.softmax)) == (
        "(input: 'Tensor', dim: 'int' = -1, *, stream: 'Stream | None' = None) -> 'Tensor'"
    )
    with pytest.raises(TypeError, match=r"softmax\(\) got an unexpected keyword argument"):
        functional.softmax(ap.zeros((2, 2), "float32"), axis=1)  # type: ignore[call-arg]
    assert pickle.loads(pickle.dumps(functional.add)) is functional.add


def test_every_function_has_a_source_that_can_be_read() -> None:
    def judge(name: str) -> None:
        function = getattr(functional, name)
        source = inspect.getsource(function).removeprefix("@remembered\n")
        assert source.startswith(f"def {name}(")
        home = Path(inspect.getfile(inspect.unwrap(function))).parent
        assert home == Path(functional.__file__).parent

    each(functional.__all__, judge)


def test_a_traceback_shows_the_line_of_the_function() -> None:
    x = ap.zeros((2, 3), "float32")
    with pytest.raises(ValueError, match="inner dimensions") as caught:
        functional.matmul(x, x)
    text = "".join(traceback.format_tb(caught.value.__traceback__))
    assert "functional/matrices.py" in text
    assert "out = empty(matmul_shape(input.shape, other.shape)" in text


@pytest.mark.parametrize(
    ("call", "error", "words"),
    [
        ("f.add(x, w)", ValueError, "cannot be broadcast"),
        ("f.pow(2, 3)", TypeError, "one of them must be a Tensor"),
        ("f.clamp(x)", ValueError, "one of them is needed"),
        ("f.layer_norm(x, (3,))", ValueError, "does not end in"),
        ("f.layer_norm(x, (4,), w)", ValueError, "weight: shape"),
        ("f.linear(x, c)", ValueError, "no matrix"),
        ("f.sign_bits_pack(y, 3)", ValueError, "size: 3 rows cannot hold 1 elements"),
        ("f.linear(x, p, y)", ValueError, "bias: shape"),
        ("f.cat([x, w], 0)", ValueError, "differs"),
        ("f.pad(x, [1, 1], 'circular')", ValueError, "mode: expected 'constant', 'reflect'"),
        ("f.pad(x, [1, 1], 0)", ValueError, "mode: expected"),
        ("f.pad(x, [1] * 8, 'reflect')", ValueError, "takes 2, 4 or 6 numbers, got 8"),
        ("f.pad(x, [9, 9], 'reflect')", ValueError, "reflection"),
        ("f.cat([], 0)", ValueError, "at least one"),
        ("f.cat(x, 0)", TypeError, "sequence of tensors"),
        ("f.stack([x, y])", ValueError, "is not"),
        ("f.gelu(x, approximate='none of these')", ValueError, "none, tanh"),
        ("f.glu(c, 1)", ValueError, "odd length"),
        ("f.mm(x, y)", ValueError, "2 dimensions"),
        ("f.sum(x, 2)", ValueError, "out of range"),
        ("f.conv2d(x, images)", ValueError, "input: shape"),
        ("f.conv2d(images, x)", ValueError, "weight: shape"),
        ("f.avg_pool2d(images, (2, 2, 2))", ValueError, "expected 1 or 2"),
        ("f.avg_pool2d(x, 2)", ValueError, "is no image"),
        ("f.avg_pool2d(images, 2, 0)", ValueError, "stride: 0 is less than 1"),
        ("f.max_pool2d(images, 4)", ValueError, "does not fit into 3 elements"),
        ("f.scaled_dot_product_attention(qs, ks, ks)", ValueError, "enable_gqa=True"),
        ("f.scaled_dot_product_attention(x, x, x)", ValueError, "batch, heads, tokens, width"),
        ("f.scaled_dot_product_attention(qs, qs, qs, taken, is_causal=True)", ValueError, "only"),
        (
            "f.scaled_dot_product_attention(qs, qs, qs, qs > 0)",
            ValueError,
            "one mask for all heads",
        ),
        ("f.scaled_dot_product_attention(qs, qs, qs, y > 0)", ValueError, "expected 2 to 4"),
        ("f.no_such_function", AttributeError, "no function"),
    ],
)
def test_mistakes_are_named(call: str, error: type[Exception], words: str) -> None:
    with pytest.raises(error, match=words):
        device_side(call)
