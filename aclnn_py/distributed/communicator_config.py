# SPDX-License-Identifier: Apache-2.0
"""Settings of a communicator, and the C structure that carries them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from aclnn_py._ffi import C, ffi

__all__ = ["CommunicatorConfig"]

_NOT_SET = 0xFFFFFFFF
_MAGIC = 0xF0F0F0F0
# Bytes of HcclCommConfig by version. The library reads min(its own, ours) bytes, so the newest
# layout that 8.1 knows serves every later release too.
_NBYTES = {1: 32, 2: 160, 4: 292, 5: 300}
_NAME_LIMIT = 127


@dataclass(frozen=True, kw_only=True)
class CommunicatorConfig:
    """Options of a communicator; the library chooses a value for each field that is ``None``.

    Source
    ------
    HcclCommConfig (``include/hccl/hccl_types.h``), version 5; older libraries read fewer fields.
    """

    buffer_mib: int | None = None
    """Size of each of the two exchange buffers, in MiB, at least 1; unset: HCCL_BUFFSIZE or 200."""
    deterministic: int | None = None
    """0 off, 1 on, 2 strict: same order of additions in every run; unset: HCCL_DETERMINISTIC."""
    name: str | None = None
    """Name of the communicator, at most 127 bytes; unset: the library makes up a name."""
    udi: str | None = None
    """Free text that the library repeats in its logs, at most 127 bytes; unset: empty."""
    expansion_mode: int | None = None
    """Where collectives are scheduled: 0 default, 1 host, 2 AI CPU, 3 AIV, 4 AIV only."""
    traffic_class: int | None = None
    """RDMA traffic class, 0..255; unset: HCCL_RDMA_TC or 132."""
    service_level: int | None = None
    """RDMA service level, 0..7; unset: HCCL_RDMA_SL or 4."""


def fill(config: CommunicatorConfig) -> Any:
    """Return a new ``HcclCommConfig *`` for the loaded library.

    Parameters
    ----------
    config : CommunicatorConfig
        Options.

    Returns
    -------
    cdata
        The caller owns it. Its version is the newest that the library knows, at most 5.

    Raises
    ------
    ValueError
        A name is too long.
    """
    version = _version()
    out = ffi.new("HcclCommConfig *")
    header = ffi.cast("uint64_t *", out)
    header[0] = _NBYTES[version]
    header[1] = version << 32 | _MAGIC
    out.hcclBufferSize = _number(config.buffer_mib)
    out.hcclDeterministic = _number(config.deterministic)
    out.hcclCommName = _text(config.name, "name")
    out.hcclUdi = _text(config.udi, "udi")
    # Not _NOT_SET: every release reads 0 as its default here, and 8.1 refuses other numbers.
    out.hcclOpExpansionMode = 0 if config.expansion_mode is None else config.expansion_mode
    out.hcclRdmaTrafficClass = _number(config.traffic_class)
    out.hcclRdmaServiceLevel = _number(config.service_level)
    return out


def _version() -> int:
    if not C.has("HcclGetCommConfigCapability"):
        return 1
    # The result is the number of known features: name is feature 2, expansion mode feature 3.
    capability = int(C.HcclGetCommConfigCapability())
    if capability >= 5:
        return 5
    return 4 if capability == 4 else 2


def _number(value: int | None) -> int:
    return _NOT_SET if value is None else value


def _text(value: str | None, field: str) -> bytes:
    data = (value or "").encode()
    if len(data) > _NAME_LIMIT or b"\0" in data:
        raise ValueError(f"{field}: at most {_NAME_LIMIT} bytes without NUL, got {value!r}")
    return data
