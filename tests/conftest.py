# SPDX-License-Identifier: Apache-2.0
"""Options and markers of the whole test suite."""

from __future__ import annotations

from hypothesis import settings

settings.register_profile("aclnn_py", deadline=None, max_examples=60)
settings.load_profile("aclnn_py")
