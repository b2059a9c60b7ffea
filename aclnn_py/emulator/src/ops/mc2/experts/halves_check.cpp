// SPDX-License-Identifier: Apache-2.0
// What phase one of the halves of dispatch and combine takes. Their documents name the few sizes
// that the kernels are made for.
#include <cinttypes>
#include <cstring>

#include "core/chip.h"
#include "hccl/arguments.h"
#include "ops/mc2/experts/halves.h"

namespace emu {
namespace {

constexpr int64_t kExperts = 32, kUrma = 2, kWordsPerRow = 128;

bool one_of(int64_t value, std::initializer_list<int64_t> allowed) {
  for (const int64_t other : allowed)
    if (value == other) return true;
  return false;
}

constexpr int64_t up(int64_t value, int64_t step) { return (value + step - 1) / step * step; }

void check_attributes(Check &check, const HalfCall &a) {
  const ExpertAttributes &e = a.attributes;
  check.that(e.group_ep != nullptr && *e.group_ep != 0 && std::strlen(e.group_ep) < 128,
             "groupEp is null, empty or longer than 127 bytes; it is the name HcclGetCommName "
             "gives");
  check.that(one_of(e.ep_size, {2, 8}), "epWorldSize is %" PRId64 "; it can be 2 or 8", e.ep_size);
  check.that(e.ep_rank >= 0 && e.ep_rank < e.ep_size,
             "epRankId is %" PRId64 "; it must be in [0, %" PRId64 ")", e.ep_rank, e.ep_size);
  check.that(e.moe_experts == kExperts, "moeExpertNum is %" PRId64 "; it must be 32",
             e.moe_experts);
  check.that(e.shard_type == 0, "%s is %" PRId64 "; it must be 0", a.shard_name, e.shard_type);
  check.that(e.shared_experts == 0, "sharedExpertNum is %" PRId64 "; it must be 0",
             e.shared_experts);
  check.that(e.shared_ranks == 0, "sharedExpertRankNum is %" PRId64 "; it must be 0",
             e.shared_ranks);
  check.that(a.mode == 0, "%s is %" PRId64 "; only 0 (no quantisation) is supported", a.mode_name,
             a.mode);
  check.that(a.comm_type == kUrma, "commType is %" PRId64 "; only 2 (URMA) is supported",
             a.comm_type);
  check.that(e.comm_alg == nullptr || *e.comm_alg == 0,
             "commAlg is \"%.40s\"; it must be null or empty", e.comm_alg);
}

void check_shape(Check &check, const char *name, const aclTensor *tensor,
                 std::initializer_list<int64_t> expected) {
  if (tensor && check.ok())
    check.shape(name, tensor, dense_layout(expected.begin(), static_cast<int>(expected.size())));
}

// The window of the communicator has to hold what is under way.
void check_buffer(Check &check, const Experts &e) {
  if (!check.ok()) return;
  const int64_t row = up(up(2 * e.width, 32) + 44, 512);
  const int64_t needed = 4 * (e.local * e.most_tokens * e.ranks() * row +
                              e.each * e.most_tokens * up(2 * e.width, 512));
  const int64_t megabytes = (needed + (int64_t{1} << 20) - 1) >> 20;
  check.that(int64_t{e.ep->config().buffer_megabytes} >= megabytes,
             "the communicator %s has a buffer of %u MB, but needs %" PRId64
             " MB; set HCCL_BUFFSIZE before it is made",
             e.ep->name().c_str(), e.ep->config().buffer_megabytes, megabytes);
}

void check_rows(Check &check, const char *name, const aclTensor *tensor, const Experts &e) {
  check.rank(name, tensor, 2, 2);
  if (!check.ok()) return;
  check.that(tensor->shape[1] == e.width && tensor->shape[0] >= e.capacity(),
             "%s has shape %s; it must have at least %" PRId64
             " rows, the most that this rank may receive, of %" PRId64 " values",
             name, shape_text(layout_of(*tensor)).c_str(), e.capacity(), e.width);
}

// The bytes of a row of combine on its way; see the document.
int64_t combine_bytes(int64_t width) {
  return up(up(width, 32) + up(width, 8) / 8 * static_cast<int64_t>(sizeof(float)), 512);
}

}  // namespace

Status check_half(const HalfCall &a, const char *x_name, const aclTensor *x, const aclTensor *ids,
                  Experts *experts) {
  const char *op = a.attributes.op;
  if (hccl::chip() != hccl::Chip::a5) {
    return fail(kNoKernel,
                "%s: the chip is %s; chips of the 950 series have this operator, which "
                "ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
                op, soc_name());
  }
  Check check = tiling_check(op);
  check_attributes(check, a);
  check.rank(x_name, x, 2, 2).rank("expertIds", ids, 2, 2);
  if (!check.ok()) return check.status();
  const int64_t tokens = ids->shape[0], each = ids->shape[1], width = x->shape[1];
  check.that(one_of(tokens, {8, 16, 256}),
             "expertIds has %" PRId64 " tokens (BS); it can be 8, 16 or 256", tokens);
  check.that(one_of(each, {6, 8}),
             "expertIds has %" PRId64 " experts of each token (K); it can be 6 or 8", each);
  check.that(one_of(width, {4096, 7168}),
             "%s has rows of %" PRId64 " values (H); it can be 4096 or 7168", x_name, width);
  if (!check.ok()) return check.status();
  if (const Status s = find_experts(a.attributes, tokens, each, width, experts)) return s;
  check_buffer(check, *experts);
  return check.status();
}

Status check_dispatch_teardown(const DispatchCall &a, const HalfCall &half, Experts *experts) {
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"x", a.x},
      {"y", a.y},
      {"expertIds", a.ids},
      {"commCmdInfo", a.commands},
      {"expandXOut", a.expanded},
      {"dynamicScalesOut", a.dynamic_scales},
      {"assistInfoForCombineOut", a.assist},
      {"expertTokenNumsOut", a.expert_counts}};
  Check check(a.attributes.op);
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  if (!check.ok()) return check.status();
  check.same_dtype("y", a.y->dtype, "x", a.x->dtype);
  check.same_dtype("expandXOut", a.expanded->dtype, "x", a.x->dtype);
  if (!check.ok()) return check.status();
  if (const Status s = check_half(half, "x", a.x, a.ids, experts)) return s;
  const Experts &e = *experts;
  check.tiling();
  check.that(a.count_type == 1, "expertTokenNumsType is %" PRId64 "; it must be 1 (counts)",
             a.count_type);
  check_shape(check, "x", a.x, {e.tokens, e.width});
  check_shape(check, "y", a.y, {e.tokens * e.each, e.width});
  check_shape(check, "commCmdInfo", a.commands,
              {Commands::words(e.tokens * e.each, e.ranks() * e.local)});
  check_rows(check, "expandXOut", a.expanded, e);
  if (!check.ok()) return check.status();
  const int64_t rows = a.expanded->shape[0];
  check_shape(check, "dynamicScalesOut", a.dynamic_scales, {rows});
  check_shape(check, "assistInfoForCombineOut", a.assist,
              {check.size("expandXOut", Checked(rows) * kWordsPerRow)});
  check_shape(check, "expertTokenNumsOut", a.expert_counts, {e.local});
  return check.status();
}

