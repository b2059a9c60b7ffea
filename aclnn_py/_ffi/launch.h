/* SPDX-License-Identifier: Apache-2.0 */
// clang-format Language: C
/* Operator launches in one C call. Read by cffi (lines with # are dropped) and by the C
   compiler. */
#ifndef ACLNN_PY_LAUNCH_H
#define ACLNN_PY_LAUNCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define AP_MAX_RANK 10
#define AP_MAX_STORAGE_RANK 12
#define AP_MAX_PARAMETERS 64
#define AP_MARKS 4
#define AP_RECENT 64
#define AP_CHECKED 4
#define AP_FAULTS 16
#define AP_RECIPE_TENSORS 16

/* Kinds of operator parameters, as they stand in ap_op.kinds: one letter per parameter. */
#define AP_TENSOR 84
#define AP_TENSOR_LIST 76
#define AP_SCALAR 83
#define AP_SCALAR_LIST 82
#define AP_INT_ARRAY 73
#define AP_FLOAT_ARRAY 70
#define AP_BOOL_ARRAY 66
#define AP_STRING 115
#define AP_DTYPE 121
#define AP_BOOL 63
#define AP_INT8 98
#define AP_INT32 105
#define AP_UINT32 117
#define AP_INT64 108
#define AP_UINT64 113
#define AP_FLOAT 102
#define AP_DOUBLE 100

/* What a launch returns. ap_last_failure() of the same thread holds the rest. */
#define AP_OK 0
#define AP_FAILED 1
#define AP_NEED_WORKSPACE 2
#define AP_NO_STREAM 3
#define AP_INTERCEPTED 4
#define AP_GUARDED 5
#define AP_UNCERTAIN 6
#define AP_VERIFY 7

/* Whether launches keep their executors for the next launch with equal arguments. */
#define AP_REUSE_OFF 0
#define AP_REUSE_AUTO 1
#define AP_REUSE_ALWAYS 2

/* Where a launch stopped. */
#define AP_PHASE_NONE 0
#define AP_PHASE_ARGUMENT 1
#define AP_PHASE_CREATE 2
#define AP_PHASE_ONE 3
#define AP_PHASE_REPEATABLE 4
#define AP_PHASE_ADDRESS 5
#define AP_PHASE_TWO 6
#define AP_PHASE_DESTROY 7
#define AP_PHASE_UPDATE 8

/* Why an argument was refused before any call of the library. */
#define AP_REASON_NONE 0
#define AP_REASON_CLOSED 1
#define AP_REASON_OTHER_DEVICE 2
#define AP_REASON_STREAM_CLOSED 3
#define AP_REASON_FORKED 4
#define AP_REASON_NO_MEMORY 5
#define AP_REASON_CONSUMED 6
#define AP_REASON_PLAN_CLOSED 7
#define AP_REASON_STREAM_CAPTURED 8

/* Values of ap_stream.closed: it ended, or a graph records its work under another ap_stream. */
#define AP_STREAM_ENDED 1
#define AP_STREAM_CAPTURED 2

/* What a C function returns when its slot in the pointer table is empty: a value no library
   uses. */
#define AP_UNBOUND -559038737

/* Where the tensor of a launch comes from, beside the numbers of those that are given. */
#define AP_PLACE_NULL -1
#define AP_PLACE_NEW -2

/* Shape, strides, dtype and format. Interned by Python: equal layouts are one object. Strides in
   elements. id is unique in the process, unlike an address, which comes back after its release.
   nbytes: the length of the storage. */
typedef struct {
    uint64_t id;
    uint64_t nbytes;
    int32_t dtype;
    int32_t format;
    uint32_t ndim;
    uint32_t storage_ndim;
    int64_t shape[10];
    int64_t strides[10];
    int64_t storage[12];
} ap_layout;

/* The last launch of one stream that touched a buffer. stream_id 0 is a free entry. */
typedef struct {
    uint64_t stream_id;
    uint64_t sequence;
} ap_mark;

typedef struct ap_use ap_use;

/* One per tensor. address is the start of the buffer, offset is in elements. */
typedef struct {
    const ap_layout *layout;
    void *address;
    int64_t offset;
    ap_use *use;
} ap_tensor;

/* One per buffer, shared by all views of it. overflow: used by more streams than there are entries.
   chunk: the block of the allocator. guard: the stream that still worked on it for its previous
   owner, or 0; other streams wait for that one before they touch it, and leave a mark. whole: the
   tensor that the memory was allocated for, and nbytes its length; empty where that was none. */
struct ap_use {
    ap_mark marks[4];
    uint32_t overflow;
    int32_t device;
    uint32_t closed;
    uint64_t guard;
    void *chunk;
    uint64_t nbytes;
    ap_tensor whole;
};

