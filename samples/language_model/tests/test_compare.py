# SPDX-License-Identifier: Apache-2.0
"""The comparison with transformers, and the benchmark, as their commands run them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_decoder import made

pytestmark = pytest.mark.usefixtures("requirements", "device")


def test_the_comparison_counts_what_differs() -> None:
    from compare import compare_text

    theirs = np.array([[0.0, 4.0, 1.0], [0.0, 1.0, 1.001], [5.0, 0.0, 1.0]])
    ours = theirs.copy()
    all_steady = np.ones(3, np.bool_)
    found = compare_text(ours, theirs, all_steady, 0.01)
    assert (found.beyond, found.steady, found.equal, found.clear) == (0, 3, 2, 2)
    ours[0] = [9.0, 4.0, 1.0]
    ours[1, 1] += 0.002
    found = compare_text(ours, theirs, all_steady, 0.01)
    assert (found.beyond, found.equal, found.clear) == (1, 1, 2)
    steady = np.array([False, True, True])
    found = compare_text(ours, theirs, steady, 0.01)
    assert (found.beyond, found.steady, found.equal, found.clear) == (0, 2, 1, 1)
    # Behind a position that is left out, twice the tolerance is allowed.
    for error, beyond in ((0.015, 0), (0.025, 1)):
        ours[2] = theirs[2] + error * theirs.std()
        assert compare_text(ours, theirs, steady, 0.01).beyond == beyond


def test_perplexity_is_that_of_its_definition() -> None:
    from compare import perplexity

    rows = np.log(np.array([[0.5, 0.25, 0.25], [0.1, 0.8, 0.1], [1.0, 1.0, 1.0]]))
    assert perplexity(rows + 7, [2, 0, 1, 0], 2) == pytest.approx((0.25 * 0.1) ** -0.5)


@pytest.mark.parametrize("architecture", ["llama", "deepseek_v3"])
def test_the_decoder_agrees_with_transformers(
    architecture: str, tmp_path: Path, transformers: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    import compare

    made(tmp_path, architecture)
    assert compare.main([str(tmp_path), "--prompt", "9", "--tokens", "12"]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "ok"


def test_the_benchmark_measures(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    import benchmark

    monkeypatch.setenv("ACLNN_PY_THREADS", "1")

    made(tmp_path, "llama")
    options = ["--alone", "--prompt", "9", "--steps", "3", "--prompts", "1"]
    assert benchmark.main([str(tmp_path), *options, "--quantise", "w8a16"]) == 0
    shown = capsys.readouterr().out
    assert "prompt of 9 tokens, w8a16" in shown
    assert "MB of weights" in shown
