// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Gradients of the normalisations of trailing dimensions, by mean and variance or by the root of
// the mean square. Rows are added up in float64.
#include "aclnnop/norm.h"
#include "ops/norm/layer.h"

namespace emu {
namespace {

constexpr size_t kAbsent = static_cast<size_t>(-1);
// Sums over the rows are made of this many pieces, whatever the number of threads.
constexpr int64_t kPieces = 64;

struct Places {
  size_t dy, x, mean, rstd, scale;  // `mean` and `scale` may be absent
  size_t dx, dscale, dshift;        // each may be absent
};

// What the rows add to the gradients of scale and shift, row by row.
struct ColumnSums {
  std::vector<double> scale, shift;
  explicit ColumnSums(int64_t width)
      : scale(static_cast<size_t>(width)), shift(static_cast<size_t>(width)) {}
};

class NormGradient {
 public:
  NormGradient(PlanContext &c, const Places &at, int64_t rows, int64_t width)
      : rows_(rows),
        width_(width),
        dx_(optional(c, at.dx)),
        dscale_(optional(c, at.dscale)),
        dshift_(optional(c, at.dshift)),
        dy_(operands_.safe(view_of(c.tensor(at.dy)), {dx_})),
        x_(operands_.safe(view_of(c.tensor(at.x)), {dx_})),
        mean_(at.mean == kAbsent ? std::vector<float>(static_cast<size_t>(rows))
                                 : read_all<float>(c, at.mean, rows, 0.0f)),
        rstd_(read_all<float>(c, at.rstd, rows, 1.0f)),
        scale_(at.scale == kAbsent ? std::vector<float>(static_cast<size_t>(width), 1.0f)
                                   : read_all<float>(c, at.scale, width, 1.0f)),
        centred_(at.mean != kAbsent) {}

  void run() {
    const int64_t per_piece = std::max<int64_t>(1, (rows_ + kPieces - 1) / kPieces);
    const int64_t pieces = (rows_ + per_piece - 1) / per_piece;
    std::vector<ColumnSums> sums(static_cast<size_t>(pieces), ColumnSums(width_));
    parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
      std::vector<float> memory(static_cast<size_t>(3 * width_));
      for (int64_t piece = begin; piece < end; ++piece) {
        const int64_t last = std::min(rows_, (piece + 1) * per_piece);
        for (int64_t row = piece * per_piece; row < last; ++row) {
          one_row(row, memory.data(), sums[static_cast<size_t>(piece)]);
        }
      }
    });
    write_columns(dscale_, sums, &ColumnSums::scale);
    write_columns(dshift_, sums, &ColumnSums::shift);
  }

 private:
  static View optional(PlanContext &c, size_t at) {
    return at == kAbsent ? View() : view_of(c.tensor(at));
  }

