// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation by the root mean square, of a sum or of one tensor, and quantisation of its result
// with given scales: y / scale + offset, or y * scale + offset.
#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/rms.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

struct AddQuantArguments {
  const char *op;
  const aclTensor *x1, *x2, *gamma, *scales[2], *zeros[2], *beta;
  double epsilon;
  bool divide;
  const aclTensor *ys[2], *x, *norm;
  bool second_version;  // which has beta and norm
};

Status plan_add_rms_norm_quant(const AddQuantArguments &a, uint64_t *workspace_size,
                               aclOpExecutor **executor) {
  const auto &[op, x1, x2, gamma, scales, zeros, beta, epsilon, divide, ys, x, norm,
               second_version] = a;
  constexpr const char *kScales[] = {"scales1", "scales2Optional"};
  constexpr const char *kZeros[] = {"zeroPoints1Optional", "zeroPoints2Optional"};
  constexpr const char *kYs[] = {"y1Out", "y2Out"};
  Check check(op);
  check.required("x1", x1).required("x2", x2).required("gamma", gamma);
  check.required(kScales[0], scales[0]).optional(kScales[1], scales[1]);
  check.optional(kZeros[0], zeros[0]).optional(kZeros[1], zeros[1]);
  check.optional("betaOptional", beta);
  check.required(kYs[0], ys[0]).required(kYs[1], ys[1]).required("xOut", x);
  check.optional("rmsNormOutOptional", norm);
  check.dtype("betaOptional", beta).dtype("rmsNormOutOptional", norm);
  check.dtype("x1", x1).dtype("x2", x2).dtype("gamma", gamma).dtype("xOut", x);
  for (int i = 0; i < 2; ++i) {
    check.dtype(kScales[i], scales[i]).dtype(kZeros[i], zeros[i]);
    check.dtype(kYs[i], ys[i]);
  }
  check.rank("x1", x1, 1, 8).rank("gamma", gamma, 1, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("x2", x2->dtype, "x1", x1->dtype);
  check.same_dtype("gamma", gamma->dtype, "x1", x1->dtype);
  check.same_dtype("xOut", x->dtype, "x1", x1->dtype);
  if (beta) check.same_dtype("betaOptional", beta->dtype, "x1", x1->dtype);
  if (norm) check.same_dtype("rmsNormOutOptional", norm->dtype, "x1", x1->dtype);
  check.same_dtype(kYs[1], ys[1]->dtype, kYs[0], ys[0]->dtype);
  // The second version of the 950 takes a second scale of 1 for granted.
  const bool shifted_only = zeros[1] != nullptr && scales[1] == nullptr;
  check.that(!shifted_only || (second_version && chip_is_950()),
             "zeroPoints2Optional is given; then scales2Optional must be given too");
  // Where it asks for nothing new, the second version multiplies on every chip.
  const bool multiplies = second_version && beta == nullptr && norm == nullptr;
  check.that(divide || multiplies || chip_is_950(),
             second_version ? "divMode is false; beside betaOptional and rmsNormOutOptional this "
                              "chip takes true only"
                            : "divMode is false; this chip takes true only");
  const Layout whole = layout_of(*x1), inner = layout_of(*gamma);
  bool trails = inner.rank <= whole.rank;
  for (int d = 0; trails && d < inner.rank; ++d)
    trails = inner.shape[d] == whole.shape[whole.rank - inner.rank + d];
  check.that(trails, "gamma %s is not the trailing shape of x1 %s", shape_text(inner).c_str(),
             shape_text(whole).c_str());
  for (int i = 0; i < 2; ++i) {
    // Floating scales come with integer offsets, halves with halves.
    const aclDataType zero = scales[0]->dtype == ACL_FLOAT ? ACL_INT32 : scales[0]->dtype;
    if (check.ok() && !chip_is_950()) {
      check.that(scales[0]->dtype == ACL_FLOAT || scales[0]->dtype == x1->dtype,
                 "scales1 has dtype %s; it must be FLOAT or that of x1, %s",
                 dtype_name(scales[0]->dtype), dtype_name(x1->dtype));
      check.that(zeros[i] == nullptr || zeros[i]->dtype == zero,
                 "%s has dtype %s; beside scales1 of %s it must be %s", kZeros[i],
                 zeros[i] ? dtype_name(zeros[i]->dtype) : "", dtype_name(scales[0]->dtype),
                 dtype_name(zero));
    }
    if (scales[i]) check.same_dtype(kScales[i], scales[i]->dtype, kScales[0], scales[0]->dtype);
    check.shape(kScales[i], scales[i], inner).shape(kZeros[i], zeros[i], inner);
  }
  check.shape("betaOptional", beta, inner).shape("rmsNormOutOptional", norm, whole);
  check.shape("x2", x2, whole).shape(kYs[0], ys[0], whole).shape("xOut", x, whole);
  // Without scales nothing is written to the second result, and programs give a small one.
  const bool twice = scales[1] != nullptr || shifted_only;
  if (twice) check.shape(kYs[1], ys[1], whole);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t first = plan.input(x1), second = plan.input(x2), weight = plan.input(gamma);
  const size_t scale[] = {plan.input(scales[0]), plan.input(scales[1])};
  const size_t zero[] = {plan.input(zeros[0]), plan.input(zeros[1])};
  const size_t bias = second_version ? plan.input(beta) : plan.input_if(beta);
  const size_t y[] = {plan.output(ys[0]), plan.output(ys[1])}, sum = plan.output(x);
  const size_t normed = second_version ? plan.output(norm) : plan.output_if(norm);
  const int64_t width = gamma->numel(), rows = width == 0 ? 0 : outer_count(*x1, gamma->rank());
  const bool biased = beta != nullptr, with_norm = norm != nullptr, divides = divide;
  const double eps = epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View norm_view = with_norm ? view_of(c.tensor(normed)) : View();
        const aclTensor &last = c.tensor(y[twice ? 1 : 0]);
        const View sum_view = view_of(c.tensor(sum)), near = shared_view(c.tensor(y[0])),
                   far = shared_view(last);
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {sum_view, near, far, norm_view});
        };
        const RowSource<float> left(safe(first)), right(safe(second));
        const RowTarget<float> sum_to(sum_view), norm_to(with_norm ? norm_view : sum_view);
        const QuantTarget to[] = {QuantTarget(c.tensor(y[0])), QuantTarget(last)};
        const auto factors = read_all<float>(c, weight, width, 1.0f);
        const std::vector<float> scale_of[] = {read_all<float>(c, scale[0], width, 1.0f),
                                               read_all<float>(c, scale[1], width, 1.0f)};
        const std::vector<float> zero_of[] = {read_all<float>(c, zero[0], width, 0.0f),
                                              read_all<float>(c, zero[1], width, 0.0f)};
        const auto biases = biased ? read_all<float>(c, bias, width, 0.0f) : std::vector<float>();
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
          float *other = values + width;
          left.read(row * width, width, values);
          right.read(row * width, width, other);
          for (int64_t i = 0; i < width; ++i) values[i] += other[i];
          sum_to.write(row * width, width, values);
          rms_normalise(values, width, eps, factors.data());
          if (with_norm) norm_to.write(row * width, width, values);
          if (biased)
            for (int64_t i = 0; i < width; ++i) values[i] += biases[static_cast<size_t>(i)];
          for (int n = 0; n < (twice ? 2 : 1); ++n) {
            const float *s = scale_of[n].data(), *z = zero_of[n].data();
            if (divides)
              for (int64_t i = 0; i < width; ++i) other[i] = values[i] / s[i] + z[i];
            else
              for (int64_t i = 0; i < width; ++i) other[i] = values[i] * s[i] + z[i];
            to[n].write(row * width, width, other);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

// One tensor: RmsNormQuant, and its third version for chips of the 950 series.
struct RmsQuantCall {
  const char *op;
  const aclTensor *x, *gamma, *beta, *scale, *offset;
  double epsilon;
  bool divide;
  const aclTensor *y;
  const aclTensor *rstd = nullptr;
  bool with_rstd = false;
  bool nan_is_zero = false;  // also where the result is floats
};

// What those chips take: scales of FLOAT, one for all or one for each place of a row.
void check_rms_scales(Check &check, const RmsQuantCall &a) {
  const aclTensor *x = a.x, *scale = a.scale, *offset = a.offset;
  check.rank("scale", scale, 1, 1);
  if (!check.ok()) return;
  check.that(scale->dtype == x->dtype || scale->dtype == ACL_FLOAT,
             "scale has dtype %s; it must be FLOAT or that of x, %s", dtype_name(scale->dtype),
             dtype_name(x->dtype));
  // Integers as offsets: 8 bits beside a scale of halves, 32 beside one of FLOAT and x of halves.
  const aclDataType whole_offset = scale->dtype != ACL_FLOAT ? ACL_INT8
                                   : x->dtype != ACL_FLOAT   ? ACL_INT32
                                                             : ACL_FLOAT;
  check.that(offset == nullptr || offset->dtype == scale->dtype || offset->dtype == whole_offset,
             "offset has dtype %s; beside scale of %s it must be %s or %s",
             offset ? dtype_name(offset->dtype) : "", dtype_name(scale->dtype),
             dtype_name(scale->dtype), dtype_name(whole_offset));
  const int64_t width = x->shape.back(), scales = scale->shape[0];
  check.that(scales == 1 || scales == width, "scale has %lld values; allowed: 1 or %lld",
             static_cast<long long>(scales), static_cast<long long>(width));
  check.shape("offset", offset, dense_layout(&scales, 1));
}

// A vector for the places of a row, with or without a dimension of 1 in front.
void check_row(Check &check, const char *name, const aclTensor *tensor, int64_t width) {
  const int64_t row[] = {1, width};
  if (tensor == nullptr || !check.ok()) return;
  check.shape(name, tensor, tensor->rank() == 1 ? dense_layout(&width, 1) : dense_layout(row, 2));
}

Status plan_rms_norm_quant(const RmsQuantCall &a, bool third_version, uint64_t *workspace_size,
                           aclOpExecutor **executor) {
  PlanBuilder plan(a.op, KernelTime::linear);
  size_t bias = 0;  // behind scale and offset in the third version
  const size_t from = plan.input(a.x), weight = plan.input(a.gamma);
  if (!third_version) bias = plan.input(a.beta);
  const size_t factor = plan.input(a.scale), shift = plan.input(a.offset);
  if (third_version) bias = plan.input(a.beta);
  const size_t to = plan.output(a.y);
  const bool with_rstd = a.with_rstd, divide = a.divide, nan_is_zero = a.nan_is_zero;
  size_t root = 0;
  if (third_version) root = with_rstd ? plan.output(a.rstd) : plan.unused(a.rstd);
  const int64_t width = a.x->shape.back(), rows = width == 0 ? 0 : outer_count(*a.x, 1);
  const int64_t scales = a.scale->numel();
  const double epsilon = a.epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        if (rows == 0) return Status{0};
        Operands operands;
        const aclTensor &result = c.tensor(to);
        const View root_view = with_rstd ? view_of(c.tensor(root)) : View();
        const RowSource<float> source(
            operands.safe(view_of(c.tensor(from)), {shared_view(result), root_view}));
        const QuantTarget target(result);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   biases = read_all<float>(c, bias, width, 0.0f);
        auto by = read_all<float>(c, factor, scales, 1.0f),
             added = read_all<float>(c, shift, scales, 0.0f);
        by.resize(static_cast<size_t>(width), by[0]);
        added.resize(static_cast<size_t>(width), added[0]);
        for_each_row<float>(rows, width, 1, [&](int64_t r, float *values) {
          source.read(r * width, width, values);
          const float found = rms_normalise(values, width, epsilon, weights.data());
          for (int64_t i = 0; i < width; ++i) {
            const auto at = static_cast<size_t>(i);
            const float normed = values[i] + biases[at];
            values[i] = (divide ? normed / by[at] : normed * by[at]) + added[at];
            if (nan_is_zero && std::isnan(values[i])) values[i] = 0.0f;
          }
          target.write(r * width, width, values);
          if (with_rstd) RowTarget<float>(root_view).write(r, 1, &found);
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AddRmsNormQuant,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *scales1, const aclTensor *scales2Optional,
              const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional,
              [[maybe_unused]] int64_t axis, double epsilon, bool divMode, aclTensor *y1Out,
              aclTensor *y2Out, aclTensor *xOut)) {
  return emu::plan_add_rms_norm_quant({"aclnnAddRmsNormQuant",
                                       x1,
                                       x2,
                                       gamma,
                                       {scales1, scales2Optional},
                                       {zeroPoints1Optional, zeroPoints2Optional},
                                       nullptr,
                                       epsilon,
                                       divMode,
                                       {y1Out, y2Out},
                                       xOut,
                                       nullptr,
                                       false},
                                      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddRmsNormQuantV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *scales1, const aclTensor *scales2Optional,
              const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional,
              const aclTensor *betaOptional, [[maybe_unused]] int64_t axis, double epsilon,
              bool divMode, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut,
              aclTensor *rmsNormOutOptional)) {
  return emu::plan_add_rms_norm_quant({"aclnnAddRmsNormQuantV2",
                                       x1,
                                       x2,
                                       gamma,
                                       {scales1, scales2Optional},
                                       {zeroPoints1Optional, zeroPoints2Optional},
                                       betaOptional,
                                       epsilon,
                                       divMode,
                                       {y1Out, y2Out},
                                       xOut,
                                       rmsNormOutOptional,
                                       true},
                                      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RmsNormQuant,
             (const aclTensor *x, const aclTensor *gamma, const aclTensor *beta,
              const aclTensor *scale, const aclTensor *offset, double epsilon, aclTensor *y)) {
  using namespace emu;
  constexpr const char *op = "aclnnRmsNormQuant";
  Check check(op);
  check.required("x", x).required("gamma", gamma).required("beta", beta);
  check.required("scale", scale).required("offset", offset).required("y", y);
  check.dtype("x", x).dtype("gamma", gamma).dtype("beta", beta);
  check.dtype("scale", scale).dtype("offset", offset).dtype("y", y);
  check.rank("x", x, 1, 8).rank("gamma", gamma, 1, 2).rank("beta", beta, 1, 2);
  if (!check.ok()) return check.status();
  check.same_dtype("gamma", gamma->dtype, "x", x->dtype);
  check.same_dtype("beta", beta->dtype, "x", x->dtype);
  RmsQuantCall call{op, x, gamma, beta, scale, offset, epsilon, true, y};
  call.nan_is_zero = true;
  const int64_t width = x->shape.back(), one = 1;
  check_row(check, "gamma", gamma, width);
  if (chip_is_950()) {
    check_row(check, "beta", beta, width);
    check_rms_scales(check, call);
  } else {
    check.same_dtype("scale", scale->dtype, "x", x->dtype);
    check.shape("beta", beta, layout_of(*gamma));
    check.shape("scale", scale, dense_layout(&one, 1)).shape("offset", offset, layout_of(*scale));
  }
  check_packing(check, "y", y, layout_of(*x), "x");
  if (!check.ok()) return check.status();
  return plan_rms_norm_quant(call, false, workspaceSize, executor);
}
EMU_CATCH

// For chips of the 950 series.
EMU_OPERATOR(RmsNormQuantV3, (const aclTensor *x, const aclTensor *gamma, const aclTensor *scale,
                              const aclTensor *offset, const aclTensor *beta, double epsilon,
                              bool divMode, bool outputRstd, aclTensor *y, aclTensor *rstd)) {
  using namespace emu;
  constexpr const char *op = "aclnnRmsNormQuantV3";
  Check check(op);
  check.required("x", x).required("gamma", gamma).required("scale", scale);
  check.optional("offset", offset).optional("beta", beta).required("y", y);
  if (outputRstd) check.required("rstd", rstd);
  else check.optional("rstd", rstd);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check.dtype("x", x).dtype("gamma", gamma).dtype("scale", scale).dtype("offset", offset);
  check.dtype("beta", beta).dtype("y", y).dtype("rstd", rstd);
  check.rank("x", x, 1, 8).rank("gamma", gamma, 1, 2);
  if (!check.ok()) return check.status();
  check.same_dtype("gamma", gamma->dtype, "x", x->dtype);
  if (beta) check.same_dtype("beta", beta->dtype, "x", x->dtype).rank("beta", beta, 1, 2);
  const RmsQuantCall call{op, x, gamma, beta, scale, offset, epsilon, divMode, y, rstd, outputRstd};
  const Layout whole = layout_of(*x);
  const int64_t width = x->shape.back();
  check.that(whole.count() > 0, "x has shape %s; no dimension may be 0", shape_text(whole).c_str());
  check_row(check, "gamma", gamma, width);
  check_row(check, "beta", beta, width);
  check_rms_scales(check, call);
  check_packing(check, "y", y, whole, "x");
  Layout outer = whole;
  outer.shape[outer.rank - 1] = 1;
  if (outputRstd && !(whole.rank == 1 && rstd->rank() == 0)) check.shape("rstd", rstd, outer);
  if (!check.ok()) return check.status();
  return plan_rms_norm_quant(call, true, workspaceSize, executor);
}
EMU_CATCH
