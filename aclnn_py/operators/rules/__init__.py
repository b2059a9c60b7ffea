# SPDX-License-Identifier: Apache-2.0
"""What the documents demand of arguments, and which argument breaks it."""
