# SPDX-License-Identifier: Apache-2.0
"""Capture a graph once and replay it for every request.

Run:  python samples/13_graph.py

The sample captures a small network and names its input. Each request is then one call, however many
launches the network has. A request either writes new values into the captured tensor or binds
another tensor. A side stream computes half of the work.
Last line: "ok".
"""

from __future__ import annotations

import sys

import numpy as np

import aclnn_py as ap


def network(x: ap.Tensor, w: ap.Tensor, main: ap.Stream, side: ap.Stream) -> ap.Tensor:
    """max(x w, 0) + tanh(x w), the second half on the side stream."""
    hidden = ap.functional.matmul(x, w)
    bent = ap.empty(hidden.shape, hidden.dtype)
    side.wait_stream(main)  # the side stream joins the capture
    ap.ops.tanh(hidden, bent, stream=side)
    kept = ap.empty(hidden.shape, hidden.dtype)
    ap.ops.relu(hidden, kept)
    main.wait_stream(side)  # and comes back
    return ap.functional.add(kept, bent)


def main() -> int:
    rng = np.random.default_rng(0)
    weights = rng.standard_normal((16, 8)).astype(np.float32)
    requests = rng.standard_normal((6, 4, 16)).astype(np.float32)
    largest = 0.0

    with ap.Device(0) as device, device.create_stream() as side, ap.Graph() as graph:
        print(f"device {device.index}: {device.name}")
        x, w = ap.zeros((4, 16), np.float32), ap.from_numpy(weights)
        with graph.capture(inputs={"x": x}) as recorded:
            out = network(x, w, recorded, side)
        for number, request in enumerate(requests):
            if number % 2:
                graph.rebind(x=ap.from_numpy(request))  # another address
            else:
                graph.rebind(x=x)
                x.copy_from(request)  # other values
            graph.replay()
            product = request.astype(np.float64) @ weights
            expected = np.maximum(product, 0) + np.tanh(product)
            largest = max(largest, float(np.abs(out.numpy() - expected).max()))

    print(f"{len(requests)} requests, largest error {largest:.1e}")
    good = largest < 1e-5
    print("ok" if good else "WRONG")
    return 0 if good else 1


if __name__ == "__main__":
    sys.exit(main())
