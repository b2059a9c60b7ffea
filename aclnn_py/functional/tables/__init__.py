# SPDX-License-Identifier: Apache-2.0
"""The function table: one row per function, by family."""

from __future__ import annotations

from aclnn_py.functional.row import Row
from aclnn_py.functional.tables import (
    activation,
    attention,
    creation,
    elementwise,
    in_place,
    indexing,
    linear,
    reduction,
    shape,
    windows,
)

__all__ = ["FAMILIES", "ROWS", "WRITTEN"]

FAMILIES: dict[str, tuple[Row, ...]] = {
    family.__name__.rpartition(".")[2]: family.ROWS
    for family in (
        elementwise,
        in_place,
        activation,
        reduction,
        linear,
        attention,
        shape,
        indexing,
        creation,
        windows,
    )
}
ROWS: dict[str, Row] = {row.name: row for rows in FAMILIES.values() for row in rows}

# Functions that are more than a row, by the module that has them.
WRITTEN = {
    "grouped": ("gmm", "gmm_backward", "gmm_v2", "gmm_v2_backward"),
    "quant": ("pack_scale", "trans_matmul_weight", "trans_quant_param", "unpack_scale"),
    "selection": ("count_nonzero", "masked_select", "nonzero"),
}
