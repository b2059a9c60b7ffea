# SPDX-License-Identifier: Apache-2.0
"""NumPy's functions by name: which module evaluates them on tensors, or why nothing does.

A function is called as in NumPy. The module named here defines it under the same name, with an
underscore behind it where Python has a function of that name, and with one instead of the dot in
``linalg.norm``. The modules are loaded when a function of theirs is first called.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

from aclnn_py.late import load as _load

__all__ = ["BY_CHOICE", "HOMES", "REFUSED", "evaluator", "refusal"]

HOMES: dict[str, str] = {
    name: module
    for module, names in {
        "shaping": (
            "astype atleast_1d atleast_2d atleast_3d broadcast_arrays broadcast_to copy diag "
            "diagflat diagonal expand_dims flip fliplr flipud matrix_transpose moveaxis ndim "
            "ravel repeat reshape resize roll rollaxis rot90 shape size squeeze swapaxes tile "
            "trace transpose tril triu linalg.diagonal linalg.matrix_transpose linalg.trace"
        ),
        "joining": (
            "append array_split block column_stack concatenate delete dsplit dstack hsplit hstack "
            "insert split stack unstack vsplit vstack"
        ),
        "searching": (
            "argmax argmin argpartition argsort argwhere choose compress count_nonzero digitize "
            "extract flatnonzero lexsort nanargmax nanargmin nonzero partition piecewise "
            "searchsorted select sort sort_complex take take_along_axis trim_zeros where"
        ),
        "padding": "pad",
        "windows": "lib.stride_tricks.sliding_window_view",
        "storing": "copyto fill_diagonal place put put_along_axis putmask",
        "places": (
            "diag_indices_from ix_ ravel_multi_index tril_indices_from triu_indices_from "
            "unravel_index"
        ),
        "statistics": (
            "all amax amin any average corrcoef cov cumprod cumsum cumulative_prod cumulative_sum "
            "max mean min prod ptp std sum var"
        ),
        "quantiles": "median percentile quantile",
        "histograms": "bincount histogram histogram2d histogram_bin_edges histogramdd",
        "without_nan": (
            "nancumprod nancumsum nanmax nanmean nanmedian nanmin nanpercentile nanprod "
            "nanquantile nanstd nansum nanvar nan_to_num"
        ),
        "mathematics": (
            "allclose angle apply_along_axis apply_over_axes around array_equal array_equiv clip "
            "convolve correlate fix imag iscomplex iscomplexobj isclose isneginf isposinf isreal "
            "isrealobj packbits real real_if_close round sinc unpackbits"
        ),
        "calculus": "diff ediff1d gradient interp trapezoid unwrap",
        "polynomials": "poly polyadd polyder polydiv polyfit polyint polymul polysub polyval",
        "sets": (
            "intersect1d isin setdiff1d setxor1d union1d unique unique_all unique_counts "
            "unique_inverse unique_values"
        ),
        "linear": (
            "cross dot einsum inner kron outer tensordot vander vdot linalg.cross linalg.matmul "
            "linalg.outer linalg.tensordot linalg.vecdot"
        ),
        "decompositions": (
            "linalg.cholesky linalg.cond linalg.det linalg.eigh linalg.eigvalsh linalg.inv "
            "linalg.lstsq linalg.matrix_norm linalg.matrix_power linalg.matrix_rank "
            "linalg.multi_dot linalg.norm linalg.pinv linalg.qr linalg.slogdet linalg.solve "
            "linalg.svd linalg.svdvals linalg.tensorinv linalg.tensorsolve linalg.vector_norm"
        ),
        "fourier": (
            "fft.fft fft.fft2 fft.fftn fft.fftshift fft.hfft fft.ifft fft.ifft2 fft.ifftn "
            "fft.ifftshift fft.ihfft fft.irfft fft.irfft2 fft.irfftn fft.rfft fft.rfft2 fft.rfftn"
        ),
        "creating": (
            "arange array asanyarray asarray ascontiguousarray asfortranarray empty empty_like eye "
            "full full_like geomspace identity linspace logspace meshgrid ones ones_like tri zeros "
            "zeros_like"
        ),
        "bessel": "i0",
        "hosting": "array2string array_repr array_str save savetxt savez savez_compressed",
        "asking": (
            "can_cast common_type may_share_memory min_scalar_type result_type shares_memory"
        ),
    }.items()
    for name in names.split()
}  # fmt: skip

_EIGEN = (
    "no operator finds eigenvalues of matrices that are not symmetric or Hermitian; linalg.eigh"
    " takes those, and ap.unsupported_dtypes('host') computes the others with NumPy"
)
_DATES = "tensors hold no dates"
_HOST = "it would call Python for each element"

# Refused, but for threads that have chosen "host" with `unsupported_dtypes`.
BY_CHOICE = ("linalg.eig", "linalg.eigvals", "roots")

# NumPy's functions that no operator, alone or with a few others, can evaluate.
REFUSED: dict[str, str] = {
    **dict.fromkeys(BY_CHOICE, _EIGEN),
    "einsum_path": "the order of products is planned on the host; give it the shapes",
    "isnat": _DATES,
    **dict.fromkeys(
        ("busday_count", "busday_offset", "is_busday", "datetime_as_string"), _DATES
    ),
    **dict.fromkeys(("fromfunction", "fromiter"), _HOST),
    **dict.fromkeys(
        ("frombuffer", "fromfile", "fromstring", "loadtxt", "genfromtxt", "require"),
        "it reads on the host; copy its result with from_numpy()",
    ),
}  # fmt: skip


@cache
def evaluator(name: str) -> Callable[..., Any] | None:
    """The function that evaluates NumPy's function of that name, or None."""
    module = HOMES.get(name)
    if module is None:
        return None
    home = _load(f"aclnn_py.array.{module}")
    attribute = name.replace(".", "_")
    found: Callable[..., Any] = getattr(home, f"{attribute}_", None) or getattr(home, attribute)
    return found


def refusal(name: str) -> str:
    """Why tensors are not taken, and what to do."""
    reason = REFUSED.get(name, "it is not connected to operators")
    return f"np.{name} does not run on the device: {reason}; np.asarray(t) copies t to the host"
