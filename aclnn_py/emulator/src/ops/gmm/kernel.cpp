// SPDX-License-Identifier: Apache-2.0
// Phase two of the grouped products: the groups become pairs of matrices, one product each.
#include <algorithm>
#include <cinttypes>
#include <cmath>
#include <cstring>

#include "core/statuses.h"
#include "ops/float_kernels.h"
#include "ops/gmm/grouped_floats.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/dequantise.h"
#include "ops/matmul/stack.h"

namespace emu {
namespace {

constexpr int64_t kPiece = 256;

// A tensor as one matrix of its last dimension: (rows, columns). One whose leading dimensions
// cannot be walked with a single stride is read from, or written through, a dense copy.
class GroupMatrix {
 public:
  explicit GroupMatrix(const aclTensor &tensor)
      : view_(view_of(tensor)), aside_(!single_stride(view_.layout)) {
    if (aside_) copy_ = std::make_unique<Snapshot>(view_);
    const View &v = aside_ ? copy_->view() : view_;
    const Layout &l = v.layout;
    matrix_.data = v.data;
    matrix_.dtype = v.dtype;
    matrix_.cols = l.shape[l.rank - 1];
    matrix_.rows = matrix_.cols ? v.count() / matrix_.cols : leading_rows(l);
    matrix_.row.stride = l.stride[l.rank - 2];
    matrix_.col.stride = l.stride[l.rank - 1];
  }
  const Matrix &matrix() const { return matrix_; }
  Matrix rows(int64_t first, int64_t count) const {
    Matrix m = matrix_;
    m.data = static_cast<const char *>(m.data) + first * m.row.stride * item_size(m.dtype);
    m.rows = count;
    return m;
  }
  MatrixOut target(int64_t first) const {
    const Matrix m = rows(first, 0);
    return {const_cast<void *>(m.data), m.dtype, m.row.stride, m.col.stride};
  }
  // After the last product: results that were made aside go to their place.
  void settle() const {
    if (aside_) copy_view(copy_->view(), view_);
  }

 private:
  static int64_t leading_rows(const Layout &l) {
    int64_t rows = 1;
    for (int d = 0; d + 1 < l.rank; ++d) rows *= l.shape[d];
    return rows;
  }
  static bool single_stride(const Layout &l) {
    for (int d = 0; d + 2 < l.rank; ++d) {
      if (l.shape[d] != 1 && l.stride[d] != l.stride[d + 1] * l.shape[d + 1]) return false;
    }
    return true;
  }

  View view_;
  bool aside_;
  std::unique_ptr<Snapshot> copy_;
  Matrix matrix_;
};

// Entry `index` of the first dimension. `step` is the distance between entries, in elements.
aclTensor entry(const aclTensor &tensor, size_t index, int64_t step) {
  aclTensor part = tensor;
  part.shape.assign(tensor.shape.data() + 1, tensor.shape.size() - 1);
  part.strides.assign(tensor.strides.data() + 1, tensor.strides.size() - 1);
  if (is_fractal(tensor) && tensor.storage_shape.size() > 1) {
    part.storage_shape.assign(tensor.storage_shape.data() + 1, tensor.storage_shape.size() - 1);
  }
  part.offset += static_cast<int64_t>(index) * step;
  return part;
}

// int32 sums (+ bias) -> scaled -> activated -> stored. Values leave in float32 and are rounded
// once.
class ScaledSums final : public RowSink<int32_t> {
 public:
  MatrixOut out;
  const int32_t *bias = nullptr;
  int64_t bias_step = 0;
  std::vector<float> scale, per_token, shift;  // empty: none
  int64_t activation = 0;

  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override {
    for (int64_t done = 0; done < count; done += kPiece) {
      const int64_t n = std::min(kPiece, count - done), j = col + done;
      int32_t values[kPiece];
      for (int64_t i = 0; i < n; ++i) {
        // wraps around
        const uint32_t shift = bias ? static_cast<uint32_t>(bias[(j + i) * bias_step]) : 0;
        values[i] = static_cast<int32_t>(static_cast<uint32_t>(sums[done + i]) + shift);
      }
      const int64_t at = row * out.row_stride + j * out.col_stride;
      if (scale.empty()) {
        auto *target = static_cast<int32_t *>(out.data) + at;
        for (int64_t i = 0; i < n; ++i) target[i * out.col_stride] = values[i];
      } else {
        store_scaled(row, j, n, at, values);
      }
    }
  }

