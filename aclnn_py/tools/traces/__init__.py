# SPDX-License-Identifier: Apache-2.0
"""Traces of C calls: written, read and summed up."""
