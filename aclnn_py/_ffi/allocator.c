/* SPDX-License-Identifier: Apache-2.0 */
/* Stream-ordered pools: segments of device memory, cut into blocks, kept in free lists by size.

   A free block stands on a shelf. The shelf of a stream holds blocks that this stream may still
   work on: a block taken by the same stream needs no wait, because the stream executes in order.
   The shelf without a stream holds what nobody works on. Blocks move from the first to the second
   when the stream's progress is known (ap_stream.completed).

   A captured stream runs again with every replay. What was taken for its work belongs to its graph
   (`keeper`) until the graph goes: it stands on the shelf of the captured stream while that is
   captured, and on the keeper's afterwards, where another graph of the same keeper finds it.

   Nothing here calls Python or the device. The lock is held for a few dozen instructions, by
   threads that do not hold the interpreter's lock, so a finalizer can never run under it. */
#include "allocator.h"

#include "free_lists.h"

#include <pthread.h>

/* One lock for all pools: blocks move between them, and it is never held for long. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static ap_pool *pools;

uint64_t ap_block_nbytes(uint64_t nbytes)
{
    return block_nbytes(nbytes);
}

/* ---- blocks ------------------------------------------------------------------------ */

/* Cut off what the request does not need, from a block that was just taken off its shelf; the rest
   goes back there. Without memory for the bookkeeping the block stays whole. */
static void split(ap_pool *pool, chunk *block, uint64_t nbytes, shelf *place)
{
    uint64_t least = block->home->large ? LARGE_REST : GRANULE;
    if (block->nbytes - nbytes < least)
        return;
    chunk *rest = chunk_new(pool);
    if (!rest)
        return;
    rest->address = block->address + nbytes;
    rest->nbytes = block->nbytes - nbytes;
    rest->home = block->home;
    rest->keeper = block->keeper;
    rest->left = block;
    rest->right = block->right;
    if (rest->right)
        rest->right->left = rest;
    block->right = rest;
    block->nbytes = nbytes;
    put(place, rest, block->sequence);
}

static void count_in(ap_pool *pool, uint64_t asked, uint64_t nbytes)
{
    ap_pool_stats *stats = &pool->stats;
    ap_size_class *size = &stats->classes[class_of(asked)];
    size->live += 1;
    size->live_nbytes += asked;
    size->total += 1;
    stats->blocks += 1;
    stats->requested_nbytes += asked;
    stats->allocated_nbytes += nbytes;
    if (stats->allocated_nbytes > stats->allocated_peak_nbytes)
        stats->allocated_peak_nbytes = stats->allocated_nbytes;
}

static void count_out(ap_pool *pool, uint64_t asked, uint64_t nbytes)
{
    ap_pool_stats *stats = &pool->stats;
    ap_size_class *size = &stats->classes[class_of(asked)];
    size->live -= 1;
    size->live_nbytes -= asked;
    stats->blocks -= 1;
    stats->requested_nbytes -= asked;
    stats->allocated_nbytes -= nbytes;
}

static uint64_t hand_out(ap_pool *pool, chunk *block, uint64_t asked, uint64_t nbytes, ap_use *use)
{
    shelf *place = block->place;
    ap_stream *stream = place->stream;
    if (stream && !passed(block)) {
        /* Whoever waits for the work on the new owner waits for this as well; other streams have
           to. */
        use->marks[0].stream_id = stream->id;
        use->marks[0].sequence = block->sequence;
        use->guard = stream->id;
    }
    pull(block);
    split(pool, block, nbytes, place);
    block->asked = asked;
    use->chunk = block;
    use->device = pool->device;
    count_in(pool, asked, block->nbytes);
    return block->address;
}

static chunk *search(ap_pool *pool, shelf *own, uint64_t nbytes)
{
    int large = is_large(nbytes);
    chunk *block = own ? find(&own->sizes[large], nbytes) : NULL;
    if (block && block->nbytes == nbytes)
        return block;
    chunk *idle = find(&pool->idle.sizes[large], nbytes);
    return idle && (!block || idle->nbytes < block->nbytes) ? idle : block;
}

