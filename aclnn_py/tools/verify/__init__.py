# SPDX-License-Identifier: Apache-2.0
"""Compare the operators of a device with those of the emulator (``aclnn-py verify``)."""
