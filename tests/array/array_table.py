# SPDX-License-Identifier: Apache-2.0
"""Expressions that mean on tensors what they mean on NumPy arrays.

Each is Python text, evaluated once with arrays and once with tensors of the same values; what
follows the last semicolon is the result. Names say dtype and form: ``f4`` is a (3, 4) float32
array, ``f4v`` its first row, ``f4s`` a strided view of shape (3, 4), ``f4t`` a transposed (4, 3)
one, ``f40`` a single element without dimensions. ``e`` has no elements, ``m`` is a mask, ``k`` are
indices, ``z`` are complex numbers.
"""

from __future__ import annotations

_FLOATS = ("f2", "f4", "f8")
_SIGNED = ("i1", "i2", "i4", "i8")
_NUMBERS = (*_FLOATS, *_SIGNED, "u1")
_ALL = (*_NUMBERS, "b1")
_MIXED = (
    ("f2", "f4"), ("f4", "f8"), ("i1", "i8"), ("i4", "f4"), ("i8", "f2"), ("u1", "i1"),
    ("u1", "f2"), ("b1", "i4"), ("b1", "f4"), ("i2", "f4"), ("i4", "f2"), ("u1", "i4"),
)  # fmt: skip

ARITHMETIC = [
    *(f"{x} {op} {x}s" for op in ("+", "-", "*") for x in _NUMBERS),
    *(f"{x} + {y}v" for x, y in _MIXED),
    *(f"{x} * {y}s" for x, y in _MIXED),
    *(f"{x} / {y}s" for x, y in _MIXED),
    *(f"{x} / ({x}s + 1)" for x in _ALL),
    *(f"{x} // {x}s" for x in (*_NUMBERS, "b1")),
    *(f"{x} % {x}s" for x in (*_NUMBERS, "b1")),
    *(f"{x} ** 2" for x in _NUMBERS),
    *(f"abs({x}s) ** abs({x}v)" for x in (*_FLOATS, "i4", "u1", "b1")),
    *(f"-{x}t" for x in _NUMBERS),
    *(f"abs({x}t)" for x in _ALL),
    "f4 + 1", "f4 + 2.5", "1 - f4", "2 / f8", "f2 * 0.1", "f2 + 70000.0", "i4 + 1.5", "u1 + 1",
    "u1 + 255", "i1 * 3", "b1 + 1", "b1 + True", "b1 * 2.0", "7 // i4s", "7 % i4s", "2 ** u1",
    "2.0 ** f4", "i4 // 0", "i4 % 0", "f4 // 0.0", "f4 % -1.5", "i4 % -3", "i4 // -3",
    "f4 + np.float32(1)", "f4 + np.float64(1)", "i1 + np.int16(300)", "np.int64(5) - i4",
    "f2 + np.array(1.5)", "f4 + f40", "f40 * f4t", "i8 + i40", "divmod(i4, 3)[1]",
    "+f4", "~i4", "~b1", "i4 & 6", "i4 | i4s", "i4 ^ 1", "b1 & m", "b1 | m", "b1 ^ m", "1 & i4",
    "f4[:, None] + f4v", "f4t + f4.T", "e + 1", "e * f4v[:0]", "f4 + f4[0, 0]",
]  # fmt: skip

COMPARISONS = [
    *(f"{x} {op} {x}s" for op in ("==", "<", ">=") for x in _ALL),
    *(f"{x} {op} {y}v" for op in ("!=", ">", "<=") for x, y in _MIXED[:6]),
    "i1 < 300", "i1 == 300", "u1 > -1", "u1 == -1", "i4 < 2 ** 70", "f4 == 1", "0 < f4", "b1 == 1",
    "i8 == 2 ** 63", "f4 != f4", "f4 == np.float64(0.5)", "f4v == f4",
]  # fmt: skip

