# SPDX-License-Identifier: Apache-2.0
"""The encoder beside the same model in other libraries."""

from __future__ import annotations

import importlib
import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import comparison
import numpy as np
import pytest
from comparison import NUMPY, OTHERS, OURS, agree, measure, missing, table
from reference import NumpyEncoder

import aclnn_py as ap

SCRIPT = Path(__file__).resolve().parents[1] / "comparison.py"
BATCHES = ((1, 4), (3, 8))


@pytest.fixture(params=sorted(OTHERS))
def other(request: pytest.FixtureRequest) -> str:
    """A library of the comparison that is installed; it is a requirement of nothing."""
    package = missing(OTHERS[request.param][0])
    if package:
        pytest.skip(f"{package} is not installed; it is optional even for the comparison")
    return str(request.param)


@pytest.fixture
def only_numpy(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing but NumPy is installed."""
    absent = {name: (("no_such_package",), *where) for name, (_, *where) in OTHERS.items()}
    monkeypatch.setattr(comparison, "OTHERS", absent)


def compared(tiny: Any, **options: Any) -> dict[str, Any]:
    config, arrays = tiny
    return measure(arrays, config, threads=1, rounds=1, batches=BATCHES, **options)


def test_the_other_model_is_the_same(other: str, tiny: Any, rows: list[list[int]]) -> None:
    config, arrays = tiny
    _packages, module, kind = OTHERS[other]
    encoder = getattr(importlib.import_module(module), kind)(arrays, config, 1)
    expected = NumpyEncoder(arrays, config).embed(rows)
    np.testing.assert_allclose(encoder.embed(rows), expected, atol=1e-5)


def test_an_installed_model_has_its_columns(device: ap.Device, other: str, tiny: Any) -> None:
    result = compared(tiny)
    assert other in result["versions"] and other not in result["absent"]
    for row in result["batches"]:
        assert set(row["models"][other]) == {"cpu_ms", "wall_ms", "cpu_ratio", "wall_ratio"}


@pytest.mark.usefixtures("only_numpy")
def test_absent_models_are_named(device: ap.Device, tiny: Any) -> None:
    result = compared(tiny)
    assert [(row["texts"], row["tokens"]) for row in result["batches"]] == list(BATCHES)
    assert all(set(row["models"]) == {OURS, NUMPY} for row in result["batches"])
    lines = table(result).splitlines()
    assert lines[0] == "| texts x tokens | aclnn_py, ms | numpy, ms | ratio |"
    assert lines[3].startswith("| 3 x 8 | ")
    assert lines[-2:] == [
        f"{name}: left out, no_such_package is not installed" for name in ("torch", "onnxruntime")
    ]


@pytest.mark.usefixtures("only_numpy")
def test_a_model_that_differs_is_an_error(
    device: ap.Device, tiny: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    class Other:
        def __init__(self, arrays: Any, config: Any, threads: int) -> None:
            self.turned = NumpyEncoder(arrays, config)

        def embed(self, texts: Any) -> np.ndarray:
            return np.roll(self.turned.embed(texts), 1, axis=1)

    monkeypatch.setattr(comparison, "OTHERS", {"other": (("json",), "json", "Other")})
    monkeypatch.setattr(json, "Other", Other, raising=False)
    with pytest.raises(ValueError, match=r"other: cosine to NumPy .*, expected 0\.9999"):
        compared(tiny)


def test_no_number_is_no_agreement() -> None:
    vectors = np.ones((1, 1), np.float32)
    agree("same", vectors, vectors)
    with pytest.raises(ValueError, match="cosine to NumPy nan"):
        agree("other", vectors * np.nan, vectors)


def test_a_package_that_is_broken_is_not_absent(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "broken_package.py").write_text("import no_such_package\n")
    monkeypatch.syspath_prepend(tmp_path)
    assert missing(["json", "no_such_package"]) == "no_such_package"
    with pytest.raises(ModuleNotFoundError, match="no_such_package"):
        missing(["broken_package"])


def test_the_program(tiny_directory: Path) -> None:
    done = subprocess.run(
        [sys.executable, str(SCRIPT), "--rounds", "1", "--json"],
        capture_output=True,
        text=True,
        timeout=240,
    )
    assert done.returncode == 0, done.stderr
    result = json.loads(done.stdout)
    assert result["threads"] == 1
    assert {*result["versions"], *result["absent"]} == {OURS, NUMPY, *OTHERS}
    for row in result["batches"]:
        times = row["models"]
        assert times[NUMPY]["cpu_ms"] > 0 and times[NUMPY]["cpu_ratio"] > 0
