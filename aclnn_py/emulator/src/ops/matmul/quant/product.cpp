// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/quant/product.h"

#include <algorithm>
#include <cmath>

#include "ops/shared/packed_scale.h"

namespace emu {
namespace {

constexpr int64_t kPiece = 256;

float at(const std::vector<float> &values, int64_t i) {
  return values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
}

bool is_packed(aclDataType dtype) { return dtype == ACL_UINT64 || dtype == ACL_INT64; }

std::vector<uint64_t> packed_values(const aclTensor &tensor) {
  const View view = view_of(tensor);
  const Layout flat = coalesced(view.layout);
  std::vector<uint64_t> values(static_cast<size_t>(view.count()));
  size_t next = 0;
  for_each_run(flat, 0, view.count(), [&](int64_t offset, int64_t step, int64_t run) {
    const auto *from = reinterpret_cast<const uint64_t *>(view.data) + offset;
    for (int64_t i = 0; i < run; ++i) values[next++] = from[i * step];
  });
  return values;
}

}  // namespace

void store_quantised(const float *values, const MatrixOut &out, int64_t row, int64_t col,
                     int64_t count) {
  const int64_t at = row * out.row_stride + col * out.col_stride;
  if (out.dtype != ACL_INT8)
    return store_f32(values, out.data, out.dtype, at, out.col_stride, count);
  auto *to = static_cast<int8_t *>(out.data) + at;
  for (int64_t i = 0; i < count; ++i) {
    const float value = values[i] == values[i] ? values[i] : 0.0f;
    to[i * out.col_stride] =
        static_cast<int8_t>(std::nearbyintf(std::min(127.0f, std::max(-128.0f, value))));
  }
}

void DequantisedStore::accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const {
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t n = std::min(kPiece, count - done), j = col + done;
    int32_t whole[kPiece];
    for (int64_t i = 0; i < n; ++i) {
      const int32_t *bias = form_.integer_bias;
      const uint32_t shift =
          bias ? static_cast<uint32_t>(bias[(j + i) * form_.integer_bias_step]) : 0;
      whole[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[done + i]) + shift);
    }
    if (out_.dtype == ACL_INT32) {
      auto *to = static_cast<int32_t *>(out_.data) + row * out_.row_stride;
      for (int64_t i = 0; i < n; ++i) to[(j + i) * out_.col_stride] = whole[i];
      continue;
    }
    float values[kPiece];
    for (int64_t i = 0; i < n; ++i)
      values[i] = static_cast<float>(whole[i]) * at(form_.column_scale, j + i);
    if (!form_.row_scale.empty()) {
      const float factor = at(form_.row_scale, row);
      for (int64_t i = 0; i < n; ++i) values[i] *= factor;
    }
    if (!form_.column_shift.empty())
      for (int64_t i = 0; i < n; ++i) values[i] += at(form_.column_shift, j + i);
    if (form_.then) form_.then(values, n);
    store_quantised(values, out_, row, j, n);
  }
}

void RoundedStore::accept(int64_t row, int64_t col, int64_t count, const float *sums) const {
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t n = std::min(kPiece, count - done), j = col + done;
    float values[kPiece];
    for (int64_t i = 0; i < n; ++i)
      values[i] = sums[done + i] + (bias.empty() ? 0 : bias[static_cast<size_t>(j + i)]);
    store_quantised(values, out, row, j, n);
  }
}

void RequantisedStore::accept(int64_t row, int64_t col, int64_t count, const float *sums) const {
  for (int64_t done = 0; done < count; done += kPiece) {
    const int64_t n = std::min(kPiece, count - done), j = col + done;
    float values[kPiece];
    for (int64_t i = 0; i < n; ++i) {
      const float sum = sums[done + i] + (bias.empty() ? 0 : at(bias, j + i));
      values[i] = sum * at(scale, j + i) + (shift.empty() ? 0 : at(shift, j + i));
    }
    store_quantised(values, out, row, j, n);
  }
}

GroupedSums::GroupedSums(int64_t rows, int64_t cols)
    : rows_(rows), cols_(cols), sums_(static_cast<size_t>(rows * cols)) {}

namespace {

// `count` indices of the inner axis from `first` on.
Matrix columns_of(const Matrix &m, int64_t first, int64_t count) {
  Matrix part = m;
  part.data = static_cast<const char *>(m.data) + m.col.at(first) * item_size(m.dtype);
  part.cols = count;
  return part;
}

// Calls f(row, column, whole sum) for every element of a part of the product.
template <class F>
class EachSum final : public RowSink<int32_t> {
 public:
  explicit EachSum(const F &f) : f_(f) {}
  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override {
    for (int64_t i = 0; i < count; ++i) f_(row, col + i, static_cast<float>(sums[i]));
  }

