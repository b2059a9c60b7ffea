/* SPDX-License-Identifier: Apache-2.0 */
/* Two ranks as processes of a C program: the root info travels through a pipe as plain bytes. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

#define RANKS 2
#define COUNT 100000

#define CHECK(call)                                                             \
    do {                                                                        \
        int status_ = (int)(call);                                              \
        if (status_ != 0) {                                                     \
            const char *text_ = aclGetRecentErrMsg();                           \
            fprintf(stderr, "%s: %d %s\n", #call, status_, text_ ? text_ : ""); \
            exit(1);                                                            \
        }                                                                       \
    } while (0)

static void rank_main(uint32_t rank, int input, int output)
{
    HcclRootInfo info;
    HcclComm comm;
    aclrtStream stream;
    void *data;
    size_t i;
    int32_t *host = malloc(COUNT * sizeof *host);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice((int32_t)rank));
    CHECK(aclrtCreateStream(&stream));
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&info));
        CHECK(write(output, &info, sizeof info) != (ssize_t)sizeof info);
    } else {
        CHECK(read(input, &info, sizeof info) != (ssize_t)sizeof info);
    }
    CHECK(HcclCommInitRootInfo(RANKS, &info, rank, &comm));
    for (i = 0; i < COUNT; ++i)
        host[i] = (int32_t)(i * (rank + 1));
    CHECK(aclrtMalloc(&data, COUNT * sizeof *host, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMemcpy(data, COUNT * sizeof *host, host, COUNT * sizeof *host,
                      ACL_MEMCPY_HOST_TO_DEVICE));
    CHECK(HcclAllReduce(data, data, COUNT, HCCL_DATA_TYPE_INT32, HCCL_REDUCE_SUM, comm, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtMemcpy(host, COUNT * sizeof *host, data, COUNT * sizeof *host,
                      ACL_MEMCPY_DEVICE_TO_HOST));
    for (i = 0; i < COUNT; ++i) {
        if (host[i] != (int32_t)(3 * i)) {
            fprintf(stderr, "rank %u: element %zu is %d\n", rank, i, host[i]);
            exit(1);
        }
    }
    CHECK(HcclCommDestroy(comm));
    CHECK(aclrtFree(data));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice((int32_t)rank));
    CHECK(aclFinalize());
    free(host);
    exit(0);
}

int main(void)
{
    int ends[2], status, failed = 0;
    uint32_t rank;

    if (pipe(ends) != 0)
        return 1;
    /* the children are made before anything of the library is used */
    for (rank = 0; rank < RANKS; ++rank) {
        if (fork() == 0)
            rank_main(rank, ends[0], ends[1]);
    }
    for (rank = 0; rank < RANKS; ++rank) {
        wait(&status);
        failed |= !WIFEXITED(status) || WEXITSTATUS(status) != 0;
    }
    if (!failed)
        puts("ok");
    return failed;
}
