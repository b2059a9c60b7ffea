/* SPDX-License-Identifier: Apache-2.0 */
/* The floor: what a C program linked to the library pays for one add. */
#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/math.h"

__attribute__((visibility("default"))) int c_loop(long rounds, void *a, void *b, void *out, aclrtStream stream)
{
    const int64_t dims[2] = {4, 8}, strides[2] = {8, 1}, storage[1] = {32};
    int status = 0;
    for (long i = 0; i < rounds; ++i) {
        float alpha = 1.0f;
        uint64_t nbytes = 0;
        aclOpExecutor *executor = 0;
        aclTensor *x = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, a);
        aclTensor *y = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, b);
        aclTensor *z = aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, out);
        aclScalar *scale = aclCreateScalar(&alpha, ACL_FLOAT);
        status |= aclnnAddGetWorkspaceSize(x, y, scale, z, &nbytes, &executor);
        status |= aclnnAdd(0, nbytes, executor, stream);
        status |= aclDestroyTensor(x) | aclDestroyTensor(y) | aclDestroyTensor(z) | aclDestroyScalar(scale);
    }
    return status;
}
