/* SPDX-License-Identifier: Apache-2.0 */
/* Copies through a stream in one call. Included by the generated source after launch.c. */

static int32_t check_side(const ap_use *use, const ap_stream *stream)
{
    /* Host memory has no device, and the other side of a copy may be another device's. */
    if (AP_UNLIKELY(use && use->guard && use->guard != stream->id && !marked(use, stream->id)))
        return AP_GUARDED;
    return AP_OK;
}

/* Not pthread_self(), which another thread gets when this one has ended. */
static uint64_t this_thread(void)
{
    static uint64_t last;
    static __thread uint64_t mine;
    if (AP_UNLIKELY(!mine))
        mine = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
    return mine;
}

void ap_note_done(ap_stream *stream, uint64_t sequence)
{
    if (sequence > __atomic_load_n(&stream->completed, __ATOMIC_RELAXED))
        __atomic_store_n(&stream->completed, sequence, __ATOMIC_RELEASE);
    lock_word(&stream->checking);
    ap_checked *mine = &stream->checked[0];
    /* Of others the one that has come least far makes way. */
    for (int i = 0; i < AP_CHECKED && mine->thread != this_thread(); ++i) {
        ap_checked *entry = &stream->checked[i];
        if (entry->thread == this_thread() || entry->sequence < mine->sequence)
            mine = entry;
    }
    if (mine->thread != this_thread() || mine->sequence < sequence)
        *mine = (ap_checked){this_thread(), sequence};
    unlock_word(&stream->checking);
}

uint64_t ap_checked_here(ap_stream *stream)
{
    uint64_t sequence = 0;
    lock_word(&stream->checking);
    for (int i = 0; i < AP_CHECKED; ++i)
        if (stream->checked[i].thread == this_thread())
            sequence = stream->checked[i].sequence;
    unlock_word(&stream->checking);
    return sequence;
}

int32_t ap_read(const ap_use *use, uint64_t source, uint64_t nbytes, uint64_t target)
{
    ap_stream *stream = current_stream;
    if (AP_UNLIKELY(use->overflow || use->device != active_device || forked_child || intercepted()))
        return AP_UNCERTAIN;
    for (int i = 0; i < AP_MARKS; ++i) {
        const ap_mark *found = &use->marks[i];
        if (found->stream_id && (!stream || found->stream_id != stream->id ||
                                 found->sequence > ap_checked_here(stream)))
            return AP_UNCERTAIN;
    }
    ap_learn_other();
    int32_t status = aclrtMemcpy((void *)(uintptr_t)target, nbytes, (const void *)(uintptr_t)source,
                                 nbytes, ACL_MEMCPY_DEVICE_TO_HOST);
    if (AP_LIKELY(status == 0))
        return AP_OK;
    if (status == AP_UNBOUND)
        return AP_UNCERTAIN; /* Python finds the function */
    return fail(AP_PHASE_TWO, status, "aclrtMemcpy", -1, -1);
}

int32_t ap_indices_within(const ap_use *use, uint64_t source, uint64_t count, int64_t length)
{
    int64_t *indices = malloc(count * sizeof *indices);
    uint64_t outside = 0, extent = (uint64_t)length;
    int32_t code = indices
                       ? ap_read(use, source, count * sizeof *indices, (uint64_t)(uintptr_t)indices)
                       : AP_UNCERTAIN;
    if (AP_UNLIKELY(code != AP_OK)) {
        free(indices);
        return code;
    }
    /* The sign of one of the two tells, also where it is the sum that went around. */
    for (uint64_t i = 0; i < count; ++i) {
        uint64_t at = (uint64_t)indices[i];
        outside |= (at + extent) | (extent - 1 - at);
    }
    free(indices);
    return outside >> 63 ? AP_UNCERTAIN : AP_OK;
}

int64_t ap_copy(ap_stream *stream, uint64_t target, uint64_t source, uint64_t nbytes, int32_t kind,
                ap_use *one, ap_use *other)
{
    int32_t code = take_stream(&stream);
    if (AP_LIKELY(code == AP_OK))
        code = check_side(one, stream);
    if (AP_LIKELY(code == AP_OK))
        code = check_side(other, stream);
    if (AP_UNLIKELY(code != AP_OK))
        return -code;
    ap_learn_other();
    lock_stream(stream);
    int32_t status =
        aclrtMemcpyAsync((void *)(uintptr_t)target, nbytes, (const void *)(uintptr_t)source, nbytes,
                         (aclrtMemcpyKind)kind, stream->raw);
    int64_t sequence = -AP_FAILED;
    if (AP_LIKELY(status == 0)) {
        sequence = (int64_t)++stream->sequence;
        stream->recent[stream->sequence % AP_RECENT] = NULL;
        mark(one, stream->id, stream->sequence);
        if (other)
            mark(other, stream->id, stream->sequence);
    }
    unlock_stream(stream);
    if (AP_UNLIKELY(status != 0))
        fail(AP_PHASE_TWO, status, "aclrtMemcpyAsync", -1, -1);
    return sequence;
}
