# SPDX-License-Identifier: Apache-2.0
"""Keys and values written into the pages of a cache."""

from __future__ import annotations

from collections.abc import Sequence

from aclnn_py import ops
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["scatter_pa_kv_cache"]


def scatter_pa_kv_cache(
    key: Tensor,
    value: Tensor,
    key_cache: Tensor,
    value_cache: Tensor,
    slot_mapping: Tensor,
    *,
    compress_lens: Tensor | None = None,
    compress_seq_offset: Tensor | None = None,
    seq_lens: Tensor | None = None,
    cache_mode: str | None = None,
    scatter_mode: str | None = None,
    strides: Sequence[int] | None = None,
    offsets: Sequence[int] | None = None,
    stream: Stream | None = None,
) -> None:
    """Write keys and values of tokens into the pages of a cache, in place.

    Parameters
    ----------
    key : Tensor
        Shape ``(tokens, heads, width)``; dtype as ``key_cache``.
    value : Tensor
        Shape ``(tokens, heads, value width)``; dtype as ``value_cache``.
    key_cache : Tensor
        Written. Shape ``(pages, page size, heads, width)``, or with 'PA_NZ' in blocks of 32 bytes,
        ``(pages, heads * width / block, page size, block)``.
    value_cache : Tensor
        Written. The same for values.
    slot_mapping : Tensor
        Where each token goes: ``page * page size + place``. int32 or int64, shape ``(tokens,)``.
    compress_lens : Tensor, optional
        For the forms that compress: how many tokens of each sequence and head stay.
    compress_seq_offset : Tensor, optional
        For the forms that compress: where they begin.
    seq_lens : Tensor, optional
        For the forms that compress: number of tokens of each sequence.
    cache_mode : str, optional
        'Norm' (the default) or 'PA_NZ'.
    scatter_mode : str, optional
        'None' (the default), 'Nct', 'NHSD' (heads of a page in front of its places), or 'Alibi',
        'Rope' and 'Omni', which compress.
    strides : sequence of int, optional
        For 'Nct': distance of tokens in ``key`` and ``value``.
    offsets : sequence of int, optional
        For 'Nct': where the tokens begin.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Raises
    ------
    AclnnError
        161002 a dtype, shape or attribute is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Notes
    -----
    A slot outside the cache is a fault of the device: the next synchronization raises.

    Source
    ------
    aclnnScatterPaKvCache (``include/aclnnop/attention.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(
        key=key,
        value=value,
        key_cache=key_cache,
        value_cache=value_cache,
        slot_mapping=slot_mapping,
    )
    expect_optional(
        compress_lens=compress_lens, compress_seq_offset=compress_seq_offset, seq_lens=seq_lens
    )
    ops.scatter_pa_kv_cache(
        *(key, key_cache, slot_mapping, value, value_cache, compress_lens, compress_seq_offset),
        *(seq_lens, cache_mode, scatter_mode, strides, offsets),
        stream=stream,
    )
