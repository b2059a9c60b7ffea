// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// AlltoAllMatmul and MatmulAlltoAll with their quantised forms: rows are exchanged for columns
// before a product, or columns for rows behind it.
#include "ops/mc2/exchange/exchanged.h"

#include <cinttypes>
#include <climits>
#include <cstring>

#include "hccl/arguments.h"
#include "ops/matmul/dequantise.h"
#include "ops/mc2/operand.h"

namespace emu {
namespace {

using hccl::Chip;

constexpr int64_t kByChannel = 2, kByToken = 3, kDynamic = 7;
constexpr DtypeSet kRefused =
    dt::kFloat8 | dtype_set(ACL_HIFLOAT8, ACL_FLOAT4_E2M1, ACL_FLOAT4_E1M2);

bool is(const char *given, const char *text) { return given && std::strcmp(given, text) == 0; }

std::vector<hccl::Block> equal_blocks(uint32_t ranks, uint64_t bytes) {
  std::vector<hccl::Block> blocks;
  for (uint32_t r = 0; r < ranks; ++r) blocks.push_back({bytes, r * bytes});
  return blocks;
}

void check_presence(Check &check, const ExchangedCall &a) {
  check.required("x1", a.x1).required("x2", a.x2).optional("biasOptional", a.bias);
  if (a.quantised) {
    if (a.first_exchanges) check.optional("x1ScaleOptional", a.x1_scale);
    else check.required("x1Scale", a.x1_scale);
    check.required("x2Scale", a.x2_scale);
    check.optional("commScaleOptional", a.comm_scale).optional("x1OffsetOptional", a.x1_offset);
    check.optional("x2OffsetOptional", a.x2_offset);
  }
  check.optional("alltoAllAxesOptional", a.axes).required_text("group", a.group);
  if (a.names_mode) check.required_text("commMode", a.comm_mode);
  check.required("output", a.output).optional("alltoAllOutOptional", a.exchanged);
}

void check_bias(Check &check, const ExchangedCall &a, Chip chip) {
  check.that(a.bias || !a.quantised || a.first_exchanges || chip != Chip::a2,
             "biasOptional is null; on %s it must be given", hccl::chip_text());
  if (!a.bias || !check.ok()) return;
  const aclDataType own = a.quantised ? a.output->dtype : a.x1->dtype;
  DtypeSet allowed = dtype_set(own, ACL_FLOAT);
  if (!a.quantised && chip != Chip::a5) allowed = dtype_set(own == ACL_BF16 ? ACL_FLOAT : own);
  check.dtype_in("biasOptional", a.bias->dtype, allowed);
}

void check_dtypes(Check &check, const ExchangedCall &a, Chip chip) {
  check.dtype("x1", a.x1, kRefused).dtype("x2", a.x2, kRefused).dtype("biasOptional", a.bias);
  if (a.quantised) {
    check.dtype(a.first_exchanges ? "x1ScaleOptional" : "x1Scale", a.x1_scale);
    check.dtype("x2Scale", a.x2_scale);
  }
  check.dtype("output", a.output).dtype("alltoAllOutOptional", a.exchanged, kRefused);
  if (!check.ok()) return;
  if (a.exchanged) check.same_dtype("alltoAllOutOptional", a.exchanged->dtype, "x1", a.x1->dtype);
  if (!a.quantised) {
    check.same_dtype("x2", a.x2->dtype, "x1", a.x1->dtype);
    check.same_dtype("output", a.output->dtype, "x1", a.x1->dtype);
  } else {
    check.that(chip == Chip::a2, "the operator has integer products on an A2 only, not on %s",
               hccl::chip_text());
    check.dtype_in("output", a.output->dtype, dt::kHalf);
    if (!is_integer_operand(*a.x1)) check.same_dtype("output", a.output->dtype, "x1", a.x1->dtype);
    else check.same_dtype("x2", a.x2->dtype, "x1", a.x1->dtype);
  }
  check_bias(check, a, chip);
}

void check_modes(Check &check, const ExchangedCall &a) {
  check_exchange_modes(check, a);
  if (!a.quantised) return;
  check.that(a.group_size == 0, "groupSize is %" PRId64 "; here only 0 is supported", a.group_size);
  check.that(a.x2_mode == kByChannel, "x2QuantMode is %" PRId64 "; here it must be 2 (by channel)",
             a.x2_mode);
  const int64_t mode = is_integer_operand(*a.x1) ? kByToken : kDynamic;
  check.that(a.x1_mode == mode, "x1QuantMode is %" PRId64 "; x1 of dtype %s needs %" PRId64 " (%s)",
             a.x1_mode, dtype_name(a.x1->dtype), mode,
             mode == kByToken ? "by token" : "by token, dynamic");
  if (a.first_exchanges)
    check.that(mode == kDynamic || a.x1_scale,
               "x1ScaleOptional is null; x1 of dtype INT4 needs it");
}

// Shapes that need no communicator.
void check_shapes(Check &check, const ExchangedCall &a) {
  check.rank("x1", a.x1, 2, 2).rank("x2", a.x2, 2, 2).rank("output", a.output, 2, 2);
  check.rank("alltoAllOutOptional", a.exchanged, 2, 2).rank("biasOptional", a.bias, 1, 1);
  check.plain_format("x1", a.x1).plain_format("x2", a.x2).plain_format("output", a.output);
  if (!check.ok()) return;
  for (const aclTensor *tensor : {a.x1, a.x2, a.output}) {
    check.that(tensor->numel() > 0, "%s of shape %s has no elements",
               tensor == a.x1   ? "x1"
               : tensor == a.x2 ? "x2"
                                : "output",
               shape_text(layout_of(*tensor)).c_str());
  }
  check_packed_operand(check, "x1", a.x1);
  check_packed_operand(check, "x2", a.x2);
  if (a.exchanged && a.exchanged->dtype == ACL_INT4)
    check.that(
        layout_of(*a.exchanged).is_dense() && a.exchanged->offset % 2 == 0,
        "alltoAllOutOptional has dtype INT4; then it must be contiguous and start at a whole "
        "byte");
  if (a.x1->dtype == ACL_INT4)
    check.that(a.x1->shape[1] % 2 == 0 && layout_of(*a.x1).is_dense(),
               "x1 has dtype INT4; then it must be contiguous with an even number of columns");
}

void check_scale_shapes(Check &check, const ExchangedCall &a, int64_t ranks) {
  if (!a.quantised || !check.ok()) return;
  const int64_t n = a.columns(), rows = a.x1->shape[0], depth = a.x1->shape[1] * ranks;
  check.shape("x2Scale", a.x2_scale, dense_layout(&n, 1));
  check.dtype_in("x2Scale", a.x2_scale->dtype, dtype_set(ACL_FLOAT));
  if (!a.x1_scale || !check.ok()) return;
  const char *name = a.first_exchanges ? "x1ScaleOptional" : "x1Scale";
  if (a.x1_mode == kDynamic) {
    check.same_dtype(name, a.x1_scale->dtype, "x1", a.x1->dtype);
    check.shape(name, a.x1_scale, dense_layout(&depth, 1));
  } else {
    check.dtype_in(name, a.x1_scale->dtype, dtype_set(ACL_FLOAT));
    check.shape(name, a.x1_scale, dense_layout(&rows, 1));
  }
}

// The shapes that depend on the number of ranks.
void check_spread(Check &check, const ExchangedCall &a, int64_t ranks) {
  const int64_t rows = a.x1->shape[0], width = a.x1->shape[1], n = a.columns(), k = a.depth();
  check.size("x1", Checked(std::max(rows, k)) * ranks * std::max(width, n) * 8);
  if (!check.ok()) return;
  const int64_t depth = a.first_exchanges ? width * ranks : width;
  check.that(rows <= INT_MAX / ranks && n <= INT_MAX,
             "x1 has %" PRId64 " rows and x2 %" PRId64 " columns; neither may be above 2147483647",
             rows, n);
  check.that(depth <= 65535, "the product sums over %" PRId64 " values; at most 65535 are allowed",
             depth);
  check.that(k == depth, "x2 has %" PRId64 " rows to multiply; it must have %" PRId64, k, depth);
  const int64_t split = a.first_exchanges ? rows : n;
  check.that(split % ranks == 0, "%s %" PRId64 " %s, which %" PRId64 " ranks cannot share evenly",
             a.first_exchanges ? "x1 has" : "x2 has", split, a.first_exchanges ? "rows" : "columns",
             ranks);
  if (a.quantised && a.first_exchanges && a.x1_mode == kDynamic)
    check.that(depth % 16 == 0,
               "the product sums over %" PRId64 " values; it must be a multiple of 16", depth);
  if (a.x2->dtype == ACL_INT4)
    check.that(n % 2 == 0, "x2 has %" PRId64 " columns; with INT4 it must be even", n);
  if (!check.ok()) return;
  const int64_t out[] = {a.first_exchanges ? rows / ranks : rows * ranks,
                         a.first_exchanges ? n : n / ranks};
  check.shape("output", a.output, dense_layout(out, 2));
  const int64_t exchanged[] = {rows / ranks, depth};
  if (a.exchanged) check.shape("alltoAllOutOptional", a.exchanged, dense_layout(exchanged, 2));
  if (a.bias) check.shape("biasOptional", a.bias, dense_layout(&n, 1));
  check_scale_shapes(check, a, ranks);
}

struct Problem {
  const char *op;
  bool first_exchanges, quantised, dynamic, transposed;
  float highest;  // of what x1 is quantised to
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x1, x2, bias, x1_scale, x2_scale, output, exchanged;
  int64_t rows, width, columns;
  uint64_t first_bytes, second_bytes;
  hccl::Call text;
};

std::vector<float> scales_at(PlanContext &c, size_t position) {
  return c.has(position) ? every_scale(c.tensor(position)) : std::vector<float>();
}

void multiply_rows(const Problem &p, PlanContext &c, const Matrix &left,
                   std::vector<float> row_scales, void *rows) {
  const OperandMatrix right(c.tensor(p.x2), p.transposed);
  Contribution mine;
  mine.left = left;
  mine.right = right.matrix();
  if (c.has(p.bias)) mine.bias = row_of(c.tensor(p.bias));
  if (p.quantised) mine.dequantisation = {scales_at(c, p.x2_scale), std::move(row_scales)};
  mine.rows = rows;
  mine.dtype = c.tensor(p.output).dtype;
  contribute(mine);
}

Status exchange_and_multiply(const Problem &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const uint32_t ranks = comm.size();
  const aclTensor &x1 = c.tensor(p.x1), &output = c.tensor(p.output);
  auto *sent = static_cast<char *>(c.workspace()), *received = sent + p.first_bytes;
  copy_operand(x1, sent);
  const int64_t share = p.rows / ranks, depth = p.width * ranks;
  const uint64_t row = operand_bytes(x1.dtype, p.width);
  if (const Status s = exchange_rows(session, ranks, p.rows, row, sent, received)) return s;
  char *whole = sent;
  if (c.has(p.exchanged)) {
    const aclTensor &exchanged = c.tensor(p.exchanged);
    const int64_t shape[] = {share, depth};
    if (x1.dtype == ACL_INT4) {
      std::memcpy(static_cast<char *>(exchanged.data) + exchanged.offset / 2, whole,
                  operand_bytes(ACL_INT4, share * depth));
    } else {
      copy_view({whole, x1.dtype, dense_layout(shape, 2)}, view_of(exchanged));
    }
  }
  const OperandMatrix left(whole, x1.dtype, share, depth);
  char *rows = received + p.second_bytes;
  if (!p.quantised) {
    multiply_rows(p, c, left.matrix(), {}, rows);
  } else if (p.dynamic) {
    QuantisedRows quantised;
    quantise_operand(left.matrix(), scales_at(c, p.x1_scale), p.highest, &quantised);
    multiply_rows(p, c, quantised.matrix, quantised.scales, rows);
  } else {
    // a token's scale is that of all its parts
    std::vector<float> scales = scales_at(c, p.x1_scale);
    scales.erase(scales.begin(), scales.begin() + static_cast<int64_t>(comm.rank()) * share);
    scales.resize(static_cast<size_t>(share));
    multiply_rows(p, c, left.matrix(), std::move(scales), rows);
  }
  copy_view({rows, output.dtype, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

Status multiply_and_exchange(const Problem &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const uint32_t ranks = comm.size();
  const aclTensor &output = c.tensor(p.output);
  auto *rows = static_cast<char *>(c.workspace()), *sent = rows + p.first_bytes;
  const OperandMatrix left(c.tensor(p.x1));
  multiply_rows(p, c, left.matrix(), scales_at(c, p.x1_scale), rows);
  const auto share = static_cast<uint64_t>(p.columns / ranks * item_size(output.dtype));
  const auto height = static_cast<uint64_t>(p.rows);
  if (const Status s = exchange_columns(session, ranks, height, share, rows, sent)) return s;
  copy_view({rows, output.dtype, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

}  // namespace

void check_exchange_modes(Check &check, const ExchangedCall &a) {
  const Chip chip = hccl::chip();
  const int64_t first = a.first_exchanges ? -2 : -1;
  const bool usual =
      !a.axes || a.axes->values.empty() ||
      (a.axes->values.size() == 2 && a.axes->values[0] == first && a.axes->values[1] == -3 - first);
  check.that(usual, "alltoAllAxesOptional must be null or (%" PRId64 ", %" PRId64 ")", first,
             -3 - first);
  check.that(!a.transposed1, "transposeX1 is true; only false is supported");
  const bool known = is(a.comm_mode, chip == Chip::a2 ? "aiv" : "ai_cpu") ||
                     (chip == Chip::a5 && is(a.comm_mode, "ccu"));
  check.that(!a.names_mode || known, "commMode is \"%.40s\"; on %s it can be %s", a.comm_mode,
             hccl::chip_text(),
             chip == Chip::a2   ? "\"aiv\""
             : chip == Chip::a5 ? "\"ai_cpu\" or \"ccu\""
                                : "\"ai_cpu\"");
  if (!a.quantised) return;
  check.that(!a.comm_scale, "commScaleOptional is given; it must be null");
  check.that(!a.x1_offset, "x1OffsetOptional is given; it must be null");
  check.that(!a.x2_offset, "x2OffsetOptional is given; it must be null");
  check.that(a.comm_quant_mode == 0, "commQuantMode is %" PRId64 "; only 0 is supported",
             a.comm_quant_mode);
  check.that(a.comm_quant_dtype == -1,
             "commQuantDtype is %" PRId64 "; only -1 (undefined) is supported", a.comm_quant_dtype);
}

Status exchange_rows(hccl::Session &session, uint32_t ranks, int64_t rows, uint64_t row, char *sent,
                     char *received) {
  const int64_t share = rows / ranks;
  const auto blocks = equal_blocks(ranks, static_cast<uint64_t>(share) * row);
  if (const Status s = session.all_to_all_v(sent, blocks, received, blocks)) return s;
  for (int64_t i = 0; i < share; ++i) {
    for (uint32_t r = 0; r < ranks; ++r)
      std::memcpy(sent + (static_cast<uint64_t>(i) * ranks + r) * row,
                  received + r * blocks[0].bytes + static_cast<uint64_t>(i) * row, row);
  }
  return 0;
}

Status exchange_columns(hccl::Session &session, uint32_t ranks, uint64_t height, uint64_t share,
                        char *rows, char *sent) {
  for (uint64_t i = 0; i < height; ++i) {
    for (uint32_t r = 0; r < ranks; ++r)
      std::memcpy(sent + (r * height + i) * share, rows + (i * ranks + r) * share, share);
  }
  const auto blocks = equal_blocks(ranks, height * share);
  return session.all_to_all_v(sent, blocks, rows, blocks);
}

Status plan_exchanged(const ExchangedCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  const Chip chip = hccl::chip();
  Check check(a.op);
  check_presence(check, a);
  if (!check.ok()) return check.status();
  if (a.quantised && chip == Chip::a5) return plan_exchanged_floats(a, workspace_size, executor);
  check_dtypes(check, a, chip);
  if (check.ok()) check_modes(check, a);
  if (check.ok()) check_shapes(check, a);
  if (!check.ok()) return check.status();
  auto p = std::make_shared<Problem>();
  if (const Status s = find_group(a.op, a.group, &p->communicator)) return s;
  if (const Status s = check_world_size(a.op, Ranks::sliced, *p->communicator)) return s;
  const int64_t ranks = p->communicator->size();
  check_spread(check, a, ranks);
  if (!check.ok()) return check.status();
  p->op = a.op;
  p->first_exchanges = a.first_exchanges;
  p->quantised = a.quantised;
  p->dynamic = a.quantised && a.x1_mode == kDynamic;
  p->transposed = a.transposed2;
  p->highest = a.x2->dtype == ACL_INT4 ? 7.0f : 127.0f;
  p->rows = a.x1->shape[0];
  p->width = a.x1->shape[1];
  p->columns = a.columns();
  p->text = hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s, output=%s)",
                           a.op, p->rows, p->width, a.first_exchanges ? 0 : p->columns,
                           dtype_name(a.x1->dtype), dtype_name(a.output->dtype));
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  p->x1 = plan.input(a.x1);
  p->x2 = plan.input(a.x2);
  p->bias = plan.input(a.bias);
  if (a.quantised) {
    p->x1_scale = plan.input(a.x1_scale);
    p->x2_scale = plan.input(a.x2_scale);
    for (const aclTensor *reserved : {a.comm_scale, a.x1_offset, a.x2_offset})
      plan.unused(reserved);
  }
  p->output = plan.output(a.output);
  if (a.first_exchanges) p->exchanged = plan.output(a.exchanged);
  const auto out = static_cast<uint64_t>(a.output->numel() * item_size(a.output->dtype));
  if (a.first_exchanges) {
    p->first_bytes = p->second_bytes = aligned(operand_bytes(a.x1->dtype, p->rows * p->width));
    plan.workspace(2 * p->first_bytes + out);
  } else {
    p->first_bytes = aligned(out);
    plan.workspace(2 * p->first_bytes);
  }
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p->communicator, p->op, [&] {
          return p->first_exchanges ? exchange_and_multiply(*p, c) : multiply_and_exchange(*p, c);
        });
      },
      workspace_size, executor);
}

}  // namespace emu