FUNCTIONS = [
    *(f"np.{name}({x})" for name in ("exp", "sin", "sqrt", "log1p") for x in ("p2", "p4", "p8")),
    *(f"np.{name}(i4)" for name in ("cos", "exp", "arctan", "sign", "square", "negative")),
    *(f"np.exp({x})" for x in ("i8", "b1")),
    *(f"np.{name}(p4)" for name in (
        "log", "log2", "log10", "exp2", "expm1", "tan", "tanh", "sinh", "cosh", "arcsinh",
        "reciprocal", "isnan", "isinf", "isfinite", "signbit", "floor", "ceil", "trunc", "rint",
        "logical_not")),
    *(f"np.{name}(f4 / 8)" for name in ("arcsin", "arccos", "arctan", "arctanh")),
    *(f"np.{name}(f4, f4s)" for name in (
        "add", "subtract", "multiply", "divide", "true_divide", "maximum", "minimum", "arctan2",
        "fmod", "logical_and", "logical_or", "logical_xor", "equal", "greater", "logaddexp")),
    "np.floor(f2)", "np.floor(i4)", "np.rint(f8)", "np.maximum(i4, 0)", "np.minimum(2, f8)",
    "np.add(f4, 1, dtype=np.float64)", "np.mod(i4, 3)", "np.power(f8, 2)", "np.absolute(i1)",
    "np.invert(b1)", "np.bitwise_and(i4, i4s)", "np.add.reduce(f8)",
    "np.maximum.reduce(f4, axis=1)",
    "r = f4.copy(); np.multiply(f4, 2, out=r); r",
    "r = f4.copy(); np.add(r[:-1], 1, out=r[1:]); r",
    "r = f4.copy(); np.exp(r[:, :2], out=r[:, 1:3]); r",
]  # fmt: skip

REDUCTIONS = [
    *(f"{x}.sum()" for x in _ALL),
    *(f"{x}s.sum(axis=0)" for x in _ALL),
    *(f"{x}t.mean(1)" for x in _ALL),
    *(f"{x}.{name}(axis=1)" for name in ("max", "min") for x in _ALL),
    *(f"{x}.argmax(0)" for x in ("f4", "i4", "u1", "b1")),
    *(f"({x} % 3).prod(axis=1)" for x in ("f8", "i4", "u1")),
    *(f"{x}.cumsum(1)" for x in ("f8", "i4", "i1", "u1")),
    "f4.sum((0, 1), keepdims=True)", "f4.sum(-1)", "f4.sum(dtype=np.float64)", "c.sum((0, 2))",
    "c.max((0, 1))", "c.prod((0, 2))", "f4.prod()", "f4.argmin()", "f4t.argmax()", "f8.cumsum()",
    "f8.cumprod(0)", "f4.std()", "f4.var(axis=1, ddof=1)", "f2.var(0)", "i4.std(0)",
    "b1.any()", "b1.all(axis=0)", "f4.any(1)", "e.sum()", "e.sum(0)", "e.any()", "f40.sum()",
    "np.sum(f4, axis=1, keepdims=True)", "np.mean(i4)", "np.max(f8, axis=0)", "np.amin(f4)",
    "np.argmin(f4, axis=1)", "np.std(f8)", "np.count_nonzero(b1)", "np.any(m)", "np.prod(i2, 0)",
    "f4.sum(5)", "f4.max(axis=-3)", "e.max()", "e.argmax()", "f4.sum((0, 0))",
]  # fmt: skip

