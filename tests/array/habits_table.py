# SPDX-License-Identifier: Apache-2.0
"""What people with NumPy's habits write, in the notation of ``sides``: a list for each habit."""

from __future__ import annotations

# Views of NumPy's that run backwards, and other views: what is written into one is in the other.
VIEWS = [
    f"{make}; {write}; {see}"
    for make, see in (
        ("x = f4.copy(); y = x[::-1]", "x, y"),
        ("x = f4.copy(); y = x[::-1, ::-2]", "x, y"),
        ("x = f4.copy(); y = np.flip(x)", "x, y"),
        ("x = f4.copy(); y = np.fliplr(x)[1:]", "x, y"),
        ("x = f4.copy(); y = np.rot90(x)", "x, y"),
        ("x = f4.copy(); y = x[1:, ::-1]; w = y[::-1, 1:]", "x, y, w"),
        ("x = f4.copy(); y = x[::-1][:, ::-1]", "x, y"),
        ("x = z.copy(); y = x[:, ::-1]", "x, y"),
        ("x = z.astype(np.complex128); y = x[::-1]", "x, y"),
        ("x = u4.copy(); y = x[::-1]", "x, y"),
        ("x = b1.copy(); y = x[::-1, 1:]", "x, y"),
        ("x = f4.copy(); y = x.T[::-1].reshape(-1)[::2]", "x"),
    )
    for write in ("y[0] = 1", "x[0] = 1", "y[...] = y[::-1]", "y.fill(0)", "x[k] = 1")
] + [
    f"x = i4v.copy(); {statement}; x"
    for statement in (
        "x[::-1].sort()", "x[::-2].fill(0)", "y = x[::-1]; y += x", "y = x[::-1]; y <<= 1",
        "y = x[::-1]; y[y > 2] = 7", "x[::-1] += x", "x[::-1][::2] += 3", "x[::-1].flat[0] = 9",
        "np.add(x, 1, out=x[::-1])", "np.cumsum(x, out=x[::-1])", "np.add.at(x[::-1], [0, 0], 5)",
        "np.multiply.at(x[::-1], [1, 1], 2)", "np.put(x[::-1], [0], 5)", "x[2:0:-1].fill(4)",
        "np.place(x[::-1], x > 2, [1])", "np.copyto(x[::-1], x[0])", "y = x[::-1].copy(); y[0] = 9",
        "y = x[::-1]; x += 1; x[...] = y", "y = np.flip(x); w = y[::-1]; w[1] = 99; x[0] = y[2]",
    )
] + [
    "x = z.copy(); x[::-1].real = 0; x", "x = f4.copy(); np.fill_diagonal(x[::-1], 9); x",
    "x = f4.copy(); y = np.einsum('ij->ji', x); y[0] = 9; x",
    "x = f4[:, :3].copy(); y = np.einsum('ii->i', x); y[:] = 9; x",
    "x = f4.copy(); y = x.conj(); y[0] = 9; x", "x = f4.copy(); y = x.view(); y[0] = 9; x",
    "x = f4.copy(); y = np.rot90(x, 4); y[0] = 9; x",
    "x = f4[:, :3].copy(); y = np.linalg.matrix_power(x, 1); y[0] = 9; x",
    "x = f4.copy(); y = x.reshape((4, 3), copy=True); y[0] = 9; x",
    "x = f4.copy(); y = x.T.reshape((4, 3), order='F', copy=True); y[0] = 9; x",
    "x = f4.copy(); x[:] = 5; y = x[::-1]; x = x + 1; y[0] = 3; x",
]  # fmt: skip

