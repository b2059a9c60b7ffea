// SPDX-License-Identifier: Apache-2.0
// What GroupedMatmulFinalizeRouting asks of operands that are floats of 8 or 4 bits.
#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/finalize_routing.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/shared/low_codes.h"

namespace emu {
namespace {

constexpr int64_t kMostExperts = 1024;
constexpr int64_t kMixedBlock = 32;  // values of the inner axis that lie together

void check_dtypes(Check &check, const FinalizeCall &c, FinalizeSizes *z) {
  const FinalizeNames &n = *c.names;
  const aclDataType x = c.x->dtype;
  const bool blocks = is_fractal(*c.weight);
  check.dtype_in(n.weight, c.weight->dtype,
                 z->mixed ? kFloat4E2m1
                 : blocks ? dtype_set(x)
                          : low_floats_beside(x));
  check.that(c.offset == nullptr, "offsetOptional is given; with %s of %s it must be null", n.x,
             dtype_name(x));
  z->mode = blocks ? FloatMode::kWhole : FloatMode::kMx;
  check.dtype_in(n.scale, c.scale->dtype, blocks ? dtype_set(ACL_FLOAT, ACL_BF16) : kPowers);
  if (!blocks) check.required("pertokenScaleOptional", c.token);
  if (c.token && check.ok())
    check.dtype_in("pertokenScaleOptional", c.token->dtype,
                   blocks ? dtype_set(ACL_FLOAT) : kPowers);
  check.required(n.logit, c.logit);
  if (!check.ok()) return;
  if (c.bias) check.dtype_in(n.bias, c.bias->dtype, dtype_set(ACL_BF16));
  if (c.shared) check.dtype_in(n.shared, c.shared->dtype, dtype_set(ACL_BF16));
  check.dtype_in(n.groups, c.groups->dtype, dtype_set(ACL_INT64));
  check.dtype_in(n.logit, c.logit->dtype, dtype_set(ACL_FLOAT));
  check.dtype_in(n.row_index, c.row_index->dtype, dtype_set(ACL_INT64));
  check.dtype_in(n.out, c.out->dtype, dtype_set(ACL_FLOAT));
  check.plain_format(n.x, c.x).plain_format(n.out, c.out);
}

// Rows of FLOAT8 with a weight of FLOAT4 in blocks.
void check_mixed(Check &check, const FinalizeCall &c, FinalizeSizes *z) {
  const FinalizeNames &n = *c.names;
  const aclTensor &w = *c.weight;
  check.that(w.format == ACL_FORMAT_FRACTAL_NZ_C0_32,
             "%s has the format %s; of FLOAT4_E2M1 it is FRACTAL_NZ_C0_32", n.weight,
             format_name(w.format));
  check.that(c.transpose_weight, "%s is false; with %s of FLOAT4_E2M1 it must be true",
             n.transpose_weight, n.weight);
  check.rank(n.x, c.x, 2, 2).rank(n.out, c.out, 2, 2).rank(n.weight, c.weight, 3, 3);
  if (!check.ok()) return;
  check_dtypes(check, c, z);
  if (!check.ok()) return;
  z->experts = w.shape[0];
  z->columns = w.shape[1];
  z->depth = w.shape[2];
  check.that(z->experts >= 1 && z->experts <= kMostExperts,
             "%s has %" PRId64 " experts; allowed: 1 to %" PRId64, n.weight, z->experts,
             kMostExperts);
  check.that(z->depth > 0 && z->depth % kMixedBlock == 0 && z->columns > 0 &&
                 z->columns % kMixedBlock == 0,
             "%s has matrices of %" PRId64 " x %" PRId64 "; both must be multiples of 32", n.weight,
             z->columns, z->depth);
  if (!check.ok()) return;
  const int64_t blocks[] = {z->experts, z->depth / kMixedBlock, z->columns / kFractalRows,
                            kFractalRows, kMixedBlock};
  check.that(w.storage_shape == Dims(blocks, 5), "%s has a storage of shape %s; expected %s",
             n.weight,
             shape_text(w.storage_shape.data(), static_cast<int>(w.storage_shape.size())).c_str(),
             shape_text(blocks, 5).c_str());
  check.that(w.contiguous() && w.offset == 0,
             "%s is a view; its blocks are read as the storage has them", n.weight);
  check.that(c.x->shape[0] >= 1, "%s has no rows", n.x);
  check.that(c.x->shape[1] == z->depth,
             "%s has %" PRId64 " columns, but the inner size of %s is %" PRId64, n.x, c.x->shape[1],
             n.weight, z->depth);
  const int64_t pairs = inner_entries(FloatMode::kMx, z->depth);
  const int64_t scale[] = {z->experts, z->columns, pairs, 2};
  check.shape(n.scale, c.scale, dense_layout(scale, 4));
  check_row_scales(check, "pertokenScaleOptional", *c.token, z->mode, c.x->shape[0], z->depth,
                   &z->left);
  z->right.pairs = true;
  z->right.row_step = 2 * pairs;
  z->right.group_step = z->right.pair_step = 2;
  if (check.ok()) check_finalize_companions(check, c, *z, nullptr);
}

}  // namespace

Matrix mixed_weight(const aclTensor &weight, const FinalizeSizes &sizes, int64_t expert,
                    std::vector<float> &memory) {
  aclTensor lines = weight;
  const int64_t shape[] = {sizes.depth / kMixedBlock * sizes.columns, kMixedBlock};
  lines.format = ACL_FORMAT_ND;
  lines.shape = lines.storage_shape = Dims(shape, 2);
  lines.strides = contiguous_strides(lines.shape);
  lines.offset += expert * sizes.depth * sizes.columns;
  Matrix m = as_float(lines, memory);
  m.rows = sizes.depth;
  m.cols = sizes.columns;
  m.row = {1, kMixedBlock, sizes.columns * kMixedBlock};
  m.col = {kMixedBlock, 0, 0};
  return m;
}

bool is_finalize_floats(const FinalizeCall &call) {
  return chip_is_950() && contains(call.floats_950, call.x->dtype);
}

void check_finalize_floats(Check &check, const FinalizeCall &c, FinalizeSizes *z) {
  const FinalizeNames &n = *c.names;
  z->floats = true;
  // The version that takes FLOAT8 in blocks of memory takes HIFLOAT8 too, and nothing else.
  const bool blocks = contains(c.floats_950, ACL_HIFLOAT8);
  z->mixed = blocks && c.weight->dtype == ACL_FLOAT4_E2M1 && c.x->dtype == ACL_FLOAT8_E4M3FN;
  if (z->mixed) return check_mixed(check, c, z);
  check.that(is_fractal(*c.weight) == blocks, "%s has the format %s; with %s of %s it is %s",
             n.weight, format_name(c.weight->format), n.x, dtype_name(c.x->dtype),
             blocks ? "FRACTAL_NZ" : "ND");
  if (check.ok()) check_dtypes(check, c, z);
  check_float4(check, n.x, c.x);
  check_float4(check, n.weight, c.weight);
  check_weight(check, n.weight, *c.weight, 3, Blocks::kByFormat);
  check.rank(n.x, c.x, 2, 2).rank(n.out, c.out, 2, 2);
  if (!check.ok()) return;
  const aclTensor weight = weight_of(*c.weight, Blocks::kByFormat);
  check.that(weight.contiguous(), "%s is a view; say with %s that it is transposed", n.weight,
             n.transpose_weight);
  z->experts = weight.shape[0];
  z->depth = weight.shape[c.transpose_weight ? 2 : 1];
  z->columns = weight.shape[c.transpose_weight ? 1 : 2];
  check.that(z->experts <= kMostExperts,
             "%s has %" PRId64 " experts; at most %" PRId64 " are allowed", n.weight, z->experts,
             kMostExperts);
  check.that(c.x->shape[0] >= 1, "%s has no rows", n.x);
  check.that(c.x->shape[1] == z->depth,
             "%s has %" PRId64 " columns, but the inner size of %s is %" PRId64, n.x, c.x->shape[1],
             n.weight, z->depth);
  check.that(!contains(kFloat4, c.x->dtype) || z->depth != 2,
             "%s has 2 columns, which FLOAT4_E2M1 does not support", n.x);
  if (!check.ok()) return;
  if (blocks) {
    const int64_t shape[] = {z->experts, 1, z->columns};
    const Layout scale = dense_layout(shape, 3);
    z->right.row_step = 1;
    return check_finalize_companions(check, c, *z, &scale);
  }
  const FloatWeight sizes{z->experts, z->depth, z->columns, c.transpose_weight};
  check_weight_scales(check, n.scale, *c.scale, z->mode, sizes, true, &z->right);
  check_row_scales(check, "pertokenScaleOptional", *c.token, z->mode, c.x->shape[0], z->depth,
                   &z->left);
  if (check.ok()) check_finalize_companions(check, c, *z, nullptr);
}

}  // namespace emu
