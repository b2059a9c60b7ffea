// SPDX-License-Identifier: Apache-2.0
// What the kernels that spread experts over ranks take, by chip.
#include <cinttypes>
#include <climits>
#include <cstring>

#include "hccl/arguments.h"
#include "ops/mc2/experts/experts.h"

namespace emu {
namespace {

using hccl::Chip;

constexpr int64_t kMostExperts = 1024, kMostHierarchyExperts = 512, kMostEach = 16;

bool is(const char *given, const char *text) { return given && std::strcmp(given, text) == 0; }

bool known_algorithm(const ExpertAttributes &a, Chip chip) {
  if (!a.comm_alg || !*a.comm_alg) return true;
  if (chip == Chip::a2) return is(a.comm_alg, "fullmesh") || a.hierarchy();
  if (a.version < 3) return false;
  return is(a.comm_alg, "fullmesh_v1") || is(a.comm_alg, "fullmesh_v2") ||
         (a.hierarchy() && chip == Chip::a3 && a.version > 3);
}

const char *algorithms(const ExpertAttributes &a, Chip chip) {
  if (chip == Chip::a2) return "\"\", \"fullmesh\" or \"hierarchy\"";
  if (a.version < 3) return "null or \"\"";
  return chip == Chip::a3 && a.version > 3
             ? "\"\", \"fullmesh_v1\", \"fullmesh_v2\" or \"hierarchy\""
             : "\"\", \"fullmesh_v1\" or \"fullmesh_v2\"";
}

bool known_size(const ExpertAttributes &a, Chip chip) {
  const int64_t n = a.ep_size;
  if (a.hierarchy())
    return chip == Chip::a2 ? n == 16 || n == 32 || n == 64 : n >= 16 && n <= 256 && n % 16 == 0;
  if (chip == Chip::a3) return n >= 2 && n <= 768;
  if (chip == Chip::a5) return n >= 2 && n <= 1024;
  if (n >= 2 && n <= 8) return true;
  for (const int64_t size : {16, 32, 64, 128, 192, 256, 384}) {
    if (n == size) return true;
  }
  return false;
}

void check_sizes(Check &check, const ExpertAttributes &a, Chip chip) {
  check.that(known_algorithm(a, chip), "commAlg is \"%.40s\"; on %s it can be %s", a.comm_alg,
             hccl::chip_text(), algorithms(a, chip));
  check.that(known_size(a, chip), "epWorldSize is %" PRId64 "; %s has no kernel for so many ranks",
             a.ep_size, hccl::chip_text());
  check.that(a.ep_rank >= 0 && a.ep_rank < a.ep_size,
             "epRankId is %" PRId64 "; it must be in [0, %" PRId64 ")", a.ep_rank, a.ep_size);
  check.that(a.shard_type == 0,
             "expertShardType is %" PRId64 "; only 0 (shared experts come first) is supported",
             a.shard_type);
  const bool a2 = chip == Chip::a2;
  check.that(a.tp_size >= 0 && a.tp_size <= (chip == Chip::a3 ? 2 : 1),
             "tpWorldSize is %" PRId64 "; on %s it can be at most %d", a.tp_size, hccl::chip_text(),
             chip == Chip::a3 ? 2 : 1);
  check.that(a.tp_rank >= 0 && a.tp_rank < (a.tp_size == 2 ? 2 : 1),
             "tpRankId is %" PRId64 "; tpWorldSize is %" PRId64, a.tp_rank, a.tp_size);
  check.that(a.shared_ranks >= 0 && a.shared_ranks < (a2 ? 1 : a.ep_size),
             "sharedExpertRankNum is %" PRId64 "; it must be in [0, %" PRId64 ")", a.shared_ranks,
             a2 ? 1 : a.ep_size);
  check.that(a.shared_experts >= 0 && a.shared_experts <= 4,
             "sharedExpertNum is %" PRId64 "; it must be in [0, 4]", a.shared_experts);
  if (!check.ok()) return;
  check.that(a.shared_ranks == 0 ? a.shared_experts <= 1
                                 : a.shared_experts > 0 && a.shared_ranks % a.shared_experts == 0,
             "sharedExpertNum is %" PRId64 " and sharedExpertRankNum %" PRId64
             "; every shared expert needs the same number of ranks, and without ranks there is at "
             "most one",
             a.shared_experts, a.shared_ranks);
  const int64_t most = a.hierarchy() ? kMostHierarchyExperts : kMostExperts;
  check.that(a.moe_experts > 0 && a.moe_experts <= most,
             "moeExpertNum is %" PRId64 "; it must be in [1, %" PRId64 "]", a.moe_experts, most);
  check.that(a.moe_experts % (a.ep_size - a.shared_ranks) == 0,
             "moeExpertNum is %" PRId64 "; %" PRId64 " ranks cannot share them evenly",
             a.moe_experts, a.ep_size - a.shared_ranks);
}

void check_special(Check &check, const ExpertAttributes &a, Chip chip) {
  const struct {
    const char *name;
    int64_t count;
    bool allowed;
  } kinds[] = {{"zeroExpertNum", a.zero_experts, true},
               {"copyExpertNum", a.copy_experts, true},
               {"constExpertNum", a.constant_experts, chip != Chip::a2}};
  for (const auto &kind : kinds) {
    check.that(kind.count >= 0 && kind.count < INT32_MAX,
               "%s is %" PRId64 "; it must be in [0, 2147483647)", kind.name, kind.count);
    check.that(kind.count <= 0 || (kind.allowed && !a.hierarchy()),
               "%s is %" PRId64 "; here only 0 is supported", kind.name, kind.count);
  }
  if (!check.ok()) return;
  check.that(a.all_experts() < INT32_MAX,
             "there are %" PRId64 " experts in all; fewer than %d can be", a.all_experts(),
             INT32_MAX);
}

void check_tokens(Check &check, const ExpertAttributes &a, Chip chip, const Experts &e) {
  const bool a2 = chip == Chip::a2;
  const bool small = a2 ? !a.hierarchy() : a.hierarchy() || is(a.comm_alg, "fullmesh_v2");
  const int64_t most_tokens = small ? 256 : 512, widest = a2 ? 10240 : 8192;
  check.that(e.tokens > 0 && e.tokens <= most_tokens,
             "there are %" PRId64 " tokens (BS); it must be 1 to %" PRId64, e.tokens, most_tokens);
  check.that(a2 ? e.width > 0 && e.width <= widest && e.width % 32 == 0
                : e.width >= 1024 && e.width <= widest,
             "a token has %" PRId64 " values (H); on %s it must be %s", e.width, hccl::chip_text(),
             a2 ? "a multiple of 32 up to 10240" : "1024 to 8192");
  check.that(e.each > 0 && e.each <= std::min(kMostEach, a.all_experts()),
             "a token has %" PRId64 " experts (K); it must be 1 to %" PRId64, e.each,
             std::min(kMostEach, a.all_experts()));
  if (!check.ok()) return;
  check.that(e.most_tokens >= e.tokens && e.most_tokens <= most_tokens && a.global_bs >= 0 &&
                 (a.global_bs == 0 || a.global_bs % a.ep_size == 0),
             "globalBs is %" PRId64
             "; it must be 0, or the number of ranks times the most tokens (BS) of any rank, at "
             "least %" PRId64,
             a.global_bs, e.tokens * a.ep_size);
  if (!check.ok() || a2) return;
  check.that(e.local * a.ep_size <= 2048,
             "a rank has %" PRId64 " experts; times the number of ranks it must be at most 2048",
             e.local);
}

// The window of the communicator has to hold what is under way.
void check_buffer(Check &check, const ExpertAttributes &a, Chip chip, const Experts &e) {
  if (!check.ok() || a.hierarchy()) return;
  const auto up = [](int64_t bytes, int64_t step) { return (bytes + step - 1) / step * step; };
  const int64_t local = e.local, tokens = e.most_tokens;
  int64_t needed;
  if (chip == Chip::a2) {
    needed = 2 * (tokens * a.ep_size * std::min(local, e.each) * e.width * 2 + (int64_t{2} << 20));
  } else {
    const int64_t row = up(2 * e.width, 32) + 64;
    const int64_t slot = is(a.comm_alg, "fullmesh_v2") ? (row + 479) / 480 * 512 : up(row, 512);
    needed = 2 * (local * tokens * a.ep_size * slot +
                  (e.each + a.shared_experts) * tokens * up(2 * e.width, 512));
  }
  const int64_t megabytes = (needed + (int64_t{1} << 20) - 1) >> 20;
  check.that(int64_t{e.ep->config().buffer_megabytes} >= megabytes,
             "the communicator %s has a buffer of %u MB, but needs %" PRId64
             " MB; set HCCL_BUFFSIZE before it is made",
             e.ep->name().c_str(), e.ep->config().buffer_megabytes, megabytes);
}

Status find(const ExpertAttributes &a, const char *group, const char *size_name, int64_t size,
            std::shared_ptr<hccl::Communicator> *found) {
  const char *parameter = *size_name == 'e' ? "groupEp" : "groupTp";
  if (const Status s = find_group(a.op, group, found, parameter)) return s;
  Check check = tiling_check(a.op);
  check.that((*found)->size() == size, "%s is %" PRId64 ", but the communicator %s has %u ranks",
             size_name, size, (*found)->name().c_str(), (*found)->size());
  return check.status();
}

}  // namespace

bool ExpertAttributes::hierarchy() const { return is(comm_alg, "hierarchy"); }

Status find_experts(const ExpertAttributes &a, int64_t tokens, int64_t each, int64_t width,
                    Experts *e) {
  const Chip chip = hccl::chip();
  Check check = tiling_check(a.op);
  check.that(chip == Chip::a2 || chip == Chip::a3 || chip == Chip::a5,
             "the operator does not exist on %s", hccl::chip_text());
  check_sizes(check, a, chip);
  check_special(check, a, chip);
  if (!check.ok()) return check.status();
  e->op = a.op;
  e->moe = a.moe_experts;
  e->shared = a.shared_experts;
  e->shared_ranks = a.shared_ranks;
  e->zero = a.zero_experts;
  e->copy = a.copy_experts;
  e->constant = a.constant_experts;
  e->local = a.moe_experts / (a.ep_size - a.shared_ranks);
  e->tokens = tokens;
  e->each = each;
  e->width = width;
  e->most_tokens = a.global_bs > 0 ? a.global_bs / a.ep_size : tokens;
  check_tokens(check, a, chip, *e);
  const bool with_tp = a.tp_size == 2;
  check.that(!with_tp || e->local == 1,
             "tpWorldSize is 2 and a rank has %" PRId64
             " experts; with tensor parallelism it has one",
             e->local);
  check.that(!with_tp || !a.hierarchy(), "commAlg is \"hierarchy\"; then tpWorldSize must be 1");
  check.that(!a.hierarchy() || a.shared_ranks == 0,
             "commAlg is \"hierarchy\"; then sharedExpertRankNum must be 0");
  if (!check.ok()) return check.status();
  if (const Status s = find(a, a.group_ep, "epWorldSize", a.ep_size, &e->ep)) return s;
  check.that(a.ep_rank == e->ep->rank(),
             "epRankId is %" PRId64 ", but this is rank %u of the communicator %s", a.ep_rank,
             e->ep->rank(), e->ep->name().c_str());
  if (with_tp && check.ok()) {
    if (const Status s = find(a, a.group_tp, "tpWorldSize", 2, &e->tp)) return s;
    check.that(e->tp != e->ep, "groupTp is the same as groupEp");
    check.that(a.tp_rank == e->tp->rank(),
               "tpRankId is %" PRId64 ", but this is rank %u of the communicator %s", a.tp_rank,
               e->tp->rank(), e->tp->name().c_str());
  }
  check_buffer(check, a, chip, *e);
  return check.status();
}

}  // namespace emu
