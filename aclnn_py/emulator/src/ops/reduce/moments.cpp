// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Variances, standard deviations, logsumexp and norms: two passes in float64.
#include <cmath>

#include "aclnnop/math.h"
#include "aclnnop/norm.h"
#include "ops/block_kernels.h"
#include "ops/float_kernels.h"
#include "ops/reduce/columns.h"
#include "ops/reduce/norms.h"
#include "ops/reduce/row_reader.h"
#include "ops/sum_kernels.h"

namespace emu {
namespace {

struct Moments {
  double mean, squares;  // of the distances from it
};

template <class T>
Moments moments(const RowReader<T> &rows, int64_t row) {
  const BlockKernels &kernels = block_kernels();
  const auto n = static_cast<double>(rows.length());
  const double mean = total_over(rows, row,
                                 [&](const T *x, int64_t count) {
                                   if constexpr (std::is_same_v<T, float>)
                                     return kernels.sum(x, count);
                                   else return std::accumulate(x, x + count, 0.0);
                                 }) /
                      n;
  const double squares = total_over(rows, row, [&](const T *x, int64_t count) {
    if constexpr (std::is_same_v<T, float>) return kernels.squares_from(x, count, mean);
    double sum = 0;
    for (int64_t i = 0; i < count; ++i) sum += (x[i] - mean) * (x[i] - mean);
    return sum;
  });
  return {mean, squares};
}

void add_squares(double *sums, const double *means, const float *x, int64_t count) {
  sum_kernels().add_squares(sums, means, x, 1, count, count);
}
void add_squares(double *sums, const double *means, const double *x, int64_t count) {
  for (int64_t i = 0; i < count; ++i) sums[i] += (x[i] - means[i]) * (x[i] - means[i]);
}

struct Variance {
  double correction;
  bool root;  // the standard deviation instead

