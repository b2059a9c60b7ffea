# SPDX-License-Identifier: Apache-2.0
"""Traces of C calls: write, read and sum them up."""
