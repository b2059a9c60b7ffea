// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Phase two of grouped products of integers one side of which has 4 bits.
#include <algorithm>

#include "core/pool.h"
#include "ops/gmm/few_bits.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/dequantise.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/stack.h"

namespace emu {
namespace {

std::vector<float> row_sums(const Matrix &x) {
  std::vector<float> sums(static_cast<size_t>(x.rows));
  const auto *data = static_cast<const int8_t *>(x.data);
  parallel_for(x.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int32_t sum = 0;
      for (int64_t k = 0; k < x.cols; ++k) sum += data[x.row.at(i) + x.col.at(k)];
      sums[static_cast<size_t>(i)] = static_cast<float>(sum);
    }
  });
  return sums;
}

// What follows the scaled sums of a group, in this order; an empty part is left out.
struct Finish {
  std::vector<float> shift;      // of the columns, times the sum of the row of x
  std::vector<float> row_sum;    // of the rows at hand
  std::vector<float> by_column;  // second scales
  const float *token;            // of the rows at hand; null: none
  std::vector<float> bias;
};

void finish_row(const Finish &f, int64_t row, int64_t columns, float *values) {
  if (!f.shift.empty()) {
    const float sum = f.row_sum[static_cast<size_t>(row)];
    for (int64_t j = 0; j < columns; ++j) values[j] += sum * f.shift[static_cast<size_t>(j)];
  }
  if (!f.by_column.empty())
    for (int64_t j = 0; j < columns; ++j) values[j] *= f.by_column[static_cast<size_t>(j)];
  if (f.token)
    for (int64_t j = 0; j < columns; ++j) values[j] *= f.token[row];
  if (!f.bias.empty())
    for (int64_t j = 0; j < columns; ++j) values[j] += f.bias[static_cast<size_t>(j)];
}

class FewBitsRun {
 public:
  FewBitsRun(const GroupedJob &job, PlanContext &context) : job_(job), c_(context) {}

  Status run() {
    x_ = as_int8(at(job_.x), x_memory_);
    std::vector<GroupSpan> spans;
    if (const Status status = read_groups(job_.op, at(job_.group_tensor), job_.group_list_type,
                                          job_.groups, x_.rows, &spans))
      return status;
    if (job_.per_token >= 0) token_ = every_scale(at(job_.per_token));
    for (const GroupSpan &span : spans) {
      if (span.count > 0) product(span);
    }
    return 0;
  }

 private:
  const aclTensor &at(int64_t first, size_t i = 0) const {
    return c_.tensor(static_cast<size_t>(first) + i);
  }

  std::vector<float> of_group(int64_t first, size_t group) const {
    if (first < 0) return {};
    return every_scale(job_.weight_count == 1 ? entry_of(at(first), group) : at(first, group));
  }

  Matrix weight(size_t group) {
    aclTensor w = weight_numbers(at(job_.weight, job_.weight_count == 1 ? 0 : group),
                                 job_.few.weight_by_columns);
    return as_int8(job_.weight_count == 1 ? entry_of(w, group) : w, w_memory_);
  }

  void product(const GroupSpan &span) {
    const bool halves = job_.few.kind == FewBits::kHalves, twice = job_.few.kind == FewBits::kTwice;
    const std::vector<float> scale =
        of_group(twice ? job_.antiquant_scale : job_.scale, span.group);
    std::vector<float> bias = of_group(job_.bias, span.group);
    Finish finish{of_group(job_.offset, span.group), {}, {}, nullptr, {}};
    if (twice) finish.by_column = of_group(job_.scale, span.group);
    ScaledProduct product;
    product.w = weight(span.group);
    product.scale = scale.data();
    product.pieces = job_.few.pieces;
    // Rows of INT8 are multiplied as two halves, 16 * high + low - 8: what the halves lack is in
    // the bias.
    product.lift = halves ? -8 : 0;
    product.shift = halves ? bias.data() : nullptr;
    if (!halves) finish.bias = std::move(bias);
    const int64_t columns = product.w.cols;
    values_.resize(static_cast<size_t>(std::min(kRowsAtOnce, span.count) * columns));
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      const int64_t first = span.first + done, count = std::min(kRowsAtOnce, span.count - done);
      product.x = x_;
      product.x.data = static_cast<const int8_t *>(x_.data) + x_.row.at(first);
      product.x.rows = count;
      scaled_product(product, values_.data());
      if (!finish.shift.empty()) finish.row_sum = row_sums(product.x);
      finish.token = token_.empty() ? nullptr : token_.data() + first;
      store(finish, first, count, columns);
    }
  }

  void store(const Finish &finish, int64_t first, int64_t count, int64_t columns) {
    const Matrix to = matrix_stack(at(job_.y)).first;
    const MatrixOut out{const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
    parallel_for(count, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float *row = values_.data() + i * columns;
        finish_row(finish, i, columns, row);
        store_quantised(row, out, first + i, 0, columns);
      }
    });
  }

  const GroupedJob &job_;
  PlanContext &c_;
  Matrix x_;
  std::vector<int8_t> x_memory_, w_memory_;
  std::vector<float> token_, values_;
};

}  // namespace

Status run_few_bits(const GroupedJob &job, PlanContext &context) {
  return FewBitsRun(job, context).run();
}

}  // namespace emu
