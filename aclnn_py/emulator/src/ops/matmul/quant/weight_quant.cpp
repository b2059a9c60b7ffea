// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/quant/weight_quant.h"

#include <algorithm>

#include "core/pool.h"
#include "ops/matmul/quant/weight_stream_kernels.h"

namespace emu {
namespace {

// One row of the numbers of a weight as bytes, whatever they are stored as.
class NumberRows {
 public:
  explicit NumberRows(const QuantisedWeight &w)
      : m_(matrix_stack(*w.tensor).first),
        packing_(w.packing),
        origin_(w.packing == Packing::kNone ? w.tensor->offset : 0),
        floats_(m_.dtype == ACL_FLOAT4_E2M1 || m_.dtype == ACL_FLOAT) {}

  void read(int64_t row, int64_t first, int64_t count, int8_t *to) const {
    if (m_.dtype == ACL_INT8) {
      const auto *from = static_cast<const int8_t *>(m_.data) + m_.row.at(row);
      if (m_.col.stride == 1 && !m_.col.block) {
        std::copy_n(from + first, count, to);
      } else {
        for (int64_t j = 0; j < count; ++j) to[j] = from[m_.col.at(first + j)];
      }
      return;
    }
    for (int64_t j = 0; j < count; ++j) to[j] = number_of_4_bits(m_.data, position(row, first + j));
    for (int64_t j = 0; j < count && floats_; ++j) to[j] = kHalves[to[j] & 15];
  }

 private:
  int64_t position(int64_t i, int64_t j) const {
    if (packing_ == Packing::kAlongColumns) return 8 * (m_.row.at(i) + m_.col.at(j / 8)) + j % 8;
    if (packing_ == Packing::kAlongRows) return 8 * (m_.row.at(i / 8) + m_.col.at(j)) + i % 8;
    return origin_ + m_.row.at(i) + m_.col.at(j);
  }

  const Matrix m_;
  const Packing packing_;
  const int64_t origin_;
  const bool floats_;
  // The codes of FLOAT4_E2M1 in halves.
  static constexpr int8_t kHalves[16] = {0, 1, 2, 3, 4, 6, 8, 12, 0, -1, -2, -3, -4, -6, -8, -12};
};

}  // namespace

GroupTable::GroupTable(const View &view, int64_t groups, int64_t columns) : view_(view) {
  if (view.layout.rank == 0) return;
  const int last = view.layout.rank - 1;
  if (columns > 1 && view.layout.shape[last] == columns) column_ = view.layout.stride[last];
  if (groups > 1 && view.layout.rank == 2) group_ = view.layout.stride[0];
}

void GroupTable::read(int64_t group, int64_t first, int64_t count, float *to) const {
  if (zero()) {
    std::fill_n(to, count, 0.0f);
  } else {
    load_f32(view_.data, view_.dtype, group * group_ + first * column_, column_, count, to);
  }
}

const uint16_t *GroupTable::stored(int64_t group, int64_t first) const {
  if (column_ != 1 || item_size(view_.dtype) != 2) return nullptr;
  return reinterpret_cast<const uint16_t *>(view_.data) + group * group_ + first;
}

void GroupTable::await(int64_t group, int64_t first, int64_t count) const {
  if (group_ == 0 || column_ != 1) return;
  constexpr int64_t line = 64;
  const int64_t size = item_size(view_.dtype);
  const char *from = static_cast<const char *>(view_.data) + (group * group_ + first) * size;
  for (int64_t at = 0; at < count * size; at += line) __builtin_prefetch(from + at);
}

void multiply_by_weight(const Matrix &x, const QuantisedWeight &weight,
                        const RowSink<float> &sink) {
  // Streams read integers.
  const bool floats = contains(dt::kFloating | dtype_set(ACL_FLOAT4_E2M1), weight.tensor->dtype);
  if (!floats && stream_weight(x, weight, sink)) return;
  const std::vector<uint16_t> values = dequantised(weight);
  Matrix dense;
  dense.data = values.data();
  dense.dtype = weight.dtype;
  dense.rows = weight.rows;
  dense.cols = weight.cols;
  dense.row.stride = weight.cols;
  dense.col.stride = 1;
  gemm_f32(x, dense, sink);
}

std::vector<uint16_t> dequantised(const QuantisedWeight &w) {
  std::vector<uint16_t> weight(static_cast<size_t>(w.rows * w.cols));
  const NumberRows numbers(w);
  const auto rounding = w.dtype == ACL_BF16 ? WeightRounding::bfloat16 : WeightRounding::float16;
  const auto dequantise = weight_streams().dequantise[static_cast<int>(rounding)];
  parallel_for(w.rows, 16, [&](int64_t begin, int64_t end) {
    float scale[kBlock], shift[kBlock];
    int8_t bytes[kBlock];
    for (int64_t j = 0; j < w.cols; j += kBlock) {
      const int64_t n = std::min(kBlock, w.cols - j);
      int64_t known = -1;
      for (int64_t i = begin; i < end; ++i) {
        const int64_t group = w.group_size > 0 ? i / w.group_size : 0;
        if (group != known) {
          w.scale.read(group, j, n, scale);
          w.offset.read(group, j, n, shift);
          for (int64_t p = 0; p < n; ++p) shift[p] = shift[p] == 0 ? 0 : shift[p] * scale[p];
          known = group;
        }
        numbers.read(i, j, n, bytes);
        dequantise(bytes, n, scale, shift, weight.data() + i * w.cols + j);
      }
    }
  });
  return weight;
}

}  // namespace emu
