/* SPDX-License-Identifier: Apache-2.0 */
/* Operator launches: objects, phase one, workspace, phase two and clean-up in one call without the
   interpreter's lock. Included by the generated extension source after the C functions and the
   operator table. */

#define AP_LIKELY(x) __builtin_expect(!!(x), 1)
#define AP_UNLIKELY(x) __builtin_expect(!!(x), 0)
#define AP_MESSAGE_NBYTES 8192

static __thread ap_stream *current_stream;
static __thread int32_t active_device = -1;
static __thread ap_failure failure;
static __thread char failure_text[AP_MESSAGE_NBYTES];
static __thread int passing;
static __thread ap_learned *learning;
static int forked_child;
static int intercepting;

static void note_fork(void)
{
    forked_child = 1;
}

int32_t ap_watch_forks(void)
{
    static int watching;
    if (watching)
        return 0;
    watching = 1;
    return pthread_atfork(NULL, NULL, note_fork);
}

int32_t ap_forked(void)
{
    return forked_child;
}

void ap_set_intercept(int32_t on)
{
    __atomic_store_n(&intercepting, on, __ATOMIC_RELAXED);
}

void ap_pass(int32_t step)
{
    passing += step;
}

/* Whether Python wants to see the launch first. */
static int intercepted(void)
{
    return AP_UNLIKELY(__atomic_load_n(&intercepting, __ATOMIC_RELAXED)) && !passing;
}

const ap_failure *ap_last_failure(void)
{
    return &failure;
}

void ap_set_current_stream(ap_stream *stream)
{
    current_stream = stream;
}

void ap_set_active_device(int32_t device)
{
    active_device = device;
}

ap_stream *ap_current_stream(void)
{
    return current_stream;
}

/* ---- failures ---------------------------------------------------------------------- */

static int32_t refuse(int32_t reason, int32_t parameter, int32_t member)
{
    failure = (ap_failure){
        .phase = AP_PHASE_ARGUMENT, .reason = reason, .parameter = parameter, .member = member};
    failure.routine = "";
    failure_text[0] = 0;
    failure.message = failure_text;
    return AP_FAILED;
}

/* The library keeps its message per thread and forgets it with the next call: it is read here,
   before any clean-up. */
static int32_t fail(int32_t phase, int32_t status, const char *routine, int32_t parameter,
                    int32_t member)
{
    const char *text = aclGetRecentErrMsg();
    failure =
        (ap_failure){.phase = phase, .status = status, .parameter = parameter, .member = member};
    failure.routine = routine;
    snprintf(failure_text, sizeof failure_text, "%s", text ? text : "");
    failure.message = failure_text;
    return AP_FAILED;
}

/* ---- marks ------------------------------------------------------------------------- */

/* Threads may launch on different streams with one buffer, so an entry is claimed atomically. */
static void mark(ap_use *use, uint64_t stream_id, uint64_t sequence)
{
    for (int i = 0; i < AP_MARKS; ++i) {
        ap_mark *entry = &use->marks[i];
        uint64_t id = __atomic_load_n(&entry->stream_id, __ATOMIC_RELAXED);
        if (id == 0 && __atomic_compare_exchange_n(&entry->stream_id, &id, stream_id, 0,
                                                   __ATOMIC_RELAXED, __ATOMIC_RELAXED))
            id = stream_id;
        if (id == stream_id) {
            __atomic_store_n(&entry->sequence, sequence, __ATOMIC_RELEASE);
            return;
        }
    }
    __atomic_store_n(&use->overflow, 1, __ATOMIC_RELAXED);
}

static int marked(const ap_use *use, uint64_t stream_id)
{
    for (int i = 0; i < AP_MARKS; ++i)
        if (__atomic_load_n(&use->marks[i].stream_id, __ATOMIC_RELAXED) == stream_id)
            return 1;
    return 0;
}

void ap_forget_stream(ap_use *use, uint64_t stream_id)
{
    for (int i = 0; i < AP_MARKS; ++i)
        if (__atomic_load_n(&use->marks[i].stream_id, __ATOMIC_RELAXED) == stream_id) {
            __atomic_store_n(&use->marks[i].sequence, 0, __ATOMIC_RELAXED);
            __atomic_store_n(&use->marks[i].stream_id, 0, __ATOMIC_RELEASE);
        }
}

