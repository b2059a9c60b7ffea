# SPDX-License-Identifier: Apache-2.0
"""One row of the function table, and the function written from it.

A row says what a function is called, what it takes, which tensors it allocates and which operators
fill them. Its expressions are Python text over the parameters and the rules of ``results``; from
them one function is compiled, the way ``ops`` compiles its own, so that a call loops over nothing.
"""

from __future__ import annotations

import ast
import functools
import inspect
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from aclnn_py import ops
from aclnn_py.functional import arguments, documentation, drawing, masks, results
from aclnn_py.operators.describe.argument_errors import expect_tensors
from aclnn_py.tensor.creation import empty

__all__ = ["Call", "Function", "Output", "Row", "build"]


@dataclass(frozen=True)
class Output:
    """A tensor the function allocates.

    Attributes
    ----------
    text : str
        What the documentation says about it.
    shape, dtype : str
        Expressions over the parameters.
    name : str
        What the calls of the row call it.
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
class Row:
    """A function of the table.

    Attributes
    ----------
    name : str
    parameters : str
        As they stand in the ``def``, with annotations and defaults; ``stream`` is added.
    summary : str
        First sentence of the documentation.
    outputs : tuple of Output
        Empty for a function that works in place: it writes its first argument and returns it.
    calls : tuple
        Texts such as ``"add(input, other, alpha, out)"``, queued one after the other; or ``Call``
        objects, of which the first that fits is taken.
    about : mapping
        What parameters mean, where the common text of ``documentation`` does not say it.
    returns : str
        Names of the outputs the caller gets; all of them by default.
    checks : tuple of str
        Expressions evaluated first; they raise for arguments that would mislead the shape rules.
    device : str
        Expression; by default the device of the first tensor.
    notes : str
        Text of the Notes section.
    draws : str
        The tensor that is filled with random numbers; the calls find in ``place`` where they come
        from. The row has the parameters ``generator``, ``seed`` and ``offset``.
    """

    name: str
    parameters: str
    summary: str
    outputs: tuple[Output, ...]
    calls: tuple[str | Call, ...]
    about: Mapping[str, str] = field(default_factory=dict)
    returns: str = ""
    checks: tuple[str, ...] = ()
    device: str = ""
    notes: str = ""
    draws: str = ""

    @functools.cached_property
    def arguments(self) -> tuple[tuple[str, str, str | None], ...]:
        """Name, annotation and default of every parameter, ``stream`` left out."""
        node = self._definition().args
        positional = list(zip(node.args, _padded(node.defaults, len(node.args)), strict=True))
        named = list(zip(node.kwonlyargs, node.kw_defaults, strict=True))
        return tuple(
            (arg.arg, ast.unparse(arg.annotation), None if value is None else ast.unparse(value))
            for arg, value in [*positional, *named]
            if arg.annotation is not None
        )

    @functools.cached_property
    def head(self) -> str:
        """The parameter list with annotations, ``stream`` included."""
        star = "" if "*," in self.parameters else "*, "
        return f"{self.parameters}, {star}stream: Stream | None = None"

    @functools.cached_property
    def returned(self) -> tuple[Output, ...]:
        """What the caller gets."""
        if not self.outputs:
            first = self.arguments[0][0]
            return (Output(f"``{first}`` itself.", name=first),)
        names = self.returns.replace(" ", "").split(",") if self.returns else None
        return tuple(out for out in self.outputs if names is None or out.name in names)

    @property
    def annotation(self) -> str:
        """Annotation of the result."""
        count = len(self.returned)
        return "Tensor" if count == 1 else f"tuple[{', '.join(['Tensor'] * count)}]"

    @functools.cached_property
    def operators(self) -> tuple[str, ...]:
        """Operator calls in all cases, as texts."""
        found: list[str] = []
        for call in self.calls:
            found += call.operators if isinstance(call, Call) else (call,)
        return tuple(found)

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """Names of the operators that do the work, each once, the preferred one last."""
        return tuple(dict.fromkeys(text.split("(")[0] for text in self.operators))

    def _definition(self) -> ast.FunctionDef:
        (node,) = ast.parse(f"def {self.name}({self.parameters}): ...").body
        assert isinstance(node, ast.FunctionDef)
        return node

    def source(self) -> str:
        """The function as Python text."""
        lines = [f"def {self.name}({_bare(self.head)}):"]
        lines += [f"    {line}" for line in self._body()]
        return "\n".join(lines) + "\n"

    def _body(self) -> list[str]:
        lines = [*self._expectations(), *self.checks]
        if self.outputs:
            device = self.device or self._first_device()
        for out in self.outputs:
            lines.append(f"{out.name} = empty({out.shape}, {out.dtype}, device={device})")
        if self.draws:
            lines.append(f"place = next_place({self.draws}, generator, seed, offset, stream)")
        lines += self._launches()
        lines.append(f"return {', '.join(out.name for out in self.returned)}")
        return lines

    def _expectations(self) -> list[str]:
        plain = [name for name, kind, _ in self.arguments if kind == "Tensor"]
        lines = [f"expect_tensors({', '.join(f'{n}={n}' for n in plain)})"] if plain else []
        for name, kind, _ in self.arguments:
            if kind == "Tensor | Number":
                lines.append(f"is_number({name}) or expect_tensors({name}={name})")
            elif kind == "Tensor | None":
                lines.append(f"{name} is None or expect_tensors({name}={name})")
            elif kind == "Sequence[Tensor]":
                lines.append(f"expect_list({name}={name})")
        return lines

    def _first_device(self) -> str:
        for name, kind, _ in self.arguments:
            if kind == "Tensor":
                return f"{name}.device"
            if kind == "Sequence[Tensor]":
                return f"{name}[0].device"
        raise ValueError(f"{self.name}: takes no tensor, so the row must name a device")

    def _launches(self) -> list[str]:
        lines, word = [], "if"
        for call in self.calls:
            if isinstance(call, Call):
                lines.append(f"{word} {call.condition}:")
                lines += [f"    {_launch(text)}" for text in call.operators]
                word = "elif"
        always = [_launch(call) for call in self.calls if isinstance(call, str)]
        if lines and always:
            lines += ["else:", *(f"    {line}" for line in always)]
        return lines or always


def _launch(call: str) -> str:
    return f"ops.{call[:-1]}, stream=stream)"


def _padded(defaults: list[ast.expr], count: int) -> list[ast.expr | None]:
    return [None] * (count - len(defaults)) + list(defaults)


def _bare(head: str) -> str:
    (node,) = ast.parse(f"def f({head}): ...").body
    assert isinstance(node, ast.FunctionDef)
    for arg in [*node.args.args, *node.args.kwonlyargs]:
        arg.annotation = None
    return ast.unparse(node.args)


class Function(functools.partial):  # type: ignore[type-arg]
    """A function of the table; its documentation is made when somebody asks."""

    row: Row

    @property
    def __doc__(self) -> str:  # type: ignore[override]
        return documentation.docstring(self.row)

    @property
    def __signature__(self) -> inspect.Signature:
        return documentation.signature(self.row)

    def __repr__(self) -> str:
        return f"<function {self.row.name}({_bare(self.row.head)})>"

    def __reduce__(self) -> Any:
        return _by_name, (self.row.name,)


def build(row: Row) -> Function:
    """Compile the function of a row."""
    scope: dict[str, Any] = {
        **{
            name: getattr(part, name)
            for part in (results, arguments, masks, drawing)
            for name in part.__all__
        },
        "empty": empty,
        "expect_tensors": expect_tensors,
        "ops": ops,
    }
    exec(compile(row.source(), f"<aclnn_py.functional.{row.name}>", "exec"), scope)
    plain: Callable[..., Any] = scope[row.name]
    plain.__module__ = "aclnn_py.functional"
    function = Function(plain)
    function.row = row
    for attribute in ("__name__", "__qualname__"):
        setattr(function, attribute, row.name)
    function.__module__ = "aclnn_py.functional"
    return function


def _by_name(name: str) -> Function:
    from aclnn_py import functional

    found: Function = getattr(functional, name)
    return found
