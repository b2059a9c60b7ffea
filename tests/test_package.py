# SPDX-License-Identifier: Apache-2.0
from __future__ import annotations

import pytest
from helpers.processes import run_script

import aclnn_py


def test_importing_loads_neither_numpy_nor_a_library():
    run_script(
        """
        import sys
        import aclnn_py
        heavy = ("numpy", "cffi", "ml_dtypes")
        loaded = sorted(name for name in sys.modules if name.split(".")[0] in heavy)
        assert not loaded, loaded
        own = [name for name in sys.modules if name.startswith("aclnn_py.")]
        assert own == ["aclnn_py.late"], own
        assert "libaclnn_py_emulator" not in open("/proc/self/maps").read()
        """,
        env={"ACLNN_PY_CHECK": "0"},  # the checker needs both
    ).check()


def test_naming_classes_and_errors_needs_no_device_library():
    run_script(
        """
        import aclnn_py as ap
        ap.Device(3), ap.Tensor, ap.Stream, ap.errors.ClosedError, ap.Format.FRACTAL_NZ
        assert "libaclnn_py_emulator" not in open("/proc/self/maps").read()
        """
    ).check()


@pytest.mark.parametrize(
    "name", sorted(set(aclnn_py.__all__) - {"ops", "functional", "distributed", "tools"})
)
def test_every_public_name_exists_and_is_listed(name):
    assert getattr(aclnn_py, name) is not None
    assert name in dir(aclnn_py)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match="no attribute 'nonsense'"):
        _ = aclnn_py.nonsense
