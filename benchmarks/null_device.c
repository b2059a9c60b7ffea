/* SPDX-License-Identifier: Apache-2.0 */
/* A library with the ABI of CANN that does nothing: what remains of a launch on it is the cost of
   the caller. Objects cost one allocation each, as little as a real library could spend. */
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/attention.h"
#include "aclnnop/foreach.h"
#include "aclnnop/math.h"
#include "aclnnop/norm.h"

static __thread int32_t current_device;
static __thread char context;

struct aclTensor {
    int64_t dims[2];
    void *data;
};
struct aclScalar {
    int64_t value[2];
    int dtype;
};
struct aclTensorList {
    uint64_t count;
    const aclTensor *members[];
};
struct aclOpExecutor {
    int64_t unused;
};
static struct aclOpExecutor executor_of_all;

aclError aclInit(const char *path)
{
    (void)path;
    return 0;
}
aclError aclFinalize(void)
{
    return 0;
}
const char *aclGetRecentErrMsg(void)
{
    return NULL;
}
aclError aclrtGetDeviceCount(uint32_t *count)
{
    *count = 1;
    return 0;
}
aclError aclrtSetDevice(int32_t device)
{
    current_device = device;
    return 0;
}
aclError aclrtResetDevice(int32_t device)
{
    (void)device;
    return 0;
}
aclError aclrtGetDevice(int32_t *device)
{
    *device = current_device;
    return 0;
}
aclError aclrtGetCurrentContext(aclrtContext *out)
{
    *out = &context;
    return 0;
}
aclError aclrtSetCurrentContext(aclrtContext in)
{
    (void)in;
    return 0;
}
aclError aclrtCreateStream(aclrtStream *out)
{
    *out = malloc(1);
    return 0;
}
aclError aclrtDestroyStream(aclrtStream stream)
{
    free(stream);
    return 0;
}
aclError aclrtSynchronizeStream(aclrtStream stream)
{
    (void)stream;
    return 0;
}
aclError aclrtSynchronizeDevice(void)
{
    return 0;
}
aclError aclrtMalloc(void **out, size_t nbytes, aclrtMemMallocPolicy policy)
{
    (void)policy;
    *out = malloc(nbytes);
    return *out ? 0 : ACL_ERROR_BAD_ALLOC;
}
aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode)
{
    (void)stream, (void)mode;
    return 0;
}
aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI *out)
{
    (void)stream;
    *out = &context;
    return 0;
}
aclError aclmdlRIExecuteAsync(aclmdlRI graph, aclrtStream stream)
{
    (void)graph, (void)stream;
    return 0;
}
aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream)
{
    (void)stream;
    return 0;
}
aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp *out)
{
    (void)stream;
    *out = &context;
    return 0;
}
aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp group)
{
    (void)stream, (void)group;
    return 0;
}
aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream)
{
    (void)stream;
    return 0;
}
aclError aclmdlRIDestroy(aclmdlRI graph)
{
    (void)graph;
    return 0;
}
aclError aclrtFree(void *address)
{
    free(address);
    return 0;
}
aclError aclrtMemcpy(void *to, size_t limit, const void *from, size_t nbytes, aclrtMemcpyKind kind)
{
    (void)limit, (void)kind;
    memcpy(to, from, nbytes);
    return 0;
}

aclError aclrtMemcpyAsync(void *to, size_t limit, const void *from, size_t nbytes,
                          aclrtMemcpyKind kind, aclrtStream stream)
{
    (void)stream;
    return aclrtMemcpy(to, limit, from, nbytes, kind);
}
aclError aclrtMemset(void *to, size_t limit, int32_t value, size_t nbytes)
{
    (void)limit;
    memset(to, value, nbytes);
    return 0;
}
aclError aclrtMallocHost(void **out, size_t nbytes)
{
    *out = malloc(nbytes);
    return *out ? 0 : ACL_ERROR_BAD_ALLOC;
}
aclError aclrtFreeHost(void *address)
{
    free(address);
    return 0;
}
aclError aclrtCreateEventWithFlag(aclrtEvent *out, uint32_t flag)
{
    (void)flag;
    *out = malloc(1);
    return 0;
}
aclError aclrtDestroyEvent(aclrtEvent event)
{
    free(event);
    return 0;
}
aclError aclrtRecordEvent(aclrtEvent event, aclrtStream stream)
{
    (void)event, (void)stream;
    return 0;
}
aclError aclrtStreamWaitEvent(aclrtStream stream, aclrtEvent event)
{
    (void)event, (void)stream;
    return 0;
}
aclError aclrtQueryEventStatus(aclrtEvent event, aclrtEventRecordedStatus *out)
{
    (void)event;
    *out = ACL_EVENT_RECORDED_STATUS_COMPLETE;
    return 0;
}
aclError aclrtSynchronizeEventWithTimeout(aclrtEvent event, int32_t timeout)
{
    (void)event, (void)timeout;
    return 0;
}
aclError aclrtSynchronizeEvent(aclrtEvent event)
{
    (void)event;
    return 0;
}

