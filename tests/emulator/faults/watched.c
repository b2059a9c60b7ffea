/* SPDX-License-Identifier: Apache-2.0 */
/* Programs without a mistake, whose calls the tests trace and record. */
#include <math.h>
#include <pthread.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "acl/acl.h"
#include "aclnnop/activation.h"
#include "aclnnop/conversion.h"
#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "hccl/hccl.h"

#define MUST(CALL)                                       \
    do {                                                 \
        const int status_ = (int)(CALL);                 \
        if (status_ != 0) {                              \
            fprintf(stderr, "%s: %d\n", #CALL, status_); \
            exit(1);                                     \
        }                                                \
    } while (0)

enum { ROWS = 3, COLUMNS = 5, COUNT = ROWS * COLUMNS, NBYTES = COUNT * 4 };

static aclrtStream g_stream;

static void *memory(size_t nbytes)
{
    void *made = NULL;
    MUST(aclrtMalloc(&made, nbytes, ACL_MEM_MALLOC_NORMAL_ONLY));
    return made;
}

static aclTensor *tensor(void *data, int64_t rows, int64_t columns, int transposed)
{
    const int64_t shape[2] = {rows, columns};
    const int64_t strides[2] = {transposed ? 1 : columns, transposed ? rows : 1};
    const int64_t storage[1] = {rows * columns};
    return aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, storage, 1, data);
}

