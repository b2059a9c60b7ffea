# SPDX-License-Identifier: Apache-2.0
"""Recurrent networks, LSTM and GRU, and their gradients.

The parameters of a network are a list: for each layer the weights of the input, those of the hidden
state and, with ``bias``, the biases of both; those of the way back follow those of the way forth.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from aclnn_py import ops
from aclnn_py.errors import InvalidArgumentError
from aclnn_py.functional.arguments import expect_optional
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.runtime.stream import Stream
from aclnn_py.tensor.creation import empty
from aclnn_py.tensor.tensor import Tensor

__all__ = ["gru", "gru_backward", "lstm", "lstm_backward", "lstm_cell", "lstm_cell_backward"]

Kept = tuple[list[Tensor], ...]
_LSTM_PLANES, _GRU_PLANES = 7, 5


def lstm(
    input: Tensor,
    params: Sequence[Tensor],
    hx: Sequence[Tensor] | None = None,
    *,
    num_layers: int = 1,
    bias: bool = True,
    bidirectional: bool = False,
    batch_first: bool = False,
    batch_sizes: Tensor | None = None,
    train: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor, Kept]:
    """Run a long short-term memory network over sequences.

    ``i, f, g, o = W x + b + V h + d`` with sigmoids, and tanh for ``g``; ``c = f c + i g`` and
    ``h = o tanh(c)``. Rows of the weights are those of i, f, g, o.

    Parameters
    ----------
    input : Tensor
        Shape ``(times, batch, input_size)``, or ``(batch, times, input_size)`` with
        ``batch_first``; with ``batch_sizes`` ``(times * batch, input_size)``. dtype float32 |
        float16.
    params : sequence of Tensor
        Weights of shape ``(4 * hidden, input_size)`` and ``(4 * hidden, hidden)``, biases of shape
        ``(4 * hidden,)``; later layers take the output of the layer below. dtype of ``input``.
    hx : sequence of Tensor, optional
        Initial hidden and cell states, each of shape ``(layers * directions, batch, hidden)``;
        default is 0.
    num_layers : int, default 1
        Number of layers.
    bias : bool, default True
        Whether ``params`` has biases.
    bidirectional : bool, default False
        Whether each layer also runs from the end to the start.
    batch_first : bool, default False
        Whether the batch is the first dimension of input and output.
    batch_sizes : Tensor, optional
        Sequences at each time, in descending order, for sequences sorted by length. Shape
        ``(times,)``; dtype int64.
    train : bool, default False
        Whether to return what `lstm_backward` needs.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple
        The output, ``(times, batch, directions * hidden)`` or as ``batch_first`` has it; the last
        hidden and cell states in the shape of the initial ones; and i, g, f, o, h, c, tanh(c) of
        all times, each a list of a tensor per layer and direction: an empty tuple without
        ``train``.

    Raises
    ------
    AclnnError
        161002 a shape or dtype is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnLSTM (``include/aclnnop/rnn.h``), CANN later than 8.1.RC1.
    """
    times, batch, hidden = _sizes(input, params, batch_first, batch_sizes)
    runs = num_layers * (2 if bidirectional else 1)
    rows = (batch, times) if batch_first and batch_sizes is None else (times, batch)
    output = _like(input, (*rows, (2 if bidirectional else 1) * hidden))
    hy, cy = (_like(input, (runs, batch, hidden)) for _ in range(2))
    kept = _planes(input, _LSTM_PLANES, runs if train else 0, (times, batch, hidden))
    arguments: tuple[Any, ...] = (
        input,
        params,
        hx,
        batch_sizes,
        bias,
        num_layers,
        0.0,
        train,
        bidirectional,
        batch_first,
        output,
        hy,
        cy,
        *kept,
    )
    ops.lstm(*arguments, stream=stream)
    return output, hy, cy, kept if train else ()


def lstm_backward(
    input: Tensor,
    params: Sequence[Tensor],
    hx: Sequence[Tensor],
    kept: Kept,
    grad_output: Tensor | None = None,
    grad_hy: Tensor | None = None,
    grad_cy: Tensor | None = None,
    *,
    num_layers: int = 1,
    bias: bool = True,
    bidirectional: bool = False,
    batch_first: bool = False,
    batch_sizes: Tensor | None = None,
    stream: Stream | None = None,
) -> tuple[Tensor, list[Tensor], Tensor, Tensor]:
    """Compute the gradient of `lstm`.

    Parameters
    ----------
    input : Tensor
        The input of `lstm`.
    params : sequence of Tensor
        The parameters of the network.
    hx : sequence of Tensor
        The initial hidden and cell states.
    kept : tuple of list of Tensor
        What `lstm` with ``train`` returned last.
    grad_output : Tensor, optional
        Gradient of the output, in its shape; with ``batch_sizes`` ``(times * batch, directions *
        hidden)``. Default is 0.
    grad_hy, grad_cy : Tensor, optional
        Gradients of the last states, in their shape; default is 0.
    num_layers : int, default 1
        Number of layers.
    bias : bool, default True
        Whether ``params`` has biases.
    bidirectional : bool, default False
        Whether each layer also ran from the end to the start.
    batch_first : bool, default False
        Whether the batch is the first dimension of input and output.
    batch_sizes : Tensor, optional
        Sequences at each time, as `lstm` had them.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple
        Gradients of the input, of each parameter, and of the initial hidden and cell states.

    Raises
    ------
    AclnnError
        161002 a shape or dtype is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnLstmBackward (``include/aclnnop/rnn.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(input=input)
    expect_optional(grad_output=grad_output, grad_hy=grad_hy, grad_cy=grad_cy)
    _expect_kept(kept, _LSTM_PLANES)
    to_input = _like(input, input.shape)
    to_states = [_like(input, state.shape) for state in hx]
    if len(to_states) != 2:
        raise InvalidArgumentError(f"hx: expected 2 tensors, got {len(to_states)}")
    to_params = [_like(input, one.shape) for one in params]
    arguments: tuple[Any, ...] = (
        input,
        hx,
        params,
        grad_output,
        grad_hy,
        grad_cy,
        *kept,
        batch_sizes,
        bias,
        num_layers,
        0.0,
        True,
        bidirectional,
        batch_first,
        None,
        to_input,
        *to_states,
        to_params,
    )
    ops.lstm_backward(*arguments, stream=stream)
    return to_input, to_params, to_states[0], to_states[1]


def gru(
    input: Tensor,
    params: Sequence[Tensor],
    hx: Tensor | None = None,
    *,
    num_layers: int = 1,
    bias: bool = True,
    bidirectional: bool = False,
    batch_first: bool = False,
    batch_sizes: Tensor | None = None,
    train: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Kept]:
    """Run a network of gated recurrent units over sequences.

    ``r, z`` are sigmoids of ``W x + b + V h + d``, ``n = tanh(W x + b + r (V h + d))`` and
    ``h = (1 - z) n + z h``. Rows of the weights are those of r, z, n.

    Parameters
    ----------
    input : Tensor
        Shape ``(times, batch, input_size)``, or ``(batch, times, input_size)`` with
        ``batch_first``; with ``batch_sizes`` ``(sum of batch_sizes, input_size)``. dtype float32 |
        float16.
    params : sequence of Tensor
        Weights of shape ``(3 * hidden, input_size)`` and ``(3 * hidden, hidden)``, biases of shape
        ``(3 * hidden,)``; later layers take the output of the layer below. dtype of ``input``.
    hx : Tensor, optional
        Initial states of shape ``(layers * directions, batch, hidden)``; default is 0. With
        ``batch_sizes`` it is needed, because it tells the batch.
    num_layers : int, default 1
        Number of layers.
    bias : bool, default True
        Whether ``params`` has biases.
    bidirectional : bool, default False
        Whether each layer also runs from the end to the start.
    batch_first : bool, default False
        Whether the batch is the first dimension of input and output.
    batch_sizes : Tensor, optional
        Sequences at each time, in descending order, for sequences sorted by length. Shape
        ``(times,)``; dtype int64.
    train : bool, default False
        Whether to return what `gru_backward` needs.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple
        The output, with ``directions * hidden`` for ``input_size``; the last states in the shape of
        the initial ones; and r, z, n, the hidden part of n, h of all times, each a list of a tensor
        per layer and direction: an empty tuple without ``train``.

    Raises
    ------
    InvalidArgumentError
        ``hx`` is absent and ``batch_sizes`` is given.
    AclnnError
        161002 a shape or dtype is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnGRU (``include/aclnnop/rnn.h``), CANN later than 8.1.RC1.
    """
    times, batch, hidden = _sizes(input, params, batch_first, None)
    if batch_sizes is not None:
        if hx is None:
            raise InvalidArgumentError("hx: expected a tensor where batch_sizes is given, got None")
        batch = hx.shape[1] if hx.ndim > 1 else 0
    runs = num_layers * (2 if bidirectional else 1)
    rows: tuple[int, ...] = input.shape[:-1]
    output = _like(input, (*rows, (2 if bidirectional else 1) * hidden))
    hy = _like(input, (runs, batch, hidden))
    plane = (*rows, hidden) if batch_sizes is not None else (times, batch, hidden)
    kept = _planes(input, _GRU_PLANES, runs if train else 0, plane)
    lists = kept if train else (None,) * _GRU_PLANES
    arguments: tuple[Any, ...] = (
        input,
        params,
        hx,
        batch_sizes,
        bias,
        num_layers,
        0.0,
        train,
        bidirectional,
        batch_first,
        output,
        hy,
        *lists,
    )
    ops.gru(*arguments, stream=stream)
    return output, hy, kept if train else ()


def gru_backward(
    input: Tensor,
    params: Sequence[Tensor],
    hx: Tensor,
    kept: Kept,
    grad_output: Tensor,
    grad_hy: Tensor,
    *,
    num_layers: int = 1,
    bias: bool = True,
    bidirectional: bool = False,
    batch_first: bool = False,
    stream: Stream | None = None,
) -> tuple[Tensor, list[Tensor], Tensor]:
    """Compute the gradient of `gru` for sequences of one length.

    Parameters
    ----------
    input : Tensor
        The input of `gru`.
    params : sequence of Tensor
        The parameters of the network.
    hx : Tensor
        The initial states.
    kept : tuple of list of Tensor
        What `gru` with ``train`` returned last.
    grad_output : Tensor
        Gradient of the output, in its shape.
    grad_hy : Tensor
        Gradient of the last states, in their shape.
    num_layers : int, default 1
        Number of layers.
    bias : bool, default True
        Whether ``params`` has biases.
    bidirectional : bool, default False
        Whether each layer also ran from the end to the start.
    batch_first : bool, default False
        Whether the batch is the first dimension of input and output.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple
        Gradients of the input, of each parameter, and of the initial states.

    Raises
    ------
    AclnnError
        161002 a shape or dtype is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnGRUBackward (``include/aclnnop/rnn.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(input=input, hx=hx, grad_output=grad_output, grad_hy=grad_hy)
    _expect_kept(kept, _GRU_PLANES)
    to_input, to_states = _like(input, input.shape), _like(input, hx.shape)
    to_params = [_like(input, one.shape) for one in params]
    arguments: tuple[Any, ...] = (
        input,
        params,
        hx,
        grad_output,
        grad_hy,
        *kept,
        None,
        bias,
        num_layers,
        bidirectional,
        batch_first,
        to_input,
        to_states,
        to_params,
    )
    ops.gru_backward(*arguments, stream=stream)
    return to_input, to_params, to_states


def lstm_cell(
    input_gates: Tensor,
    hidden_gates: Tensor,
    cx: Tensor,
    input_bias: Tensor | None = None,
    hidden_bias: Tensor | None = None,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Finish one step of a long short-term memory cell, given the products with its weights.

    The gates lie beside each other in the order i, g, f, o, which is not that of `lstm`.

    Parameters
    ----------
    input_gates, hidden_gates : Tensor
        The input and the hidden state times their weights. Shape ``(batch, 4 * hidden)``; dtype
        float32 | float16.
    cx : Tensor
        The cell before the step. Shape ``(batch, hidden)``; dtype of ``input_gates``.
    input_bias, hidden_bias : Tensor, optional
        Added to the gates; both or none. Shape ``(4 * hidden,)``; dtype of ``input_gates``.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple of Tensor
        The hidden state and the cell after the step, in the shape of ``cx``, and the activated
        gates, in the shape of ``input_gates``, which `lstm_cell_backward` needs.

    Raises
    ------
    AclnnError
        161002 a shape or dtype is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnThnnFusedLstmCell (``include/aclnnop/rnn.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(input_gates=input_gates, hidden_gates=hidden_gates, cx=cx)
    expect_optional(input_bias=input_bias, hidden_bias=hidden_bias)
    hy, cy, gates = _like(cx, cx.shape), _like(cx, cx.shape), _like(cx, input_gates.shape)
    ops.thnn_fused_lstm_cell(
        *(input_gates, hidden_gates, cx, input_bias, hidden_bias, hy, cy, gates), stream=stream
    )
    return hy, cy, gates


def lstm_cell_backward(
    grad_hy: Tensor | None,
    grad_cy: Tensor | None,
    cx: Tensor,
    cy: Tensor,
    gates: Tensor,
    *,
    stream: Stream | None = None,
) -> tuple[Tensor, Tensor, Tensor]:
    """Compute the gradient of `lstm_cell`.

    Parameters
    ----------
    grad_hy, grad_cy : Tensor or None
        Gradients of the hidden state and the cell after the step; None counts as 0. Shape
        ``(batch, hidden)``; dtype float32 | float16.
    cx, cy : Tensor
        The cell before and after the step.
    gates : Tensor
        The activated gates that `lstm_cell` returned.
    stream : Stream, optional
        Stream to queue the work on; default is the current one. The call returns before the device
        finishes.

    Returns
    -------
    tuple of Tensor
        Gradients of the gates, which both products share, of the cell before the step, and of
        either bias.

    Raises
    ------
    AclnnError
        161002 a shape or dtype is refused.
    SymbolNotFoundError
        The loaded library predates the operator.

    Source
    ------
    aclnnThnnFusedLstmCellBackward (``include/aclnnop/rnn.h``), CANN later than 8.1.RC1.
    """
    expect_tensors(cx=cx, cy=cy, gates=gates)
    expect_optional(grad_hy=grad_hy, grad_cy=grad_cy)
    to_gates, to_cell = _like(gates, gates.shape), _like(cx, cx.shape)
    to_bias = _like(gates, gates.shape[-1:])
    ops.thnn_fused_lstm_cell_backward(
        *(grad_hy, grad_cy, cx, cy, gates, True, to_gates, to_cell, to_bias), stream=stream
    )
    return to_gates, to_cell, to_bias


def _like(model: Tensor, shape: tuple[int, ...]) -> Tensor:
    return empty(shape, model.dtype_name, device=model.device)


def _planes(model: Tensor, count: int, runs: int, shape: tuple[int, ...]) -> Kept:
    return tuple([_like(model, shape) for _ in range(runs)] for _ in range(count))


def _expect_kept(kept: Kept, count: int) -> None:
    if len(kept) != count:
        raise InvalidArgumentError(
            f"kept: expected the {count} lists that the forward function returns with train=True, "
            f"got {len(kept)}"
        )


def _sizes(
    input: Tensor, params: Sequence[Tensor], batch_first: bool, batch_sizes: Tensor | None
) -> tuple[int, int, int]:
    """Times, batch and hidden size; what the operator refuses may count as 0."""
    expect_tensors(input=input)
    if len(params) < 2:
        raise InvalidArgumentError(f"params: expected two tensors or more, got {len(params)}")
    hidden = params[1].shape[-1] if params[1].ndim else 0
    if batch_sizes is not None:
        times = batch_sizes.shape[0] if batch_sizes.ndim else 0
        return times, input.shape[0] // times if times and input.ndim else 0, hidden
    if input.ndim != 3:
        return 0, 0, hidden
    times, batch = input.shape[:2]
    return (batch, times, hidden) if batch_first else (times, batch, hidden)