# An element is a number of its own, whatever is written afterwards.
ELEMENTS = [
    f"x = {make}; {statements}"
    for make in ("f8v.copy()", "i4v.copy()", "z[0].copy()", "u1v.copy()[::-1]")
    for statements in (
        "x[0], x[1] = x[1], x[0]; x", "y = x[0]; x[0] = x[1]; x[1] = y; x, y",
        "y = x[1]; x *= 2; y", "y = x[1]; x[::-1][-2] = 7; y", "y = x[::-1][0]; x[-1] = 7; y",
        "y = x[0]; y += 1; x, y", "y = x[0]; w = y; y *= 2; w, y", "y = x[0, ...]; x[0] = 5; y",
        "y = list(x); x.fill(3); y", "y, *w = x; x[:] = 0; y, w", "y = x[0]; y += x[1]; y += x; y",
        "y = x[2]; np.add(x, 1, out=x); y", "y = x[2]; np.put(x, [2], 9); y",
        "y = x[2]; np.add.at(x, [2, 2], 9); x, y", "y = x[2]; np.cumsum(x, out=x); y",
        "y = x[2]; w = [y, y + 1]; x[2] = 0; w", "x[0] += x[1]; x", "y = x.sum(); y /= 2; y",
        "y = x.reshape(2, 2); w = y[1, 0]; y[1] = 8; w, x", "y = x[1:][0]; x += x; y",
    )
] + [
    "x = f40 * 1; y = x[()]; x = x + 1; y", "x = i4v.copy(); y = x[0]; y <<= 1; x, y",
    "x = i4v.copy(); y = x[0]; y += 1.5; x, y", "x = m.copy(); y = x[0, 0]; x ^= True; y",
    "x = f4.copy(); y = x[1]; x += 1; y", "x = f4.copy(); y = x[1][2]; x[1] = 3; y",
    "x = u2.copy(); y = x[0, 1]; x[0, 1] = 9; y", "x = f4.copy(); y = f4.sum(); y += f4; y",
    "x = [v for v in f4v]; x[0]", "'ab' * abs(i4[1, 1])", "i4 == 'a'", "f4 != 'a'", "f4 < 'a'",
    "x = f4.copy(); y = x.real[1, 1]; x[1] = 0; y",
]  # fmt: skip

# What does not fit is refused, not changed.
STORED = [
    "x = i4.copy(); x[0, 0] = np.nan; x", "x = i4.copy(); x.fill(np.inf); x",
    "x = f4.copy(); x[0] = 1j; x", "x = u1.copy(); x[0] = [1, 2, 300, 4]; x",
    "x = i4.copy(); x[0] = [1.5, 2, 3, 4]; x", "x = i4.copy(); x[0] = [np.nan, 2, 3, 4]; x",
    "x = i4.copy(); np.copyto(x, 1.5); x", "x = u1.copy(); np.copyto(x, 300); x",
    "x = u1.copy(); np.copyto(x, 3); x", "x = b1.copy(); np.copyto(x, 3); x",
    "x = i4.copy(); np.copyto(x, 1.5, casting='unsafe'); x", "x = f4.copy(); np.copyto(x, 1j); x",
    "np.hstack([f4, f4], dtype=np.int32)", "np.stack([f4, f4], dtype=np.int32, casting='unsafe')",
    "np.concatenate([i4, i4], dtype=np.float32)", "np.vstack([i4, u1], dtype=np.uint8)",
    "np.add(f4, 1, dtype=np.int32)", "np.add(i4, 1, dtype=np.float32)",
    "np.exp(z, dtype=np.float32)",
    "np.greater(f4, 1, dtype=bool)", "np.greater(f4, 1, dtype=np.float32)",
    "np.isnan(f4, dtype=bool)", "np.logical_and(f4, i4, dtype=bool)",
    "x = i8[:, :3].copy(); x @= f8[:, :3]; x", "x = i4v.copy(); x @= x; x",
    "x = i4[:, :3].copy(); x @= x; x", "x = u1.copy(); x <<= i4; x", "x = i1.copy(); x >>= 1; x",
    "f4.astype(np.int32, casting='same_kind')", "f4.astype(np.int32, 'K', 'unsafe', True, False)",
    "f4.astype(np.float32, copy=False) is f4", "i1.astype(np.int16, casting='safe')",
    "np.linalg.svd(f8, hermitian=True)", "np.isin(i4, [1], kind='x')",
]  # fmt: skip