Status check_combine_teardown(const CombineCall &a, const HalfCall &half, Experts *experts) {
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"expandX", a.expanded}, {"quantExpandX", a.quantised}, {"expertIds", a.ids},
      {"expandIdx", a.places}, {"expertScales", a.weights},   {"commCmdInfo", a.commands},
      {"xOut", a.out}};
  Check check(a.attributes.op);
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  check.optional("xActiveMaskOptional", a.mask).optional("sharedExpertXOptional", a.shared);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  check.dtype("xActiveMaskOptional", a.mask).dtype("sharedExpertXOptional", a.shared);
  if (!check.ok()) return check.status();
  check.same_dtype("xOut", a.out->dtype, "expandX", a.expanded->dtype);
  if (a.shared)
    check.same_dtype("sharedExpertXOptional", a.shared->dtype, "expandX", a.expanded->dtype);
  if (!check.ok()) return check.status();
  if (const Status s = check_half(half, "expandX", a.expanded, a.ids, experts)) return s;
  const Experts &e = *experts;
  check.tiling();
  check_rows(check, "expandX", a.expanded, e);
  if (!check.ok()) return check.status();
  const int64_t rows = a.expanded->shape[0];
  check_shape(check, "quantExpandX", a.quantised, {rows, combine_bytes(e.width)});
  check_shape(check, "expandIdx", a.places, {e.tokens * e.each});
  check_shape(check, "expertScales", a.weights, {e.tokens, e.each});
  check_shape(check, "commCmdInfo", a.commands,
              {check.size("expandX", (Checked(rows) + e.ranks()) * int64_t{16})});
  check_shape(check, "xActiveMaskOptional", a.mask, {e.tokens});
  check_shape(check, "xOut", a.out, {e.tokens, e.width});
  if (!a.shared || !check.ok()) return check.status();
  check.rank("sharedExpertXOptional", a.shared, 2, 3);
  if (!check.ok()) return check.status();
  const Layout given = layout_of(*a.shared);
  check.that(given.shape[given.rank - 1] == e.width && a.shared->numel() == e.tokens * e.width,
             "sharedExpertXOptional has shape %s; it must have %" PRId64 " rows of %" PRId64
             " values",
             shape_text(given).c_str(), e.tokens, e.width);
  return check.status();
}

