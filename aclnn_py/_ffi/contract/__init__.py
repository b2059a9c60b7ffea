# SPDX-License-Identifier: Apache-2.0
"""The C contract: one reader of C declarations, and what operators' prototypes mean.

The build imports this folder before the package can be imported (`build_parts/__init__.py`), so
its modules use the standard library and one another, and nothing else.
"""
