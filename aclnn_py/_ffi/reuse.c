/* SPDX-License-Identifier: Apache-2.0 */
/* Executors that are kept for the next launch with equal arguments: same call block (so the same
   attributes), same layouts and offsets, same device. Included by launch.c in front of ap_launch.

   A launch owns an entry while it holds its lock, and never waits for one: where another thread is
   in the entry, it goes through both phases as if there were none. So an executor is used by one
   thread at a time, and streams do not wait for each other. */

#define AP_KEPT_SETS 256
#define AP_KEPT_WAYS 4
/* An executor of more tensors takes the memory of so many. */
#define AP_KEPT_TENSORS 128

/* What is known of one tensor: id 0 for a null one. */
typedef struct {
    uint64_t layout_id;
    int64_t offset;
    void *address;
} ap_kept_tensor;

/* prepared.executor is null while the arguments have been seen only once. certain: the setters of
   the library can be told which tensor is meant; without that the entry serves its own addresses
   only, and they belong to its key. */
typedef struct {
    uint32_t lock;
    uint32_t recent;
    int32_t certain;
    int32_t verified;
    int32_t device;
    uint64_t call_id;
    ap_kept_tensor *tensors;
    ap_prepared prepared;
} ap_kept;

static ap_kept kept_entries[AP_KEPT_SETS][AP_KEPT_WAYS];
/* The hash of the key of each entry, 0 where there is none: all that a search reads. */
static uint64_t kept_tags[AP_KEPT_SETS][AP_KEPT_WAYS];
static int32_t reusing, verifying;
static __thread int32_t trusting;
static uint64_t kept_hits, kept_made, kept_refused;

static void count(uint64_t *counter)
{
    /* Statistics: a lost increment does not matter, a locked instruction per launch does. */
    __atomic_store_n(counter, __atomic_load_n(counter, __ATOMIC_RELAXED) + 1, __ATOMIC_RELAXED);
}

static void leave(ap_kept *kept)
{
    unlock_word(&kept->lock);
}

static uint64_t *tag_of(const ap_kept *kept)
{
    size_t index = (size_t)(kept - &kept_entries[0][0]);
    return &kept_tags[index / AP_KEPT_WAYS][index % AP_KEPT_WAYS];
}

static int try_lock(ap_kept *kept)
{
    return !__atomic_exchange_n(&kept->lock, 1, __ATOMIC_ACQUIRE);
}

/* The caller holds the entry. */
static void release_kept(ap_kept *kept)
{
    if (kept->prepared.executor) {
        destroy_objects(&kept->prepared, destroy_executor(&kept->prepared, AP_FAILED));
    }
    free(kept->tensors);
    kept->tensors = NULL;
    __atomic_store_n(tag_of(kept), 0, __ATOMIC_RELAXED);
}

static uint64_t key_hash(const ap_stream *stream, const ap_call *call, ap_tensor **tensors)
{
    uint64_t hash = call->id * 0x9E3779B97F4A7C15u + (uint32_t)stream->device;
    int certain = told_apart(call, tensors);
    for (uint32_t i = 0; i < call->tensor_count; ++i) {
        uint64_t part =
            tensors[i] ? tensors[i]->layout->id + ((uint64_t)tensors[i]->offset << 24) : 0;
        if (!certain && tensors[i])
            part ^= (uint64_t)(uintptr_t)tensors[i]->address << 8;
        hash = (hash ^ (hash >> 29) ^ part) * 0xBF58476D1CE4E5B9u;
    }
    return (hash ^ (hash >> 32)) | 1;
}

static int same_key(const ap_kept *kept, const ap_stream *stream, const ap_call *call,
                    ap_tensor **tensors)
{
    if (kept->call_id != call->id || kept->device != stream->device)
        return 0;
    for (uint32_t i = 0; i < call->tensor_count; ++i) {
        const ap_tensor *t = tensors[i];
        const ap_kept_tensor *k = &kept->tensors[i];
        if (k->layout_id != (t ? t->layout->id : 0) || (t && k->offset != t->offset))
            return 0;
    }
    return 1;
}

/* An entry for arguments that are not there: a free one, else one that no launch used since the
   last search. */
static ap_kept *take_entry(uint64_t set, uint64_t tag)
{
    for (int pass = 0; pass < 2; ++pass)
        for (int way = 0; way < AP_KEPT_WAYS; ++way) {
            ap_kept *kept = &kept_entries[set][way];
            int unused = !__atomic_load_n(&kept_tags[set][way], __ATOMIC_RELAXED);
            if (!unused && (pass == 0 || __atomic_exchange_n(&kept->recent, 0, __ATOMIC_RELAXED)))
                continue;
            if (!try_lock(kept))
                continue;
            release_kept(kept);
            __atomic_store_n(&kept_tags[set][way], tag, __ATOMIC_RELAXED);
            return kept;
        }
    return NULL;
}

/* The entry of a launch, held by it; null when it goes through both phases and nothing is kept. */
static ap_kept *find_kept(const ap_stream *stream, const ap_call *call, ap_tensor **tensors)
{
    if (call->op->single_use || call->tensor_count > AP_KEPT_TENSORS)
        return NULL;
    uint64_t tag = key_hash(stream, call, tensors), set = (tag >> 8) % AP_KEPT_SETS;
    for (int way = 0; way < AP_KEPT_WAYS; ++way) {
        if (__atomic_load_n(&kept_tags[set][way], __ATOMIC_RELAXED) != tag)
            continue;
        ap_kept *kept = &kept_entries[set][way];
        if (!try_lock(kept))
            return NULL;
        if (kept_tags[set][way] == tag &&
            (!kept->prepared.executor || same_key(kept, stream, call, tensors)))
            return kept;
        leave(kept);
        return NULL;
    }
    ap_kept *kept = take_entry(set, tag);
    if (kept && reusing != AP_REUSE_ALWAYS) {
        leave(kept); /* most arguments come once: an executor is kept for those that come again */
        return NULL;
    }
    return kept;
}

