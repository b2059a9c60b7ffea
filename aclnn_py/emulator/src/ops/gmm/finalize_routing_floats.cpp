// SPDX-License-Identifier: Apache-2.0
// What GroupedMatmulFinalizeRouting asks of operands that are floats of 8 or 4 bits.
#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/finalize_routing.h"
#include "ops/quant/low_codes.h"

namespace emu {
namespace {

constexpr int64_t kMostExperts = 1024;

void check_dtypes(Check &check, const FinalizeCall &c, FinalizeSizes *z) {
  const FinalizeNames &n = *c.names;
  const aclDataType x = c.x->dtype;
  const bool blocks = is_fractal(*c.weight);
  check.dtype_in(n.weight, c.weight->dtype, blocks ? dtype_set(x) : low_floats_beside(x));
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

}  // namespace

bool is_finalize_floats(const FinalizeCall &call) {
  return chip_is_950() && contains(call.floats_950, call.x->dtype);
}

void check_finalize_floats(Check &check, const FinalizeCall &c, FinalizeSizes *z) {
  const FinalizeNames &n = *c.names;
  z->floats = true;
  // The version that takes FLOAT8 in blocks of memory takes HIFLOAT8 too, and nothing else.
  const bool blocks = contains(c.floats_950, ACL_HIFLOAT8);
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
