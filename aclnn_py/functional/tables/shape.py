# SPDX-License-Identifier: Apache-2.0
"""Copies that join, repeat, cut or reorder."""

from __future__ import annotations

from aclnn_py.functional.row import Call, Output, Row

__all__ = ["ROWS"]

_SAME = Output("Of the same shape and dtype.")

ROWS = (
    Row("cat", "tensors: Sequence[Tensor], dim: int = 0",
        "Put tensors one after the other along a dimension.",
        (Output("The joined tensor; the promoted dtype.", "joined_shape(tensors, dim)",
                "promote(*tensors)"),),
        ("cat(tensors, dim, out)",), {"tensors": "Of equal shapes outside the dimension."}),
    Row("stack", "tensors: Sequence[Tensor], dim: int = 0",
        "Put tensors of one shape along a new dimension.",
        (Output("The stacked tensor; the promoted dtype.", "stacked_shape(tensors, dim)",
                "promote(*tensors)"),),
        ("stack(tensors, dim, out)",),
        {"tensors": "Of one shape.", "dim": "Where the new dimension stands in the result."}),
    Row("pad", "input: Tensor, pad: Sequence[int], mode: str = 'constant', value: Number = 0",
        "Add elements around a tensor.",
        (Output("The padded tensor; the same dtype.", "pad_shape(input.shape, pad)"),),
        (*(Call(f"mode == '{mode}' and len(pad) == {2 * n}",
                (f"{operator}_pad{n}d(input, pad, out)",))
           for mode, operator in (("reflect", "reflection"), ("replicate", "replication"))
           for n in (1, 2, 3)),
         "constant_pad_nd(input, pad, value, out)"),
        {"pad": "Elements before and after, in pairs, for the last dimension first.",
         "mode": "'constant'; 'reflect' repeats the elements next to the border backwards, "
         "'replicate' those at the border, both for one to three dimensions behind batch and "
         "channels.",
         "value": "What is added in the mode 'constant'."},
        checks=("check_margins(pad, mode)",)),
    Row("narrow_copy", "input: Tensor, dim: int, start: int, length: int",
        "Copy a range of one dimension.",
        (Output("The copy; ``length`` long in the dimension.",
                "replaced(input.shape, dim, length)"),),
        ("slice(input, dim, start, start + length, 1, out)",),
        {"start": "First index.", "length": "How many."}),
    Row("tile", "input: Tensor, dims: Sequence[int]", "Repeat a tensor along its dimensions.",
        (Output("The repeated tensor; the same dtype.", "tiled_shape(input.shape, dims)"),),
        ("repeat(input, whole_repeats(input.shape, dims), out)",),
        {"dims": "How often, one number per dimension; missing leading ones are 1."}),
    Row("repeat_interleave", "input: Tensor, repeats: int, dim: int",
        "Repeat every element along a dimension.",
        (Output("``repeats`` times as long in the dimension.",
                "replaced(input.shape, dim, input.shape[dim] * repeats)"),),
        ("repeat_interleave_int_with_dim(input, repeats, dim, input.shape[dim] * repeats, out)",),
        {"repeats": "How often."}),
    Row("permute_copy", "input: Tensor, dims: Sequence[int]",
        "Copy with the dimensions in another order.",
        (Output("Dimension ``i`` is dimension ``dims[i]`` of ``input``.",
                "tuple(input.shape[dim] for dim in dims)"),),
        ("permute(input, dims, out)",), {"dims": "The dimensions, each once."}),
    Row("flip", "input: Tensor, dims: Sequence[int]", "Reverse dimensions.", (_SAME,),
        ("flip(input, dims, out)",), {"dims": "The dimensions."}),
    Row("roll", "input: Tensor, shifts: Sequence[int], dims: Sequence[int]",
        "Move elements along dimensions; what leaves at the end enters at the start.", (_SAME,),
        ("roll(input, shifts, dims, out)",),
        {"shifts": "How far, one number per dimension.", "dims": "The dimensions."}),
    Row("tril", "input: Tensor, diagonal: int = 0",
        "Keep the lower triangle of matrices and clear the rest.", (_SAME,),
        ("tril(input, diagonal, out)",),
        {"diagonal": "The last diagonal kept; 0 is the main one."}),
    Row("triu", "input: Tensor, diagonal: int = 0",
        "Keep the upper triangle of matrices and clear the rest.", (_SAME,),
        ("triu(input, diagonal, out)",),
        {"diagonal": "The first diagonal kept; 0 is the main one."}),
    Row("rotary_position_embedding", "input: Tensor, cos: Tensor, sin: Tensor, mode: int = 0",
        "Rotate pairs of elements by the angles of their positions.", (_SAME,),
        ("rotary_position_embedding(input, cos, sin, mode, out)",),
        {"cos": "Cosines of the angles.", "sin": "Sines of the angles.",
         "mode": "0 pairs the halves, 1 neighbours, 2 quarters."}),
)  # fmt: skip
