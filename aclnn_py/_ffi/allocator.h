/* SPDX-License-Identifier: Apache-2.0 */
// clang-format Language: C
/* Stream-ordered pools of device or pinned memory. Read by cffi (lines with # are dropped) and by
   the C compiler. */
#ifndef ACLNN_PY_ALLOCATOR_H
#define ACLNN_PY_ALLOCATOR_H

#include "launch.h"

#define AP_SIZE_CLASSES 48

/* What ap_pool_give returns. */
#define AP_GIVEN 0
#define AP_BUSY 1
#define AP_NOT_POOLED 2
#define AP_NO_HOST_MEMORY 3

typedef struct ap_pool ap_pool;

/* Blocks of one power of two: class N holds sizes in (2^(N-1), 2^N] bytes, as they were asked
   for. */
typedef struct {
    uint64_t live;
    uint64_t live_nbytes;
    uint64_t total;
} ap_size_class;

typedef struct {
    uint64_t requested_nbytes;
    uint64_t allocated_nbytes;
    uint64_t allocated_peak_nbytes;
    uint64_t reserved_nbytes;
    uint64_t reserved_peak_nbytes;
    uint64_t largest_free_nbytes;
    uint64_t limit_nbytes;
    uint64_t blocks;
    uint64_t segments;
    uint64_t hits;
    uint64_t misses;
    uint64_t raw_allocations;
    uint64_t raw_frees;
    ap_size_class classes[48];
} ap_pool_stats;

/* A pool lives as long as the process: streams and blocks refer to it until the end. */
ap_pool *ap_pool_create(int32_t device);

/* Take a block for `use`, from what `stream` or nobody still works on. Gives its address, 0 when
   there is none. A null stream is for memory the host touches first: only what nobody works on. */
uint64_t ap_pool_take(ap_pool *pool, uint64_t nbytes, ap_stream *stream, ap_use *use);
/* The same for the current stream of this thread. */
uint64_t ap_pool_take_current(ap_pool *pool, uint64_t nbytes, ap_use *use);
/* Take a block for work that `stream` captures, from what its graphs keep or nobody works on; it is
   kept from then on. `keeper` stands for the graphs that share memory: it numbers no work, and
   nothing on its shelf is ever passed. */
uint64_t ap_pool_take_captured(ap_pool *pool, uint64_t nbytes, ap_stream *stream, ap_stream *keeper,
                               ap_use *use);
/* Keep a block that was taken otherwise. */
void ap_pool_keep(ap_use *use, ap_stream *stream, ap_stream *keeper);
/* Give a block back and close `use`; nothing happens in a forked child. AP_BUSY: a stream the pool
   does not know, or several, may still work on it. */
int32_t ap_pool_give(ap_use *use);
/* Give back a block on which `stream` works up to `sequence`; null: nobody does, or only graphs
   that keep it. */
int32_t ap_pool_give_to(ap_use *use, ap_stream *stream, uint64_t sequence);

/* Let ap_fresh and ap_make take from a pool; null: from none for that device. */
void ap_lend_pool(int32_t device, ap_pool *pool);

/* How much a block of this size takes of its segment. */
uint64_t ap_block_nbytes(uint64_t nbytes);
/* Count memory against the limit before asking the device for it; 0 when the limit forbids. Undone
   by unreserve. */
int32_t ap_pool_reserve(ap_pool *pool, uint64_t nbytes);
void ap_pool_unreserve(ap_pool *pool, uint64_t nbytes);
/* Add reserved memory that the device gave, and take a block of it before anybody else can. */
uint64_t ap_pool_grow(ap_pool *pool, uint64_t address, uint64_t segment_nbytes, uint64_t nbytes,
                      ap_use *use);
/* Take up to `room` segments without any block in use, and on which nobody works, out of the
   pool. */
uint32_t ap_pool_shrink(ap_pool *pool, uint64_t *addresses, uint32_t room);
/* Count a reserved block that is its own segment; and forget it. */
void ap_pool_count(ap_pool *pool, uint64_t nbytes);
void ap_pool_uncount(ap_pool *pool, uint64_t nbytes);

/* The stream has executed everything and goes: what was its own is anybody's. */
void ap_pools_forget(ap_stream *stream);
/* A captured stream goes: what it left belongs to the graphs of `keeper`. */
void ap_pools_keep(ap_stream *stream, ap_stream *keeper);
/* The last graph of `keeper` goes: what they kept is anybody's. */
void ap_pools_release(ap_stream *keeper);

void ap_pool_limit(ap_pool *pool, uint64_t nbytes);
void ap_pool_read(ap_pool *pool, ap_pool_stats *stats);
void ap_pool_reset_peaks(ap_pool *pool);

#endif
