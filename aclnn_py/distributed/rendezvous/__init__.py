# SPDX-License-Identifier: Apache-2.0
"""How ranks find each other before a communicator exists."""
