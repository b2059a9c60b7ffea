# SPDX-License-Identifier: Apache-2.0
"""Lists of numbers that are inputs of a graph, and all others that its launches have read."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from aclnn_py.errors import CaptureError
from aclnn_py.operators.launch.host_lists import HostLists, expect_numbers, items_of
from aclnn_py.operators.launch.observers import Launch

__all__ = ["GraphList", "GraphLists", "Listed"]


class Listed:
    """Where a list stands in the arguments of a launch that is an input by this name."""

    __slots__ = ("name",)

    def __init__(self, name: str) -> None:
        self.name = name


class GraphList:
    """What an input stands for: the caller's object, and the numbers it had when it was bound."""

    __slots__ = ("items", "value")

    def __init__(self, value: Any) -> None:
        self.value = value
        self.items = items_of(value)


class GraphLists:
    """The lists of one graph.

    Attributes
    ----------
    bound : dict of str to GraphList
        The inputs.
    watched : bool
        Whether a replay has to look at lists, because one of them can change.
    """

    __slots__ = ("_read", "bound", "watched")

    def __init__(self, inputs: Mapping[str, object]) -> None:
        for name, value in inputs.items():
            expect_numbers(f"inputs[{name!r}]", value, "a Tensor or a list of numbers")
        self.bound = {name: GraphList(value) for name, value in inputs.items()}
        self.watched = False
        self._read = HostLists()

    def name_of(self, value: object) -> str | None:
        """The name of an input that is this very object."""
        for name, held in self.bound.items():
            if held.value is value:
                return name
        return None

    def note(self, launch: Launch) -> None:
        """Remember the lists that a captured launch has read."""
        if launch.op is not None:
            self._read.note(launch.op, launch.values)

    def finish(self, given: Iterable[str]) -> None:
        """End the capture; ``given`` are the inputs that launches were given."""
        for name in self.bound.keys() - set(given):
            raise CaptureError(
                f"inputs[{name!r}]: no operator of the block was given this very object, so it "
                "could not be exchanged; pass the list itself to the operator, not a copy",
                call="Graph.capture",
            )
        self.watched = bool(self._read)

    def check_unchanged(self) -> None:
        """Refuse a replay when a list that a launch has read was changed since."""
        self._read.check("Graph.replay", "captured", self._advice)

    def _advice(self, parameter: str) -> str:
        if self.bound:
            named = ", ".join(f"{name}=..." for name in self.bound)
            return f"Give the graph the new ones before the replay: graph.rebind({named})."
        return (
            f"Name the list at the capture, graph.capture(inputs={{{parameter!r}: the_list}}), and "
            f"give the graph the new ones before the replay: graph.rebind({parameter}=the_list). "
            "Or pass a tuple, which does not change."
        )

    def checked(self, name: str, value: object) -> GraphList:
        """Refuse what cannot take the place of an input."""
        expect_numbers(name, value)
        given, before = GraphList(value), self.bound[name]
        if len(given.items) != len(before.items):
            raise ValueError(
                f"{name}: {len(given.items)} numbers, but the graph was captured with "
                f"{len(before.items)}; give as many, or capture again"
            )
        return given

    def exchange(self, lists: Mapping[str, GraphList]) -> None:
        """Note that the launches were made again with other lists."""
        for name, given in lists.items():
            self._read.exchange(self.bound[name].value, given.value)
        self.bound = {**self.bound, **lists}
        self.watched = bool(self._read)
