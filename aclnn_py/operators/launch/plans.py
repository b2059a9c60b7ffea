# SPDX-License-Identifier: Apache-2.0
"""The two phases of an operator, apart: plan first, run later or often."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from aclnn_py._ffi import ffi, lib
from aclnn_py.errors import DeviceMismatchError, InvalidArgumentError
from aclnn_py.memory.buffer import Buffer
from aclnn_py.operators.describe.argument_errors import not_a_tensor
from aclnn_py.operators.launch.op import Op
from aclnn_py.operators.launch.phases import execute, prepare
from aclnn_py.operators.launch.rebinding import exchanged, same_layout
from aclnn_py.operators.launch.report import launch_error
from aclnn_py.runtime.handle import Handle, misused
from aclnn_py.runtime.stream import Stream, current_stream, mark, order, resolve_stream
from aclnn_py.tensor.tensor import Tensor

__all__ = ["Plan", "plan"]

_repeat = lib.ap_repeat


class Plan(Handle):
    """An operator that has passed phase one.

    Attributes
    ----------
    op : Op
        The operator.
    workspace_nbytes : int
        Bytes of workspace phase two needs.
    status : int
        Status of phase one; 0, since a refusal raises.
    repeatable : bool
        Whether it may run more than once.
    """

    __slots__ = ("_blocks", "_tensors", "_values", "op", "repeatable", "workspace_nbytes")

    def __init__(self, op: Op, values: tuple[object, ...], repeatable: bool) -> None:
        self.op = op
        self.repeatable = repeatable
        block, descs, tensors = op.call_block(values)
        raw = prepare(op, values, current_stream(), block, descs, repeatable)
        self._values = list(values)
        self._tensors = tensors
        # The call block in use; the finalizer of this handle owns the same list.
        self._blocks = [block]
        self.workspace_nbytes = int(raw.prepared.workspace_nbytes)
        super().__init__(raw, lib.ap_discard, self._blocks, self._tensors)

    @property
    def status(self) -> int:
        """Status of phase one; 0, since a refusal raises."""
        return 0

    @property
    def status_name(self) -> str:
        """Name of the status of phase one."""
        return "ACLNN_SUCCESS"

    def run(self, stream: Stream | None = None, workspace: Buffer | None = None) -> None:
        """Queue phase two.

        Parameters
        ----------
        stream : Stream | None, default None
            Queue to use; the current stream of this thread by default. Returns before the device
            finishes.
        workspace : Buffer | None, default None
            At least `workspace_nbytes` bytes; by default memory that the stream keeps for its
            launches.

        Raises
        ------
        ClosedError
            The plan has run and is not repeatable, it was closed, or one of its tensors was.
        InvalidArgumentError
            `workspace` is too small or on another device.
        AclnnError
            The library refused phase two.

        Source
        ------
        aclnnXxx (``include/aclnnop``).
        """
        if stream is None and workspace is None:
            status = _repeat(self._raw)
            if not status:
                return
            failed = status == lib.AP_FAILED
        else:
            failed = False
        self._run(failed, stream, workspace)

    def _run(self, failed: bool, stream: Stream | None, workspace: Buffer | None) -> None:
        raw = self.raw
        queue = resolve_stream(stream)
        if failed:
            raise launch_error(self.op, self._values, queue)
        address, nbytes = self._workspace(queue, workspace)
        if workspace is not None:
            order(queue, [workspace.block.use])
        execute(self.op, self._values, queue, raw, address, nbytes)
        if workspace is not None:
            mark(queue, [workspace.block.use])

    def rebind(self, /, **tensors: Tensor) -> None:
        """Point a repeatable plan at other tensors of the same layout.

        Parameters
        ----------
        **tensors : Tensor
            Parameter names of the operator; tensors in lists cannot be exchanged.

        Raises
        ------
        ClosedError
            The plan was closed or is not repeatable and has run.
        ValueError
            A tensor has another layout or offset than the one it replaces.
        AclnnError
            The library refused the new address.

        Source
        ------
        aclSetTensorAddr (``include/aclnn/acl_meta.h``).
        """
        _ = self.raw
        if not self.repeatable:
            raise ValueError("only a plan made with repeatable=True can take other tensors")
        for name, tensor in tensors.items():
            position, index = self._index_of(name)
            before = self._values[position]
            if not isinstance(tensor, Tensor):
                raise not_a_tensor(name, tensor)
            if not isinstance(before, Tensor) or not same_layout(before, tensor):
                raise ValueError(
                    f"{name}: {tensor!r} does not have the layout that the plan was made for"
                )
            self._exchange(index, tensor)

    def _exchange(self, index: int, tensor: Tensor) -> None:
        """Take another tensor of the same layout at an index counted through all lists."""
        values = exchanged(self.op, self._values, index, tensor)
        status = lib.ap_rebind(self.raw, index, tensor._desc)
        if status == lib.AP_UNCERTAIN:
            # Phase one again, with the new tensor, is the one way that leaves no doubt.
            _block, descs, _tensors = self.op.call_block(values)
            stream = current_stream()
            fresh = prepare(self.op, values, stream, self._blocks[0], descs, True)
            lib.ap_replace(self.raw, fresh)
        elif status:
            raise launch_error(self.op, self._values, current_stream())
        self._values = values
        # The finalizer of this handle owns the same list.
        self._tensors[index] = tensor

    def _prepare_again(self, values: tuple[object, ...]) -> tuple[Any, Any]:
        """Run phase one with other numbers; return the new ap_plan and its call block."""
        block, descs, _tensors = self.op.call_block(values)
        return prepare(self.op, values, current_stream(), block, descs, True), block

    def _renew(self, values: tuple[object, ...], fresh: Any, block: Any) -> None:
        """Take over what ``_prepare_again`` returned."""
        self.workspace_nbytes = int(fresh.prepared.workspace_nbytes)
        lib.ap_replace(self.raw, fresh)
        self._blocks[0] = block
        self._values = list(values)

    def _index_of(self, name: str) -> tuple[int, int]:
        """(position among the parameters, index among the tensors) of a tensor parameter."""
        index = 0
        for position, parameter in enumerate(self.op.parameters):
            if parameter.name == name and parameter.kind == "T":
                return position, index
            if parameter.kind == "T":
                index += 1
            elif parameter.kind == "L":
                value = self._values[position]
                index += len(value) if isinstance(value, (list, tuple)) else 0
        raise TypeError(f"{name} is no tensor parameter of {self.op.name}")

    def _workspace(self, stream: Stream, workspace: Buffer | None) -> tuple[object, int]:
        if workspace is None:
            return ffi.NULL, 0
        if not isinstance(workspace, Buffer):
            raise TypeError(f"workspace: expected a Buffer, got {type(workspace).__name__}")
        if workspace.device is not stream.device:
            raise DeviceMismatchError(f"workspace: {workspace!r} is not on {stream.device!r}")
        if workspace.nbytes < self.workspace_nbytes:
            # A device that does not check would write behind the buffer.
            text = (
                f"workspace: {workspace.nbytes} bytes, but {self.op.c_name} needs "
                f"{self.workspace_nbytes}, see workspace_nbytes of the plan"
            )
            misused(workspace, "workspace too small", text)
            raise InvalidArgumentError(text)
        return ffi.cast("void *", workspace.address), self.workspace_nbytes

    def _state(self) -> str:
        text = f"{self.op.name}, {self.workspace_nbytes} bytes of workspace"
        return f"{text}, closed" if self.closed else text


def plan(op: Callable[..., None], /, *args: Any, repeatable: bool = False, **kwargs: Any) -> Plan:
    """Run phase one of an operator: check the arguments and learn the workspace size.

    Parameters
    ----------
    op : Op
        An operator of `ops`, or one that `ops.declare` made.
    *args, **kwargs
        Its arguments, as in a call.
    repeatable : bool, default False
        Ask for an executor that runs more than once. Some operators refuse.

    Returns
    -------
    Plan
        Owned by the caller; it keeps the tensors alive.

    Raises
    ------
    AclnnError
        161001 a required argument is None; 161002 a shape, dtype or format is refused; 561000 the
        operator cannot be made repeatable.
    SymbolNotFoundError
        The loaded libraries do not have the operator.

    Notes
    -----
    Phase one copies lists of numbers: a plan runs with those it was made with, whatever becomes of
    the list. A ``Sequence`` of plans can be given others, and says when a list has changed.

    Source
    ------
    aclnnXxxGetWorkspaceSize (``include/aclnnop``), aclSetAclOpExecutorRepeatable
    (``include/aclnn/acl_meta.h``).
    """
    if not isinstance(op, Op):
        raise TypeError(f"op: expected an operator such as ops.add, got {type(op).__name__}")
    return Plan(op, op.arguments(*args, **kwargs), repeatable)
