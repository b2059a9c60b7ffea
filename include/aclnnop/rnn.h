/* SPDX-License-Identifier: Apache-2.0 */
/* Recurrent networks. */
#ifndef ACLNN_PY_ACLNNOP_RNN_H
#define ACLNN_PY_ACLNNOP_RNN_H

#include "aclnn/aclnn_base.h"

#include "aclnn_py/c_begin.h"

#ifndef ACLNN_PY_RNN_ACLNN_BIDIRECTION_LSTM
#define ACLNN_PY_RNN_ACLNN_BIDIRECTION_LSTM
/* Long short-term memory network in both directions. [document] */
aclnnStatus aclnnBidirectionLSTMGetWorkspaceSize(const aclTensor *x, const aclTensor *initH, const aclTensor *initC, const aclTensor *wIh, const aclTensor *wHh, const aclTensor *bIhOptional, const aclTensor *bHhOptional, const aclTensor *wIhReverseOptional, const aclTensor *wHhReverseOptional, const aclTensor *bIhReverseOptional, const aclTensor *bHhReverseOptional, int64_t numLayers, bool isbias, bool batchFirst, bool bidirection, aclTensor *yOut, aclTensor *outputHOut, aclTensor *outputCOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBidirectionLSTM(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_BIDIRECTION_LSTMV2
#define ACLNN_PY_RNN_ACLNN_BIDIRECTION_LSTMV2
/* Long short-term memory network in both directions; version 2 adds batchSize, packed. [document] */
aclnnStatus aclnnBidirectionLSTMV2GetWorkspaceSize(const aclTensor *x, const aclTensor *initH, const aclTensor *initC, const aclTensor *wIh, const aclTensor *wHh, const aclTensor *bIhOptional, const aclTensor *bHhOptional, const aclTensor *wIhReverseOptional, const aclTensor *wHhReverseOptional, const aclTensor *bIhReverseOptional, const aclTensor *bHhReverseOptional, const aclTensor *batchSizeOptional, int64_t numLayers, bool isbias, bool batchFirst, bool bidirection, bool packed, aclTensor *yOut, aclTensor *outputHOut, aclTensor *outputCOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnBidirectionLSTMV2(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_GRU
#define ACLNN_PY_RNN_ACLNN_GRU
/* Gated recurrent unit network. */
aclnnStatus aclnnGRUGetWorkspaceSize(const aclTensor *input, const aclTensorList *params, const aclTensor *hxOptional, const aclTensor *batchSizesOptional, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirection, bool batchFirst, aclTensor *output, aclTensor *hy, aclTensorList *rOutOptional, aclTensorList *zOutOptional, aclTensorList *nOutOptional, aclTensorList *hnOutOptional, aclTensorList *hOutOptional, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGRU(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_GRU_BACKWARD
#define ACLNN_PY_RNN_ACLNN_GRU_BACKWARD
/* Gradient of the gated recurrent unit network. Direction settled by meaning: hn, batchSizesOptional read. */
aclnnStatus aclnnGRUBackwardGetWorkspaceSize(const aclTensor *input, const aclTensorList *params, const aclTensor *hx, const aclTensor *dy, const aclTensor *dh, const aclTensorList *r, const aclTensorList *z, const aclTensorList *n, const aclTensorList *hn, const aclTensorList *h, const aclTensor *batchSizesOptional, bool hasBias, int64_t numLayers, bool bidirection, bool batchFirst, aclTensor *dxOut, aclTensor *dhPrevOut, aclTensorList *dparamsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnGRUBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_LSTM
#define ACLNN_PY_RNN_ACLNN_LSTM
/* Long short-term memory network. */
aclnnStatus aclnnLSTMGetWorkspaceSize(const aclTensor *input, const aclTensorList *params, const aclTensorList *hxOptional, const aclTensor *batchSizesOptional, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirectional, bool batchFirst, aclTensor *output, aclTensor *hy, aclTensor *cy, aclTensorList *iOut, aclTensorList *jOut, aclTensorList *fOut, aclTensorList *oOut, aclTensorList *hOut, aclTensorList *cOut, aclTensorList *tanhCOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLSTM(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_LSTM_BACKWARD
#define ACLNN_PY_RNN_ACLNN_LSTM_BACKWARD
/* Gradient of the long short-term memory network. */
aclnnStatus aclnnLstmBackwardGetWorkspaceSize(const aclTensor *input, const aclTensorList *hx, const aclTensorList *params, const aclTensor *dyOptional, const aclTensor *dhOptional, const aclTensor *dcOptional, const aclTensorList *i, const aclTensorList *g, const aclTensorList *f, const aclTensorList *o, const aclTensorList *h, const aclTensorList *c, const aclTensorList *tanhc, const aclTensor *batchSizesOptional, bool hasBias, int64_t numLayers, double dropout, bool train, bool bidirectional, bool batchFirst, const aclBoolArray *outputMaskOptional, aclTensor *dxOut, aclTensor *dhPrevOut, aclTensor *dcPrevOut, aclTensorList *dparamsOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnLstmBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_THNN_FUSED_LSTM_CELL
#define ACLNN_PY_RNN_ACLNN_THNN_FUSED_LSTM_CELL
/* One step of a long short-term memory cell from its gates. */
aclnnStatus aclnnThnnFusedLstmCellGetWorkspaceSize(const aclTensor *inputGates, const aclTensor *hiddenGates, const aclTensor *cx, const aclTensor *inputBiasOptional, const aclTensor *hiddenBiasOptional, aclTensor *hyOut, aclTensor *cyOut, aclTensor *storageOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnThnnFusedLstmCell(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#ifndef ACLNN_PY_RNN_ACLNN_THNN_FUSED_LSTM_CELL_BACKWARD
#define ACLNN_PY_RNN_ACLNN_THNN_FUSED_LSTM_CELL_BACKWARD
/* Gradient of one step of a long short-term memory cell from its gates. */
aclnnStatus aclnnThnnFusedLstmCellBackwardGetWorkspaceSize(const aclTensor *gradHyOptional, const aclTensor *gradCOptional, const aclTensor *cx, const aclTensor *cy, const aclTensor *storage, bool hasBias, aclTensor *gradGatesOut, aclTensor *gradCxOut, aclTensor *gradBiasOut, uint64_t *workspaceSize, aclOpExecutor **executor);
aclnnStatus aclnnThnnFusedLstmCellBackward(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, aclrtStream stream);
#endif

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_ACLNNOP_RNN_H */
