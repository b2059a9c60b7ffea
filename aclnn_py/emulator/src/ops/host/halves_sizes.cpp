// SPDX-License-Identifier: Apache-2.0
// How large the results of the halves of dispatch and combine are, by the formulas of their
// documents.
#include <algorithm>
#include <cinttypes>

#include "aclnn/host_calls.h"
#include "core/export.h"
#include "core/statuses.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr int64_t kMostRanks = 384, kMostExperts = 512, kMostShared = 4, kMostModes = 4,
                  kWordsPerRow = 128, kWordsPerRecord = 16;

// A program in C gives an address, which may be null; of a reference nobody would ask.
bool is_null(const uint64_t &result) {
  const uint64_t *volatile address = &result;
  return address == nullptr;
}

int64_t parts(int64_t value, int64_t size) { return value / size + (value % size != 0 ? 1 : 0); }
Checked up(int64_t value, int64_t step) { return Checked(parts(value, step)) * step; }

int64_t up(Check &check, const char *name, Checked value, int64_t step) {
  return check.size(name, up(check.size(name, value), step));
}

struct Ranks {
  int64_t count, own, experts, shared_experts, shared_ranks;

  bool shares() const { return own < shared_ranks; }
  int64_t local() const { return shares() ? 1 : experts / (count - shared_ranks); }
};

void check_range(Check &check, const char *name, int64_t given, int64_t least, int64_t most) {
  check.that(given >= least && given <= most,
             "%s is %" PRId64 "; it must be in [%" PRId64 ", %" PRId64 "]", name, given, least,
             most);
}

void check_ranks(Check &check, const Ranks &r) {
  check_range(check, "epWorldSize", r.count, 2, kMostRanks);
  check_range(check, "epRankId", r.own, 0, r.count - 1);
  check_range(check, "moeExpertNum", r.experts, 1, kMostExperts);
  check_range(check, "sharedExpertNum", r.shared_experts, 0, kMostShared);
  check_range(check, "sharedExpertRankNum", r.shared_ranks, 0, r.count / 2);
  if (!check.ok()) return;
  check.that(r.experts % (r.count - r.shared_ranks) == 0,
             "moeExpertNum is %" PRId64 "; it must be a multiple of the %" PRId64
             " ranks that have no shared expert",
             r.experts, r.count - r.shared_ranks);
}

void check_tensor(Check &check, const char *name, const aclTensor *tensor, DtypeSet dtypes,
                  int rank) {
  check.required(name, tensor);
  if (check.ok()) check.dtype_in(name, tensor->dtype, dtypes).rank(name, tensor, rank, rank);
}

// The elements of a row of y: what has been quantised, and its scales behind it.
int64_t dispatch_row(Check &check, int64_t width, int64_t mode) {
  const auto size = [&](Checked value, int64_t step) { return up(check, "x", value, step); };
  switch (mode) {
    case 0: return size(width, 256);
    case 1: return size(width, 512);
    case 2: return size(up(width, 32) + 4, 512);
    case 3: return size(up(width, 128) + parts(width, 128), 512);
    default: return size(up(width, 128) + up(parts(width, 32), 2), 512);
  }
}

