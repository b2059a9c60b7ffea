# SPDX-License-Identifier: Apache-2.0
"""A Python module in C++ that calls CANN: python setup.py build_ext --inplace."""

import os

from pybind11.setup_helpers import Pybind11Extension
from setuptools import setup

cann = os.environ["ASCEND_HOME_PATH"]  # source set_env.sh first

setup(
    name="npu_cosine",
    version="1.0",
    ext_modules=[
        Pybind11Extension(
            "npu_cosine",
            ["npu_cosine.cpp"],
            include_dirs=[f"{cann}/include"],
            library_dirs=[f"{cann}/lib64"],
            libraries=["ascendcl", "nnopbase", "opapi"],
        )
    ],
)
