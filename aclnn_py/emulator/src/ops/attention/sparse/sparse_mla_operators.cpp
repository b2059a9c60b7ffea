// SPDX-License-Identifier: Apache-2.0
// SparseFlashMla and MixedQuantSparseFlashMla, whose keys are quantised and have 512 elements in
// 608 or 584 bytes.
#include "aclnnop/attention.h"
#include "ops/attention/sparse/sparse_mla.h"

#define MLA_TENSORS                                                                         \
  const aclTensor *q, const aclTensor *oriKvOptional, const aclTensor *cmpKvOptional,       \
      const aclTensor *oriSparseIndicesOptional, const aclTensor *cmpSparseIndicesOptional, \
      const aclTensor *oriBlockTableOptional, const aclTensor *cmpBlockTableOptional,       \
      const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensOriKvOptional,         \
      const aclTensor *cuSeqlensCmpKvOptional, const aclTensor *sequsedQOptional,           \
      const aclTensor *sequsedOriKvOptional, const aclTensor *sequsedCmpKvOptional,         \
      const aclTensor *cmpResidualKvOptional, const aclTensor *oriTopkLengthOptional,       \
      const aclTensor *cmpTopkLengthOptional, const aclTensor *sinksOptional,               \
      const aclTensor *metadataOptional
#define MLA_ATTRIBUTES                                                             \
  double softmaxScale, int64_t cmpRatio, int64_t oriMaskMode, int64_t cmpMaskMode, \
      int64_t oriWinLeft, int64_t oriWinRight, const char *layoutQOptional,        \
      const char *layoutKvOptional, int64_t topkValueMode, bool returnSoftmaxLse,  \
      aclTensor *attnOutOut, aclTensor *softmaxLseOutOptional
#define MLA_CALL(c)                                                                          \
  c.q = q;                                                                                   \
  c.own = {EMU_ARGUMENT(oriKvOptional), EMU_ARGUMENT(oriSparseIndicesOptional),              \
           EMU_ARGUMENT(oriBlockTableOptional), EMU_ARGUMENT(cuSeqlensOriKvOptional),        \
           EMU_ARGUMENT(sequsedOriKvOptional)};                                              \
  c.compressed = {EMU_ARGUMENT(cmpKvOptional), EMU_ARGUMENT(cmpSparseIndicesOptional),       \
                  EMU_ARGUMENT(cmpBlockTableOptional), EMU_ARGUMENT(cuSeqlensCmpKvOptional), \
                  EMU_ARGUMENT(sequsedCmpKvOptional)};                                       \
  c.query_ends = EMU_ARGUMENT(cuSeqlensQOptional);                                           \
  c.used_queries = EMU_ARGUMENT(sequsedQOptional);                                           \
  c.residuals = EMU_ARGUMENT(cmpResidualKvOptional);                                         \
  c.counts = EMU_ARGUMENT(oriTopkLengthOptional);                                            \
  c.compressed_counts = EMU_ARGUMENT(cmpTopkLengthOptional);                                 \
  c.sinks = EMU_ARGUMENT(sinksOptional);                                                     \
  c.metadata = EMU_ARGUMENT(metadataOptional);                                               \
  c.scale = softmaxScale;                                                                    \
  c.ratio = cmpRatio;                                                                        \
  c.mask = oriMaskMode;                                                                      \
  c.compressed_mask = cmpMaskMode;                                                           \
  c.left = oriWinLeft;                                                                       \
  c.right = oriWinRight;                                                                     \
  c.query_layout = layoutQOptional ? layoutQOptional : "BSND";                               \
  c.key_layout = layoutKvOptional ? layoutKvOptional : "BSND";                               \
  c.value_mode = topkValueMode;                                                              \
  c.with_lse = returnSoftmaxLse;                                                             \
  c.out = attnOutOut;                                                                        \
  c.lse = EMU_ARGUMENT(softmaxLseOutOptional)

EMU_OPERATOR(SparseFlashMla, (MLA_TENSORS, MLA_ATTRIBUTES)) {
  emu::MlaCall c{};
  c.op = "aclnnSparseFlashMla";
  MLA_CALL(c);
  return emu::plan_mla(c, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MixedQuantSparseFlashMla,
             (MLA_TENSORS, int64_t quantMode, int64_t ropeHeadDim, MLA_ATTRIBUTES)) {
  emu::MlaCall c{};
  c.op = "aclnnMixedQuantSparseFlashMla";
  c.quantised = true;
  c.quant_mode = quantMode;
  c.rope = ropeHeadDim;
  MLA_CALL(c);
  return emu::plan_mla(c, workspaceSize, executor);
}
EMU_CATCH