uint64_t ap_pool_take(ap_pool *pool, uint64_t nbytes, ap_stream *stream, ap_use *use)
{
    uint64_t wanted = block_nbytes(nbytes), address = 0;
    if (wanted < nbytes)
        return 0;
    pthread_mutex_lock(&lock);
    shelf *own = stream && stream->device == pool->device ? shelf_of(pool, stream->id) : NULL;
    chunk *block = search(pool, own, wanted);
    if (!block && collect(pool))
        block = search(pool, own, wanted);
    if (!block && own && absorb(pool, own, is_large(wanted)))
        block = search(pool, own, wanted);
    if (block) {
        pool->stats.hits += 1;
        address = hand_out(pool, block, nbytes, wanted, use);
    }
    pthread_mutex_unlock(&lock);
    return address;
}

uint64_t ap_pool_take_current(ap_pool *pool, uint64_t nbytes, ap_use *use)
{
    return ap_pool_take(pool, nbytes, ap_current_stream(), use);
}

static void keep(ap_use *use, ap_stream *stream, ap_stream *keeper)
{
    chunk *block = use->chunk;
    block->keeper = keeper;
    /* Whoever uses the block elsewhere has to mind the replays, whether captured work touches it or
       not. */
    use->marks[0].stream_id = stream->id;
    use->marks[0].sequence = stream->sequence + 1;
    use->guard = 0;
}

uint64_t ap_pool_take_captured(ap_pool *pool, uint64_t nbytes, ap_stream *stream, ap_stream *keeper,
                               ap_use *use)
{
    uint64_t wanted = block_nbytes(nbytes), address = 0;
    if (wanted < nbytes)
        return 0;
    pthread_mutex_lock(&lock);
    collect(pool);
    shelf *places[] = {shelf_of(pool, stream->id), shelf_of(pool, keeper->id), &pool->idle};
    chunk *block = NULL;
    for (int i = 0; i < 3 && !block; ++i)
        block = places[i] ? find(&places[i]->sizes[is_large(wanted)], wanted) : NULL;
    if (block) {
        pool->stats.hits += 1;
        address = hand_out(pool, block, nbytes, wanted, use);
        keep(use, stream, keeper);
    }
    pthread_mutex_unlock(&lock);
    return address;
}

void ap_pool_keep(ap_use *use, ap_stream *stream, ap_stream *keeper)
{
    pthread_mutex_lock(&lock);
    keep(use, stream, keeper);
    pthread_mutex_unlock(&lock);
}

/* The shelf of a block that no stream works on; null without memory for it. */
static shelf *resting_place(ap_pool *pool, chunk *block)
{
    return block->keeper ? shelf_for(pool, block->keeper) : &pool->idle;
}

