// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// AllGatherMatmulV2 and MatmulReduceScatterV2: products of which the rows are spread over the
// ranks, floating or of integers with scales.
#include <cinttypes>
#include <cstring>

#include "aclnnop/mc2.h"
#include "hccl/arguments.h"
#include "ops/matmul/dequantise.h"
#include "ops/mc2/operand.h"
#include "ops/mc2/sliced_floats.h"
#include "ops/op.h"

namespace emu {
namespace {

using hccl::Chip;

constexpr int64_t kLowestK = 256, kEndK = 65535;
bool is(const char *given, const char *text) { return given && std::strcmp(given, text) == 0; }

void check_dtypes(Check &check, const SlicedV2 &a, Chip chip) {
  check.dtype("x1", a.x1).dtype("x2", a.x2);
  check.dtype("biasOptional", a.bias).dtype("x1ScaleOptional", a.x1_scale);
  check.dtype("x2ScaleOptional", a.x2_scale).dtype("output", a.output);
  if (a.gathers) check.dtype("gatherOut", a.gathered);
  if (!check.ok()) return;
  if (a.floats()) return check_sliced_float_dtypes(check, a);
  check.same_dtype("x2", a.x2->dtype, "x1", a.x1->dtype);
  check.that(!a.integers() || chip != Chip::a5, "x1 has dtype %s; on %s it must be floating",
             dtype_name(a.x1->dtype), hccl::chip_text());
  if (a.gathers) check.same_dtype("gatherOut", a.gathered->dtype, "x1", a.x1->dtype);
  if (!a.integers()) check.same_dtype("output", a.output->dtype, "x1", a.x1->dtype);
  else check.dtype_in("output", a.output->dtype, dt::kHalf);
  if (!check.ok() || !a.bias) return;
  check.that(!a.gathers || chip == Chip::a5, "biasOptional is given; on %s it must be null",
             hccl::chip_text());
  const aclDataType own = a.integers() ? a.output->dtype : a.x1->dtype;
  check.dtype_in("biasOptional", a.bias->dtype, dtype_set(ACL_FLOAT, own));
}

void check_scales(Check &check, const SlicedV2 &a) {
  if (!a.integers()) {
    check.that(!a.x1_scale, "x1ScaleOptional is given; x1 of dtype %s has no scale",
               dtype_name(a.x1->dtype));
    check.that(!a.x2_scale, "x2ScaleOptional is given; x2 of dtype %s has no scale",
               dtype_name(a.x2->dtype));
    return;
  }
  check.that(a.x2_scale != nullptr, "x2ScaleOptional is null; x2 of dtype %s needs its scales",
             dtype_name(a.x2->dtype));
  if (!check.ok()) return;
  const int64_t columns[] = {1, a.x2->shape[1]}, rows[] = {a.x1->shape[0], 1};
  check.shape("x2ScaleOptional", a.x2_scale, dense_layout(columns, 2));
  if (a.x1_scale) check.shape("x1ScaleOptional", a.x1_scale, dense_layout(rows, 2));
  check.that(
      a.x2_scale->dtype != ACL_INT64 || a.output->dtype == ACL_FLOAT16 || a.x1->dtype == ACL_INT4,
      "x2ScaleOptional has dtype INT64; then output must have dtype FLOAT16");
}

void check_shapes(Check &check, const SlicedV2 &a, Chip chip) {
  check.rank("x1", a.x1, 2, 2).rank("x2", a.x2, 2, 2).rank("output", a.output, 2, 2);
  if (a.gathers) check.rank("gatherOut", a.gathered, 2, 2);
  if (!check.ok()) return;
  const int64_t m = a.x1->shape[0], k = a.x1->shape[1], n = a.x2->shape[1];
  check.that(m > 0 && n > 0,
             "x1 has %" PRId64 " rows and x2 %" PRId64 " columns; none may be empty", m, n);
  check.that(k >= kLowestK && k < kEndK,
             "x1 has %" PRId64 " columns (k); k must be in [256, 65535)", k);
  check.that(a.x2->shape[0] == k, "x1 has %" PRId64 " columns, but x2 has %" PRId64 " rows", k,
             a.x2->shape[0]);
  check.that(!is_transposed_view(*a.x1), "x1 is a transposed view; only x2 may be one");
  if (halves_bytes(a.x1->dtype)) {
    const char *dtype = dtype_name(a.x1->dtype);
    check.that(k % 2 == 0 && (n % 2 == 0 || a.floats()),
               "k is %" PRId64 " and n %" PRId64 "; with %s %s be even", k, n, dtype,
               a.floats() ? "k must" : "both must");
    check.that(layout_of(*a.x1).is_dense(), "x1 has dtype %s; then it must be contiguous", dtype);
    if (a.gathers)
      check.that(layout_of(*a.gathered).is_dense() && a.gathered->offset % 2 == 0,
                 "gatherOut has dtype %s; then it must be contiguous and start at a whole byte",
                 dtype);
  }
  check_packed_operand(check, "x1", a.x1);
  check_packed_operand(check, "x2", a.x2);
  if (a.floats()) {
    FloatForm form;
    check_sliced_float_scales(check, a, &form);
  } else {
    check_scales(check, a);
  }
  if (a.bias) check.shape("biasOptional", a.bias, dense_layout(&n, 1));
  check.that(a.output->shape[1] == n, "output must have %" PRId64 " columns like x2", n);
  if (a.gathers)
    check.that(a.gathered->shape[1] == k, "gatherOut must have %" PRId64 " columns like x1", k);
  (void)chip;
}

Status check_arguments(const SlicedV2 &a) {
  const Chip chip = hccl::chip();
  Check check(a.op);
  check.required("x1", a.x1).required("x2", a.x2).optional("biasOptional", a.bias);
  check.optional("x1ScaleOptional", a.x1_scale).optional("x2ScaleOptional", a.x2_scale);
  check.optional("quantScaleOptional", a.quant_scale).required("output", a.output);
  if (a.gathers) check.required("gatherOut", a.gathered);
  check.optional("amaxOutOptional", a.amax);
  if (!check.ok()) return check.status();
  check_dtypes(check, a, chip);
  check.that(a.stream_mode == 1, "streamMode is %" PRId64 "; only 1 (stop on failure) is allowed",
             a.stream_mode);
  check.that(!a.quant_scale, "quantScaleOptional is given; it must be null");
  check.that(!a.amax || a.amax->numel() == 0,
             "amaxOutOptional is given; it must be null or have no elements");
  if (a.amax) check.dtype("amaxOutOptional", a.amax);
  check.that(a.block_size == 0, "blockSize is %" PRId64 "; only 0 is supported", a.block_size);
  check.that(a.group_size == 0 || a.floats(), "groupSize is %" PRId64 "; here only 0 is supported",
             a.group_size);
  const bool known = chip == Chip::a5 ? !a.comm_mode || !*a.comm_mode ||
                                            is(a.comm_mode, "ai_cpu") || is(a.comm_mode, "ccu")
                                      : is(a.comm_mode, "aiv");
  check.that(known, "commMode is \"%.40s\"; on %s it must be %s", a.comm_mode ? a.comm_mode : "",
             hccl::chip_text(), chip == Chip::a5 ? "\"\", \"ai_cpu\" or \"ccu\"" : "\"aiv\"");
  if (check.ok()) check_shapes(check, a, chip);
  return check.status();
}

Status check_tiling(const SlicedV2 &a, hccl::Communicator &communicator) {
  Check check = tiling_check(a.op);
  check.that(a.gather_index == 0,
             "gatherIndex is %" PRId64 "; only 0 (x1 is gathered) is supported", a.gather_index);
  check.that(is(a.reduce_op, "sum"), "reduceOp is %.40s; only \"sum\" is supported",
             a.reduce_op ? a.reduce_op : "null");
  check_comm_turn(check, a.comm_turn);
  check_plain(check, "x1", a.x1);
  const bool blocked = a.x2->format == ACL_FORMAT_FRACTAL_NZ && !a.gathers;
  if (!blocked) check_plain(check, "x2", a.x2);
  else
    check.that(a.x2->storage_shape.size() == 4 && !halves_bytes(a.x2->dtype),
               "x2 in FRACTAL_NZ has a storage shape of %zu dimensions; it must have 4",
               a.x2->storage_shape.size());
  check_plain(check, "output", a.output);
  check_plain(check, "gatherOut", a.gathered);
  if (!check.ok()) return check.status();
  if (const Status s = check_world_size(a.op, Ranks::sliced, communicator)) return s;
  const int64_t ranks = communicator.size(), m = a.x1->shape[0];
  check.that(a.gathers || m % ranks == 0,
             "x1 has %" PRId64 " rows (m), which %" PRId64 " ranks cannot share evenly", m, ranks);
  Check shapes(a.op);
  shapes.size("output", Checked(m) * ranks * std::max(a.x1->shape[1], a.x2->shape[1]) * 8);
  if (!check.ok() || !shapes.ok()) return check.ok() ? shapes.status() : check.status();
  const int64_t rows = a.gathers ? m * ranks : m / ranks;
  shapes.that(a.output->shape[0] == rows, "output has %" PRId64 " rows; it must have %" PRId64,
              a.output->shape[0], rows);
  if (a.gathers)
    shapes.that(a.gathered->shape[0] == rows,
                "gatherOut has %" PRId64 " rows; it must have %" PRId64, a.gathered->shape[0],
                rows);
  return shapes.status();
}

struct Problem {
  const char *op;
  bool gathers;
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x1, x2, bias, x1_scale, x2_scale, output, gathered;
  int64_t m, k, n;
  aclDataType travelling;
  bool floats = false;
  FloatForm form;
  uint64_t first_bytes;
  hccl::Call text;
};

std::vector<float> scales_at(PlanContext &c, size_t position) {
  return c.has(position) ? every_scale(c.tensor(position)) : std::vector<float>();
}

// The product of `left` with this rank's right matrix, as rows in `dtype`.
void multiply_rows(const Problem &p, PlanContext &c, const Matrix &left,
                   std::vector<float> row_scales, void *rows, aclDataType dtype) {
  const OperandMatrix right(c.tensor(p.x2));
  Contribution mine;
  mine.left = left;
  mine.right = right.matrix();
  if (c.has(p.bias)) mine.bias = row_of(c.tensor(p.bias));
  mine.dequantisation = {scales_at(c, p.x2_scale), std::move(row_scales)};
  mine.rows = rows;
  mine.dtype = dtype;
  contribute(mine);
}

void multiply_floats(const Problem &p, PlanContext &c, const aclTensor &x1, const float *scales,
                     void *rows, aclDataType dtype) {
  const std::vector<float> bias =
      c.has(p.bias) ? float_scales(c.tensor(p.bias)) : std::vector<float>();
  multiply_float_rows(p.form, x1, c.tensor(p.x2), scales, float_scales(c.tensor(p.x2_scale)), bias,
                      rows, dtype);
}

Status gather_and_multiply(const Problem &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const aclTensor &x1 = c.tensor(p.x1), &gathered = c.tensor(p.gathered),
                  &output = c.tensor(p.output);
  auto *everyone = static_cast<char *>(c.workspace());
  const uint64_t bytes = operand_bytes(x1.dtype, p.m * p.k);
  copy_operand(x1, everyone + comm.rank() * bytes);
  if (const Status s = session.all_gather(everyone + comm.rank() * bytes, everyone, bytes))
    return s;
  const int64_t all = p.m * comm.size();
  std::vector<float> row_scales, every_scale;
  if (p.floats) {
    const std::vector<float> mine = float_scales(c.tensor(p.x1_scale));
    every_scale.resize(mine.size() * comm.size());
    if (const Status s =
            session.all_gather(mine.data(), every_scale.data(), mine.size() * sizeof(float)))
      return s;
  } else if (c.has(p.x1_scale)) {
    const std::vector<float> mine = scales_at(c, p.x1_scale);
    row_scales.resize(static_cast<size_t>(all));
    if (const Status s =
            session.all_gather(mine.data(), row_scales.data(), mine.size() * sizeof(float)))
      return s;
  }
  const int64_t shape[] = {all, p.k};
  if (halves_bytes(x1.dtype)) {
    std::memcpy(static_cast<char *>(gathered.data) + gathered.offset / 2, everyone,
                bytes * comm.size());
  } else {
    copy_view({everyone, x1.dtype, dense_layout(shape, 2)}, view_of(gathered));
  }
  char *rows = everyone + p.first_bytes;
  if (p.floats) {
    for (int64_t r = 0; r < comm.size(); ++r) {
      aclTensor part = x1;
      part.data = everyone + static_cast<uint64_t>(r) * bytes;
      part.offset = 0;
      part.strides = contiguous_strides(part.shape);
      multiply_floats(p, c, part, every_scale.data() + r * p.form.left_count,
                      rows + r * p.m * p.n * item_size(output.dtype), output.dtype);
    }
  } else {
    const OperandMatrix left(everyone, x1.dtype, all, p.k);
    multiply_rows(p, c, left.matrix(), std::move(row_scales), rows, output.dtype);
  }
  copy_view({rows, output.dtype, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

Status multiply_and_scatter(const Problem &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const aclTensor &output = c.tensor(p.output);
  if (p.floats) {
    const std::vector<float> scales = float_scales(c.tensor(p.x1_scale));
    multiply_floats(p, c, c.tensor(p.x1), scales.data(), c.workspace(), p.travelling);
  } else {
    const OperandMatrix left(c.tensor(p.x1));
    multiply_rows(p, c, left.matrix(), scales_at(c, p.x1_scale), c.workspace(), p.travelling);
  }
  char *share = static_cast<char *>(c.workspace()) + p.first_bytes;
  const auto count = static_cast<uint64_t>(p.m / comm.size() * p.n);
  if (const Status s = session.reduce_scatter(c.workspace(), share, count, sum_of(p.travelling)))
    return s;
  copy_view({share, p.travelling, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

Status plan_sliced(const SlicedV2 &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (const Status s = check_arguments(a)) return s;
  auto p = std::make_shared<Problem>();
  if (const Status s = find_group(a.op, a.group, &p->communicator)) return s;
  if (const Status s = check_tiling(a, *p->communicator)) return s;
  p->op = a.op;
  p->gathers = a.gathers;
  p->m = a.x1->shape[0];
  p->k = a.x1->shape[1];
  p->n = a.x2->shape[1];
  p->travelling = a.output->dtype;
  p->floats = a.floats();
  if (p->floats) {
    Check check(a.op);
    check_sliced_float_scales(check, a, &p->form);
    if (!check.ok()) return check.status();
  }
  if (!a.gathers) {
    if (const Status s = travelling_dtype(a.op, a.output->dtype, &p->travelling)) return s;
  }
  p->text = hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s, output=%s)",
                           a.op, p->m, p->k, a.gathers ? 0 : p->n, dtype_name(a.x1->dtype),
                           dtype_name(p->travelling));
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  p->x1 = plan.input(a.x1);
  p->x2 = plan.input(a.x2);
  p->bias = plan.input(a.bias);
  p->x1_scale = plan.input(a.x1_scale);
  p->x2_scale = plan.input(a.x2_scale);
  plan.unused(a.quant_scale);
  p->output = plan.output(a.output);
  if (a.gathers) p->gathered = plan.output(a.gathered);
  plan.unused(a.amax);
  const int64_t ranks = p->communicator->size();
  if (a.gathers) {
    p->first_bytes = aligned(operand_bytes(a.x1->dtype, p->m * ranks * p->k));
    plan.workspace(p->first_bytes +
                   static_cast<uint64_t>(p->m * ranks * p->n * item_size(a.output->dtype)));
  } else {
    const int64_t size = item_size(p->travelling);
    p->first_bytes = aligned(static_cast<uint64_t>(p->m * p->n * size));
    plan.workspace(p->first_bytes + static_cast<uint64_t>(p->m / ranks * p->n * size));
  }
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p->communicator, p->op, [&] {
          return p->gathers ? gather_and_multiply(*p, c) : multiply_and_scatter(*p, c);
        });
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AllGatherMatmulV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x1ScaleOptional, const aclTensor *x2ScaleOptional,
              const aclTensor *quantScaleOptional, int64_t blockSize, const char *group,
              int64_t gatherIndex, int64_t commTurn, int64_t streamMode, int64_t groupSize,
              const char *commMode, aclTensor *output, aclTensor *gatherOut,
              aclTensor *amaxOutOptional)) {
  emu::SlicedV2 call{"aclnnAllGatherMatmulV2",
                     true,
                     x1,
                     x2,
                     biasOptional,
                     x1ScaleOptional,
                     x2ScaleOptional,
                     quantScaleOptional,
                     blockSize,
                     group,
                     commTurn,
                     streamMode,
                     groupSize,
                     commMode,
                     output,
                     gatherOut,
                     amaxOutOptional};
  call.gather_index = gatherIndex;
  return emu::plan_sliced(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MatmulReduceScatterV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *biasOptional,
              const aclTensor *x1ScaleOptional, const aclTensor *x2ScaleOptional,
              const aclTensor *quantScaleOptional, int64_t blockSize, const char *group,
              const char *reduceOp, int64_t commTurn, int64_t streamMode, int64_t groupSize,
              const char *commMode, aclTensor *output, aclTensor *amaxOutOptional)) {
  emu::SlicedV2 call{"aclnnMatmulReduceScatterV2",
                     false,
                     x1,
                     x2,
                     biasOptional,
                     x1ScaleOptional,
                     x2ScaleOptional,
                     quantScaleOptional,
                     blockSize,
                     group,
                     commTurn,
                     streamMode,
                     groupSize,
                     commMode,
                     output,
                     nullptr,
                     amaxOutOptional};
  call.reduce_op = reduceOp;
  return emu::plan_sliced(call, workspaceSize, executor);
}
EMU_CATCH
