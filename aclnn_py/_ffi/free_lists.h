/* SPDX-License-Identifier: Apache-2.0 */
// clang-format Language: C
/* The inside of a pool: blocks, their neighbours in a segment, and the free lists they stand in.
   Only allocator.c includes this, and calls it under its lock. */
#ifndef ACLNN_PY_FREE_LISTS_H
#define ACLNN_PY_FREE_LISTS_H

#include "allocator.h"

#include <stdlib.h>
#include <string.h>

/* CANN: a block has 32 bytes behind its length, which is rounded up to 32. Devices start one at 512
   bytes, and programs rely on that. */
#define GRANULE 512u
#define TAIL 32u
/* Small and large blocks live in segments of their own, so that a small one never pins a large
   one's segment. */
#define SMALL_MOST (1u << 20)
/* A rest smaller than this stays with a block of a large segment. */
#define LARGE_REST (64u << 10)
/* Free lists: 16 per power of two, below 8 KiB one per granule. */
#define LEVELS 40
#define STEPS 16
#define FIRST_POWER 13 /* of STEPS * GRANULE */
/* How many blocks of the list that may or may not fit are looked at. */
#define LOOK 16

typedef struct chunk chunk;
typedef struct segment segment;
typedef struct shelf shelf;

typedef struct {
    uint64_t levels;
    uint32_t steps[LEVELS];
    chunk *heads[LEVELS][STEPS];
} bins;

struct shelf {
    ap_stream *stream; /* null: nobody works on it */
    shelf *next;
    uint64_t collected; /* progress of the stream when its blocks were looked through */
    bins sizes[2];      /* small, large */
};

struct chunk {
    uint64_t address;
    uint64_t nbytes;
    uint64_t asked;
    uint64_t sequence; /* last work of the shelf's stream on it */
    segment *home;
    chunk *left, *right;    /* neighbours in the segment */
    chunk *next, *previous; /* in the free list */
    shelf *place;           /* null: in use */
    /* whose graphs the block belongs to, free or in use; null: it is anybody's */
    ap_stream *keeper;
};

struct segment {
    uint64_t nbytes;
    ap_pool *pool;
    chunk *first;
    segment *next, *previous;
    int large;
};

struct ap_pool {
    int32_t device;
    ap_pool *next;
    shelf idle;
    segment *segments;
    chunk *spare; /* chunk structures for the next split */
    ap_pool_stats stats;
};

/* ---- sizes ------------------------------------------------------------------------- */

static uint64_t round_up(uint64_t value, uint64_t granule)
{
    return (value + granule - 1) / granule * granule;
}

static uint64_t block_nbytes(uint64_t nbytes)
{
    return round_up(round_up(nbytes, 32) + TAIL, GRANULE);
}

static int is_large(uint64_t nbytes)
{
    return nbytes > SMALL_MOST;
}

static int log2_of(uint64_t value)
{
    return 63 - __builtin_clzll(value);
}

/* The list a block of this size is put in. */
static void list_of(uint64_t nbytes, int *level, int *step)
{
    if (nbytes < STEPS * GRANULE) {
        *level = 0;
        *step = (int)(nbytes / GRANULE);
        return;
    }
    int power = log2_of(nbytes);
    *level = power - FIRST_POWER + 1;
    *step = (int)(nbytes >> (power - 4)) & (STEPS - 1);
    if (*level >= LEVELS)
        *level = LEVELS - 1, *step = STEPS - 1;
}

static int class_of(uint64_t nbytes)
{
    int power = nbytes <= 1 ? 0 : log2_of(nbytes - 1) + 1;
    return power < AP_SIZE_CLASSES ? power : AP_SIZE_CLASSES - 1;
}

/* ---- free lists -------------------------------------------------------------------- */

static void put(shelf *place, chunk *block, uint64_t sequence)
{
    int level, step;
    bins *b = &place->sizes[block->home->large];
    list_of(block->nbytes, &level, &step);
    block->place = place;
    block->sequence = sequence;
    block->previous = NULL;
    block->next = b->heads[level][step];
    if (block->next)
        block->next->previous = block;
    b->heads[level][step] = block;
    b->steps[level] |= 1u << step;
    b->levels |= 1ull << level;
}

static void pull(chunk *block)
{
    int level, step;
    bins *b = &block->place->sizes[block->home->large];
    list_of(block->nbytes, &level, &step);
    if (block->next)
        block->next->previous = block->previous;
    if (block->previous)
        block->previous->next = block->next;
    else if (!(b->heads[level][step] = block->next) && !(b->steps[level] &= ~(1u << step)))
        b->levels &= ~(1ull << level);
    block->place = NULL;
}