 private:
  void store_scaled(int64_t row, int64_t col, int64_t n, int64_t at, const int32_t *sums) const {
    float values[kPiece];
    const float token = per_token.empty() ? 1.0f : per_token[static_cast<size_t>(row)];
    for (int64_t i = 0; i < n; ++i)
      values[i] = static_cast<float>(sums[i]) * scale[static_cast<size_t>(col + i)] * token;
    for (int64_t i = 0; i < n && !shift.empty(); ++i)
      values[i] += shift[static_cast<size_t>(col + i)];
    activate(values, n, activation);
    if (out.dtype != ACL_INT8) return store_f32(values, out.data, out.dtype, at, out.col_stride, n);
    auto *target = static_cast<int8_t *>(out.data) + at;
    for (int64_t i = 0; i < n; ++i) {
      target[i * out.col_stride] =
          static_cast<int8_t>(std::nearbyintf(std::min(127.0f, std::max(-128.0f, values[i]))));
    }
  }
};

// One product: rows of one x with the weight of one group.
struct Task {
  size_t x, group, y;
  int64_t x_first, y_first, rows;
};

class Run {
 public:
  Run(const GroupedJob &job, PlanContext &context) : job_(job), context_(context) {}

  Status run() {
    for (size_t i = 0; i < job_.x_count; ++i)
      x_.push_back(std::make_unique<GroupMatrix>(tensor(job_.x, i)));
    if (job_.group_type == 2) return cut_depth();
    for (size_t i = 0; i < job_.y_count; ++i)
      y_.push_back(std::make_unique<GroupMatrix>(tensor(job_.y, i)));
    std::vector<Task> tasks;
    if (const Status status = list(&tasks)) return status;
    for (const Task &task : tasks) {
      if (task.rows > 0) product(task);
    }
    for (const auto &y : y_) y->settle();
    return 0;
  }

 private:
  const aclTensor &tensor(int64_t first, size_t i) const {
    return context_.tensor(static_cast<size_t>(first) + i);
  }

  Status spans(int64_t length, std::vector<GroupSpan> *spans) const {
    if (job_.group_tensor >= 0) {
      return read_groups(job_.op, tensor(job_.group_tensor, 0), job_.group_list_type, job_.groups,
                         length, spans);
    }
    for (size_t g = 0; g < job_.group_array.size(); ++g) {
      const int64_t first = g ? job_.group_array[g - 1] : 0;
      spans->push_back({g, first, job_.group_array[g] - first});
    }
    return 0;
  }

  Status list(std::vector<Task> *tasks) const {
    const bool stacked = job_.y_count == 1;
    if (job_.group_type == 0 && job_.x_count == 1 &&
        (job_.group_tensor >= 0 || !job_.group_array.empty())) {
      std::vector<GroupSpan> groups;
      if (const Status status = spans(x_[0]->matrix().rows, &groups)) return status;
      for (const GroupSpan &g : groups) {
        tasks->push_back(
            {0, g.group, stacked ? 0 : g.group, g.first, stacked ? g.first : 0, g.count});
      }
      return 0;
    }
    int64_t first = 0;
    for (size_t i = 0; i < job_.x_count; ++i) {
      const int64_t rows = x_[i]->matrix().rows;
      const bool one = stacked && job_.x_count > 1;
      tasks->push_back({i, i, one ? 0 : i, 0, one ? first : 0, rows});
      first += rows;
    }
    return 0;
  }

  // What belongs to a group: its entry of a stack beside one weight (E, K, N), or its own tensor.
  aclTensor of_group(int64_t first, size_t group) const {
    const aclTensor &weight = tensor(job_.weight, 0);
    if (weight.rank() != 3) return tensor(first, group);
    const aclTensor &stack = tensor(first, 0);
    const int64_t step =
        &stack == &weight ? matrix_stack(weight).batch.stride[0] : stack.strides[0];
    return entry(stack, group, step);
  }

  void product(const Task &task) {
    const Matrix a = x_[task.x]->rows(task.x_first, task.rows);
    const MatrixOut out = y_[task.y]->target(task.y_first);
    if (job_.mode == GroupedMode::kInt8) return product_int8(task, a, out);
    const aclTensor given = of_group(job_.weight, task.group);
    const aclTensor weight = job_.mode == GroupedMode::kFloat ? given : weight_numbers(given);
    GemmEpilogue epilogue;
    if (job_.bias >= 0) epilogue.bias = row_of(of_group(job_.bias, task.group));
    if (job_.mode == GroupedMode::kFloat) return gemm(a, matrix_stack(weight).first, out, epilogue);
    const aclTensor scale = of_group(job_.antiquant_scale, task.group);
    if (!contains(dtype_set(ACL_INT8, ACL_INT4), weight.dtype))
      return gemm(a, dequantised_floats(weight, scale, a.dtype, floats_), out, epilogue);
    aclTensor offset;
    if (job_.antiquant_offset >= 0) offset = of_group(job_.antiquant_offset, task.group);
    const int64_t k = weight.shape[0], n = weight.shape[1];
    const int64_t pieces = scale.rank() == 2 ? scale.shape[0] : 1;
    const std::unique_ptr<char[]> memory(new char[static_cast<size_t>(k * n) * 2 + 1]);
    const Matrix dense =
        dequantised_weight(weight, scale, job_.antiquant_offset >= 0 ? &offset : nullptr,
                           pieces > 1 ? k / pieces : 0, memory.get());
    gemm(a, dense, out, epilogue);
  }

