# SPDX-License-Identifier: Apache-2.0
"""The emulator as the book of rules: its phase one says what is wrong with the arguments."""