# ufunc.at with elements named twice, and other methods of ufuncs. None of them raises: NumPy leaks
# the arguments of methods that do.
METHODS = [
    f"x = f8v.copy(); np.{name}.at(x, [1, 1, 0, 1], {values}); x"
    for name, values in (
        ("maximum", "[1, 9, 2, 8]"), ("multiply", "2"), ("power", "2"), ("divide", "[2, 4, 8, 16]"),
        ("add", "[1, 9, 2, 8]"), ("subtract", "1.5"), ("fmin", "f8v"), ("logical_or", "i4v"),
    )
] + [
    "x = f8v.copy(); np.negative.at(x, [1, 1, 1]); x",
    "x = i4v.copy(); np.add.at(x, [0, 0], 1.5); x",
    "x = f4.copy(); np.maximum.at(x, (k, [1, 1]), 9); x",
    "x = f4.copy(); np.minimum.at(x, m, -9); x", "x = i4v.copy(); np.maximum.at(x, [], []); x",
    "x = u1v.copy(); np.bitwise_or.at(x, [0, 0], [8, 16]); x",
    "x = f4.copy(); np.multiply.at(x, ([0, 0], slice(1, 3)), f4[:2, :2]); x",
    "np.multiply.outer(f4, [1, 2])", "np.add.outer([1, 2], i4v)",
    "np.gcd.reduce(i4, axis=None)", "np.bitwise_or.reduce(u1, axis=(0, 1), keepdims=True)",
    "np.hypot.reduce(c, axis=(0, 2))",
    "np.logaddexp.reduce(f8v[:0])", "np.bitwise_and.reduce(i4[:0], axis=0)",
    "np.logical_xor.reduce(e, axis=0)",
]  # fmt: skip

