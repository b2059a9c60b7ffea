// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Rows go to the ranks of their experts and are multiplied there, or the products go back. Each
// rank says how many rows it sends to and gets from every expert: element r * e + i is about expert
// i of rank r, or about rank r and expert i of this rank.
#include "ops/mc2/exchange/grouped_exchange.h"

#include <cinttypes>
#include <cstring>

#include "aclnnop/mc2.h"
#include "core/pool.h"
#include "hccl/arguments.h"
#include "ops/mc2/exchange/grouped_exchange_scales.h"
#include "ops/mc2/operand.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

using hccl::Chip;

constexpr int64_t kMostRows = 52428800, kEndWidth = 65536, kMostSharedWidth = 12288;

bool is(const char *given, const char *text) { return given && std::strcmp(given, text) == 0; }

const char *x_name() { return "gmmX"; }
const char *y_name(const GroupedExchangeCall &a) { return a.first_exchanges ? "gmmY" : "y"; }

void check_dtypes(Check &check, const GroupedExchangeCall &a) {
  if (a.scales) return check_scaled_dtypes(check, a, x_name(), y_name(a));
  check.dtype_in(x_name(), a.x->dtype, dt::kHalf);
  check.same_dtype("gmmWeight", a.weight->dtype, x_name(), a.x->dtype);
  check.same_dtype(y_name(a), a.y->dtype, x_name(), a.x->dtype);
  if (a.mm_x) check.same_dtype("mmXOptional", a.mm_x->dtype, x_name(), a.x->dtype);
  if (a.mm_weight) check.same_dtype("mmWeightOptional", a.mm_weight->dtype, x_name(), a.x->dtype);
  if (a.mm_y) check.same_dtype("mmYOptional", a.mm_y->dtype, x_name(), a.x->dtype);
  if (a.keeps && a.permuted)
    check.same_dtype("permuteOutOptional", a.permuted->dtype, x_name(), a.x->dtype);
}

void check_presence(Check &check, const GroupedExchangeCall &a) {
  check.required(x_name(), a.x).required("gmmWeight", a.weight);
  check.optional("sendCountsTensorOptional", a.send_tensor);
  check.optional("recvCountsTensorOptional", a.receive_tensor);
  check.optional("mmXOptional", a.mm_x).optional("mmWeightOptional", a.mm_weight);
  check.required_text("group", a.group);
  check.required("sendCounts", a.send).required("recvCounts", a.receive);
  check.required(y_name(a), a.y).optional("mmYOptional", a.mm_y);
  if (a.scales) {
    check.required("gmmXScale", a.scales->x).required("gmmWeightScale", a.scales->weight);
    check.optional("mmXScaleOptional", a.scales->mm_x);
    check.optional("mmWeightScaleOptional", a.scales->mm_weight);
    check.optional("commQuantScaleOptional", a.scales->travelling);
  }
  if (a.keeps) check.required("permuteOutOptional", a.permuted);
  check.optional("permuteOutOptional", a.permuted);
}

// The sum of a list of counts.
int64_t check_counts(Check &check, const char *name, const aclIntArray &counts, int64_t expected) {
  check.that(static_cast<int64_t>(counts.values.size()) == expected,
             "%s has %zu elements; it must have %" PRId64 ", one per rank and expert", name,
             counts.values.size(), expected);
  int64_t sum = 0;
  for (size_t i = 0; check.ok() && i < counts.values.size(); ++i) {
    check.that(counts.values[i] >= 0 && counts.values[i] <= kMostRows,
               "%s[%zu] is %" PRId64 "; it must be 0 to %" PRId64, name, i, counts.values[i],
               kMostRows);
    if (check.ok()) sum += counts.values[i];
  }
  check.that(sum <= kMostRows, "%s adds up to %" PRId64 "; at most %" PRId64 " rows are allowed",
             name, sum, kMostRows);
  return sum;
}

