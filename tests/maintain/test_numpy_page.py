# SPDX-License-Identifier: Apache-2.0
"""docs/numpy.md is what the tables of the package say."""

from __future__ import annotations

from aclnn_py.array import names
from maintain import numpy_page


def test_the_page_is_written_from_the_tables() -> None:
    written = numpy_page.PAGE_PATH.read_text(encoding="utf-8")
    assert written == numpy_page.text(), "run: python -m maintain.numpy_page"


def test_the_page_has_every_name() -> None:
    text = numpy_page.text()
    for name in (*names.HOMES, *names.REFUSED):
        assert f"`np.{name}`" in text
