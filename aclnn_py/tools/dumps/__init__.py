# SPDX-License-Identifier: Apache-2.0
"""What operators read and wrote: files that CANN's dumps and the emulator's consist of."""