void check_shape(Check &check, const char *name, const aclTensor *tensor, int64_t rows,
                 int64_t columns) {
  const int64_t shape[] = {rows, columns};
  if (check.ok()) check.shape(name, tensor, dense_layout(shape, 2));
}

void check_shared(Check &check, const GroupedExchangeCall &a) {
  check.that(
      (a.mm_x != nullptr) == (a.mm_weight != nullptr) && (a.mm_x != nullptr) == (a.mm_y != nullptr),
      "mmXOptional, mmWeightOptional and mmYOptional must be given together");
  if (!a.mm_x || !check.ok()) return;
  check.rank("mmXOptional", a.mm_x, 2, 2).rank("mmWeightOptional", a.mm_weight, 2, 2);
  if (!check.ok()) return;
  const int64_t depth = a.mm_weight->shape[a.mm_transposed ? 1 : 0],
                columns = a.mm_weight->shape[a.mm_transposed ? 0 : 1];
  check.that(a.mm_x->shape[1] == depth,
             "mmXOptional has %" PRId64 " columns, but mmWeightOptional has %" PRId64
             " rows to multiply",
             a.mm_x->shape[1], depth);
  check.that(depth > 0 && depth <= kMostSharedWidth && columns > 0 && columns < kEndWidth,
             "mmWeightOptional is of %" PRId64 " x %" PRId64 "; allowed: up to 12288 x 65535",
             depth, columns);
  check_shape(check, "mmYOptional", a.mm_y, a.mm_x->shape[0], columns);
}

// All shapes; `experts` are those of this rank.
void check_shapes(Check &check, const GroupedExchangeCall &a) {
  check.that(!a.send_tensor, "sendCountsTensorOptional is given; it must be null");
  check.that(!a.receive_tensor, "recvCountsTensorOptional is given; it must be null");
  check.rank(x_name(), a.x, 2, 2).rank("gmmWeight", a.weight, 3, 3);
  check.plain_format(x_name(), a.x).plain_format("gmmWeight", a.weight);
  if (!check.ok()) return;
  const int64_t experts = a.weight->shape[0], depth = a.weight->shape[a.transposed ? 2 : 1],
                columns = a.weight->shape[a.transposed ? 1 : 2];
  const bool many = a.first_exchanges && !a.scales;
  const int most_ranks = a.scales ? 256 : 128;
  check.that(a.ranks >= 2 && a.ranks <= most_ranks,
             "epWorldSize is %" PRId64 "; it must be 2 to %d", a.ranks, most_ranks);
  check.that(experts > 0 && experts <= (many ? 48 : 32),
             "gmmWeight has %" PRId64 " experts; allowed: 1 to %d", experts, many ? 48 : 32);
  if (!check.ok()) return;
  check.that(experts * a.ranks <= (many ? 384 : 256),
             "all ranks have %" PRId64 " experts; at most %d are allowed", experts * a.ranks,
             many ? 384 : 256);
  check.that(depth > 0 && depth < kEndWidth && columns > 0 && columns < kEndWidth,
             "gmmWeight has matrices of %" PRId64 " x %" PRId64 "; allowed: 1 to 65535", depth,
             columns);
  if (!check.ok()) return;
  const int64_t sent = check_counts(check, "sendCounts", *a.send, experts * a.ranks),
                received = check_counts(check, "recvCounts", *a.receive, experts * a.ranks);
  check_shape(check, x_name(), a.x, sent, depth);
  check_shape(check, y_name(a), a.y, received, columns);
  if (a.keeps) check_shape(check, "permuteOutOptional", a.permuted, received, depth);
  check_shared(check, a);
}

