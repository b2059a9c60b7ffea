// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// AlltoAllAllGatherBatchMatMul and BatchMatMulReduceScatterAlltoAll: tokens go to the ranks of
// their experts, whose weights are spread over a second group of ranks, or come back from there.
#include <cinttypes>
#include <cstring>

#include "aclnnop/mc2.h"
#include "core/pool.h"
#include "hccl/arguments.h"
#include "ops/float_kernels.h"
#include "ops/mc2/operand.h"

namespace emu {
namespace {

constexpr int64_t kWidest = 65535, kMostExperts = 512, kMostLocal = 32;

struct BatchCall {
  const char *op;
  bool first_exchanges;
  const aclTensor *x, *weight, *bias;
  const char *group_ep, *group_tp;
  int64_t ep, tp, shard, activation;
  const aclTensor *y, *gathered, *plain;

  const char *y_name() const { return first_exchanges ? "y1Out" : "out"; }
};

bool known_size(int64_t ranks) {
  return ranks == 2 || ranks == 4 || ranks == 8 || ranks == 16 || ranks == 32;
}

void check_dtypes(Check &check, const BatchCall &a) {
  check.dtype("x", a.x).dtype("weight", a.weight).dtype("biasOptional", a.bias);
  check.dtype(a.y_name(), a.y).dtype("y2OutOptional", a.gathered).dtype("y3OutOptional", a.plain);
  if (!check.ok()) return;
  const aclDataType dtype = a.x->dtype;
  check.same_dtype("weight", a.weight->dtype, "x", dtype);
  check.same_dtype(a.y_name(), a.y->dtype, "x", dtype);
  if (a.bias)
    check.dtype_in("biasOptional", a.bias->dtype,
                   dtype_set(dtype == ACL_BF16 ? ACL_FLOAT : ACL_FLOAT16));
  if (a.gathered) check.same_dtype("y2OutOptional", a.gathered->dtype, "x", dtype);
  if (a.plain) check.same_dtype("y3OutOptional", a.plain->dtype, "x", dtype);
}

void check_attributes(Check &check, const BatchCall &a) {
  check.that(known_size(a.ep), "epWorldSize is %" PRId64 "; it must be 2, 4, 8, 16 or 32", a.ep);
  check.that(known_size(a.tp), "tpWorldSize is %" PRId64 "; it must be 2, 4, 8, 16 or 32", a.tp);
  check.that(a.shard == 0 || a.shard == 1, "%s is %" PRId64 "; it can be 0 or 1",
             a.first_exchanges ? "xShardType" : "yShardType", a.shard);
  check.that(a.activation >= 0 && a.activation <= 4,
             "actType is %" PRId64 "; it can be 0 to 4 (none, GELU, SiLU, ReLU, FastGELU)",
             a.activation);
  check.that(!a.plain || a.activation != 0,
             "y3OutOptional is given; it is for calls with an activation (actType)");
  check.that(std::strcmp(a.group_ep, a.group_tp) != 0, "groupTp is the same as groupEp");
}

// What the shapes mean, the same on both ways: x1 is what a rank has of the tokens, the product is
// (local, ep * rows, depth) @ (local, depth, columns).
struct Sizes {
  int64_t experts = 0, local = 0;
  int64_t tokens = 0, width = 0;   // of an expert in the part of one rank
  int64_t depth = 0, columns = 0;  // of the weight
  int64_t rows = 0;                // of one expert in the product
};

void check_shape(Check &check, const char *name, const aclTensor *tensor, int64_t a, int64_t b,
                 int64_t c) {
  const int64_t shape[] = {a, b, c};
  if (tensor && check.ok()) check.shape(name, tensor, dense_layout(shape, 3));
}

Sizes check_shapes(Check &check, const BatchCall &a) {
  Sizes s;
  check.rank("x", a.x, 3, 3).rank("weight", a.weight, 3, 3).rank(a.y_name(), a.y, 3, 3);
  check.plain_format("x", a.x).plain_format("weight", a.weight).plain_format(a.y_name(), a.y);
  if (!check.ok()) return s;
  const aclTensor &part = a.first_exchanges ? *a.x : *a.y;
  s.experts = part.shape[0];
  s.tokens = part.shape[1];
  s.width = part.shape[2];
  s.local = a.weight->shape[0];
  s.depth = a.weight->shape[1];
  s.columns = a.weight->shape[2];
  check.that(s.experts >= 2 && s.experts <= kMostExperts,
             "there are %" PRId64 " experts (E); allowed: 2 to 512", s.experts);
  check.that(s.local >= 1 && s.local <= kMostLocal,
             "weight has %" PRId64 " experts; allowed: 1 to 32", s.local);
  check.that(s.depth >= 1 && s.depth <= kWidest && s.columns >= 1 && s.columns <= kWidest,
             "weight has matrices of %" PRId64 " x %" PRId64 "; allowed: 1 to 65535", s.depth,
             s.columns);
  check.that(s.tokens > 0, "%s has no tokens (C)", a.first_exchanges ? "x" : a.y_name());
  if (!check.ok()) return s;
  check.that(s.experts == a.ep * s.local,
             "there are %" PRId64 " experts (E), but weight has %" PRId64 " on each of %" PRId64
             " ranks",
             s.experts, s.local, a.ep);
  const bool by_width = a.shard == 0;
  s.rows = check.size("x", Checked(s.tokens) * a.ep * (by_width ? 1 : a.tp));
  check.size("x", Checked(s.rows) * s.local * std::max(s.depth, s.columns) * 8);
  if (!check.ok()) return s;
  const int64_t whole = a.first_exchanges ? s.depth : s.columns;
  check.that(s.width * (by_width ? a.tp : 1) == whole,
             "%s has rows of %" PRId64 " values (H); they must be %" PRId64,
             a.first_exchanges ? "x" : a.y_name(), s.width, by_width ? whole / a.tp : whole);
  if (a.first_exchanges) {
    check_shape(check, a.y_name(), a.y, s.local, s.rows, s.columns);
    check_shape(check, "y2OutOptional", a.gathered, s.local, s.rows, s.depth);
    check_shape(check, "y3OutOptional", a.plain, s.local, s.rows, s.columns);
  } else {
    check_shape(check, "x", a.x, s.local, s.rows, s.depth);
  }
  if (!a.bias || !check.ok()) return s;
  check.rank("biasOptional", a.bias, 2, 3);
  if (!check.ok()) return s;
  const int64_t length = a.first_exchanges ? s.columns : s.width;
  const Layout bias = layout_of(*a.bias);
  check.that(bias.shape[0] == s.local && bias.shape[bias.rank - 1] == length &&
                 a.bias->numel() == s.local * length,
             "biasOptional has shape %s; expected (%" PRId64 ", %" PRId64 ") or (%" PRId64
             ", 1, %" PRId64 ")",
             shape_text(bias).c_str(), s.local, length, s.local, length);
  return s;
}

struct Problem {
  const char *op;
  bool first_exchanges, by_width;
  int64_t activation;
  Sizes sizes;
  std::shared_ptr<hccl::Communicator> ep, tp;
  size_t x, weight, bias, y, gathered, plain;
  uint64_t part_bytes, whole_bytes, product_bytes;
  hccl::Call text;
};

std::vector<hccl::Block> equal_blocks(uint32_t ranks, uint64_t bytes) {
  std::vector<hccl::Block> blocks;
  for (uint32_t r = 0; r < ranks; ++r) blocks.push_back({bytes, r * bytes});
  return blocks;
}

Matrix bias_of(const Problem &p, PlanContext &c, int64_t expert) {
  if (!c.has(p.bias)) return {};
  const View all = view_of(c.tensor(p.bias));
  const int last = all.layout.rank - 1;
  View row{all.data + expert * all.layout.stride[0] * item_size(all.dtype), all.dtype, {}};
  row.layout.push(1, 0);
  row.layout.push(all.layout.shape[last], all.layout.stride[last]);
  return matrix_stack(row).first;
}

// The products of all experts: rows (local, rows, depth) to (local, rows, columns).
void multiply_all(const Problem &p, PlanContext &c, const char *rows, char *products,
                  bool with_bias) {
  const Sizes &s = p.sizes;
  const aclTensor &weight = c.tensor(p.weight);
  const MatrixStack stack = matrix_stack(weight);
  for (int64_t e = 0; e < s.local; ++e) {
    const OperandMatrix left(rows + e * s.rows * s.depth * 2, weight.dtype, s.rows, s.depth);
    Contribution mine;
    mine.left = left.matrix();
    mine.right = stack.at(e * stack.batch.stride[0]);
    if (with_bias) mine.bias = bias_of(p, c, e);
    mine.rows = products + e * s.rows * s.columns * 2;
    mine.dtype = weight.dtype;
    contribute(mine);
  }
}

void activate(int64_t which, char *values, aclDataType dtype, int64_t count) {
  constexpr FloatKernel kinds[] = {FloatKernel::none, FloatKernel::gelu_tanh, FloatKernel::silu,
                                   FloatKernel::none, FloatKernel::fast_gelu};
  parallel_for(count, 1 << 14, [&](int64_t begin, int64_t end) {
    float block[256];
    const float scalars[] = {0, 0};
    for (int64_t i = begin; i < end; i += 256) {
      const int64_t n = std::min<int64_t>(256, end - i);
      load_f32(values, dtype, i, 1, n, block);
      if (which == 3) {
        for (int64_t j = 0; j < n; ++j)
          block[j] = block[j] > 0 || block[j] != block[j] ? block[j] : 0;
      } else {
        float_kernel_fn(kinds[which])(block, n, scalars, block);
      }
      store_f32(block, values, dtype, i, 1, n);
    }
  });
}

// Tokens of one expert come from every rank of both groups. Each copy(row of the whole, first
// column, source row of the parts) moves `width` values: parts lie by tp rank, ep rank, expert.
template <class Copy>
void for_each_part(const Problem &p, Copy copy) {
  const Sizes &s = p.sizes;
  const int64_t eps = p.ep->size(), tps = p.tp->size();
  for (int64_t t = 0; t < tps; ++t) {
    for (int64_t r = 0; r < eps; ++r) {
      for (int64_t e = 0; e < s.local; ++e) {
        for (int64_t i = 0; i < s.tokens; ++i) {
          const int64_t part = ((t * eps + r) * s.local + e) * s.tokens + i;
          const int64_t row = p.by_width ? r * s.tokens + i : (r * tps + t) * s.tokens + i;
          copy(e * s.rows + row, p.by_width ? t * s.width : 0, part);
        }
      }
    }
  }
}

Status exchange_gather_multiply(const Problem &p, PlanContext &c) {
  const Sizes &s = p.sizes;
  const aclTensor &x = c.tensor(p.x);
  auto *sent = static_cast<char *>(c.workspace()), *parts = sent + p.part_bytes;
  char *whole = parts + p.whole_bytes, *products = whole + p.whole_bytes;
  const uint64_t bytes = static_cast<uint64_t>(s.experts * s.tokens * s.width) * 2;
  copy_operand(x, sent);
  char *mine = parts + p.tp->rank() * bytes;
  {
    hccl::Session session(*p.ep, p.text);
    if (const Status status = session.begin()) return status;
    const auto blocks = equal_blocks(p.ep->size(), bytes / p.ep->size());
    if (const Status status = session.all_to_all_v(sent, blocks, mine, blocks)) return status;
  }
  {
    hccl::Session session(*p.tp, p.text);
    if (const Status status = session.begin()) return status;
    if (const Status status = session.all_gather(mine, parts, bytes)) return status;
  }
  const auto row = static_cast<size_t>(s.width) * 2;
  for_each_part(p, [&](int64_t to, int64_t column, int64_t part) {
    std::memcpy(whole + (to * s.depth + column) * 2, parts + static_cast<size_t>(part) * row, row);
  });
  if (c.has(p.gathered)) {
    const aclTensor &gathered = c.tensor(p.gathered);
    copy_view({whole, x.dtype, dense_like(layout_of(gathered))}, view_of(gathered));
  }
  multiply_all(p, c, whole, products, true);
  const aclTensor &y = c.tensor(p.y);
  const View result{products, y.dtype, dense_like(layout_of(y))};
  if (c.has(p.plain)) copy_view(result, view_of(c.tensor(p.plain)));
  if (p.activation != 0) activate(p.activation, products, y.dtype, y.numel());
  copy_view(result, view_of(y));
  return 0;
}

Status multiply_scatter_exchange(const Problem &p, PlanContext &c) {
  const Sizes &s = p.sizes;
  const aclTensor &x = c.tensor(p.x), &y = c.tensor(p.y);
  auto *rows = static_cast<char *>(c.workspace()), *products = rows + p.whole_bytes;
  char *parts = products + p.product_bytes, *mine = parts + p.product_bytes;
  copy_operand(x, rows);
  multiply_all(p, c, rows, products, false);
  const auto row = static_cast<size_t>(s.width) * 2;
  for_each_part(p, [&](int64_t from, int64_t column, int64_t part) {
    std::memcpy(parts + static_cast<size_t>(part) * row, products + (from * s.columns + column) * 2,
                row);
  });
  const auto count = static_cast<uint64_t>(s.experts * s.tokens * s.width);
  {
    hccl::Session session(*p.tp, p.text);
    if (const Status status = session.begin()) return status;
    if (const Status status = session.reduce_scatter(parts, mine, count, sum_of(y.dtype)))
      return status;
  }
  for (int64_t i = 0; c.has(p.bias) && i < s.experts * s.tokens; ++i) {
    const Matrix bias = bias_of(p, c, i / s.tokens % s.local);
    std::vector<float> values(static_cast<size_t>(s.width)), added(values.size());
    load_f32(mine, y.dtype, i * s.width, 1, s.width, values.data());
    load_f32(bias.data, bias.dtype, 0, bias.col.stride, s.width, added.data());
    for (size_t j = 0; j < values.size(); ++j) values[j] += added[j];
    store_f32(values.data(), mine, y.dtype, i * s.width, 1, s.width);
  }
  hccl::Session session(*p.ep, p.text);
  if (const Status status = session.begin()) return status;
  const auto blocks = equal_blocks(p.ep->size(), count * 2 / p.ep->size());
  if (const Status status = session.all_to_all_v(mine, blocks, parts, blocks)) return status;
  copy_view({parts, y.dtype, dense_like(layout_of(y))}, view_of(y));
  return 0;
}

Status plan_batch(const BatchCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("weight", a.weight).optional("biasOptional", a.bias);
  check.required_text("groupEp", a.group_ep).required_text("groupTp", a.group_tp);
  check.required(a.y_name(), a.y).optional("y2OutOptional", a.gathered);
  check.optional("y3OutOptional", a.plain);
  check_dtypes(check, a);
  if (check.ok()) check_attributes(check, a);
  if (!check.ok()) return check.status();
  auto p = std::make_shared<Problem>();
  p->sizes = check_shapes(check, a);
  if (!check.ok()) return check.status();
  if (const Status s = find_group(a.op, a.group_ep, &p->ep, "groupEp")) return s;
  if (const Status s = find_group(a.op, a.group_tp, &p->tp, "groupTp")) return s;
  Check tiling = tiling_check(a.op);
  tiling.that(p->ep->size() == a.ep,
              "epWorldSize is %" PRId64 ", but the communicator %s has %u ranks", a.ep,
              p->ep->name().c_str(), p->ep->size());
  tiling.that(p->tp->size() == a.tp,
              "tpWorldSize is %" PRId64 ", but the communicator %s has %u ranks", a.tp,
              p->tp->name().c_str(), p->tp->size());
  if (!tiling.ok()) return tiling.status();
  const Sizes &s = p->sizes;
  p->op = a.op;
  p->first_exchanges = a.first_exchanges;
  p->by_width = a.shard == 0;
  p->activation = a.activation;
  p->text = hccl::describe("%s(experts=%" PRId64 ", c=%" PRId64 ", h=%" PRId64 ", shard=%" PRId64
                           ", dtype=%s)",
                           a.op, s.experts, s.tokens, s.width, a.shard, dtype_name(a.x->dtype));
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  p->x = plan.input(a.x);
  p->weight = plan.input(a.weight);
  p->bias = plan.input(a.bias);
  p->y = plan.output(a.y);
  if (a.first_exchanges) {
    p->gathered = plan.output(a.gathered);
    p->plain = plan.output(a.plain);
  }
  const auto part = static_cast<uint64_t>(s.experts * s.tokens * s.width) * 2;
  p->part_bytes = aligned(part);
  p->whole_bytes = aligned(static_cast<uint64_t>(s.local * s.rows * s.depth) * 2);
  p->product_bytes = aligned(static_cast<uint64_t>(s.local * s.rows * s.columns) * 2);
  plan.workspace(a.first_exchanges ? p->part_bytes + 2 * p->whole_bytes + p->product_bytes
                                   : p->whole_bytes + 2 * p->product_bytes + p->part_bytes);
  return plan.finish(
      [p](PlanContext &c) {
        return among_both(*p->ep, p->tp.get(), p->op, [&] {
          return p->first_exchanges ? exchange_gather_multiply(*p, c)
                                    : multiply_scatter_exchange(*p, c);
        });
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AlltoAllAllGatherBatchMatMul,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional,
              const char *groupEp, const char *groupTp, int64_t epWorldSize, int64_t tpWorldSize,
              int64_t xShardType, int64_t actType, aclTensor *y1Out, aclTensor *y2OutOptional,
              aclTensor *y3OutOptional)) {
  return emu::plan_batch(
      {"aclnnAlltoAllAllGatherBatchMatMul", true, x, weight, biasOptional, groupEp, groupTp,
       epWorldSize, tpWorldSize, xShardType, actType, y1Out, y2OutOptional, y3OutOptional},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BatchMatMulReduceScatterAlltoAll,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *biasOptional,
              const char *groupEp, const char *groupTp, int64_t epWorldSize, int64_t tpWorldSize,
              int64_t yShardType, aclTensor *out)) {
  return emu::plan_batch(
      {"aclnnBatchMatMulReduceScatterAlltoAll", false, x, weight, biasOptional, groupEp, groupTp,
       epWorldSize, tpWorldSize, yShardType, 0, out, nullptr, nullptr},
      workspaceSize, executor);
}
EMU_CATCH
