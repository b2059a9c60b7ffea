// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// BandwidthTest: each token goes to the rank that it names. Rows of the result lie by the rank they
// come from, and as they lie there.
#include <algorithm>
#include <cinttypes>
#include <cstring>
#include <numeric>

#include "aclnnop/mc2.h"
#include "core/chip.h"
#include "ops/cache/byte_rows.h"
#include "ops/mc2/fused.h"
#include "ops/moe/scores.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kName = "aclnnBandwidthTest";
constexpr int64_t kMostRanks = 768, kSpare = int64_t{2} << 20;
constexpr size_t kLongestName = 127;

struct BandwidthCall {
  const aclTensor *x, *to, *y, *counts;
  const char *group;
  int64_t ranks, most, mode;
};

struct Exchange {
  std::shared_ptr<hccl::Communicator> communicator;
  hccl::Call text;
  int64_t tokens = 0, rows = 0;  // of x, and of the result
  bool sends_only = false;
  size_t x_at, to_at, y_at, counts_at;
};

void check_shapes(Check &check, const BandwidthCall &a) {
  check.rank("x", a.x, 2, 2)
      .rank("dstRankId", a.to, 1, 1)
      .rank("y", a.y, 2, 2)
      .rank("receiveCnt", a.counts, 1, 1);
  if (!check.ok()) return;
  const int64_t tokens = a.x->shape[0], width = a.x->shape[1];
  check.that(tokens > 0 && width > 0, "x has shape %s; it must not be empty",
             shape_text(layout_of(*a.x)).c_str());
  check.that(a.to->shape[0] == tokens, "dstRankId has shape %s; x has %" PRId64 " tokens",
             shape_text(layout_of(*a.to)).c_str(), tokens);
  check.that(a.y->shape[1] == width, "y has shape %s; the rows of x have %" PRId64 " elements",
             shape_text(layout_of(*a.y)).c_str(), width);
  check.that(a.ranks >= 2 && a.ranks <= kMostRanks,
             "worldSize is %" PRId64 "; it must be in [2, %" PRId64 "]", a.ranks, kMostRanks);
  check.that(a.counts->shape[0] == a.ranks,
             "receiveCnt has shape %s; it must have worldSize elements, %" PRId64,
             shape_text(layout_of(*a.counts)).c_str(), a.ranks);
  check.that(a.most >= tokens, "maxBs is %" PRId64 "; x has %" PRId64 " tokens", a.most, tokens);
  check.that(a.mode == 0 || a.mode == 1, "mode is %" PRId64 "; allowed: 0, 1", a.mode);
  check.that(a.group == nullptr || std::strlen(a.group) <= kLongestName,
             "group has more than %zu characters", kLongestName);
}

void check_communicator(Check &check, const BandwidthCall &a, const hccl::Communicator &group) {
  check.that(group.size() == a.ranks,
             "worldSize is %" PRId64 ", but the communicator %s has %u ranks", a.ranks,
             group.name().c_str(), group.size());
  const int64_t row = check.size("maxBs", Checked(a.x->shape[1]) * 2 * a.ranks * a.most);
  const int64_t needed = check.size("maxBs", (Checked(row) + kSpare) * 2);
  const int64_t megabytes = needed / (kSpare / 2) + (needed % (kSpare / 2) != 0);
  check.that(int64_t{group.config().buffer_megabytes} >= megabytes,
             "the communicator %s has a buffer of %u MB, but needs %" PRId64
             " MB; set HCCL_BUFFSIZE before it is made",
             group.name().c_str(), group.config().buffer_megabytes, megabytes);
}

// The tokens, those for the first rank in front; how many there are for each.
Status sort_tokens(const Exchange &x, PlanContext &c, std::vector<int64_t> *order,
                   std::vector<int64_t> *counts) {
  const std::vector<int64_t> to = integers(c, x.to_at);
  const int64_t ranks = x.communicator->size();
  counts->assign(static_cast<size_t>(ranks), 0);
  for (const int64_t rank : to) {
    if (rank < 0 || rank >= ranks) {
      return x.communicator->abandon("EZ9999", kKernelFault,
                                     "%s: dstRankId has %" PRId64 "; there are %" PRId64 " ranks",
                                     kName, rank, ranks);
    }
    ++(*counts)[static_cast<size_t>(rank)];
  }
  order->resize(to.size());
  std::iota(order->begin(), order->end(), 0);
  std::stable_sort(order->begin(), order->end(), [&](int64_t a, int64_t b) {
    return to[static_cast<size_t>(a)] < to[static_cast<size_t>(b)];
  });
  return 0;
}

