// SPDX-License-Identifier: Apache-2.0
#include "ops/mc2/float_form.h"

#include <cinttypes>

#include "ops/convert.h"
#include "ops/matmul/quant/float_operand.h"

namespace emu {
namespace {

constexpr int64_t kBlockGroups = int64_t{128} << 32 | 128 << 16 | 128,
                  kMxGroups = int64_t{1} << 32 | 1 << 16 | 32;

}  // namespace

void check_float_groups(Check &check, FloatMode mode, int64_t group_size) {
  const int64_t wanted = mode == FloatMode::kMx       ? kMxGroups
                         : mode == FloatMode::kBlocks ? kBlockGroups
                                                      : 0;
  check.that(group_size == 0 || group_size == wanted,
             "groupSize is %" PRId64 "; with these scales it is 0 or %" PRId64, group_size, wanted);
}

void multiply_float_rows(const FloatForm &form, const aclTensor &x1, const aclTensor &x2,
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
    const float factor = row_scales ? row_scales[form.left.at(i, 0)] : 1.0f;
    for (int64_t j = 0; j < n; ++j) {
      if (!bias.empty()) row[j] += bias[static_cast<size_t>(j)];
      // Whole scales are for the sum and its bias.
      if (whole) row[j] = row[j] * column_scales[static_cast<size_t>(form.right.at(j, 0))] * factor;
    }
    store_f32(row, rows, dtype, i * n, 1, n);
  }
}

}  // namespace emu
