// SPDX-License-Identifier: Apache-2.0
// Gradients of the normalisations of rows, by mean and variance or by the root of the mean square.
// Rows are added up in float64.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "ops/norm/layer.h"

namespace emu {

// Sums over the rows are made of this many pieces, whatever the number of threads.
constexpr int64_t kPieces = 64;

// What the rows add to the gradients of scale and shift, row by row.
struct ColumnSums {
  std::vector<double> scale, shift;
  explicit ColumnSums(int64_t width)
      : scale(static_cast<size_t>(width)), shift(static_cast<size_t>(width)) {}
};

// `x` becomes the normalised row, and `g`, the gradient of scale * x + shift, that of the row.
inline void gradient_of_row(float *g, float *x, int64_t width, float mean, float rstd,
                            const float *scale, bool centred, ColumnSums *sums) {
  double total = 0, along = 0;
  for (int64_t i = 0; i < width; ++i) {
    const auto at = static_cast<size_t>(i);
    x[i] = (x[i] - mean) * rstd;
    sums->scale[at] += static_cast<double>(g[i]) * static_cast<double>(x[i]);
    sums->shift[at] += static_cast<double>(g[i]);
    g[i] *= scale[i];
    total += static_cast<double>(g[i]);
    along += static_cast<double>(g[i]) * static_cast<double>(x[i]);
  }
  const auto count = static_cast<double>(width);
  const auto level = static_cast<float>(centred ? total / count : 0.0);
  const auto slope = static_cast<float>(along / count);
  for (int64_t i = 0; i < width; ++i) g[i] = (g[i] - level - x[i] * slope) * rstd;
}

struct GradientPlaces {
  size_t dy, x, mean, rstd, scale;  // `mean` and `scale` may be absent
  size_t dx, dscale, dshift;        // each may be absent
  size_t other = kAbsent;           // factor * x + other is what was normalised
  float factor = 1.0f;
  size_t added = kAbsent;  // to the gradient of the rows
};

class NormGradient {
 public:
  // `result` and `second` are the memory that the rows' gradients are written to.
  NormGradient(PlanContext &c, const GradientPlaces &at, int64_t rows, int64_t width,
               const View &result, const View &second = View())
      : rows_(rows),
        width_(width),
        dscale_(optional(c, at.dscale)),
        dshift_(optional(c, at.dshift)),
        dy_(operands_.safe(view_of(c.tensor(at.dy)), {result, second})),
        x_(operands_.safe(view_of(c.tensor(at.x)), {result, second})),
        other_(operands_.safe(optional(c, at.other), {result, second})),
        added_(operands_.safe(optional(c, at.added), {result, second})),
        factor_(at.factor),
        mean_(at.mean == kAbsent ? std::vector<float>(static_cast<size_t>(rows))
                                 : read_all<float>(c, at.mean, rows, 0.0f)),
        rstd_(read_all<float>(c, at.rstd, rows, 1.0f)),
        scale_(at.scale == kAbsent ? std::vector<float>(static_cast<size_t>(width), 1.0f)
                                   : read_all<float>(c, at.scale, width, 1.0f)),
        centred_(at.mean != kAbsent) {}

  // write(row, gradient) gets the gradient of each row and may change it.
  template <class F>
  void run(const F &write) {
    const int64_t per_piece = std::max<int64_t>(1, (rows_ + kPieces - 1) / kPieces);
    const int64_t pieces = (rows_ + per_piece - 1) / per_piece;
    std::vector<ColumnSums> sums(static_cast<size_t>(pieces), ColumnSums(width_));
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> memory(static_cast<size_t>(3 * width_));
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t last = std::min(rows_, (piece + 1) * per_piece);
        for (int64_t row = piece * per_piece; row < last; ++row) {
          one_row(row, memory.data(), &sums[static_cast<size_t>(piece)]);
          write(row, memory.data());
        }
      }
    });
    write_columns(dscale_, sums, &ColumnSums::scale);
    write_columns(dshift_, sums, &ColumnSums::shift);
  }

  static View optional(PlanContext &c, size_t at) {
    return at == kAbsent ? View() : view_of(c.tensor(at));
  }

 private:
  void one_row(int64_t row, float *memory, ColumnSums *sums) const {
    float *g = memory, *x = memory + width_, *more = x + width_;
    const RowSource<float> gradients(dy_), values(x_);
    gradients.read(row * width_, width_, g);
    values.read(row * width_, width_, x);
    if (other_.data != nullptr) {
      RowSource<float>(other_).read(row * width_, width_, more);
      for (int64_t i = 0; i < width_; ++i) x[i] = factor_ * x[i] + more[i];
    }
    const auto at = static_cast<size_t>(row);
    gradient_of_row(g, x, width_, mean_[at], rstd_[at], scale_.data(), centred_, sums);
    if (added_.data == nullptr) return;
    RowSource<float>(added_).read(row * width_, width_, more);
    for (int64_t i = 0; i < width_; ++i) g[i] += more[i];
  }

  void write_columns(const View &to, const std::vector<ColumnSums> &sums,
                     std::vector<double> ColumnSums::*which) const {
    if (to.data == nullptr) return;
    std::vector<double> whole(static_cast<size_t>(width_));
    for (const ColumnSums &piece : sums) {
      for (size_t i = 0; i < whole.size(); ++i) whole[i] += (piece.*which)[i];
    }
    RowTarget<double>(to).write(0, width_, whole.data());
  }

  int64_t rows_, width_;
  View dscale_, dshift_;
  Operands operands_;
  View dy_, x_, other_, added_;
  float factor_;
  std::vector<float> mean_, rstd_, scale_;
  bool centred_;
};

// Writes the gradient of the rows where it is asked for.
inline void write_gradients(PlanContext &c, const GradientPlaces &at, int64_t rows, int64_t width) {
  const View result = NormGradient::optional(c, at.dx);
  NormGradient(c, at, rows, width, result).run([&](int64_t row, const float *gradient) {
    if (result.data != nullptr) RowTarget<float>(result).write(row * width, width, gradient);
  });
}

// The last dimensions, as many as `inner` has, and the elements before them.
inline int64_t outer_elements(const aclTensor &x, size_t inner) {
  int64_t count = 1;
  for (size_t d = 0; d + inner < x.rank(); ++d) count *= x.shape[d];
  return count;
}

inline bool own_or_float(const aclTensor *given, const aclTensor *model) {
  return given->dtype == model->dtype || given->dtype == ACL_FLOAT;
}

inline Check &one_per_row(Check &check, const char *name, const aclTensor *given, int64_t rows) {
  return check.that(given->numel() == rows, "%s has shape %s; expected one value per row, %lld",
                    name, shape_text(layout_of(*given)).c_str(), static_cast<long long>(rows));
}

// The trailing shape of `x`, as gamma of most norms must be.
inline Check &trailing(Check &check, const char *name, const aclTensor *given, const char *x_name,
                       const aclTensor *x) {
  const size_t inner = given->rank(), rank = x->rank();
  check.that(inner <= rank, "%s has %zu dimensions, more than %s with %zu", name, inner, x_name,
             rank);
  for (size_t d = 0; check.ok() && d < inner; ++d) {
    check.that(given->shape[d] == x->shape[rank - inner + d],
               "%s %s is not the trailing shape of %s %s", name,
               shape_text(layout_of(*given)).c_str(), x_name, shape_text(layout_of(*x)).c_str());
  }
  return check;
}

}  // namespace emu
