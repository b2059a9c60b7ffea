# SPDX-License-Identifier: Apache-2.0
"""Record operator calls, replay them, compare their results and minimize failing ones."""
