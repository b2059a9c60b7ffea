# SPDX-License-Identifier: Apache-2.0
"""Launches: the two phases, plans, sequences, kept executors and those who observe them."""
