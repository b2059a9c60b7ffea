/* SPDX-License-Identifier: Apache-2.0 */
/* Threads, buffers, contexts and channels for collectives of one's own. */
#ifndef ACLNN_PY_HCCL_HCCL_RES_H
#define ACLNN_PY_HCCL_HCCL_RES_H

#include "acl/acl_rt.h"
#include "hccl/hccl_types.h"
#include "hccl/hcomm_res_defs.h"

#include "aclnn_py/c_begin.h"

/* After 9.2. */
typedef enum HcclDedicatedThreadType {
    HCCL_DED_THREAD_TYPE_INVALID = -1,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH = 0,
    HCCL_DED_THREAD_TYPE_AICPU_LAUNCH_GE = 1,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_OPBASE = 2,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_ACLGRAPH = 3,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_GE = 4,
    HCCL_DED_THREAD_TYPE_AICPU_ORDER_LAUNCH_DEVICE = 5
} HcclDedicatedThreadType;

typedef void *HcclMemHandle;
typedef aclrtStream ThreadResTypeStream;

/* Communicators and collectives. */
/* since 8.5.0-beta.1 */
HcclResult HcclGetHcclBuffer(HcclComm comm, void **buffer, uint64_t *size);
/* since 9.0 */
HcclResult HcclCommMemReg(HcclComm comm, const char *memTag, const CommMem *mem, HcclMemHandle *memHandle);
/* after 9.2 */
HcclResult HcclGetHcclBufferCleared(HcclComm comm, void **buffer, uint64_t *size);

/* Resources for collectives of one's own. */
/* since 8.5.0-beta.1 */
HcclResult HcclEngineCtxCopy(HcclComm comm, CommEngine engine, const char *ctxTag, const void *srcCtx, uint64_t size, uint64_t dstCtxOffset);
HcclResult HcclEngineCtxCreate(HcclComm comm, const char *ctxTag, CommEngine engine, uint64_t size, void **ctx);
HcclResult HcclEngineCtxGet(HcclComm comm, const char *ctxTag, CommEngine engine, void **ctx, uint64_t *size);
HcclResult HcclThreadAcquire(HcclComm comm, CommEngine engine, uint32_t threadNum, uint32_t notifyNumPerThread, ThreadHandle *threads);
HcclResult HcclThreadAcquireWithStream(HcclComm comm, CommEngine engine, aclrtStream stream, uint32_t notifyNum, ThreadHandle *thread);
/* since 9.0 */
HcclResult HcclEngineCtxDestroy(HcclComm comm, const char *ctxTag, CommEngine engine);
/* after 9.2 */
HcclResult HcclDedicatedThreadAcquire(HcclComm comm, HcclDedicatedThreadType useType, uint32_t notifyNumPerThread, ThreadHandle *thread);
HcclResult HcclThreadAcquireWithConfig(HcclComm comm, CommEngine engine, uint32_t threadNum, ThreadType type, const ThreadConfig *config, ThreadHandle *threads);
HcclResult HcclThreadResGetInfo(HcclComm comm, ThreadHandle thread, ThreadResType resType, uint32_t infoLen, void **info);

#include "aclnn_py/c_end.h"

#endif /* ACLNN_PY_HCCL_HCCL_RES_H */