INDEXING = [
    "f4[1]", "f4[1, 2]", "f4[-1, ::2]", "f4[..., 1]", "f4[None]", "f4[:, None, 1:]", "f4[1:2, 2:]",
    "f4[::-1]", "f4[::-2, ::-1]", "f4[2:0:-1, 1]", "c[..., ::-1]", "f4[5:]", "i8[np.int64(1)]",
    "f4[k]", "f4[k, 1]", "f4[:, k]", "f4[k, :]", "f4[[2, 0]]", "f4[[0, 1], [1, 2]]",
    "f4[[[0], [2]], [1, 3]]",
    "f4[np.array([-1, 0])]", "c[:, [0, 2]]", "c[[0, 1], :, [1, 2]]", "c[0, :, [1, 2]]",
    "c[:, 0, [1, 2]]",
    "c[..., [0, 3]]", "c[None, [0, 1]]", "c[[0, 1], None, [1, 2]]", "c[:, [[0, 1], [2, 0]]]",
    "f4[[]]",
    "f4[m]", "f4[f4 > 0]", "f4[m, ...]", "c[:, m]", "c[[True, False]]",
    "f4[[True, False, True], 1]",
    "f4[f4[:, 0] > 0]", "i1[k]", "b1[m]", "u1[[1, 1]]", "i4s[k, ::-1]", "f8t[[3, 0]]",
    "f4t[k[:, None], k]",
    "f4[m & (f4 < 1)]", "f4[~m]", "c[1][k]", "c[k % 2, k]", "f4[i4[:2, 0] * 0]",
    "f4[3]", "f4[0, 0, 0]", "f4[[3]]", "f4[[0, -4]]", "f4['a']", "f4[1.0]", "f4[k + 9]",
    "f4[..., ...]",
    "c[:, [0, 1], ..., [1, 2]]", "c[None, 1, ..., [0, 2], [1, 0]]", "c[:, k - 1, ..., k]",
    "c[::-1, 1, ..., [3, 0]]", "f4[..., [0, 2], [1, 1]]", "f4[None, [0, 1], [1, 2], ...]",
    "f4[[0, 1], [0, 1, 2]]", "f4[np.array([0.5])]", "f4[m[:2]]", "f40[0]",
]  # fmt: skip

ASSIGNMENTS = [
    f"x = f4.copy(); {statement}; x" for statement in (
        "x[1] = 0", "x[1:, ::2] = 7", "x[...] = f4v", "x[:] = i4", "x[0] = [1, 2, 3, 4]",
        "x[::-1] = f4", "x[:, 1] = f4[:, 0]", "x[1:] = x[:-1]", "x[:, ::-1] = x", "x[2, 3] = 5",
        "x[None] = 3", "x[m] = 0", "x[x > 0] = -1", "x[m] = f4[m] * 2", "x[~m] += 1", "x[k] = 1",
        "x[[0, 2], [1, 3]] = [5, 6]", "x[:, k] = f4[:, :2]", "x[[0]] = x[[1]]", "x[1] += 10",
        "x[:, 0] *= x[:, 1]", "x += 1", "x -= f4v", "x *= 2.5", "x /= 4", "x //= 2", "x %= 2",
        "x **= 2", "x += x.copy()", "x[:, 1:] += x[:, :-1]", "x += i1", "x += f8", "x.fill(3)",
        "x.sort()", "x.sort(0)", "x[0, k] = 9", "x[::2, [1, 2]] = 4", "x[5] = 1", "x[[7]] = 1",
        "x[:, 1] = f4v", "x += f4t", "x[m] = [1, 2]", "x[0] = 'a'",
        "x[1:1] = 5", "x[k, ::-1] = f4[:2]", "x[None, 1, ..., [0, 2]] = [[7], [8]]",
    )
] + [
    "x = i4.copy(); x += 1.5; x", "x = i4.copy(); x /= 2; x", "x = i4.copy(); x[0] = 2.9; x",
    "x = u1.copy(); x += 1; x", "x = u1.copy(); x[0] = 300; x", "x = u1.copy(); x -= i4; x",
    "x = b1.copy(); x |= m; x", "x = i1.copy(); x &= 3; x",
    "x = f4t.copy(); y = x.T; y += 1; x", "x = f2.copy(); x += f8; x", "x = b1.copy(); x += i4; x",
    "x = f4v.copy(); x += f4; x", "x = i8.copy(); x[m] = 0; x", "x = f8.copy(); x[m] = 2; x",
    "x = i2.copy(); x[k] = i4[:2]; x", "x = b1.copy(); x[0] = 5; x",
]  # fmt: skip