/* Runs phase two of what phase one has just planned. */
#define RUN(OP, ...)                                                 \
    do {                                                             \
        uint64_t size_ = 0;                                          \
        aclOpExecutor *executor_ = NULL;                             \
        MUST(OP##GetWorkspaceSize(__VA_ARGS__, &size_, &executor_)); \
        void *workspace_ = size_ > 0 ? memory(size_) : NULL;         \
        MUST(OP(workspace_, size_, executor_, g_stream));            \
        MUST(aclrtSynchronizeStream(g_stream));                      \
        if (workspace_ != NULL)                                      \
            MUST(aclrtFree(workspace_));                             \
    } while (0)

static void fill(void *device, float first)
{
    float values[COUNT];
    for (int i = 0; i < COUNT; ++i)
        values[i] = first + 0.37f * (float)i;
    MUST(aclrtMemcpy(device, NBYTES, values, NBYTES, ACL_MEMCPY_HOST_TO_DEVICE));
}

static void print(const char *name, const void *device, size_t nbytes)
{
    unsigned char bytes[4 * NBYTES];
    MUST(aclrtMemcpy(bytes, nbytes, device, nbytes, ACL_MEMCPY_DEVICE_TO_HOST));
    printf("%s ", name);
    for (size_t i = 0; i < nbytes; ++i)
        printf("%02x", bytes[i]);
    printf("\n");
}

static void operators(void)
{
    char *memories = memory(8 * 512);
    void *x = memories, *y = memories + 512, *sum = memories + 1024, *soft = memories + 1536;
    void *both = memories + 2048, *rows = memories + 2560;
    fill(x, -2.0f);
    fill(y, 1.0f);
    const float two_and_a_half = 2.5f;
    const int64_t axes[1] = {1};
    aclTensor *tx = tensor(x, ROWS, COLUMNS, 0), *ty = tensor(y, ROWS, COLUMNS, 1);
    aclTensor *tsum = tensor(sum, ROWS, COLUMNS, 0), *tsoft = tensor(soft, ROWS, COLUMNS, 0);
    aclTensor *tboth = tensor(both, 2 * ROWS, COLUMNS, 0), *trows = tensor(rows, ROWS, 1, 0);
    aclScalar *alpha = aclCreateScalar((void *)&two_and_a_half, ACL_FLOAT);
    aclIntArray *dims = aclCreateIntArray(axes, 1);
    const aclTensor *members[2] = {tx, tsum};
    RUN(aclnnAdd, tx, ty, alpha, tsum);
    RUN(aclnnInplaceMul, tsum, tx);
    RUN(aclnnSoftmax, tsum, -1, tsoft);
    RUN(aclnnReduceSum, tx, dims, true, ACL_FLOAT, trows);
    aclTensorList *list = aclCreateTensorList((const aclTensor *const *)members, 2);
    RUN(aclnnCat, list, 0, tboth);
    print("sum", sum, NBYTES);
    print("soft", soft, NBYTES);
    print("rows", rows, ROWS * 4);
    print("both", both, 2 * NBYTES);
    MUST(aclDestroyTensorList(list)); /* with its members */
    MUST(aclDestroyTensor(ty));
    MUST(aclDestroyTensor(tsoft));
    MUST(aclDestroyTensor(tboth));
    MUST(aclDestroyTensor(trows));
    MUST(aclDestroyScalar(alpha));
    MUST(aclDestroyIntArray(dims));
    MUST(aclrtFree(memories));
}

/* One refused phase one, and a fault on the device. */
static void failures(void)
{
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    char *memories = memory(2048);
    fill(memories, 0.0f);
    const int64_t nine = 9, one[1] = {1}, row[2] = {1, COLUMNS};
    MUST(aclrtMemcpy(memories + 512, 8, &nine, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *x = tensor(memories, ROWS, COLUMNS, 0), *wrong = tensor(memories + 1024, 2, 2, 0);
    aclTensor *index =
        aclCreateTensor(one, 1, ACL_INT64, one, 0, ACL_FORMAT_ND, one, 1, memories + 512);
    aclTensor *picked =
        aclCreateTensor(row, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, row, 2, memories + 1024);
    printf("%d\n", aclnnAbsGetWorkspaceSize(x, wrong, &size, &executor));
    MUST(aclnnIndexSelectGetWorkspaceSize(x, 0, index, picked, &size, &executor));
    void *workspace = size > 0 ? memory(size) : NULL;
    printf("%d\n", aclnnIndexSelect(workspace, size, executor, g_stream));
    printf("%d\n", aclrtSynchronizeStream(g_stream));
}

static void graph(void)
{
    char *memories = memory(1024);
    aclmdlRI model = NULL;
    fill(memories, 1.0f);
    aclTensor *x = tensor(memories, ROWS, COLUMNS, 0),
              *out = tensor(memories + 512, ROWS, COLUMNS, 0);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclmdlRICaptureBegin(g_stream, ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    MUST(aclnnAbsGetWorkspaceSize(x, out, &size, &executor));
    MUST(aclnnAbs(NULL, 0, executor, g_stream));
    MUST(aclmdlRICaptureEnd(g_stream, &model));
    MUST(aclmdlRIExecuteAsync(model, g_stream));
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclmdlRIDestroy(model));
    RUN(aclnnAbs, x, out);
    MUST(aclDestroyTensor(x));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(memories));
}

static HcclComm g_comms[2];

static void *rank(void *number)
{
    const int device = (int)(intptr_t)number;
    aclrtStream stream = NULL;
    MUST(aclrtSetDevice(device));
    MUST(aclrtCreateStream(&stream));
    char *memories = memory(1024);
    fill(memories, (float)device);
    aclTensor *x = tensor(memories, ROWS, COLUMNS, 0),
              *out = tensor(memories + 512, ROWS, COLUMNS, 0);
    for (int i = 0; i < 5; ++i) {
        uint64_t size = 0;
        aclOpExecutor *executor = NULL;
        MUST(aclnnAbsGetWorkspaceSize(x, out, &size, &executor));
        MUST(aclnnAbs(NULL, 0, executor, stream));
    }
    MUST(HcclAllReduce(memories, memories + 512, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM,
                       g_comms[device], stream));
    MUST(aclrtSynchronizeStream(stream));
    MUST(HcclCommDestroy(g_comms[device]));
    MUST(aclDestroyTensor(x));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(memories));
    MUST(aclrtDestroyStream(stream));
    return NULL;
}

static void collectives(void)
{
    int32_t devices[2] = {0, 1};
    pthread_t threads[2];
    MUST(HcclCommInitAll(2, devices, g_comms));
    for (intptr_t i = 0; i < 2; ++i)
        pthread_create(&threads[i], NULL, rank, (void *)i);
    for (int i = 0; i < 2; ++i)
        pthread_join(threads[i], NULL);
}

int main(int count, char **arguments)
{
    const char *what = count > 1 ? arguments[1] : "", *end = count > 2 ? arguments[2] : "exit";
    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0));
    MUST(aclrtCreateStream(&g_stream));
    if (strcmp(what, "operators") == 0)
        operators();
    if (strcmp(what, "failures") == 0)
        failures();
    if (strcmp(what, "graph") == 0)
        graph();
    if (strcmp(what, "collectives") == 0)
        collectives();
    fflush(stdout);
    if (strcmp(end, "_exit") == 0)
        _exit(7);
    if (strcmp(end, "abort") == 0)
        abort();
    if (strcmp(end, "fault") == 0)
        raise(SIGSEGV);
    if (strcmp(end, "kill") == 0)
        raise(SIGKILL);
    MUST(aclrtDestroyStream(g_stream));
    MUST(aclrtResetDevice(0));
    MUST(aclFinalize());
    return strcmp(end, "seven") == 0 ? 7 : 0;
}
