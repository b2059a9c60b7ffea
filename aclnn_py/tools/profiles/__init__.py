# SPDX-License-Identifier: Apache-2.0
"""Where the time of a device goes: profiles of CANN and of the emulator."""
