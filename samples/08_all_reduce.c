/* SPDX-License-Identifier: Apache-2.0 */
/* Call a collective from C, with one thread per rank.

   Build:
       cc -std=c11 -pthread $(aclnn-py config --cflags) samples/08_all_reduce.c \
           $(aclnn-py config --libs) -o all_reduce

   Run: ./all_reduce

   Last line: "ok". */

#include <pthread.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

#include "acl/acl.h"
#include "hccl/hccl.h"

enum { RANKS = 4, COUNT = 1000 };

static HcclComm comms[RANKS];
static int wrong[RANKS];

static void check(int status, const char *what)
{
    if (status != 0) {
        const char *message = aclGetRecentErrMsg();
        fprintf(stderr, "%s: %d %s\n", what, status, message ? message : "");
        exit(1);
    }
}

static void *rank_main(void *argument)
{
    const int rank = *(const int *)argument;
    const size_t nbytes = COUNT * sizeof(float);
    float values[COUNT];
    void *send = NULL, *receive = NULL;
    aclrtStream stream = NULL;

    check(aclrtSetDevice(rank), "aclrtSetDevice");
    check(aclrtCreateStream(&stream), "aclrtCreateStream");
    check(aclrtMalloc(&send, nbytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    check(aclrtMalloc(&receive, nbytes, ACL_MEM_MALLOC_HUGE_FIRST), "aclrtMalloc");
    for (int i = 0; i < COUNT; ++i)
        values[i] = (float)(i + 1000 * rank);
    check(aclrtMemcpy(send, nbytes, values, nbytes, ACL_MEMCPY_HOST_TO_DEVICE), "aclrtMemcpy");

    check(HcclAllReduce(send, receive, COUNT, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comms[rank],
                        stream),
          "HcclAllReduce");
    check(aclrtSynchronizeStream(stream), "aclrtSynchronizeStream");
    check(aclrtMemcpy(values, nbytes, receive, nbytes, ACL_MEMCPY_DEVICE_TO_HOST), "aclrtMemcpy");

    for (int i = 0; i < COUNT; ++i)
        wrong[rank] += values[i] != (float)(RANKS * i + 1000 * (RANKS * (RANKS - 1) / 2));
    check(HcclCommDestroy(comms[rank]), "HcclCommDestroy");
    check(aclrtFree(send), "aclrtFree");
    check(aclrtFree(receive), "aclrtFree");
    check(aclrtDestroyStream(stream), "aclrtDestroyStream");
    check(aclrtResetDevice(rank), "aclrtResetDevice");
    return NULL;
}

int main(void)
{
    int32_t devices[RANKS];
    int ranks[RANKS], total = 0;
    pthread_t threads[RANKS];

    check(aclInit(NULL), "aclInit");
    for (int i = 0; i < RANKS; ++i)
        devices[i] = ranks[i] = i;
    check(HcclCommInitAll(RANKS, devices, comms), "HcclCommInitAll");
    for (int i = 0; i < RANKS; ++i)
        check(pthread_create(&threads[i], NULL, rank_main, &ranks[i]), "pthread_create");
    for (int i = 0; i < RANKS; ++i) {
        check(pthread_join(threads[i], NULL), "pthread_join");
        total += wrong[i];
    }
    printf("%d ranks, %d elements each, %d wrong\n", (int)RANKS, (int)COUNT, total);
    check(aclFinalize(), "aclFinalize");
    puts(total == 0 ? "ok" : "WRONG");
    return total != 0;
}