struct Problem {
  const char *op;
  bool first_exchanges, transposed, mm_transposed, keeps;
  std::shared_ptr<hccl::Communicator> communicator;
  int64_t experts, depth, columns;
  std::vector<int64_t> send, receive;
  size_t x, weight, mm_x, mm_weight, y, mm_y, permuted;
  uint64_t first_bytes, second_bytes, sent_scales = 0, received_scales = 0;
  hccl::Call text;
  bool scaled = false, powers = false;
  size_t x_scale = 0, weight_scale = 0, mm_x_scale = 0, mm_weight_scale = 0;
  uint64_t x_row = 0;  // bytes of a row of x

  // Of a row that travels.
  uint64_t row_bytes() const {
    return first_exchanges ? x_row : static_cast<uint64_t>(columns) * 2;
  }
  // Of the scales that go with it.
  uint64_t scale_row() const { return powers ? static_cast<uint64_t>(scale_pairs(depth)) * 2 : 0; }
};

std::vector<hccl::Block> blocks_of(const std::vector<int64_t> &counts, int64_t experts,
                                   uint64_t row) {
  std::vector<hccl::Block> blocks;
  uint64_t at = 0;
  for (size_t i = 0; i < counts.size(); i += static_cast<size_t>(experts)) {
    int64_t rows = 0;
    for (int64_t e = 0; e < experts; ++e) rows += counts[i + static_cast<size_t>(e)];
    blocks.push_back({static_cast<uint64_t>(rows) * row, at});
    at += blocks.back().bytes;
  }
  return blocks;
}

// Rows that lie by rank, then by expert, in the order of experts and ranks (or the way back).
void regroup(const std::vector<int64_t> &counts, int64_t experts, uint64_t row, const char *from,
             char *to, bool back) {
  const auto each = static_cast<size_t>(experts), ranks = counts.size() / each;
  std::vector<uint64_t> by_expert(counts.size());
  uint64_t at = 0;
  for (size_t e = 0; e < each; ++e) {
    for (size_t r = 0; r < ranks; ++r) {
      by_expert[r * each + e] = at;
      at += static_cast<uint64_t>(counts[r * each + e]) * row;
    }
  }
  at = 0;
  for (size_t i = 0; i < counts.size(); ++i) {
    const uint64_t bytes = static_cast<uint64_t>(counts[i]) * row;
    std::memcpy(to + (back ? at : by_expert[i]), from + (back ? by_expert[i] : at), bytes);
    at += bytes;
  }
}

// The product of each expert's rows, which lie together.
void multiply_groups(const Problem &p, PlanContext &c, const std::vector<int64_t> &counts,
                     const char *rows, const char *scales, char *out) {
  const aclTensor &weight = c.tensor(p.weight);
  const aclDataType dtype = c.tensor(p.x).dtype, result = c.tensor(p.y).dtype;
  const MatrixStack stack = matrix_stack(weight);
  const auto each = static_cast<size_t>(p.experts);
  for (size_t e = 0; e < each; ++e) {
    int64_t count = 0;
    for (size_t i = e; i < counts.size(); i += each) count += counts[i];
    if (count > 0 && p.scaled) {
      const ScaledMatrix left(rows, dtype, count, p.depth, c.tensor(p.x_scale), scales);
      const ScaledMatrix right(weight, p.transposed, c.tensor(p.weight_scale),
                               static_cast<int64_t>(e));
      multiply_scaled(left, right, result, out);
    } else if (count > 0) {
      const OperandMatrix left(rows, dtype, count, p.depth);
      const Matrix stored = stack.at(static_cast<int64_t>(e) * stack.batch.stride[0]);
      Contribution mine;
      mine.left = left.matrix();
      mine.right = p.transposed ? stored.transposed() : stored;
      mine.rows = out;
      mine.dtype = result;
      contribute(mine);
    }
    rows += static_cast<uint64_t>(count) * p.x_row;
    scales += static_cast<uint64_t>(count) * p.scale_row();
    out += static_cast<uint64_t>(count * p.columns) * 2;
  }
}