SHAPES = [
    "f4.T", "c.T", "c.transpose(2, 0, 1)", "c.transpose((0, 2, 1))", "c.transpose()",
    "f4.transpose(1, 0)",
    "f4.reshape(4, 3)", "f4.reshape(-1)", "f4t.reshape(2, 6)", "f4s.reshape((12,))",
    "c.reshape(2, -1)",
    "f4.reshape(5)", "c.swapaxes(0, 2)", "f4.ravel()", "f4t.ravel()", "f4.flatten()", "f4.copy()",
    "f4[None].squeeze()", "f4.squeeze(0)", "np.squeeze(f4[None], 0)", "np.reshape(f4, (2, 6))",
    "np.transpose(c)",
    "np.expand_dims(f4, 1)", "np.moveaxis(c, 0, -1)", "np.broadcast_to(f4v, (2, 4))",
    "np.swapaxes(c, 0, 1)",
    "f4.astype(np.int32)", "i4.astype(np.float16)", "f4.astype(bool)", "u1.astype(np.int8)",
    "f8.astype('float32')",
    "len(f4)", "len(f40)", "f4.size", "f4.ndim", "f4.shape", "f4.dtype", "f4.nbytes", "f4.itemsize",
    "f4.tolist()", "f40.item()", "f4.item()", "float(f40)", "int(i40)", "bool(i40)", "bool(f4)",
    "float(f4)",
    "[row for row in f4][1]", "list(f40)", "3 in i4", "99 in i4", "f4.round(1)", "i4.round()",
    "f4.clip(-1, 1)",
    "f4.repeat(2, 1)", "f4.repeat(2)", "f4.take(k, 0)", "f4.take([5, 1])", "f4.nonzero()[1]",
    "f4.argsort(1)",
    "f4 @ f4.T", "c @ f4.T", "f4 @ f4v", "f4v @ f4v", "f4 @ f4", "f4v.dot(f4v)", "f2 @ f2.T",
    "f4 @ 2", "f4.dot(2)",
    "np.concatenate([f4, f4s])", "np.concatenate([f4, i4], axis=1)", "np.concatenate([f4, c])",
    "np.stack([f4, f4s], 1)",
    "np.where(m, f4, 0)", "np.where(m, f4, i4)", "np.where(f4 > 0)[0]", "np.clip(i4, 0, 5)",
    "np.round(f8, 2)",
    "np.tile(f4, 2)", "np.tile(f4v, (2, 1))", "np.flip(f4)", "np.flip(f4, 0)", "np.roll(f4, 1)",
    "np.roll(f4, 1, axis=1)",
    "np.sort(f4)", "np.sort(i4, axis=0)", "np.tril(f4)", "np.triu(f4, 1)",
    "np.take(f4, [0], axis=1)", "np.repeat(i4, 2, axis=0)",
    "np.isclose(f4, abs(f4))", "np.allclose(f4, f4)", "np.array_equal(f4, f4s)",
    "np.array_equal(i4, i4)", "np.zeros_like(f4)",
    "np.ones_like(i4)", "np.full_like(f4, 2)", "np.argwhere(m)", "np.shape(f4)", "np.ndim(c)",
    "np.size(f4)", "np.dot(f4, f4.T)",
    "np.asarray(f4)", "np.array(f4t)", "np.asarray(f4, dtype=np.float64)", "np.copy(f4)",
]  # fmt: skip

MISTAKES = [
    "f4 + f4t", "f4 + 'a'", "f4 + None", "b1 - b1", "-b1", "~f4", "f4 & 1", "i4 ** -1",
    "i4 ** (i4s * 0 - 1)",
    "u1 + 256", "u1 - (-1)", "i1 + 128", "bool(e)", "f4 < 'a'", "iter(f40)", "f4[object()]",
    "np.add(f4, f4t)", "np.maximum(f4, 'a')", "f4.reshape(-1, -1)", "f4.transpose(0, 0)",
    "f4.squeeze(3)",
]  # fmt: skip

