// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/quant/float_product.h"

#include <algorithm>
#include <cinttypes>

#include "ops/matmul/dequantise.h"
#include "ops/matmul/quant/float_operand.h"

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

constexpr int64_t kPair = 2 * kPairedGroup;

int64_t pairs_of(int64_t depth) { return depth / kPair + (depth % kPair != 0); }

}  // namespace

ScaleMap paired_scales(int64_t rows, int64_t depth, bool turned) {
  ScaleMap map;
  map.pairs = true;
  map.row_step = turned ? 2 : 2 * pairs_of(depth);
  map.pair_step = turned ? 2 * rows : 2;
  return map;
}

Layout paired_scale_layout(int64_t rows, int64_t depth, bool turned) {
  const int64_t pairs = pairs_of(depth);
  const int64_t shape[] = {turned ? pairs : rows, turned ? rows : pairs, 2};
  return dense_layout(shape, 3);
}

std::vector<float> float_scales(const aclTensor &scale) {
  return scale.dtype == ACL_FLOAT8_E8M0 ? low_values(scale) : every_scale(scale);
}

void check_group_size(Check &check, int64_t given, int64_t m, int64_t n, int64_t k) {
  const int64_t wanted[] = {k, n, m};
  const char *const axis[] = {"k", "n", "m"};
  for (int i = 0; i < 3; ++i) {
    const int64_t size = given >> 16 * i & 0xffff;
    check.that(size == 0 || size == wanted[i],
               "groupSize is %" PRId64 ", a group of %" PRId64 " along %s; allowed: %" PRId64
               " or 0",
               given, size, axis[i], wanted[i]);
  }
}

void cut_inner(FloatProduct *product, int64_t first, int64_t count) {
  Matrix &x = product->x, &w = product->w;
  x.data = static_cast<const float *>(x.data) + x.col.at(first);
  w.data = static_cast<const float *>(w.data) + w.row.at(first);
  x.cols = w.rows = count;
}

void multiply(const FloatProduct &p, float *out) {
  if (p.group == 0) return gemm_f32(p.x, p.w, ScaledParts(p, 0, out));
  std::fill(out, out + p.x.rows * p.w.cols, 0.0f);
  for (int64_t first = 0, g = 0; first < p.x.cols; first += p.group, ++g) {
    FloatProduct part = p;
    cut_inner(&part, first, std::min(p.group, p.x.cols - first));
    gemm_f32(part.x, part.w, ScaledParts(p, g, out));
  }
}

}  // namespace emu