static void lock_word(uint32_t *word)
{
    while (__atomic_exchange_n(word, 1, __ATOMIC_ACQUIRE))
        sched_yield();
}

static void unlock_word(uint32_t *word)
{
    __atomic_store_n(word, 0, __ATOMIC_RELEASE);
}

/* Held over phase two: the sequence grows only after the work is queued, so a synchronize that read
   the sequence before it started covers every launch up to it; and the arena cannot be exchanged
   under a launch. */
static void lock_stream(ap_stream *stream)
{
    lock_word(&stream->lock);
}

static void unlock_stream(ap_stream *stream)
{
    unlock_word(&stream->lock);
}

uint64_t ap_mark_use(ap_stream *stream, ap_use **uses, uint32_t count)
{
    ap_learn_other();
    lock_stream(stream);
    uint64_t sequence = ++stream->sequence;
    stream->recent[sequence % AP_RECENT] = NULL;
    for (uint32_t i = 0; i < count; ++i)
        mark(uses[i], stream->id, sequence);
    unlock_stream(stream);
    return sequence;
}

uint64_t ap_set_workspace(ap_stream *stream, void *workspace, uint64_t workspace_nbytes)
{
    lock_stream(stream);
    stream->workspace = workspace;
    stream->workspace_nbytes = workspace_nbytes;
    stream->workspace_exchanges += 1;
    uint64_t sequence = stream->sequence;
    unlock_stream(stream);
    return sequence;
}

#include "objects.c"

/* ---- the two phases ---------------------------------------------------------------- */

static int32_t check_use(const ap_use *use, const ap_stream *stream, int32_t parameter,
                         int32_t member)
{
    if (AP_UNLIKELY(use->closed))
        return refuse(AP_REASON_CLOSED, parameter, member);
    if (AP_UNLIKELY(use->device != stream->device))
        return refuse(AP_REASON_OTHER_DEVICE, parameter, member);
    if (AP_UNLIKELY(use->guard && use->guard != stream->id && !marked(use, stream->id)))
        return AP_GUARDED;
    return AP_OK;
}

static int32_t check_tensor(const ap_tensor *tensor, const ap_stream *stream, int32_t parameter,
                            int32_t member)
{
    return check_use(tensor->use, stream, parameter, member);
}

/* Which argument is refused, and why. AP_GUARDED: none is, but one has to be waited for. */
static int32_t examine_tensors(const ap_call *call, ap_tensor **tensors, const ap_stream *stream)
{
    uint32_t next = 0;
    int32_t guarded = AP_OK;
    for (uint32_t i = 0; i < call->argument_count; ++i) {
        const ap_argument *a = &call->arguments[i];
        int list = a->kind == AP_TENSOR_LIST;
        uint64_t entries = list ? a->count : a->kind == AP_TENSOR;
        for (uint64_t m = 0; m < entries; ++m) {
            if (!tensors[next + m])
                continue;
            int32_t code =
                check_tensor(tensors[next + m], stream, (int32_t)i, list ? (int32_t)m : -1);
            if (AP_UNLIKELY(code == AP_GUARDED))
                guarded = code;
            else if (AP_UNLIKELY(code != AP_OK))
                return code;
        }
        next += (uint32_t)entries;
    }
    return guarded;
}

/* Refused arguments are found before anything is created. Nearly always there is none: the tensors
   are looked at one after the other, and as members of arguments only when something is the
   matter. */
static int32_t check_tensors(const ap_call *call, ap_tensor **tensors, const ap_stream *stream)
{
    uint32_t odd = 0;
    for (uint32_t i = 0; i < call->tensor_count; ++i) {
        if (!tensors[i])
            continue;
        const ap_use *use = tensors[i]->use;
        odd |= use->closed | (uint32_t)(use->device != stream->device);
        odd |= (uint32_t)((use->guard != 0) & (use->guard != stream->id));
    }
    return AP_LIKELY(!odd) ? AP_OK : examine_tensors(call, tensors, stream);
}

