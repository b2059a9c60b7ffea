# SPDX-License-Identifier: Apache-2.0
"""Which communicator a ``group`` argument means."""

from __future__ import annotations

from aclnn_py.distributed.communicator import Communicator
from aclnn_py.distributed.registry import first_of, named, names_on
from aclnn_py.runtime.device import Device

__all__ = ["Group", "resolve"]

Group = Communicator | str | None


def resolve(group: Group) -> Communicator:
    """Return the communicator that a ``group`` argument of this thread means.

    Parameters
    ----------
    group : Communicator or str, optional
        A communicator, the name of one, or None for the first one made on the current device.

    Returns
    -------
    Communicator
        Open.

    Raises
    ------
    TypeError
        ``group`` has another type.
    ValueError
        The current device has no open communicator of that name.
    """
    if isinstance(group, Communicator):
        _ = group.raw  # raises for a closed one
        return group
    if group is not None and not isinstance(group, str):
        raise TypeError(
            f"group: expected a Communicator, its name or None, got {type(group).__name__}"
        )
    index = Device.current().index
    found = first_of(index) if group is None else named(index, group)
    if isinstance(found, Communicator) and not found.closed:
        return found
    if group is None:
        raise ValueError(
            f"group: device {index} has no communicator yet; make one with"
            " Communicator.from_env() or pass one"
        )
    known = ", ".join(names_on(index)) or "none"
    raise ValueError(f"group: device {index} has no communicator {group!r}; it has: {known}")