 private:
  const F &f_;
};

template <class F>
void each_part(const Matrix &a, const Matrix &b, int64_t size, const F &f) {
  for (int64_t first = 0, g = 0; first < a.cols; first += size, ++g) {
    const int64_t count = std::min(size, a.cols - first);
    const auto add = [&](int64_t row, int64_t col, float sum) { f(g, row, col, sum); };
    gemm_i32(columns_of(a, first, count), columns_of(b.transposed(), first, count).transposed(),
             EachSum<decltype(add)>(add));
  }
}

}  // namespace

void GroupedSums::add_blocks(const Matrix &a, const Matrix &b, const std::vector<float> &row_scale,
                             const std::vector<float> &column_scale) {
  const int64_t deep = a.cols / 128;
  each_part(a, b, 128, [&](int64_t g, int64_t row, int64_t col, float sum) {
    const float scale = row_scale[static_cast<size_t>(row * deep + g)] *
                        column_scale[static_cast<size_t>(col / 128 * deep + g)];
    sums_[static_cast<size_t>(row * cols_ + col)] += sum * scale;
  });
}

void GroupedSums::add_groups(const Matrix &a, const Matrix &b, const std::vector<float> &scale,
                             const std::vector<float> &offset) {
  const int64_t size = 256, groups = a.cols / size;
  std::vector<int32_t> totals(static_cast<size_t>(rows_ * groups));
  const auto *numbers = static_cast<const int8_t *>(a.data);
  for (int64_t i = 0; i < rows_; ++i)
    for (int64_t p = 0; p < a.cols; ++p)
      totals[static_cast<size_t>(i * groups + p / size)] += numbers[a.row.at(i) + a.col.at(p)];
  each_part(a, b, size, [&](int64_t g, int64_t row, int64_t col, float sum) {
    const auto at = static_cast<size_t>(g * cols_ + col);
    const float total = static_cast<float>(totals[static_cast<size_t>(row * groups + g)]);
    sums_[static_cast<size_t>(row * cols_ + col)] += scale[at] * (sum - total * offset[at]);
  });
}

void GroupedSums::add_scaled(const Matrix &a, const Matrix &b, const float *row_scale,
                             const float *column_scale) {
  each_part(a, b, a.cols, [&](int64_t, int64_t row, int64_t col, float sum) {
    sums_[static_cast<size_t>(row * cols_ + col)] += sum * row_scale[row] * column_scale[col];
  });
}

void GroupedSums::scale_rows(const std::vector<float> &scale) {
  for (int64_t i = 0; i < rows_; ++i)
    for (int64_t j = 0; j < cols_; ++j)
      sums_[static_cast<size_t>(i * cols_ + j)] *= scale[static_cast<size_t>(i)];
}

void GroupedSums::store(const std::vector<float> &shift, const MatrixOut &out) {
  for (int64_t i = 0; i < rows_; ++i) {
    float *row = sums_.data() + i * cols_;
    if (!shift.empty())
      for (int64_t j = 0; j < cols_; ++j) row[j] += at(shift, j);
    store_quantised(row, out, i, 0, cols_);
  }
}

std::vector<float> scale_values(const aclTensor &tensor) {
  std::vector<float> values(static_cast<size_t>(tensor.numel()));
  if (is_packed(tensor.dtype)) {
    const std::vector<uint64_t> packed = packed_values(tensor);
    std::transform(packed.begin(), packed.end(), values.begin(), unpack_scale);
    return values;
  }
  const View view = view_of(tensor);
  int64_t next = 0;
  for_each_run(coalesced(view.layout), 0, view.count(),
               [&](int64_t offset, int64_t step, int64_t run) {
                 load_f32(view.data, view.dtype, offset, step, run, values.data() + next);
                 next += run;
               });
  return values;
}

std::vector<float> packed_offsets(const aclTensor &tensor) {
  std::vector<float> offsets;
  for (const uint64_t packed : packed_values(tensor)) offsets.push_back(unpack_offset(packed));
  const bool any = std::any_of(offsets.begin(), offsets.end(), [](float v) { return v != 0; });
  return any ? offsets : std::vector<float>();
}

bool memory_overlaps(const aclTensor &a, const aclTensor &b) {
  int64_t a_low = 0, a_high = 0, b_low = 0, b_high = 0;
  if (!a.reach(&a_low, &a_high) || !b.reach(&b_low, &b_high)) return false;
  const auto *x = static_cast<const char *>(a.data), *y = static_cast<const char *>(b.data);
  return x + a_low < y + b_high && y + b_low < x + a_high;
}

}  // namespace emu
