# SPDX-License-Identifier: Apache-2.0
"""Copies in another dtype or layout."""

from __future__ import annotations

from maintain.functional.row import Output, Row

__all__ = ["ROWS"]

ROWS = (
    Row("cast", "input: Tensor, dtype: DTypeLike", "Convert elements to another dtype.",
        (Output("Same shape as ``input``; row-major.", dtype="dtype"),),
        ("cast(input, dtype, out)",)),
    Row("contiguous", "input: Tensor", "Copy a tensor into row-major order.",
        (Output("Same shape and dtype as ``input``; always a new tensor, even when ``input`` is "
                "already row-major."),),
        ("inplace_copy(out, input)",)),
    Row("complex", "real: Tensor, imag: Tensor",
        "Combine real and imaginary parts into complex numbers.",
        (Output("Broadcast shape of the parts; complex64 for float32, complex128 for float64.",
                "broadcast(real, imag)",
                "'complex128' if real.dtype_name == 'float64' else 'complex64'"),),
        ("complex(real, imag, out)",)),
)  # fmt: skip