COMPLEX = [
    "z + z[::-1]", "z - 2", "z * f4", "z / (z + 20)", "-z", "z ** 2", "(z * 0) ** 0", "z * 1j",
    "f4 + 1j", "z == z",
    "z != z[:1]", "abs(z)", "abs(z[:, ::2])", "np.abs(z[:0])", "np.conj(z)", "np.conj(z[:, 1::2])",
    "np.conjugate(f4)", "np.real(z)", "np.imag(z)", "np.imag(z.T)[1:]", "np.real(f4)",
    "np.imag(f4)", "np.real(z[:0])", "z.sum(0)", "z.mean()", "z.std()", "z.var(axis=1)",
    "z.prod(1)", "z.astype(bool)", "z.tolist()", "z // 2", "z % f4", "np.floor(z)",
    "np.arctan2(z, f4)", "np.fmod(z, z)", "np.trunc(z)", "np.logaddexp(z, z)",
    "x = z.copy(); np.real(x)[...] = 0; x", "x = z.copy(); x *= 2j; x", "x = f4.copy(); x += z; x",
]  # fmt: skip

MORE = [
    "np.outer(f4v, i4v)", "np.outer(i4, b1v)", "np.outer(f4, 2)", "np.ptp(f4)",
    "np.ptp(i4, axis=1)", "np.ptp(i4t, axis=0, keepdims=True)", "np.ptp(e)", "np.diff(f4)",
    "np.diff(i4s, axis=0)",
    "np.diff(b1)", "np.diff(f8, n=2)", "np.diff(f8, n=9)", "np.diff(f4, n=0)", "np.diff(f40)",
    "np.diff(f4, n=-1)", "np.diff(f4, axis=2)", "np.reciprocal(i4 * 0 + 1)",
    "np.reciprocal(u1 + 1)", "np.reciprocal(i2 * 0 - 1)", "np.reciprocal(f8 + 9)",
    "f40.sum(0)", "f40.max(-1)", "b10.any(0)", "f40.mean(0)", "f40.sum(1)", "e.argmax(1)",
    "e.argmax(0)", "e.T.argmin(0)", "c.swapaxes(1, 1)", "f4.swapaxes(0, -2)",
    "u1 % -1", "i1 % 300", "np.sign(b1)",
    "np.sort(f40)", "np.nonzero(f40)", "np.clip(u1, -1, 2)", "np.clip(i1, -300, 300)",
    "np.linalg.norm(f4)", "np.linalg.norm(i4, axis=1)",
    "np.linalg.norm(f8t, axis=0, keepdims=True)",
    "np.linalg.norm(z)", "np.linalg.norm(f4v, 1)", "np.linalg.norm(f4, 3, axis=-1)",
    "np.linalg.norm(f4v, np.inf)", "np.linalg.norm(i4, -np.inf, 0)", "np.linalg.norm(c)",
    "np.linalg.norm(e, axis=1)", "np.linalg.norm(f4, axis=2)",
    "np.linalg.inv(p4[:, :3] + np.float32(4) * f4[:, :3])", "np.linalg.inv(f4)",
    "np.floor(b1)", "np.ceil(b1)", "np.trunc(i4)", "x = i4.copy(); x += f4t; x",
]  # fmt: skip

