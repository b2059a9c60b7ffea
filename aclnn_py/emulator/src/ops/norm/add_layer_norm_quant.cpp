// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of a sum by mean and variance, and one or two quantisations of the result, with
// given scales or with scales found from each row.
#include <cstring>

#include "aclnnop/norm.h"
#include "core/chip.h"
#include "ops/norm/layer.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

struct SumQuantArguments {
  const char *op;
  const aclTensor *x1, *x2, *gamma, *beta, *bias, *scales[2], *zeros[2];
  const char *mode;
  double epsilon;
  bool keep_sum, divide;
  const aclTensor *y[2], *x, *norm, *found[2];  // norm: null in the first version
  bool second_version;

  bool dynamic() const { return std::strcmp(mode, "dynamic") == 0; }
  bool twice() const { return scales[1] != nullptr; }
};

constexpr const char *kScales[] = {"scales1Optional", "scales2Optional"};
constexpr const char *kZeros[] = {"zeroPoints1Optional", "zeroPoints2Optional"};
constexpr const char *kY[] = {"y1Out", "y2Out"}, *kFound[] = {"outScales1Out", "outScales2Out"};

void check_dtypes(Check &check, const SumQuantArguments &a) {
  check.required("x1", a.x1).required("x2", a.x2).required("gamma", a.gamma);
  check.required("beta", a.beta).optional("biasOptional", a.bias);
  for (int i = 0; i < 2; ++i)
    check.optional(kScales[i], a.scales[i]).optional(kZeros[i], a.zeros[i]);
  check.required_text("quantMode", a.mode);
  check.required(kY[0], a.y[0]).required(kY[1], a.y[1]).required("xOut", a.x);
  if (a.second_version) check.required("layernormRes", a.norm);
  check.required(kFound[0], a.found[0]).required(kFound[1], a.found[1]);
  if (!check.ok()) return;
  check.that(a.dynamic() || std::strcmp(a.mode, "static") == 0,
             "quantMode is \"%.40s\"; allowed: \"static\", \"dynamic\"", a.mode);
  check.dtype("x1", a.x1);
  check.that(!a.dynamic() || a.x1->dtype != ACL_FLOAT,
             "x1 has dtype FLOAT; quantMode \"dynamic\" takes FLOAT16 and BF16");
  const std::pair<const char *, const aclTensor *> alike[] = {
      {"x2", a.x2},  {"gamma", a.gamma},      {"beta", a.beta}, {"biasOptional", a.bias},
      {"xOut", a.x}, {"layernormRes", a.norm}};
  for (const auto &[name, tensor] : alike) {
    if (tensor) check.dtype(name, tensor).same_dtype(name, tensor->dtype, "x1", a.x1->dtype);
  }
  for (int i = 0; i < 2; ++i) {
    check.dtype(kY[i], a.y[i]).dtype(kFound[i], a.found[i]);
    check.dtype(kScales[i], a.scales[i]).dtype(kZeros[i], a.zeros[i]);
  }
  const aclTensor *scale = a.scales[0];
  if (!check.ok() || scale == nullptr) return;
  const bool wide = !a.dynamic() && (!a.second_version || chip_is_950());
  check.that(scale->dtype == a.x1->dtype || (wide && scale->dtype == ACL_FLOAT),
             "scales1Optional has dtype %s; beside x1 of %s it must be %s",
             dtype_name(scale->dtype), dtype_name(a.x1->dtype),
             wide ? "FLOAT or the same" : "the same");
  for (const auto &[name, tensor] :
       {std::pair{kScales[1], a.scales[1]}, std::pair{kZeros[0], a.zeros[0]},
        std::pair{kZeros[1], a.zeros[1]}}) {
    if (tensor) check.same_dtype(name, tensor->dtype, kScales[0], scale->dtype);
  }
}

// Which scales and offsets go together.
void check_given(Check &check, const SumQuantArguments &a) {
  if (a.dynamic()) {
    check.that(a.zeros[0] == nullptr && a.zeros[1] == nullptr,
               "%s is given; quantMode \"dynamic\" takes no offsets",
               kZeros[a.zeros[0] == nullptr ? 1 : 0]);
    check.that(a.scales[1] == nullptr || a.scales[0] != nullptr,
               "scales2Optional is given; then scales1Optional must be given too");
    return;
  }
  check.that(a.scales[0] != nullptr, "scales1Optional is null; quantMode \"static\" needs it");
  const bool second = a.zeros[0] != nullptr && a.scales[1] != nullptr;
  check.that((a.zeros[1] != nullptr) == second,
             second ? "zeroPoints2Optional is null; beside zeroPoints1Optional and scales2Optional "
                      "it must be given"
                    : "zeroPoints2Optional is given; then zeroPoints1Optional and scales2Optional "
                      "must be given too");
}

