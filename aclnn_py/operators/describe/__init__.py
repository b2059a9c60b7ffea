# SPDX-License-Identifier: Apache-2.0
"""What an operator is: its parameters, its arguments as C takes them, and its documentation."""
