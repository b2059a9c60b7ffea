# SPDX-License-Identifier: Apache-2.0
"""The table of operators the emulator implements: family, dtypes and tolerance."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from pathlib import Path

from aclnn_py import facts
from aclnn_py._ffi import C
from aclnn_py.operators.launch.table import operator_named, python_name
from maintain.written_file import write_or_check

__all__ = [
    "DECIDED",
    "TOLERANCE_TEXT",
    "absent",
    "coverage_path",
    "coverage_table",
    "implemented",
]

TOLERANCE_TEXT = {
    "float64": "1e-12",
    "float32": "2e-6",
    "float16": "2e-3",
    "bfloat16": "1.6e-2",
    "complex64": "4e-6",
    "complex128": "1e-12",
}

# How the emulator decides what the documents of a family leave open.
DECIDED: dict[str, tuple[str, ...]] = {
    "attention": (
        "InplaceAttentionWorkerScheduler waits for the flags of the micro batch after the one that"
        " the context names, as the document's example does, and leaves everything as it is when"
        " the run flag is 0.",
        "MlaProlog and its versions round what a product takes to BFLOAT16 and nothing else in"
        " between. A head of weightUqQr has its columns without rotation, then the rotary ones;"
        " rotary parts turn from pairs to halves. Caches are divided by their scales. An index"
        " outside the cache is a fault. Quantisation by groups of a token (kvCacheQuantMode 3) is"
        " refused: the formula of its clipping is not documented.",
        "On a 950 MlaPrologV3 takes FLOAT8_E4M3FN and HIFLOAT8. What it quantises itself gets the"
        " largest value of a row divided by that of the dtype as its scale, or, with powers of two,"
        " the exponent of the largest of 32 values less that of the dtype, as DynamicMxQuant does.",
        "Scores, powers and sums are float32; the result is rounded once. Quantised keys and values"
        " become (number + offset) * scale in float32 and are rounded no further.",
        "A row that meets no key is 0 and its log-sum-exp is inf, whatever the form. A row whose"
        " keys a mask hides is their average with innerPrecise 0 or 1, and 0 with 2 or 3.",
        "With a query of INT8 the powers are divided by their sum before they are quantised."
        " The sums of a sink are part of the log-sum-exp.",
        "Masks and position encodings of sequences padded on the left have the rows and columns of"
        " the tensors; a prompt that would begin before its tensor is a fault.",
        "FusedInferAttentionScoreV5 takes on a 910B what the fourth version takes.",
        "Beside rotary parts and heads of 512 elements FusedInferAttentionScoreV3 takes 1 to 16"
        " tokens in a sequence, several with sparseMode 3, and on a 910B pages of 16 or 128 tokens,"
        " as its document says; a 950 takes sparseMode 0, 3 and 4 and needs no pages. The later"
        " versions take any number of tokens and any page of a multiple of 16, save for INT8.",
        "On a 950 FusedInferAttentionScore V2, V3 and V5 take keys and values of FLOAT8_E4M3FN and"
        " HIFLOAT8, and of FLOAT4_E2M1 with powers of two for 32 elements; V5 also takes queries"
        " of 8 bits with scales of tokens and heads, and results of 8 bits. Powers are not rounded,"
        " so quantScale1, which scales them, changes no number. Queries with powers of two"
        " (queryQuantMode 6) are refused.",
        "Indexers choose the highest score first and of equal ones the key in front; places without"
        " a key hold -1. A compressed key is seen by the tokens behind all it was made of."
        " QuantLightningIndexer runs on a 910B with INT8, as its kernel does, and on a 950 with"
        " FLOAT8_E4M3FN and HIFLOAT8 too.",
        "Gradients of sparse attention are sums of float32 that are rounded once. A row whose keys"
        " a mask hides altogether is their average, so only their values have a gradient by it; a"
        " block that meets nothing has the gradient 0.",
        "QuantFlashAttentionScore takes any number of tokens, and keys with fewer heads. Chances"
        " are not rounded, so pScale, which scales them, changes no number.",
        "LightningIndexerGrad takes the gradient of sparseValuesOut as dy, in the shape of"
        " sparseIndices, which its formula needs; the document gives it that of query. A key may"
        " be at several places.",
        "The divergences of indexers from attention are summed over all tokens, and so are their"
        " gradients. The softmax of attention is averaged over its heads by the statistics that"
        " are given. Lists of packed tokens have the ends of sequences."
        " SparseLightningIndexerKLLossGrad hides keys behind a token with maskMode 3 and a cmpRatio"
        " up to 1 only: above, the list of keys alone says what a token meets. It does not read its"
        " metadata.",
        "SparseFlashAttentionGrad reads lists of packed tokens as the forward operator does, as the"
        " ends of sequences; a block below 0 ends the list of a token. Tokens outside every"
        " sequence have the gradient 0.",
        "SparseFlashMlaGrad decides by its tensors, not by cmpRatio, which compressed tokens are"
        " met. Tokens of oriKvOptional are never chosen: oriSparseIndicesOptional is not read, and"
        " oriSoftmaxL1NormOptional must be null or empty.",
        "SparseFlashMla takes an empty tensor for an absent one; a token that meets no key has the"
        " score of its sink as log-sum-exp. Its metadata, which only shares out work, is not read.",
        "A token of MixedQuantSparseFlashMla is its quantised part and then its rotary part, as"
        " KvCompressEpilog takes it; elements are multiplied by their scales in float32. Its"
        " metadata is not read either.",
        "LightningIndexerV2Metadata, QuantLightningIndexerV2Metadata, SparseFlashMlaMetadata and"
        " MixedQuantSparseFlashMlaMetadata fill the fields that the examples of their documents"
        " name, and divide the work in the simplest way: each core has a run of whole tokens of"
        " the queries, as even as they can be divided, up to but without the end that is named."
        " Keys are not divided, so their places, and the fields of cores that join parts, are 0."
        " A card divides by a model of costs that the documents do not give."
        " SparseLightningIndexerKLLossGradMetadata and SparseFlashMlaGradMetadata do the same in"
        " the fields of theirs; the sizes of keys that the second one also names are 0, for no"
        " document says what they count.",
        "A block below 0 is none. Several tokens of NsaSelectedAttentionInfer are the last ones of"
        " their sequence, and each sees the keys up to its own.",
        "NsaCompressAttention and NsaCompressAttentionInfer take the scores of blocks from the"
        " softmax with its scale and mask, summed over the heads that share a key; keys in front of"
        " the first one count as 0. The highest sum is chosen first, of equal ones the block in"
        " front; places without a block hold -1. Several tokens of a sequence are its last ones,"
        " and each sees the compressed keys whose tokens are not behind it.",
        "IndexerQuantCache rounds the scales of FLOAT8 up to a power of two and takes those of"
        " FLOAT4 from the exponent of the largest value. A row of KvCompressEpilog has the rotary"
        " part in front with quantMode 0 and behind the quantised part with 1, as the attention"
        " that reads it has; values are divided by the scale as it is stored, and bytes behind the"
        " row are left as they are. Forms whose result the documents leave open are refused:"
        " quantMode 2 of both, and scales that are not rounded but kept as powers of two.",
        "AttentionWorkerCombine takes rows of hiddenSize elements, as its example does whatever"
        " ffn_to_attn_token_size says, of the micro batch that the context names. With"
        " needSchedule 1 it does first what InplaceAttentionWorkerScheduler does. A context whose"
        " selected_expert_num is not the width of expertScales is a fault: whether a row of a"
        " shared expert counts is not documented.",
        "MlaPreprocess and MlaPreprocessV2 take what their documents leave open from the programs"
        " that call them: the rows of wdqkv are the latent key, its rotary part and the latent"
        " query, a head of wuq has its rotary part behind, and values are divided by quantScale"
        " before the offset is added. They round as MlaProlog does; a slot below 0 takes nothing,"
        " one beyond the cache is a fault. The results are the caches, so kvCache and kvCacheRope"
        " are not read. Refused are cacheMode 2, whose scales the documents do not explain,"
        " qDownOut, which may be meant in front of the norm or behind it, and weights of floats,"
        " whose quantMode is said not to be implemented.",
        "A group of Compressor with coff 2 has the first half of the states of the group in front"
        " of it and the second half of its own, as the document of the gradient says. In front of"
        " the first group there is none, as in the paper of DeepSeek-V4. Every token that counts is"
        " kept in the cache, values and then scores with their bias, save for those of block 0;"
        " without stateBlockTable none is. Places outside the table are a fault, and rows without a"
        " group are left as they are. stateCacheStrideDim0 is not read.",
        "FlashAttn takes its masks from the last tokens of both sequences, as SparseFlashMla does"
        " with the same numbers. softmaxLse of packed sequences may have both shapes that the"
        " documents give, heads first where both fit; a token that does not count or meets no key"
        " has 0 there as output and infinity as log-sum-exp. metadata must be given and is not"
        " read. InnerFlashAttn is the same operator. FlashAttnMetadata makes one section in which"
        " each core has whole sequences of a head; the fields that this does not need are 0. A card"
        " divides by a model of costs that the documents do not give.",
        "BSASelectBlockMask averages in float32. Places of the last block behind the end of a"
        " sequence count as zeros where no list says how many tokens count. A block of which none"
        " count has the score 0 in the softmax and is not chosen, nor is a group of pairs without"
        " one that may be. sparsity times the number of pairs is rounded half away from zero, for"
        " each sequence by its own length; of equal scores the one in front is chosen.",
        "BlockSparseAttentionV2 multiplies operands of FLOAT8_E4M3FN by their scales in float32 and"
        " rounds no further before the result.",
        "SwinAttentionScoreQuant takes the scales of 64 bits as quantised products do; what it adds"
        " before them are integers, and a bias that is null is 0. Between its two products"
        " everything is float32, and probabilities become round(p * scaleQuant + biasQuant).",
        "FlashAttentionScore, its packed form and their gradients share their rules. The highest"
        " score of a token that meets no key is -inf and its sum 0; its result and its part of the"
        " gradients are 0. The average of a row whose keys are all masked has no slope but that of"
        " value. The statistics of packed sequences are those of all tokens of a head, head by"
        " head, and with same_as_input those of all heads of a token. The bias made of slopes is"
        " -slope * |i - j|, and with pseType 3 -slope * sqrt(|i - j|); with sparseMode 8 the start"
        " indices are about the first sequence. The first bit of a dropout mask is the lowest of"
        " its byte. Dropout drawn from seed and offset in the fourth version, whose order no"
        " document has, is refused. Gradients of tokens behind the last sequence are 0.",
        "A slot below 0 takes nothing; one beyond the cache, and a list that leads out of the"
        " tokens or the blocks, is a fault.",
        'ScatterPaKvCache with "Alibi" writes the last compressLensOptional tokens of a sequence,'
        ' with "Rope" those in front, the average of the ones that are cut out, and those behind,'
        ' with "Omni" the same without the average; an offset of -1 or a length of 0 cuts nothing'
        " out of the latter two. Averages are taken in float32 and refused for integers. With"
        ' "Nct" a token begins offsetsOptional and a multiple of stridesOptional elements behind'
        " the first element of its tensor.",
        "GatherPaKvCache leaves rows behind the last sequence as they are.",
        "The matrices of the gated delta rules stay float32 within a call and are rounded when they"
        " are stored. A sequence of RecurrentGatedDeltaRule begins with the slot of its last"
        " accepted token, or of its first token where numAcceptedTokens is null.",
        "FusedCausalConv1d takes 0 in numAcceptedTokens, as the document's example does, for a"
        " sequence without speculation. The results of a sequence that padSlotId skips are not"
        " written.",
    ),
    "activation": (
        "GeluBackward is the gradient of the tanh form, which the kernel computes though the"
        " document shows the erf form first; where the gradient would be NaN at an infinite"
        ' input it is 0 or 1. GeluBackwardV2 "tanh" is the same.',
        "HardswishBackward counts -3 and 3 to its middle part (slopes -0.5 and 1.5),"
        " HardswishBackwardV2 does not (0 and 1), as their kernels; NaN has the slope 1."
        " Hardswish of -inf is 0.",
        "EluBackward and SeluBackward ask for <= 0 as the kernels do, so NaN has the slope of"
        " what lies above 0. Elu with an infinite alpha or inputScale, or NaN, is scale * self"
        " above 0 and -alpha * scale elsewhere, as the host code composes it.",
        "Threshold and its gradient ask for <= threshold as the kernels do: NaN stays and"
        " passes on. ThresholdBackward compares integers with the threshold's fraction."
        " Softshrink makes 0 of NaN. The noise of RReluWithNoise is 1 for 0 and NaN.",
        "The gradients of Hardsigmoid, Hardtanh, Hardshrink, Softshrink, LeakyRelu, Prelu,"
        " LogSigmoid, Softplus, Silu, Swish, FastGelu, Mish, Softmax and LogSoftmax, and Celu,"
        " Selu, Hardshrink, Shrink and Sigmoid, were compared with the published kernels at"
        " bounds, NaN and infinities, and are as these. Kernels of a 910B are mostly not"
        " published; those of a 950 decided.",
        "Without training RReluWithNoise takes the middle of the range as its slope and leaves the"
        " noise as it is; with it, slope i is number offset + i of the sequence, as InplaceUniform"
        " draws it.",
        "GeluMul, FatreluMul, ClippedSwiglu and SituGlu compute in float32 and round once. The rows"
        " behind those that groupIndex of ClippedSwiglu and SwigluGroup counts are not written; a"
        " count beyond the rows means all of them, a negative one is a fault.",
        "SwigluGroupQuant counts the largest value of a group of rows as at least 1e-4, as that of"
        " a block; its document names no number. It does not limit the width of rows to those that"
        " the document lists for HIFLOAT8, which its example does not keep either.",
        "GeluQuant ignores the offset of dynamic quantisation, which its formula lacks; `hybrid`"
        " rounding to HiFloat8 is random in a way that is not documented, and refused.",
    ),
    "matmul": (
        "Products of INT8 and INT4 sum exactly in 32 bits, which wrap around. A bias of INT32 is"
        " added to the sum; then come the scale of the column, that of the row, and a bias of"
        " floats or an offset, all in float32, and one rounding. INT8 results go to the nearest"
        " number, half to even, and are limited to their range.",
        "FusedQuantMatmul rounds after gelu only. QuantMatmul multiplies by the whole float32 of"
        " deqScale, not by the 19 bits that the packed form would keep.",
        "An INT8 result takes the offset that the scale of 64 bits holds where none is given.",
        "A quantised weight is rounded to the dtype of x before it is multiplied, whatever"
        " innerPrecise says. The first version, WeightQuantBatchMatmul, takes"
        " (x2 + deqOffset) * deqScale for up to 64 rows and"
        " (x2 * antiquantScale + addOffset) * mulScale for more: its example makes both sets of"
        " parameters of the same numbers. An antiquantOffset other than 0 is refused, as the sets"
        " disagree about its sign there. diagonalMatrix, an identity, is not read.",
        "On chips of the 950 series QuantMatmulV5 also takes floats of 8 bits and FLOAT4_E2M1;"
        " sums, scales and the bias are float32. Products whose scales have groups take two"
        " dimensions there. FLOAT8 beside FLOAT4, and such operands in FRACTAL_NZ, are refused.",
        "Products of floats of 8 and 4 bits whose scales have groups sum each group in float32,"
        " multiply the sum by the product of its two scales and add the groups in order; a bias,"
        " or what yRef held, comes last. DualLevelQuantMatmulWeightNz scales blocks of 512 in the"
        " same way. TransposeQuantBatchMatMul multiplies by an x1Scale of 64 bits too, which its"
        " document does not say, and ignores groupSize where its scales have no groups.",
        "WeightQuantBatchMatmulNz takes blocks of 16 columns for numbers of 4 bits, as"
        " ConvertWeightToINT4Pack lays them there on a 950.",
        "Sparse4to2QuantMatmulWeightNz takes what TransSparse4to2Para gives; places that it does"
        " not give are a fault.",
        "QuantMatmulV5 and QuantMatmulWeightNz do not take INT8 beside INT4: the documents ask for"
        " a yOffset that their own formula would count twice.",
        "FusedLinearOnlineMaxSum takes its statistics from the logits as they are stored, rounded"
        " to the dtype of input, whether vocabParallelLogitsOutOptional is given or not. As in its"
        " kernel a target is masked from vocabEndIndex on, and the first of eight rows is the"
        " lowest bit of its byte in targetMaskOut. A target that is not masked and whose row is"
        " not in weight is a fault.",
        "QuantMatmulDequant and QuantGroupedMatmulDequant smooth and quantise in float32. Scales of"
        " 64 bits hold a float32 in their lower half. Rows behind the last group are not written.",
        "TransposeBatchMatMul quantises with round(x * scale + offset) of the packed parameter.",
        "Einsum of integers wraps in their dtype.",
        "As in CANN's host code a beta of zero leaves self out of Addmm, Addmv, Addbmm, Baddbmm and"
        " Gemm, NaN included, and an alpha of zero leaves the product out of Addmm, Addmv and"
        " Addbmm (of Gemm on a 950); Baddbmm and Gemm multiply it by zero. Without a product, and"
        " with an inner dimension of zero, self is multiplied by beta even where that is zero;"
        " Addbmm and Baddbmm give zeros there. Factors up to the distance of float32 at 1 count as"
        " zero, but for Addbmm.",
    ),
    "control": (
        "Sleep counts 1.65 GHz. A kernel that takes longer than aclrtSetOpExecuteTimeOut allows is"
        " a fault (507014).",
    ),
    "conversion": (
        "NpuFormatCast fills what a block has beyond the tensor with zeros. On a 950 it casts"
        " floats of 8 and 4 bits too, as codes.",
        "TransConvolutionWeight makes FRACTAL_Z, whose shape is that of the example of"
        " CalculateConvolutionWeightSize. How groups share its blocks is not documented, so it"
        " takes one group. Convolution of a 310P reads such filters.",
        "ChunkCat fills the last chunks of a tensor up with zeros and flattens every chunk.",
    ),
    "conv": (
        "QuantConvolution has what the documents define for a 910B, on every chip: volumes of"
        " INT8, one group, scales of FLOAT. It sums exactly in 32 bits. QuantConvolutionWeightNz"
        " takes the filters that NpuFormatCast makes: five dimensions over blocks in FRACTAL_Z_3D.",
        "What a 950 adds to QuantConvolution is refused: its document lists dtypes, but not which"
        " of them go together, nor what offsetx and roundMode do.",
        "ConvTbc and ConvTbcBackward take tensors as their formulas and examples have them: time,"
        " batch, channels, and filters of window, input and output channels; the tables of their"
        " documents name another order. Gradients of filters sum tiles of products in float64.",
        "The channels of offset in DeformableConv2d are x for each deformable group and element of"
        " the window, then y, then the masks that samples are multiplied by, as MindSpore documents"
        " the same operator. A sample lies between the four elements around it; those outside the"
        " image are 0. Samples are rounded to the dtype of x before the convolution takes them.",
    ),
    "mamba": (
        "The last row of weight in CausalConv1dFn and CausalConv1dUpdate belongs to the token"
        " itself, as in FusedCausalConv1d: w_j in their formula is the weight of the token j"
        " places back. A sequence without a history begins behind zeros. The tokens that the next"
        " call needs stand at the beginning of a line, where CausalConv1dUpdate reads them: the"
        " last ones, or, behind the K - 2 tokens in front, all those of a speculation that fit."
        " cacheIndices has one line for each sequence, so blockIdxFirstScheduledToken and its kin"
        " choose nothing; they are judged and not read. A sequence that nullBlockId skips is"
        " filled with zeros.",
    ),
    "foreach": (
        "ForeachRoundOffNumber leaves integers as they are; mode 6 takes the odd neighbour of other"
        " numbers, and a number that is no mode counts as 1. ForeachNorm follows its formula for"
        " order 0 too, whose last exponent is then infinite.",
    ),
    "pooling": (
        "The mask of MaxPool2dWithMask, whose shape alone is documented, has a row for each element"
        " of a window and in it a bit for each window, the first one lowest in the first byte; the"
        " bytes behind are 0. MaxPool2dWithMaskBackward reads what MaxPool2dWithMask writes; bits"
        " of margins name nothing.",
        "Gradients of pools sum the slopes of an element in float64, up to 64 of them in float32,"
        " and round once. A place outside the plane is a fault.",
    ),
    "image": (
        "In GridSampler2D and 3D ties of the nearest element go to the even one. Infinity and"
        " NaN are outside with zero padding; NaN reads element 0 with the other paddings, and"
        " so does infinity with reflection; the cubic of either is NaN except with zero"
        " padding. Their gradients give nothing back for NaN, nor for infinity with reflection"
        " or zeros.",
        "On a 950 UpsampleLinear1d, Bilinear2d, Bicubic2d, their gradients and Nearest1d and"
        " 2dBackward copy an image that keeps all its sizes, whatever the scales."
        " UpsampleNearest2dBackward with equal sizes takes scales on a 910B only where they"
        " fit and the image is not small, and on a 310P never.",
        "Gradients of resizing use the maps of the functions, transposed: which elements a place"
        " takes and with which shares is decided in one place; gradients of the nearest element"
        " take the ones between two rounded bounds, as their kernels do. Which scales count was"
        " compared with CANN's host code operator by operator, and stands beside each: each scale"
        " alone, all or none, those that fit the sizes, or never; equal sizes take none.",
        "Antialiasing measures distances in steps between places where the result is smaller, so"
        " that the filter has the width that its document names, and divides by the sum of the"
        " weights. alignCorners changes the ratio and not where the first place lies. An image"
        " more than 50 times the result, and a scale below 1/50, are refused.",
        "Gradients of grid sampling: a position at the outermost element or behind it has no slope"
        " where the padding moves it there, and one that reads the nearest element has none. With"
        " a mask an absent gradient is not written.",
        "ThreeInterpolateBackward takes three dimensions, and four of which the last is 1, as its"
        " example has. Weights have the dtype of grad_x. An index outside the features is a fault.",
        "Rasterizer counts faces from 1, and has the index 0 and the weights 0 where no face is, as"
        " the programs have it whose rasterizer the document describes with its own formulas. A"
        " pixel has its centre half a pixel behind its place. A corner that is no row of v is a"
        " fault; faces with a corner that is not finite are not drawn. On a 950 it is refused.",
    ),
    "math": (
        "Linspace casts its ends first; integers are cut from float32, or from float16 for 8"
        " and 16 bits before the 950 series; floats are computed in float64 between the cast"
        " ends and rounded once. Ends, exponents and base of LogSpace have the dtype of the"
        " result, or float32 where FLOAT16 meets BFLOAT16.",
        "Both sides of SearchSorted, SearchSorteds and Bucketize meet in the promoted dtype,"
        " a scalar goes through float32 to the dtype of the sequence, and a search goes on"
        " behind every NaN that it meets. Topk without sorted hands out all elements as they"
        " lie on a 950; otherwise results are in order.",
        "AffineGrid with alignCorners puts a single place along an axis in the middle, at 0.",
        "aclRfft1D keeps the transformed dimension where it is and puts the two parts last. aclStft"
        " multiplies the first winLength samples of each window, as the document's sum does; NumPy"
        " and PyTorch put a shorter window into the middle.",
        "KlDiv and its gradients refuse a reduction that the document does not list. A gradient is"
        " not summed: the operand it belongs to must have the shape that both meet in.",
        "AmpUpdateScale asks whether the grown scale is finite in the dtype of the scale.",
        "AddLora rounds nothing between its two products. ySliceSize is the third dimension of"
        " weightB.",
        "Lgamma is the logarithm of the magnitude of the gamma function, as CANN's prototype of the"
        " kernel says, and Digamma its derivative: what is below 0 is not made positive first.",
        "A shift by less than 0 bits is one by 0, to the left too. Bits that leave the dtype in"
        " which the operands meet are lost; a shift to the right repeats the sign.",
        "RoundDecimals rounds halves to even, as Round does. Below 0 decimals are digits in front"
        " of the point, of integers too.",
        "Addr rounds once, after the sum; a factor that is null is 1. The dim of LinalgCross is one"
        " of self, whatever dimensions other has in front.",
        "The angle of a real number is pi below 0, else 0. Scale reads numAxes only with"
        " scaleFromBlob, but refuses one below -1 in any case.",
        "SignBitsPack takes zeros and NaN for not negative, and the bits behind the last number are"
        " 0, as the vendor's PyTorch adapter documents them.",
        "HansEncode and HansDecode have a code of their own, since the documents name the parts of"
        " the code and not what is in them: only what HansEncode of this device wrote can be"
        " decoded. The parts have the documented sizes. Whether reshuff is given changes nothing;"
        " processCoreDim in the size that phase one asks for is 1, and a code that does not fit"
        " fixedOut and varOut is a fault.",
        "PrecisionCompare takes NaN for like NaN, and gives 0 or 503. Slogdet and Logdet of empty"
        " matrices leave their results as they are. The Cholesky factor of a matrix that is not"
        " positive definite is NaN; only the triangle that upper names is read.",
        "A distance or a difference of 0 has no gradient in CdistBackward, and neither has p 0.",
        "Sinkhorn ends after 1,000 rounds at the latest: the small number in its divisions keeps"
        " the scales from ever settling on a tiny tol.",
    ),
    "loss": (
        "L1LossBackward compares as the kernel does: NaN and equal infinities have the"
        " gradient 0. A mean of L1LossBackward counts all elements after the broadcast, one of"
        " MseLossBackward and SmoothL1LossBackward those of self, as the tilings count.",
        "BinaryCrossEntropyWithLogits of -inf is NaN whatever the class. An ignored row of"
        " CrossEntropyLossGrad is its softmax times 0, and a mean over no weight is NaN in"
        " every row. A mean of NLLLoss over nothing is NaN, but on a 950 0 for a self of one"
        " dimension.",
        "NLLLoss2d, the gradients of NLLLoss, CrossEntropyLoss, BinaryCrossEntropy, MseLoss,"
        " L1Loss and SmoothL1Loss were compared with kernels or host code and are as these; a"
        " class outside the range is a fault, where kernels only assert or skip it.",
        "The smoothing of CrossEntropyLoss is the one whose gradient the document of"
        " CrossEntropyLossGrad gives: a part of each loss is the weighted mean over all"
        " classes. The gradient takes no smoothing but 0, as its document says.",
        "FusedCrossEntropyLossWithMaxSum does not look at inputOptional and weightOptional, which"
        " the document's example gives. FusedLinearCrossEntropyLossGrad reads the bits of"
        " targetMask as FusedLinearOnlineMaxSum writes them, rounds the logits that it makes"
        " again as that one does, and nothing else before its results.",
        "CtcLoss computes in float64. Places of logAlphaOut that no path reaches hold -inf, also"
        " those behind the end of a sequence. CtcLossBackward gives what its kernel does: the"
        " probabilities less the shares of the labels, the gradient for logarithms that a"
        " log-softmax made.",
        "A label that MultilabelMarginLoss is given twice counts twice, and a margin that is no"
        " number counts nothing, as in its kernel and its golden results. LogitGrad with eps"
        " above 1 is 0, as its formula says; an infinite x gives NaN.",
        "The batch of KlDiv and its gradients is the first extent of the shape in which operands"
        " meet. A target of 0 has the loss NaN on a 910B, as the document says, and 0 on a 950, as"
        " its kernel has it; its derivative is NaN.",
        "The two sets of ChamferDistanceBackward may differ in size.",
    ),
    "mhc": (
        "MhcPreSinkhorn adds hcEps behind the first sigmoid as MhcPre does, and takes it as the"
        " epsilon of its stages too. The first stage has no sums: its place in sumOut is not"
        " written.",
        "normOut and sumOut of MhcSinkhorn hold stage by stage, matrix by matrix and row by row, in"
        " rows of 8 of which the first n count; the documents give the sizes alone."
        " MhcSinkhornBackward reads them so. The first stage has no sums: its place is not"
        " written, nor is what lies behind the n of a row.",
        "MhcPreBackward leads the gradient of invRms to x, of which the norm is taken, not to"
        " x * gamma. MhcPreSinkhornBackward and MhcSinkhornBackward multiply by normOut at their"
        " last stage as documented, epsilon included.",
    ),
    "vfusion": (
        "ScaledMaskedSoftmax gives -10000 to every score whose mask is true, as the vendor's"
        " PyTorch adapter documents it; the product that the document writes would keep it.",
        "MultiScaleDeformableAttnFunction and its gradient take the place of a point as x, y, as"
        " their formulas do. A map that reaches beyond the keys is a fault; keys outside all maps"
        " sequence have the gradient 0.",
    ),
    "ffn": (
        "What lies between the products is rounded to the dtype of x, with innerPrecise 1 also in"
        " front of the activation; INT8 goes to the nearest number, half to even. `gelu` is the"
        " form with erf. Activations with a gate (geglu, swiglu, reglu) are refused: the documents"
        " do not say which half they activate.",
        "InplaceFfnWorkerScheduler takes the micro batch that polling_index names when"
        " syncGroupSize is the number of sessions; with several groups the first micro batch from"
        " there on of which a group has arrived, and every group that has. It clears the flag of"
        " what it takes, masks its experts with 2147483647, and polling_index goes to the micro"
        " batch behind. FfnWorkerBatching with needSchedule 1 takes all sessions in the same way."
        " Experts outside of [0, expertNum) are masked, equal experts keep the order of sessions"
        " and tokens, and expertOffsets is the place among the experts of a token, as"
        " FFNToAttention reads it; what lies behind actualTokenNum rows is not written.",
        "SwinTransformerLnQkvQuant computes the norm in float32 and quantises with round(x *"
        " quantScale + quantOffset). Windows lie row by row in each image; a result has the shape"
        " (windows, heads, tokens of a window, seqLength), as the example has it, and weight (3 *"
        " H, H).",
    ),
    "gmm": (
        "Products of quantised operands are exact sums in int32; scales, biases and activations"
        " follow in float32, and the result is rounded once. The scale of the weight is multiplied"
        " before that of the token.",
        "A packed scale has 19 bits, as in every product with one, also beside a weight of INT4.",
        "A weight whose format an operator forces to FRACTAL_NZ may have the shape of its blocks or"
        " that of its matrices; the format it names counts for nothing.",
        "On a 950 GroupedMatmulV4, V5 and WeightNz, GroupedMatmulSwigluQuantV2 and WeightNzV2 and"
        " GroupedMatmulFinalizeRoutingV3 and WeightNzV2 also take floats of 8 and 4 bits. Sums,"
        " scales and the bias are float32; scales of groups are multiplied with the sum of their"
        " group. Beside a transposed weight, scales that lie dense have the order of its memory."
        " GroupedMatmulFinalizeRoutingWeightNzV2 and GroupedMatmulWeightNz multiply rows of"
        " FLOAT8_E4M3FN with a weight of FLOAT4_E2M1 too, the first in the blocks of"
        " FRACTAL_NZ_C0_32; elsewhere rows of FLOAT8 with a weight of FLOAT4, and weights of floats"
        " in INT32, are refused.",
        "GroupedMatmulV4, V5 and WeightNz multiply rows of INT8 with a weight of INT4 as two halves"
        " of 4 bits, as their relatives do: what the halves lack is in the bias that the caller"
        " gives. Their group list holds sizes then, whatever groupListType says. The offset of"
        " such a weight is multiplied by the sum of the row of x, and any aligned depth and width"
        " is taken beside it. Values of FLOAT4 beside x of 16 bits are rounded to its dtype once"
        " they are scaled. With scales of INT64 or UINT64 a result of INT32 is refused: the"
        " document does not say what such a scale does to it. Of tuningConfig the first number is"
        " judged, and with 1 as the second one a weight of INT4 beside INT8 has the shape"
        " (E, N, K).",
        "The versions of GroupedMatmulSwigluQuant take a list of fewer groups than the weight has;"
        " tuningConfig changes no number and is not judged.",
        "GroupedMatmulFinalizeRouting clears its result, adds the rows of the shared input and then"
        " those of the groups in their order, all in float32. A null logit or pertokenScale counts"
        " as 1. A bias of BFLOAT16 is added after both scales, as in quantised products; the offset"
        " of a weight of INT4 is multiplied by the sum of the row of x. Any aligned depth and width"
        " is taken, though the documents name a few.",
        "Rows behind the last group are not written; groups outside the rows are a fault.",
        "QuantGroupedMatmulInplaceAdd needs scale1Optional, which its formulas multiply by."
        " GroupedMatmulActivationQuantWeightNz quantises blocks of 32 with every scaleAlg, as"
        " QuantMatmulActivationQuantWeightNz does and the shape of its scales asks for; the shape"
        " of weightScale tells which way round the weight is.",
    ),
    "sort": (
        "Median and MedianDim count NaN as the greatest value, as Sort does. Their place, and that"
        " of NanMedianDim, is the first of equal values. A row without a value is refused; one"
        " without a number has the median NaN at place 0.",
    ),
    "index": (
        "Gather counts an index below zero from the end on every chip, as its document has"
        " it, though the kernel of a 950 does not add the size. GatherV2 and Take count from"
        " the end; GatherV3, IndexSelect and Embedding do not, and GatherNd only with"
        " negativeIndexSupport, as the flags of the host code say. An index outside is a fault"
        " on every chip, though the GatherV2 kernel of a 950 reads zeros.",
        "IndexFill and its in-place form count from the end below zero and leave out an index"
        " outside, as document and kernels do. IndexFillTensor and its in-place form refuse an"
        " index outside and, before the 950 series, round the value to float32.",
        "InplacePut, ScatterNd, ScatterNdUpdate, IndexAdd and IndexCopy take an index below"
        " zero or outside for a fault, where a 950 leaves it out; of equal indices the last"
        " one wins, and sums take all. The padding row of EmbeddingDenseBackward is 0.",
        "EmbeddingDenseBackward adds in float64 in the order of the indices. An index that names no"
        " row is a fault.",
        "EmbeddingBag writes the bag of each index in offset2bag, counts in bagSize the"
        " indices that are not padding, and leaves maxIndices as it is unless largest values"
        " are asked for; a bag without an index has the values 0 and the row -1. Offsets that"
        " do not begin with 0, decrease, or do not end with the number of indices are a fault.",
        "ScatterReduce takes the reductions none, add and mul on a 950; the document leaves open"
        " whether a chip has max, min and mean. ScatterDiv cuts quotients of whole numbers towards"
        " zero, and a divisor of 0 is a fault. ScatterMax and ScatterMin keep a NaN of either side."
        " Each value is rounded to the dtype before the next one is combined with it.",
        "TfScatterAdd reads indices as rows where both shapes of updates fit. An index outside is a"
        " fault.",
        "InplaceQuantScatter quantises as Quantize does, in float32: round(x / scale + zero).",
        "ScatterList takes any mask but 0 as true, and asks a 910B for the shapes that the document"
        " gives for a 950.",
        "Sampling adds probabilities in float64 and rounds each one to float32. Top-k of a sample"
        " chooses as Topk does, so of equal logits the one in front; ApplyTopKTopP keeps all that"
        " equal its threshold.",
        "TopKTopPSample and V2 keep a token while the probabilities of the likelier ones add up to"
        " at most topP; the likeliest always stays. minPs orders the tokens like topP. topKGuess"
        " changes no result.",
        "`q` is read in the order of the kept tokens: the likeliest first, or as they lie where no"
        " filter is on. logitsTopKPSelect holds the logits that are kept, in both versions.",
        "Intermediate results of TopKTopPSampleV2 are probabilities of what top-k kept, not"
        " divided by their sum again; places behind the kept tokens hold 0, as indices too.",
        "UniqueDim puts slices in ascending order, that of the first elements that differ and NaN"
        " last, whether sorted asks for it or not, as Unique2 does. The counts of the document's"
        " example are those of this order, and its values and inverse those of another one, that of"
        " the first occurrence; here valueOut, inverseOut and countsOut have one order, as the text"
        " says. A slice with NaN is unlike every other, also for UniqueConsecutive.",
        "valueOut, inverseOut and countsOut of UniqueDim and UniqueConsecutive may be of any shape"
        " with room enough: the results lie dense in the front of their memory, and"
        " aclGetViewShape tells their shape afterwards. inverseOut has the shape of self where dim"
        " is 1000, else it is a list. What is not asked for is left as it is.",
        "ExpandIntoJaggedPermute takes empty tables too. A permute or outputOffset that leads out"
        " of the tensors, and an outputOffset that does not end with outputSize, is a fault.",
    ),
    "random": (
        "InplaceUniform and InplaceRandom give integers as the host code composes them:"
        " float32 numbers of the interval without their fraction, bounds rounded to the dtype"
        " first, and of InplaceRandom moved inwards where rounding would leave the interval;"
        " the upper bound is never reached. DOUBLE gets float32 numbers on a 910B. BOOL is"
        " whether the nearest integer is not 0.",
        "Normal and its kin are mean + std * z in float, cast once. A p of 0 gives zeros and"
        " a p of 1 ones in Bernoulli. Above 5,000 elements Multinomial on a 910B gives all"
        " rows the same uniform numbers with replacement. SimThreadExponential draws the"
        " Philox stream of its public kernel.",
        "Masks of DropoutGenMask have the lowest bit first, a set bit keeps, and bits up to"
        " the multiple of 128 are drawn too. Dropout divides by 1 - p rounded to the dtype of"
        " the input. DropoutV3 multiplies, so NaN stays; p of 0 fills its mask with 255, and"
        " bits behind the last element are 0.",
        "The streams of a 910B are its hardware's and not public; those of a 950, the order"
        " of Randperm and the 1e-7 that Multinomial adds were not reproduced.",
        "Numbers come from Philox 4x32-10, two of 53 bits for each block; the hardware makes"
        " others from the same seed. Element i is made of number offset + i of the sequence.",
        "Multinomial with replacement finds result i by number offset + i. Without it, weight i"
        " waits an exponential time made of number offset + i, and the first weights to come are"
        " drawn; weights of 0 come last. A row with a negative or infinite weight, with NaN or"
        " with no positive weight is a fault of the device.",
        "SimThreadExponential makes finite numbers: the uniform number is below 1. A count below"
        " the number of elements leaves the rest of selfRef as it is.",
        "A mask of dropout has the bits of a byte from the lowest on. Bit i is 1, and element i"
        " kept, where number offset + i is not below the probability of a zero; bits beyond the"
        " elements are 0. The dtype of the probability changes nothing.",
        "Bernoulli writes 1 where number offset + i is below the probability. Elements of"
        " BernoulliTensor that have no probability stay as they are.",
        "InplaceRandom multiplies the 64 bits of place offset + i by the number of values and takes"
        " the high half. The last value, to - 1, must be one of the dtype. Randperm exchanges"
        " element i with one of those from i on, which place offset + i chooses in the same way.",
    ),
    "rnn": (
        "Rows of the weights of LSTM and its gradient are those of the gates i, f, g, o, rows of"
        " GRU's those of r, z, n. ThnnFusedLstmCell has its gates in the order i, g, f, o, as its"
        " document says, and so has its gradient, whose formula for the bias names another order:"
        " storage and gradGatesOut belong to the same gates as storageOut.",
        "Products, sums and the states of a layer are float32; what a layer hands to the next one,"
        " or its gradient to the one below, is rounded to the dtype of the tensors. dropout and"
        " outputMask are not read, as the documents say for GRU and LstmBackward.",
        "With batchSizes the rows of LSTM are (times, batch), and what lies behind the end of a"
        " sequence is not read and is 0 in the results; rows of GRU are those that count, one time"
        " after the other. hy and cy are the states at the end of each sequence. Sizes that are not"
        " in descending order, begin with another number than the batch or do not add up to the"
        " rows are a fault. Where train is false the lists of gates are left as they are.",
        "dy, dh and dc of LstmBackward may be null and then count as 0, as the source has it."
        " GRUBackward takes no batchSizes, as its document says.",
        "BidirectionLSTM and BidirectionLSTMV2 run on a 310P alone. isbias asks for the biases and"
        " bidirection for the weights of the way back; what they do not ask for is not read.",
    ),
    "moe": (
        "MoeFusedTopk takes enableExpertMapping false alone: which logical expert stands for a"
        " physical one is random in a way that is not documented. topK is at most the number of"
        " experts in groupTopk groups.",
        "The gradients of routing by a map are those of the forward operators: without padding the"
        " gradients of probabilities go to the places of the map in the order of the experts."
        " MoeTokenUnpermuteWithEpGrad takes and gives the rows of the range, as the forward form"
        " makes them, or all; a row that two copies share is a fault.",
        "Gates choose in the order of Topk: of equal scores the lower index comes first, and NaN is"
        " the highest score.",
        "A row that `finished` names gets the number of experts as every expert; its values are"
        " computed like those of any other row.",
        "MoeGatingTopK divides by the sum of the chosen scores, as its backward operator and its"
        " form with a table do, not by the sum of all scores.",
        "MoeComputeExpertTokens counts the rows of an expert and of those before it.",
        "Routing sorts stably. A token that finds no place gets the index -1; places without a"
        " token hold zeros, also as their scale. Experts are counted before tokens are dropped.",
        "Static quantisation is round(x * scale + offset) in every version, dynamic quantisation"
        " divides x * scale by its own scale, also in MoeInitRoutingV3; INT4 ends at 7 instead of"
        " 127, and a row of zeros has the scale 0.",
        "MoeInitRoutingV3 names experts by their absolute numbers in pairs and fills the list with"
        " zeros. On a 950 it also quantises to floats of 8 and 4 bits: powers of two are those of"
        " DynamicMxQuant with scaleAlg 0, scales of rows and of 128 values the largest value"
        " divided by that of the dtype, and mode 7 casts x * scale.",
        "Sums over experts are added in float32 in the order shared experts, then the experts of"
        " the token, and rounded once. A token that an expert dropped gets nothing from it, not"
        " even its bias.",
        "MoeTokenPermuteWithRoutingMap sorts stably too. With drops and padding an expert takes the"
        " tokens that are routed to it and then the others, both in their order; without, a token"
        " of fewer experts has -1 in the places that are left.",
        "MoeTokenUnpermuteWithRoutingMap gives each permuted row the weight that"
        " MoeTokenPermuteWithRoutingMap gives it, which its document's formulas name in two ways."
        " outIndex and permuteTokenId, which the formulas name with padding alone, are without it"
        " what the gradient's document reads: the row and the token of each place; permuteProbs"
        " behind the last weight is not written.",
        "The range of MoeTokenPermuteWithEp and MoeTokenUnpermuteWithEp counts places from its"
        " start; it must lie within the tokens that numOutTokens keeps. MoeTokenPermuteV2 ignores"
        " its quantisation mode as a 910B does; the modes of the 950 are refused there.",
    ),
    "quant": (
        "SignBitsPack of a 910B packs 1 for what is not negative, the first element in the"
        " lowest bit, and pads with 0; a 950 packs 1 for what is negative, the first in the"
        " highest bit, and pads with 1. SignBitsUnpack takes the lowest bit first, and 1 is"
        " +1.",
        "Everything is computed in float32; `round` goes to the nearest number, half to even."
        " Results are limited to the range of their dtype. NaN becomes 0 among integers. HiFloat8"
        " takes ties away from zero.",
        "A row of zeros has scale 0 and becomes zeros; in asymmetric quantisation so does a row of"
        " one value. NaN counts for nothing when the scale of a row is found.",
        "DynamicQuantV2 is symmetric where offsetOut is null.",
        "Rows behind the last group are not written; a group outside the rows is a fault.",
        "scaleOut of SwiGluQuant is the largest value divided by that of the dtype, which products"
        " and DynamicQuant mean by a scale. Static quantisation does not write it, and adds 0 where"
        " offsetsOptional is null.",
        "Quantisation in blocks (Mx, Block) limits values to the range of the format, in every"
        " algorithm; `floor` goes towards minus infinity, `round` to the nearest with ties away"
        " from zero. Dividing by a scale that is a power of two is exact. An MX block with an"
        " infinity or a NaN has the scale 255 and becomes zeros, as the documents of the norms say;"
        " a block of zeros has the scale 0. A float scale counts no NaN, and a NaN stays one.",
        "Algorithm 2 of the scales rounds up where the mantissa of the largest value exceeds that"
        " of dstTypeMax, which is what a division by it gives: 6, whose mantissa it equals, is"
        " stored as 6. dstTypeMax other than 0 needs algorithm 2.",
        "The scales of a group of rows begin at its first row divided by the rows of a scale,"
        " rounded down, plus the number of the group; places that no group uses hold 0. Groups need"
        " not end with the last row, whose results are then not written.",
        "SwigluMxQuant takes groups only where activateDim and axis are the last dimension: the"
        " documents do not say where their scales lie otherwise. `hybrid` rounding to HiFloat8 is"
        " random in a way that is not documented; it is refused.",
        "SwigluGroupQuant gives results of 8 bits. Older documents list FLOAT4 for it too, but none"
        " of its four modes makes it.",
        "A gated unit is quantised in float32, before it is rounded to the dtype of x; so is the"
        " product with smoothScaleOptional of DynamicDualLevelMxQuant.",
        "A 910B refuses operators that only the 950 has with 361001 where their documents name it,"
        " else with 561003: no kernel was built for it.",
        "DequantSwigluQuant and its second version add a bias of integers to the product and one of"
        " floats to the scaled value, as DequantBias does. They take dynamic quantisation only: the"
        " documents do not say whether static quantisation multiplies by its scale, as SwiGluQuant"
        " does, or divides, as DequantSituQuant does. On a 950 the second version gives floats of 8"
        " bits for the last dimension; FLOAT4, whose scale is not documented, is refused."
        " DequantSituQuant ignores the offset of dynamic"
        " quantisation and takes no groups.",
        "Fake quantisation divides in float32 and takes NaN for quantMin, outside the range.",
        "FlatQuant adds both products in float32 and rounds nothing between them; matrices behind"
        " the last group of FlatQuantV3 are not written. FLOAT4 is rounded to the nearest number,"
        " half to even, in the blocks of DynamicMxQuantV2 with scaleAlg 0 or, where dstTypeMax is"
        " given, 2.",
        'HIFLOAT8 is rounded to the nearest number, half away from zero; roundMode "hybrid" of'
        " QuantMax, which no document defines, is refused. The largest value of nothing is 0.",
    ),
    "mc2": (
        "Rows of dispatch lie by expert, then by the rank they come from, then as that rank has"
        " its tokens. Rank r sends its tokens to copy r mod n of a shared expert with n copies."
        " With tensor parallelism the rows of rank 0 come first, and expertTokenNums counts those"
        " of both. epRecvCounts has the ends of the rows by expert and rank,"
        " assistInfoForCombine the rank, token and place of row i at element 128 * i.",
        "Dispatch quantises as the document of its first version gives it: x * scales times"
        " 127 / max, with the inverse of that factor as scale; a row of zeros has scale 0."
        " commQuantMode 2 of combine quantises each row in the same way.",
        "On a 950 V2 to V4 of dispatch also take quantMode 1 (INT8, HIFLOAT8), 2 and 3 (FLOAT8 by"
        " token or by 128 values, with the largest number of the dtype in place of 127), and rows"
        " of 8 and 4 bits that move with their scales. quantMode 4 (mx) is refused: the shape that"
        " the documents give its scales has one number for 64 values, mx has one for 32.",
        "Combine adds in float32 in the order sharedExpertX, shared experts, the experts of the"
        " token, and rounds once, as MoeFinalizeRouting does. Shared experts have weight 1. A"
        " token that takes no part keeps what needs no other rank. Its form with a norm gives what"
        " AddRmsNorm makes of the result.",
        "Dispatch and combine in halves run on a 950 with the sizes that their documents name and"
        " without quantisation: the documents leave the shape of its scales open. A setup writes"
        " the rows in their order into yOut and what goes where into commCmdInfoOut. The rows leave"
        " when its teardown runs, so y and expandX must keep their values until then. Behind the"
        " last row assistInfoForCombine has rank -1. quantExpandX is not written.",
        "BandwidthTest lays the rows of y by the rank they come from and there as that rank has its"
        " tokens. Mode 1 writes neither result. More tokens than y has rows are a fault. commAlg"
        " and aivNum are not read.",
        "The first versions of dispatch and combine take the numbers of ranks and the sizes that"
        " the second take. MoeUpdateExpert, DistributeBarrier and"
        " MoeDistributeCombineAddRmsNorm, which the documents give to other chips, run on a 910B"
        " too.",
        "MoeUpdateExpert chooses copy token mod copies with balanceMode 1, and keeps an expert"
        " whose scale is not below the sum of the token's scales times their thresholds.",
        "AllGatherMatmulV2 gathers the scales of the rows too. MatmulReduceScatterV2 adds the bias"
        " of every rank. Integer products are dequantised in float32: times the scale of the"
        " column, times that of the row, plus the bias, rounded once, before ranks are summed.",
        "AlltoAllQuantMatmul with a scale per token takes the scales of the rows that this rank"
        " gets from its own tensor; dynamic scales are the largest value divided by 127, or by 7"
        " where x2 is INT4. Packed INT32 stands for no INT4 here.",
        "AlltoAllQuantMatmul and QuantMatmulAlltoAll multiply floats of 8 and 4 bits on a 950:"
        " scales of rows and columns are for the sum and its bias, powers of two for the sums of 32"
        " values, behind which the bias comes. Dynamic scales are the largest value divided by that"
        " of the dtype.",
        "Counts of AlltoAllvGroupedMatMul and GroupedMatMulAlltoAllv lie by rank, then by expert;"
        " rows for products lie by expert, then by rank. Both, QuantAllReduce and"
        " QuantReduceScatter, which the documents give to other chips, run on a 910B too. The"
        " latter two sum in float32 in rank order and round once; on a 950 they take floats of 8"
        " bits too, with scales of 128 values or powers of two for 32.",
        "AllGatherMatmulV2, MatmulReduceScatterV2 and QuantMatmulAllReduceV4 and V5 take floats of"
        " 8 bits and FLOAT4_E2M1 on a 950, with the steps of QuantMatmulV5. Blocks"
        " of scales begin anew with the rows of each rank. commQuantMode 1 is refused: how many"
        " values share a scale on their way is not documented.",
        "AlltoAllAllGatherBatchMatMul and BatchMatMulReduceScatterAlltoAll, given to other chips,"
        " run on a 910B too. The activation is that of its own operator on the rounded product."
        " Products are rounded, summed in rank order, and given the bias after the sum.",
        "AlltoAllvQuantGroupedMatMul and QuantGroupedMatMulAlltoAllv run on a 950. Values times"
        " their powers of two are summed in float32 and rounded once, and the scales of rows go"
        " with the rows; sums of HIFLOAT8 are multiplied by the scale of the weight and then by"
        " that of the rows, which is the one of the rank that multiplies.",
        "The timeOut of DistributeBarrierV2 counts microseconds; an elasticInfo that leaves ranks"
        " out is a fault.",
    ),
    "posembedding": (
        "RotaryPositionEmbedding and its gradient turn halves on a 910B for every mode but 1, and"
        " ApplyRotaryPosEmbV2 for every rotaryMode, as CANN's host code does; the other modes of"
        " their documents are those of a 950.",
        "NormRopeConcat rounds once, behind the rotation. A row of its tables turns the token of"
        " its number in the joined sequence; tokens behind the tables are not turned. Statistics"
        " have the shape (batch, tokens, heads, 1); norms by the root mean square have no mean.",
        "Everything is computed in float32 and rounded once, also where a norm, a rotation and"
        " quantisation follow each other.",
        "A matrix that rotates is summed in float64. Its size limits are those of a 950.",
        "RotateQuant gives blocks with a power of two on a 950 and rows of integers elsewhere.",
        "KvRmsNormRopeCache multiplies by its scales and divides by none; QkvRmsNormRopeCache and"
        " DequantRopeQuantKvcache divide, as Quantize does. A dequantised product takes a bias as"
        " DequantBias does. Half rotations are those of ApplyRotaryPosEmb.",
        "Several heads in a cache whose mode ends in NZ lie as ScatterPaKvCache puts them: runs of"
        " 32 bytes, one head after the other. A mode with BLK rounds an index down to its block.",
        "An index of -1 writes nothing. QkvRmsNormRopeCache does not give what it quantises.",
        "QkvRmsNormRopeCacheWithKScale has the form with lengths of sequences, whose arguments it"
        " has here. Products with its matrix are summed in float32; a row of zeros has the scale 0."
        " A slot outside the cache is a fault.",
    ),
    "optim": (
        "With amsgrad ApplyAdamWV2 and FusedAdamw compare the second moment as it is stored, before"
        " its correction, as the parameter is described; the correction divides the larger one.",
        "FusedAdamw divides the gradients by gradScaleOptional, as the formula of FusedSgd does,"
        " and leaves everything as it is where foundInfOptional is 1. FusedSgd without buffers of"
        " momentum makes each step like a first one.",
        "ApplyAdamWV2, FusedAdamw and ApplyAdamWQuant are given the steps before this one, as their"
        " kernels add one; ApplyFusedEmaAdam is given the number of this step.",
        "ApplyAdamWQuant takes the place of the nearest entry of the table, and of two equally near"
        " ones the lower; an entry of the other sign than a first moment makes way for its"
        " neighbour. A block of zeros is divided by nothing. Weights decay after the step.",
        "AdvanceStep finds the slot of the position seqLens had before: entry position / blockSize"
        " of the row of blockTables, as the kernel of vLLM does. AdvanceStepV2, whose document"
        " repeats the formulas of the first version, moves each position on by 1 + acceptedNum; the"
        " tokens are entry acceptedNum of sampledTokenIds and then specToken, seqLens is one more"
        " than the position, and the slot is that of the new position. Its tensors have a row of"
        " 1 + the guessed tokens for each sequence, or the same elements in one dimension.",
    ),
    "objdetect": (
        "RoiAlign and its versions compute positions in float32 and sum in float64. A sample more"
        " than one element outside is 0, and so is a region that is not a number. With mode max a"
        " bin is the largest of its samples. samplingRatio may be 1024 at most: the documents name"
        " no limit. A region's image is rounded down; one that does not exist is a fault.",
        "Iou and CIoU divide as the formulas do. eps lengthens the sides of all three areas, that"
        " of the common part before it is limited to 0. Foreground is the area of gtBoxes. Where"
        " the angles are equal the last term of CIoU, 0 / 0 for equal boxes, is 0.",
        "NonMaxSuppression keeps a score equal to the threshold; of equal scores the box in front"
        " comes first. Rows without a box hold -1; boxes that find no row are left out.",
        "RoiPoolingWithArgMax takes any number of images, as its document's example does.",
        "RoiPoolingGradWithArgMax overwrites gradInputRef, from which it takes the shape. Position"
        " 0 is an element, a negative position an empty bin.",
        "Blended images of UINT8 are the nearest whole numbers of float32, limited to 0 to 255.",
    ),
    "norm": (
        "ScaledMaskedSoftmax scales FLOAT16 in its own dtype as its kernel does, so products"
        " round and may overflow; a masked score is -10000.",
        "Fused forms round nothing between their parts: the sum is normalised, and the norm is"
        " quantised, before it is rounded to the dtype of its own result.",
        "A second quantised result that is not asked for may have any shape; it is not written.",
        "On a 950 RmsNormQuant takes what its third version takes and divides by the scale; what is"
        " no number becomes 0, as its document says, among floats of 8 bits too.",
        "FastLayerNorm gives the same numbers as LayerNorm. AddRmsNormQuantV2 multiplies by the"
        " scales on a 910B only where betaOptional and rmsNormOut are null, as the document says"
        " of its older form.",
        "AddLayerNormQuantV2 writes xOut where additionalOutput asks for it, also on a 910B; scales"
        " of a dynamic quantisation that does not take place are not written.",
        "An absent beta of GroupNormSiluQuant counts as 0, like that of GroupNormSilu.",
        "QuantizedBatchNorm computes in float64 and rounds once, to the nearest number, half to"
        " even, within the range of the dtype.",
        "The counter of BatchNormElemtBackward has any shape and is added up. Running variances"
        " move by the unbiased estimate in BatchNormGatherStatsWithCounts too, by the variance"
        " itself where there is one sample; versions 0 and 1 of FastBatchNormBackward are one"
        " algorithm.",
        "grad_input of ModulateBackward is grad_output * scale, as its document has it, although"
        " Modulate multiplies by 1 + scale: give it 1 + scale for the gradient of Modulate.",
        "mean and variance of InstanceNorm in NHWC have the shape (N, 1, 1, C), and the variance is"
        " not the unbiased estimate. An absent gamma of GroupNormBackward counts as 1, and the"
        " gradients then have C elements of any shape.",
        "A 910B refuses the norms of the 950 with 561103, as their documents refuse everything but"
        " null.",
    ),
}
_HEAD = """\
# Operators of the emulator

