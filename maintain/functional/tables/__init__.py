# SPDX-License-Identifier: Apache-2.0
"""The table of `functional`: one row per function, one module per family."""

from __future__ import annotations

from types import ModuleType

from maintain.functional.row import Row
from maintain.functional.tables import (
    activation,
    activation_backward,
    arithmetic,
    attention,
    boxes,
    classification,
    comparison,
    conversion,
    convolution_gradients,
    creation,
    decompositions,
    distances,
    experts,
    in_place,
    indexing,
    latent_attention,
    latent_gradients,
    loss,
    margins,
    matrices,
    normalization,
    pointwise,
    pool_gradients,
    quantisation,
    rearrangement,
    reduction,
    rotary,
    routing,
    serving,
    sparse_attention,
    training,
    training_attention,
    windows,
)

__all__ = ["FAMILIES", "ROWS", "WRITTEN"]

FAMILIES: dict[str, ModuleType] = {
    family.__name__.rpartition(".")[2]: family
    for family in (
        arithmetic,
        comparison,
        pointwise,
        in_place,
        activation,
        activation_backward,
        loss,
        classification,
        reduction,
        normalization,
        matrices,
        decompositions,
        distances,
        attention,
        sparse_attention,
        latent_attention,
        latent_gradients,
        training_attention,
        serving,
        rotary,
        quantisation,
        routing,
        experts,
        rearrangement,
        indexing,
        conversion,
        creation,
        windows,
        convolution_gradients,
        pool_gradients,
        margins,
        boxes,
        training,
    )
}
ROWS: dict[str, Row] = {row.name: row for family in FAMILIES.values() for row in family.ROWS}

# Functions written by hand, by the module that has them.
WRITTEN = {
    "caches": ("scatter_pa_kv_cache",),
    "grouped": ("gmm", "gmm_backward", "gmm_v2", "gmm_v2_backward"),
    "mx": ("anti_mx_quant", "dynamic_mx_quant"),
    "quant": (
        "npu_format_cast",
        "pack_scale",
        "trans_convolution_weight",
        "trans_matmul_weight",
        "trans_quant_param",
        "unpack_scale",
    ),
    "resizing": (
        "affine_grid",
        "grid_sample",
        "grid_sample_backward",
        "interpolate",
        "interpolate_backward",
    ),
    "recurrence": ("chunk_gated_delta_rule", "recurrent_gated_delta_rule"),
    "recurrent_networks": (
        "gru",
        "gru_backward",
        "lstm",
        "lstm_backward",
        "lstm_cell",
        "lstm_cell_backward",
    ),
    "sampling": ("apply_top_k_top_p", "multinomial", "top_k_top_p_sample"),
    "residual_streams": ("mhc_post", "mhc_pre"),
    "selection": ("count_nonzero", "masked_select", "nonzero"),
}
