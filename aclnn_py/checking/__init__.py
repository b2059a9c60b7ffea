# SPDX-License-Identifier: Apache-2.0
"""The checker: mistakes with memory and C objects, reported with both Python stacks.

``ACLNN_PY_CHECK=1`` turns it on from the start. What is looked at where:

``history``    who made and who destroyed each C object and each piece of memory
``functions``  C functions: double destroy, use after destroy, memory that is in use, reset
``launches``   launches: closed or freed tensors, host pointers, bounds, overlaps, faults
``queued``     what streams still have to do, and who launched it
``reports``    what the emulator found in work that is done
``switch``     turning it on
"""

from __future__ import annotations

from aclnn_py.checking.switch import check, start_from_environment

__all__ = ["check", "start_from_environment"]
