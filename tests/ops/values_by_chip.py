# SPDX-License-Identifier: Apache-2.0
"""The attributes whose values differ by chip, as the documents of the operators list them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

__all__ = ["ROWS", "ByChip"]


@dataclass(frozen=True)
class ByChip:
    """An attribute: the values that each chip lists.

    ``ignored``: a 910B does not refuse what it does not list, but gives its own result.
    ``coupled``: values that a chip lists for other tensors than those of the accepted calls.
    """

    operator: str
    attribute: str
    on_910b: Sequence[Any]
    on_950: Sequence[Any]
    ignored: bool = False
    coupled: Sequence[Any] = ()

    def __str__(self) -> str:
        return f"{self.operator}.{self.attribute}"


def _modes(operators: str, on_910b: Sequence[Any], on_950: Sequence[Any]) -> list[ByChip]:
    return [ByChip(operator, "commMode", on_910b, on_950) for operator in operators.split()]


ROWS = [
    *_modes(
        "AllGatherMatmulV2 MatmulReduceScatterV2 AlltoAllMatmulV2 AlltoAllQuantMatmulV2"
        " MatmulAlltoAllV2 QuantMatmulAlltoAllV2",
        ["aiv"],
        ["ai_cpu", "ccu"],
    ),
    *_modes(
        "MatmulAllReduceV3 QuantMatmulAllReduceV5 WeightQuantMatmulAllReduceV2"
        " AlltoAllvGroupedMatMulV2 GroupedMatMulAlltoAllvV2",
        ["ai_cpu"],
        ["ai_cpu", "ccu"],
    ),
    ByChip("MatmulAllReduceV3", "commMode", [None, "ai_cpu"], ["ai_cpu", "ccu"]),
    ByChip("AlltoAllQuantMatmul", "x1QuantMode", [3, 7], [6, 7], coupled=[3, 6, 7]),
    ByChip("AlltoAllQuantMatmul", "x2QuantMode", [2], [2, 6], coupled=[6]),
    ByChip("QuantMatmulAlltoAll", "x1QuantMode", [3], [3, 6], coupled=[6]),
    ByChip("QuantMatmulAlltoAll", "x2QuantMode", [2], [2, 6], coupled=[6]),
    ByChip("RotaryPositionEmbedding", "mode", [0, 1], [0, 1, 2, 3], ignored=True),
    ByChip("RotaryPositionEmbeddingGrad", "mode", [0, 1], [0, 1, 2, 3], ignored=True),
    ByChip("ApplyRotaryPosEmbV2", "layout", [1, 4], [1, 2, 3, 4], coupled=[2, 3]),
    ByChip(
        "ApplyRotaryPosEmbV2", "rotaryMode", ["half"], ["half", "interleave", "quarter"], True
    ),
    ByChip("BlockSparseAttention", "innerPrecise", [0, 1], [4], coupled=[1]),
    ByChip("BlockSparseAttentionV2", "innerPrecise", [0, 1], [4], coupled=[1]),
    ByChip("SparseFlashMlaGrad", "oriMaskMode", [4], [0, 3, 4]),
    ByChip("SparseFlashMlaMetadata", "oriMaskMode", [4], [0, 3, 4]),
    ByChip("LightningIndexerV2", "topk", [2048, 3072, 8192], [2048], coupled=[2048, 3072, 8192]),
    ByChip("MoeGatingTopK", "normType", [0, 1], [0, 1, 2]),
    ByChip("MoeGatingTopKV2", "normType", [0, 1], [0, 1, 2]),
    ByChip(
        "MoeInitRoutingV3", "quantMode", [-1, 0, 1], [-1, 0, 1, 2, 3, 6, 7, 8, 9, 11, 12],
    ),
    ByChip("MoeTokenPermuteV2", "quantMode", [-1], [-1, 2, 3, 9], True, coupled=[2, 3, 9]),
    ByChip("GatherV3", "dim", [0], [0, 1], coupled=[1]),
    ByChip("GatherV3", "batchDims", [0], [0, 1], coupled=[1]),
    ByChip("GatherV3", "mode", [1], [0, 1]),
    ByChip("ScatterReduce", "reduce", [1], [0, 1, 2]),
    ByChip("ScatterReduce", "includeSelf", [True], [True, False]),
    ByChip("InplaceScatterReduce", "reduce", [1], [0, 1, 2]),
    ByChip("InplaceScatterReduce", "includeSelf", [True], [True, False]),
    ByChip("UniqueConsecutive", "returnInverse", [False, True], [False]),
    ByChip("UniqueConsecutive", "dim", [1000, 0], [1000]),
    ByChip("AddRmsNormQuant", "divMode", [True], [True, False]),
    ByChip("AddLayerNormQuantV2", "divMode", [False], [False, True]),
    ByChip("DynamicBlockQuant", "roundModeOptional", ["rint"], ["rint", "round"]),
    ByChip("DynamicBlockQuant", "dstType", [2], [2, 34, 35, 36]),
    ByChip("DynamicBlockQuant", "rowBlockSize", [1], [1, 128]),
    ByChip("DynamicBlockQuant", "colBlockSize", [128], [128, 192]),
    ByChip("DynamicBlockQuantV2", "roundModeOptional", ["rint"], ["rint", "round"]),
    ByChip("DynamicBlockQuantV2", "dstType", [2], [2, 34, 35, 36]),
    ByChip("DynamicBlockQuantV2", "rowBlockSize", [1], [1, 128]),
    ByChip("DynamicBlockQuantV2", "colBlockSize", [128], [128, 192]),
    ByChip("DequantSwigluQuantV2", "dstType", [2], [2, 34, 35, 36]),
    ByChip("DequantSwigluQuantV2", "roundModeOptional", [None, "rint"], [None, "rint", "round"]),
    ByChip("DequantSwigluQuantV2", "swigluMode", [0, 1], [0]),
    ByChip("AscendQuantV3", "dstType", [2, 3, 29], [2, 3, 29, 34, 35, 36]),
    ByChip("Quantize", "dtype", ["int8", "uint8", "int32"],
           ["int8", "uint8", "int32", "hifloat8", "float8_e5m2", "float8_e4m3fn"]),
    ByChip("GroupedMatmulSwigluQuantV2", "dequantMode", [0, 1], [0, 2]),
    ByChip("GroupedMatmulSwigluQuantV2", "quantMode", [0], [0, 2]),
    ByChip("GroupedMatmulSwigluQuantWeightNzV2", "dequantMode", [0, 1], [0, 2]),
    ByChip("GroupedMatmulSwigluQuantWeightNzV2", "quantMode", [0], [0, 2]),
    ByChip("RotateQuant", "scaleAlg", [0], [0, 1, 2]),
    ByChip("RotateQuant", "dstTypeMax", [0.0], [0.0, 6.0]),
    ByChip("SimThreadExponential", "offset", [0, 3, 4], [0, 4]),
]  # fmt: skip
