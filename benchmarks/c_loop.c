/* SPDX-License-Identifier: Apache-2.0 */
/* The floor: what a C program linked to the library pays for one add. */
#include "acl/acl.h"
#include "aclnn/aclnn_base.h"
#include "aclnnop/attention.h"
#include "aclnnop/foreach.h"
#include "aclnnop/math.h"
#include "aclnnop/norm.h"

__attribute__((visibility("default"))) int c_loop(long rounds, void *a, void *b, void *out,
                                                  aclrtStream stream)
{
    const int64_t dims[2] = {4, 8}, strides[2] = {8, 1}, storage[1] = {32};
    int status = 0;
    for (long i = 0; i < rounds; ++i) {
        float alpha = 1.0f;
        uint64_t nbytes = 0;
        aclOpExecutor *executor = 0;
        aclTensor *x =
            aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, a);
        aclTensor *y =
            aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, b);
        aclTensor *z =
            aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, out);
        aclScalar *scale = aclCreateScalar(&alpha, ACL_FLOAT);
        status |= aclnnAddGetWorkspaceSize(x, y, scale, z, &nbytes, &executor);
        status |= aclnnAdd(0, nbytes, executor, stream);
        status |= aclDestroyTensor(x) | aclDestroyTensor(y) | aclDestroyTensor(z) |
                  aclDestroyScalar(scale);
    }
    return status;
}

static aclTensor *tensor(void *address)
{
    static const int64_t dims[2] = {4, 8}, strides[2] = {8, 1}, storage[1] = {32};
    return aclCreateTensor(dims, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, address);
}

__attribute__((visibility("default"))) int c_loop_mul(long rounds, void *a, void *b, void *out,
                                                      aclrtStream stream)
{
    int status = 0;
    for (long i = 0; i < rounds; ++i) {
        uint64_t nbytes = 0;
        aclOpExecutor *executor = 0;
        aclTensor *x = tensor(a), *y = tensor(b), *z = tensor(out);
        status |= aclnnMulGetWorkspaceSize(x, y, z, &nbytes, &executor) |
                  aclnnMul(0, nbytes, executor, stream);
        status |= aclDestroyTensor(x) | aclDestroyTensor(y) | aclDestroyTensor(z);
    }
    return status;
}

__attribute__((visibility("default"))) int c_loop_grad(long rounds, void *a, void *b, void *out,
                                                       aclrtStream stream)
{
    int status = 0;
    (void)b;
    for (long i = 0; i < rounds; ++i) {
        uint64_t nbytes = 0;
        aclOpExecutor *executor = 0;
        aclTensor *t[10];
        for (int k = 0; k < 10; ++k)
            t[k] = tensor(k < 6 ? a : out);
        status |= aclnnAddLayerNormGradGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6],
                                                        t[7], t[8], t[9], &nbytes, &executor);
        status |= aclnnAddLayerNormGrad(0, nbytes, executor, stream);
        for (int k = 0; k < 10; ++k)
            status |= aclDestroyTensor(t[k]);
    }
    return status;
}

__attribute__((visibility("default"))) int c_loop_list(long rounds, void *a, void *b, void *out,
                                                       aclrtStream stream)
{
    int status = 0;
    (void)b;
    for (long i = 0; i < rounds; ++i) {
        uint64_t nbytes = 0;
        aclOpExecutor *executor = 0;
        aclTensor *x[64], *z[64];
        for (int k = 0; k < 64; ++k)
            x[k] = tensor(a), z[k] = tensor(out);
        aclTensorList *in = aclCreateTensorList((const aclTensor *const *)x, 64);
        aclTensorList *to = aclCreateTensorList((const aclTensor *const *)z, 64);
        status |= aclnnForeachSqrtGetWorkspaceSize(in, to, &nbytes, &executor);
        status |= aclnnForeachSqrt(0, nbytes, executor, stream);
        status |= aclDestroyTensorList(in) | aclDestroyTensorList(to);
    }
    return status;
}

__attribute__((visibility("default"))) int c_loop_attention(long rounds, void *a, void *b,
                                                            void *out, aclrtStream stream)
{
    int status = 0;
    for (long i = 0; i < rounds; ++i) {
        uint64_t nbytes = 0;
        aclOpExecutor *executor = 0;
        const aclTensor *key = tensor(b), *value = tensor(b);
        aclTensor *query = tensor(a), *result = tensor(out), *lse = tensor(out);
        aclTensorList *keys = aclCreateTensorList(&key, 1),
                      *values = aclCreateTensorList(&value, 1);
        status |= aclnnFusedInferAttentionScoreV3GetWorkspaceSize(
            query, keys, values, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0,
            0, 0, 1, 1.0, 0, 0, "BSH", 1, 0, 0, 0, 0, false, 0, 0, result, lse, &nbytes, &executor);
        status |= aclnnFusedInferAttentionScoreV3(0, nbytes, executor, stream);
        status |= aclDestroyTensorList(keys) | aclDestroyTensorList(values);
        status |= aclDestroyTensor(query) | aclDestroyTensor(result) | aclDestroyTensor(lse);
    }
    return status;
}
