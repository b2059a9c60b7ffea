# SPDX-License-Identifier: Apache-2.0
"""Calls of operators kept in a file with their data."""
