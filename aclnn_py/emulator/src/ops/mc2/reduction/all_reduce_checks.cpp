// SPDX-License-Identifier: Apache-2.0
#include <cinttypes>
#include <climits>
#include <cstring>

#include "hccl/arguments.h"
#include "ops/mc2/reduction/all_reduce.h"
#include "ops/mc2/reduction/all_reduce_plan.h"

namespace emu {
namespace {

ShapeText shape_of(const aclTensor &tensor) { return shape_text(layout_of(tensor)); }

bool same_shape_as(const aclTensor &a, const aclTensor &b) { return a.shape == b.shape; }

// What follows from x1 and x2. It belongs to the first line of checks or to the second.
void check_product_shapes(Check &check, const AllReduceCall &c) {
  check.that(c.x2->rank() == 2, "x2 has %zu dimensions; it must have 2", c.x2->rank());
  if (!check.ok()) return;
  const int64_t k = c.depth(), n = c.columns();
  check.that(c.x2->shape[0] == k, "x2 has %" PRId64 " rows, but x1 has %" PRId64 " columns (k)",
             c.x2->shape[0], k);
  if (c.with_norm) {
    const aclTensor &residual = *c.residual;
    check.that(residual.rank() == 3, "residual has %zu dimensions; it must have 3",
               residual.rank());
    if (!check.ok()) return;
    check.that(residual.shape[2] == n && residual.shape[0] * residual.shape[1] == c.rows(),
               "residual has shape %s; it must have %" PRId64 " rows of %" PRId64 " values",
               shape_of(residual).c_str(), c.rows(), n);
    check.that(c.gamma->rank() == 1 && c.gamma->shape[0] == n,
               "gamma has shape %s; expected (%" PRId64 ",)", shape_of(*c.gamma).c_str(), n);
    for (const aclTensor *out : {c.output, c.norm_out}) {
      check.that(same_shape_as(*out, residual),
                 "%s has shape %s; it must have that of residual, %s",
                 out == c.output ? c.output_name() : "normOut", shape_of(*out).c_str(),
                 shape_of(residual).c_str());
    }
  } else {
    Layout expected = layout_of(*c.x1);
    expected.shape[expected.rank - 1] = n;
    check.that(same_shape(layout_of(*c.output), expected), "output has shape %s; expected %s",
               shape_of(*c.output).c_str(), shape_text(expected).c_str());
  }
  if (c.x3) {
    check.that(same_shape_as(*c.x3, *c.output), "x3 has shape %s; it must have that of output, %s",
               shape_of(*c.x3).c_str(), shape_of(*c.output).c_str());
  }
  if (c.bias) {
    check.that(c.bias->rank() == 1 && c.bias->shape[0] == n,
               "bias has shape %s; expected (%" PRId64 ",)", shape_of(*c.bias).c_str(), n);
  }
}

void check_weight_shapes(Check &check, const AllReduceCall &c) {
  if (c.product != Product::few_bit_weight || !check.ok()) return;
  const aclTensor &scale = *c.antiquant_scale;
  if (c.group_size > 0) {
    const int64_t groups = (c.depth() + c.group_size - 1) / c.group_size;
    check.that(scale.rank() == 2 && scale.shape[0] == groups && scale.shape[1] == c.columns(),
               "antiquantScale has shape %s; groups of %" PRId64 " need (%" PRId64 ", %" PRId64 ")",
               shape_of(scale).c_str(), c.group_size, groups, c.columns());
  } else {
    check.that(is_per_column(scale, c.columns()),
               "antiquantScale has shape %s; without groups it must be (1,), (%" PRId64
               ",) or (1, %" PRId64 ")",
               shape_of(scale).c_str(), c.columns(), c.columns());
  }
  if (c.antiquant_offset) {
    check.that(same_shape_as(*c.antiquant_offset, scale),
               "antiquantOffset has shape %s; it must have that of antiquantScale, %s",
               shape_of(*c.antiquant_offset).c_str(), shape_of(scale).c_str());
  }
}

void check_scale_shapes(Check &check, const AllReduceCall &c) {
  if (c.product != Product::int8 || !check.ok()) return;
  check.that(is_per_column(*c.dequant_scale, c.columns()),
             "%s has shape %s; it must be (1,), (%" PRId64 ",) or (1, %" PRId64 ")", c.dequant_name,
             shape_of(*c.dequant_scale).c_str(), c.columns(), c.columns());
  if (c.pertoken_scale) {
    check.that(c.pertoken_scale->rank() == 1 && c.pertoken_scale->shape[0] == c.rows(),
               "%s has shape %s; expected one value per row of x1, (%" PRId64 ",)", c.pertoken_name,
               shape_of(*c.pertoken_scale).c_str(), c.rows());
  }
}

}  // namespace

int64_t AllReduceCall::rows() const {
  int64_t count = 1;
  for (size_t d = 0; d + 1 < x1->rank(); ++d) count *= x1->shape[d];
  return count;
}

void check_presence(Check &check, const AllReduceCall &c) {
  check.required("x1", c.x1).required("x2", c.x2);
  if (c.with_norm)
    check.required(c.in_place() ? "residualRef" : "residual", c.residual)
        .required("gamma", c.gamma);
  check.required(c.output_name(), c.output);
  if (c.with_norm) check.required("normOut", c.norm_out);
  if (c.product == Product::few_bit_weight) check.required("antiquantScale", c.antiquant_scale);
  if (c.product == Product::int8 || c.product == Product::low_floats)
    check.required(c.dequant_name, c.dequant_scale);
  check.optional("bias", c.bias)
      .optional("x3", c.x3)
      .optional("antiquantOffset", c.antiquant_offset);
  check.optional(c.pertoken_name, c.pertoken_scale);
  check.optional("commQuantScale1", c.comm_scale1).optional("commQuantScale2", c.comm_scale2);
}

void check_addends(Check &check, const AllReduceCall &c) {
  if (!check.ok()) return;
  const aclDataType expected = c.output->dtype;
  if (c.x3) check.same_dtype("x3", c.x3->dtype, c.output_name(), expected);
  if (!c.with_norm) return;
  check.same_dtype("residual", c.residual->dtype, c.output_name(), expected);
  check.same_dtype("gamma", c.gamma->dtype, c.output_name(), expected);
  check.same_dtype("normOut", c.norm_out->dtype, c.output_name(), expected);
}

void check_modes(Check &check, const AllReduceCall &c) {
  check.required_text("reduceOp", c.reduce_op);
  if (!check.ok()) return;
  check.that(std::strcmp(c.reduce_op, "sum") == 0,
             "reduceOp is \"%.40s\"; only \"sum\" is supported", c.reduce_op);
  check.that(c.stream_mode == 1, "streamMode is %" PRId64 "; only 1 (stop on failure) is allowed",
             c.stream_mode);
  if (!c.names_mode) return;
  const bool a5 = hccl::chip() == hccl::Chip::a5;
  const char *mode = c.comm_mode;
  const bool known = mode ? !std::strcmp(mode, "ai_cpu") || (a5 && !std::strcmp(mode, "ccu")) : !a5;
  check.that(known, "commMode is %s%.40s%s; on %s it can be %s", mode ? "\"" : "",
             mode ? mode : "null", mode ? "\"" : "", hccl::chip_text(),
             a5 ? "\"ai_cpu\" or \"ccu\"" : "null or \"ai_cpu\"");
}

void check_shapes(Check &check, const AllReduceCall &c) {
  check.rank("x1", c.x1, 2, 3);
  if (c.with_norm && check.ok())
    check.that(c.depth() != 0, "x1 has no columns: its last dimension (k) is 0");
  if (!check.ok() || c.blocked()) return;
  check_product_shapes(check, c);
  check_weight_shapes(check, c);
  check_scale_shapes(check, c);
}

bool is_per_column(const aclTensor &tensor, int64_t columns) {
  if (tensor.rank() == 1) return tensor.shape[0] == 1 || tensor.shape[0] == columns;
  return tensor.rank() == 2 && tensor.shape[0] == 1 && tensor.shape[1] == columns;
}

Status check_all_reduce_tiling(const AllReduceCall &c, hccl::Communicator &communicator) {
  Check check = tiling_check(c.op);
  check_comm_turn(check, c.comm_turn);
  if (!check.ok()) return check.status();
  if (const Status s = check_world_size(c.op, Ranks::all_reduce, communicator)) return s;
  check_plain(check, "x1", c.x1);
  check_plain(check, "bias", c.bias);
  check_plain(check, "x3", c.x3);
  check_plain(check, "output", c.output);
  if (c.blocked()) {
    check.that(c.x2->storage_shape.size() == 4,
               "x2 in FRACTAL_NZ has a storage shape of %zu dimensions; it must have 4",
               c.x2->storage_shape.size());
    check_product_shapes(check, c);
    check_weight_shapes(check, c);
    check_scale_shapes(check, c);
  } else {
    check_plain(check, "x2", c.x2);
  }
  if (!check.ok()) return check.status();
  const int64_t m = c.rows(), k = c.depth(), n = c.columns();
  check.that(m <= INT32_MAX && k <= INT32_MAX && n <= INT32_MAX,
             "a dimension is above 2147483647: m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64, m, k, n);
  if (c.product != Product::floating) {
    check.that(k <= 65535 && n <= 65535,
               "k is %" PRId64 " and n %" PRId64 "; neither may be above 65535", k, n);
  }
  if (c.product == Product::int8) {
    check.that(c.dequant_scale->dtype != ACL_FLOAT || c.pertoken_scale,
               "%s has dtype FLOAT; without %s it must be UINT64 or INT64", c.dequant_name,
               c.pertoken_name);
  }
  if (c.with_norm) {
    check.that(c.epsilon > 0 && c.epsilon < 1, "epsilon is %g; it must be between 0 and 1",
               c.epsilon);
    return check.status();
  }
  if (c.product == Product::int8 || c.product == Product::low_floats) {
    check_not_empty(check, "x1", c.x1);
    check_not_empty(check, "x2", c.x2);
  }
  check_not_empty(check, "output", c.output);
  check_not_empty(check, "bias", c.bias);
  check_not_empty(check, "x3", c.x3);
  return check.status();
}

}  // namespace emu
