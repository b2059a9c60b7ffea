/* SPDX-License-Identifier: Apache-2.0 */
/* The allocator without Python: pairs of take and give in a loop, and of malloc and free. */
#include "allocator.c"

#include <stdlib.h>

ap_stream *ap_current_stream(void)
{
    return NULL;
}

int32_t ap_forked(void)
{
    return 0;
}

/* Every pair but the first is a hit. */
int pool_pairs(long count, uint64_t nbytes)
{
    static ap_pool *pool;
    ap_use use = {0};
    uint64_t segment = nbytes + (2u << 20);
    if (!pool) {
        pool = ap_pool_create(0);
        if (!pool)
            return 1;
    }
    if (!ap_pool_take(pool, nbytes, NULL, &use)) {
        void *memory = malloc(segment);
        if (!memory || !ap_pool_reserve(pool, segment) ||
            !ap_pool_grow(pool, (uint64_t)(uintptr_t)memory, segment, nbytes, &use))
            return 1;
    }
    ap_pool_give(&use);
    while (--count > 0) {
        if (!ap_pool_take(pool, nbytes, NULL, &use))
            return 1;
        ap_pool_give(&use);
    }
    return 0;
}

int malloc_pairs(long count, uint64_t nbytes)
{
    while (count-- > 0) {
        void *volatile memory = malloc(nbytes);
        if (!memory)
            return 1;
        free(memory);
    }
    return 0;
}
