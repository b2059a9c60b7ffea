# SPDX-License-Identifier: Apache-2.0
"""What a device has left, whatever the allocator keeps for later."""

from __future__ import annotations

import aclnn_py as ap


def free_memory(device: ap.Device) -> int:
    """Free bytes of a device once the allocator has given back all that nobody uses."""
    ap.trim_memory(device)
    return device.memory_info().free


def used_memory(device: ap.Device) -> int:
    """Bytes of a device in use by blocks and by the libraries, without what the allocator keeps."""
    info = device.memory_info()
    return info.total - info.free - ap.memory_stats(device).free_nbytes