void check_shapes(Check &check, const SumQuantArguments &a) {
  check.rank("x1", a.x1, a.dynamic() ? 2 : 1, 8).rank("gamma", a.gamma, 1, 8);
  if (!check.ok()) return;
  const Layout whole = layout_of(*a.x1), inner = layout_of(*a.gamma);
  const int64_t width = whole.shape[whole.rank - 1], row[] = {1, width}, one = 1;
  bool trails = inner.rank <= whole.rank;
  for (int d = 0; trails && d < inner.rank; ++d)
    trails = inner.shape[d] == whole.shape[whole.rank - inner.rank + d];
  const bool as_row = a.second_version && same_shape(inner, dense_layout(row, 2));
  check.that(trails || as_row, "gamma %s is not the trailing shape of x1 %s",
             shape_text(inner).c_str(), shape_text(whole).c_str());
  check.that(!a.dynamic() || inner.count() == width,
             "gamma has shape %s; quantMode \"dynamic\" normalises the last dimension of x1, %lld",
             shape_text(inner).c_str(), static_cast<long long>(width));
  check.shape("beta", a.beta, inner);
  if (a.bias && !same_shape(layout_of(*a.bias), inner)) check.shape("biasOptional", a.bias, whole);
  if (!check.ok()) return;
  const bool single = a.second_version && a.scales[0] != nullptr && a.scales[0]->rank() == 1 &&
                      a.scales[0]->shape[0] == 1;
  const Layout scales = single ? dense_layout(&one, 1) : inner;
  for (int i = 0; i < 2; ++i)
    check.shape(kScales[i], a.scales[i], scales).shape(kZeros[i], a.zeros[i], scales);
  check.shape("x2", a.x2, whole).shape("xOut", a.x, whole).shape("layernormRes", a.norm, whole);
  const Layout outer = dense_layout(whole.shape, whole.rank - 1);
  for (int i = 0; i < (a.twice() ? 2 : 1); ++i) {
    check.shape(kY[i], a.y[i], whole);
    if (a.dynamic()) check.shape(kFound[i], a.found[i], outer);
  }
}

// The second version has less on chips before the 950.
void check_older_chip(Check &check, const SumQuantArguments &a) {
  if (!check.ok() || chip_is_950()) return;
  check.that(!a.dynamic(), "quantMode is \"dynamic\"; this chip takes \"static\" only");
  check.that(!a.divide, "divMode is true; this chip takes false only");
  check.that(!a.twice(), "scales2Optional is given; this chip takes null only");
  check.that(a.scales[0] == nullptr || a.scales[0]->numel() == 1,
             "scales1Optional has shape %s; this chip takes (1) only",
             a.scales[0] ? shape_text(layout_of(*a.scales[0])).c_str() : "");
  const int64_t row[] = {1, a.x1->shape.back()};
  check.shape("gamma", a.gamma, dense_layout(row, 2));
}

// A scale or offset for each place of a row; one value is repeated.
std::vector<float> for_row(PlanContext &c, size_t index, int64_t width, float fallback) {
  const bool single = c.has(index) && c.tensor(index).numel() == 1;
  auto values = read_all<float>(c, index, single ? 1 : width, fallback);
  if (single) values.assign(static_cast<size_t>(width), values[0]);
  return values;
}

