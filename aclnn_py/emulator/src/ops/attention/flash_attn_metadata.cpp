// SPDX-License-Identifier: Apache-2.0
// FlashAttnMetadata: which core takes which sequences and heads of FlashAttn. The document names
// the fields; the work is divided in the simplest way, in one section: each core takes whole
// sequences of a head of the keys, and no core a part of their keys.
#include <algorithm>
#include <cinttypes>
#include <cstring>

#include "aclnnop/attention.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/attention/flash_attn.h"
#include "ops/attention/sequences.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kFields = 16, kCores = 36, kVectorCores = 72;
constexpr int64_t kLeast = kFields * (1 + kCores + kVectorCores);
constexpr int64_t kMostBatches = 65535, kMostHeads = int64_t{1} << 20;
enum Header { kSections, kSplitsKeys, kRowsOfBlock, kKeysOfBlock };
enum Field { kFirstRun, kEndOfRuns = 3 };  // a run: a sequence and a head

struct MetadataCall {
  const aclTensor *query_ends, *key_ends, *query_used, *key_used;
  int64_t batch, longest_query, longest_key, heads, kv_heads, width, mask, left, right;
  const char *layout_q, *layout_kv, *layout_out;
  const aclTensor *list;
};

bool known(const char *layout, bool pages) {
  const char *name = layout ? layout : "BSND";
  const auto is = [&](const char *other) { return std::strcmp(name, other) == 0; };
  if (pages && (is("PA_BBND") || is("PA_BNBD") || is("PA_NZ"))) return true;
  return is("BSND") || is("BNSD") || is("TND");
}

int64_t batches(const MetadataCall &call) {
  if (call.query_ends) return call.query_ends->numel() - 1;
  return call.query_used ? call.query_used->numel() : call.batch;
}

void check_numbers(Check &check, const MetadataCall &call) {
  const int64_t batch = batches(call);
  check.that(batch > 0 && batch <= kMostBatches,
             "there are %" PRId64 " sequences; allowed: 1 to 65535", batch);
  check.that(call.heads > 0 && call.heads <= kMostHeads && call.kv_heads > 0 &&
                 call.heads % call.kv_heads == 0,
             "numHeadsQ is %" PRId64 " and numHeadsKv %" PRId64 "; the first must be a multiple",
             call.heads, call.kv_heads);
  check.that(call.width == 64 || call.width == 128 || call.width == 256,
             "headDim is %" PRId64 "; allowed: 64, 128, 256", call.width);
  check.that(call.mask == kFlashWhole || call.mask == kFlashCausal || call.mask == kFlashWindow,
             "maskMode is %" PRId64 "; allowed: 0, 3, 4", call.mask);
  check.that(call.left >= -1 && call.right >= -1,
             "winLeft is %" PRId64 " and winRight %" PRId64 "; allowed: -1 and above", call.left,
             call.right);
  check.that(call.longest_query >= -1 && call.longest_key >= -1,
             "maxSeqlenQ is %" PRId64 " and maxSeqlenKv %" PRId64 "; allowed: -1 and above",
             call.longest_query, call.longest_key);
  check.that(known(call.layout_q, false), "layoutQ is \"%.40s\"; allowed: BSND, BNSD, TND",
             call.layout_q);
  check.that(known(call.layout_kv, true),
             "layoutKv is \"%.40s\"; allowed: BSND, BNSD, TND, PA_BBND, PA_BNBD, PA_NZ",
             call.layout_kv);
  check.that(known(call.layout_out, false), "layoutOut is \"%.40s\"; allowed: BSND, BNSD, TND",
             call.layout_out);
  check_lengths(check, "cuSeqlensQOptional", call.query_ends, LengthList::kOffsets, batch);
  check_lengths(check, "cuSeqlensKvOptional", call.key_ends, LengthList::kOffsets, batch);
  check_lengths(check, "sequsedQOptional", call.query_used, LengthList::kCounts, batch);
  check_lengths(check, "sequsedKvOptional", call.key_used, LengthList::kCounts, batch);
  check.rank("metaData", call.list, 1, 1);
  check.that(check.ok() && call.list->numel() >= kLeast && call.list->contiguous(),
             "metaData has shape %s; it must be contiguous and have %" PRId64 " numbers or more",
             shape_text(layout_of(*call.list)).c_str(), kLeast);
}

Status plan_metadata(const MetadataCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check("aclnnFlashAttnMetadata");
  const std::pair<const char *, const aclTensor *> lists[] = {
      {"cuSeqlensQOptional", call.query_ends},
      {"cuSeqlensKvOptional", call.key_ends},
      {"sequsedQOptional", call.query_used},
      {"sequsedKvOptional", call.key_used}};
  for (const auto &[name, list] : lists) check.optional(name, list);
  check.required("metaData", call.list);
  for (const auto &[name, list] : lists) check.dtype(name, list);
  check.dtype("metaData", call.list);
  if (!check.ok()) return check.status();
  if (const Status bad = check_chip(check, kNoKernel)) return bad;
  check.tiling();
  check_numbers(check, call);
  if (!check.ok()) return check.status();
  // 64 rows of the queries that share a head of the keys, or more.
  const int64_t group = call.heads / call.kv_heads;
  const bool many =
      call.longest_query >= 64 || group * std::max<int64_t>(call.longest_query, 1) >= 64;
  const int64_t runs = batches(call) * call.kv_heads;
  PlanBuilder plan(check.op());
  for (const auto &[name, list] : lists) plan.unused(list);
  const size_t to = plan.output(call.list);
  return plan.finish(
      [to, runs, many](PlanContext &c) {
        const View list = view_of(c.tensor(to));
        auto *numbers = reinterpret_cast<int32_t *>(list.data);
        std::memset(numbers, 0, static_cast<size_t>(list.count()) * sizeof *numbers);
        numbers[kSections] = 1;
        numbers[kRowsOfBlock] = many ? 128 : 64;
        numbers[kKeysOfBlock] = many ? 128 : 256;
        const int64_t cores = std::min({kCores, static_cast<int64_t>(cube_cores()), runs});
        for (int64_t core = 0; core < cores; ++core) {
          int32_t *task = numbers + kFields * (1 + core);
          const auto begin = [&](int64_t i) {
            return static_cast<int32_t>(runs / cores * i + std::min(i, runs % cores));
          };
          task[kFirstRun] = begin(core);
          task[kEndOfRuns] = begin(core + 1);
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FlashAttnMetadata,
             (const aclTensor *cuSeqlensQOptional, const aclTensor *cuSeqlensKvOptional,
              const aclTensor *sequsedQOptional, const aclTensor *sequsedKvOptional,
              int64_t batchSize, int64_t maxSeqlenQ, int64_t maxSeqlenKv, int64_t numHeadsQ,
              int64_t numHeadsKv, int64_t headDim, int64_t maskMode, int64_t winLeft,
              int64_t winRight, const char *layoutQ, const char *layoutKv, const char *layoutOut,
              aclTensor *metaData)) {
  return emu::plan_metadata(
      {cuSeqlensQOptional, cuSeqlensKvOptional, sequsedQOptional, sequsedKvOptional, batchSize,
       maxSeqlenQ, maxSeqlenKv, numHeadsQ, numHeadsKv, headDim, maskMode, winLeft, winRight,
       layoutQ, layoutKv, layoutOut, metaData},
      workspaceSize, executor);
}
EMU_CATCH