void multiply_shared(const Problem &p, PlanContext &c) {
  if (!c.has(p.mm_x)) return;
  const aclTensor &y = c.tensor(p.mm_y), &x = c.tensor(p.mm_x), &weight = c.tensor(p.mm_weight);
  std::vector<char> rows(static_cast<size_t>(y.numel() * 2));
  if (p.scaled) {
    multiply_scaled(ScaledMatrix(x, c.tensor(p.mm_x_scale)),
                    ScaledMatrix(weight, p.mm_transposed, c.tensor(p.mm_weight_scale), 0), y.dtype,
                    rows.data());
  } else {
    const OperandMatrix left(x), right(weight, p.mm_transposed);
    Contribution mine;
    mine.left = left.matrix();
    mine.right = right.matrix();
    mine.rows = rows.data();
    mine.dtype = y.dtype;
    contribute(mine);
  }
  copy_view({rows.data(), y.dtype, dense_like(layout_of(y))}, view_of(y));
}

// The scales of rows go where the rows go.
Status exchange_scales(const Problem &p, PlanContext &c, hccl::Session &session, char *buffer) {
  char *received = buffer + p.sent_scales, *grouped = received + p.received_scales;
  const uint64_t row = p.scale_row();
  copy_operand(c.tensor(p.x_scale), buffer);
  if (const Status s = session.all_to_all_v(buffer, blocks_of(p.send, p.experts, row), received,
                                            blocks_of(p.receive, p.experts, row)))
    return s;
  regroup(p.receive, p.experts, row, received, grouped, false);
  return 0;
}

Status run(const Problem &p, PlanContext &c) {
  hccl::Session session(*p.communicator, p.text);
  if (const Status s = session.begin()) return s;
  const aclTensor &x = c.tensor(p.x), &y = c.tensor(p.y);
  auto *scales = static_cast<char *>(c.workspace());
  char *const one = scales + p.sent_scales + 2 * p.received_scales, *other = one + p.first_bytes;
  const uint64_t row = p.row_bytes();
  const auto to = blocks_of(p.send, p.experts, row), from = blocks_of(p.receive, p.experts, row);
  if (p.first_exchanges) {
    if (p.powers) {
      if (const Status s = exchange_scales(p, c, session, scales)) return s;
    }
    copy_operand(x, one);
    if (const Status s = session.all_to_all_v(one, to, other, from)) return s;
    char *grouped = other + p.second_bytes;
    regroup(p.receive, p.experts, row, other, grouped, false);
    if (p.keeps) {
      const aclTensor &kept = c.tensor(p.permuted);
      if (halves_bytes(kept.dtype))  // dense
        std::memcpy(static_cast<char *>(kept.data) + kept.offset / 2, grouped,
                    operand_bytes(kept.dtype, kept.numel()));
      else copy_view({grouped, kept.dtype, dense_like(layout_of(kept))}, view_of(kept));
    }
    char *rows = grouped + p.second_bytes;
    multiply_groups(p, c, p.receive, grouped, scales + p.sent_scales + p.received_scales, rows);
    copy_view({rows, y.dtype, dense_like(layout_of(y))}, view_of(y));
  } else {
    const uint64_t sent = aligned(static_cast<uint64_t>(x.shape[0]) * p.x_row);
    char *products = one + sent, *ordered = products + p.first_bytes;
    copy_operand(x, one);
    if (p.powers) copy_operand(c.tensor(p.x_scale), scales);
    multiply_groups(p, c, p.send, one, scales, products);
    regroup(p.send, p.experts, row, products, ordered, true);
    char *received = ordered + p.first_bytes;
    if (const Status s = session.all_to_all_v(ordered, to, received, from)) return s;
    copy_view({received, y.dtype, dense_like(layout_of(y))}, view_of(y));
  }
  multiply_shared(p, c);
  return 0;
}

}  // namespace

