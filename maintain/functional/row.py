# SPDX-License-Identifier: Apache-2.0
"""One row of the function table.

A row says what a function is called, what it takes, which tensors it allocates and which operators
fill them. Its expressions are Python text over the parameters and the helpers of
``aclnn_py.functional``; `source` writes them into a function.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from dataclasses import dataclass, field

__all__ = ["Call", "Output", "Parameter", "Row"]


@dataclass(frozen=True)
class Output:
    """A tensor that the function allocates.

    Attributes
    ----------
    text : str
        Description for the documentation.
    shape, dtype : str
        Expressions over the parameters.
    name : str
        Name of the variable.
    """

    text: str
    shape: str = "input.shape"
    dtype: str = "input.dtype_name"
    name: str = "out"


@dataclass(frozen=True)
class Call:
    """Operators to queue, in order, when ``condition`` holds; the first call that fits is taken."""

    condition: str
    operators: tuple[str, ...]


@dataclass(frozen=True)
class Parameter:
    """A parameter of a function, with the texts of its annotation and its default."""

    name: str
    annotation: str
    default: str | None


@dataclass(frozen=True)
class Row:
    """A function of the table.

    Attributes
    ----------
    name : str
    parameters : str
        As written in the ``def``, with annotations and defaults; ``stream`` is added.
    summary : str
        First sentence of the documentation.
    outputs : tuple of Output
        Empty for a function that works in place: it writes its first argument and returns it.
    calls : tuple
        Texts such as ``"add(input, other, alpha, out)"``, queued one after the other; or ``Call``
        objects, of which the first that fits is taken, else the texts.
    about : mapping
        Descriptions of parameters, where the common ones of ``docstrings`` do not fit.
    returns : str
        Names of the outputs to return, with commas between; all of them by default.
    steps : tuple of str
        Statements to run first: checks and intermediate values.
    device : str
        Expression; by default the device of the first tensor.
    notes : str
        Text of the Notes section.
    draws : str
        The tensor that is filled with random numbers; the calls find in ``place`` where they come
        from. The row has the parameters ``generator``, ``seed`` and ``offset``.
    replayable : bool
        Whether an operator reads the place from tensors; without one, replays cannot draw anew.
    before : tuple of str
        Operators to queue before the calls, whichever of these is taken.
    """

    name: str
    parameters: str
    summary: str
    outputs: tuple[Output, ...]
    calls: tuple[str | Call, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""
    steps: tuple[str, ...] = ()
    device: str = ""
    notes: str = ""
    draws: str = ""
    replayable: bool = True
    before: tuple[str, ...] = ()

    @functools.cached_property
    def head(self) -> str:
        """The parameter list with annotations, ``stream`` included."""
        star = "" if "*," in self.parameters else "*, "
        return f"{self.parameters}, {star}stream: Stream | None = None"

    @functools.cached_property
    def arguments(self) -> tuple[Parameter, ...]:
        """All parameters, ``stream`` included."""
        (node,) = ast.parse(f"def {self.name}({self.head}): ...").body
        assert isinstance(node, ast.FunctionDef)
        args = node.args
        required = len(args.args) - len(args.defaults)
        defaults = [None] * required + list(args.defaults) + list(args.kw_defaults)
        found = []
        for arg, value in zip([*args.args, *args.kwonlyargs], defaults, strict=True):
            assert arg.annotation is not None, f"{self.name}: {arg.arg} needs an annotation"
            default = None if value is None else ast.unparse(value)
            found.append(Parameter(arg.arg, ast.unparse(arg.annotation), default))
        return tuple(found)

    @functools.cached_property
    def returned(self) -> tuple[Output, ...]:
        """What the caller gets."""
        if not self.outputs:
            first = self.arguments[0].name
            return (Output(f"``{first}`` itself.", name=first),)
        wanted = self.returns.split(", ")
        return tuple(out for out in self.outputs if not self.returns or out.name in wanted)

    @property
    def annotation(self) -> str:
        """Annotation of the result."""
        if not self.outputs:
            return self.arguments[0].annotation
        count = len(self.returned)
        return "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"

    @functools.cached_property
    def operators(self) -> tuple[str, ...]:
        """Operator calls in all cases, as texts."""
        found = list(self.before)
        for call in self.calls:
            found += call.operators if isinstance(call, Call) else (call,)
        return tuple(found)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the operators that do the work, each once."""
        return tuple(dict.fromkeys(text.split("(")[0] for text in self.operators))
