# SPDX-License-Identifier: Apache-2.0
"""Record, replay, compare and reduce calls of operators."""
