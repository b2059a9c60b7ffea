/* SPDX-License-Identifier: Apache-2.0 */
/* Tensors, scalars, arrays and lists, from C11. */
#include "expect.h"

static aclTensor *make_tensor(void)
{
    const int64_t view[2] = {2, 3}, strides[2] = {1, 2}, storage[1] = {7};
    return aclCreateTensor(view, 2, ACL_FLOAT16, strides, 1, ACL_FORMAT_ND, storage, 1, NULL);
}

static void tensors(void)
{
    aclTensor *tensor = make_tensor();
    EXPECT(tensor != NULL);
    int64_t *dims = NULL, *strides = NULL, *storage = NULL, offset = 0;
    uint64_t rank = 0, stride_count = 0, storage_rank = 0;
    aclFormat format = ACL_FORMAT_UNDEFINED;
    aclDataType dtype = ACL_DT_UNDEFINED;
    EXPECT_OK(aclGetViewShape(tensor, &dims, &rank));
    EXPECT_OK(aclGetViewStrides(tensor, &strides, &stride_count));
    EXPECT_OK(aclGetStorageShape(tensor, &storage, &storage_rank));
    EXPECT(rank == 2 && dims[0] == 2 && dims[1] == 3);
    EXPECT(stride_count == 2 && strides[0] == 1 && strides[1] == 2);
    EXPECT(storage_rank == 1 && storage[0] == 7);
    EXPECT_OK(aclGetViewOffset(tensor, &offset));
    EXPECT_OK(aclGetFormat(tensor, &format));
    EXPECT_OK(aclGetDataType(tensor, &dtype));
    EXPECT(offset == 1 && format == ACL_FORMAT_ND && dtype == ACL_FLOAT16);
    int place = 0;
    void *address = &place;
    EXPECT_OK(aclGetRawTensorAddr(tensor, &address));
    EXPECT(address == NULL);
    EXPECT_OK(aclSetRawTensorAddr(tensor, &place));
    EXPECT_OK(aclGetRawTensorAddr(tensor, &address));
    EXPECT(address == &place);

    const int64_t scalar_dims[1] = {0};
    EXPECT_OK(
        aclInitTensor(tensor, NULL, 0, ACL_INT8, NULL, 0, ACL_FORMAT_NCHW, scalar_dims, 0, NULL));
    int64_t *none = NULL;
    EXPECT_OK(aclGetViewShape(tensor, &none, &rank));
    EXPECT(rank == 0 && none != NULL);
    EXPECT_OK(aclGetDataType(tensor, &dtype));
    EXPECT(dtype == ACL_INT8);
    free(none);
    free(dims);
    free(strides);
    free(storage);

    EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR, aclGetViewShape(tensor, NULL, &rank));
    EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR, aclGetViewShape(NULL, &dims, &rank));
    EXPECT(aclCreateTensor(NULL, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, scalar_dims, 1, NULL) ==
           NULL);
    EXPECT(aclGetRecentErrMsg() != NULL);
    EXPECT(aclCreateTensor(scalar_dims, 13, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, scalar_dims, 1,
                           NULL) == NULL);
    EXPECT(aclGetRecentErrMsg() != NULL);
    const int64_t negative[1] = {-2};
    EXPECT(aclCreateTensor(negative, 1, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, negative, 1, NULL) ==
           NULL);
    EXPECT(aclGetRecentErrMsg() != NULL);

    EXPECT_OK(aclDestroyTensor(tensor));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor(tensor));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclGetViewOffset(tensor, &offset));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor((const aclTensor *)&place));
    EXPECT_OK(aclDestroyTensor(NULL));
}

static void scalars_and_arrays(void)
{
    float value = 1.5f;
    aclScalar *scalar = aclCreateScalar(&value, ACL_FLOAT);
    EXPECT(scalar != NULL);
    EXPECT(aclCreateScalar(NULL, ACL_FLOAT) == NULL);
    EXPECT(aclGetRecentErrMsg() != NULL);
    EXPECT_OK(aclDestroyScalar(scalar));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyScalar(scalar));
    EXPECT_OK(aclDestroyScalar(NULL));

    const int64_t numbers[3] = {1, 2, 3};
    const float reals[2] = {1, 2};
    const bool truths[4] = {true, false, true, true};
    uint64_t size = 99;
    aclIntArray *ints = aclCreateIntArray(numbers, 3), *empty = aclCreateIntArray(NULL, 0);
    aclFloatArray *floats = aclCreateFloatArray(reals, 2);
    aclBoolArray *bools = aclCreateBoolArray(truths, 4);
    EXPECT_OK(aclGetIntArraySize(ints, &size));
    EXPECT(size == 3);
    EXPECT_OK(aclGetIntArraySize(empty, &size));
    EXPECT(size == 0);
    EXPECT_OK(aclGetFloatArraySize(floats, &size));
    EXPECT(size == 2);
    EXPECT_OK(aclGetBoolArraySize(bools, &size));
    EXPECT(size == 4);
    EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR, aclGetIntArraySize(NULL, &size));
    EXPECT_CODE(ACLNN_ERR_PARAM_NULLPTR, aclGetIntArraySize(ints, NULL));
    EXPECT_OK(aclDestroyIntArray(ints));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyIntArray(ints));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclGetIntArraySize(ints, &size));
    EXPECT_OK(aclDestroyIntArray(empty));
    EXPECT_OK(aclDestroyFloatArray(floats));
    EXPECT_OK(aclDestroyBoolArray(bools));
    EXPECT_OK(aclDestroyBoolArray(NULL));
}

