# SPDX-License-Identifier: Apache-2.0
"""Train two small networks on handwritten digits, on one rank or several, in mixed precision.

Run:  python samples/16_train.py
      aclnn-py run -n 2 samples/16_train.py
Needs scikit-learn for its 1,797 images, and matplotlib for ``--plot curve.png``.

A convolution network and a transformer of two layers: forward and backward are operators of the
device, no gradient is found automatically. Products and activations are float16; weights, the loss
and AdamW are float32. The loss is multiplied by a scale so that small gradients survive float16,
and the scale follows what overflows. All parameters lie in one tensor and all gradients in another,
so a step is one cast, one all_reduce over the ranks and one AdamW. NumPy trains the same networks
from the same weights in float32; both must recognise the same share of the images that are kept
for the test. Last line: "ok".
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack
from typing import Any

# The products of NumPy's side are so small that threads only wait for each other.
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")

import numpy as np
from sklearn.datasets import load_digits

import aclnn_py as ap
from aclnn_py.distributed import Communicator, all_reduce

F, ops = ap.functional, ap.ops
F32 = np.float32
CLASSES, SIDE, HEADS, WIDTH, INNER = 10, 8, 4, 32, 64
BATCH, RATE, BETA1, BETA2, EPSILON, DECAY = 64, 2e-3, 0.9, 0.999, 1e-8, 0.01
ATTENTION: Any = {"num_heads": HEADS, "scale": (WIDTH // HEADS) ** -0.5}
TRAINED_ON = 1500  # images; the others are for the test
ALLOWED_GAP = 0.015  # between the shares of test images that device and NumPy recognise
NEEDED = 0.93  # the share that each network must recognise in the end


# What a network is made of. `run` is a Device or a Reference below: it has the weights `run.p` and
# takes the gradients `run.g`, both by name.


class Layer:
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """Return the shape of each parameter, by name."""
        return {}

    def forward(self, run: Any, x: Any) -> Any:
        raise NotImplementedError

    def backward(self, run: Any, dy: Any) -> Any:
        raise NotImplementedError


class Function(Layer):
    """An activation or a pool: `name` and `name_grad` of the runner."""

    def __init__(self, name: str) -> None:
        self.name = name

    def forward(self, run: Any, x: Any) -> Any:
        y, self.kept = getattr(run, self.name)(x)
        return y

    def backward(self, run: Any, dy: Any) -> Any:
        return getattr(run, f"{self.name}_grad")(dy, *self.kept)


class Weighted(Layer):
    """A function with a weight and a bias."""

    def __init__(self, function: str, name: str, weight: tuple[int, ...], bias: int) -> None:
        self.function, self.weight, self.bias = function, f"{name}.weight", f"{name}.bias"
        self.sizes = (weight, (bias,))

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return dict(zip((self.weight, self.bias), self.sizes, strict=True))

    def forward(self, run: Any, x: Any) -> Any:
        function = getattr(run, self.function)
        y, self.kept = function(x, run.p[self.weight], run.p[self.bias])
        return y

    def backward(self, run: Any, dy: Any) -> Any:
        gradient = getattr(run, f"{self.function}_grad")
        dx, weight, bias = gradient(dy, *self.kept, run.p[self.weight], run.p[self.bias])
        run.put(self.weight, weight)
        run.put(self.bias, bias)
        return dx


def linear(name: str, inner: int, outer: int) -> Layer:
    return Weighted("linear", name, (inner, outer), outer)


def conv(name: str, inner: int, outer: int) -> Layer:
    return Weighted("conv", name, (outer, inner, 3, 3), outer)


def norm(name: str) -> Layer:
    return Weighted("norm", name, (WIDTH,), WIDTH)


class Reshape(Layer):
    def __init__(self, *shape: int) -> None:
        self.shape = shape

    def forward(self, run: Any, x: Any) -> Any:
        self.before = x.shape
        return x.reshape(*self.shape)

    def backward(self, run: Any, dy: Any) -> Any:
        return dy.reshape(*self.before)


class Chain(Layer):
    def __init__(self, *layers: Layer) -> None:
        self.layers = layers

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {name: shape for layer in self.layers for name, shape in layer.shapes().items()}

    def forward(self, run: Any, x: Any) -> Any:
        for layer in self.layers:
            x = layer.forward(run, x)
        return x

    def backward(self, run: Any, dy: Any) -> Any:
        for layer in reversed(self.layers):
            dy = layer.backward(run, dy)
        return dy


class Residual(Chain):
    def forward(self, run: Any, x: Any) -> Any:
        return run.add(x, super().forward(run, x))

    def backward(self, run: Any, dy: Any) -> Any:
        return run.add(dy, super().backward(run, dy))


class Attention(Layer):
    """Self-attention over the rows of an image; x is (images * rows, WIDTH)."""

    def __init__(self, name: str) -> None:
        self.inputs = [linear(f"{name}.{part}", WIDTH, WIDTH) for part in "qkv"]
        self.output = linear(f"{name}.out", WIDTH, WIDTH)

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return Chain(*self.inputs, self.output).shapes()

    def forward(self, run: Any, x: Any) -> Any:
        parts = [layer.forward(run, x).reshape(-1, SIDE, WIDTH) for layer in self.inputs]
        y, self.kept = run.attention(*parts)
        return self.output.forward(run, y.reshape(-1, WIDTH))

    def backward(self, run: Any, dy: Any) -> Any:
        dy = self.output.backward(run, dy).reshape(-1, SIDE, WIDTH)
        parts = run.attention_grad(dy, *self.kept)
        q, k, v = (
            layer.backward(run, part.reshape(-1, WIDTH))
            for layer, part in zip(self.inputs, parts, strict=True)
        )
        return run.add(run.add(q, k), v)


class Positions(Layer):
    """Adds a vector of its own to each row of an image."""

    def shapes(self) -> dict[str, tuple[int, ...]]:
        return {"positions": (SIDE, WIDTH)}

    def forward(self, run: Any, x: Any) -> Any:
        return run.add(x.reshape(-1, SIDE, WIDTH), run.p["positions"]).reshape(-1, WIDTH)

    def backward(self, run: Any, dy: Any) -> Any:
        run.put("positions", run.sum(dy.reshape(-1, SIDE, WIDTH), 0))
        return dy


def convolution_network() -> Layer:
    return Chain(
        Reshape(-1, 1, SIDE, SIDE),
        *(conv("conv1", 1, 16), Function("relu"), Function("pool")),
        *(conv("conv2", 16, 32), Function("relu"), Function("pool")),
        Reshape(-1, 32 * (SIDE // 4) ** 2),
        linear("head", 32 * (SIDE // 4) ** 2, CLASSES),
    )


def transformer() -> Layer:
    """Each row of an image is a token."""
    blocks = []
    for i in range(2):
        grown, back = linear(f"{i}.up", WIDTH, INNER), linear(f"{i}.down", INNER, WIDTH)
        blocks.append(Residual(norm(f"{i}.norm1"), Attention(f"{i}.attention")))
        blocks.append(Residual(norm(f"{i}.norm2"), grown, Function("gelu"), back))
    return Chain(
        Reshape(-1, SIDE),
        *(linear("rows", SIDE, WIDTH), Positions(), *blocks, norm("norm")),
        Reshape(-1, SIDE * WIDTH),
        linear("head", SIDE * WIDTH, CLASSES),
    )


NETWORKS = {"convolution": convolution_network, "transformer": transformer}


def first_weights(shapes: dict[str, tuple[int, ...]]) -> dict[str, np.ndarray]:
    """The same on every rank and for NumPy."""
    rng, weights = np.random.default_rng(0), {}
    for name, shape in shapes.items():
        if "norm" in name:
            weights[name] = np.full(shape, float(name.endswith("weight")))
        elif name.endswith("bias"):
            weights[name] = np.zeros(shape)
        else:
            inputs = shape[0] if len(shape) == 2 else int(np.prod(shape[1:]))
            weights[name] = rng.normal(size=shape) / np.sqrt(inputs)
    return {name: weight.astype(np.float32) for name, weight in weights.items()}


class Parameters:
    """Parts of one tensor, by name."""

    def __init__(self, shapes: dict[str, tuple[int, ...]], whole: ap.Tensor) -> None:
        self.whole, self.parts, start = whole, {}, 0
        for name, shape in shapes.items():
            size = int(np.prod(shape))
            self.parts[name] = whole[start : start + size].reshape(*shape)
            start += size


class Device:
    """Forward and backward in float16, with weights and AdamW in float32."""

    def __init__(self, network: Layer, weights: dict[str, np.ndarray], comm: Any) -> None:
        self.network, self.comm, self.steps = network, comm, 0
        shapes = network.shapes()
        flat = np.concatenate([weights[name].ravel() for name in shapes])
        self.master = ap.from_numpy(flat)
        self.first, self.second = ap.zeros_like(self.master), ap.zeros_like(self.master)
        self.half = Parameters(shapes, ap.empty(flat.shape, np.float16))
        self.gradients = Parameters(shapes, ap.zeros_like(self.master))
        self.p, self.g = self.half.parts, self.gradients.parts
        self.scale, self.good = ap.full(1, 2.0**12, F32), ap.zeros(1, np.int32)
        self.one = ap.full(1, 1.0, F32)
        F.copy_(self.half.whole, self.master)

    def put(self, name: str, gradient: ap.Tensor) -> None:
        F.copy_(self.g[name], gradient)

    def step(self, images: np.ndarray, labels: np.ndarray) -> float:
        """Train on the rank's share of a batch; return the loss of that share."""
        x = ap.from_numpy(images.astype(np.float16))
        target = ap.from_numpy(labels.astype(np.int64))
        logits = self.network.forward(self, x)
        loss, slopes = self.loss(logits, target)
        self.network.backward(self, slopes)
        ranks = 1
        if self.comm is not None:
            ranks = self.comm.world_size
            all_reduce(self.gradients.whole, group=self.comm)
        self.update(ranks)
        return float(loss.numpy())

    def loss(self, logits: ap.Tensor, target: ap.Tensor) -> tuple[ap.Tensor, ap.Tensor]:
        """Return the mean loss, and the gradient of the scaled loss by the logits."""
        wide = logits.astype(F32)
        slopes = F.cross_entropy_backward(self.scale, wide, target)
        return F.cross_entropy(wide, target), slopes.astype(np.float16)

    def update(self, ranks: int) -> None:
        """One step of AdamW, unless a gradient overflowed; then the scale is halved."""
        overflow = ap.zeros(1, F32)
        inverse = F.div(F.div(self.one, self.scale), float(ranks))
        F.unscale_([self.gradients.whole], overflow, inverse)
        self.scale, self.good = F.update_loss_scale(
            self.scale, self.good, overflow, growth_interval=200
        )
        if overflow.numpy()[0]:
            return
        F.adamw_(
            self.master, self.first, self.second, self.gradients.whole,
            ap.full(1, float(self.steps), F32),
            lr=RATE, beta1=BETA1, beta2=BETA2, weight_decay=DECAY, eps=EPSILON,
        )  # fmt: skip
        self.steps += 1
        F.copy_(self.half.whole, self.master)

    def classes(self, images: np.ndarray) -> np.ndarray:
        return (
            self.network.forward(self, ap.from_numpy(images.astype(np.float16))).numpy().argmax(1)
        )

    def add(self, x: ap.Tensor, y: ap.Tensor) -> ap.Tensor:
        return F.add(x, y)

    def sum(self, x: ap.Tensor, axis: int) -> ap.Tensor:
        return F.sum(x, axis)

    def linear(self, x: ap.Tensor, w: ap.Tensor, b: ap.Tensor) -> Any:
        return F.add(F.matmul(x, w), b), (x,)

    def linear_grad(self, dy: ap.Tensor, x: ap.Tensor, w: ap.Tensor, b: ap.Tensor) -> Any:
        return F.matmul(dy, w.T), F.matmul(x.T, dy), F.sum(dy, 0)

    def conv(self, x: ap.Tensor, w: ap.Tensor, b: ap.Tensor) -> Any:
        return F.conv2d(x, w, b, padding=1), (x,)

    def conv_grad(self, dy: ap.Tensor, x: ap.Tensor, w: ap.Tensor, b: ap.Tensor) -> Any:
        return F.conv2d_backward(dy, x, w, padding=1)

    def norm(self, x: ap.Tensor, w: ap.Tensor, b: ap.Tensor) -> Any:
        y, mean, rstd = ap.empty_like(x), ap.empty((len(x), 1), F32), ap.empty((len(x), 1), F32)
        ops.layer_norm(x, [WIDTH], w, b, 1e-5, y, mean, rstd)
        return y, (x, mean, rstd)

    def norm_grad(self, dy: Any, x: Any, mean: Any, rstd: Any, w: Any, b: Any) -> Any:
        return F.layer_norm_backward(dy, x, [WIDTH], mean, rstd, w, b)

    def relu(self, x: ap.Tensor) -> Any:
        return F.relu(x), (x,)

    def relu_grad(self, dy: ap.Tensor, x: ap.Tensor) -> Any:
        return F.relu_backward(dy, x)

    def gelu(self, x: ap.Tensor) -> Any:
        return F.gelu(x, approximate="tanh"), (x,)

    def gelu_grad(self, dy: ap.Tensor, x: ap.Tensor) -> Any:
        return F.gelu_backward(dy, x, approximate="tanh")

    def pool(self, x: ap.Tensor) -> Any:
        wide = x.astype(np.float32)  # the operator's only dtype for two dimensions
        y, places = F.max_pool2d_with_indices(wide, 2)
        return y.astype(np.float16), (wide, places)

    def pool_grad(self, dy: ap.Tensor, x: ap.Tensor, places: ap.Tensor) -> Any:
        slopes = dy.astype(np.float32)
        return F.max_pool2d_with_indices_backward(slopes, x, places, 2).astype(np.float16)

    def attention(self, q: ap.Tensor, k: ap.Tensor, v: ap.Tensor) -> Any:
        y, most, total = F.flash_attention(q, k, v, **ATTENTION)
        return y, (q, k, v, y, most, total)

    def attention_grad(self, dy: ap.Tensor, *kept: ap.Tensor) -> Any:
        return F.flash_attention_backward(dy, *kept, **ATTENTION)