/* On failure nothing is left to release. */
static int32_t phase_one(ap_prepared *p, const ap_call *call, ap_tensor **tensors)
{
    ap_word words[AP_MAX_PARAMETERS];
    p->call = call;
    p->op = call->op;
    p->tensors = tensors;
    p->executor = NULL;
    p->workspace_nbytes = 0;
    p->repeatable = 0;
    p->sequence = 0;
    p->object_count = 0;
    int32_t code = create_objects(p, words);
    if (AP_LIKELY(code == AP_OK)) {
        int32_t status = call->op->invoke(call->op, words, &p->workspace_nbytes, &p->executor);
        if (AP_LIKELY(status == 0))
            return AP_OK;
        code = fail(AP_PHASE_ONE, status, call->op->c_name, -1, -1);
    }
    return destroy_objects(p, code);
}

static void learn(const ap_prepared *p)
{
    uint32_t count = p->call->tensor_count;
    learning->launches += count > AP_RECIPE_TENSORS ? 2 : 1;
    learning->call = p->call;
    learning->count = count;
    for (uint32_t i = 0; i < count && i < AP_RECIPE_TENSORS; ++i)
        learning->tensors[i] = p->tensors[i];
}

/* Buffers are marked even when phase two reports a failure: part of the work may have been
   queued. */
static int32_t phase_two(ap_stream *stream, ap_prepared *p, void *workspace,
                         uint64_t workspace_nbytes)
{
    typedef int32_t (*function)(void *, uint64_t, void *, void *);
    const ap_op *op = p->op;
    void *executor = p->executor;
    if (!p->repeatable)
        p->executor = NULL; /* consumed, whatever the status */
    int32_t status = ((function)op->phase_two)(workspace, workspace_nbytes, executor, stream->raw);
    uint64_t sequence = ++stream->sequence;
    if (workspace_nbytes > stream->workspace_peak)
        stream->workspace_peak = workspace_nbytes;
    p->sequence = sequence;
    if (AP_UNLIKELY(learning))
        learn(p);
    stream->recent[sequence % AP_RECENT] = op;
    for (uint32_t i = 0; i < p->call->tensor_count; ++i)
        if (p->tensors[i])
            mark(p->tensors[i]->use, stream->id, sequence);
    return AP_LIKELY(status == 0) ? AP_OK : fail(AP_PHASE_TWO, status, op->c_name, -1, -1);
}

/* AP_NO_STREAM: no current stream, or the thread points at another device. Python sets both right
   and calls again. */
static int32_t take_stream(ap_stream **stream)
{
    if (AP_UNLIKELY(forked_child))
        return refuse(AP_REASON_FORKED, -1, -1);
    if (!*stream)
        *stream = current_stream;
    if (AP_UNLIKELY(!*stream))
        return AP_NO_STREAM;
    if (AP_UNLIKELY((*stream)->closed))
        return refuse((*stream)->closed == AP_STREAM_CAPTURED ? AP_REASON_STREAM_CAPTURED
                                                              : AP_REASON_STREAM_CLOSED,
                      -1, -1);
    if (AP_UNLIKELY((*stream)->device != active_device))
        return AP_NO_STREAM;
    return AP_OK;
}

static ap_prepared *to_heap(const ap_prepared *p)
{
    size_t count = p->call->tensor_count;
    ap_prepared *copy = malloc(sizeof *copy + count * sizeof *copy->tensors);
    if (!copy)
        return NULL;
    *copy = *p;
    copy->tensors = (ap_tensor **)(copy + 1);
    memcpy(copy->tensors, p->tensors, count * sizeof *copy->tensors);
    return copy;
}

/* Reports a refusal unless the launch has failed already, as destroy_objects does. */
static int32_t destroy_executor(ap_prepared *p, int32_t code)
{
    void *executor = p->executor;
    p->executor = NULL;
    int32_t status = executor ? aclDestroyAclOpExecutor(executor) : 0;
    /* Absent before 8.1: an executor that never ran is then leaked, as it is in every client of
       that release. */
    if (AP_LIKELY(status == 0 || status == AP_UNBOUND))
        return code;
    if (code == AP_OK)
        return fail(AP_PHASE_DESTROY, status, "aclDestroyAclOpExecutor", -1, -1);
    aclGetRecentErrMsg(); /* no later error is to show it */
    return code;
}