# CANN's product takes no dtype of these.
PRODUCTS = [
    "np.concatenate([u2, u2])", "np.vstack([u8, u8[0]])", "np.pad(u4, 1)", "np.isin(z, z[0])",
    "np.concatenate([z.astype(np.complex128), f8 + 0j], 1)",
    "np.insert(z * (1 + 0j), 1, 2, axis=0)",
    "f4 + [1, 2, 3, 4]", "[1.5, 2, 3, 4] * i4", "f4 == [1, 2, 3, 4]", "np.hypot(f4, (3, 4, 5, 6))",
    "u1v - [[1], [2]]", "np.dot(f4, [1, 2, 3, 4])", "np.inner([1, 2, 3, 4], i4)",
    "np.outer(f4v, [1, 2])",
    "np.concatenate([f4v, [1, 2]])", "np.concatenate([[[1, 2, 3, 4]], i1])",
    "np.hstack([i4v, [True]])",
    "np.select([m, ~m], [1, 2], default=3)", "np.select([m, f4 > 0], [1, 2.5])",
    "np.lib.stride_tricks.sliding_window_view(f4, (2, 3))",
    "np.lib.stride_tricks.sliding_window_view(i4t, 2, axis=1).sum(-1)",
    "np.lib.stride_tricks.sliding_window_view(f4, (2, 2), (0, 0))",
    "np.lib.stride_tricks.sliding_window_view(f4v, 5)",
    "f8 @ f8.T", "f8v @ f8v", "f8v @ f8t", "f8 @ f8v", "i4 @ i4.T", "i1 @ i1v", "u1v @ u1t",
    "b1 @ b1.T", "i8 @ f4.T", "z @ z.T", "z @ f4v", "c @ f8.T", "f8[:, :0] @ f8[:0]",
    "f8[:0] @ f8.T", "f8 @ f8", "f8v @ i4v[:3]", "np.dot(i4, 2)", "np.vdot(z, z)",
    "np.vecdot(z, z * 1j)",
    "np.vecmat(z[:, 0], z)", "np.matvec(z, z[0])", "np.linalg.vecdot(z, z, axis=0)",
    "np.tensordot(i4, i4t, 1)", "np.einsum('ij,kj', f8, i4)", "np.fft.fft(f8)", "np.fft.fft(i4)",
    "np.fft.fft(b1)", "np.fft.irfft(f8)", "np.fft.ifft2(z + f8)", "np.sort_complex(f4v)",
    "np.sort_complex(b1v)", "np.linalg.svd(f8, compute_uv=False)",
    "np.linalg.svd(i4, compute_uv=False)", "np.linalg.svd(z, compute_uv=False)",
    "np.linalg.slogdet(z[:, :3])", "np.linalg.det(f8[:, :3])", "np.linalg.det(i4[:, :3])",
    "np.linalg.pinv(f8)", "np.linalg.pinv(z)", "np.linalg.solve(f8[:, :3], i4[:, 0])",
    "np.linalg.solve(z[:, :3], f4)", "np.linalg.lstsq(p8, f8v[:3])[0]",
    "np.linalg.lstsq(z.T, z[0])[0]", "np.linalg.inv(i4[:, :3])",
    "np.linalg.matrix_power(i4[:, :3], 3)",
    "np.linalg.matrix_power(f8[:, :3], 0)", "abs(np.linalg.qr(f8).R)", "np.linalg.inv(f2[:, :3])",
]  # fmt: skip

EXPRESSIONS = [
    *ARITHMETIC, *COMPARISONS, *FUNCTIONS, *REDUCTIONS, *INDEXING, *ASSIGNMENTS, *SHAPES, *MISTAKES,
    *COMPLEX, *MORE, *PRODUCTS,
]  # fmt: skip

# What NumPy has and CANN or this package has not: the expression and the error that says so.
REFUSED = {
    "np.tanh(z)": ValueError,
    "np.linalg.eig(f4[:, :3])": TypeError,
    "np.isnat(f4)": TypeError,
    "np.i0(z)": TypeError,
    "np.linalg.svd(f2)": TypeError,
    "np.pad(f4, 1, mode='reflect', reflect_type='odd')": TypeError,
    "np.histogram(f4, 'stone')": ValueError,
    "np.add(f4, 1, casting='no')": TypeError,
    "f4 + np.ones((3, 4))": TypeError,
    "np.ones((3, 4)) + f4": TypeError,
    "u2 + u2": ValueError,
    "u4 * 2": ValueError,
    "u8 - u8": ValueError,
}