Made by `python -m maintain.coverage`; a test compares it with the library. {count} operators
of {total} are implemented; the last section names those that are absent from the library, as on
an older CANN.

Dtypes are those that the first tensor may have. A tolerance "by dtype" bounds the distance from
NumPy in float64, relative to the value, by the dtype of the result; operators that add many terms
stay within a small multiple. Integers and BOOL are exact, and so is every real dtype of an operator
marked exact.

| {names} |
|{rules}|
| {bounds} |
"""


def implemented() -> list[str]:
    """Return the C names of the operators the loaded library has, in order.

    Returns
    -------
    list of str
        Such as ``"aclnnAdd"``.
    """
    return [name for name in sorted(facts.operators()) if C.has(name + "GetWorkspaceSize")]


def coverage_table() -> str:
    """Return the table as Markdown.

    Returns
    -------
    str
        A heading, the tolerances, and one table per family of operators with its decisions.
    """
    names = implemented()
    families: dict[str, list[str]] = {}
    for name in names:
        families.setdefault(facts.operators()[name].family, []).append(name)
    parts = [
        _HEAD.format(
            count=len(names),
            total=len(facts.operators()),
            names=" | ".join(TOLERANCE_TEXT),
            rules="|".join("---" for _ in TOLERANCE_TEXT),
            bounds=" | ".join(TOLERANCE_TEXT.values()),
        )
    ]
    for family in sorted(families):
        parts.append(f"\n## {family}\n\n| operator | dtypes | tolerance |\n|---|---|---|\n")
        parts.extend(
            f"| {name} | {_dtypes(name)} | {_tolerance(name)} |\n" for name in families[family]
        )
        if family in DECIDED:
            parts.append("\nWhat the documents leave open is decided thus:\n\n")
            parts.extend(f"- {decision}\n" for decision in DECIDED[family])
    parts.append("\n## Absent\n\n| operator | reason |\n|---|---|\n")
    parts.extend(f"| {name} | {_reason(name)} |\n" for name in absent())
    return "".join(parts)


def absent() -> list[str]:
    """Return the operators of the headers that the library does not export.

    Returns
    -------
    list of str
        Such as ``"aclnnMegaMoe"``.
    """
    return sorted(set(facts.operators()) - set(implemented()))


def coverage_path() -> Path:
    """Return where the table is kept: beside the emulator's sources.

    Returns
    -------
    Path
    """
    return Path(__file__).resolve().parent.parent / "aclnn_py" / "emulator" / "COVERAGE.md"


def _reason(name: str) -> str:
    fact = facts.operators()[name]
    if fact.experimental:
        return "of a contributed package, not part of CANN's library"
    return fact.absent or "not implemented yet"


def _tolerance(name: str) -> str:
    return "exact" if facts.operators()[name].exact else "by dtype"


def _dtypes(name: str) -> str:
    fact = facts.operators()[name]
    parameters = operator_named(python_name(name)).parameters
    tensors = [fact.parameter(parameter.c_name) for parameter in parameters if parameter.is_tensor]
    listed: Iterable[str] = next((known.dtypes for known in tensors if known.dtypes), ())
    names = " ".join(listed).lower() or ("not documented" if tensors else "no tensors")
    return f"{names} (on a {fact.chip}, not on a 910B)" if fact.chip else names


def main() -> int:
    """Write or compare both pages about the operators of the emulator."""
    from maintain.forms import forms_path, forms_table  # which reads this module

    command = "python -m maintain.coverage"
    return max(
        write_or_check(coverage_path(), coverage_table(), command),
        write_or_check(forms_path(), forms_table(), command),
    )


if __name__ == "__main__":
    sys.exit(main())
