/* SPDX-License-Identifier: Apache-2.0 */
/* Lists of launches in one call. Included by the generated source after launch.c. */

/* A guard is waited for when the launch's turn has come. */
static int32_t unless_guarded(int32_t code)
{
    return code == AP_GUARDED ? AP_OK : code;
}

/* What can be known before is checked before anything is queued; *nbytes is the largest
   workspace. */
static int32_t check_step(const ap_stream *stream, const ap_step *step, uint64_t *nbytes)
{
    if (!step->plan)
        return unless_guarded(check_tensors(step->call, step->tensors, stream));
    lock_word(&step->plan->lock);
    const ap_prepared *p = step->plan->prepared;
    int32_t code = p ? unless_guarded(check_tensors(p->call, p->tensors, stream))
                     : refuse(AP_REASON_PLAN_CLOSED, -1, -1);
    if (p && p->workspace_nbytes > *nbytes)
        *nbytes = p->workspace_nbytes;
    unlock_word(&step->plan->lock);
    return code;
}

static int32_t run_steps(ap_stream *stream, const ap_sequence *sequence, uint32_t *at)
{
    uint64_t nbytes = 0;
    uint32_t start = *at;
    int32_t code = take_stream(&stream);
    if (code != AP_OK)
        return code;
    if (intercepted())
        return AP_INTERCEPTED;
    for (; *at < sequence->count; ++*at) {
        code = check_step(stream, &sequence->steps[*at], &nbytes);
        if (AP_UNLIKELY(code != AP_OK))
            return code;
    }
    for (*at = start; *at < sequence->count; ++*at) {
        const ap_step *step = &sequence->steps[*at];
        code = step->plan ? ap_execute(stream, step->plan, NULL, 0)
                          : ap_launch(stream, step->call, step->tensors);
        if (AP_UNLIKELY(code != AP_OK))
            break;
    }
    if (code == AP_NEED_WORKSPACE && !failure.pending)
        failure.workspace_nbytes = nbytes; /* enough for all of them at once */
    return code;
}

int32_t ap_sequence_run(ap_stream *stream, const ap_sequence *sequence, uint32_t start)
{
    uint32_t at = start;
    int32_t code = run_steps(stream, sequence, &at);
    failure.step = at;
    return code;
}