/* One machine word of an argument list. */
typedef union {
    void *pointer;
    const char *text;
    int64_t int64;
    uint64_t uint64;
    int32_t int32;
    uint32_t uint32;
    int8_t int8;
    bool boolean;
    float float32;
    double float64;
} ap_word;

typedef struct ap_op ap_op;

/* How much of a stream's work waits of one thread have found done without fault. */
typedef struct {
    uint64_t thread;
    uint64_t sequence;
} ap_checked;

/* One per stream. id is unique in the process and never 0; sequence numbers the work that was
   queued. completed: the device is done with what has numbers up to this one, so that its memory is
   free; it may have failed. checked: the last threads that waited, and checking is its lock; who is
   told of a fault depends on the thread, so each reads without a wait only what its own waits have
   passed. workspace_peak: the most that a launch used of an arena. recent: the operator of the work
   numbered N at N % AP_RECENT, null where it was no operator. */
typedef struct {
    void *raw;
    uint64_t id;
    uint64_t sequence;
    uint64_t completed;
    void *workspace;
    uint64_t workspace_nbytes;
    uint64_t workspace_peak;
    uint32_t workspace_exchanges;
    int32_t device;
    uint32_t closed;
    uint32_t lock;
    uint32_t checking;
    ap_checked checked[4];
    const ap_op *recent[64];
} ap_stream;

/* Calls phase one: the operator's own words, then workspaceSize and executor. */
typedef int32_t (*ap_invoker)(const ap_op *op, const ap_word *words, uint64_t *workspace_nbytes,
                              void **executor);

/* One operator. modes: one letter per parameter, i input, o output, r in place; upper case when it
   may be null. scalars: for each scalar or scalar list the documented dtypes, bit N for aclDataType
   N, in hexadecimal. single_use: its executors are never kept for another launch. in_order: its
   tensors are single ones, read before written and never both, so that an index which counts
   tensors has one meaning only. */
struct ap_op {
    const char *name;
    const char *c_name;
    const char *kinds;
    const char *modes;
    const char *parameters;
    const char *family;
    const char *shape;
    const char *summary;
    const char *scalars;
    ap_invoker invoke;
    void *phase_one;
    void *phase_two;
    int32_t single_use;
    int32_t in_order;
};

/* The value of a scalar: large enough and aligned for complex128. */
typedef struct {
    double bytes[2];
    int32_t dtype;
} ap_scalar;

/* One prepared argument. Tensors take `count` entries of the launch's tensor array, 0 meaning null;
   others carry data. count: tensors in a list, elements of an array or list, 1 for a scalar.
   present: 0 passes null. */
typedef struct {
    int32_t kind;
    uint32_t present;
    uint64_t count;
    const void *data;
    ap_word word;
} ap_argument;

/* An operator with everything but its tensors filled in. id is unique in the process. */
typedef struct {
    uint64_t id;
    ap_op *op;
    uint32_t argument_count;
    uint32_t tensor_count;
    const ap_argument *arguments;
} ap_call;

/* A launch between its two phases: the executor, and the objects that must live until phase two
   returns. sequence: the number that phase two got on its stream, 0 before it ran. */
typedef struct {
    const ap_call *call;
    const ap_op *op;
    void *executor;
    uint64_t workspace_nbytes;
    int32_t repeatable;
    uint32_t object_count;
    uint64_t sequence;
    ap_tensor **tensors;
    void *objects[64];
} ap_prepared;

/* Where Python keeps a prepared launch; null after its release. lock: held by the thread that runs,
   rebinds or releases it, since an executor belongs to one thread at a time. It is taken before
   that of a stream. */
typedef struct {
    ap_prepared *prepared;
    uint32_t lock;
} ap_plan;

/* One launch of a list. plan: its executor, or null where the library has no repeatable one: then
   both phases run. */
typedef struct {
    ap_plan *plan;
    const ap_call *call;
    ap_tensor **tensors;
} ap_step;

/* Launches replayed in one call. */
typedef struct {
    ap_step *steps;
    uint32_t count;
} ap_sequence;

/* One captured launch that is made again: its task group, the stream that stood for the captured
   one, what it is called with, and what phase one made while it is ready for phase two. chosen:
   whether the exchange at hand concerns it. */
typedef struct {
    void *group;
    ap_stream *recording;
    const ap_call *call;
    ap_tensor **tensors;
    ap_prepared prepared;
    uint32_t ready;
    uint32_t chosen;
} ap_update;

/* Why the last launch of this thread did not go through. parameter and member are -1 when they do
   not apply. step: of a sequence; those before it are queued. */
typedef struct {
    int32_t status;
    int32_t phase;
    int32_t reason;
    int32_t parameter;
    int32_t member;
    uint32_t step;
    uint64_t workspace_nbytes;
    ap_prepared *pending;
    const char *routine;
    const char *message;
} ap_failure;

