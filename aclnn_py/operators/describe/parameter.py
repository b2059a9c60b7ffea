# SPDX-License-Identifier: Apache-2.0
"""Parameters of operators, read from the table that the build made of include/."""

from __future__ import annotations

from typing import Any

from aclnn_py._ffi import ffi
from aclnn_py._ffi.contract.naming import parameter_names

__all__ = ["TENSOR", "TENSOR_LIST", "Parameter", "read_parameters"]

TENSOR = "T"
TENSOR_LIST = "L"
_ANNOTATIONS = {
    "T": "Tensor",
    "L": "Sequence[Tensor | None]",
    "S": "Number",
    "R": "Sequence[Number]",
    "I": "Sequence[int]",
    "F": "Sequence[float]",
    "B": "Sequence[bool]",
    "s": "str",
    "y": "DTypeLike",
    "?": "bool",
    "b": "int",
    "i": "int",
    "u": "int",
    "l": "int",
    "q": "int",
    "f": "float",
    "d": "float",
}
_DIRECTIONS = {"i": "in", "o": "out", "r": "in place"}


class Parameter:
    """One parameter of an operator.

    Attributes
    ----------
    name, c_name : str
        In Python and in C.
    kind : str
        Letter of its type, see `_ffi/launch.h`.
    direction : str
        "in", "out" or "in place".
    nullable : bool
        Whether None is a documented value.
    scalar_dtypes : int
        Bit N: a scalar may be of aclDataType N. 0 when the documents name none.
    """

    # Written out: the first launch of a process waits for the making of a dataclass.
    __slots__ = ("c_name", "direction", "kind", "name", "nullable", "scalar_dtypes")

    def __init__(
        self,
        name: str,
        c_name: str,
        kind: str,
        direction: str,
        nullable: bool,
        scalar_dtypes: int = 0,
    ) -> None:
        self.name = name
        self.c_name = c_name
        self.kind = kind
        self.direction = direction
        self.nullable = nullable
        self.scalar_dtypes = scalar_dtypes

    def __repr__(self) -> str:
        return f"<Parameter {self.direction} {self.name}: {self.annotation}>"

    @property
    def is_tensor(self) -> bool:
        """Whether it is a tensor or a list of tensors."""
        return self.kind in (TENSOR, TENSOR_LIST)

    @property
    def annotation(self) -> str:
        """The Python type, as the stubs spell it."""
        text = _ANNOTATIONS[self.kind]
        return f"{text} | None" if self.nullable else text


def read_parameters(op: Any) -> tuple[Parameter, ...]:
    """Parameters of a table row (`ap_op *`), in C order."""
    c_names = list(filter(None, ffi.string(op.parameters).decode().split(",")))
    kinds = ffi.string(op.kinds).decode()
    modes = ffi.string(op.modes).decode()
    masks = iter(filter(None, ffi.string(op.scalars).decode().split(",")))
    return tuple(
        Parameter(
            name=name,
            c_name=c_name,
            kind=kind,
            direction=_DIRECTIONS[mode.lower()],
            nullable=mode.isupper(),
            scalar_dtypes=int(next(masks, "0"), 16) if kind in "SR" else 0,
        )
        for name, c_name, kind, mode in zip(
            parameter_names(c_names), c_names, kinds, modes, strict=True
        )
    )