Status plan_grouped_exchange(const GroupedExchangeCall &a, uint64_t *workspace_size,
                             aclOpExecutor **executor) {
  const Chip chip = hccl::chip();
  Check check(a.op);
  check_presence(check, a);
  if (!check.ok()) return check.status();
  check_dtypes(check, a);
  if (a.scales) {
    if (const Status s = check_chip(check, kInvalid)) return s;
  }
  const bool known =
      !a.comm_mode || is(a.comm_mode, "ai_cpu") || (is(a.comm_mode, "ccu") && chip == Chip::a5);
  check.that(known, "commMode is \"%.40s\"; on %s it can be \"ai_cpu\"%s", a.comm_mode,
             hccl::chip_text(), chip == Chip::a5 ? " or \"ccu\"" : "");
  if (check.ok()) check_shapes(check, a);
  if (check.ok() && a.scales) check_scales(check, a);
  if (!check.ok()) return check.status();
  auto p = std::make_shared<Problem>();
  if (const Status s = find_group(a.op, a.group, &p->communicator)) return s;
  Check tiling = tiling_check(a.op);
  tiling.that(p->communicator->size() == a.ranks,
              "epWorldSize is %" PRId64 ", but the communicator %s has %u ranks", a.ranks,
              p->communicator->name().c_str(), p->communicator->size());
  if (!tiling.ok()) return tiling.status();
  p->op = a.op;
  p->first_exchanges = a.first_exchanges;
  p->transposed = a.transposed;
  p->mm_transposed = a.mm_transposed;
  p->keeps = a.keeps;
  p->experts = a.weight->shape[0];
  p->depth = a.weight->shape[a.transposed ? 2 : 1];
  p->columns = a.weight->shape[a.transposed ? 1 : 2];
  p->send.assign(a.send->values.begin(), a.send->values.end());
  p->receive.assign(a.receive->values.begin(), a.receive->values.end());
  p->x_row = operand_bytes(a.x->dtype, p->depth);
  p->scaled = a.scales != nullptr;
  p->powers = p->scaled && a.scales->powers();
  p->text = hccl::describe("%s(experts=%" PRId64 ", width=%" PRId64 ", dtype=%s)", a.op, p->experts,
                           a.first_exchanges ? p->depth : p->columns, dtype_name(a.x->dtype));
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  p->x = plan.input(a.x);
  p->weight = plan.input(a.weight);
  if (a.scales) {
    p->x_scale = plan.input(a.scales->x);
    p->weight_scale = plan.input(a.scales->weight);
  }
  plan.unused(a.send_tensor);
  plan.unused(a.receive_tensor);
  p->mm_x = plan.input(a.mm_x);
  p->mm_weight = plan.input(a.mm_weight);
  if (a.scales) {
    p->mm_x_scale = plan.input(a.scales->mm_x);
    p->mm_weight_scale = plan.input(a.scales->mm_weight);
    if (!a.first_exchanges) plan.unused(a.scales->travelling);
  }
  p->y = plan.output(a.y);
  p->mm_y = plan.output(a.mm_y);
  if (a.first_exchanges) p->permuted = a.keeps ? plan.output(a.permuted) : plan.unused(a.permuted);
  const auto sent = static_cast<uint64_t>(a.x->shape[0]),
             received = static_cast<uint64_t>(a.y->shape[0]), row = p->row_bytes();
  p->first_bytes = aligned(sent * row);
  p->second_bytes = aligned(received * row);
  const uint64_t result = aligned(received * static_cast<uint64_t>(p->columns) * 2);
  if (p->powers) {
    p->sent_scales = aligned(sent * p->scale_row());
    if (a.first_exchanges) p->received_scales = aligned(received * p->scale_row());
  }
  const uint64_t scales = p->sent_scales + 2 * p->received_scales;
  plan.workspace(scales + (a.first_exchanges
                               ? p->first_bytes + 2 * p->second_bytes + result
                               : aligned(sent * p->x_row) + 2 * p->first_bytes + p->second_bytes));
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p->communicator, p->op, [&] { return run(*p, c); });
      },
      workspace_size, executor);
}

}  // namespace emu
