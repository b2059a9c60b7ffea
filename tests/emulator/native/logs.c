/* SPDX-License-Identifier: Apache-2.0 */
/* Makes what CANN's log has lines about: `logs WHAT...`, in that order. */
#include <aclnnop/math.h>
#include <aclnnop/index.h>
#include <hccl/hccl.h>
#include <pthread.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "expect.h"

#define THREADS 8
#define REFUSALS 200
#define MUCH 16000 /* 50 MB of lines */

static void refuse(void)
{
    EXPECT(aclrtMalloc(NULL, 16, ACL_MEM_MALLOC_HUGE_FIRST) != 0);
}

/* With a text of 3,000 bytes. */
static void refuse_at_length(void)
{
    char name[3000];
    memset(name, 'x', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    EXPECT(aclInit(name) != 0);
}

static void *refuse_often(void *unused)
{
    for (int i = 0; i < REFUSALS; ++i)
        refuse();
    return unused;
}

static void threads(void)
{
    pthread_t all[THREADS];
    for (int i = 0; i < THREADS; ++i)
        EXPECT(pthread_create(&all[i], NULL, refuse_often, NULL) == 0);
    for (int i = 0; i < THREADS; ++i)
        EXPECT(pthread_join(all[i], NULL) == 0);
}

static aclTensor *tensor(aclDataType dtype, int64_t size, void *data)
{
    const int64_t one = 1;
    return aclCreateTensor(&size, 1, dtype, &one, 0, ACL_FORMAT_ND, &size, 1, data);
}

/* Element 99 of four. */
static void fault(void)
{
    void *data, *index;
    const int64_t wanted = 99;
    uint64_t bytes = 0;
    aclOpExecutor *executor = NULL;
    EXPECT_OK(aclrtSetDevice(0));
    EXPECT_OK(aclrtMalloc(&data, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMalloc(&index, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMemcpy(index, 8, &wanted, 8, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *self = tensor(ACL_FLOAT, 4, data), *out = tensor(ACL_FLOAT, 1, data);
    aclTensor *at = tensor(ACL_INT64, 1, index);
    EXPECT_OK(aclnnIndexSelectGetWorkspaceSize(self, 0, at, out, &bytes, &executor));
    EXPECT_OK(aclnnIndexSelect(NULL, 0, executor, NULL));
    EXPECT(aclrtSynchronizeStream(NULL) == ACL_ERROR_RT_AICORE_EXCEPTION);
}

static void child(void)
{
    const pid_t pid = fork();
    if (pid == 0) {
        refuse();
        _exit(0);
    }
    int status = 1;
    EXPECT(waitpid(pid, &status, 0) == pid && status == 0);
    printf("child %d\n", pid);
    fflush(stdout);
}

/* Files may not grow any more. */
static void no_room(void)
{
    const struct rlimit none = {0, 0};
    EXPECT(setrlimit(RLIMIT_FSIZE, &none) == 0);
}

/* A refusal, with a pipe as stdout that nobody reads. */
static void closed_pipe(void)
{
    int ends[2];
    EXPECT(pipe(ends) == 0 && dup2(ends[1], 1) == 1);
    close(ends[0]);
    close(ends[1]);
    refuse();
    _exit(0); /* before it prints anything of its own */
}

int main(int count, char **words)
{
    for (int i = 1; i < count; ++i) {
        const char *what = words[i];
        uint32_t rank = 0;
        uint64_t bytes = 0;
        aclOpExecutor *executor = NULL;
        if (strcmp(what, "init") == 0)
            EXPECT_OK(aclInit(NULL));
        if (strcmp(what, "init-again") == 0)
            EXPECT(aclInit(NULL) == ACL_ERROR_REPEAT_INITIALIZE);
        if (strcmp(what, "finalize") == 0)
            EXPECT_OK(aclFinalize());
        if (strcmp(what, "device?") == 0)
            EXPECT(aclrtGetDevice((int32_t *)&rank) != 0);
        if (strcmp(what, "refuse") == 0)
            refuse();
        if (strcmp(what, "operator") == 0)
            EXPECT(aclnnAbsGetWorkspaceSize(NULL, NULL, &bytes, &executor) ==
                   ACLNN_ERR_PARAM_NULLPTR);
        if (strcmp(what, "hccl") == 0)
            EXPECT(HcclGetRankSize(NULL, &rank) != HCCL_SUCCESS);
        if (strcmp(what, "fault") == 0)
            fault();
        if (strcmp(what, "threads") == 0)
            threads();
        if (strcmp(what, "child") == 0)
            child();
        if (strcmp(what, "no-room") == 0)
            no_room();
        if (strcmp(what, "closed-pipe") == 0)
            closed_pipe();
        if (strcmp(what, "application") == 0) {
            ACL_APP_LOG(ACL_ERROR, "eight is %d", 8);
            ACL_APP_LOG(ACL_INFO, "nobody asked");
        }
        if (strcmp(what, "long") == 0)
            refuse_at_length();
        if (strcmp(what, "much") == 0)
            for (int at = 0; at < MUCH; ++at)
                refuse_at_length();
    }
    printf("end\n");
    return 0;
}
