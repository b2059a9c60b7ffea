// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of grouped products whose operands are floats of 8 or 4 bits.
#include "ops/gmm/grouped_floats.h"

#include <algorithm>

#include "core/pool.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/product.h"

namespace emu {
namespace {

class FloatRun {
 public:
  FloatRun(const GroupedJob &job, PlanContext &context) : job_(job), c_(context) {}

  Status run() {
    const int64_t scale = job_.scale >= 0 ? job_.scale : job_.antiquant_scale;
    right_.resize(job_.weight_count);
    for (size_t i = 0; i < job_.weight_count; ++i) right_[i] = float_scales(at(scale, i));
    if (job_.per_token >= 0) left_ = float_scales(at(job_.per_token));
    bias_.resize(job_.bias_count);
    for (size_t i = 0; i < job_.bias_count; ++i) bias_[i] = float_scales(at(job_.bias, i));
    const aclTensor &x = at(job_.x);
    std::vector<GroupSpan> spans;
    if (const Status status =
            read_groups(job_.op, at(job_.group_tensor), job_.group_list_type, job_.groups,
                        x.shape[job_.group_type == 2 ? 1 : 0], &spans))
      return status;
    for (const GroupSpan &span : spans) job_.group_type == 2 ? deep(span) : tall(span);
    return 0;
  }

 private:
  const aclTensor &at(int64_t first, size_t i = 0) const {
    return c_.tensor(static_cast<size_t>(first) + i);
  }

  static aclTensor cut(const aclTensor &t, size_t axis, int64_t first, int64_t count) {
    aclTensor part = t;
    part.offset += first * t.strides[axis];
    part.shape[axis] = count;
    return part;
  }

  // Rows of x with the weight of their group.
  void tall(const GroupSpan &span) {
    if (span.count == 0) return;
    const FloatGroups &form = job_.floats;
    const aclTensor weights =
        weight_numbers(at(job_.weight, job_.weight_count == 1 ? 0 : span.group));
    const bool own = weights.rank() == 2;
    const aclTensor weight = own ? weights : entry_of(weights, span.group);
    const std::vector<float> &right = right_[own ? span.group : 0];
    FloatProduct product;
    product.w = as_float(weight, w_memory_);
    product.group = inner_group(form.mode);
    product.left_map = form.left;
    product.right_map = form.right;
    const size_t each = right.size() / job_.groups;
    product.right = right.data() + (own ? 0 : span.group * each);
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      const int64_t first = span.first + done, count = std::min(kRowsAtOnce, span.count - done);
      product.x = as_float(cut(at(job_.x), 0, first, count), x_memory_);
      if (form.mode != FloatMode::kWhole) {
        product.left = left_.data() + first * form.left.row_step;
      } else if (!left_.empty()) {
        product.left_map.row_step = form.by_row ? 1 : 0;
        product.left = left_.data() + (form.by_row ? first : static_cast<int64_t>(span.group));
      }
      store(product, span.group, cut(at(job_.y), 0, first, count));
    }
  }

  // A part of the inner axis, whose product is a matrix of its own; without elements it is zeros.
  void deep(const GroupSpan &span) {
    const FloatGroups &form = job_.floats;
    const aclTensor &x = at(job_.x), &w = at(job_.weight);
    FloatProduct product;
    product.x = as_float(cut(x, 1, span.first, span.count), x_memory_);
    product.w = as_float(cut(w, 0, span.first, span.count), w_memory_);
    product.group = inner_group(form.mode);
    product.left_map = form.left;
    product.right_map = form.right;
    const auto group = static_cast<int64_t>(span.group);
    if (form.mode == FloatMode::kWhole) {
      product.right = right_[0].data() + group * (form.by_column ? w.shape[1] : 1);
      if (!left_.empty()) product.left = left_.data() + group * (form.by_row ? x.shape[0] : 1);
    } else {
      const bool mx = form.mode == FloatMode::kMx;
      const int64_t entry = span.first / (mx ? 64 : 128) + group;
      product.right =
          right_[0].data() + entry * (mx ? form.right.pair_step : form.right.group_step);
      product.left = left_.data() + entry * (mx ? form.left.pair_step : form.left.group_step);
    }
    store(product, span.group, entry_of(at(job_.y), span.group));
  }

  void store(const FloatProduct &product, size_t group, const aclTensor &y) {
    const int64_t rows = product.x.rows, columns = product.w.cols;
    values_.resize(static_cast<size_t>(rows * columns));
    multiply(product, values_.data());
    const Matrix to = matrix_stack(y).first;
    const MatrixOut out{const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
    const float *bias = nullptr;
    if (!bias_.empty()) {
      const std::vector<float> &own = bias_[bias_.size() == 1 ? 0 : group];
      bias = own.data() + (bias_.size() == 1 ? group * static_cast<size_t>(columns) : 0);
    }
    for (int64_t i = 0; i < rows; ++i) {
      float *row = values_.data() + i * columns;
      for (int64_t j = 0; j < columns && bias; ++j) row[j] += bias[j];
      store_quantised(row, out, i, 0, columns);
    }
  }

  const GroupedJob &job_;
  PlanContext &c_;
  std::vector<std::vector<float>> right_, bias_;
  std::vector<float> left_, x_memory_, w_memory_, values_;
};

}  // namespace

Matrix dequantised_floats(const aclTensor &weight, const aclTensor &scale, aclDataType dtype,
                          std::vector<float> &memory) {
  const Matrix dense = as_float(weight, memory);
  const std::vector<float> factors = float_scales(scale);
  const int64_t pieces = scale.rank() == 2 ? scale.shape[0] : 1, group = dense.rows / pieces;
  parallel_for(dense.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float *row = memory.data() + i * dense.cols;
      const float *own = factors.data() + i / group * dense.cols;
      for (int64_t j = 0; j < dense.cols; ++j) row[j] *= own[j];
      round_values(dtype, row, dense.cols);
    }
  });
  return dense;
}

Status run_grouped_floats(const GroupedJob &job, PlanContext &context) {
  return FloatRun(job, context).run();
}

}  // namespace emu
