/* SPDX-License-Identifier: Apache-2.0 */
/* Replays of captured graphs in one call. Included by the generated source after launch.c. */

int32_t ap_replay(ap_stream *stream, void *graph, ap_use **uses, uint32_t count)
{
    int32_t code = take_stream(&stream);
    if (AP_UNLIKELY(code != AP_OK))
        return code;
    if (AP_UNLIKELY(intercepted()))
        return AP_INTERCEPTED;
    for (uint32_t i = 0; i < count; ++i) {
        code = check_use(uses[i], stream, (int32_t)i, -1);
        if (AP_UNLIKELY(code != AP_OK))
            return code;
    }
    ap_learn_other();
    lock_stream(stream);
    int32_t status = aclmdlRIExecuteAsync(graph, stream->raw);
    /* Also after a failure: part of the work may have been queued. */
    uint64_t sequence = ++stream->sequence;
    stream->recent[sequence % AP_RECENT] = NULL;
    for (uint32_t i = 0; i < count; ++i)
        mark(uses[i], stream->id, sequence);
    unlock_stream(stream);
    return AP_LIKELY(status == 0) ? AP_OK
                                  : fail(AP_PHASE_TWO, status, "aclmdlRIExecuteAsync", -1, -1);
}