int32_t ap_pool_give_to(ap_use *use, ap_stream *stream, uint64_t sequence)
{
    pthread_mutex_lock(&lock);
    chunk *block = use->chunk;
    int32_t code = AP_NOT_POOLED;
    if (block) {
        ap_pool *pool = block->home->pool;
        if (stream && sequence <= __atomic_load_n(&stream->completed, __ATOMIC_ACQUIRE))
            stream = NULL;
        shelf *place = stream ? shelf_for(pool, stream) : resting_place(pool, block);
        code = AP_NO_HOST_MEMORY;
        if (place) {
            use->chunk = NULL;
            count_out(pool, block->asked, block->nbytes);
            settle(pool, place, block, stream ? sequence : place->stream ? 1 : 0);
            code = AP_GIVEN;
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

int32_t ap_pool_give(ap_use *use)
{
    if (ap_forked())
        return AP_GIVEN; /* it belongs to the parent, and so may the lock */
    __atomic_store_n(&use->closed, 1, __ATOMIC_RELEASE);
    if (__atomic_load_n(&use->overflow, __ATOMIC_RELAXED))
        return use->chunk ? AP_BUSY : AP_NOT_POOLED;
    pthread_mutex_lock(&lock);
    chunk *block = use->chunk;
    int32_t code = AP_NOT_POOLED;
    if (block && block->keeper) {
        code = AP_BUSY; /* which of its marks are those of graphs, the caller knows */
    } else if (block) {
        ap_pool *pool = block->home->pool;
        shelf *place = &pool->idle;
        uint64_t sequence = 0;
        code = AP_GIVEN;
        for (int i = 0; i < AP_MARKS && code == AP_GIVEN; ++i) {
            uint64_t id = __atomic_load_n(&use->marks[i].stream_id, __ATOMIC_ACQUIRE);
            if (!id)
                continue;
            uint64_t at = __atomic_load_n(&use->marks[i].sequence, __ATOMIC_ACQUIRE);
            shelf *worker = shelf_of(pool, id);
            if (!worker || (at > __atomic_load_n(&worker->stream->completed, __ATOMIC_ACQUIRE) &&
                            place->stream))
                code = AP_BUSY;
            else if (at > worker->stream->completed)
                place = worker, sequence = at;
        }
        if (code == AP_GIVEN) {
            use->chunk = NULL;
            count_out(pool, block->asked, block->nbytes);
            settle(pool, place, block, sequence);
        }
    }
    pthread_mutex_unlock(&lock);
    return code;
}

/* ---- segments ---------------------------------------------------------------------- */

int32_t ap_pool_reserve(ap_pool *pool, uint64_t nbytes)
{
    ap_pool_stats *stats = &pool->stats;
    pthread_mutex_lock(&lock);
    int32_t fits =
        stats->limit_nbytes == 0 ||
        (nbytes <= stats->limit_nbytes && stats->reserved_nbytes <= stats->limit_nbytes - nbytes);
    if (fits)
        stats->reserved_nbytes += nbytes;
    pthread_mutex_unlock(&lock);
    return fits;
}

void ap_pool_unreserve(ap_pool *pool, uint64_t nbytes)
{
    pthread_mutex_lock(&lock);
    pool->stats.reserved_nbytes -= nbytes;
    pthread_mutex_unlock(&lock);
}

/* The peak counts what the device has really given. */
static void count_raw(ap_pool *pool)
{
    ap_pool_stats *stats = &pool->stats;
    stats->misses += 1;
    stats->raw_allocations += 1;
    if (stats->reserved_nbytes > stats->reserved_peak_nbytes)
        stats->reserved_peak_nbytes = stats->reserved_nbytes;
}

uint64_t ap_pool_grow(ap_pool *pool, uint64_t address, uint64_t segment_nbytes, uint64_t nbytes,
                      ap_use *use)
{
    uint64_t wanted = block_nbytes(nbytes), taken = 0;
    segment *home = calloc(1, sizeof *home);
    pthread_mutex_lock(&lock);
    chunk *block = home ? chunk_new(pool) : NULL;
    if (block) {
        home->nbytes = segment_nbytes;
        home->pool = pool;
        home->first = block;
        home->large = is_large(wanted);
        home->next = pool->segments;
        if (home->next)
            home->next->previous = home;
        pool->segments = home;
        block->address = address;
        block->nbytes = segment_nbytes;
        block->home = home;
        put(&pool->idle, block, 0);
        pool->stats.segments += 1;
        count_raw(pool);
        taken = hand_out(pool, block, nbytes, wanted, use);
    }
    pthread_mutex_unlock(&lock);
    if (!block)
        free(home);
    return taken;
}

uint32_t ap_pool_shrink(ap_pool *pool, uint64_t *addresses, uint32_t room)
{
    uint32_t count = 0;
    pthread_mutex_lock(&lock);
    collect(pool);
    for (segment *home = pool->segments, *next; home && count < room; home = next) {
        chunk *block = home->first;
        next = home->next;
        if (block->right || block->place != &pool->idle)
            continue;
        addresses[count++] = block->address;
        pull(block);
        drop(pool, block);
        if (home->next)
            home->next->previous = home->previous;
        if (home->previous)
            home->previous->next = home->next;
        else
            pool->segments = home->next;
        pool->stats.reserved_nbytes -= home->nbytes;
        pool->stats.segments -= 1;
        pool->stats.raw_frees += 1;
        free(home);
    }
    pthread_mutex_unlock(&lock);
    return count;
}

void ap_pool_count(ap_pool *pool, uint64_t nbytes)
{
    pthread_mutex_lock(&lock);
    count_raw(pool);
    count_in(pool, nbytes, nbytes);
    pthread_mutex_unlock(&lock);
}

void ap_pool_uncount(ap_pool *pool, uint64_t nbytes)
{
    pthread_mutex_lock(&lock);
    count_out(pool, nbytes, nbytes);
    pool->stats.reserved_nbytes -= nbytes;
    pool->stats.raw_frees += 1;
    pthread_mutex_unlock(&lock);
}

/* ---- pools ------------------------------------------------------------------------- */

ap_pool *ap_pool_create(int32_t device)
{
    ap_pool *pool = calloc(1, sizeof *pool);
    if (!pool)
        return NULL;
    pool->device = device;
    pthread_mutex_lock(&lock);
    pool->next = pools;
    pools = pool;
    pthread_mutex_unlock(&lock);
    return pool;
}

/* Take a shelf that is not the first out of its pool; its blocks have gone elsewhere. */
static void remove_shelf(ap_pool *pool, shelf *gone)
{
    for (shelf *s = &pool->idle; s->next; s = s->next)
        if (s->next == gone) {
            s->next = gone->next;
            free(gone);
            return;
        }
}

/* Move the blocks of a shelf to another one, and take it out of its pool. */
static void empty_shelf(ap_pool *pool, shelf *gone, shelf *place, uint64_t sequence)
{
    for (segment *home = pool->segments; home; home = home->next)
        for (chunk *block = home->first, *right; block; block = right) {
            right = block->right;
            if (block->place != gone)
                continue;
            /* The right neighbour may be joined to this one and vanish. */
            if (right && right->place == place)
                right = right->right;
            pull(block);
            settle(pool, place, block, sequence);
        }
    remove_shelf(pool, gone);
}

void ap_pools_forget(ap_stream *stream)
{
    pthread_mutex_lock(&lock);
    for (ap_pool *pool = pools; pool; pool = pool->next) {
        shelf *gone = shelf_of(pool, stream->id);
        if (gone)
            empty_shelf(pool, gone, &pool->idle, 0);
    }
    pthread_mutex_unlock(&lock);
}

void ap_pools_keep(ap_stream *stream, ap_stream *keeper)
{
    pthread_mutex_lock(&lock);
    for (ap_pool *pool = pools; pool; pool = pool->next) {
        shelf *gone = shelf_of(pool, stream->id);
        shelf *place = gone ? shelf_of(pool, keeper->id) : NULL;
        if (gone && place) {
            empty_shelf(pool, gone, place, 1);
        } else if (gone) {
            /* No room is needed for a shelf that only changes hands, so this cannot fail. */
            gone->stream = keeper;
            gone->collected = 0;
        }
    }
    pthread_mutex_unlock(&lock);
}

void ap_pools_release(ap_stream *keeper)
{
    pthread_mutex_lock(&lock);
    for (ap_pool *pool = pools; pool; pool = pool->next) {
        for (segment *home = pool->segments; home; home = home->next)
            for (chunk *block = home->first; block; block = block->right)
                if (block->keeper == keeper)
                    block->keeper = NULL;
        shelf *gone = shelf_of(pool, keeper->id);
        if (gone)
            empty_shelf(pool, gone, &pool->idle, 0);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- statistics -------------------------------------------------------------------- */

void ap_pool_limit(ap_pool *pool, uint64_t nbytes)
{
    pthread_mutex_lock(&lock);
    pool->stats.limit_nbytes = nbytes;
    pthread_mutex_unlock(&lock);
}

void ap_pool_read(ap_pool *pool, ap_pool_stats *stats)
{
    pthread_mutex_lock(&lock);
    collect(pool);
    *stats = pool->stats;
    stats->largest_free_nbytes = 0;
    for (segment *home = pool->segments; home; home = home->next)
        for (chunk *block = home->first; block; block = block->right)
            if (block->place && block->nbytes > stats->largest_free_nbytes)
                stats->largest_free_nbytes = block->nbytes;
    pthread_mutex_unlock(&lock);
}

void ap_pool_reset_peaks(ap_pool *pool)
{
    pthread_mutex_lock(&lock);
    pool->stats.allocated_peak_nbytes = pool->stats.allocated_nbytes;
    pool->stats.reserved_peak_nbytes = pool->stats.reserved_nbytes;
    pthread_mutex_unlock(&lock);
}