/* How a function of one result makes it: one launch with some of the tensors that it was given, in
   another order perhaps, and a new tensor of a layout. same: it was learnt with one tensor in two
   places, so it holds for tensors that are the same where those were; first: for each that is given
   the number of the first that is the same. */
typedef struct {
    const ap_call *call;
    const ap_layout *layout;
    uint32_t count;
    uint32_t given;
    uint32_t same;
    int8_t places[16];
    int8_t first[16];
} ap_recipe;

/* What a thread launched while somebody learnt it: how often, and the last launch. Other work
   counts as more than one. */
typedef struct {
    uint32_t launches;
    uint32_t count;
    const ap_call *call;
    ap_tensor *tensors[16];
} ap_learned;

/* Fill in a tensor; returns its own address, as ap_runN takes it. */
double ap_describe(ap_tensor *tensor, const ap_layout *layout, uint64_t address, int64_t offset,
                   ap_use *use);

/* Launch on `stream`, or on the thread's current stream when it is null. */
int32_t ap_launch(ap_stream *stream, const ap_call *call, ap_tensor **tensors);
/* ap_launch1 to ap_launch16 and ap_run1 to ap_run16 do the same with the tensors one by one,
   ap_runN on the thread's current stream. The build writes them (build_parts/fixed_launch.py). */

/* After AP_NEED_WORKSPACE: continue the same executor with the arena that has grown, or give it
   up. */
int32_t ap_resume(ap_stream *stream, ap_prepared *pending);
void ap_abandon(ap_prepared *pending);

/* Phase one alone. repeatable asks the library for an executor that runs more than once; refusal is
   a failure. */
int32_t ap_prepare(ap_stream *stream, const ap_call *call, ap_tensor **tensors, int32_t repeatable,
                   ap_plan *plan);
/* Phase two. A null stream is the thread's current one. An executor that is not repeatable is
   consumed. */
int32_t ap_execute(ap_stream *stream, ap_plan *plan, void *workspace, uint64_t workspace_nbytes);
/* ap_execute on the thread's current stream with its arena: one pointer is the cheapest call there
   is. */
int32_t ap_repeat(ap_plan *plan);
/* Run the steps from `start` on. Whatever it returns but AP_OK is about `step` of
   ap_last_failure(). */
int32_t ap_sequence_run(ap_stream *stream, const ap_sequence *sequence, uint32_t start);
/* Point tensor `index` (in the order of the launch's tensor array) of a repeatable executor at
   another tensor. AP_UNCERTAIN: the library's setters are missing, or cannot be told for certain
   which tensor is meant, because they count tensors and the operator is not in_order or some are
   null. */
int32_t ap_rebind(ap_plan *plan, uint32_t index, ap_tensor *tensor);
/* Let go of what a plan holds and take over what another one does; without the other one it is
   closed. */
void ap_replace(ap_plan *plan, ap_plan *other);
void ap_discard(ap_plan *plan);

/* Keep executors from now on, or no more (those that are kept are released). With verify the first
   launch with a kept executor returns AP_VERIFY before anything happens, unless the thread trusts
   them. */
void ap_set_reuse(int32_t mode, int32_t verify);
void ap_trust_kept(int32_t on);
/* Release the executors that are kept: before the devices are reset. */
void ap_reuse_clear(void);
/* Executors kept now, and how many launches found one so far, made one, or could not use it. */
typedef struct {
    uint64_t kept;
    uint64_t hits;
    uint64_t made;
    uint64_t refused;
} ap_reuse_counts;
void ap_reuse_statistics(ap_reuse_counts *out);

/* Take memory of a device's pool for a tensor of a layout, for the thread's current stream; fill in
   `use` and return the address of use->whole. A negative device is that of the stream. 0: nothing
   happened, Python has to do it. */
double ap_fresh(double layout, int32_t device, ap_use *use);
/* The same, and launch what writes it. Negative: the library refused it, and ap_last_failure() says
   how. */
double ap_make(const ap_recipe *recipe, ap_use *use, ap_tensor **given);
/* Whether ap_make could do anything on this thread now. */
int32_t ap_may_make(void);
/* Note the launches of this thread from now on; returns what they were noted in before, which the
   end brings back and tells of them. */
ap_learned *ap_learn(ap_learned *into);
void ap_learn_end(const ap_learned *inner, ap_learned *before);
/* Tell whoever learns of work that was no launch. */
void ap_learn_other(void);
/* What this thread does is captured from now on, or no more. */
void ap_set_capturing(int32_t on);
/* Python wants to see every piece of memory made, or no more. */
void ap_set_watched(int32_t on);

/* Note that a wait of this thread has found the work up to `sequence` done without fault. */
void ap_note_done(ap_stream *stream, uint64_t sequence);
/* How far waits of this thread have come. */
uint64_t ap_checked_here(ap_stream *stream);

