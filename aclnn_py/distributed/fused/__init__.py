# SPDX-License-Identifier: Apache-2.0
"""Operators that compute and communicate at once."""
