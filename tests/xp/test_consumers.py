# SPDX-License-Identifier: Apache-2.0
"""Libraries that are written for the array API take tensors."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

import aclnn_py as ap

ROOT = Path(__file__).resolve().parents[2]

ESTIMATORS = """
import numpy as np, sklearn, aclnn_py as ap
from sklearn.preprocessing import MinMaxScaler, MaxAbsScaler, Normalizer, StandardScaler
from sklearn.linear_model import Ridge
from sklearn.metrics import mean_squared_error, accuracy_score, r2_score
from sklearn.metrics.pairwise import euclidean_distances, cosine_similarity
rng = np.random.default_rng(0)
host = rng.standard_normal((40, 5)).astype(np.float32)
target = (host @ np.arange(5, dtype=np.float32) + 1).astype(np.float32)
x, y = ap.from_numpy(host), ap.from_numpy(target)
def same(result, wanted, name):
    assert isinstance(result, ap.Tensor), (name, type(result))
    np.testing.assert_allclose(result.numpy(), wanted, rtol=2e-3, atol=2e-3, err_msg=name)
with sklearn.config_context(array_api_dispatch=True):
    for kind in (MinMaxScaler, MaxAbsScaler, Normalizer, StandardScaler):
        same(kind().fit_transform(x), kind().fit_transform(host), kind.__name__)
    ridge = Ridge(alpha=0.5, solver="svd").fit(x, y)
    theirs = Ridge(alpha=0.5, solver="svd").fit(host, target)
    same(ridge.coef_, theirs.coef_, "Ridge")
    same(ridge.predict(x), theirs.predict(host), "predict")
    try:
        euclidean_distances(x, x)  # in float64, of which CANN has no matrix product
    except TypeError as error:
        assert "no matrix product of float64" in str(error)
    same(cosine_similarity(x, x), cosine_similarity(host, host), "cosine")
    assert abs(float(mean_squared_error(y, y))) == 0
    assert abs(float(r2_score(y, ridge.predict(x))) - 1) < 0.05
print("all of scikit-learn agree")
"""

FUNCTIONS = """
import numpy as np, aclnn_py as ap
from scipy import special, stats, cluster
rng = np.random.default_rng(0)
host = rng.uniform(0.2, 3, (20, 4)).astype(np.float32)
x = ap.from_numpy(host)
def same(result, wanted, name):
    assert isinstance(result, ap.Tensor), (name, type(result))
    np.testing.assert_allclose(result.numpy(), wanted, rtol=1e-4, atol=1e-4, err_msg=name)
same(stats.zscore(x), stats.zscore(host), "zscore")
same(stats.gmean(x), stats.gmean(host), "gmean")
same(stats.hmean(x), stats.hmean(host), "hmean")
same(stats.variation(x), stats.variation(host), "variation")
same(stats.skew(x), stats.skew(host), "skew")
same(cluster.vq.whiten(x), cluster.vq.whiten(host), "whiten")
print("all of SciPy agree")
"""


@pytest.mark.emulator_only(reason="the libraries are the same on a card")
@pytest.mark.parametrize(("module", "program"), [("sklearn", ESTIMATORS), ("scipy", FUNCTIONS)])
def test_a_library_takes_tensors(module: str, program: str) -> None:
    pytest.importorskip(module, reason=f"{module} is not installed")
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={**os.environ, "SCIPY_ARRAY_API": "1"},
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=600,
        check=False,
    )
    assert done.returncode == 0, done.stderr[-3000:]
    assert "agree" in done.stdout


def test_matplotlib_and_pandas_take_tensors(device, tmp_path) -> None:
    pyplot = pytest.importorskip("matplotlib.pyplot", reason="matplotlib is not installed")
    pandas = pytest.importorskip("pandas", reason="pandas is not installed")
    x = ap.from_numpy(np.arange(6, dtype=np.float32))
    figure, axes = pyplot.subplots()
    (line,) = axes.plot(x, x * x)
    np.testing.assert_array_equal(line.get_ydata(), np.arange(6.0) ** 2)
    axes.imshow(x.reshape(2, 3))
    figure.savefig(tmp_path / "picture.png")
    pyplot.close(figure)
    frame = pandas.DataFrame({"x": np.asarray(x), "y": np.asarray(x * 2)})
    assert frame["y"].sum() == 30
    assert pandas.Series(x).sum() == 15
