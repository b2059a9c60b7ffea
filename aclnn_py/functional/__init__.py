# SPDX-License-Identifier: Apache-2.0
# Written by `python -m maintain.functional`; change its tables, not this file.
"""Operators that allocate their result: `functional.matmul(x, w)` returns a new tensor.

Each function queues one operator of `ops`, sometimes two, on the current stream, or on `stream`,
and returns before the device finishes. Names and the order of arguments are torch's where torch has
the function; a name that ends in an underscore writes its first argument and returns it. A function
is loaded when it is first named; `dir(functional)` lists them all.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from aclnn_py.late import load as _load

if TYPE_CHECKING:
    from aclnn_py.functional.activation import *  # noqa: F403
    from aclnn_py.functional.activation_backward import *  # noqa: F403
    from aclnn_py.functional.arithmetic import *  # noqa: F403
    from aclnn_py.functional.attention import *  # noqa: F403
    from aclnn_py.functional.boxes import *  # noqa: F403
    from aclnn_py.functional.caches import *  # noqa: F403
    from aclnn_py.functional.classification import *  # noqa: F403
    from aclnn_py.functional.comparison import *  # noqa: F403
    from aclnn_py.functional.conversion import *  # noqa: F403
    from aclnn_py.functional.convolution_gradients import *  # noqa: F403
    from aclnn_py.functional.creation import *  # noqa: F403
    from aclnn_py.functional.decompositions import *  # noqa: F403
    from aclnn_py.functional.distances import *  # noqa: F403
    from aclnn_py.functional.experts import *  # noqa: F403
    from aclnn_py.functional.grouped import *  # noqa: F403
    from aclnn_py.functional.in_place import *  # noqa: F403
    from aclnn_py.functional.indexing import *  # noqa: F403
    from aclnn_py.functional.latent_attention import *  # noqa: F403
    from aclnn_py.functional.latent_gradients import *  # noqa: F403
    from aclnn_py.functional.loss import *  # noqa: F403
    from aclnn_py.functional.margins import *  # noqa: F403
    from aclnn_py.functional.matrices import *  # noqa: F403
    from aclnn_py.functional.mx import *  # noqa: F403
    from aclnn_py.functional.normalization import *  # noqa: F403
    from aclnn_py.functional.pointwise import *  # noqa: F403
    from aclnn_py.functional.pool_gradients import *  # noqa: F403
    from aclnn_py.functional.quant import *  # noqa: F403
    from aclnn_py.functional.quantisation import *  # noqa: F403
    from aclnn_py.functional.rearrangement import *  # noqa: F403
    from aclnn_py.functional.recurrence import *  # noqa: F403
    from aclnn_py.functional.recurrent_networks import *  # noqa: F403
    from aclnn_py.functional.reduction import *  # noqa: F403
    from aclnn_py.functional.residual_streams import *  # noqa: F403
    from aclnn_py.functional.resizing import *  # noqa: F403
    from aclnn_py.functional.rotary import *  # noqa: F403
    from aclnn_py.functional.routing import *  # noqa: F403
    from aclnn_py.functional.sampling import *  # noqa: F403
    from aclnn_py.functional.selection import *  # noqa: F403
    from aclnn_py.functional.serving import *  # noqa: F403
    from aclnn_py.functional.sparse_attention import *  # noqa: F403
    from aclnn_py.functional.training import *  # noqa: F403
    from aclnn_py.functional.training_attention import *  # noqa: F403
    from aclnn_py.functional.windows import *  # noqa: F403

# Module -> the functions it defines.
_FUNCTIONS = {
    "activation": (
        "add_relu",
        "clipped_swiglu",
        "elu",
        "gelu",
        "gelu_mul",
        "glu",
        "hardsigmoid",
        "hardswish",
        "leaky_relu",
        "log_softmax",
        "logsigmoid",
        "mish",
        "relu",
        "selu",
        "sigmoid",
        "silu",
        "softmax",
        "softplus",
        "softshrink",
        "swiglu",
        "threshold",
    ),
    "activation_backward": (
        "elu_backward",
        "gelu_backward",
        "glu_backward",
        "hardsigmoid_backward",
        "hardswish_backward",
        "leaky_relu_backward",
        "logsigmoid_backward",
        "mish_backward",
        "prelu",
        "prelu_backward",
        "relu_backward",
        "selu_backward",
        "sigmoid_backward",
        "silu_backward",
        "softplus_backward",
        "softshrink_backward",
        "swiglu_backward",
        "tanh_backward",
        "threshold_backward",
    ),
    "arithmetic": (
        "add",
        "addcdiv",
        "addcmul",
        "atan2",
        "div",
        "floor_divide",
        "fmod",
        "lerp",
        "logaddexp",
        "maximum",
        "minimum",
        "mul",
        "pow",
        "remainder",
        "rsub",
        "sub",
    ),
    "attention": (
        "attention_update",
        "fused_infer_attention_score",
        "gather_pa_kv_cache",
        "incre_flash_attention",
        "prompt_flash_attention",
        "scaled_dot_product_attention",
    ),
    "boxes": (
        "box_iou",
        "complete_box_iou",
        "multi_scale_deformable_attention",
        "multi_scale_deformable_attention_backward",
        "non_max_suppression",
        "roi_align",
        "roi_align_backward",
    ),
    "caches": ("scatter_pa_kv_cache",),
    "classification": (
        "cross_entropy",
        "cross_entropy_backward",
        "ctc_loss",
        "ctc_loss_backward",
        "embedding_backward",
        "embedding_bag",
        "kl_div",
        "kl_div_backward",
        "nll_loss",
        "nll_loss_backward",
    ),
    "comparison": (
        "bitwise_and",
        "bitwise_not",
        "bitwise_or",
        "bitwise_xor",
        "eq",
        "ge",
        "gt",
        "isclose",
        "isfinite",
        "isinf",
        "le",
        "logical_and",
        "logical_not",
        "logical_or",
        "logical_xor",
        "lt",
        "ne",
        "signbit",
    ),
    "conversion": ("cast", "complex", "contiguous", "sign_bits_pack", "sign_bits_unpack"),
    "convolution_gradients": (
        "conv1d_backward",
        "conv2d_backward",
        "conv3d_backward",
        "conv_transpose1d_backward",
        "conv_transpose2d_backward",
        "conv_transpose3d_backward",
    ),
    "creation": (
        "arange",
        "bernoulli",
        "eye",
        "full_like",
        "linspace",
        "normal",
        "ones_like",
        "randint",
        "randperm",
        "uniform",
        "zeros_like",
    ),
    "decompositions": ("cholesky", "inverse", "logdet", "qr", "slogdet", "svd", "triangular_solve"),
    "distances": ("cdist", "cdist_backward", "pdist", "sinkhorn"),
    "experts": (
        "dequant_swiglu_quant",
        "ffn",
        "grouped_matmul",
        "grouped_matmul_finalize_routing",
        "grouped_matmul_swiglu_quant",
    ),
    "grouped": ("gmm", "gmm_backward", "gmm_v2", "gmm_v2_backward"),
    "in_place": (
        "add_",
        "addcdiv_",
        "addcmul_",
        "bernoulli_",
        "copy_",
        "cos_",
        "div_",
        "exp_",
        "fill_",
        "floor_divide_",
        "fmod_",
        "index_copy_",
        "leaky_relu_",
        "log_",
        "masked_fill_",
        "mul_",
        "neg_",
        "normal_",
        "reciprocal_",
        "relu_",
        "remainder_",
        "rsqrt_",
        "scatter_update_",
        "sigmoid_",
        "sin_",
        "sqrt_",
        "sub_",
        "tanh_",
        "uniform_",
        "zero_",
    ),
    "indexing": (
        "argsort",
        "embedding",
        "gather",
        "index_add",
        "index_copy",
        "index_select",
        "masked_fill",
        "scatter",
        "scatter_add",
        "sort",
        "take",
        "take_along",
        "topk",
        "where",
    ),
    "latent_attention": (
        "lightning_indexer",
        "lightning_indexer_v2",
        "mla_preprocess",
        "mla_prolog",
        "mla_prolog_v3",
        "quant_lightning_indexer",
        "sparse_flash_attention",
        "sparse_flash_mla",
        "sparse_flash_mla_metadata",
    ),
    "latent_gradients": (
        "dense_lightning_indexer_kl_loss",
        "lightning_indexer_backward",
        "sparse_flash_attention_backward",
        "sparse_lightning_indexer_kl_loss",
    ),
    "loss": (
        "binary_cross_entropy",
        "binary_cross_entropy_backward",
        "binary_cross_entropy_with_logits",
        "binary_cross_entropy_with_logits_backward",
        "l1_loss",
        "l1_loss_backward",
        "log_softmax_backward",
        "mse_loss",
        "mse_loss_backward",
        "smooth_l1_loss",
        "smooth_l1_loss_backward",
        "soft_margin_loss",
        "soft_margin_loss_backward",
        "softmax_backward",
    ),
    "margins": (
        "circular_pad2d",
        "circular_pad2d_backward",
        "circular_pad3d",
        "circular_pad3d_backward",
        "fold",
        "reflection_pad1d_backward",
        "reflection_pad2d_backward",
        "reflection_pad3d_backward",
        "replication_pad1d_backward",
        "replication_pad2d_backward",
        "replication_pad3d_backward",
    ),
    "matrices": (
        "addmm",
        "baddbmm",
        "bmm",
        "dot",
        "einsum",
        "linear",
        "matmul",
        "mm",
        "mv",
        "quant_matmul",
        "transpose_batch_matmul",
        "weight_quant_batchmatmul",
    ),
    "mx": ("anti_mx_quant", "dynamic_mx_quant"),
    "normalization": (
        "add_layer_norm",
        "add_rms_norm",
        "add_rms_norm_",
        "add_rms_norm_cast",
        "add_rms_norm_dynamic_quant",
        "add_rms_norm_quant",
        "batch_norm",
        "gemma_rms_norm",
        "group_norm",
        "layer_norm",
        "renorm",
        "rms_norm",
        "rms_norm_dynamic_quant",
    ),
    "pointwise": (
        "abs",
        "acos",
        "acosh",
        "asin",
        "asinh",
        "atan",
        "atanh",
        "ceil",
        "clamp",
        "cos",
        "cosh",
        "erf",
        "erfc",
        "exp",
        "exp2",
        "expm1",
        "floor",
        "log",
        "log1p",
        "log2",
        "log10",
        "nan_to_num",
        "neg",
        "reciprocal",
        "round",
        "rsqrt",
        "sign",
        "sin",
        "sinh",
        "sqrt",
        "square",
        "tan",
        "tanh",
        "trunc",
    ),
    "pool_gradients": (
        "adaptive_avg_pool2d_backward",
        "adaptive_avg_pool3d_backward",
        "adaptive_max_pool2d",
        "adaptive_max_pool2d_backward",
        "adaptive_max_pool3d",
        "adaptive_max_pool3d_backward",
        "avg_pool2d_backward",
        "avg_pool3d_backward",
        "max_pool2d_with_indices_backward",
        "max_pool3d_with_indices_backward",
        "max_unpool2d",
        "max_unpool3d",
    ),
    "quant": (
        "npu_format_cast",
        "pack_scale",
        "trans_convolution_weight",
        "trans_matmul_weight",
        "trans_quant_param",
        "unpack_scale",
    ),
    "quantisation": (
        "anti_quant",
        "convert_weight_to_int4_pack",
        "dynamic_block_quant",
        "dynamic_quant",
        "dynamic_quant_asymmetric",
        "group_quant",
        "quantize",
        "swiglu_quant",
    ),
    "rearrangement": (
        "cat",
        "flip",
        "narrow_copy",
        "pad",
        "permute_copy",
        "repeat_interleave",
        "roll",
        "stack",
        "tile",
        "tril",
        "triu",
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
    "reduction": (
        "all",
        "amax",
        "amin",
        "any",
        "argmax",
        "argmin",
        "cumprod",
        "cumsum",
        "exp_segsum",
        "exp_segsum_backward",
        "logsumexp",
        "mean",
        "norm",
        "prod",
        "std",
        "sum",
        "var",
        "vector_norm",
    ),
    "residual_streams": ("mhc_post", "mhc_pre"),
    "resizing": (
        "affine_grid",
        "grid_sample",
        "grid_sample_backward",
        "interpolate",
        "interpolate_backward",
    ),
    "rotary": (
        "apply_rotary_pos_emb_",
        "interleave_rope",
        "kv_rms_norm_rope_cache",
        "partial_rotary_mul_",
        "qkv_rms_norm_rope_cache",
        "rope_with_sin_cos_cache",
        "rotary_position_embedding",
        "rotary_position_embedding_backward",
    ),
    "routing": (
        "moe_compute_expert_tokens",
        "moe_finalize_routing",
        "moe_gating_top_k",
        "moe_gating_top_k_softmax",
        "moe_init_routing",
        "moe_token_permute",
        "moe_token_permute_with_routing_map",
        "moe_token_unpermute",
        "moe_token_unpermute_with_routing_map",
        "moe_update_expert",
    ),
    "sampling": ("apply_top_k_top_p", "multinomial", "top_k_top_p_sample"),
    "selection": ("count_nonzero", "masked_select", "nonzero"),
    "serving": ("add_lora", "advance_step_", "ring_attention_update"),
    "sparse_attention": (
        "block_sparse_attention",
        "bsa_select_block_mask",
        "nsa_compress",
        "nsa_compress_attention",
        "nsa_compress_attention_infer",
        "nsa_compress_with_cache_",
        "nsa_selected_attention",
        "nsa_selected_attention_infer",
    ),
    "training": (
        "adamw_",
        "batch_norm_backward",
        "dropout",
        "dropout_backward",
        "group_norm_backward",
        "layer_norm_backward",
        "rms_norm_backward",
        "sgd_",
        "unscale_",
        "update_loss_scale",
    ),
    "training_attention": ("flash_attention", "flash_attention_backward"),
    "windows": (
        "adaptive_avg_pool2d",
        "adaptive_avg_pool3d",
        "avg_pool2d",
        "avg_pool3d",
        "conv1d",
        "conv2d",
        "conv3d",
        "conv_transpose1d",
        "conv_transpose2d",
        "conv_transpose3d",
        "max_pool2d",
        "max_pool2d_with_indices",
        "max_pool3d_with_indices",
        "unfold",
    ),
}

_HOMES = {name: module for module, names in _FUNCTIONS.items() for name in names}
__all__ = [*_HOMES]


# Functions become globals of this module and some are called like builtins (abs, any, sum), so
# nothing here may use a builtin that a function can be named after. Type checkers read the imports
# above instead, and so know a name that does not exist.
if not TYPE_CHECKING:

    def __getattr__(name: str) -> Any:
        if name not in _HOMES:
            raise AttributeError(f"module 'aclnn_py.functional' has no function {name!r}")
        function = getattr(_load(f"aclnn_py.functional.{_HOMES[name]}"), name)
        globals()[name] = function
        return function


def __dir__() -> list[str]:
    return __all__
