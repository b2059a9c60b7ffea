// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/quant/float_product.h"

#include <algorithm>

namespace emu {
namespace {

class ScaledParts final : public RowSink<float> {
 public:
  ScaledParts(const FloatProduct &product, int64_t group, float *out)
      : p_(product), group_(group), out_(out) {}

  void accept(int64_t row, int64_t col, int64_t count, const float *sums) const override {
    const float factor = p_.left ? p_.left[p_.left_map.at(row, group_)] : 1.0f;
    float *to = out_ + row * p_.w.cols + col;
    for (int64_t j = 0; j < count; ++j) {
      const float column = p_.right ? p_.right[p_.right_map.at(col + j, group_)] : 1.0f;
      // One pair of scales for all: first that of the column, as in products of integers.
      if (p_.group == 0) to[j] = sums[j] * column * factor;
      else to[j] += sums[j] * (factor * column);
    }
  }

 private:
  const FloatProduct &p_;
  const int64_t group_;
  float *out_;
};

}  // namespace

void multiply(const FloatProduct &p, float *out) {
  if (p.group == 0) return gemm_f32(p.x, p.w, ScaledParts(p, 0, out));
  std::fill(out, out + p.x.rows * p.w.cols, 0.0f);
  for (int64_t first = 0, g = 0; first < p.x.cols; first += p.group, ++g) {
    Matrix x = p.x, w = p.w;
    x.data = static_cast<const float *>(x.data) + x.col.at(first);
    w.data = static_cast<const float *>(w.data) + w.row.at(first);
    x.cols = w.rows = std::min(p.group, p.x.cols - first);
    gemm_f32(x, w, ScaledParts(p, g, out));
  }
}

}  // namespace emu