std::vector<hccl::Block> blocks_of(const std::vector<int64_t> &counts, int64_t bytes) {
  std::vector<hccl::Block> blocks;
  uint64_t at = 0;
  for (const int64_t count : counts) {
    blocks.push_back({static_cast<uint64_t>(count * bytes), at});
    at += blocks.back().bytes;
  }
  return blocks;
}

Status run_exchange(const Exchange &x, PlanContext &c) {
  hccl::Session session(*x.communicator, x.text);
  if (const Status s = session.begin()) return s;
  std::vector<int64_t> order, sent, received(x.communicator->size(), 0);
  if (const Status s = sort_tokens(x, c, &order, &sent)) return s;
  if (x.sends_only) return session.barrier();
  const std::vector<hccl::Block> one =
      blocks_of(std::vector<int64_t>(sent.size(), 1), sizeof(int64_t));
  if (const Status s = session.all_to_all_v(sent.data(), one, received.data(), one)) return s;
  const int64_t total = std::accumulate(received.begin(), received.end(), int64_t{0});
  if (total > x.rows) {
    return x.communicator->abandon("EZ9999", kKernelFault,
                                   "%s: %" PRId64 " tokens are for rank %u, whose y has %" PRId64
                                   " rows",
                                   kName, total, x.communicator->rank(), x.rows);
  }
  const ByteRows from(view_of(c.tensor(x.x_at)), 1), to(view_of(c.tensor(x.y_at)), 1);
  const int64_t bytes = from.bytes();
  std::vector<char> send(static_cast<size_t>(x.tokens * bytes)),
      took(static_cast<size_t>(total * bytes)), scratch(static_cast<size_t>(bytes));
  for (size_t i = 0; i < order.size(); ++i) {
    std::memcpy(send.data() + static_cast<int64_t>(i) * bytes, from.read(order[i], scratch.data()),
                static_cast<size_t>(bytes));
  }
  if (const Status s = session.all_to_all_v(send.data(), blocks_of(sent, bytes), took.data(),
                                            blocks_of(received, bytes)))
    return s;
  for (int64_t row = 0; row < total; ++row) to.write(row, took.data() + row * bytes);
  RowTarget<int64_t>(view_of(c.tensor(x.counts_at)))
      .write(0, static_cast<int64_t>(received.size()), received.data());
  return 0;
}

Status plan_bandwidth(const BandwidthCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(kName);
  check.required("x", a.x)
      .required("dstRankId", a.to)
      .required("y", a.y)
      .required("receiveCnt", a.counts)
      .dtype("x", a.x)
      .dtype("dstRankId", a.to)
      .dtype("y", a.y)
      .dtype("receiveCnt", a.counts);
  if (!check.ok()) return check.status();
  if (!chip_is_950()) {
    return fail(kNoKernel,
                "%s: the chip is %s; chips of the 950 series have this operator, which "
                "ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
                kName, soc_name());
  }
  check.tiling();
  check_shapes(check, a);
  if (!check.ok()) return check.status();
  auto x = std::make_shared<Exchange>();
  if (const Status s = find_group(kName, a.group, &x->communicator)) return s;
  check_communicator(check, a, *x->communicator);
  if (!check.ok()) return check.status();
  x->tokens = a.x->shape[0];
  x->rows = a.y->shape[0];
  x->sends_only = a.mode == 1;
  x->text = hccl::describe("%s(h=%" PRId64 ", maxBs=%" PRId64 ", mode=%" PRId64 ")", kName,
                           a.x->shape[1], a.most, a.mode);
  PlanBuilder plan(kName);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  x->x_at = plan.input(a.x);
  x->to_at = plan.input(a.to);
  x->y_at = x->sends_only ? plan.unused(a.y) : plan.output(a.y);
  x->counts_at = x->sends_only ? plan.unused(a.counts) : plan.output(a.counts);
  const std::shared_ptr<const Exchange> kept = x;
  return plan.finish(
      [kept](PlanContext &c) {
        return hccl::together(*kept->communicator, kName, [&] { return run_exchange(*kept, c); });
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BandwidthTest,
             (const aclTensor *x, const aclTensor *dstRankId, const char *group, int64_t worldSize,
              int64_t maxBs, int64_t mode, [[maybe_unused]] const char *commAlg,
              [[maybe_unused]] int64_t aivNum, aclTensor *y, aclTensor *receiveCnt)) {
  return emu::plan_bandwidth({x, dstRankId, y, receiveCnt, group, worldSize, maxBs, mode},
                             workspaceSize, executor);
}
EMU_CATCH
