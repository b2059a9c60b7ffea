// SPDX-License-Identifier: Apache-2.0
#include "ops/mc2/sliced_floats.h"

#include <cinttypes>

#include "ops/convert.h"
#include "ops/matmul/quant/float_operand.h"

namespace emu {
namespace {

constexpr int64_t kBlockGroups = int64_t{128} << 32 | 128 << 16 | 128,
                  kMxGroups = int64_t{1} << 32 | 1 << 16 | 32;

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
  const DtypeSet allowed = dtype_set(ACL_FLOAT) | (x == ACL_HIFLOAT8 ? 0 : kPowers);
  check.dtype_in("x1ScaleOptional", a.x1_scale->dtype, allowed);
  check.same_dtype("x2ScaleOptional", a.x2_scale->dtype, "x1ScaleOptional", a.x1_scale->dtype);
  if (!a.bias) return;
  check.dtype_in("biasOptional", a.bias->dtype, dtype_set(ACL_FLOAT));
  check.that(mode_of(a) != FloatMode::kBlocks, "biasOptional is given; scales of blocks take none");
}

void check_sliced_float_scales(Check &check, const SlicedV2 &a, SlicedFloats *form) {
  if (!check.ok()) return;
  const int64_t m = a.x1->shape[0], k = a.x1->shape[1], n = a.x2->shape[1], one = 1;
  form->mode = mode_of(a);
  const int64_t wanted = form->mode == FloatMode::kMx       ? kMxGroups
                         : form->mode == FloatMode::kBlocks ? kBlockGroups
                                                            : 0;
  check.that(a.group_size == 0 || a.group_size == wanted,
             "groupSize is %" PRId64 "; with these scales it is 0 or %" PRId64, a.group_size,
             wanted);
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

void multiply_sliced_floats(const SlicedFloats &form, const aclTensor &x1, const aclTensor &x2,
                            const float *row_scales, const std::vector<float> &column_scales,
                            const std::vector<float> &bias, void *rows, aclDataType dtype) {
  std::vector<float> left, right;
  FloatProduct product;
  product.x = as_float(x1, left);
  product.w = as_float(x2, right);
  product.group = inner_group(form.mode);
  product.left_map = form.left;
  product.right_map = form.right;
  const bool whole = form.mode == FloatMode::kWhole;
  if (!whole) {
    product.left = row_scales;
    product.right = column_scales.data();
  }
  const int64_t m = product.x.rows, n = product.w.cols;
  std::vector<float> values(static_cast<size_t>(m * n));
  multiply(product, values.data());
  for (int64_t i = 0; i < m; ++i) {
    float *row = values.data() + i * n;
    for (int64_t j = 0; j < n; ++j) {
      if (!bias.empty()) row[j] += bias[static_cast<size_t>(j)];
      // One scale of each operand is for the sum and its bias.
      if (whole) row[j] = row[j] * column_scales[0] * row_scales[0];
    }
    store_f32(row, rows, dtype, i * n, 1, n);
  }
}

}  // namespace emu
