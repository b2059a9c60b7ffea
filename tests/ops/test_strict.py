# SPDX-License-Identifier: Apache-2.0
"""strict(): the documented rules before the call."""

from __future__ import annotations

import pytest
from helpers.processes import run_script


@pytest.mark.parametrize(("value", "refused"), [("1", True), ("0", False), ("", False)])
def test_strict_follows_the_environment(value, refused):
    run_script(
        f"""
        import numpy as np
        import aclnn_py as ap
        with ap.Device(0):
            x = ap.zeros((2, 3), np.float32)
            try:
                ap.ops.mm(x, x, x, 0)
            except ValueError as error:
                assert ("strict() refused" in str(error)) is {refused}, error
            else:
                raise AssertionError("not refused")
        """,
        env={"ACLNN_PY_STRICT": value},
    ).check()


def test_strict_in_the_environment_is_1_or_0():
    result = run_script("import aclnn_py; aclnn_py.ops.add", env={"ACLNN_PY_STRICT": "yes"})
    assert "ACLNN_PY_STRICT is 'yes'; it must be 1, 0 or unset" in result.err
