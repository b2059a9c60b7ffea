/* SPDX-License-Identifier: Apache-2.0 */
/* New tensors in one call: memory of the pool, its description, and for a recipe also the launch
   that writes it. Included by the generated source after launch.c.

   All of this is the short way of what Python does in many steps. Whenever a thread has something
   out of the ordinary - an observer, a checker, a capture, memory of its own functions, no stream
   yet, a tensor that is closed - these functions do nothing and return 0, and Python goes the long
   way, which knows what to do or what to say. */
#include "allocator.h"

#define AP_LENT_DEVICES 64

static ap_pool *lent[AP_LENT_DEVICES];
static int watched;
static __thread int capturing;

void ap_lend_pool(int32_t device, ap_pool *pool)
{
    if (device >= 0 && device < AP_LENT_DEVICES)
        __atomic_store_n(&lent[device], pool, __ATOMIC_RELEASE);
}

void ap_set_watched(int32_t on)
{
    __atomic_store_n(&watched, on, __ATOMIC_RELAXED);
}

void ap_set_capturing(int32_t on)
{
    capturing = on;
}

/* The pool that a stream may take from without Python. */
static ap_pool *pool_of(const ap_stream *stream)
{
    if (!stream || stream->closed || forked_child || capturing ||
        __atomic_load_n(&watched, __ATOMIC_RELAXED))
        return NULL;
    if (stream->device < 0 || stream->device >= AP_LENT_DEVICES)
        return NULL;
    return __atomic_load_n(&lent[stream->device], __ATOMIC_ACQUIRE);
}

/* Take memory for a tensor and describe both in `use`; 0 when the pool has none at hand. */
static double take_whole(ap_pool *pool, ap_stream *stream, const ap_layout *layout, ap_use *use)
{
    uint64_t address = layout->nbytes ? ap_pool_take(pool, layout->nbytes, stream, use) : 0;
    if (AP_UNLIKELY(!address))
        return 0;
    use->nbytes = layout->nbytes;
    return ap_describe(&use->whole, layout, address, 0, use);
}

double ap_fresh(double layout, int32_t device, ap_use *use)
{
    ap_stream *stream = current_stream;
    ap_pool *pool = pool_of(stream);
    if (AP_UNLIKELY(!pool || (device >= 0 && stream->device != device)))
        return 0;
    return take_whole(pool, stream, (const ap_layout *)(intptr_t)layout, use);
}

int32_t ap_may_make(void)
{
    const ap_stream *stream = current_stream;
    return pool_of(stream) && stream->device == active_device && !intercepted();
}

ap_learned *ap_learn(ap_learned *into)
{
    ap_learned *before = learning;
    learning = into;
    return before;
}

void ap_learn_end(const ap_learned *inner, ap_learned *before)
{
    learning = before;
    if (!before)
        return;
    uint32_t launches = before->launches + inner->launches;
    if (inner->launches)
        *before = *inner;
    before->launches = launches;
}

void ap_learn_other(void)
{
    if (learning)
        learning->launches += 2;
}

/* Put the tensors that were given, and the new one, into the order of the launch. */
static void arrange(const ap_recipe *recipe, ap_tensor **given, ap_tensor *made,
                    ap_tensor **tensors)
{
    for (uint32_t i = 0; i < recipe->count; ++i) {
        int place = recipe->places[i];
        tensors[i] = place >= 0 ? given[place] : place == AP_PLACE_NEW ? made : NULL;
    }
}

static int same_pattern(const ap_recipe *recipe, ap_tensor **given)
{
    for (uint32_t i = 0; i < recipe->given; ++i)
        if (given[i] != given[recipe->first[i]])
            return 0;
    return 1;
}

double ap_make(const ap_recipe *recipe, ap_use *use, ap_tensor **given)
{
    ap_tensor *tensors[AP_RECIPE_TENSORS];
    ap_stream *stream = current_stream;
    ap_pool *pool = pool_of(stream);
    if (AP_UNLIKELY(!pool || stream->device != active_device || intercepted()))
        return 0;
    if (AP_UNLIKELY(recipe->same) && !same_pattern(recipe, given))
        return 0;
    /* Without the new one first: memory is taken only for a launch that may be made. */
    arrange(recipe, given, NULL, tensors);
    if (AP_UNLIKELY(check_tensors(recipe->call, tensors, stream) != AP_OK))
        return 0;
    double at = take_whole(pool, stream, recipe->layout, use);
    if (AP_UNLIKELY(at == 0))
        return 0;
    arrange(recipe, given, &use->whole, tensors);
    int32_t code = launch_checked(stream, recipe->call, tensors);
    if (AP_LIKELY(code == AP_OK))
        return at;
    if (code == AP_NEED_WORKSPACE)
        ap_abandon(failure.pending);
    else if (code == AP_FAILED && failure.phase > AP_PHASE_ARGUMENT)
        return -at; /* the library has said what is wrong: it is not asked again */
    ap_pool_give(use);
    return 0;
}
