# SPDX-License-Identifier: Apache-2.0
"""The text of a tensor, and its table in notebooks: values, shape, dtype and device."""

from __future__ import annotations

from html import escape
from itertools import product
from typing import Any

import numpy as np
import numpy.typing as npt

from aclnn_py.errors import AclnnPyError
from aclnn_py.tensor.formats import is_blocked
from aclnn_py.tensor.tensor import Tensor, description

__all__ = ["html_of", "plain_text_of", "text_of"]


def text_of(tensor: Tensor) -> str:
    """The text of ``repr``. It waits for the work on the tensor and raises in no state of it."""
    described = description(tensor)
    if tensor.closed:
        return f"<Tensor closed, {described}>"
    if tensor.count > _threshold() and is_blocked(tensor.format):
        return f"<Tensor {described}>"
    try:
        text = _numpys_text(tensor, separator=", ", prefix="Tensor(")
    except AclnnPyError as error:
        return f"<Tensor {described}, unreadable: {type(error).__name__}>"
    return f"Tensor({text}, {described})"


def plain_text_of(tensor: Tensor) -> str:
    """The text of ``str``: the elements as NumPy prints them, or ``repr`` where it shows none."""
    if tensor.closed or (tensor.count > _threshold() and is_blocked(tensor.format)):
        return text_of(tensor)
    try:
        return _numpys_text(tensor) if tensor.ndim else str(tensor.numpy()[()])
    except AclnnPyError:
        return text_of(tensor)


def _threshold() -> int:
    """Above it only the edges are copied to the host and shown, as NumPy's printing does."""
    return int(np.get_printoptions()["threshold"])


def _edge() -> int:
    return int(np.get_printoptions()["edgeitems"])


def _numpys_text(tensor: Tensor, **how: Any) -> str:
    if tensor.count <= _threshold():
        return np.array2string(tensor.numpy(), **how)
    return np.array2string(_edges(tensor, _edge()), threshold=0, **how)


def html_of(tensor: Tensor) -> str:
    """The table that notebooks show; what is no row or matrix is shown as text."""
    readable = not tensor.closed and not is_blocked(tensor.format)
    if not readable or tensor.ndim not in (1, 2) or not tensor.count:
        return f"<pre>{escape(text_of(tensor))}</pre>"
    try:
        edge = _edge()
        values = _edges(tensor, edge)
    except AclnnPyError:
        return f"<pre>{escape(text_of(tensor))}</pre>"
    grid = np.atleast_2d(values)
    row_gap, column_gap = (n > 2 * edge for n in (1, *tensor.shape)[-2:])
    rows = []
    for i, row in enumerate(grid):
        if row_gap and i == edge:
            cells = ["\u22ee"] * len(row)
        else:
            cells = [escape(np.array2string(item)) for item in row]
            if column_gap:
                cells[edge] = "\u2026"
        rows.append(f"<tr>{''.join(f'<td>{cell}</td>' for cell in cells)}</tr>")
    caption = f"<caption>Tensor, {escape(description(tensor))}</caption>"
    return f"<table>{caption}{''.join(rows)}</table>"


def _edges(tensor: Tensor, edge: int) -> npt.NDArray[Any]:
    """The first and last elements of long dimensions, with one in between that is not shown."""
    whole = 2 * edge
    result = np.zeros(tuple(min(n, whole + 1) for n in tensor.shape), tensor.dtype)
    parts = [
        [slice(0, edge), slice(n - edge, n)] if n > whole else [slice(0, n)] for n in tensor.shape
    ]
    places = [
        [slice(0, edge), slice(edge + 1, None)] if n > whole else [slice(0, n)]
        for n in tensor.shape
    ]
    for source, target in zip(product(*parts), product(*places), strict=True):
        result[target] = tensor[source].numpy()
    return result
