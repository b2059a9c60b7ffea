# SPDX-License-Identifier: Apache-2.0
"""What things cost, as ratios: `python -m benchmarks` from the root of the source tree.

A module here takes part when it has a function

    def rows(quick: bool) -> list[dict[str, object]]

that measures and returns one dict per figure; `benchmarks.rows` says what is in it. Every module is
run in a process of its own, so it may set the environment before it imports NumPy or the package.
"""