  void product_int8(const Task &task, const Matrix &a, const MatrixOut &out) {
    ScaledSums sums;
    sums.out = out;
    sums.activation = job_.activation;
    if (job_.bias >= 0) {
      const Matrix bias = row_of(of_group(job_.bias, task.group));
      if (bias.dtype == ACL_INT32) {
        sums.bias = static_cast<const int32_t *>(bias.data);
        sums.bias_step = bias.col.stride;
      } else {
        sums.shift = values_of(of_group(job_.bias, task.group));
      }
    }
    const aclTensor weight = of_group(job_.weight, task.group);
    if (job_.scale >= 0) sums.scale = scales_of(task.group, weight.shape[1]);
    if (job_.per_token >= 0) {
      const std::vector<float> all = values_of(tensor(job_.per_token, task.x));
      const auto first = all.begin() + task.x_first;
      sums.per_token.assign(first, first + task.rows);
    }
    gemm_i32(a, matrix_stack(weight).first, sums);
  }

  // One for each column; a 950 may have one for all.
  std::vector<float> scales_of(size_t group, int64_t columns) const {
    const aclTensor &scale = tensor(job_.scale, 0);
    const bool one =
        tensor(job_.weight, 0).rank() == 3 && (scale.rank() == 1 || scale.shape[1] == 1);
    if (!one) return values_of(of_group(job_.scale, group));
    return std::vector<float>(static_cast<size_t>(columns), every_scale(scale)[group]);
  }

  // groupType 2: y[g] = x[:, group] @ weight[group, :]. A group without elements gives zeros.
  Status cut_depth() {
    const Matrix &x = x_[0]->matrix();
    const bool lists = tensor(job_.y, 0).rank() == 2;  // a weight and a result for each group
    std::vector<GroupSpan> groups;
    if (const Status status = lists ? parts(x.cols, &groups) : spans(x.cols, &groups))
      return status;
    for (const GroupSpan &g : groups) {
      const Matrix weight = matrix_stack(tensor(job_.weight, lists ? g.group : 0)).first;
      const aclTensor &y = tensor(job_.y, lists ? g.group : 0);
      Matrix a = x, b = weight;
      a.data = static_cast<const char *>(x.data) + g.first * x.col.stride * item_size(x.dtype);
      if (!lists)
        b.data = static_cast<const char *>(weight.data) +
                 weight.row.at(g.first) * item_size(weight.dtype);
      a.cols = b.rows = g.count;
      const GroupMatrix target(lists ? y : entry(y, g.group, y.strides[0]));
      gemm(a, b, target.target(0));
      target.settle();
    }
    return 0;
  }

  // The parts that the weights of a list say; a group list has to say the same.
  Status parts(int64_t length, std::vector<GroupSpan> *groups) const {
    if (job_.group_tensor >= 0) {
      if (const Status status = spans(length, groups)) return status;
    }
    int64_t first = 0;
    for (size_t g = 0; g < job_.weight_count; ++g) {
      const int64_t rows = tensor(job_.weight, g).shape[0];
      if (job_.group_tensor < 0) {
        groups->push_back({g, first, rows});
      } else if ((*groups)[g].count != rows) {
        return fail(kKernelFault,
                    "%s: groupList[%zu] gives %" PRId64 " to group %zu, whose weight has %" PRId64
                    " rows.",
                    job_.op, g, (*groups)[g].count, g, rows);
      }
      first += rows;
    }
    return 0;
  }

  const GroupedJob &job_;
  PlanContext &context_;
  std::vector<std::unique_ptr<GroupMatrix>> x_, y_;
  std::vector<float> floats_;
};

}  // namespace

void activate(float *values, int64_t count, int64_t kind) {
  static const float tanh_form[] = {1.0f};
  switch (kind) {
    case 1:
      for (int64_t i = 0; i < count; ++i) values[i] = values[i] > 0 ? values[i] : 0;
      return;
    case 2: return float_kernel_fn(FloatKernel::gelu_form)(values, count, tanh_form, values);
    case 3: return float_kernel_fn(FloatKernel::gelu)(values, count, nullptr, values);
    case 4: return float_kernel_fn(FloatKernel::fast_gelu)(values, count, nullptr, values);
    case 5: return float_kernel_fn(FloatKernel::silu)(values, count, nullptr, values);
    default: return;
  }
}

Status run_grouped(const GroupedJob &job, PlanContext &context) { return Run(job, context).run(); }

}  // namespace emu
