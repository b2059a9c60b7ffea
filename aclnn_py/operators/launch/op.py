# SPDX-License-Identifier: Apache-2.0
"""The class of every operator."""

from __future__ import annotations

import functools
import operator
import threading
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from aclnn_py import late
from aclnn_py._ffi import OpenLibrary, bind_operator, ffi, lib
from aclnn_py._ffi.settings import enabled
from aclnn_py.errors import SymbolNotFoundError
from aclnn_py.operators.describe.argument_errors import not_a_tensor, type_name
from aclnn_py.operators.describe.call_arguments import CallBlock, Token, is_immutable, token_of
from aclnn_py.operators.describe.parameter import Parameter, read_parameters
from aclnn_py.operators.launch.generate import call_function, order_function, remember
from aclnn_py.operators.launch.kept_executors import apply_reuse, may_be_kept
from aclnn_py.runtime.stream import Stream, order, resolve_stream
from aclnn_py.tensor.tensor import Tensor

if TYPE_CHECKING:
    import inspect

__all__ = ["Op"]

_MAX_CALL_BLOCKS = 512


class Op(functools.partial):  # type: ignore[type-arg]
    """One operator of CANN; called, it queues the operator and returns.

    Parameters are those of the C function, in its order, positional or by name, outputs included.
    `stream` is the queue to use; by default the current stream of this thread.

    Attributes
    ----------
    name, c_name : str
        For example "add" and "aclnnAdd".
    parameters : tuple of Parameter
    family : str
        The header of include/aclnnop that declares it.
    library : str
        Path of the library it was found in; "" before the first call.
    """

    # Inheriting from partial keeps calls in C up to the written function; `__call__` in Python
    # would cost as much as the rest of the launch.
    def __new__(cls, raw: Any, provider: OpenLibrary | None = None) -> Op:
        name = ffi.string(raw.name).decode()
        parameters = read_parameters(raw)
        hooks: list[Op] = []
        function = call_function(
            name,
            parameters,
            lookup=lambda values: hooks[0]._lookup(values),
            slow=lambda values, stream: hooks[0]._launch(values, stream),
            settle=lambda code, values, stream: hooks[0]._settle(code, values, stream),
        )
        op = super().__new__(cls, function)
        hooks.append(op)
        op.name = op.__name__ = op.__qualname__ = name
        op.__module__ = "aclnn_py.ops"
        op.__wrapped__ = function  # what `inspect.getsource` shows
        op.c_name = ffi.string(raw.c_name).decode()
        op.family = ffi.string(raw.family).decode()
        op.summary = ffi.string(raw.summary).decode()
        op.parameters = parameters
        op.library = ""
        op._raw = raw
        op._provider = provider
        op._order = None
        op._blocks = {}
        op._recent = ([], [], None)
        op._lock = threading.Lock()
        return op

    name: str
    __name__: str
    __qualname__: str
    __wrapped__: Callable[..., None]
    c_name: str
    family: str
    summary: str
    library: str
    parameters: tuple[Parameter, ...]
    _raw: Any
    _provider: OpenLibrary | None
    _order: Callable[..., tuple[object, ...]] | None
    _blocks: dict[tuple[object, ...], CallBlock]
    _recent: tuple[list[object], list[int | None], CallBlock | None]
    _lock: threading.Lock

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return str(late.documentation.docstring(self))

    @property
    def __signature__(self) -> inspect.Signature:
        signature: inspect.Signature = late.documentation.signature(self)
        return signature

    def __repr__(self) -> str:
        return (
            f"<operator {self.name}: {self.c_name}({', '.join(p.name for p in self.parameters)})>"
        )

    def __reduce__(self) -> Any:
        if self._provider is not None:
            raise TypeError(f"{self!r} was declared at run time and cannot be pickled")
        return self.name  # pickle finds it by that name in ``ops``

    @property
    def since(self) -> str:
        """First release of CANN known to have the operator, or ""."""
        return str(late.documentation.since(self.c_name))

    def available(self) -> bool:
        """Whether the loaded libraries have the operator."""
        try:
            self.bind()
        except SymbolNotFoundError:
            return False
        return True

    def bind(self) -> None:
        """Find the C functions now, which a launch otherwise does when it needs them.

        Raises
        ------
        SymbolNotFoundError
            The loaded libraries do not have the operator.
        """
        if not self.library:
            if not may_be_kept(self.parameters):
                self.keep_no_executor()
            self.library = bind_operator(self._raw, self._provider, lambda: self.since)

    def keep_no_executor(self) -> None:
        """Let every launch from now on go through both phases."""
        self._raw.single_use = 1

    def arguments(self, *args: object, **kwargs: object) -> tuple[object, ...]:
        """Return the arguments in C order."""
        if self._order is None:
            self._order = order_function(self.name, self.parameters)
        return self._order(*args, **kwargs)

    def call_block(self, values: Sequence[object]) -> tuple[CallBlock, list[Any], list[object]]:
        """Check arguments in C order; return their call block, tensor structures and tensors."""
        self.bind()
        descs: list[Any] = []
        tensors: list[object] = []
        lengths: list[int | None] = []
        attributes: list[object] = []
        for parameter, value in zip(self.parameters, values, strict=True):
            kind = parameter.kind
            if kind == "T":
                descs.append(value._desc if type(value) is Tensor else _desc(parameter.name, value))
                tensors.append(value)
            elif kind == "L":
                lengths.append(_flatten_list(parameter.name, value, descs, tensors))
            else:
                attributes.append(value)
        # Most calls repeat the last one with other tensors.
        known, known_lengths, block = self._recent
        same = len(known) == len(attributes) and all(map(operator.is_, known, attributes))
        if not same or block is None or known_lengths != lengths:
            block = self._block_for(attributes, tuple(lengths))
            if all(map(is_immutable, attributes)):
                self._recent = (attributes, lengths, block)
        return block, descs, tensors

    def own_block(self, values: Sequence[object]) -> tuple[CallBlock, list[Any], list[object]]:
        """As `call_block`, with a block that belongs to the caller alone."""
        _shared, descs, tensors = self.call_block(values)
        pairs = list(zip(self.parameters, values, strict=True))
        tokens = tuple(token_of(p, v) for p, v in pairs if not p.is_tensor)
        lists: list[Any] = [value for parameter, value in pairs if parameter.kind == "L"]
        lengths = tuple(None if value is None else len(value) for value in lists)
        return CallBlock(self._raw, self.parameters, tokens, lengths), descs, tensors

    def _block_for(
        self, attributes: Sequence[object], lengths: tuple[int | None, ...]
    ) -> CallBlock:
        parameters = [p for p in self.parameters if not p.is_tensor]
        tokens = tuple(token_of(p, v) for p, v in zip(parameters, attributes, strict=True))
        block = self._block(tokens, lengths)
        block.attributes = tuple(attributes)
        return block

    def _block(self, tokens: tuple[Token, ...], lengths: tuple[int | None, ...]) -> CallBlock:
        key = (tokens, lengths)
        block = self._blocks.get(key)
        if block is None:
            block = CallBlock(self._raw, self.parameters, tokens, lengths)
            with self._lock:
                if len(self._blocks) >= _MAX_CALL_BLOCKS:
                    self._blocks.clear()  # launches under way hold their own
                self._blocks[key] = block
        return block

    def _lookup(self, values: tuple[object, ...]) -> Any:
        self.bind()
        return remember(self.func, self._block_for(values, ()), values)

    def _launch(self, values: tuple[object, ...], stream: object) -> None:
        block, descs, _tensors = self.call_block(values)
        if self.func.__globals__["_last"][-1] is not block:
            remember(self.func, block, block.attributes)
        queue = None if stream is None else resolve_stream(stream)
        context = ffi.NULL if queue is None else queue.context
        status = lib.ap_launch(context, block.cdata, descs)
        if status:
            self._settle(status, values, queue)

    def _settle(self, status: int, values: tuple[object, ...], stream: Stream | None) -> None:
        while status in (lib.AP_NO_STREAM, lib.AP_GUARDED):
            stream = resolve_stream(stream)
            block, descs, _tensors = self.call_block(values)
            if status == lib.AP_NO_STREAM:
                stream.activate()
            else:
                order(stream, [desc.use for desc in descs if desc])
            status = lib.ap_launch(stream.context, block.cdata, descs)
        if status:
            late.settling.settle(self, status, values, resolve_stream(stream))


def _flatten_list(name: str, value: object, descs: list[Any], tensors: list[object]) -> int | None:
    """Append the structures of a list argument; return its length, None for a null list."""
    if value is None:
        return None
    if isinstance(value, Tensor) or not isinstance(value, Sequence):
        raise TypeError(f"{name}: expected a sequence of tensors, got {type_name(value)}")
    try:
        descs += [item._desc for item in value]
    except AttributeError:  # a null tensor, or something else that has to be named
        descs += [_desc(f"{name}[{index}]", item) for index, item in enumerate(value)]
    tensors.extend(value)
    return len(value)


def _desc(name: str, value: object) -> Any:
    if value is None:
        return ffi.NULL  # phase one says whether it takes a null tensor
    if isinstance(value, Tensor):
        return value._desc
    raise not_a_tensor(name, value)


apply_reuse()
if any(map(enabled, ("ACLNN_PY_STRICT", "ACLNN_PY_BLOCKING", "ACLNN_PY_LINES"))):
    late.startup.turn_on_modes()