/* Copy bytes of device memory to the host, if a wait of this thread has found the work on them
   done. AP_UNCERTAIN: that is not known, and nothing has happened. AP_FAILED: the copy was refused,
   as ap_last_failure() says. */
int32_t ap_read(const ap_use *use, uint64_t source, uint64_t nbytes, uint64_t target);
/* AP_OK: dense int64 indices on the device are all from -length to length - 1. AP_UNCERTAIN: some
   are not, or they cannot be read as above, or host memory lacks. AP_FAILED: as above. */
int32_t ap_indices_within(const ap_use *use, uint64_t source, uint64_t count, int64_t length);

/* Queue a copy that leaves its mark on one or two pieces of memory. Returns its sequence number, or
   what went wrong as a negative number. */
int64_t ap_copy(ap_stream *stream, uint64_t target, uint64_t source, uint64_t nbytes, int32_t kind,
                ap_use *one, ap_use *other);

/* Phase one of the chosen launches. A failure is about `step` of ap_last_failure(), and leaves none
   prepared. */
int32_t ap_updates_prepare(ap_stream *stream, ap_update *updates, uint32_t count);
/* Phase two of the chosen launches from `start` on, each as an update of its group on `stream`.
   AP_GUARDED and AP_NEED_WORKSPACE are about the recording of `step`: call again from there. */
int32_t ap_updates_run(ap_stream *stream, ap_update *updates, uint32_t count, uint32_t start);
/* Let go of what is prepared. */
void ap_updates_discard(ap_update *updates, uint32_t count);

/* Queue a captured graph (aclmdlRI), which leaves its mark on the memory of its inputs. A failure's
   parameter is the number of the input that was refused. */
int32_t ap_replay(ap_stream *stream, void *graph, ap_use **uses, uint32_t count);

const ap_failure *ap_last_failure(void);

/* While on, launches and plans return AP_INTERCEPTED before anything happens, so that Python can
   look first. Between ap_pass(1) and ap_pass(-1) those of this thread go through. */
void ap_set_intercept(int32_t on);
void ap_pass(int32_t step);

/* The current stream of this thread. Whoever sets it keeps the structure alive while it is set. */
void ap_set_current_stream(ap_stream *stream);
/* The device the C library points at on this thread, -1 when unknown; a launch on another one gives
   AP_NO_STREAM. */
void ap_set_active_device(int32_t device);
ap_stream *ap_current_stream(void);
/* Note that `stream` has just been given work that touches a buffer by other means than a
   launch. */
uint64_t ap_mark_use(ap_stream *stream, ap_use **uses, uint32_t count);
/* Drop the mark of a stream whose work on the buffer has completed. */
void ap_forget_stream(ap_use *use, uint64_t stream_id);
/* Exchange the arena. Launches up to the sequence returned may use the old one, later ones
   cannot. */
uint64_t ap_set_workspace(ap_stream *stream, void *workspace, uint64_t workspace_nbytes);

/* Operators, sorted by Python name. */
uint32_t ap_op_count(void);
ap_op *ap_op_at(uint32_t index);
ap_op *ap_op_find(const char *name);
ap_op *ap_op_find_c(const char *c_name);
/* The typed invoker of a machine-level shape, or the untyped trampoline where the build made
   none. */
ap_invoker ap_invoker_for(const char *shape);
ap_invoker ap_trampoline_for(const char *shape);

/* The pointer table behind every C function. */
int32_t ap_slot_find(const char *name);
uint32_t ap_slot_count(void);
const char *ap_slot_name(uint32_t index);
void ap_slot_set(uint32_t index, void *function);
void *ap_slot_get(uint32_t index);
const char *ap_slot_since(uint32_t index);
const char *ap_contract(void);

/* A fault of the device, in the library's numbers; 0xFFFFFFFF where it does not say. */
typedef struct {
    uint32_t task;
    uint32_t stream;
    uint32_t device;
    uint32_t code;
} ap_fault;

/* Keep what the library's exception callback says from now on. several: the library takes more than
   one callback. */
int32_t ap_watch_faults(int32_t several);
/* Copy the last faults, at most AP_FAULTS, oldest first; return how many there are. */
uint32_t ap_recent_faults(ap_fault *out);

/* Libraries: opened for themselves (RTLD_LOCAL), never found through the process-wide scope. */
void *ap_library_open(const char *path, char *error, size_t error_nbytes);
void *ap_library_loaded(const char *name);
void *ap_library_symbol(void *handle, const char *name);
void ap_library_path(void *handle, char *path, size_t path_nbytes);
void ap_symbol_path(void *symbol, char *path, size_t path_nbytes);
/* From now on a child made by fork refuses to launch. */
int32_t ap_watch_forks(void);
/* Whether this is such a child. */
int32_t ap_forked(void);

#endif