static void lists_destroy_their_members(void)
{
    const aclTensor *members[3];
    members[0] = make_tensor();
    members[1] = NULL; /* an optional entry */
    members[2] = make_tensor();
    aclTensorList *list = aclCreateTensorList(members, 3);
    uint64_t size = 0;
    EXPECT_OK(aclGetTensorListSize(list, &size));
    EXPECT(size == 3);
    EXPECT_OK(aclDestroyTensorList(list));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyTensor(members[0]));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyTensorList(list));
    EXPECT(aclCreateTensorList(members, 1) == NULL); /* a dead member */
    EXPECT(aclGetRecentErrMsg() != NULL);
    aclTensor *tensor = make_tensor();
    members[0] = tensor;
    list = aclCreateTensorList(members, 1);
    EXPECT_OK(aclDestroyTensor(tensor));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID,
                aclDestroyTensorList(list)); /* destroyed twice, and said so */
    EXPECT(aclCreateTensorList(NULL, 2) == NULL);
    EXPECT(aclGetRecentErrMsg() != NULL);
    double value = 2;
    const aclScalar *scalars[1];
    scalars[0] = aclCreateScalar(&value, ACL_DOUBLE);
    aclScalarList *scalar_list = aclCreateScalarList(scalars, 1);
    EXPECT_OK(aclGetScalarListSize(scalar_list, &size));
    EXPECT(size == 1);
    EXPECT_OK(aclDestroyScalarList(scalar_list));
    EXPECT_CODE(ACLNN_ERR_PARAM_INVALID, aclDestroyScalar(scalars[0]));
}

static void types(void)
{
    EXPECT(aclDataTypeSize(ACL_FLOAT) == 4 && aclDataTypeSize(ACL_BF16) == 2 &&
           aclDataTypeSize(ACL_COMPLEX128) == 16);
    EXPECT(aclDataTypeSize(ACL_DT_UNDEFINED) == 0);
    EXPECT(aclFloat16ToFloat(0x3C00) == 1.0f &&
           aclFloat16ToFloat(0x0001) == 5.9604644775390625e-8f);
    EXPECT(aclFloat16ToFloat(0x7C00) == 65536.0f && aclFloat16ToFloat(0xFC00) == -65536.0f);
    EXPECT(aclFloat16ToFloat(0x7E00) == 98304.0f);
    const float infinity = (float)1e300, nan = infinity - infinity;
    EXPECT(aclFloatToFloat16(infinity) == 0x7BFF && aclFloatToFloat16(-infinity) == 0xFBFF);
    EXPECT(aclFloatToFloat16(nan) == 0x7BFF);
    for (uint32_t bits = 0; bits < 0x10000; ++bits) {
        if ((bits & 0x7C00) == 0x7C00)
            continue;
        EXPECT(aclFloatToFloat16(aclFloat16ToFloat((aclFloat16)bits)) == bits);
    }
    EXPECT(aclFloatToFloat16(1.0f + 0.00048828125f) == 0x3C00); /* a tie goes to even */
    EXPECT(aclFloatToFloat16(1.0f + 3 * 0.00048828125f) == 0x3C02);

    const int64_t dims[2] = {3, 5};
    aclTensorDesc *desc = aclCreateTensorDesc(ACL_INT32, 2, dims, ACL_FORMAT_ND);
    int64_t dim = 0;
    EXPECT(aclGetTensorDescSize(desc) == 60 && aclGetTensorDescElementCount(desc) == 15);
    EXPECT_OK(aclGetTensorDescDimV2(desc, 1, &dim));
    EXPECT(dim == 5 && aclGetTensorDescNumDims(desc) == 2);
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(desc, 2, &dim));
    aclSetTensorDescName(desc, "x");
    EXPECT(strcmp(aclGetTensorDescName(desc), "x") == 0);
    aclDestroyTensorDesc(desc);
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclGetTensorDescDimV2(desc, 0, &dim));
    aclDataBuffer *buffer = aclCreateDataBuffer(&dim, 8);
    EXPECT(aclGetDataBufferAddr(buffer) == &dim && aclGetDataBufferSizeV2(buffer) == 8);
    EXPECT_OK(aclDestroyDataBuffer(buffer));
    EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclDestroyDataBuffer(buffer));
}

int main(void)
{
    tensors();
    scalars_and_arrays();
    lists_destroy_their_members();
    types();
    return 0;
}
