# SPDX-License-Identifier: Apache-2.0
"""A NumPy session whose arrays live on the device, as a notebook of cells.

Run:  python samples/14_numpy_prompt.py [picture.png]

The sample makes a table of measurements, cleans and transforms it with NumPy's own expressions,
compares every step with NumPy, times it, and plots it if matplotlib is installed
(``pip install 'aclnn_py[plot]'``). Last line: "ok".
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

import aclnn_py as ap

# %% Make the data: temperatures of 32 stations over 2,000 hours. Some readings failed.
rng = np.random.default_rng(0)
hours = np.arange(2000, dtype=np.float32)
daily = 8 * np.sin(2 * np.pi * hours / 24)
host = (15 + daily + rng.normal(0, 2, (32, 2000))).astype(np.float32)
host[rng.random(host.shape) < 0.01] = -999.0

device = ap.Device(0)
print(f"device {device.index}: {device.name}")
readings = ap.from_numpy(host)
print(readings)


# %% Clean it. The same code takes either kind of array: it uses operators, methods and np.
def clean(x: Any) -> Any:
    x = x.copy()
    failed = x < -100
    x[failed] = 0
    count = (~failed).sum(axis=1, keepdims=True).astype(np.float32)
    mean = x.sum(axis=1, keepdims=True) / count
    return np.where(failed, mean, x)


# %% Standardise each station, smooth over a day, and find the warmest hours.
def transform(x: Any) -> Any:
    x = (x - x.mean(axis=1, keepdims=True)) / x.std(axis=1, keepdims=True)
    sums = x.astype(np.float64).cumsum(axis=1)
    smooth = (sums[:, 24:] - sums[:, :-24]) / 24
    return smooth.astype(np.float32)


def warmest(x: Any) -> Any:
    return x[[0, -1]].argmax(axis=1)


cleaned, expected = clean(readings), clean(host)
smooth, wanted = transform(cleaned), transform(expected)
print(smooth[:2, ::-400])

# %% Compare with NumPy. Only np.asarray copies to the host.
difference = float(np.abs(np.asarray(smooth) - wanted).max())
same_hours = np.asarray(warmest(cleaned)).tolist() == warmest(expected).tolist()
print(f"largest difference from NumPy: {difference:.1e}; warmest hours agree: {same_hours}")
good = difference < 1e-4 and same_hours

# %% A function that cannot run on the device raises; a mistake raises NumPy's error.
for attempt in (
    lambda: np.linalg.eigvals(readings[:, :32]),
    lambda: readings + readings[:, :3],
):
    try:
        attempt()
    except (TypeError, ValueError) as error:
        print(f"{type(error).__name__}: {error}")
    else:
        good = False


# %% Time it. Expressions are queued, so stop the clock after the device has finished.
def best(run: Callable[[], Any], rounds: int = 5) -> float:
    seconds = []
    for _ in range(rounds):
        start = time.perf_counter()
        run()
        ap.synchronize()
        seconds.append(time.perf_counter() - start)
    return min(seconds)


on_device = best(lambda: transform(clean(readings)))
on_host = best(lambda: transform(clean(host)))
print(f"device {on_device * 1e3:.1f} ms, NumPy {on_host * 1e3:.1f} ms")

# %% Plot, if matplotlib is installed.
picture = Path(sys.argv[1] if len(sys.argv) > 1 else "numpy_prompt.png")
try:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt
except ImportError:
    print("no plot: matplotlib is not installed; pip install 'aclnn_py[plot]' adds it")
else:
    figure, (top, bottom) = plt.subplots(2, sharex=True, figsize=(8, 5), layout="constrained")
    top.plot(np.asarray(cleaned[0, :240]))
    top.set_ylabel("temperature")
    bottom.plot(np.asarray(smooth[0, :240]), color="tab:red")
    bottom.set_ylabel("daily mean, standardised")
    bottom.set_xlabel("hour")
    figure.savefig(picture, dpi=100)
    print(f"wrote {picture}")

print("ok" if good else "WRONG")
sys.exit(0 if good else 1)
