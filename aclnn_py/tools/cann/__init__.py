# SPDX-License-Identifier: Apache-2.0
"""A directory tree in which builds and programs find CANN: ``aclnn-py cann``."""
