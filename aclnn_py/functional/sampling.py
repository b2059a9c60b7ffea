# SPDX-License-Identifier: Apache-2.0
"""Tokens chosen from logits, and indices drawn from weights."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.functional.drawing import Replayed, next_place, signed
from aclnn_py.operators.describe.argument_errors import expect_tensors, expect_whole
from aclnn_py.random.generator import Generator
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = ["apply_top_k_top_p", "multinomial", "top_k_top_p_sample"]

# The largest k that the operator sorts; with a larger one it keeps every token.
_MOST_K = 1024
# How many tokens the operator tries first; no result depends on it.
_GUESS = 32


def apply_top_k_top_p(
    logits: Tensor,
    k: Tensor | None = None,
    p: Tensor | None = None,
    *,
    stream: Stream | None = None,
) -> Tensor:
    """Replace the logits of unlikely tokens by -inf.

    First top-k keeps the ``k`` largest logits of each row and those that equal the smallest of
    them. Then top-p keeps the likeliest tokens whose probabilities add up to ``p``.

    Parameters
    ----------
    logits : Tensor
        Shape ``(rows, tokens)``; dtype float16 | bfloat16 | float32.
    k : Tensor, optional
        int32 of shape ``(rows,)``; a value below 1, or not below ``tokens``, keeps all.
    p : Tensor, optional
        Shape ``(rows,)``, dtype of ``logits``, values 0 to 1. The likeliest token always stays.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        Shape and dtype of ``logits``.

    Raises
    ------
    AclnnError
        161001 both ``k`` and ``p`` are None; 161002 a dtype or a shape is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnApplyTopKTopP (``include/aclnnop/index.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(logits=logits)
    out = empty(logits.shape, logits.dtype_name, device=logits.device)
    ops.apply_top_k_top_p(logits, p, k, out, stream=stream)
    return out


def top_k_top_p_sample(
    logits: Tensor,
    top_k: Tensor,
    top_p: Tensor,
    *,
    q: Tensor | None = None,
    min_p: Tensor | None = None,
    eps: float = 1e-8,
    stream: Stream | None = None,
) -> Tensor:
    """Choose one token of each row of logits.

    The filters keep the likeliest tokens. Without ``q`` the likeliest of them is chosen. With ``q``
    it is the one with the largest probability / (``q`` + ``eps``): exponential numbers in ``q``
    make that a draw by probability.

    Parameters
    ----------
    logits : Tensor
        Shape ``(rows, tokens)``; dtype float16 | bfloat16 | float32.
    top_k : Tensor
        int32 of shape ``(rows,)``: how many tokens stay. A value above 1024 or ``tokens`` keeps
        all, and so does 0.
    top_p : Tensor
        Shape ``(rows,)``, dtype of ``logits``. A token stays while the probabilities of the
        likelier ones add up to at most this; 1 keeps all.
    q : Tensor, optional
        float32 in the shape of ``logits``, read in the order of the kept tokens: the likeliest
        first, or as they lie where nothing is filtered.
    min_p : Tensor, optional
        Shape ``(rows,)``, dtype of ``logits``: the smallest probability that stays, as a part of
        the largest one.
    eps : float, default 1e-8
        Added to ``q``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        int64 of shape ``(rows,)``: the index of a token in its row.

    Raises
    ------
    AclnnError
        161002 a dtype or a shape is refused; 561002 a row has more than 2**20 tokens.
    SymbolNotFoundError
        The loaded library predates the operator.

    Notes
    -----
    Logits of float32 and ``min_p`` need the second version of the operator.

    Source
    ------
    aclnnTopKTopPSample, aclnnTopKTopPSampleV2 (``include/aclnnop/index.h``), CANN later than
    8.1.RC1.
    """
    expect_tensors(logits=logits)
    device = logits.device
    token = empty(logits.shape[:1], "int64", device=device)
    selected = empty(logits.shape, "float32", device=device)
    if min_p is None and logits.dtype_name != "float32":
        ops.top_k_top_p_sample(
            logits, top_k, top_p, q, eps, False, _GUESS, token, selected, stream=stream
        )
        return token
    places = empty(logits.shape, "int64", device=device)
    ops.top_k_top_p_sample_v2(
        *(logits, top_k, top_p, q, min_p, eps, False, _GUESS, _MOST_K, True, False),
        *(token, selected, places, selected),
        stream=stream,
    )
    return token


def multinomial(
    input: Tensor,
    num_samples: int,
    replacement: bool = False,
    *,
    generator: Generator | None = None,
    seed: int | None = None,
    offset: int | None = None,
    stream: Stream | None = None,
) -> Tensor:
    """Draw indices from rows of weights.

    Parameters
    ----------
    input : Tensor
        Weights, 0 or larger; shape ``(weights,)`` or ``(rows, weights)``; dtype float16 | bfloat16
        | float32 | float64. They need not add up to 1.
    num_samples : int
        Draws from each row.
    replacement : bool, default False
        Whether an index may be drawn again.
    generator : Generator, optional
        Where the numbers come from; default is the generator of the device.
    seed : int, optional
        Seed of the sequence, instead of a generator; 0 where only ``offset`` is given.
    offset : int, optional
        Place in the sequence of ``seed``; default is 0.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        int64 of shape ``(num_samples,)`` or ``(rows, num_samples)``.

    Raises
    ------
    TypeError
        ``generator`` is no Generator.
    InvalidArgumentError
        ``generator`` stands beside ``seed`` or ``offset``.
    AclnnError
        161002 a dtype, a shape or ``num_samples`` is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Notes
    -----
    Draws with replacement take one number for each result, draws without it one for each weight. In
    a graph or a sequence each replay draws anew.

    Source
    ------
    aclnnMultinomial (``include/aclnnop/random.h``), CANN >= 8.1.RC1; aclnnMultinomialTensor, CANN
    later than 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_whole(num_samples=num_samples)
    out = empty((*input.shape[:-1], max(num_samples, 0)), "int64", device=input.device)
    place = next_place(out if replacement else input, generator, seed, offset, stream)
    if isinstance(place, Replayed):
        ops.multinomial_tensor(
            *(input, num_samples, replacement, place.seed, place.offset, place.start, out),
            stream=stream,
        )
    else:
        seed_, offset_ = signed(place.seed), place.offset
        ops.multinomial(input, num_samples, replacement, seed_, offset_, out, stream=stream)
    return out
