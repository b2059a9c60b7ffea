# SPDX-License-Identifier: Apache-2.0
"""gdb on programs that use the emulator: ``aclnn-py gdb``."""