Status check_dispatch_setup(const DispatchSetupCall &a, Experts *experts) {
  const std::pair<const char *, const aclTensor *> tensors[] = {{"x", a.x},
                                                                {"expertIds", a.ids},
                                                                {"yOut", a.y},
                                                                {"expandIdxOut", a.places},
                                                                {"commCmdInfoOut", a.commands}};
  Check check(a.half.attributes.op);
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  check.optional("scalesOptional", a.scales).optional("xActiveMaskOptional", a.mask);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  check.dtype("xActiveMaskOptional", a.mask);
  if (!check.ok()) return check.status();
  check.same_dtype("yOut", a.y->dtype, "x", a.x->dtype);
  check.that(!a.scales, "scalesOptional is given; with quantMode 0 it must be null");
  if (!check.ok()) return check.status();
  if (const Status s = check_half(a.half, "x", a.x, a.ids, experts)) return s;
  const Experts &e = *experts;
  check.tiling();
  check_shape(check, "x", a.x, {e.tokens, e.width});
  check_shape(check, "xActiveMaskOptional", a.mask, {e.tokens});
  check_shape(check, "yOut", a.y, {e.tokens * e.each, e.width});
  check_shape(check, "expandIdxOut", a.places, {e.tokens * e.each});
  check_shape(check, "commCmdInfoOut", a.commands,
              {Commands::words(e.tokens * e.each, e.ranks() * e.local)});
  return check.status();
}

Status check_combine_setup(const CombineSetupCall &a, Experts *experts) {
  const std::pair<const char *, const aclTensor *> tensors[] = {{"expandX", a.expanded},
                                                                {"expertIds", a.ids},
                                                                {"assistInfoForCombine", a.assist},
                                                                {"quantExpandXOut", a.quantised},
                                                                {"commCmdInfoOut", a.commands}};
  Check check(a.half.attributes.op);
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  if (!check.ok()) return check.status();
  if (const Status s = check_half(a.half, "expandX", a.expanded, a.ids, experts)) return s;
  const Experts &e = *experts;
  check.tiling();
  check_rows(check, "expandX", a.expanded, e);
  if (!check.ok()) return check.status();
  const int64_t rows = a.expanded->shape[0];
  check_shape(check, "assistInfoForCombine", a.assist,
              {check.size("expandX", Checked(rows) * kWordsPerRow)});
  check_shape(check, "quantExpandXOut", a.quantised, {rows, combine_bytes(e.width)});
  check_shape(check, "commCmdInfoOut", a.commands,
              {check.size("expandX", (Checked(rows) + e.ranks()) * int64_t{16})});
  return check.status();
}

}  // namespace emu
