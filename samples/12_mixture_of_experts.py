# SPDX-License-Identifier: Apache-2.0
"""Run a mixture-of-experts layer forward and backward; each token uses two of six experts.

Run:  python samples/12_mixture_of_experts.py

Rows are sorted by expert, so one grouped product computes all experts. An expert without tokens has
no rows and a gradient of zeros. The sample compares the gradients with central differences of the
same layer in NumPy, in float64. Last line: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap

TOKENS, WIDTH, HIDDEN, EXPERTS, CHOSEN = 20, 8, 12, 6, 2
F = ap.functional


class Routing:
    """Return the token and the weight of each row, and the number of rows of each expert."""

    def __init__(self, logits: np.ndarray) -> None:
        choice = np.argsort(-logits, axis=1)[:, :CHOSEN]
        score = np.exp(np.take_along_axis(logits, choice, 1))
        order = np.argsort(choice.ravel(), kind="stable")
        self.token = order // CHOSEN
        self.weight = (score / score.sum(1, keepdims=True)).ravel()[order, None]
        self.sizes = np.bincount(choice.ravel(), minlength=EXPERTS)

    def combine(self, rows: np.ndarray) -> np.ndarray:
        """Sum the rows of each token."""
        tokens = np.zeros((TOKENS, rows.shape[1]), rows.dtype)
        np.add.at(tokens, self.token, rows)
        return tokens


class Experts:
    """``silu(x @ up[e]) @ down[e]`` for the rows of each expert e, on the device."""

    def __init__(self, up: np.ndarray, down: np.ndarray) -> None:
        self.up, self.down = ap.from_numpy(up), ap.from_numpy(down)

    def forward(self, x: np.ndarray, sizes: np.ndarray) -> np.ndarray:
        self.x, self.sizes = ap.from_numpy(x), ap.from_numpy(sizes)
        self.before = F.gmm_v2(self.x, self.up, group_list=self.sizes)
        self.after = ap.empty_like(self.before)
        ap.ops.silu(self.before, self.after)
        return F.gmm_v2(self.after, self.down, group_list=self.sizes).numpy()

    def backward(self, grad: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Gradients of x, up and down."""
        y = ap.from_numpy(grad)
        after, down, _ = F.gmm_v2_backward(y, self.after, self.down, group_list=self.sizes)
        before = ap.empty_like(after)
        ap.ops.silu_backward(after, self.before, before)
        # `gmm` computes the same product from a list of the groups' ends.
        ends = np.cumsum(self.sizes.numpy()).tolist()
        x, up, _ = F.gmm_backward(before, self.x, self.up, group_list=ends)
        assert up is not None and down is not None  # as always without gemm_fusion
        return x.numpy(), up.numpy(), down.numpy()


def reference(routing: Routing, x: np.ndarray, up: np.ndarray, down: np.ndarray) -> np.ndarray:
    """The whole layer in NumPy."""
    rows, start = np.zeros((len(routing.token), WIDTH)), 0
    for expert, size in enumerate(routing.sizes):
        chosen = slice(start, start + size)
        hidden = x[routing.token[chosen]] @ up[expert]
        rows[chosen] = (hidden / (1 + np.exp(-hidden))) @ down[expert]
        start += size
    return routing.combine(routing.weight * rows)


def differences(
    inputs: list[np.ndarray], position: int, routing: Routing, grad: np.ndarray
) -> np.ndarray:
    """Central differences of ``sum(grad * layer)`` in every element of one input."""
    value = inputs[position]
    slope, step = np.empty_like(value), 1e-5
    for index in np.ndindex(*value.shape):
        kept, ends = value[index], []
        for value[index] in (kept + step, kept - step):
            ends.append((grad * reference(routing, *inputs)).sum())
        value[index] = kept
        slope[index] = (ends[0] - ends[1]) / (2 * step)
    return slope


def main() -> int:
    rng = np.random.default_rng(0)
    x = rng.standard_normal((TOKENS, WIDTH)).astype(np.float32)
    up = (rng.standard_normal((EXPERTS, WIDTH, HIDDEN)) / np.sqrt(WIDTH)).astype(np.float32)
    down = (rng.standard_normal((EXPERTS, HIDDEN, WIDTH)) / np.sqrt(HIDDEN)).astype(np.float32)
    grad = rng.standard_normal((TOKENS, WIDTH)).astype(np.float32)
    logits = rng.standard_normal((TOKENS, EXPERTS))
    logits[:, 2] -= 100  # nobody chooses expert 2
    routing = Routing(logits)
    weight = routing.weight.astype(np.float32)

    with ap.Device(0) as device:
        print(f"device {device.index}: {device.name}, rows per expert {routing.sizes.tolist()}")
        experts = Experts(up, down)
        y = routing.combine(weight * experts.forward(x[routing.token], routing.sizes))
        by_rows, grad_up, grad_down = experts.backward(weight * grad[routing.token])

    wide = [value.astype(np.float64) for value in (x, up, down)]
    pairs = {"y": (y, reference(routing, *wide))}
    results = {"x": routing.combine(by_rows), "up": grad_up, "down": grad_down}
    for position, (name, result) in enumerate(results.items()):
        pairs[f"gradient of {name}"] = (result, differences(wide, position, routing, grad))
    errors = {name: float(np.abs(got - true).max()) for name, (got, true) in pairs.items()}
    for name, error in errors.items():
        print(f"{name}: error {error:.1e}")
    print(f"largest error {max(errors.values()):.1e}")
    good = max(errors.values()) < 2e-5 and not grad_up[2].any() and not grad_down[2].any()
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
