# SPDX-License-Identifier: Apache-2.0
"""Docstring paragraphs that functions of ``distributed`` share are those of one table."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import pytest

from maintain.shared_paragraphs import TABLE, modules, synchronized, uses

SAMPLE = '''
def send(tensor, group=None):
    """Send a tensor.

    Parameters
    ----------
    tensor : Tensor
        Contiguous.
    group : Communicator or str, optional
        Something else,
        on two lines.

    Notes
    -----
    None.
    """


def barrier(*, stream=None):
    """Wait.

    Parameters
    ----------
    stream : Stream, optional
        A text of its own.
    """
'''


@pytest.mark.parametrize("path", modules(), ids=lambda path: path.stem)
def test_docstrings_have_the_paragraphs_of_the_table(path: Path) -> None:
    source = path.read_text()
    assert synchronized(source) == source, "run `python -m maintain.shared_paragraphs`"


def test_every_paragraph_is_shared() -> None:
    copies = Counter(row for path in modules() for row in uses(path.read_text()))
    assert set(copies) == set(TABLE)
    assert min(copies.values()) >= 2


def test_a_paragraph_that_differs_is_replaced_and_nothing_else() -> None:
    expected = SAMPLE.replace(
        "        Something else,\n        on two lines.\n", f"        {TABLE[0].text}\n"
    )
    assert synchronized(SAMPLE) == expected
    assert synchronized(expected) == expected
