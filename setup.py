# SPDX-License-Identifier: Apache-2.0
"""What pyproject.toml cannot say: the wheel holds compiled code that serves every Python 3."""

from __future__ import annotations

from setuptools import Distribution, setup


class CompiledDistribution(Distribution):
    """build_ffi.py has put the compiled files among the package data; setuptools knows of none."""

    def has_ext_modules(self) -> bool:
        return True


setup(distclass=CompiledDistribution, options={"bdist_wheel": {"py_limited_api": "cp310"}})
