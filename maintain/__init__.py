# SPDX-License-Identifier: Apache-2.0
"""Commands for maintainers; no part of the package."""
