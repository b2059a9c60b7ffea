/* SPDX-License-Identifier: Apache-2.0 */
/* Captured launches that are made again with other arguments. Included by the generated source
   after launch.c. */

void ap_updates_discard(ap_update *updates, uint32_t count)
{
    for (uint32_t i = 0; i < count; ++i) {
        ap_update *u = &updates[i];
        if (!u->ready || forked_child)
            continue;
        u->ready = 0;
        destroy_objects(&u->prepared, destroy_executor(&u->prepared, AP_FAILED));
    }
}

int32_t ap_updates_prepare(ap_stream *stream, ap_update *updates, uint32_t count)
{
    int32_t code = take_stream(&stream);
    uint32_t at = 0;
    ap_updates_discard(updates, count); /* what an exchange left that was given up in between */
    for (; at < count && code == AP_OK; ++at) {
        ap_update *u = &updates[at];
        if (!u->chosen)
            continue;
        code = check_tensors(u->call, u->tensors, stream);
        /* Nothing is queued yet: nobody has to wait. */
        if (AP_LIKELY(code == AP_OK || code == AP_GUARDED))
            code = phase_one(&u->prepared, u->call, u->tensors);
        u->ready = code == AP_OK;
    }
    if (AP_UNLIKELY(code != AP_OK)) {
        ap_failure first = failure; /* releasing the others leaves it as it is */
        ap_updates_discard(updates, at);
        failure = first;
        failure.step = at ? at - 1 : 0;
    }
    return code;
}

/* What can be set right is found before the group is opened. */
static int32_t check_update(ap_stream *stream, const ap_update *u)
{
    const ap_prepared *p = &u->prepared;
    u->recording->raw = stream->raw;
    int32_t code = check_tensors(p->call, p->tensors, u->recording);
    if (AP_LIKELY(code == AP_OK) && p->workspace_nbytes > u->recording->workspace_nbytes) {
        failure = (ap_failure){.workspace_nbytes = p->workspace_nbytes};
        code = AP_NEED_WORKSPACE;
    }
    return code;
}

/* The group is closed whatever happens in it; the first failure is told. */
static int32_t run_update(ap_stream *stream, ap_update *u)
{
    ap_prepared *p = &u->prepared;
    int32_t code = AP_OK;
    int32_t status = aclmdlRICaptureTaskUpdateBegin(stream->raw, u->group);
    if (AP_UNLIKELY(status != 0))
        return fail(AP_PHASE_UPDATE, status, "aclmdlRICaptureTaskUpdateBegin", -1, -1);
    lock_stream(u->recording);
    code = phase_two(u->recording, p, p->workspace_nbytes ? u->recording->workspace : NULL,
                     p->workspace_nbytes);
    unlock_stream(u->recording);
    u->ready = 0;
    code = destroy_objects(p, code);
    status = aclmdlRICaptureTaskUpdateEnd(stream->raw);
    if (AP_UNLIKELY(status != 0) && code == AP_OK)
        code = fail(AP_PHASE_UPDATE, status, "aclmdlRICaptureTaskUpdateEnd", -1, -1);
    return code;
}

int32_t ap_updates_run(ap_stream *stream, ap_update *updates, uint32_t count, uint32_t start)
{
    int32_t code = take_stream(&stream);
    uint32_t at = start;
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    for (; at < count; ++at) {
        if (!updates[at].chosen)
            continue;
        code = check_update(stream, &updates[at]);
        if (AP_LIKELY(code == AP_OK))
            code = run_update(stream, &updates[at]);
        if (AP_UNLIKELY(code != AP_OK))
            break;
    }
    failure.step = at;
    return code;
}