aclTensor *aclCreateTensor(const int64_t *dims, uint64_t rank, aclDataType dtype,
                           const int64_t *strides, int64_t offset, aclFormat format,
                           const int64_t *storage, uint64_t storage_rank, void *data)
{
    (void)dims, (void)rank, (void)dtype, (void)strides, (void)offset, (void)format, (void)storage,
        (void)storage_rank;
    aclTensor *tensor = malloc(sizeof *tensor);
    tensor->data = data;
    return tensor;
}
aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    free((void *)tensor);
    return 0;
}
aclIntArray *aclCreateIntArray(const int64_t *values, uint64_t count)
{
    int64_t *array = malloc((count + 1) * sizeof *array);
    array[0] = (int64_t)count;
    memcpy(array + 1, values, count * sizeof *array);
    return (aclIntArray *)array;
}
aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    free((void *)array);
    return 0;
}
aclScalar *aclCreateScalar(void *value, aclDataType dtype)
{
    aclScalar *scalar = malloc(sizeof *scalar);
    memcpy(scalar->value, value, 8);
    scalar->dtype = dtype;
    return scalar;
}
aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    free((void *)scalar);
    return 0;
}
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    (void)executor;
    return 0;
}
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    (void)executor;
    return 0;
}

aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor *self, const aclTensor *other,
                                     const aclScalar *alpha, aclTensor *out,
                                     uint64_t *workspaceSize, aclOpExecutor **executor)
{
    (void)self, (void)other, (void)alpha, (void)out;
    *workspaceSize = 0;
    *executor = &executor_of_all;
    return 0;
}
aclnnStatus aclnnAdd(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor,
                     aclrtStream stream)
{
    (void)workspace, (void)workspaceSize, (void)executor, (void)stream;
    return 0;
}

aclTensorList *aclCreateTensorList(const aclTensor *const *members, uint64_t count)
{
    aclTensorList *list = malloc(sizeof *list + count * sizeof *members);
    list->count = count;
    memcpy(list->members, members, count * sizeof *members);
    return list;
}
aclnnStatus aclDestroyTensorList(const aclTensorList *list)
{
    for (uint64_t i = 0; i < list->count; ++i)
        free((void *)list->members[i]);
    free((void *)list);
    return 0;
}
aclnnStatus aclSetTensorAddr(aclOpExecutor *executor, const size_t index, aclTensor *tensor,
                             void *address)
{
    (void)executor, (void)index;
    tensor->data = address;
    return 0;
}

#define PHASE_TWO(name)                                                                \
    aclnnStatus name(void *workspace, uint64_t workspaceSize, aclOpExecutor *executor, \
                     aclrtStream stream)                                               \
    {                                                                                  \
        (void)workspace, (void)workspaceSize, (void)executor, (void)stream;            \
        return 0;                                                                      \
    }
PHASE_TWO(aclnnMul)
PHASE_TWO(aclnnAddLayerNormGrad)
PHASE_TWO(aclnnForeachSqrt)
PHASE_TWO(aclnnFusedInferAttentionScoreV3)

static aclnnStatus first(uint64_t *workspaceSize, aclOpExecutor **executor)
{
    *workspaceSize = 0;
    *executor = &executor_of_all;
    return 0;
}
aclnnStatus aclnnMulGetWorkspaceSize(const aclTensor *self, const aclTensor *other, aclTensor *out,
                                     uint64_t *workspaceSize, aclOpExecutor **executor)
{
    (void)self, (void)other, (void)out;
    return first(workspaceSize, executor);
}
aclnnStatus aclnnAddLayerNormGradGetWorkspaceSize(const aclTensor *a, const aclTensor *b,
                                                  const aclTensor *c, const aclTensor *d,
                                                  const aclTensor *e, const aclTensor *f,
                                                  const aclTensor *g, aclTensor *h, aclTensor *i,
                                                  aclTensor *j, uint64_t *workspaceSize,
                                                  aclOpExecutor **executor)
{
    (void)a, (void)b, (void)c, (void)d, (void)e, (void)f, (void)g, (void)h, (void)i, (void)j;
    return first(workspaceSize, executor);
}
aclnnStatus aclnnForeachSqrtGetWorkspaceSize(const aclTensorList *x, aclTensorList *out,
                                             uint64_t *workspaceSize, aclOpExecutor **executor)
{
    (void)x, (void)out;
    return first(workspaceSize, executor);
}
aclnnStatus aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
    const aclTensor *query, const aclTensorList *key, const aclTensorList *value,
    const aclTensor *pseShiftOptional, const aclTensor *attenMaskOptional,
    const aclIntArray *actualSeqLengthsOptional, const aclIntArray *actualSeqLengthsKvOptional,
    const aclTensor *deqScale1Optional, const aclTensor *quantScale1Optional,
    const aclTensor *deqScale2Optional, const aclTensor *quantScale2Optional,
    const aclTensor *quantOffset2Optional, const aclTensor *antiquantScaleOptional,
    const aclTensor *antiquantOffsetOptional, const aclTensor *blockTableOptional,
    const aclTensor *queryPaddingSizeOptional, const aclTensor *kvPaddingSizeOptional,
    const aclTensor *keyAntiquantScaleOptional, const aclTensor *keyAntiquantOffsetOptional,
    const aclTensor *valueAntiquantScaleOptional, const aclTensor *valueAntiquantOffsetOptional,
    const aclTensor *keySharedPrefixOptional, const aclTensor *valueSharedPrefixOptional,
    const aclIntArray *actualSharedPrefixLenOptional, const aclTensor *queryRopeOptional,
    const aclTensor *keyRopeOptional, const aclTensor *keyRopeAntiquantScaleOptional,
    int64_t numHeads, double scaleValue, int64_t preTokens, int64_t nextTokens,
    const char *inputLayout, int64_t numKeyValueHeads, int64_t sparseMode, int64_t innerPrecise,
    int64_t blockSize, int64_t antiquantMode, bool softmaxLseFlag, int64_t keyAntiquantMode,
    int64_t valueAntiquantMode, aclTensor *attentionOut, aclTensor *softmaxLse,
    uint64_t *workspaceSize, aclOpExecutor **executor)
{
    return first(workspaceSize, executor);
}
