// SPDX-License-Identifier: Apache-2.0
#include "ops/mc2/reduction/all_reduce.h"

#include <cinttypes>
#include <memory>

#include "core/statuses.h"
#include "ops/mc2/reduction/all_reduce_plan.h"

namespace emu {
namespace {

// Positions in the plan; a tensor that is absent has a position without one.
struct Problem {
  const char *op;
  std::shared_ptr<hccl::Communicator> communicator;
  Product product;
  bool with_norm;
  int64_t m, k, n, group_size;
  double epsilon;
  aclDataType travelling;
  FloatForm floats;
  size_t x1, x2, bias, x3, antiquant_scale, antiquant_offset, dequant_scale, pertoken, comm1, comm2,
      residual, gamma;
  size_t output, norm_out;

  uint64_t sum_bytes() const {
    return aligned(static_cast<uint64_t>(m * n * item_size(travelling)));
  }
  uint64_t weight_bytes() const {
    return product == Product::few_bit_weight ? aligned(static_cast<uint64_t>(k * n) * 2) : 0;
  }
};

std::vector<float> values_at(PlanContext &context, size_t index) {
  return context.has(index) ? values_of(context.tensor(index)) : std::vector<float>();
}

// That of floats of 8 and 4 bits: rounded, then x3 is added and the sum rounded.
void contribute_floats(const Problem &p, PlanContext &context) {
  auto *memory = static_cast<char *>(context.workspace());
  const aclTensor &x1 = context.tensor(p.x1);
  const bool scaled = context.has(p.pertoken);
  const std::vector<float> left =
      scaled ? float_scales(context.tensor(p.pertoken)) : std::vector<float>();
  const std::vector<float> right = float_scales(context.tensor(p.dequant_scale));
  const std::vector<float> bias =
      context.has(p.bias) ? float_scales(context.tensor(p.bias)) : std::vector<float>();
  // Blocks begin anew with each matrix of a stack.
  const int64_t stacks =
      p.floats.mode == FloatMode::kBlocks && x1.rank() == 3 ? x1.shape[0] : int64_t{1};
  aclTensor part = x1;
  part.shape = {p.m / stacks, p.k};
  part.strides = {p.k, 1};
  for (int64_t i = 0; i < stacks; ++i) {
    part.offset = x1.offset + i * part.shape[0] * p.k;
    multiply_float_rows(p.floats, part, context.tensor(p.x2),
                        scaled ? left.data() + i * p.floats.left_count : nullptr, right, bias,
                        memory + i * part.shape[0] * p.n * item_size(p.travelling), p.travelling);
  }
  if (!context.has(p.x3)) return;
  const std::vector<float> x3 = float_scales(context.tensor(p.x3));
  std::vector<float> row(static_cast<size_t>(p.n));
  for (int64_t i = 0; i < p.m; ++i) {
    load_f32(memory, p.travelling, i * p.n, 1, p.n, row.data());
    for (size_t j = 0; j < row.size(); ++j) row[j] += x3[static_cast<size_t>(i * p.n) + j];
    store_f32(row.data(), memory, p.travelling, i * p.n, 1, p.n);
  }
}

// This rank's contribution, at the start of the workspace.
void contribute(const Problem &p, PlanContext &context) {
  if (p.product == Product::low_floats) return contribute_floats(p, context);
  auto *memory = static_cast<char *>(context.workspace());
  const aclTensor &x2 = context.tensor(p.x2);
  const FlatMatrix left(context.tensor(p.x1));
  Contribution mine;
  mine.left = left.matrix();
  mine.rows = memory;
  mine.dtype = p.travelling;
  if (p.product == Product::few_bit_weight) {
    const aclTensor *offset =
        context.has(p.antiquant_offset) ? &context.tensor(p.antiquant_offset) : nullptr;
    mine.right = dequantised_weight(x2, context.tensor(p.antiquant_scale), offset, p.group_size,
                                    memory + p.sum_bytes());
  } else {
    mine.right = matrix_stack(x2).first;
  }
  if (p.product == Product::int8) {
    mine.dequantisation.scale = values_of(context.tensor(p.dequant_scale));
    mine.dequantisation.pertoken = values_at(context, p.pertoken);
  }
  if (context.has(p.bias)) mine.bias = row_of(context.tensor(p.bias));
  std::unique_ptr<FlatMatrix> x3;
  if (context.has(p.x3)) {
    x3 = std::make_unique<FlatMatrix>(context.tensor(p.x3));
    mine.x3 = x3->matrix();
  }
  contribute(mine);
}

Status run(const Problem &p, PlanContext &context) {
  hccl::Communicator &comm = *p.communicator;
  const aclTensor &output = context.tensor(p.output);
  const bool low_bit = context.has(p.comm1);
  hccl::Session session(
      comm, hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s%s%s)", p.op,
                           p.m, p.k, p.n, dtype_name(output.dtype), low_bit ? ", sent as INT8" : "",
                           p.travelling != output.dtype ? ", summed in FLOAT" : ""));
  if (const Status s = session.begin()) return s;
  contribute(p, context);
  auto *memory = static_cast<char *>(context.workspace());
  const int64_t count = p.m * p.n;
  if (low_bit) {
    const LowBitScales scales{values_at(context, p.comm1), values_at(context, p.comm2)};
    char *room = memory + p.sum_bytes() + p.weight_bytes();
    if (const Status s = low_bit_all_reduce(session, comm.rank(), comm.size(), memory, p.travelling,
                                            count, scales, room))
      return s;
  } else if (const Status s = session.all_reduce(memory, memory, static_cast<uint64_t>(count),
                                                 sum_of(p.travelling))) {
    return s;
  }
  const View sum{memory, p.travelling, dense_like(layout_of(output))};
  if (!p.with_norm) {
    copy_view(sum, view_of(output));
  } else {
    add_and_normalise(sum, view_of(context.tensor(p.residual)), values_at(context, p.gamma),
                      p.epsilon, view_of(output), view_of(context.tensor(p.norm_out)));
  }
  return 0;
}

}  // namespace