/* Whether the index of a tensor in the launch's array is what aclSetTensorAddr takes. */
static int told_apart(const ap_call *call, ap_tensor *const *tensors)
{
    int certain = call->op->in_order;
    for (uint32_t i = 0; i < call->tensor_count; ++i)
        certain &= tensors[i] != NULL;
    return certain;
}

#include "reuse.c"

/* Both phases, or the second one with a kept executor. The caller has looked at the tensors. */
static int32_t launch_checked(ap_stream *stream, const ap_call *call, ap_tensor **tensors)
{
    ap_prepared p;
    int32_t code;
    ap_kept *kept = NULL;
    if (reusing) {
        kept = find_kept(stream, call, tensors);
        if (kept && kept->prepared.executor) {
            if (AP_LIKELY(run_kept(kept, stream, call, tensors, &code)))
                return code;
            kept = NULL;
        }
    }
    code = phase_one(&p, call, tensors);
    if (kept && !make_repeatable(kept, &p, code))
        kept = NULL;
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    lock_stream(stream);
    if (AP_UNLIKELY(p.workspace_nbytes > stream->workspace_nbytes)) {
        unlock_stream(stream);
        if (kept)
            leave(kept); /* another launch makes one, when the arena has grown */
        ap_prepared *pending = to_heap(&p);
        if (!pending) {
            code = destroy_executor(&p, refuse(AP_REASON_NO_MEMORY, -1, -1));
            return destroy_objects(&p, code);
        }
        failure = (ap_failure){.pending = pending, .workspace_nbytes = p.workspace_nbytes};
        return AP_NEED_WORKSPACE;
    }
    code = phase_two(stream, &p, p.workspace_nbytes ? stream->workspace : NULL, p.workspace_nbytes);
    unlock_stream(stream);
    if (kept && code == AP_OK) {
        keep(kept, stream, &p);
        return AP_OK;
    }
    if (kept)
        leave(kept);
    return destroy_objects(&p, destroy_executor(&p, code));
}

