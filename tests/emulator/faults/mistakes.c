/* SPDX-License-Identifier: Apache-2.0 */
/* Mistakes, each in a program that is right otherwise; the first argument names one.
   tests/emulator/faults/expected.json has what is said about each. */
#include "mistakes.h"

/* ---- objects ---------------------------------------------------------------------------- */

static void tensor_destroyed_twice(void)
{
    Operands o = operands();
    MUST(aclDestroyTensor(o.x));
    MUST(aclDestroyTensor(o.x)); /* MISTAKE */
    o.x = NULL;
    give_back(o);
}

static void tensor_used_after_destroy(void)
{
    Operands o = operands();
    int64_t *shape = NULL;
    uint64_t rank = 0;
    MUST(aclDestroyTensor(o.x));
    MUST(aclGetViewShape(o.x, &shape, &rank)); /* MISTAKE */
    o.x = NULL;
    give_back(o);
}

static void operator_with_destroyed_tensor(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclDestroyTensor(o.x));
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor)); /* MISTAKE */
    o.x = NULL;
    give_back(o);
}

static void scalar_destroyed_twice(void)
{
    float one = 1.0f;
    aclScalar *scalar = aclCreateScalar(&one, ACL_FLOAT);
    MUST(aclDestroyScalar(scalar));
    MUST(aclDestroyScalar(scalar)); /* MISTAKE */
}

static void tensor_destroyed_as_scalar(void)
{
    Operands o = operands();
    MUST(aclDestroyScalar((const aclScalar *)o.x)); /* MISTAKE */
    give_back(o);
}

static void member_of_list_destroyed(void)
{
    Operands o = operands();
    const aclTensor *members[1] = {o.x};
    aclTensorList *list = aclCreateTensorList(members, 1);
    MUST(aclDestroyTensorList(list));
    MUST(aclDestroyTensor(o.x)); /* MISTAKE */
    o.x = NULL;
    give_back(o);
}

static void array_destroyed_twice(void)
{
    const int64_t axes[1] = {0};
    aclIntArray *array = aclCreateIntArray(axes, 1);
    MUST(aclDestroyIntArray(array));
    MUST(aclDestroyIntArray(array)); /* MISTAKE */
}

static void tensor_destroyed_between_phases(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclDestroyTensor(o.x));
    MUST(aclnnAbs(NULL, 0, executor, g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    o.x = NULL;
    give_back(o);
}

/* ---- executors -------------------------------------------------------------------------- */

static void executor_used_twice(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(NULL, 0, executor, g_stream));
    MUST(aclnnAbs(NULL, 0, executor, g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    give_back(o);
}

static void executor_of_another_operator(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnNeg(NULL, 0, executor, g_stream)); /* MISTAKE */
    give_back(o);
}

static void executor_never_run(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor)); /* MISTAKE */
    give_back(o);
}

static void executor_destroyed_after_its_run(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(NULL, 0, executor, g_stream));
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclDestroyAclOpExecutor(executor)); /* MISTAKE */
    give_back(o);
}

/* ---- workspace -------------------------------------------------------------------------- */

static void workspace_null(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(NULL, 512, executor, g_stream)); /* MISTAKE */
    give_back(o);
}

static void workspace_in_host_memory(void)
{
    static char workspace[512];
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(workspace, sizeof workspace, executor, g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    give_back(o);
}

static void workspace_larger_than_its_memory(void)
{
    Operands o = operands();
    void *workspace = memory(64);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(workspace, 4096, executor, g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclrtFree(workspace));
    give_back(o);
}

static void workspace_freed_before_the_stream_ran(void)
{
    Operands o = operands();
    void *workspace = memory(512);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(workspace, 512, executor, g_stream));
    MUST(aclrtFree(workspace)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    give_back(o);
}

static void workspace_of_two_streams(void)
{
    Operands o = operands(), p = operands();
    void *workspace = memory(512);
    uint64_t size = 0;
    aclrtStream other = NULL;
    aclOpExecutor *first = NULL, *second = NULL;
    MUST(aclrtCreateStream(&other));
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &first));
    MUST(aclnnAbsGetWorkspaceSize(p.x, p.out, &size, &second));
    MUST(aclnnAbs(workspace, 512, first, g_stream));
    MUST(aclnnAbs(workspace, 512, second, other)); /* MISTAKE */
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtDestroyStream(other));
    MUST(aclrtFree(workspace));
    give_back(o);
    give_back(p);
}

