# SPDX-License-Identifier: Apache-2.0
"""Calls of causal convolutions, made in the process with the newer chip."""

from __future__ import annotations

from typing import Any

import numpy as np
from helpers.chip_950 import Refused


def convolve(arrays: dict[str, Any], attributes: list[int], in_place: bool) -> Any:
    """Run a convolution; return its result and the cache, or how it was refused.

    ``arrays`` has the tensors by name, in the order of the call; None stands for a null pointer.
    """
    import aclnn_py as ap

    tensors = {
        name: None if array is None else ap.from_numpy(np.ascontiguousarray(array))
        for name, array in arrays.items()
    }
    x = tensors["x"]
    y = x if in_place else ap.from_numpy(np.full(x.shape, 77).astype(arrays["x"].dtype))
    given = [*tensors.values(), *attributes]
    try:
        if in_place:
            ap.ops.inplace_fused_causal_conv1d(*given)
        else:
            ap.ops.fused_causal_conv1d(*given, y)
        ap.Device(0).synchronize()
    except ap.errors.StatusError as error:
        return Refused(int(error.status), str(error))
    return y.numpy(), tensors["states"].numpy()
