# SPDX-License-Identifier: Apache-2.0
"""Accepted calls made in the process with the newer chip, and the memory of their results."""

from __future__ import annotations

from typing import Any

import numpy as np


def memories(operator: str, number: int, contents: dict[int, bytes]) -> list[Any]:
    """Make an accepted call with other contents; return the memory of its tensors as bytes."""
    from helpers.accepted_calls import calls

    import aclnn_py as ap

    call = list(calls(operator))[number]
    for position, data in contents.items():
        call = call.changed(position, contents=data)
    arguments = call.build()
    call.op(*arguments)
    ap.Device(0).synchronize()
    return [
        np.frombuffer(argument.buffer.read(), np.uint8) if isinstance(argument, ap.Tensor) else None
        for argument in arguments
    ]


def refused(operator: str, number: int, changed: dict[int, Any]) -> tuple[int, str]:
    """Make an accepted call with other arguments, or other fields of tensors, that is refused."""
    from helpers.accepted_calls import calls

    import aclnn_py as ap

    call = list(calls(operator))[number]
    for position, value in changed.items():
        if isinstance(value, dict):
            call = call.changed(position, **value)
        else:
            call = call.changed(position, value)
    try:
        call.op(*call.build())
    except ap.errors.StatusError as error:
        return int(error.status), str(error)
    return 0, "it was taken"


def there_and_back(values: Any, dtype: str, format: str) -> list[Any]:
    """Cast values to a format of blocks and back.

    Return the memory of the blocks, that of blocks the package made itself, and both cast back.
    """
    import aclnn_py as ap

    plain = ap.from_numpy(values, dtype=dtype)
    made = ap.from_numpy(np.zeros_like(values), dtype=dtype, format=format)
    own = ap.from_numpy(values, dtype=dtype, format=format)
    ap.ops.npu_format_cast(plain, made)
    results = []
    for blocks in (made, own):
        back = ap.from_numpy(np.zeros_like(values), dtype=dtype)
        ap.ops.npu_format_cast(blocks, back)
        results.append(back.numpy())
    memory = [np.frombuffer(t.buffer.read(), np.uint8) for t in (made, own)]
    return [*memory, *results]
