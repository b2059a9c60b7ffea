// SPDX-License-Identifier: Apache-2.0
// The family output = AllReduce(x1 @ x2 + ...): floating, with weights of few bits, and int8; each
// also with a residual and a norm after the reduction. An operator checks what is its own and hands
// the rest to plan_all_reduce().
#pragma once

#include "ops/mc2/float_form.h"
#include "ops/mc2/fused.h"
#include "ops/op.h"

namespace emu {

enum class Product : uint8_t { floating, few_bit_weight, int8, low_floats };

// The arguments of phase one. What an operator has no parameter for stays null.
struct AllReduceCall {
  const char *op;
  Product product;
  const aclTensor *x1, *x2;
  const aclTensor *bias = nullptr, *x3 = nullptr;
  const aclTensor *antiquant_scale = nullptr, *antiquant_offset = nullptr;  // few_bit_weight
  int64_t group_size = 0;
  const aclTensor *dequant_scale = nullptr, *pertoken_scale = nullptr;  // int8
  FloatForm floats;  // low_floats; their scales are in the same places
  const aclTensor *comm_scale1 = nullptr, *comm_scale2 = nullptr;
  // Later versions name the scales after x1 and x2, whose parameters they put in that order.
  const char *dequant_name = "dequantScale", *pertoken_name = "pertokenScale";
  bool scales_by_operand = false;
  bool names_mode = false;  // whether the operator has commMode
  const char *comm_mode = nullptr;
  const aclTensor *residual = nullptr, *gamma = nullptr, *norm_out = nullptr;  // with_norm
  double epsilon = 0;
  const aclTensor *output = nullptr;  // y of the forms with a norm
  const char *group = nullptr, *reduce_op = nullptr;
  int64_t comm_turn = 0, stream_mode = 0;
  bool with_norm = false;  // y and normOut instead of output; in place when output is the residual

  AllReduceCall(const char *name, Product kind, const aclTensor *left, const aclTensor *right)
      : op(name), product(kind), x1(left), x2(right) {}
  void few_bits(const aclTensor *scale, const aclTensor *offset, int64_t size) {
    antiquant_scale = scale;
    antiquant_offset = offset;
    group_size = size;
  }
  void operand_scales(const aclTensor *of_x1, const aclTensor *of_x2) {
    pertoken_scale = of_x1;
    dequant_scale = of_x2;
    dequant_name = "x2Scale";
    pertoken_name = "x1ScaleOptional";
    scales_by_operand = true;
  }
  void norm(const aclTensor *added, const aclTensor *weight, double smallest, const aclTensor *y,
            const aclTensor *out) {
    residual = added;
    gamma = weight;
    epsilon = smallest;
    output = y;
    norm_out = out;
    with_norm = true;
  }
  void modes(const char *name, const char *reduction, int64_t turn, int64_t mode) {
    group = name;
    reduce_op = reduction;
    comm_turn = turn;
    stream_mode = mode;
  }

  const char *output_name() const {
    return !with_norm ? "output" : in_place() ? "residualRef" : "y";
  }
  bool in_place() const { return with_norm && output == residual; }
  bool blocked() const { return x2->format == ACL_FORMAT_FRACTAL_NZ; }
  int64_t rows() const;  // m: of x1 with its leading dimensions taken together
  int64_t depth() const { return x1->shape.back(); }
  int64_t columns() const { return x2->shape[1]; }
};

// Nulls: 161001. Handles that are not alive: 161002.
void check_presence(Check &check, const AllReduceCall &call);
// The dtypes of the terms that are added to a product of dtype `dtype`, and of the outputs.
void check_addends(Check &check, const AllReduceCall &call);
// reduceOp, then streamMode.
void check_modes(Check &check, const AllReduceCall &call);
// The ranks of x1 and, unless it is blocked, x2 and every shape that follows from the two. The
// shapes of a call with a blocked x2 are judged by the second line of checks.
void check_shapes(Check &check, const AllReduceCall &call);
// Whether a tensor holds one value for all columns or one for each: (1), (n) or (1, n).
bool is_per_column(const aclTensor &tensor, int64_t columns);

// The second line of checks and the plan. The caller's own checks are done.
Status plan_all_reduce(const AllReduceCall &call, uint64_t *workspace_size,
                       aclOpExecutor **executor);

}  // namespace emu
