# SPDX-License-Identifier: Apache-2.0
"""The writer of `aclnn_py.functional`: from a table of functions to Python modules and a page."""
