/* SPDX-License-Identifier: Apache-2.0 */
/* A CANN that counts its live objects and fails where it is told to. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/conversion.h"
#include "aclnnop/foreach.h"
#include "aclnnop/math.h"

int live_objects, live_executors, phase_two_calls, creates_left = -1;
int phase_one_status, phase_two_status, destroy_status, repeatable_status;
uint64_t workspace_wanted, workspace_given, workspace_passed;
static const char *message;
static char context;

struct aclOpExecutor {
    int repeatable;
};
struct aclTensorList {
    const aclTensor **members;
    uint64_t count;
};
struct aclScalarList {
    const aclScalar **members;
    uint64_t count;
};

static void *create(void)
{
    if (creates_left == 0) {
        message = "no more objects";
        return NULL;
    }
    creates_left -= creates_left > 0;
    ++live_objects;
    return malloc(64);
}
static int destroy(const void *object)
{
    if (object) {
        --live_objects;
        free((void *)object);
    }
    return destroy_status;
}

aclError aclInit(const char *path)
{
    return 0;
}
aclError aclFinalize(void)
{
    return 0;
}
const char *aclGetRecentErrMsg(void)
{
    const char *m = message;
    message = NULL;
    return m;
}
aclError aclrtGetDeviceCount(uint32_t *count)
{
    *count = 2;
    return 0;
}
static __thread int32_t current_device;
aclError aclrtSetDevice(int32_t device)
{
    current_device = device;
    return 0;
}
aclError aclrtResetDevice(int32_t device)
{
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
    return 0;
}
aclError aclrtSynchronizeDevice(void)
{
    return 0;
}
uint64_t refuse_allocations_from = UINT64_MAX;
aclError aclrtMalloc(void **out, size_t nbytes, aclrtMemMallocPolicy policy)
{
    if (nbytes >= refuse_allocations_from)
        return ACL_ERROR_RT_MEMORY_ALLOCATION;
    *out = malloc(nbytes);
    return 0;
}
int frees;
aclError aclrtFree(void *address)
{
    ++frees;
    free(address);
    return 0;
}
aclError aclrtGetMemInfo(aclrtMemAttr attr, size_t *free_, size_t *total)
{
    *free_ = *total = 1 << 20;
    return 0;
}

aclTensor *aclCreateTensor(const int64_t *d, uint64_t n, aclDataType t, const int64_t *s, int64_t o,
                           aclFormat f, const int64_t *sd, uint64_t sn, void *data)
{
    return create();
}
aclScalar *aclCreateScalar(void *value, aclDataType dtype)
{
    return create();
}
aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size)
{
    return create();
}
aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size)
{
    aclTensorList *list = create();
    if (!list)
        return NULL;
    list->members = malloc(size * sizeof *value);
    memcpy(list->members, value, size * sizeof *value);
    list->count = size;
    return list;
}
aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size)
{
    return (aclScalarList *)aclCreateTensorList((const aclTensor *const *)value, size);
}
aclnnStatus aclDestroyTensor(const aclTensor *tensor)
{
    return destroy(tensor);
}
aclnnStatus aclDestroyScalar(const aclScalar *scalar)
{
    return destroy(scalar);
}
aclnnStatus aclDestroyIntArray(const aclIntArray *array)
{
    return destroy(array);
}
aclnnStatus aclDestroyTensorList(const aclTensorList *list)
{
    for (uint64_t i = 0; i < list->count; ++i)
        destroy(list->members[i]);
    free(list->members);
    return destroy(list);
}
aclnnStatus aclDestroyScalarList(const aclScalarList *list)
{
    return aclDestroyTensorList((const aclTensorList *)list);
}
aclnnStatus aclSetAclOpExecutorRepeatable(aclOpExecutor *executor)
{
    if (!repeatable_status)
        executor->repeatable = 1;
    return repeatable_status;
}
aclnnStatus aclDestroyAclOpExecutor(aclOpExecutor *executor)
{
    --live_executors;
    free(executor);
    return 0;
}

static aclnnStatus first(uint64_t *nbytes, aclOpExecutor **executor)
{
    if (phase_one_status) {
        message = "phase one does not like it";
        return phase_one_status;
    }
    *nbytes = workspace_wanted;
    *executor = calloc(1, sizeof **executor);
    ++live_executors;
    return 0;
}
static aclnnStatus second(void *workspace, uint64_t nbytes, aclOpExecutor *executor)
{
    ++phase_two_calls;
    workspace_passed = nbytes;
    workspace_given = (uint64_t)(uintptr_t)workspace;
    if (!executor->repeatable) {
        --live_executors;
        free(executor);
    }
    if (phase_two_status)
        message = "phase two does not like it";
    return phase_two_status;
}
aclnnStatus aclnnAddGetWorkspaceSize(const aclTensor *a, const aclTensor *b, const aclScalar *alpha,
                                     aclTensor *out, uint64_t *n, aclOpExecutor **e)
{
    return first(n, e);
}
aclnnStatus aclnnAdd(void *w, uint64_t n, aclOpExecutor *e, aclrtStream s)
{
    return second(w, n, e);
}
aclnnStatus aclnnCatGetWorkspaceSize(const aclTensorList *tensors, int64_t dim, aclTensor *out,
                                     uint64_t *n, aclOpExecutor **e)
{
    return first(n, e);
}
aclnnStatus aclnnCat(void *w, uint64_t n, aclOpExecutor *e, aclrtStream s)
{
    return second(w, n, e);
}
aclnnStatus aclnnForeachAddScalarListGetWorkspaceSize(const aclTensorList *x,
                                                      const aclScalarList *scalars,
                                                      aclTensorList *out, uint64_t *n,
                                                      aclOpExecutor **e)
{
    return first(n, e);
}
aclnnStatus aclnnForeachAddScalarList(void *w, uint64_t n, aclOpExecutor *e, aclrtStream s)
{
    return second(w, n, e);
}
aclnnStatus aclnnPermuteGetWorkspaceSize(const aclTensor *x, const aclIntArray *dims,
                                         aclTensor *out, uint64_t *n, aclOpExecutor **e)
{
    return first(n, e);
}
aclnnStatus aclnnPermute(void *w, uint64_t n, aclOpExecutor *e, aclrtStream s)
{
    return second(w, n, e);
}
