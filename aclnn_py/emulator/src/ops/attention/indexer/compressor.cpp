// SPDX-License-Identifier: Apache-2.0
// What phase one of Compressor takes.
#include "ops/attention/indexer/compressor.h"

#include <algorithm>
#include <cinttypes>

#include "aclnnop/attention.h"
#include "core/chip.h"

namespace emu {
namespace {

constexpr int64_t kLowestRatio = 2, kHighestRatio = 128, kMostPlaces = 1024;
constexpr int64_t kShortRow = 1024, kLongRow = 10240, kRowUnit = 512;
constexpr int64_t kHeads[] = {128, 512};

struct Call {
  const aclTensor *x, *wkv, *wgate, *state, *ape, *table, *ends, *used, *start, *out;
  int64_t ratio, halves, mode;
};

void check_dtypes(Check &check, const Call &call, const aclTensor *state) {
  check.dtype("x", call.x)
      .dtype("wkv", call.wkv)
      .dtype("wgate", call.wgate)
      .dtype("stateCacheRef", call.state)
      .dtype("ape", call.ape)
      .dtype("stateBlockTable", call.table)
      .dtype("cuSeqlens", call.ends)
      .dtype("seqused", call.used)
      .dtype("startPos", call.start)
      .dtype("cmpKv", call.out)
      .dtype("stateCache", state);
  if (!check.ok()) return;
  check.same_dtype("wkv", call.wkv->dtype, "x", call.x->dtype)
      .same_dtype("wgate", call.wgate->dtype, "x", call.x->dtype)
      .same_dtype("cmpKv", call.out->dtype, "x", call.x->dtype);
}

void check_values(Check &check, const Call &call) {
  const bool newer = chip_is_950();
  const bool power = (call.ratio & (call.ratio - 1)) == 0;
  check.that(call.ratio >= kLowestRatio && call.ratio <= kHighestRatio && (newer || power),
             "cmpRatio is %" PRId64 "; allowed: %s", call.ratio,
             newer ? "2 to 128" : "2, 4, 8, 16, 32, 64, 128");
  check.that(call.halves == 1 || call.halves == 2, "coff is %" PRId64 "; allowed: 1, 2",
             call.halves);
  check.that(call.mode == 1 || (call.mode == 2 && newer), "cacheMode is %" PRId64 "; allowed: 1%s",
             call.mode, newer ? ", 2" : "");
}

void check_list(Check &check, const char *parameter, const aclTensor *list, int64_t length) {
  if (!check.ok() || list == nullptr) return;
  check.rank(parameter, list, 1, 1);
  check.that(check.ok() && list->shape[0] == length,
             "%s has shape %s; it must have %" PRId64 " elements", parameter,
             shape_text(layout_of(*list)).c_str(), length);
}

// The sequences, by x and the lists.
void check_sequences(Check &check, const Call &call, Compressor *x) {
  check.rank("x", call.x, 2, 3)
      .rank("wkv", call.wkv, 2, 2)
      .rank("wgate", call.wgate, 2, 2)
      .rank("stateCacheRef", call.state, 3, 3)
      .rank("ape", call.ape, 2, 2);
  if (check.ok()) check_values(check, call);
  if (!check.ok()) return;
  x->packed = call.x->shape.size() == 2;
  check.that(x->packed == (call.ends != nullptr), "cuSeqlens is %s; x has %zu dimensions",
             call.ends ? "given" : "null", call.x->shape.size());
  if (call.ends) check.rank("cuSeqlens", call.ends, 1, 1);
  if (!check.ok()) return;
  x->batch = x->packed ? std::max<int64_t>(0, call.ends->shape[0] - 1) : call.x->shape[0];
  x->tokens = call.x->shape[x->packed ? 0 : 1];
  x->hidden = call.x->shape.back();
  check_list(check, "seqused", call.used, x->batch);
  check_list(check, "startPos", call.start, x->batch);
}

void check_weights(Check &check, const Call &call, Compressor *x) {
  const int64_t columns = call.wkv->shape[0];
  x->ratio = call.ratio;
  x->halves = call.halves;
  x->head = columns / call.halves;
  check.that(x->hidden >= kShortRow && x->hidden <= kLongRow && x->hidden % kRowUnit == 0,
             "x has rows of %" PRId64 " elements; allowed: multiples of 512 from 1024 to 10240",
             x->hidden);
  check.that(columns % call.halves == 0 &&
                 std::find(std::begin(kHeads), std::end(kHeads), x->head) != std::end(kHeads),
             "wkv has %" PRId64 " rows; allowed: 128 or 512 times coff", columns);
  if (!check.ok()) return;
  const int64_t weight[] = {x->width(), x->hidden}, bias[] = {x->ratio, x->width()};
  check.shape("wkv", call.wkv, dense_layout(weight, 2))
      .shape("wgate", call.wgate, dense_layout(weight, 2))
      .shape("ape", call.ape, dense_layout(bias, 2));
}

void check_cache(Check &check, const Call &call, Compressor *x) {
  x->ring = call.mode == 2;
  x->blocks = call.state->shape[0];
  x->places = call.state->shape[1];
  check.that(x->blocks > 0 && x->places > 0 && x->places <= kMostPlaces &&
                 call.state->shape[2] == 2 * x->width(),
             "stateCacheRef has shape %s; it must have blocks of 1 to 1024 rows of %" PRId64
             " elements",
             shape_text(layout_of(*call.state)).c_str(), 2 * x->width());
  const int64_t least = x->halves * x->ratio + x->tokens - 1;
  check.that(!x->ring || x->packed || x->places >= least,
             "stateCacheRef has blocks of %" PRId64 " rows; cacheMode 2 needs %" PRId64, x->places,
             least);
  if (!check.ok() || call.table == nullptr) return;
  const int rank = x->ring ? 1 : 2;
  check.rank("stateBlockTable", call.table, rank, rank);
  check.that(check.ok() && call.table->shape[0] == x->batch,
             "stateBlockTable has shape %s; it must begin with the %" PRId64 " sequences",
             shape_text(layout_of(*call.table)).c_str(), x->batch);
  if (check.ok()) x->columns = x->ring ? 1 : call.table->shape[1];
}

void check_result(Check &check, const Call &call, Compressor *x) {
  const int64_t most = x->tokens / x->ratio + x->batch;
  x->rows =
      x->packed ? std::min(x->tokens, most) : x->tokens / x->ratio + (x->tokens % x->ratio != 0);
  const int64_t packed[] = {x->rows, x->head}, parts[] = {x->batch, x->rows, x->head};
  check.shape("cmpKv", call.out, x->packed ? dense_layout(packed, 2) : dense_layout(parts, 3));
}

Compressor check_call(Check &check, const Call &call, const aclTensor *state) {
  Compressor x;
  check_dtypes(check, call, state);
  check_sequences(check, call, &x);
  check.tiling();
  if (check.ok()) check_weights(check, call, &x);
  if (check.ok()) check_cache(check, call, &x);
  if (check.ok()) check_result(check, call, &x);
  return x;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Compressor,
             (const aclTensor *x, const aclTensor *wkv, const aclTensor *wgate,
              aclTensor *stateCacheRef, const aclTensor *ape, const aclTensor *stateBlockTable,
              const aclTensor *cuSeqlens, const aclTensor *seqused, const aclTensor *startPos,
              int64_t cmpRatio, int64_t coff, int64_t cacheMode,
              [[maybe_unused]] int64_t stateCacheStrideDim0, aclTensor *cmpKv,
              aclTensor *stateCache)) {
  emu::Check check("aclnnCompressor");
  check.required("x", x)
      .required("wkv", wkv)
      .required("wgate", wgate)
      .required("stateCacheRef", stateCacheRef)
      .required("ape", ape)
      .optional("stateBlockTable", stateBlockTable)
      .optional("cuSeqlens", cuSeqlens)
      .optional("seqused", seqused)
      .optional("startPos", startPos)
      .required("cmpKv", cmpKv)
      .optional("stateCache", stateCache);
  if (!check.ok()) return check.status();
  emu::Compressor call =
      emu::check_call(check,
                      {x, wkv, wgate, stateCacheRef, ape, stateBlockTable, cuSeqlens, seqused,
                       startPos, cmpKv, cmpRatio, coff, cacheMode},
                      stateCache);
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan("aclnnCompressor");
  call.x_at = plan.input(x);
  call.kv_at = plan.input(wkv);
  call.gate_at = plan.input(wgate);
  call.state_at = plan.in_place(stateCacheRef);
  call.ape_at = plan.input(ape);
  call.table_at = plan.input(stateBlockTable);
  call.ends_at = plan.input(cuSeqlens);
  call.used_at = plan.input(seqused);
  call.start_at = plan.input(startPos);
  call.out_at = plan.output(cmpKv);
  plan.unused(stateCache);
  const auto kept = std::make_shared<const emu::Compressor>(call);
  return plan.finish([kept](emu::PlanContext &c) { return emu::run_compressor(*kept, c); },
                     workspaceSize, executor);
}
EMU_CATCH
