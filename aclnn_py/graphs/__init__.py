# SPDX-License-Identifier: Apache-2.0
"""Graphs: work that is captured once and queued again in one call."""
