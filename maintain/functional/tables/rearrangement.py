# SPDX-License-Identifier: Apache-2.0
"""Copies that join, repeat, cut or reorder tensors."""

from __future__ import annotations

from maintain.functional.row import Call, Output, Row
from maintain.functional.tables.forms import SAME

__all__ = ["ROWS"]

ROWS = (
    Row("cat", "tensors: Sequence[Tensor], dim: int = 0", "Join tensors along a dimension.",
        (Output("Lengths in ``dim`` added up; the promoted dtype.", "joined_shape(tensors, dim)",
                "promote(*tensors)"),),
        ("cat(tensors, dim, out)",),
        {"tensors": "At least one; the shapes are equal except in ``dim``."}),
    Row("stack", "tensors: Sequence[Tensor], dim: int = 0",
        "Join tensors of one shape along a new dimension.",
        (Output("One dimension more than each tensor; the promoted dtype.",
                "stacked_shape(tensors, dim)", "promote(*tensors)"),),
        ("stack(tensors, dim, out)",),
        {"tensors": "At least one; all of the same shape.",
         "dim": "Position of the new dimension in the result."}),
    Row("pad", "input: Tensor, pad: Sequence[int], mode: str = 'constant', value: Number = 0",
        "Add elements around a tensor.",
        (Output("Padded shape; dtype of ``input``.", "pad_shape(input.shape, pad)"),),
        (*(Call(f"mode == '{mode}' and len(pad) == {2 * n}",
                (f"{operator}_pad{n}d(input, pad, out)",))
           for mode, operator in (("reflect", "reflection"), ("replicate", "replication"))
           for n in (1, 2, 3)),
         "constant_pad_nd(input, pad, value, out)"),
        {"pad": "Number of elements to add before and after each dimension, as pairs; the first "
         "pair is for the last dimension.",
         "mode": "'constant' adds ``value``, 'reflect' mirrors at the border, 'replicate' repeats "
         "the border. The last two take one to three pairs.",
         "value": "Value to add in mode 'constant'."},
        steps=("check_margins(pad, mode)",)),
    Row("narrow_copy", "input: Tensor, dim: int, start: int, length: int",
        "Copy a range of one dimension.",
        (Output("Shape of ``input`` with ``length`` in ``dim``; the same dtype.",
                "replaced(input.shape, dim, length)"),),
        ("slice(input, dim, start, start + length, 1, out)",),
        {"start": "First index.", "length": "Number of indices."},
        steps=("expect_whole(start=start, length=length)",)),
    Row("tile", "input: Tensor, dims: Sequence[int]", "Repeat a tensor along its dimensions.",
        (Output("Repeated shape; dtype of ``input``.", "tiled_shape(input.shape, dims)"),),
        ("repeat(input, whole_repeats(input.shape, dims), out)",),
        {"dims": "Number of repeats of each dimension; missing leading ones are 1."}),
    Row("repeat_interleave", "input: Tensor, repeats: int, dim: int",
        "Repeat each element along a dimension.",
        (Output("Shape of ``input`` with the length in ``dim`` multiplied by ``repeats``; the same "
                "dtype.", "replaced(input.shape, dim, length)"),),
        ("repeat_interleave_int_with_dim(input, repeats, dim, length, out)",),
        {"repeats": "Number of times each element appears."},
        steps=("expect_whole(repeats=repeats)",
               "length = input.shape[axis(dim, input.ndim)] * repeats")),
    Row("permute_copy", "input: Tensor, dims: Sequence[int]",
        "Copy a tensor with its dimensions in another order.",
        (Output("Dimension ``i`` is dimension ``dims[i]`` of ``input``; the same dtype.",
                "permuted_shape(input.shape, dims)"),),
        ("permute(input, dims, out)",), {"dims": "All dimensions of ``input``, each once."}),
    Row("flip", "input: Tensor, dims: Sequence[int]", "Reverse the order along dimensions.",
        (SAME,), ("flip(input, dims, out)",), {"dims": "Dimensions to reverse."}),
    Row("roll", "input: Tensor, shifts: Sequence[int], dims: Sequence[int]",
        "Shift elements along dimensions; those that leave at the end re-enter at the start.",
        (SAME,), ("roll(input, shifts, dims, out)",),
        {"shifts": "Distance for each of ``dims``.", "dims": "Dimensions to shift along."}),
    Row("tril", "input: Tensor, diagonal: int = 0",
        "Keep the lower triangle of matrices and set the rest to zero.", (SAME,),
        ("tril(input, diagonal, out)",),
        {"diagonal": "Last diagonal to keep; 0 is the main diagonal."}),
    Row("triu", "input: Tensor, diagonal: int = 0",
        "Keep the upper triangle of matrices and set the rest to zero.", (SAME,),
        ("triu(input, diagonal, out)",),
        {"diagonal": "First diagonal to keep; 0 is the main diagonal."}),
)  # fmt: skip
