/* SPDX-License-Identifier: Apache-2.0 */
/* Arguments of operators that compute and communicate. */
#ifndef ACLNN_PY_HCCL_HCCL_MC2_H
#define ACLNN_PY_HCCL_HCCL_MC2_H

#include "hccl/hccl_types.h"

#include "aclnn_py/c_begin.h"

/* Resources for collectives of one's own. */
/* since 9.0 */
HcclResult HcclCreateOpResCtx(HcclComm comm, uint8_t opType, void *opArgs, void **opResCtx);
HcclResult HcclKfcAllocOpArgs(void **opArgs);
HcclResult HcclKfcFreeOpArgs(void *opArgs);
HcclResult HcclKfcOpArgsSetAlgConfig(void *opArgs, char *algConfig);
HcclResult HcclKfcOpArgsSetCommEngine(void *opArgs, uint8_t commEngine);
HcclResult HcclKfcOpArgsSetCount(void *opArgs, uint64_t count);
HcclResult HcclKfcOpArgsSetDstDataType(void *opArgs, uint8_t dstDataType);
HcclResult HcclKfcOpArgsSetReduceType(void *opArgs, uint32_t reduceType);
HcclResult HcclKfcOpArgsSetSrcDataType(void *opArgs, uint8_t srcDataType);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCL_MC2_H */
