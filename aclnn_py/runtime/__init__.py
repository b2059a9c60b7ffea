# SPDX-License-Identifier: Apache-2.0
"""Devices, streams, events and what they keep alive: AscendCL's runtime."""
