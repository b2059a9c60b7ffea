# SPDX-License-Identifier: Apache-2.0
"""What stands behind `aclnn_py.ops`: the table-driven operator class and its parts."""