/* ---- memory ----------------------------------------------------------------------------- */

static void memory_freed_twice(void)
{
    void *block = memory(NBYTES);
    MUST(aclrtFree(block));
    MUST(aclrtFree(block)); /* MISTAKE */
}

static void host_memory_freed_as_device_memory(void)
{
    void *block = NULL;
    MUST(aclrtMallocHost(&block, NBYTES));
    MUST(aclrtFree(block)); /* MISTAKE */
    MUST(aclrtFreeHost(block));
}

static void device_memory_freed_as_host_memory(void)
{
    void *block = memory(NBYTES);
    MUST(aclrtFreeHost(block)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void free_of_malloc(void)
{
    void *block = malloc(NBYTES);
    MUST(aclrtFree(block)); /* MISTAKE */
    free(block);
}

static void free_inside_an_allocation(void)
{
    char *block = memory(NBYTES);
    MUST(aclrtFree(block + 64)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void memory_freed_before_the_stream_ran(void)
{
    Operands o = operands();
    add(o.x, o.y, o.out);
    MUST(aclrtFree(o.b)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    o.b = memory(NBYTES);
    give_back(o);
}

static void pinned_memory_freed_before_the_copy(void)
{
    void *block = memory(NBYTES), *host = NULL;
    MUST(aclrtMallocHost(&host, NBYTES));
    memset(host, 0, NBYTES);
    MUST(aclrtMemcpyAsync(block, NBYTES, host, NBYTES, ACL_MEMCPY_HOST_TO_DEVICE, g_stream));
    MUST(aclrtFreeHost(host)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclrtFree(block));
}

static void memory_never_freed(void)
{
    void *block = NULL;
    MUST(aclrtMalloc(&block, NBYTES, ACL_MEM_MALLOC_HUGE_FIRST)); /* MISTAKE */
}

static void operator_on_freed_memory(void)
{
    Operands o = operands();
    MUST(aclrtFree(o.a));
    add(o.x, o.y, o.out);
    MUST(aclrtSynchronizeStream(g_stream)); /* the report has the launch, in add() */
    o.a = memory(NBYTES);
    give_back(o);
}

static void copy_beyond_its_part_of_a_pool(void)
{
    static float values[40];
    char *block = pool(4096);
    void *part = give_out(block, NBYTES);
    give_out(block + 512, NBYTES);
    MUST(aclrtMemcpy(part, sizeof values, values, sizeof values, /* MISTAKE */
                     ACL_MEMCPY_HOST_TO_DEVICE));
    MUST(aclrtFree(block));
}

static void operator_on_a_part_that_was_given_back(void)
{
    Operands o = operands();
    void *block = pool(4096);
    aclTensor *x = matrix(give_out(block, NBYTES), 4, 8);
    add(x, o.y, o.out);
    take_back(block);
    add(x, o.y, o.out); /* the report has the launch, in add() */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclDestroyTensor(x));
    MUST(aclrtFree(block));
    give_back(o);
}

static void host_writes_to_device_memory(void)
{
    float *block = memory(NBYTES);
    block[3] = 1.0f; /* MISTAKE */
    MUST(aclrtFree(block));
}

static void host_reads_device_memory(void)
{
    const volatile float *block = memory(NBYTES);
    const float value = block[3]; /* MISTAKE */
    printf("%f\n", (double)value);
    MUST(aclrtFree((void *)(uintptr_t)block));
}

static void memcpy_of_the_c_library_to_device_memory(void)
{
    float values[32] = {1.0f};
    void *block = memory(NBYTES);
    memcpy(block, values, sizeof values); /* MISTAKE */
    MUST(aclrtFree(block));
}

/* ---- copies ----------------------------------------------------------------------------- */

static void kind_says_device_to_host(void)
{
    float values[32] = {0};
    void *block = memory(NBYTES);
    MUST(aclrtMemcpy(block, NBYTES, values, NBYTES, ACL_MEMCPY_DEVICE_TO_HOST)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void kind_says_host_to_host(void)
{
    float values[32];
    void *block = memory(NBYTES);
    MUST(aclrtMemcpy(values, NBYTES, block, NBYTES, ACL_MEMCPY_HOST_TO_HOST)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void asynchronous_kind_is_wrong(void)
{
    void *block = memory(NBYTES), *host = NULL;
    MUST(aclrtMallocHost(&host, NBYTES));
    MUST(aclrtMemcpyAsync(host, NBYTES, block, NBYTES, ACL_MEMCPY_HOST_TO_DEVICE,
                          g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(block));
}

static void copy_longer_than_destmax(void)
{
    float values[32] = {0};
    void *block = memory(64);
    MUST(aclrtMemcpy(block, 64, values, NBYTES, ACL_MEMCPY_HOST_TO_DEVICE)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void copy_beyond_the_allocation(void)
{
    float values[32] = {0};
    void *block = memory(64);
    MUST(aclrtMemcpy(block, NBYTES, values, NBYTES, ACL_MEMCPY_HOST_TO_DEVICE)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void copy_from_freed_memory(void)
{
    float values[32];
    void *block = memory(NBYTES);
    MUST(aclrtFree(block));
    MUST(aclrtMemcpy(values, NBYTES, block, NBYTES, ACL_MEMCPY_DEVICE_TO_HOST)); /* MISTAKE */
}

static void result_read_without_waiting(void)
{
    float values[32];
    Operands o = operands();
    add(o.x, o.y, o.out);
    MUST(aclrtMemcpy(values, NBYTES, o.c, NBYTES, ACL_MEMCPY_DEVICE_TO_HOST)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    give_back(o);
}

static void input_written_while_the_stream_runs(void)
{
    float values[32] = {0};
    Operands o = operands();
    add(o.x, o.y, o.out);
    MUST(aclrtMemcpy(o.a, NBYTES, values, NBYTES, ACL_MEMCPY_HOST_TO_DEVICE)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    give_back(o);
}

/* ---- tensors ---------------------------------------------------------------------------- */

static void shape_of_32_bit_numbers(void)
{
    int32_t shape[4] = {4, 8, 16, 2};
    void *block = memory(NBYTES);
    aclTensor *tensor =
        aclCreateTensor((const int64_t *)(const void *)shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND,
                        (const int64_t *)(const void *)shape, 2, block); /* MISTAKE */
    MUST(aclDestroyTensor(tensor));
    MUST(aclrtFree(block));
}

static void axes_of_32_bit_numbers(void)
{
    int32_t axes[4] = {0, 1, 2, 3};
    aclIntArray *array = aclCreateIntArray((const int64_t *)(const void *)axes, 2); /* MISTAKE */
    MUST(aclDestroyIntArray(array));
}

static void strides_beyond_the_storage(void)
{
    const int64_t shape[2] = {4, 8}, strides[2] = {16, 1};
    void *block = memory(NBYTES);
    aclTensor *tensor = aclCreateTensor(shape, 2, ACL_FLOAT, strides, 0, ACL_FORMAT_ND, shape, 2,
                                        block); /* MISTAKE */
    MUST(aclDestroyTensor(tensor));
    MUST(aclrtFree(block));
}

static void storage_beyond_the_allocation(void)
{
    void *block = memory(64);
    const int64_t shape[2] = {4, 8};
    aclTensor *tensor =
        aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, block); /* MISTAKE */
    MUST(aclDestroyTensor(tensor));
    MUST(aclrtFree(block));
}

static void host_pointer_as_tensor(void)
{
    static float values[32];
    Operands o = operands();
    aclTensor *host = matrix(values, 4, 8);
    add(o.x, host, o.out);
    MUST(aclrtSynchronizeStream(g_stream)); /* the report has the launch, in add() */
    MUST(aclDestroyTensor(host));
    give_back(o);
}

static void tensor_without_memory(void)
{
    Operands o = operands();
    aclTensor *empty = matrix(NULL, 4, 8);
    add(empty, o.y, o.out);
    MUST(aclrtSynchronizeStream(g_stream)); /* the report has the launch, in add() */
    MUST(aclDestroyTensor(empty));
    give_back(o);
}

static void output_overlaps_input(void)
{
    Operands o = operands();
    float *block = memory(2 * NBYTES);
    aclTensor *in = matrix(block, 4, 8), *out = matrix(block + 8, 4, 8);
    add(in, o.y, out); /* the report has the launch, in add() */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclDestroyTensor(in));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(block));
    give_back(o);
}

static void input_never_written(void)
{
    Operands o = operands();
    void *fresh = NULL;
    MUST(aclrtMalloc(&fresh, NBYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    aclTensor *tensor = matrix(fresh, 4, 8);
    add(o.x, tensor, o.out); /* the report has the launch, in add() */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclDestroyTensor(tensor));
    MUST(aclrtFree(fresh));
    give_back(o);
}

static void output_null(void)
{
    Operands o = operands();
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclnnAbsGetWorkspaceSize(o.x, NULL, &size, &executor)); /* MISTAKE */
    give_back(o);
}

static void tensor_never_destroyed(void)
{
    void *block = memory(NBYTES);
    const int64_t shape[2] = {4, 8};
    aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, block); /* MISTAKE */
    MUST(aclrtFree(block));
}

/* ---- streams, events, devices ----------------------------------------------------------- */

static void stream_used_after_destroy(void)
{
    aclrtStream other = NULL;
    MUST(aclrtCreateStream(&other));
    MUST(aclrtDestroyStream(other));
    MUST(aclrtSynchronizeStream(other)); /* MISTAKE */
}

static void stream_destroyed_twice(void)
{
    aclrtStream other = NULL;
    MUST(aclrtCreateStream(&other));
    MUST(aclrtDestroyStream(other));
    MUST(aclrtDestroyStream(other)); /* MISTAKE */
}

static void stream_of_another_device(void)
{
    Operands o = operands();
    aclrtStream other = NULL;
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclrtSetDevice(1));
    MUST(aclrtCreateStream(&other));
    MUST(aclrtSetDevice(0));
    MUST(aclnnAbsGetWorkspaceSize(o.x, o.out, &size, &executor));
    MUST(aclnnAbs(NULL, 0, executor, other)); /* MISTAKE */
    MUST(aclrtSetDevice(1));
    MUST(aclrtDestroyStream(other));
    MUST(aclrtResetDevice(1));
    MUST(aclrtResetDevice(1));
    MUST(aclrtSetDevice(0));
    MUST(aclrtResetDevice(0));
    MUST(aclrtResetDevice(0));
    give_back(o);
}

static void two_streams_without_an_event(void)
{
    Operands o = operands();
    aclrtStream other = NULL, first = g_stream;
    MUST(aclrtCreateStream(&other));
    add(o.x, o.y, o.out);
    g_stream = other;
    add(o.out, o.y, o.x); /* the report has the launch, in add() */
    g_stream = first;
    MUST(aclrtSynchronizeDevice());
    MUST(aclrtDestroyStream(other));
    give_back(o);
}

static void stream_never_destroyed(void)
{
    aclrtStream other = NULL;
    MUST(aclrtCreateStream(&other)); /* MISTAKE */
}

static void event_used_after_destroy(void)
{
    aclrtEvent event = NULL;
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtRecordEvent(event, g_stream)); /* MISTAKE */
}

static void event_never_recorded(void)
{
    aclrtEvent event = NULL;
    MUST(aclrtCreateEvent(&event));
    MUST(aclrtStreamWaitEvent(g_stream, event)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclrtDestroyEvent(event));
}

static void *without_a_device(void *block)
{
    MUST(aclrtMalloc(block, NBYTES, ACL_MEM_MALLOC_HUGE_FIRST)); /* MISTAKE */
    return NULL;
}

static void thread_without_a_device(void)
{
    pthread_t thread;
    void *block = NULL;
    MUST(pthread_create(&thread, NULL, without_a_device, &block));
    MUST(pthread_join(thread, NULL));
}

static void index_out_of_range(void)
{
    int64_t index[2] = {1, 9};
    const int64_t two[1] = {2}, shape[2] = {2, 8};
    Operands o = operands();
    void *rows = memory(sizeof index);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    MUST(aclrtMemcpy(rows, sizeof index, index, sizeof index, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *which = aclCreateTensor(two, 1, ACL_INT64, NULL, 0, ACL_FORMAT_ND, two, 1, rows);
    aclTensor *out = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, o.c);
    MUST(aclnnIndexSelectGetWorkspaceSize(o.x, 0, which, out, &size, &executor));
    MUST(aclnnIndexSelect(NULL, 0, executor, g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclDestroyTensor(which));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(rows));
    give_back(o);
}

static void index_out_of_range_in_a_captured_graph(void)
{
    int64_t index[2] = {1, 9};
    const int64_t two[1] = {2}, shape[2] = {2, 8};
    Operands o = operands();
    void *rows = memory(sizeof index);
    uint64_t size = 0;
    aclOpExecutor *executor = NULL;
    aclmdlRI graph = NULL;
    MUST(aclrtMemcpy(rows, sizeof index, index, sizeof index, ACL_MEMCPY_HOST_TO_DEVICE));
    aclTensor *which = aclCreateTensor(two, 1, ACL_INT64, NULL, 0, ACL_FORMAT_ND, two, 1, rows);
    aclTensor *out = aclCreateTensor(shape, 2, ACL_FLOAT, NULL, 0, ACL_FORMAT_ND, shape, 2, o.c);
    MUST(aclmdlRICaptureBegin(g_stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    MUST(aclnnIndexSelectGetWorkspaceSize(o.x, 0, which, out, &size, &executor));
    MUST(aclnnIndexSelect(NULL, 0, executor, g_stream)); /* MISTAKE */
    MUST(aclmdlRICaptureEnd(g_stream, &graph));
    MUST(aclmdlRIExecuteAsync(graph, g_stream));
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclmdlRIDestroy(graph));
    MUST(aclDestroyTensor(which));
    MUST(aclDestroyTensor(out));
    MUST(aclrtFree(rows));
    give_back(o);
}

/* ---- communicators ---------------------------------------------------------------------- */

static HcclComm communicator(void)
{
    int32_t device = 0;
    HcclComm comm = NULL;
    MUST(HcclCommInitAll(1, &device, &comm));
    MUST(aclrtSetDevice(0));
    MUST(aclrtResetDevice(0));
    return comm;
}

static void host_memory_in_a_collective(void)
{
    static float values[32];
    void *block = memory(NBYTES);
    HcclComm comm = communicator();
    MUST(HcclAllReduce(values, block, 32, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                       g_stream)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(HcclCommDestroy(comm));
    MUST(aclrtFree(block));
}

static void communicator_used_after_destroy(void)
{
    void *block = memory(NBYTES);
    HcclComm comm = communicator();
    MUST(HcclCommDestroy(comm));
    MUST(HcclAllReduce(block, block, 32, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm,
                       g_stream)); /* MISTAKE */
    MUST(aclrtFree(block));
}

static void communicator_never_destroyed(void)
{
    int32_t device = 0;
    HcclComm comm = NULL;
    MUST(HcclCommInitAll(1, &device, &comm)); /* MISTAKE */
}

static void result_of_a_collective_read_without_waiting(void)
{
    float values[32];
    void *block = memory(NBYTES), *sum = memory(NBYTES);
    HcclComm comm = communicator();
    MUST(HcclAllReduce(block, sum, 32, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, comm, g_stream));
    MUST(aclrtMemcpy(values, NBYTES, sum, NBYTES, ACL_MEMCPY_DEVICE_TO_HOST)); /* MISTAKE */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(HcclCommDestroy(comm));
    MUST(aclrtFree(block));
    MUST(aclrtFree(sum));
}

/* ---- the beginning and the end: these make their own frame -------------------------------- */

static void device_without_init(void)
{
    MUST(aclrtSetDevice(0)); /* MISTAKE */
    MUST(aclrtResetDevice(0));
}

static void init_without_finalize(void)
{
    MUST(aclInit(NULL)); /* MISTAKE */
    MUST(aclrtSetDevice(0));
    MUST(aclrtResetDevice(0));
}

static void device_never_reset(void)
{
    MUST(aclInit(NULL));
    MUST(aclrtSetDevice(0)); /* MISTAKE */
    MUST(aclFinalize());
}

static void finalize_twice(void)
{
    MUST(aclInit(NULL));
    MUST(aclFinalize());
    MUST(aclFinalize()); /* MISTAKE */
}

/* ---- no mistake ------------------------------------------------------------------------- */

/* Parts follow each other, are given out anew, and are written before they are read. */
static void correct_pool(Operands o)
{
    char *block = pool(4096);
    aclTensor *x = matrix(give_out(block, NBYTES), 4, 8);
    aclTensor *y = matrix(give_out(block + NBYTES, NBYTES), 4, 8);
    add(o.x, o.y, x);
    add(x, o.y, y);
    take_back(block);
    give_out(block, NBYTES);
    add(y, o.y, x);
    MUST(aclrtSynchronizeStream(g_stream));
    take_back(block);
    take_back(block + NBYTES);
    mstxMemHeapUnregister(NULL, (mstxMemHeapHandle_t)block);
    add(o.x, o.y, x); /* the pool is memory like any other again */
    MUST(aclrtSynchronizeStream(g_stream));
    MUST(aclDestroyTensor(x));
    MUST(aclDestroyTensor(y));
    MUST(aclrtFree(block));
}

static void correct(void)
{
    float values[32];
    Operands o = operands();
    void *workspace = memory(512), *host = NULL;
    aclrtStream other = NULL, first = g_stream;
    aclrtEvent event = NULL;
    MUST(aclrtMallocHost(&host, NBYTES));
    MUST(aclrtCreateStream(&other));
    MUST(aclrtCreateEvent(&event));
    add(o.x, o.y, o.out);
    add(o.out, o.y, o.out); /* in place, on one stream */
    MUST(aclrtRecordEvent(event, g_stream));
    MUST(aclrtStreamWaitEvent(other, event));
    g_stream = other;
    add(o.out, o.y, o.x);
    correct_pool(o);
    MUST(aclrtMemcpyAsync(host, NBYTES, o.a, NBYTES, ACL_MEMCPY_DEVICE_TO_HOST, other));
    MUST(aclrtSynchronizeStream(other));
    g_stream = first;
    MUST(aclrtMemcpy(values, NBYTES, o.c, NBYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    MUST(aclrtDestroyEvent(event));
    MUST(aclrtDestroyStream(other));
    MUST(aclrtFreeHost(host));
    MUST(aclrtFree(workspace));
    give_back(o);
}

typedef struct {
    const char *name;
    void (*run)(void);
    int framed; /* between begin() and end() */
} Mistake;

#define FRAMED(name) {#name, name, 1}
#define BARE(name) {#name, name, 0}

static const Mistake kMistakes[] = {
    FRAMED(tensor_destroyed_twice),
    FRAMED(tensor_used_after_destroy),
    FRAMED(operator_with_destroyed_tensor),
    FRAMED(scalar_destroyed_twice),
    FRAMED(tensor_destroyed_as_scalar),
    FRAMED(member_of_list_destroyed),
    FRAMED(array_destroyed_twice),
    FRAMED(tensor_destroyed_between_phases),
    FRAMED(executor_used_twice),
    FRAMED(executor_of_another_operator),
    FRAMED(executor_never_run),
    FRAMED(executor_destroyed_after_its_run),
    FRAMED(workspace_null),
    FRAMED(workspace_in_host_memory),
    FRAMED(workspace_larger_than_its_memory),
    FRAMED(workspace_freed_before_the_stream_ran),
    FRAMED(workspace_of_two_streams),
    FRAMED(memory_freed_twice),
    FRAMED(host_memory_freed_as_device_memory),
    FRAMED(device_memory_freed_as_host_memory),
    FRAMED(free_of_malloc),
    FRAMED(free_inside_an_allocation),
    FRAMED(memory_freed_before_the_stream_ran),
    FRAMED(pinned_memory_freed_before_the_copy),
    FRAMED(memory_never_freed),
    FRAMED(operator_on_freed_memory),
    FRAMED(copy_beyond_its_part_of_a_pool),
    FRAMED(operator_on_a_part_that_was_given_back),
    FRAMED(host_writes_to_device_memory),
    FRAMED(host_reads_device_memory),
    FRAMED(memcpy_of_the_c_library_to_device_memory),
    FRAMED(kind_says_device_to_host),
    FRAMED(kind_says_host_to_host),
    FRAMED(asynchronous_kind_is_wrong),
    FRAMED(copy_longer_than_destmax),
    FRAMED(copy_beyond_the_allocation),
    FRAMED(copy_from_freed_memory),
    FRAMED(result_read_without_waiting),
    FRAMED(input_written_while_the_stream_runs),
    FRAMED(shape_of_32_bit_numbers),
    FRAMED(axes_of_32_bit_numbers),
    FRAMED(strides_beyond_the_storage),
    FRAMED(storage_beyond_the_allocation),
    FRAMED(host_pointer_as_tensor),
    FRAMED(tensor_without_memory),
    FRAMED(output_overlaps_input),
    FRAMED(input_never_written),
    FRAMED(output_null),
    FRAMED(tensor_never_destroyed),
    FRAMED(stream_used_after_destroy),
    FRAMED(stream_destroyed_twice),
    FRAMED(stream_of_another_device),
    FRAMED(two_streams_without_an_event),
    FRAMED(stream_never_destroyed),
    FRAMED(event_used_after_destroy),
    FRAMED(event_never_recorded),
    FRAMED(thread_without_a_device),
    FRAMED(index_out_of_range),
    FRAMED(index_out_of_range_in_a_captured_graph),
    FRAMED(host_memory_in_a_collective),
    FRAMED(communicator_used_after_destroy),
    FRAMED(communicator_never_destroyed),
    FRAMED(result_of_a_collective_read_without_waiting),
    BARE(device_without_init),
    BARE(init_without_finalize),
    BARE(device_never_reset),
    BARE(finalize_twice),
    FRAMED(correct),
};

int main(int count, char **arguments)
{
    for (size_t i = 0; i < sizeof kMistakes / sizeof *kMistakes; ++i) {
        const Mistake *mistake = &kMistakes[i];
        if (count < 2) {
            puts(mistake->name);
        } else if (strcmp(arguments[1], mistake->name) == 0) {
            if (mistake->framed)
                begin();
            mistake->run();
            if (mistake->framed)
                end();
            return 0;
        }
    }
    return count < 2 ? 0 : 2;
}
