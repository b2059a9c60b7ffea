# SPDX-License-Identifier: Apache-2.0
"""Steps of the build: compile the emulator, generate and compile the cffi extension."""