/* The library cannot do it for this operator, or not at all: never asked again. Its message is
   taken off the thread. */
static void give_up(const ap_call *call)
{
    aclGetRecentErrMsg();
    __atomic_store_n(&call->op->single_use, 1, __ATOMIC_RELAXED);
    count(&kept_refused);
}

static int exchange_addresses(ap_kept *kept, const ap_call *call, ap_tensor **tensors)
{
    uint32_t next = 0;
    for (uint32_t i = 0; next < call->tensor_count; ++i) {
        if (call->arguments[i].kind != AP_TENSOR)
            continue;
        void *address = tensors[next]->address;
        if (kept->tensors[next].address != address) {
            if (aclSetTensorAddr(kept->prepared.executor, next, kept->prepared.objects[i],
                                 address) != 0)
                return 0;
            kept->tensors[next].address = address;
        }
        ++next;
    }
    return 1;
}

/* Whether the launch is done, with its result in *code; if not, it goes through both phases. */
static int run_kept(ap_kept *kept, ap_stream *stream, const ap_call *call, ap_tensor **tensors,
                    int32_t *code)
{
    ap_prepared *p = &kept->prepared;
    int moved = 0;
    for (uint32_t i = 0; i < call->tensor_count; ++i)
        moved |= tensors[i] && kept->tensors[i].address != tensors[i]->address;
    if (AP_UNLIKELY(moved && !kept->certain)) {
        leave(kept);
        return 0;
    }
    if (AP_UNLIKELY(verifying && !kept->verified)) {
        if (!trusting) {
            leave(kept);
            failure = (ap_failure){.workspace_nbytes = p->workspace_nbytes};
            *code = AP_VERIFY;
            return 1;
        }
        kept->verified = 1;
    }
    if (AP_UNLIKELY(moved && !exchange_addresses(kept, call, tensors))) {
        release_kept(kept);
        leave(kept);
        give_up(call);
        return 0;
    }
    lock_stream(stream);
    if (AP_UNLIKELY(p->workspace_nbytes > stream->workspace_nbytes)) {
        unlock_stream(stream);
        leave(kept);
        return 0;
    }
    p->call = call;
    p->tensors = tensors;
    *code =
        phase_two(stream, p, p->workspace_nbytes ? stream->workspace : NULL, p->workspace_nbytes);
    unlock_stream(stream);
    if (AP_UNLIKELY(*code != AP_OK))
        release_kept(kept);
    __atomic_store_n(&kept->recent, 1, __ATOMIC_RELAXED);
    leave(kept);
    count(&kept_hits);
    return 1;
}

/* Right after phase one on the same thread, as the library wants it. Leaves the entry when there
   will be none. */
static int make_repeatable(ap_kept *kept, ap_prepared *p, int32_t code)
{
    uint32_t count = p->call->tensor_count;
    int refused = 0;
    if (code == AP_OK) {
        free(kept->tensors); /* of a launch that had to wait for a larger arena */
        kept->tensors = malloc((count ? count : 1) * sizeof *kept->tensors);
        refused = kept->tensors && aclSetAclOpExecutorRepeatable(p->executor) != 0;
        if (kept->tensors && !refused) {
            p->repeatable = 1;
            return 1;
        }
    }
    release_kept(kept);
    leave(kept);
    if (refused)
        give_up(p->call);
    return 0;
}

/* Leave an executor that has run in its entry. */
static void keep(ap_kept *kept, const ap_stream *stream, const ap_prepared *p)
{
    const ap_call *call = p->call;
    kept->certain = told_apart(call, p->tensors);
    for (uint32_t i = 0; i < call->tensor_count; ++i) {
        const ap_tensor *t = p->tensors[i];
        kept->tensors[i] = t ? (ap_kept_tensor){t->layout->id, t->offset, t->address}
                             : (ap_kept_tensor){0, 0, NULL};
    }
    kept->call_id = call->id;
    kept->device = stream->device;
    kept->verified = 0;
    kept->recent = 1;
    kept->prepared = *p;
    leave(kept);
    count(&kept_made);
}

void ap_reuse_clear(void)
{
    if (forked_child)
        return;
    for (int set = 0; set < AP_KEPT_SETS; ++set)
        for (int way = 0; way < AP_KEPT_WAYS; ++way) {
            ap_kept *kept = &kept_entries[set][way];
            if (!__atomic_load_n(&kept_tags[set][way], __ATOMIC_RELAXED))
                continue;
            lock_word(&kept->lock);
            release_kept(kept);
            leave(kept);
        }
}

void ap_set_reuse(int32_t mode, int32_t verify)
{
    reusing = mode;
    verifying = verify;
    if (mode == AP_REUSE_OFF)
        ap_reuse_clear();
}

void ap_trust_kept(int32_t on)
{
    trusting = on;
}

void ap_reuse_statistics(ap_reuse_counts *out)
{
    *out = (ap_reuse_counts){.hits = kept_hits, .made = kept_made, .refused = kept_refused};
    for (int set = 0; set < AP_KEPT_SETS; ++set)
        for (int way = 0; way < AP_KEPT_WAYS; ++way)
            out->kept += kept_tags[set][way] && kept_entries[set][way].prepared.executor;
}