class Reference:
    """The same in NumPy, in float32."""

    def __init__(self, network: Layer, weights: dict[str, np.ndarray]) -> None:
        self.network, self.steps = network, 0
        self.p = {name: weight.copy() for name, weight in weights.items()}
        self.g: dict[str, np.ndarray] = {}
        self.first = {name: np.zeros_like(weight) for name, weight in weights.items()}
        self.second = {name: np.zeros_like(weight) for name, weight in weights.items()}

    def put(self, name: str, gradient: np.ndarray) -> None:
        self.g[name] = gradient

    def step(self, images: np.ndarray, labels: np.ndarray) -> float:
        logits = self.network.forward(self, images)
        shifted = logits - logits.max(1, keepdims=True)
        likely = shifted - np.log(np.exp(shifted).sum(1, keepdims=True))
        rows = np.arange(len(labels))
        slopes = np.exp(likely)
        slopes[rows, labels] -= 1
        self.network.backward(self, slopes / np.float32(len(labels)))
        self.update()
        return float(-likely[rows, labels].mean())

    def update(self) -> None:
        self.steps += 1
        for name, gradient in self.g.items():
            first, second = self.first[name], self.second[name]
            first += (1 - BETA1) * (gradient - first)
            second += (1 - BETA2) * (gradient * gradient - second)
            size = np.sqrt(second / (1 - BETA2**self.steps)) + EPSILON
            self.p[name] *= 1 - RATE * DECAY
            self.p[name] -= RATE * first / (1 - BETA1**self.steps) / size

    def classes(self, images: np.ndarray) -> np.ndarray:
        return self.network.forward(self, images).argmax(1)

    def add(self, x: np.ndarray, y: np.ndarray) -> np.ndarray:
        return x + y

    def sum(self, x: np.ndarray, axis: int) -> np.ndarray:
        return x.sum(axis)

    def linear(self, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
        return x @ w + b, (x,)

    def linear_grad(self, dy: np.ndarray, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
        return dy @ w.T, x.T @ dy, dy.sum(0)

    def conv(self, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
        padded = np.pad(x, ((0, 0), (0, 0), (1, 1), (1, 1)))
        windows = np.lib.stride_tricks.sliding_window_view(padded, (3, 3), (2, 3))
        columns = windows.transpose(0, 2, 3, 1, 4, 5).reshape(-1, w[0].size)
        images, _, height, width = x.shape
        y = (columns @ w.reshape(len(w), -1).T + b).reshape(images, height, width, -1)
        return y.transpose(0, 3, 1, 2), (x.shape, columns)

    def conv_grad(self, dy: Any, shape: Any, columns: Any, w: Any, b: Any) -> Any:
        images, channels, height, width = shape
        rows = dy.transpose(0, 2, 3, 1).reshape(-1, len(w))
        spread = (rows @ w.reshape(len(w), -1)).reshape(images, height, width, channels, 3, 3)
        dx = np.zeros((images, channels, height + 2, width + 2), np.float32)
        for i in range(3):
            for j in range(3):
                part = spread[..., i, j].transpose(0, 3, 1, 2)
                dx[:, :, i : i + height, j : j + width] += part
        return dx[:, :, 1:-1, 1:-1], (rows.T @ columns).reshape(w.shape), rows.sum(0)

    def norm(self, x: np.ndarray, w: np.ndarray, b: np.ndarray) -> Any:
        centred = x - x.mean(1, keepdims=True)
        scale = 1 / np.sqrt((centred * centred).mean(1, keepdims=True) + 1e-5)
        return centred * scale * w + b, (centred * scale, scale)

    def norm_grad(self, dy: Any, z: Any, scale: Any, w: Any, b: Any) -> Any:
        dz = dy * w
        inner = dz - dz.mean(1, keepdims=True) - z * (dz * z).mean(1, keepdims=True)
        return inner * scale, (dy * z).sum(0), dy.sum(0)

    def relu(self, x: np.ndarray) -> Any:
        return np.maximum(x, 0), (x,)

    def relu_grad(self, dy: np.ndarray, x: np.ndarray) -> Any:
        return dy * (x > 0)

    def gelu(self, x: np.ndarray) -> Any:
        inner = np.tanh(np.float32(np.sqrt(2 / np.pi)) * (x + np.float32(0.044715) * x**3))
        return 0.5 * x * (1 + inner), (x, inner)

    def gelu_grad(self, dy: np.ndarray, x: np.ndarray, inner: np.ndarray) -> Any:
        slope = np.float32(np.sqrt(2 / np.pi)) * (1 + 3 * np.float32(0.044715) * x * x)
        return dy * 0.5 * (1 + inner + x * (1 - inner * inner) * slope)

    def pool(self, x: np.ndarray) -> Any:
        n, c, h, w = x.shape
        cells = x.reshape(n, c, h // 2, 2, w // 2, 2).transpose(0, 1, 2, 4, 3, 5)
        cells = cells.reshape(n, c, h // 2, w // 2, 4)
        return cells.max(-1), (x.shape, cells.argmax(-1))

    def pool_grad(self, dy: np.ndarray, shape: tuple[int, ...], places: np.ndarray) -> Any:
        n, c, h, w = shape
        cells = np.zeros((n, c, h // 2, w // 2, 4), np.float32)
        np.put_along_axis(cells, places[..., None], dy[..., None], -1)
        cells = cells.reshape(n, c, h // 2, w // 2, 2, 2).transpose(0, 1, 2, 4, 3, 5)
        return cells.reshape(shape)

    def attention(self, *parts: np.ndarray) -> Any:
        q, k, v = (part.reshape(-1, SIDE, HEADS, WIDTH // HEADS).swapaxes(1, 2) for part in parts)
        scores = np.einsum("bhik,bhjk->bhij", q, k) * np.float32((WIDTH // HEADS) ** -0.5)
        powers = np.exp(scores - scores.max(-1, keepdims=True))
        weights = powers / powers.sum(-1, keepdims=True)
        y = np.einsum("bhij,bhjk->bihk", weights, v)
        return y.reshape(parts[0].shape), (q, k, v, weights)

    def attention_grad(self, dy: Any, q: Any, k: Any, v: Any, weights: Any) -> Any:
        slopes = dy.reshape(-1, SIDE, HEADS, WIDTH // HEADS)
        by_weight = np.einsum("bihk,bhjk->bhij", slopes, v)
        by_score = weights * (by_weight - (by_weight * weights).sum(-1, keepdims=True))
        by_score *= np.float32((WIDTH // HEADS) ** -0.5)
        dq = np.einsum("bhij,bhjk->bihk", by_score, k)
        dk = np.einsum("bhij,bhik->bjhk", by_score, q)
        dv = np.einsum("bhij,bihk->bjhk", weights, slopes)
        return [part.reshape(dy.shape) for part in (dq, dk, dv)]


def batches(epoch: int) -> Iterator[np.ndarray]:
    order = np.random.default_rng(epoch).permutation(TRAINED_ON)
    return iter(np.split(order[: TRAINED_ON // BATCH * BATCH], TRAINED_ON // BATCH))


def train(runner: Any, data: tuple[np.ndarray, np.ndarray], epochs: int, share: slice) -> Any:
    """Return loss and recognised share of test images for each epoch, and seconds per epoch."""
    images, labels = data
    losses, recognised, began = [], [], time.perf_counter()
    for epoch in range(epochs):
        picked = [chosen[share] for chosen in batches(epoch)]
        losses.append(float(np.mean([runner.step(images[i], labels[i]) for i in picked])))
        right = runner.classes(images[TRAINED_ON:]) == labels[TRAINED_ON:]
        recognised.append(float(right.mean()))
    return losses, recognised, (time.perf_counter() - began) / epochs


def draw(curves: dict[str, Sequence[float]], path: str) -> None:
    try:
        import matplotlib
    except ImportError:
        print("no picture: matplotlib is not installed; pip install 'aclnn_py[plot]' adds it")
        return
    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(7, 4), layout="constrained")
    for name, losses in curves.items():
        axes.plot(range(1, len(losses) + 1), losses, "--" if "NumPy" in name else "-", label=name)
    axes.set(xlabel="epoch", ylabel="mean loss", yscale="log")
    axes.legend()
    figure.savefig(path, dpi=120)
    print(f"curves in {path}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Train two small networks on digits.")
    parser.add_argument("--epochs", type=int, default=8)
    parser.add_argument("--plot", help="write the curves as a picture to this file")
    given = parser.parse_args()
    digits = load_digits()
    mixed = np.random.default_rng(1).permutation(len(digits.target))
    data = (digits.data[mixed] / 16).astype(np.float32), digits.target[mixed]
    good, curves = True, {}
    with ExitStack() as stack:
        comm, rank, ranks = None, 0, 1
        if "WORLD_SIZE" in os.environ:
            comm = stack.enter_context(Communicator.from_env())
            rank, ranks, device = comm.rank, comm.world_size, comm.device
        else:
            device = stack.enter_context(ap.Device(0))
        print(f"device {device.index}: {device.name}, rank {rank} of {ranks}")
        share = slice(rank * BATCH // ranks, (rank + 1) * BATCH // ranks)
        for name, make in NETWORKS.items():
            weights = first_weights(make().shapes())
            trained = {"device": train(Device(make(), weights, comm), data, given.epochs, share)}
            if rank == 0:
                reference = Reference(make(), weights)
                trained["NumPy"] = train(reference, data, given.epochs, slice(BATCH))
            for who, (losses, recognised, seconds) in trained.items():
                curves[f"{name}, {who}"] = losses
                print(
                    f"{name:11} {who:6} loss {losses[-1]:.4f}, recognises {recognised[-1]:.1%}, "
                    f"{seconds:.2f} s per epoch"
                )
            ends = [recognised[-1] for _, recognised, _ in trained.values()]
            good &= max(ends) - min(ends) <= ALLOWED_GAP and min(ends) >= NEEDED
        if given.plot and rank == 0:
            draw(curves, given.plot)
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
