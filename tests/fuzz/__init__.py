# SPDX-License-Identifier: Apache-2.0
"""Fuzzers of everything that reads what somebody else wrote: `python -m tests.fuzz --help`."""
