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
    Row("sign_bits_pack", "input: Tensor, size: int = 1",
        "Pack the signs of numbers into bytes, the first into the lowest bit.",
        (Output("Shape ``(size, n / 8 / size)``, rounded up to whole bytes; uint8.",
                "rows_shape(size, -(-input.count // 8))", "'uint8'"),),
        ("sign_bits_pack(input, size, out)",),
        {"input": "Shape ``(n,)``, float32 or float16.",
         "size": "Rows of the result; it must divide the number of bytes."},
        notes="A number that is not negative gives 1; bits behind the last number are 0."),
    Row("sign_bits_unpack", "input: Tensor, size: int = 1, dtype: DTypeLike = 'float32'",
        "Turn the bits of bytes into 1 and -1, the lowest bit first.",
        (Output("Shape ``(size, 8 * n / size)``.",
                "rows_shape(size, 8 * input.count)", "dtype"),),
        ("sign_bits_unpack(input, size, dtype, out)",),
        {"input": "Shape ``(n,)``, uint8.",
         "size": "Rows of the result; it must divide the number of bits.",
         "dtype": "float32 or float16."}),
)  # fmt: skip