# Arguments that NumPy takes.
ARGUMENTS = [
    *(f"np.histogram(f8, bins={rule!r})" for rule in (
        "auto", "doane", "fd", "rice", "scott", "sqrt", "sturges", "none")),
    *(f"np.histogram_bin_edges(i4, bins={rule!r})" for rule in ("auto", "fd", "scott", "doane")),
    "np.histogram(f8, bins='auto', range=(0, 1))", "np.histogram(f8[:0], bins='auto')",
    "np.histogram(f8, bins='auto', weights=f8)", "np.histogram(f8 * 0, bins='auto')",
    *(f"np.quantile(f8v, np.arange(0, 1.01, 0.125), method={how!r})" for how in (
        "inverted_cdf", "averaged_inverted_cdf", "closest_observation")),
    "np.quantile(i4, 0.3, axis=1, method='closest_observation', keepdims=True)",
    "np.quantile(f8, [0, 0.3, 1], method='inverted_cdf', weights=abs(f8))",
    "np.percentile(i4, 40, axis=0, method='inverted_cdf', weights=[1, 0, 3])",
    "np.quantile(f8, 0.3, method='inverted_cdf', weights=-abs(f8) - 1)",
    "np.quantile(f8, 0.3, weights=abs(f8))",
    "np.quantile(f8, 0.3, method='inverted_cdf', weights=[1, 2])",
    "np.cov(z)", "np.cov(z[0], aweights=[1, 2, 3, 4])", "np.cov(f8, z)", "np.corrcoef(z)",
    "np.interp(f8v, [0, 1], z[0, :2])", "np.interp(f8v, [0, 1], z[0, :2], left=0j, right=1)",
    "np.interp(z[0], [0, 1], [2, 3])",
    "np.unwrap(i4v * 3, period=4)", "np.unwrap(i4 * 3, axis=0, period=5)", "np.unwrap(i4v * 3)",
    "np.polyfit(f8v + k.sum() * i4v, i4v, 1, full=True)[:2]",
    "np.polyfit(p8[0], p8[1], 1, cov=True)",
    "np.polyfit(p8[0], p8[1:].T, 1, cov=True)", "np.polyfit(p8[0], p8[1], 2, cov='unscaled')",
    "np.polyfit(p8[0], p8[1], 3, cov=True)", "np.polyfit(p8[0], p8[1], 2, rcond=0.1)",
    "np.cross(f4[:, :2], i4[:, :2])", "np.cross(f4[:, :2], f4[:, :3])",
    "np.cross([1, 2, 3], f4v[:3])",
    "np.cross(f4, f4)", "np.linalg.cross(f4[:, :2], f4[:, :2])",
    "np.einsum(f4, [0, 1])", "np.einsum(f4, [0, 1], i4, [2, 1])", "np.einsum(f4, [0, 1], [1])",
    "np.einsum(c, [..., 0], [...])", "np.einsum('i,i', f4v, [1, 2, 3, 4])",
    "np.einsum('i,i', i4v, i4v, dtype=np.float64)", "np.einsum('i,i', f4v, i4v, dtype=np.int32)",
    "np.linalg.solve(p8[:, :3], [1, 2, 3])", "np.linalg.lstsq(p8, [1, 2, 3])[0]",
    "f4 @ [1, 2, 3, 4]", "[1, 2, 3] @ f4", "np.tensordot(f4, [1, 2, 3, 4], 1)",
    "np.tensordot(f4, 2, 0)", "np.linalg.multi_dot([f4, [1, 2, 3, 4]])",
    "f4.sum(-1, keepdims=1)", "f8.std(0, keepdims=1)", "f4.argmax(1, keepdims=1)",
    "np.lexsort((i40, i40))", "np.split(i4v, i40 * 0 + 2)", "np.repeat(f8, i40 * 0 + 2)",
    "np.array_split(i4v, i40 * 0 + 3)", "f4.reshape(np.array([4, 3]))", "np.cumulative_sum(f40)",
    "np.cumulative_prod(i40, include_initial=True)",
    "f40[f40 > 100]", "f40[f40 < 100]", "f4[True]", "f4[np.False_]", "f4[f4.sum() < 1e9]",
    "x = f4[0, 0, ...].copy(); x[x < 100] = 3; x", "x = f4.copy(); x[False] = 3; x",
    "f4.view(np.int16)", "f4t.T.view('u1')", "f4t.view('i8')", "z.view(np.float32)",
    "f40.view('i2')",
    "u1v.view('i4')",
    "x = f4.copy(); f4.clip(0, 1, x); x", "f4.round(1, np.empty_like(f4))",
    "f4.take([0, 1], None, np.empty_like(f4v[:2]))", "f4.take([0, 9], 1, None, 'wrap')",
    "f4.trace(0, 0, 1, None, np.empty_like(f40))", "f4.dot(f4.T, np.empty_like(f4[:, :3]))",
    "f4.compress([1, 0, 1], 0, np.empty_like(f4[:2]))", "f8.var(0, mean=f8.mean(0, keepdims=True))",
    "f4.std(mean=f4.mean(keepdims=True))", "f4.argpartition(1, 0, 'introselect').shape",
    "f4.T.reshape(12, copy=False)", "f4.reshape(12, copy=False)",
    "u2[::-1]", "u4[k]", "u8[u8.astype(int) > 3]", "np.roll(u2, 1)", "np.repeat(u4, 2)",
    "x = u8.copy(); x[k] = 5; x", "x = u2.copy(); x[::-1] = u2; x", "np.delete(u4, 0)",
    "u8[::-1, k]",
    "x = u2.copy(); x[::-1, k] = 7; x", "np.full((2, 2), f40, like=f4)",
]  # fmt: skip

HABITS = {
    "views": VIEWS,
    "elements": ELEMENTS,
    "stored": STORED,
    "methods": METHODS,
    "arguments": ARGUMENTS,
}
