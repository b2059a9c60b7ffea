// SPDX-License-Identifier: Apache-2.0
#include "ops/mc2/sliced_floats.h"

namespace emu {
namespace {

FloatMode mode_of(const SlicedV2 &a) {
  if (contains(kPowers, a.x1_scale->dtype)) return FloatMode::kMx;
  return a.x1_scale->rank() > 1 ? FloatMode::kBlocks : FloatMode::kWhole;
}

}  // namespace

void check_sliced_float_dtypes(Check &check, const SlicedV2 &a) {
  const aclDataType x = a.x1->dtype;
  check.dtype_in("x2", a.x2->dtype, low_floats_beside(x));
  if (a.gathers) check.same_dtype("gatherOut", a.gathered->dtype, "x1", x);
  check.dtype_in("output", a.output->dtype, dt::kFloat);
  check.required("x1ScaleOptional", a.x1_scale).required("x2ScaleOptional", a.x2_scale);
  if (!check.ok()) return;
  const DtypeSet whole = x == ACL_FLOAT4_E2M1 ? 0 : dtype_set(ACL_FLOAT);
  const DtypeSet allowed = whole | (x == ACL_HIFLOAT8 ? 0 : kPowers);
  check.dtype_in("x1ScaleOptional", a.x1_scale->dtype, allowed);
  check.same_dtype("x2ScaleOptional", a.x2_scale->dtype, "x1ScaleOptional", a.x1_scale->dtype);
  if (!a.bias) return;
  check.dtype_in("biasOptional", a.bias->dtype, dtype_set(ACL_FLOAT));
  check.that(mode_of(a) != FloatMode::kBlocks, "biasOptional is given; scales of blocks take none");
}

void check_sliced_float_scales(Check &check, const SlicedV2 &a, FloatForm *form) {
  if (!check.ok()) return;
  const int64_t m = a.x1->shape[0], k = a.x1->shape[1], n = a.x2->shape[1], one = 1;
  form->mode = mode_of(a);
  check_float_groups(check, form->mode, a.group_size);
  const int64_t deep = inner_entries(form->mode, k);
  switch (form->mode) {
    case FloatMode::kWhole:
      check.shape("x1ScaleOptional", a.x1_scale, dense_layout(&one, 1));
      check.shape("x2ScaleOptional", a.x2_scale, dense_layout(&one, 1));
      return;
    case FloatMode::kBlocks: {
      const int64_t tall = inner_entries(form->mode, m), wide = inner_entries(form->mode, n);
      const int64_t left[] = {tall, deep}, right[] = {deep, wide};
      check.shape("x1ScaleOptional", a.x1_scale, dense_layout(left, 2));
      check.shape("x2ScaleOptional", a.x2_scale, dense_layout(right, 2));
      form->left = {128, deep, 1, 0, false};
      form->right = {128, 1, wide, 0, false};
      form->left_count = tall * deep;
      return;
    }
    case FloatMode::kMx: {
      check_row_scales(check, "x1ScaleOptional", *a.x1_scale, form->mode, m, k, &form->left);
      check_row_scales(check, "x2ScaleOptional", *a.x2_scale, form->mode, n, k, &form->right);
      check.that(is_transposed_view(*a.x2) || n == 1,
                 "x2 is no transposed view; with scales of FLOAT8_E8M0 it is one");
      form->left_count = m * deep * 2;
      return;
    }
  }
}

}  // namespace emu