int32_t ap_launch(ap_stream *stream, const ap_call *call, ap_tensor **tensors)
{
    int32_t code = take_stream(&stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    if (AP_UNLIKELY(intercepted()))
        return AP_INTERCEPTED;
    code = check_tensors(call, tensors, stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    return launch_checked(stream, call, tensors);
}

int32_t ap_resume(ap_stream *stream, ap_prepared *pending)
{
    int32_t code = take_stream(&stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    lock_stream(stream);
    if (AP_UNLIKELY(pending->workspace_nbytes > stream->workspace_nbytes)) {
        unlock_stream(stream);
        failure = (ap_failure){.pending = pending, .workspace_nbytes = pending->workspace_nbytes};
        return AP_NEED_WORKSPACE;
    }
    code = phase_two(stream, pending, stream->workspace, pending->workspace_nbytes);
    unlock_stream(stream);
    code = destroy_executor(pending, code); /* one that could have run again */
    code = destroy_objects(pending, code);
    free(pending);
    return code;
}

void ap_abandon(ap_prepared *pending)
{
    if (!pending || forked_child)
        return;
    destroy_objects(pending, destroy_executor(pending, AP_FAILED));
    free(pending);
}

int32_t ap_prepare(ap_stream *stream, const ap_call *call, ap_tensor **tensors, int32_t repeatable,
                   ap_plan *plan)
{
    ap_prepared p;
    int32_t code = take_stream(&stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    if (AP_UNLIKELY(intercepted()))
        return AP_INTERCEPTED;
    code = check_tensors(call, tensors, stream);
    if (AP_UNLIKELY(code != AP_OK &&
                    code != AP_GUARDED)) /* nothing is queued yet: nobody has to wait */
        return code;
    code = phase_one(&p, call, tensors);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    if (repeatable) {
        /* Asked at once: the library looks at what phase one left behind on this thread. */
        int32_t status = aclSetAclOpExecutorRepeatable(p.executor);
        if (status != 0)
            code = fail(AP_PHASE_REPEATABLE, status, "aclSetAclOpExecutorRepeatable", -1, -1);
        else
            p.repeatable = 1;
    }
    plan->prepared = code == AP_OK ? to_heap(&p) : NULL;
    if (plan->prepared)
        return AP_OK;
    if (code == AP_OK)
        code = refuse(AP_REASON_NO_MEMORY, -1, -1);
    return destroy_objects(&p, destroy_executor(&p, code));
}

static int32_t execute(ap_stream *stream, ap_prepared *prepared, void *workspace,
                       uint64_t workspace_nbytes)
{
    if (AP_UNLIKELY(!prepared))
        return refuse(forked_child ? AP_REASON_FORKED : AP_REASON_PLAN_CLOSED, -1, -1);
    int32_t code = take_stream(&stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    if (AP_UNLIKELY(intercepted()))
        return AP_INTERCEPTED;
    if (AP_UNLIKELY(!prepared->executor))
        return refuse(AP_REASON_CONSUMED, -1, -1);
    code = check_tensors(prepared->call, prepared->tensors, stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    lock_stream(stream);
    if (!workspace && prepared->workspace_nbytes) {
        /* No block of the caller's own: the stream's arena. */
        if (prepared->workspace_nbytes > stream->workspace_nbytes) {
            unlock_stream(stream);
            failure = (ap_failure){.workspace_nbytes = prepared->workspace_nbytes};
            return AP_NEED_WORKSPACE;
        }
        workspace = stream->workspace;
        workspace_nbytes = prepared->workspace_nbytes;
    }
    code = phase_two(stream, prepared, workspace, workspace_nbytes);
    unlock_stream(stream);
    return prepared->repeatable ? code : destroy_objects(prepared, code);
}

int32_t ap_execute(ap_stream *stream, ap_plan *plan, void *workspace, uint64_t workspace_nbytes)
{
    lock_word(&plan->lock);
    int32_t code = execute(stream, plan->prepared, workspace, workspace_nbytes);
    unlock_word(&plan->lock);
    return code;
}

int32_t ap_repeat(ap_plan *plan)
{
    return ap_execute(NULL, plan, NULL, 0);
}

static int32_t rebind(ap_prepared *prepared, uint32_t index, ap_tensor *tensor)
{
    if (!prepared)
        return refuse(forked_child ? AP_REASON_FORKED : AP_REASON_PLAN_CLOSED, -1, -1);
    if (!prepared->executor)
        return refuse(AP_REASON_CONSUMED, -1, -1);
    if (!told_apart(prepared->call, prepared->tensors))
        return AP_UNCERTAIN;
    uint32_t next = 0;
    for (uint32_t i = 0; i < prepared->call->argument_count; ++i) {
        if (prepared->call->arguments[i].kind != AP_TENSOR || next++ != index)
            continue;
        int32_t status =
            aclSetTensorAddr(prepared->executor, index, prepared->objects[i], tensor->address);
        if (status == AP_UNBOUND)
            return AP_UNCERTAIN;
        if (status != 0)
            return fail(AP_PHASE_ADDRESS, status, "aclSetTensorAddr", (int32_t)i, -1);
        prepared->tensors[index] = tensor;
        return AP_OK;
    }
    return refuse(AP_REASON_NONE, -1, -1);
}

int32_t ap_rebind(ap_plan *plan, uint32_t index, ap_tensor *tensor)
{
    if (AP_UNLIKELY(forked_child))
        return refuse(AP_REASON_FORKED, -1, -1);
    lock_word(&plan->lock);
    int32_t code = rebind(plan->prepared, index, tensor);
    unlock_word(&plan->lock);
    return code;
}

void ap_replace(ap_plan *plan, ap_plan *other)
{
    if (forked_child)
        return;
    lock_word(&plan->lock);
    ap_prepared *old = plan->prepared;
    plan->prepared = other ? other->prepared : NULL;
    unlock_word(&plan->lock);
    if (other)
        other->prepared = NULL;
    ap_abandon(old);
}

void ap_discard(ap_plan *plan)
{
    ap_replace(plan, NULL);
}