/* The first block of the list this size belongs to that is long enough, else the head of the next
   list that is not empty: all in that one are. */
static chunk *find(const bins *b, uint64_t nbytes)
{
    int level, step;
    list_of(nbytes, &level, &step);
    chunk *block = b->heads[level][step];
    for (int i = 0; block && i < LOOK; ++i, block = block->next)
        if (block->nbytes >= nbytes)
            return block;
    uint32_t steps = step + 1 < STEPS ? b->steps[level] & (~0u << (step + 1)) : 0;
    if (!steps) {
        uint64_t levels = level + 1 < LEVELS ? b->levels & (~0ull << (level + 1)) : 0;
        if (!levels)
            return NULL;
        level = __builtin_ctzll(levels);
        steps = b->steps[level];
    }
    block = b->heads[level][__builtin_ctz(steps)];
    while (block && block->nbytes < nbytes) /* only the last list of all has no upper end */
        block = block->next;
    return block;
}

static shelf *shelf_of(ap_pool *pool, uint64_t stream_id)
{
    for (shelf *s = pool->idle.next; s; s = s->next)
        if (s->stream->id == stream_id)
            return s;
    return NULL;
}

static shelf *shelf_for(ap_pool *pool, ap_stream *stream)
{
    shelf *found = shelf_of(pool, stream->id);
    if (found || !(found = calloc(1, sizeof *found)))
        return found;
    found->stream = stream;
    found->next = pool->idle.next;
    pool->idle.next = found;
    return found;
}

static int passed(const chunk *block)
{
    const ap_stream *stream = block->place->stream;
    return !stream || block->sequence <= __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE);
}

/* ---- neighbours -------------------------------------------------------------------- */

static void drop(ap_pool *pool, chunk *block)
{
    block->next = pool->spare;
    pool->spare = block;
}

/* Join two free neighbours, neither of them in a list. */
static chunk *join(ap_pool *pool, chunk *left, chunk *right)
{
    left->nbytes += right->nbytes;
    left->right = right->right;
    if (left->right)
        left->right->left = left;
    drop(pool, right);
    return left;
}

/* Put a block on a shelf, together with its neighbours that stand there. */
static void settle(ap_pool *pool, shelf *place, chunk *block, uint64_t sequence)
{
    chunk *left = block->left, *right = block->right;
    if (left && left->place == place) {
        if (left->sequence > sequence)
            sequence = left->sequence;
        pull(left);
        block = join(pool, left, block);
    }
    if (right && right->place == place) {
        if (right->sequence > sequence)
            sequence = right->sequence;
        pull(right);
        join(pool, block, right);
    }
    put(place, block, sequence);
}

/* Move what streams have passed to the shelf of nobody; whether anything moved. */
static int collect(ap_pool *pool)
{
    int progress = 0, moved = 0;
    for (shelf *s = pool->idle.next; s; s = s->next) {
        uint64_t completed = __atomic_load_n(&s->stream->completed, __ATOMIC_ACQUIRE);
        progress |= completed != s->collected;
        s->collected = completed;
    }
    if (!progress)
        return 0;
    for (segment *home = pool->segments; home; home = home->next)
        for (chunk *block = home->first, *right; block; block = right) {
            right = block->right;
            if (!block->place || !block->place->stream || !passed(block))
                continue;
            /* The right neighbour may be joined to this one and vanish. */
            if (right && right->place == &pool->idle)
                right = right->right;
            pull(block);
            settle(pool, &pool->idle, block, 0);
            moved = 1;
        }
    return moved;
}

/* Let a stream's free blocks take in the free neighbours that nobody works on; whether any were. */
static int absorb(ap_pool *pool, shelf *place, int large)
{
    int moved = 0;
    for (segment *home = pool->segments; home; home = home->next) {
        if (home->large != large)
            continue;
        for (chunk *block = home->first; block;) {
            chunk *right = block->right;
            if (right && ((block->place == place && right->place == &pool->idle) ||
                          (block->place == &pool->idle && right->place == place))) {
                uint64_t sequence = block->place == place ? block->sequence : right->sequence;
                pull(right);
                pull(block);
                put(place, join(pool, block, right), sequence);
                moved = 1;
            } else {
                block = right;
            }
        }
    }
    return moved;
}

static chunk *chunk_new(ap_pool *pool)
{
    chunk *block = pool->spare;
    if (!block)
        return calloc(1, sizeof *block);
    pool->spare = block->next;
    memset(block, 0, sizeof *block);
    return block;
}

#endif
