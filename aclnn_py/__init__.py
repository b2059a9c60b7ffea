# SPDX-License-Identifier: Apache-2.0
"""Every CANN operator from NumPy arrays, without a framework."""
