# SPDX-License-Identifier: Apache-2.0
"""The contract's folders and the compilers that read it."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest
from compiling import INCLUDE, LANGUAGES, Compile, compiler_for
from helpers.native import made_once

from aclnn_py import facts
from build_parts.forwarders import forwarder_texts
from build_parts.paths import write_tree


@pytest.fixture
def compile_text() -> Compile:
    """Check a text with warnings as errors; the answer is the compiler's complaint, "" if none."""

    def run(language: str, text: str, *folders: Path, output: Path | None = None) -> str:
        action = ["-fsyntax-only"] if output is None else ["-c", "-o", str(output)]
        options = [f"-I{folder}" for folder in folders]
        done = subprocess.run(
            [*compiler_for(language), *LANGUAGES[language][2], *action, *options, "-"],
            input=text,
            capture_output=True,
            text=True,
        )
        assert (done.returncode == 0) == (not done.stderr), done.stderr
        return done.stderr

    return run


@pytest.fixture(scope="session")
def forwarders(run_folder: Path) -> Path:
    """A folder with the forwarder headers."""

    def make(fresh: Path) -> None:
        fresh.mkdir()
        write_tree(fresh, forwarder_texts(INCLUDE, facts.operators()))

    return made_once(run_folder / "forwarders", make)