  double of(double squares, double count) const {
    const double variance = squares / std::max(count - correction, 0.0);
    return root ? std::sqrt(variance) : variance;
  }
  template <class T>
  void operator()(const RowReader<T> &rows, int64_t row, double *first, double *second) const {
    const Moments m = moments(rows, row);
    *first = of(m.squares, static_cast<double>(rows.length()));
    *second = m.mean;
  }
  // Those of all columns; put(first column, columns, variances, means).
  template <class T, class Put>
  void find(const ColumnReader<T> &columns, Put &&put) const {
    const auto n = static_cast<double>(columns.length());
    columns.each_block([&](int64_t start, int64_t count) {
      double means[kBlock] = {}, squares[kBlock] = {};
      columns.each_row(start, count,
                       [&](const T *x, int64_t) { add_rows(means, x, 1, count, count); });
      for (int64_t i = 0; i < count; ++i) means[i] /= n;
      columns.each_row(start, count,
                       [&](const T *x, int64_t) { add_squares(squares, means, x, count); });
      for (int64_t i = 0; i < count; ++i) squares[i] = of(squares[i], n);
      put(start, count, squares, means);
    });
  }
};

// A reduction of float tensors over axes into up to two outputs; f(rows, row, first, second) finds
// both, and a Variance also those of columns.
template <class F>
Status plan_rows(Check &check, const aclTensor *self, AxisSet axes, bool keep,
                 const char *first_name, aclTensor *first, const char *second_name,
                 aclTensor *second, uint64_t *workspace_size, aclOpExecutor **executor, F f) {
  if (!check.ok()) return check.status();
  const aclDataType dtype = is_floating(self->dtype) ? self->dtype : ACL_FLOAT;
  const Layout shape = reduced_shape(layout_of(*self), axes, keep);
  check.castable(dtype, first_name, first->dtype).shape(first_name, first, shape);
  if (second != nullptr)
    check.castable(dtype, second_name, second->dtype).shape(second_name, second, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t source = plan.input(self), one = plan.output(first), two = plan.output_if(second);
  return plan.finish(
      [=](PlanContext &context) {
        const View out = view_of(context.tensor(one));
        const View other = context.has(two) ? view_of(context.tensor(two)) : View{};
        const SafeView in(view_of(context.tensor(source)),
                          {out, other.data != nullptr ? other : out});
        const RowWriter<double> write(out);
        const RowWriter<double> write_other(context.has(two) ? other : out);
        if constexpr (std::is_same_v<F, Variance>) {
          if (in.view().count() > 0 && in_columns(in.view().layout, axes)) {
            const auto put = [&](int64_t at, int64_t count, const double *a, const double *b) {
              write.put(at, count, a);
              if (context.has(two)) write_other.put(at, count, b);
            };
            if (compute_for(dtype) == Compute::F32)
              f.find(ColumnReader<float>(in.view(), axes, dtype), put);
            else f.find(ColumnReader<double>(in.view(), axes, dtype), put);
            return Status{0};
          }
        }
        const auto run = [&](const auto &rows) {
          for_each_row(out.count(), rows.length(), [&](int64_t row) {
            double a = 0, b = 0;
            f(rows, row, &a, &b);
            write.put(row, a);
            if (context.has(two)) write_other.put(row, b);
          });
        };
        if (compute_for(dtype) == Compute::F32) run(RowReader<float>(in.view(), axes, dtype));
        else run(RowReader<double>(in.view(), axes, dtype));
        return Status{0};
      },
      workspace_size, executor);
}

struct VarianceCall {
  const char *op;
  const aclTensor *self;
  const aclIntArray *dims;
  int64_t correction;
  bool keep;
  bool root;  // the standard deviation instead of the variance
  const char *out_name = "out";
  aclTensor *out;
  bool has_mean;  // the operator has a second output
  aclTensor *mean;
};

Status plan_variance(const VarianceCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("self", a.self).optional("dimOptional", a.dims).required(a.out_name, a.out);
  if (a.has_mean) check.required("meanOut", a.mean);
  check.dtype("self", a.self).dtype(a.out_name, a.out).dtype("meanOut", a.mean);
  check.rank("self", a.self, 0, 8);
  if (!check.ok()) return check.status();
  if (a.has_mean && a.root) {
    check.same_dtype(a.out_name, a.out->dtype, "self", a.self->dtype)
        .same_dtype("meanOut", a.mean->dtype, "self", a.self->dtype);
  }
  const AxisSet axes = axes_of(check, "dimOptional", a.dims, static_cast<int>(a.self->rank()));
  return plan_rows(check, a.self, axes, a.keep, a.out_name, a.out, "meanOut", a.mean,
                   workspace_size, executor, Variance{static_cast<double>(a.correction), a.root});
}

template <class T>
double log_sum_exp(const RowReader<T> &rows, int64_t row) {
  double high = -std::numeric_limits<double>::infinity();
  rows.each(row, [&](const T *x, int64_t count, int64_t) {
    for (int64_t i = 0; i < count; ++i)
      high = x[i] > high || std::isnan(x[i]) ? static_cast<double>(x[i]) : high;
  });
  if (!std::isfinite(high)) return high;  // nothing there, an infinity, or NaN
  return high + std::log(total_over(rows, row, [high](const T *x, int64_t count) {
           if constexpr (std::is_same_v<T, float>) {
             float powers[kBlock];
             std::copy(x, x + count, powers);
             return float_kernels().shifted_powers(powers, count, static_cast<float>(high), false);
           }
           double powers[kBlock], sum = 0;
           for (int64_t i = 0; i < count; ++i) powers[i] = x[i] - high;
           float_kernels().wide_powers(powers, count);
           for (int64_t i = 0; i < count; ++i) sum += powers[i];
           return sum;
         }));
}

}  // namespace

EMU_OPERATOR(Var, (const aclTensor *self, const aclIntArray *dimOptional, bool unbiased,
                   bool keepdim, aclTensor *out)) {
  VarianceCall call{};
  call.op = "aclnnVar";
  call.self = self;
  call.dims = dimOptional;
  call.correction = unbiased ? 1 : 0;
  call.keep = keepdim;
  call.out = out;
  return plan_variance(call, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(VarCorrection, (const aclTensor *self, const aclIntArray *dimOptional,
                             int64_t correction, bool keepdim, aclTensor *out)) {
  VarianceCall call{};
  call.op = "aclnnVarCorrection";
  call.self = self;
  call.dims = dimOptional;
  call.correction = correction;
  call.keep = keepdim;
  call.out = out;
  return plan_variance(call, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(Std, (const aclTensor *self, const aclIntArray *dimOptional, int64_t correction,
                   bool keepdim, aclTensor *out)) {
  VarianceCall call{};
  call.op = "aclnnStd";
  call.self = self;
  call.dims = dimOptional;
  call.correction = correction;
  call.keep = keepdim;
  call.root = true;
  call.out = out;
  return plan_variance(call, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(VarMean, (const aclTensor *self, const aclIntArray *dimOptional, int64_t correction,
                       bool keepdim, aclTensor *varOut, aclTensor *meanOut)) {
  VarianceCall call{};
  call.op = "aclnnVarMean";
  call.self = self;
  call.dims = dimOptional;
  call.correction = correction;
  call.keep = keepdim;
  call.out_name = "varOut";
  call.out = varOut;
  call.has_mean = true;
  call.mean = meanOut;
  return plan_variance(call, workspaceSize, executor);
}
EMU_CATCH
EMU_OPERATOR(StdMeanCorrection,
             (const aclTensor *self, const aclIntArray *dimOptional, int64_t correction,
              bool keepdim, aclTensor *stdOut, aclTensor *meanOut)) {
  VarianceCall call{};
  call.op = "aclnnStdMeanCorrection";
  call.self = self;
  call.dims = dimOptional;
  call.correction = correction;
  call.keep = keepdim;
  call.root = true;
  call.out_name = "stdOut";
  call.out = stdOut;
  call.has_mean = true;
  call.mean = meanOut;
  return plan_variance(call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(LogSumExp,
             (const aclTensor *self, const aclIntArray *dim, bool keepDim, aclTensor *out)) {
  Check check("aclnnLogSumExp");
  check.required("self", self).required("dim", dim).required("out", out);
  check.dtype("self", self).dtype("out", out).rank("self", self, 0, 8).plain_format("self", self);
  if (!check.ok()) return check.status();
  const AxisSet axes = axes_of(check, "dim", dim, static_cast<int>(self->rank()));
  return plan_rows(check, self, axes, keepDim, "out", out, "", nullptr, workspaceSize, executor,
                   [](const auto &rows, int64_t row, double *first, double *) {
                     *first = log_sum_exp(rows, row);
                   });
}
EMU_CATCH

EMU_OPERATOR(Norm, (const aclTensor *self, const aclScalar *pScalar, const aclIntArray *dim,
                    bool keepdim, aclTensor *out)) {
  Check check("aclnnNorm");
  check.required("self", self)
      .required("pScalar", pScalar)
      .required("dim", dim)
      .required("out", out);
  check.dtype("self", self).dtype("out", out).rank("self", self, 0, 8);
  if (!check.ok()) return check.status();
  const double p = pScalar->to_double();
  const AxisSet axes = axes_of(check, "dim", dim, static_cast<int>(self->rank()));
  return plan_rows(
      check, self, axes, keepdim, "out", out, "", nullptr, workspaceSize, executor,
      [p](const auto &rows, int64_t row, double *first, double *) { *first = norm(rows, row, p); });
}
EMU_CATCH

EMU_OPERATOR(LinalgVectorNorm,
             (const aclTensor *self, const aclScalar *ord, const aclIntArray *dims, bool keepDims,
              aclDataType dtype, aclTensor *out)) {
  Check check("aclnnLinalgVectorNorm");
  check.required("self", self).required("ord", ord).required("dims", dims).required("out", out);
  check.dtype("self", self).dtype("out", out).rank("self", self, 0, 8);
  if (check.ok() && dtype != ACL_DT_UNDEFINED) {
    check.same_dtype("out", out->dtype, "the dtype argument", dtype);
  }
  if (!check.ok()) return check.status();
  const double p = ord->to_double();
  const AxisSet axes = axes_of(check, "dims", dims, static_cast<int>(self->rank()));
  return plan_rows(
      check, self, axes, keepDims, "out", out, "", nullptr, workspaceSize, executor,
      [p](const auto &rows, int64_t row, double *first, double *) { *first = norm(rows, row, p); });
}
EMU_CATCH

}  // namespace emu
