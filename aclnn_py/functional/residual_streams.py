# SPDX-License-Identifier: Apache-2.0
"""Layers between several residual streams."""

from __future__ import annotations

from aclnn_py import ops
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = ["mhc_post", "mhc_pre"]


def mhc_pre(
    x: Tensor,
    phi: Tensor,
    alpha: Tensor,
    bias: Tensor,
    *,
    gamma: Tensor | None = None,
    norm_eps: float = 1e-6,
    hc_eps: float = 1e-6,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Join the residual streams into the input of a layer.

    A projection of all streams of a token, divided by their root mean square, gives the weights:
    the sigmoid of its first part joins the streams, twice that of the second is what `mhc_post`
    writes back with, and the rest mixes the streams.

    Parameters
    ----------
    x : Tensor
        Shape ``(..., streams, width)`` with one or two dimensions in front; dtype float16 |
        bfloat16; format ND. A 910B takes 4 streams and widths that are multiples of 128.
    phi : Tensor
        Rows of the projection: ``streams`` for each of the first two parts and ``streams ** 2`` for
        the third, if there is one. Shape ``(rows, streams * width)``; dtype float32.
    alpha : Tensor
        Factor of each part. Shape ``(3,)``, or ``(2,)`` without the third part; dtype float32.
    bias : Tensor
        Shape ``(rows,)``; dtype float32.
    gamma : Tensor, optional
        Factors of the streams in the projection. Shape ``(streams, width)``; dtype float32.
    norm_eps : float, default 1e-6
        Added to the mean square.
    hc_eps : float, default 1e-6
        Added to the weights that join the streams; without a third part also to those of the
        second.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple of Tensor
        The input of the layer, shape ``(..., width)`` and dtype of ``x``; the weights of
        `mhc_post`, shape ``(..., streams)``, float32; and those that mix the streams, shape
        ``(..., streams, streams)``, float32, all 0 without a third part.

    Raises
    ------
    ValueError
        ``x`` has fewer than two dimensions.
    AclnnError
        161002 an argument is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnMhcPre (``include/aclnnop/mhc.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(x=x)
    if x.ndim < 2:
        raise ValueError(f"x: shape {x.shape} has no streams; expected (..., streams, width)")
    *lead, streams, width = x.shape
    joined = empty((*lead, width), x.dtype, device=x.device)
    post = empty((*lead, streams), "float32", device=x.device)
    mixing = empty((*lead, streams, streams), "float32", device=x.device)
    ops.mhc_pre(
        *(x, phi, alpha, bias, gamma, norm_eps, hc_eps, joined, post, mixing, None, None, None),
        stream=stream,
    )
    return joined, post, mixing


def mhc_post(
    x: Tensor, h_res: Tensor, h_out: Tensor, h_post: Tensor, *, stream: Stream | None = None
) -> Tensor:
    """Mix the residual streams and add the output of a layer to each.

    Parameters
    ----------
    x : Tensor
        The streams. Shape ``(..., streams, width)`` with one or two dimensions in front; dtype
        float16 | bfloat16; format ND. A 910B takes 4 streams and widths that are multiples of 128.
    h_res : Tensor
        How much of stream ``i`` goes to stream ``j``. Shape ``(..., streams, streams)``; dtype
        float32.
    h_out : Tensor
        Output of the layer. Shape ``(..., width)``; dtype of ``x``.
    h_post : Tensor
        How much of it each stream gets. Shape ``(..., streams)``; dtype float32.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    Tensor
        The streams behind the layer, shape and dtype of ``x``.

    Raises
    ------
    AclnnError
        161002 an argument is refused; 561103 the number of streams or the width is.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnMhcPost (``include/aclnnop/mhc.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(x=x)
    out = empty(x.shape, x.dtype, device=x.device)
    ops.mhc_post(x, h_res, h_out, h_post, out, stream=stream)
    return out
