# SPDX-License-Identifier: Apache-2.0
"""Random numbers: generators, and draws that differ at each run of repeated work."""