Status plan_all_reduce(const AllReduceCall &c, uint64_t *workspace_size, aclOpExecutor **executor) {
  if (c.product == Product::int8 && c.blocked() && !c.x2->data) {
    return fail(kInnerNull, "%s: x2 in FRACTAL_NZ has no data; phase one needs its address.", c.op);
  }
  Problem p{};
  if (const Status s = find_group(c.op, c.group, &p.communicator)) return s;
  if (const Status s = check_all_reduce_tiling(c, *p.communicator)) return s;
  if (const Status s = travelling_dtype(c.op, c.output->dtype, &p.travelling)) return s;
  PlanBuilder plan(c.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  // in the order of the parameters of every operator of the family
  p.x1 = plan.input(c.x1);
  p.x2 = plan.input(c.x2);
  p.bias = plan.input(c.bias);
  p.antiquant_scale = plan.input(c.antiquant_scale);
  p.antiquant_offset = plan.input(c.antiquant_offset);
  p.x3 = plan.input(c.x3);
  if (c.scales_by_operand) p.pertoken = plan.input(c.pertoken_scale);
  p.dequant_scale = plan.input(c.dequant_scale);
  if (!c.scales_by_operand) p.pertoken = plan.input(c.pertoken_scale);
  p.comm1 = plan.input(c.comm_scale1);
  p.comm2 = plan.input(c.comm_scale2);
  if (!c.in_place()) p.residual = plan.input(c.residual);
  p.gamma = plan.input(c.gamma);
  p.output = plan.output(c.output);
  p.norm_out = plan.output(c.norm_out);
  if (c.in_place()) p.residual = p.output;
  p.op = c.op;
  p.product = c.product;
  p.floats = c.floats;
  p.with_norm = c.with_norm;
  p.m = c.rows();
  p.k = c.depth();
  p.n = c.columns();
  p.group_size = c.group_size;
  p.epsilon = c.epsilon;
  if (p.m * p.n == 0)
    return plan.finish([](PlanContext &) { return Status{0}; }, workspace_size, executor);
  uint64_t workspace = p.sum_bytes() + p.weight_bytes();
  if (c.comm_scale1) {
    p.travelling = c.output->dtype;  // eight bits travel, whatever the sum is rounded to
    workspace =
        p.sum_bytes() + p.weight_bytes() + low_bit_workspace(p.m * p.n, p.communicator->size());
  }
  plan.workspace(workspace);
  return plan.finish(
      [p](PlanContext &context) {
        return hccl::together(*p.communicator, p.op, [&] { return run(p, context); });
      },
      workspace_size, executor);
}

}  // namespace emu
