# SPDX-License-Identifier: Apache-2.0
"""A few seconds of the fuzzers of files, and that they find what is planted."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

import aclnn_py as ap

from . import file_mutations, files, records, traces
from .budget import Budget

pytestmark = pytest.mark.emulator_only(reason="the records are replayed on the emulator")


@pytest.mark.parametrize(("module", "cases"), [(records, 300), (traces, 1500)])
def test_changed_files_are_read_or_refused(module, cases):
    budget = Budget(calls=cases, seed=random.SystemRandom().randrange(1 << 30))
    assert module.fuzz(budget) == 0, budget.defects[0]
    assert budget.spent == cases
    # A fuzzer whose files are all refused has not looked at what is behind the first check.
    good = sum(n for name, n in budget.tally.items() if not name.startswith("refused"))
    assert good > cases // 50, budget.table()


@pytest.mark.parametrize("module", [records, traces])
def test_two_runs_of_one_seed_are_the_same(module, device: ap.Device, tmp_path: Path):
    known = module.seeds(tmp_path)
    first, second = ([module.mutated(random.Random(n), known) for n in range(20)] for _ in "ab")
    if module is traces:
        assert first == second
    else:  # archives hold the time they were written at
        assert list(map(len, first)) == list(map(len, second))
    assert any(one not in known for one in first)


def test_changes_stay_in_their_own_tree():
    """A value that one change puts in and the next one changes must not come from the list."""
    before = repr(file_mutations.VALUES)
    for seed in range(3000):
        rng = random.Random(seed)
        file_mutations.changed_tree(rng, [[1, 2], {"a": [3]}])
    assert repr(file_mutations.VALUES) == before


PLANTED = """
from tests.fuzz.traces import mutated, seeds
ERRORS = (ValueError,)
def attempt(path):
    attempt.count = getattr(attempt, "count", 0) + 1
    if attempt.count == 9:  # two are those of the seeds
        {body}
    return "read"
"""


@pytest.mark.parametrize(
    ("body", "kind", "words"),
    [
        ("{}['x']", "defect", "KeyError"),
        ("bytearray(1 << 31)", "defect", "MemoryError"),
        ("__import__('os').abort()", "crash", "status -6"),
        ("__import__('time').sleep(99)", "hang", "status -9"),
        ("raise ValueError", "", ""),
    ],
)
def test_what_is_planted_is_found(body, kind, words, tmp_path, monkeypatch):
    (tmp_path / "planted_reader.py").write_text(PLANTED.replace("{body}", body))
    monkeypatch.setenv("PYTHONPATH", str(tmp_path))
    if kind == "hang":
        monkeypatch.setattr(files, "HANG_S", 10.0)
    budget = Budget(calls=10, progress=None)
    assert files.run(budget, "planted_reader") == (1 if kind else 0)
    assert budget.spent == 10
    if kind:
        (row,) = budget.defects
        assert row["kind"] == kind and words in row["what"] and row["case"]["number"] == 6
        assert "file" in row["case"]
