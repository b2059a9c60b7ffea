# SPDX-License-Identifier: Apache-2.0
"""What phase one answers to a fixed corpus of calls, as a file, and two such files compared."""
