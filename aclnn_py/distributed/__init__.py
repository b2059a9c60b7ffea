# SPDX-License-Identifier: Apache-2.0
"""Communicators of several ranks, their collectives, and how the ranks find each other."""