  void one_row(int64_t row, float *memory, ColumnSums &sums) const {
    float *g = memory, *x = memory + width_, *result = x + width_;
    const RowSource<float> gradients(dy_), values(x_);
    gradients.read(row * width_, width_, g);
    values.read(row * width_, width_, x);
    const float mean = mean_[static_cast<size_t>(row)], rstd = rstd_[static_cast<size_t>(row)];
    double total = 0, along = 0;
    for (int64_t i = 0; i < width_; ++i) {
      const auto at = static_cast<size_t>(i);
      x[i] = (x[i] - mean) * rstd;
      sums.scale[at] += static_cast<double>(g[i]) * static_cast<double>(x[i]);
      sums.shift[at] += static_cast<double>(g[i]);
      g[i] *= scale_[at];
      total += static_cast<double>(g[i]);
      along += static_cast<double>(g[i]) * static_cast<double>(x[i]);
    }
    if (dx_.data == nullptr) return;
    const auto width = static_cast<double>(width_);
    const auto level = static_cast<float>(centred_ ? total / width : 0.0);
    const auto slope = static_cast<float>(along / width);
    for (int64_t i = 0; i < width_; ++i) result[i] = (g[i] - level - x[i] * slope) * rstd;
    RowTarget<float>(dx_).write(row * width_, width_, result);
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
  View dx_, dscale_, dshift_;
  Operands operands_;
  View dy_, x_;
  std::vector<float> mean_, rstd_, scale_;
  bool centred_;
};

// The last dimensions, as many as `inner` has, and the elements before them.
int64_t outer_elements(const aclTensor &x, size_t inner) {
  int64_t count = 1;
  for (size_t d = 0; d + inner < x.rank(); ++d) count *= x.shape[d];
  return count;
}

bool own_or_float(const aclTensor *given, const aclTensor *model) {
  return given->dtype == model->dtype || given->dtype == ACL_FLOAT;
}

Check &one_per_row(Check &check, const char *name, const aclTensor *given, int64_t rows) {
  return check.that(given->numel() == rows, "%s has shape %s; expected one value per row, %lld",
                    name, shape_text(layout_of(*given)).c_str(), static_cast<long long>(rows));
}

struct LayerArguments {
  const aclTensor *dy, *x;
  const aclIntArray *tail;
  const aclTensor *mean, *rstd, *weight, *bias;
  const aclBoolArray *mask;
  const aclTensor *dx, *dweight, *dbias;  // null where the mask says so
};

Check check_layer(const LayerArguments &a) {
  Check check("aclnnLayerNormBackward");
  check.required("gradOut", a.dy)
      .required("input", a.x)
      .required("normalizedShape", a.tail)
      .required("mean", a.mean)
      .required("rstd", a.rstd)
      .required("outputMask", a.mask)
      .optional("weightOptional", a.weight)
      .optional("biasOptional", a.bias);
  if (!check.ok()) return check;
  check.that(a.mask->values.size() == 3, "outputMask has %zu entries; expected 3",
             a.mask->values.size());
  if (!check.ok()) return check;
  const aclTensor *results[] = {a.dx, a.dweight, a.dbias};
  const char *names[] = {"gradInputOutOptional", "gradWeightOutOptional", "gradBiasOutOptional"};
  for (size_t i = 0; i < 3; ++i) {
    if (a.mask->values[i] != 0) check.required(names[i], results[i]);
  }
  check.dtype("gradOut", a.dy).dtype("input", a.x).dtype("mean", a.mean).dtype("rstd", a.rstd);
  check.dtype("weightOptional", a.weight).dtype("biasOptional", a.bias);
  for (size_t i = 0; i < 3; ++i) {
    if (check.ok() && a.mask->values[i] != 0) check.dtype(names[i], results[i]);
  }
  if (!check.ok()) return check;
  check.same_dtype("gradOut", a.dy->dtype, "input", a.x->dtype)
      .same_dtype("rstd", a.rstd->dtype, "mean", a.mean->dtype)
      .that(own_or_float(a.mean, a.x), "mean has dtype %s; it must be FLOAT or that of input, %s",
            dtype_name(a.mean->dtype), dtype_name(a.x->dtype));
  for (const auto &[name, one] :
       {std::pair{"weightOptional", a.weight}, {"biasOptional", a.bias}}) {
    if (one == nullptr || !check.ok()) continue;
    check.that(own_or_float(one, a.x), "%s has dtype %s; it must be FLOAT or that of input, %s",
               name, dtype_name(one->dtype), dtype_name(a.x->dtype));
  }
  if (check.ok() && a.weight != nullptr && a.bias != nullptr) {
    check.same_dtype("biasOptional", a.bias->dtype, "weightOptional", a.weight->dtype);
  }
  const auto &tail = a.tail->values;
  const size_t rank = a.x->rank();
  check.rank("input", a.x, 1, 8).rank("mean", a.mean, 1, 8).rank("rstd", a.rstd, 1, 8);
  check.that(!tail.empty() && tail.size() <= rank,
             "normalizedShape has %zu entries; allowed: 1 to the rank of input, %zu", tail.size(),
             rank);
  if (!check.ok()) return check;
  Layout inner;
  for (size_t i = 0; i < tail.size() && check.ok(); ++i) {
    const int64_t given = a.x->shape[rank - tail.size() + i];
    check.that(given == tail[i], "normalizedShape asks for %lld where input has %lld",
               static_cast<long long>(tail[i]), static_cast<long long>(given));
    inner.push(given, 0);
  }
  if (!check.ok()) return check;
  check.shape("gradOut", a.dy, layout_of(*a.x));
  const int64_t rows = outer_elements(*a.x, tail.size());
  one_per_row(check, "mean", a.mean, rows);
  one_per_row(check, "rstd", a.rstd, rows);
  check.shape("weightOptional", a.weight, inner).shape("biasOptional", a.bias, inner);
  for (size_t i = 0; i < 3; ++i) {
    if (check.ok() && a.mask->values[i] != 0) {
      check.shape(names[i], results[i], i == 0 ? layout_of(*a.x) : inner);
    }
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(LayerNormBackward,
             (const aclTensor *gradOut, const aclTensor *input, const aclIntArray *normalizedShape,
              const aclTensor *mean, const aclTensor *rstd, const aclTensor *weightOptional,
              const aclTensor *biasOptional, const aclBoolArray *outputMask,
              aclTensor *gradInputOutOptional, aclTensor *gradWeightOutOptional,
              aclTensor *gradBiasOutOptional)) {
  const emu::Check check = emu::check_layer(
      {gradOut, input, normalizedShape, mean, rstd, weightOptional, biasOptional, outputMask,
       gradInputOutOptional, gradWeightOutOptional, gradBiasOutOptional});
  if (!check.ok()) return check.status();
  const auto &mask = outputMask->values;
  emu::PlanBuilder plan(check.op());
  emu::Places at{};
  at.dy = plan.input(gradOut);
  at.x = plan.input(input);
  at.mean = plan.input(mean);
  at.rstd = plan.input(rstd);
  at.scale = weightOptional == nullptr ? emu::kAbsent : plan.input(weightOptional);
  if (biasOptional != nullptr) plan.input(biasOptional);
  at.dx = mask[0] != 0 ? plan.output(gradInputOutOptional) : emu::kAbsent;
  at.dscale = mask[1] != 0 ? plan.output(gradWeightOutOptional) : emu::kAbsent;
  at.dshift = mask[2] != 0 ? plan.output(gradBiasOutOptional) : emu::kAbsent;
  const int64_t rows = emu::outer_elements(*input, normalizedShape->values.size());
  int64_t width = 1;
  for (const int64_t extent : normalizedShape->values) width *= extent;
  return plan.finish(
      [=](emu::PlanContext &c) {
        emu::NormGradient(c, at, rows, width).run();
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RmsNormGrad, (const aclTensor *dy, const aclTensor *x, const aclTensor *rstd,
                           const aclTensor *gamma, aclTensor *dxOut, aclTensor *dgammaOut)) {
  emu::Check check("aclnnRmsNormGrad");
  check.required("dy", dy).required("x", x).required("rstd", rstd).required("gamma", gamma);
  check.required("dxOut", dxOut).required("dgammaOut", dgammaOut);
  check.dtype("dy", dy).dtype("x", x).dtype("rstd", rstd).dtype("gamma", gamma);
  check.dtype("dxOut", dxOut).dtype("dgammaOut", dgammaOut);
  if (!check.ok()) return check.status();
  check.same_dtype("dy", dy->dtype, "x", x->dtype)
      .same_dtype("dxOut", dxOut->dtype, "x", x->dtype)
      .that(emu::own_or_float(gamma, x), "gamma has dtype %s; it must be FLOAT or that of x, %s",
            emu::dtype_name(gamma->dtype), emu::dtype_name(x->dtype));
  check.rank("x", x, 1, 8).rank("gamma", gamma, 1, 8).tiling();
  if (!check.ok()) return check.status();
  const size_t inner = gamma->rank(), rank = x->rank();
  check.that(inner <= rank, "gamma has %zu dimensions, more than x with %zu", inner, rank);
  for (size_t d = 0; check.ok() && d < inner; ++d) {
    check.that(gamma->shape[d] == x->shape[rank - inner + d],
               "gamma %s is not the trailing shape of x %s",
               emu::shape_text(emu::layout_of(*gamma)).c_str(),
               emu::shape_text(emu::layout_of(*x)).c_str());
  }
  if (!check.ok()) return check.status();
  const int64_t rows = emu::outer_elements(*x, inner), width = gamma->numel();
  emu::one_per_row(check, "rstd", rstd, rows);
  check.shape("dy", dy, emu::layout_of(*x))
      .shape("dxOut", dxOut, emu::layout_of(*x))
      .shape("dgammaOut", dgammaOut, emu::layout_of(*gamma));
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(check.op());
  emu::Places at{};
  at.dy = plan.input(dy);
  at.x = plan.input(x);
  at.mean = emu::kAbsent;
  at.rstd = plan.input(rstd);
  at.scale = plan.input(gamma);
  at.dx = plan.output(dxOut);
  at.dscale = plan.output(dgammaOut);
  at.dshift = emu::kAbsent;
  return plan.finish(
      [=](emu::PlanContext &c) {
        emu::NormGradient(c, at, rows, width).run();
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