// The most rows that this rank may receive.
int64_t most_rows(Check &check, const Ranks &r, int64_t tokens, int64_t each, int64_t all_tokens) {
  const Checked all = all_tokens != 0 ? Checked(all_tokens) : Checked(tokens) * r.count;
  if (!r.shares()) return check.size("expertIds", all * std::min(r.local(), each));
  return check.size("expertIds", all * r.shared_experts) / r.shared_ranks;
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclnnStatus aclnnMoeDistributeDispatchSetupTeardownCalcOutputSize(
    const aclTensor *x, const aclTensor *expertIds, const aclTensor *scalesOptional,
    const aclTensor *xActiveMaskOptional, const char *, int64_t epWorldSize, int64_t epRankId,
    int64_t moeExpertNum, int64_t, int64_t sharedExpertNum, int64_t sharedExpertRankNum,
    int64_t quantMode, int64_t globalBs, int64_t, int64_t, const char *, uint64_t &tokenMsgSize,
    uint64_t &expandIdxOutSize, uint64_t &assistInfoForCombineOutSize,
    uint64_t &commCmdInfoOutSize) try {
  using namespace emu;
  Check check("aclnnMoeDistributeDispatchSetupTeardownCalcOutputSize");
  check_tensor(check, "x", x, dt::kHalf, 2);
  check_tensor(check, "expertIds", expertIds, dtype_set(ACL_INT32), 2);
  check.optional("scalesOptional", scalesOptional);
  check.optional("xActiveMaskOptional", xActiveMaskOptional);
  const Ranks ranks = {epWorldSize, epRankId, moeExpertNum, sharedExpertNum, sharedExpertRankNum};
  check_ranks(check, ranks);
  check_range(check, "quantMode", quantMode, 0, kMostModes);
  check.that(globalBs >= 0, "globalBs is %" PRId64 "; it must not be negative", globalBs);
  if (!check.ok()) return check.status();
  if (is_null(tokenMsgSize) || is_null(expandIdxOutSize) || is_null(assistInfoForCombineOutSize) ||
      is_null(commCmdInfoOutSize))
    return fail(kNullPointer, "%s: the address of a result is null", check.op());
  const int64_t tokens = expertIds->shape[0], each = expertIds->shape[1];
  const int64_t row = dispatch_row(check, x->shape[1], quantMode),
                places = check.size("expertIds", Checked(tokens) * each);
  const int64_t most = check.ok() ? most_rows(check, ranks, tokens, each, globalBs) : 0;
  const int64_t assist = check.size("expertIds", Checked(most) * kWordsPerRow);
  const Checked sent = Checked(tokens) * (Checked(each) + sharedExpertNum);
  const int64_t commands =
      check.size("expertIds", (sent + Checked(epWorldSize) * ranks.local()) * kWordsPerRecord);
  if (!check.ok()) return check.status();
  tokenMsgSize = static_cast<uint64_t>(row);
  expandIdxOutSize = static_cast<uint64_t>(places);
  assistInfoForCombineOutSize = static_cast<uint64_t>(assist);
  commCmdInfoOutSize = static_cast<uint64_t>(commands);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclnnMoeDistributeCombineSetupTeardownCalcOutputSize(
    const aclTensor *expandX, const aclTensor *expertIds, const aclTensor *assistInfoForCombine,
    const char *, int64_t epWorldSize, int64_t epRankId, int64_t moeExpertNum, int64_t,
    int64_t sharedExpertNum, int64_t sharedExpertRankNum, int64_t, int64_t, int64_t, const char *,
    uint64_t &tokenMsgSize, uint64_t &commCmdInfoOutSize) try {
  using namespace emu;
  Check check("aclnnMoeDistributeCombineSetupTeardownCalcOutputSize");
  check_tensor(check, "expandX", expandX, dt::kHalf, 2);
  check_tensor(check, "expertIds", expertIds, dtype_set(ACL_INT32), 2);
  check_tensor(check, "assistInfoForCombine", assistInfoForCombine, dtype_set(ACL_INT32), 1);
  check_ranks(check, {epWorldSize, epRankId, moeExpertNum, sharedExpertNum, sharedExpertRankNum});
  if (!check.ok()) return check.status();
  if (is_null(tokenMsgSize) || is_null(commCmdInfoOutSize))
    return fail(kNullPointer, "%s: the address of a result is null", check.op());
  const int64_t rows = expandX->shape[0], width = expandX->shape[1];
  const Checked scales = Checked(parts(width, 8)) * static_cast<int64_t>(sizeof(float));
  const int64_t row = up(check, "expandX", up(width, 32) + scales, 512),
                commands = check.size("expandX", (Checked(rows) + epWorldSize) * kWordsPerRecord);
  if (!check.ok()) return check.status();
  tokenMsgSize = static_cast<uint64_t>(row);
  commCmdInfoOutSize = static_cast<uint64_t>(commands);
  return 0;
}
EMU_CATCH