Status plan_sum_quant(const SumQuantArguments &a, Check &check, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  check_dtypes(check, a);
  if (check.ok()) check_given(check, a);
  if (check.ok()) check_shapes(check, a);
  if (a.second_version) check_older_chip(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t first = plan.input(a.x1), second = plan.input(a.x2), weight = plan.input(a.gamma);
  const size_t shift = plan.input(a.beta), bias = plan.input(a.bias);
  const size_t scale[] = {plan.input(a.scales[0]), plan.input(a.scales[1])};
  const size_t zero[] = {plan.input(a.zeros[0]), plan.input(a.zeros[1])};
  const bool dynamic = a.dynamic(), twice = a.twice(), divide = a.divide, keep = a.keep_sum;
  const auto result = [&](const aclTensor *tensor, bool written) {
    return written ? plan.output(tensor) : plan.unused(tensor);
  };
  const size_t y[] = {plan.output(a.y[0]), result(a.y[1], twice)}, sum = result(a.x, keep);
  const bool with_norm = a.second_version;
  const size_t norm = with_norm ? plan.output(a.norm) : 0;
  const size_t found[] = {result(a.found[0], dynamic), result(a.found[1], dynamic && twice)};
  const int64_t width = a.gamma->numel(), rows = width == 0 ? 0 : a.x1->numel() / width;
  const bool small_bias = a.bias && same_shape(layout_of(*a.bias), layout_of(*a.gamma));
  const double epsilon = a.epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const auto written = [&](size_t index, bool is_written) {
          return is_written ? view_of(c.tensor(index)) : View();
        };
        const View near = written(y[0], true), far = written(y[1], twice),
                   sum_view = written(sum, keep), norm_view = written(norm, with_norm);
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {near, far, sum_view, norm_view});
        };
        const bool biased = c.has(bias);
        const RowSource<float> left(safe(first)), right(safe(second));
        const RowSource<float> added(safe(biased ? bias : first));
        const QuantTarget to[] = {QuantTarget(c.tensor(y[0])),
                                  QuantTarget(c.tensor(y[twice ? 1 : 0]))};
        const QuantRange range = quant_range(c.tensor(y[0]).dtype);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   shifts = read_all<float>(c, shift, width, 0.0f);
        const std::vector<float> factors[] = {for_row(c, scale[0], width, 1.0f),
                                              for_row(c, scale[1], width, 1.0f)};
        const std::vector<float> zeros[] = {for_row(c, zero[0], width, 0.0f),
                                            for_row(c, zero[1], width, 0.0f)};
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
          float *other = values + width;
          left.read(row * width, width, values);
          right.read(row * width, width, other);
          for (int64_t i = 0; i < width; ++i) values[i] += other[i];
          if (biased) {
            added.read(small_bias ? 0 : row * width, width, other);
            for (int64_t i = 0; i < width; ++i) values[i] += other[i];
          }
          if (keep) RowTarget<float>(sum_view).write(row * width, width, values);
          layer_normalise(values, width, epsilon, weights.data(), shifts.data());
          if (with_norm) RowTarget<float>(norm_view).write(row * width, width, values);
          for (int n = 0; n < (twice ? 2 : 1); ++n) {
            const float *s = factors[n].data(), *z = zeros[n].data();
            if (dynamic) {
              for (int64_t i = 0; i < width; ++i) other[i] = values[i] * s[i];
              const RowScale made = scale_symmetric(other, width, range);
              RowTarget<float>(view_of(c.tensor(found[n]))).write(row, 1, &made.scale);
            } else if (divide) {
              for (int64_t i = 0; i < width; ++i) other[i] = values[i] / s[i] + z[i];
            } else {
              for (int64_t i = 0; i < width; ++i) other[i] = values[i] * s[i] + z[i];
            }
            to[n].write(row * width, width, other);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

// For chips of the 950 series.
EMU_OPERATOR(AddLayerNormQuant,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *beta, const aclTensor *biasOptional,
              const aclTensor *scales1Optional, const aclTensor *scales2Optional,
              const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional,
              const char *quantMode, double epsilon, bool additionalOutput, bool divMode,
              aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *outScales1Out,
              aclTensor *outScales2Out)) {
  using namespace emu;
  Check check("aclnnAddLayerNormQuant");
  check.required("x1", x1);
  if (const Status s = check_chip(check, kInvalid)) return s;
  return plan_sum_quant({check.op(),
                         x1,
                         x2,
                         gamma,
                         beta,
                         biasOptional,
                         {scales1Optional, scales2Optional},
                         {zeroPoints1Optional, zeroPoints2Optional},
                         quantMode,
                         epsilon,
                         additionalOutput,
                         divMode,
                         {y1Out, y2Out},
                         xOut,
                         nullptr,
                         {outScales1Out, outScales2Out},
                         false},
                        check, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddLayerNormQuantV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *beta, const aclTensor *biasOptional,
              const aclTensor *scales1Optional, const aclTensor *scales2Optional,
              const aclTensor *zeroPoints1Optional, const aclTensor *zeroPoints2Optional,
              const char *quantMode, double epsilon, bool additionalOutput, bool divMode,
              aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *layernormRes,
              aclTensor *outScales1Out, aclTensor *outScales2Out)) {
  using namespace emu;
  Check check("aclnnAddLayerNormQuantV2");
  return plan_sum_quant({check.op(),
                         x1,
                         x2,
                         gamma,
                         beta,
                         biasOptional,
                         {scales1Optional, scales2Optional},
                         {zeroPoints1Optional, zeroPoints2Optional},
                         quantMode,
                         epsilon,
                         additionalOutput,
                         divMode,
                         {y1Out, y2Out},
                         xOut,
                         layernormRes,
                         {outScales1Out, outScales2Out},
                         true},
                        check, workspaceSize, executor);
}
EMU_CATCH
