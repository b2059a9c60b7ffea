# SPDX-License-Identifier: Apache-2.0
"""Write the docstring paragraphs that many functions of ``distributed`` share.

``TABLE`` holds each of them once. ``python -m maintain.shared_paragraphs`` copies them into the
docstrings, where editors and ``help()`` read them; a test fails while a copy differs.
"""

from __future__ import annotations

import ast
import textwrap
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

__all__ = ["TABLE", "Paragraph", "main", "modules", "synchronized", "uses"]

DISTRIBUTED = Path(__file__).resolve().parent.parent / "aclnn_py" / "distributed"
_WIDTH = 100
_INDENT = "    "


@dataclass(frozen=True)
class Paragraph:
    """What stands below a heading such as ``stream : Stream, optional``."""

    heading: str
    text: str
    only: tuple[str, ...] = ()
    """The functions that have it; empty means all that have the heading."""
    but: tuple[str, ...] = ()
    """Functions that have the heading and say something else."""


_ALL_REDUCES = ("matmul_all_reduce", "quant_matmul_all_reduce", "weight_quant_matmul_all_reduce")
_NORMS = tuple(f"{name}_add_rms_norm" for name in _ALL_REDUCES)

TABLE = (
    Paragraph(
        "group : Communicator or str, optional",
        "A communicator or its name; default is the first one made on the current device.",
    ),
    Paragraph(
        "stream : Stream, optional",
        "Stream to queue on; default is the current one. Returns before the device finishes.",
        but=("barrier",),  # it waits
    ),
    Paragraph(
        "HcclError",
        "HCCL refused the call; the message names the rank.",
        but=("all_reduce",),  # it gives an example
    ),
    Paragraph('op : {"sum", "prod", "max", "min"}, default "sum"', "How elements are combined."),
    Paragraph(
        "world_size : int, optional",
        "Number of ranks R; default is that of the communicator, and any other number is an error.",
    ),
    Paragraph('reduce_op : str, default "sum"', 'CANN supports only ``"sum"``.'),
    Paragraph(
        "comm_turn : int, default 0", "Granularity of the communication; CANN supports only 0."
    ),
    Paragraph(
        "bias : Tensor, optional",
        "Shape ``(n,)``; dtype of ``x1``. Added once for each rank that passes it.",
        only=(_ALL_REDUCES[0], _ALL_REDUCES[2], _NORMS[0], _NORMS[2]),
    ),
    Paragraph(
        "bias : Tensor, optional",
        "Shape ``(n,)``; dtype int32. Added before the scales, once for each rank that passes it.",
        only=(_ALL_REDUCES[1], _NORMS[1]),
    ),
    Paragraph(
        "x3 : Tensor, optional",
        "Shape and dtype of the result. Added once for each rank that passes it.",
    ),
    Paragraph(
        "antiquant_offset : Tensor, optional",
        "Shape and dtype of ``antiquant_scale``; default is 0.",
    ),
    Paragraph(
        "antiquant_group_size : int, default 0",
        "Number of rows of ``x2`` that share a scale: 0 for all rows, else a multiple of 32 below"
        " ``k``.",
    ),
    Paragraph(
        "residual : Tensor",
        "Shape ``(b, s, n)``; dtype float16 | bfloat16, that of the result; the same on every"
        " rank.",
    ),
    Paragraph("gamma : Tensor", "Factors of the norm. Shape ``(n,)``; dtype of ``residual``."),
    Paragraph("epsilon : float, default 1e-6", "Added to the mean of the squares."),
    Paragraph("inplace : bool, default False", "Write ``y`` into ``residual`` and return that."),
)


def modules() -> list[Path]:
    """Return the modules whose functions share paragraphs."""
    names = ("collectives", "reductions", "point_to_point")
    collectives = [DISTRIBUTED / f"{name}.py" for name in names]
    return [*collectives, *sorted(DISTRIBUTED.glob("fused/*.py"))]


def synchronized(source: str) -> str:
    """Return the source of a module with the shared paragraphs as the table has them.

    Parameters
    ----------
    source : str
        Python.

    Returns
    -------
    str
        Differs only in the text below headings of the table.
    """
    lines = source.splitlines()
    for start, end, paragraph in sorted(_copies(source), key=lambda copy: -copy[0]):
        margin = lines[start - 1][: -len(lines[start - 1].lstrip())] + _INDENT
        lines[start:end] = textwrap.wrap(
            paragraph.text, _WIDTH, initial_indent=margin, subsequent_indent=margin
        )
    return "\n".join(lines) + "\n"


def uses(source: str) -> list[Paragraph]:
    """Return the paragraphs of the table that a module has, once for each copy."""
    return [paragraph for _, _, paragraph in _copies(source)]


def _copies(source: str) -> Iterator[tuple[int, int, Paragraph]]:
    """Yield the first line below a heading, the line after the paragraph, and the paragraph."""
    lines = source.splitlines()
    for function in ast.parse(source).body:
        if not isinstance(function, ast.FunctionDef) or ast.get_docstring(function) is None:
            continue
        docstring = function.body[0]
        assert docstring.end_lineno is not None
        for number in range(docstring.lineno, docstring.end_lineno):
            paragraph = _paragraph(lines[number].strip(), function.name)
            if paragraph is not None:
                margin = lines[number][: -len(lines[number].lstrip())] + _INDENT
                end = number + 1
                while lines[end].startswith(margin):
                    end += 1
                yield number + 1, end, paragraph


def _paragraph(heading: str, function: str) -> Paragraph | None:
    for row in TABLE:
        meant = function in row.only if row.only else function not in row.but
        if row.heading == heading and meant:
            return row
    return None


def main() -> None:
    """Write the paragraphs of the table into the modules."""
    for path in modules():
        path.write_text(synchronized(path.read_text()))


if __name__ == "__main__":
    main()
