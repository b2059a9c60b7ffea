// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Normalisation of a sum by the root mean square, and one or two dynamic quantisations of its rows.
#include "aclnnop/norm.h"
#include "ops/norm/rms.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

struct DynamicArguments {
  const char *op;
  const aclTensor *x1, *x2, *gamma, *smooth[2], *beta;
  bool has_beta;  // whether the operator has that argument
  double epsilon;
  const aclBoolArray *mask;
  const aclTensor *y[2], *x, *scale[2];
};

constexpr const char *kSmooth[] = {"smoothScale1Optional", "smoothScale2Optional"};
constexpr const char *kY[] = {"y1Out", "y2Out"}, *kScale[] = {"scale1Out", "scale2Out"};

// Which of the two results are made.
struct Made {
  bool first, second;
  bool operator[](int i) const { return i == 0 ? first : second; }
};

Made made_by(Check &check, const DynamicArguments &a) {
  if (a.mask == nullptr) {
    check.that(a.smooth[1] == nullptr || a.smooth[0] != nullptr,
               "smoothScale2Optional is given; then smoothScale1Optional must be given too");
    return {true, a.smooth[0] != nullptr && a.smooth[1] != nullptr};
  }
  const auto &bits = a.mask->values;
  check.that(bits.size() == 2, "outputMask has %zu entries; allowed: 2", bits.size());
  if (!check.ok()) return {true, false};
  const Made made{bits[0] != 0, bits[1] != 0};
  check.that(made.first || made.second, "outputMask is false twice; one result must be made");
  for (int i = 0; i < 2; ++i) {
    check.that(made[i] || a.smooth[i] == nullptr, "%s is given, but outputMask[%d] is false",
               kSmooth[i], i);
  }
  return made;
}

Check check_dynamic(const DynamicArguments &a, Made *made) {
  Check check(a.op);
  check.required("x1", a.x1).required("x2", a.x2).required("gamma", a.gamma);
  check.optional(kSmooth[0], a.smooth[0]).optional(kSmooth[1], a.smooth[1]);
  check.optional("betaOptional", a.beta).optional("outputMask", a.mask);
  check.required(kY[0], a.y[0]).required(kY[1], a.y[1]).required("xOut", a.x);
  check.required(kScale[0], a.scale[0]).required(kScale[1], a.scale[1]);
  check.dtype("x1", a.x1).dtype("x2", a.x2).dtype("gamma", a.gamma).dtype("xOut", a.x);
  check.dtype("betaOptional", a.beta);
  for (int i = 0; i < 2; ++i) {
    check.dtype(kSmooth[i], a.smooth[i]).dtype(kScale[i], a.scale[i]);
    check.dtype(kY[i], a.y[i]);
  }
  check.rank("x1", a.x1, 2, 8);
  if (!check.ok()) return check;
  const Layout whole = layout_of(*a.x1);
  const int64_t width = whole.shape[whole.rank - 1], rows = outer_count(*a.x1, 1);
  const Layout inner = dense_layout(&width, 1);
  const std::pair<const char *, const aclTensor *> vectors[] = {{"gamma", a.gamma},
                                                                {kSmooth[0], a.smooth[0]},
                                                                {kSmooth[1], a.smooth[1]},
                                                                {"betaOptional", a.beta}};
  check.same_dtype("x2", a.x2->dtype, "x1", a.x1->dtype);
  check.same_dtype("xOut", a.x->dtype, "x1", a.x1->dtype);
  check.shape("x2", a.x2, whole).shape("xOut", a.x, whole);
  for (const auto &[name, tensor] : vectors) {
    if (tensor == nullptr) continue;
    check.same_dtype(name, tensor->dtype, "x1", a.x1->dtype).shape(name, tensor, inner);
  }
  *made = made_by(check, a);
  if (made->first && made->second) check.same_dtype(kY[1], a.y[1]->dtype, kY[0], a.y[0]->dtype);
  for (int i = 0; i < 2; ++i) {
    // A result that is not made is not written, and programs give a small one.
    if (!(*made)[i]) continue;
    check_packing(check, kY[i], a.y[i], whole, "x1");
    check.that(a.scale[i]->numel() == rows, "%s has shape %s; expected one value per row, %lld",
               kScale[i], shape_text(layout_of(*a.scale[i])).c_str(), static_cast<long long>(rows));
  }
  return check;
}

Status plan_dynamic(const DynamicArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Made made{};
  const Check check = check_dynamic(a, &made);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t first = plan.input(a.x1), second = plan.input(a.x2), gamma = plan.input(a.gamma);
  const size_t smooth[] = {plan.input(a.smooth[0]), plan.input(a.smooth[1])};
  const size_t beta = a.has_beta ? plan.input(a.beta) : plan.input_if(a.beta);
  const bool shifted = a.beta != nullptr;
  const auto result = [&](const aclTensor *tensor, bool written) {
    return written ? plan.output(tensor) : plan.unused(tensor);
  };
  const size_t y[] = {result(a.y[0], made.first), result(a.y[1], made.second)};
  const size_t sum = plan.output(a.x);
  const size_t scale[] = {result(a.scale[0], made.first), result(a.scale[1], made.second)};
  const int64_t width = a.gamma->numel(), rows = outer_count(*a.x1, 1);
  const double epsilon = a.epsilon;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View sum_view = view_of(c.tensor(sum));
        View shared[2];
        std::optional<QuantTarget> to[2];
        std::optional<RowTarget<float>> scale_to[2];
        std::vector<float> factors[2];
        QuantRange range{};
        for (int i = 0; i < 2; ++i) {
          if (!made[i]) continue;
          const aclTensor &made_tensor = c.tensor(y[i]);
          shared[i] = shared_view(made_tensor);
          to[i].emplace(made_tensor);
          scale_to[i].emplace(view_of(c.tensor(scale[i])));
          factors[i] = read_all<float>(c, smooth[i], width, 1.0f);
          range = quant_range(made_tensor.dtype);
        }
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {sum_view, shared[0], shared[1]});
        };
        const RowSource<float> left(safe(first)), right(safe(second));
        const RowTarget<float> sum_to(sum_view);
        const auto weights = read_all<float>(c, gamma, width, 1.0f);
        const auto biases = shifted ? read_all<float>(c, beta, width, 0.0f)
                                    : std::vector<float>(static_cast<size_t>(width), 0.0f);
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
          float *other = values + width;
          left.read(row * width, width, values);
          right.read(row * width, width, other);
          for (int64_t i = 0; i < width; ++i) values[i] += other[i];
          sum_to.write(row * width, width, values);
          rms_normalise(values, width, epsilon, weights.data());
          for (int64_t i = 0; i < width; ++i) values[i] += biases[static_cast<size_t>(i)];
          for (int n = 0; n < 2; ++n) {
            if (!made[n]) continue;
            const float *factor = factors[n].data();
            for (int64_t i = 0; i < width; ++i) other[i] = values[i] * factor[i];
            const RowScale found = scale_symmetric(other, width, range);
            to[n]->write(row * width, width, other);
            scale_to[n]->write(row, 1, &found.scale);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AddRmsNormDynamicQuant,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *smoothScale1Optional, const aclTensor *smoothScale2Optional,
              double epsilon, aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut,
              aclTensor *scale1Out, aclTensor *scale2Out)) {
  return emu::plan_dynamic({"aclnnAddRmsNormDynamicQuant",
                            x1,
                            x2,
                            gamma,
                            {smoothScale1Optional, smoothScale2Optional},
                            nullptr,
                            false,
                            epsilon,
                            nullptr,
                            {y1Out, y2Out},
                            xOut,
                            {scale1Out, scale2Out}},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AddRmsNormDynamicQuantV2,
             (const aclTensor *x1, const aclTensor *x2, const aclTensor *gamma,
              const aclTensor *smoothScale1Optional, const aclTensor *smoothScale2Optional,
              const aclTensor *betaOptional, double epsilon, const aclBoolArray *outputMask,
              aclTensor *y1Out, aclTensor *y2Out, aclTensor *xOut, aclTensor *scale1Out,
              aclTensor *scale2Out)) {
  return emu::plan_dynamic({"aclnnAddRmsNormDynamicQuantV2",
                            x1,
                            x2,
                            gamma,
                            {smoothScale1Optional, smoothScale2Optional},
                            betaOptional,
                            true,
                            epsilon,
                            outputMask,
                            {y1Out, y2Out},
                            xOut,
                            {scale1Out, scale2Out}},
                           workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(RmsNormDynamicQuant,
             (const aclTensor *x, const aclTensor *gamma, const aclTensor *smoothScalesOptional,
              const aclTensor *betaOptional, double epsilon, int64_t dstType, aclTensor *yOut,
              aclTensor *scaleOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnRmsNormDynamicQuant";
  Check check(op);
  check.required("x", x).required("gamma", gamma);
  check.optional("smoothScalesOptional", smoothScalesOptional)
      .optional("betaOptional", betaOptional);
  check.required("yOut", yOut).required("scaleOut", scaleOut);
  check.dtype("x", x).dtype("gamma", gamma).dtype("smoothScalesOptional", smoothScalesOptional);
  check.dtype("betaOptional", betaOptional).dtype("yOut", yOut).dtype("scaleOut", scaleOut);
  check.tiling().rank("x", x, 2, 8);
  if (!check.ok()) return check.status();
  const Layout whole = layout_of(*x);
  const int64_t width = whole.shape[whole.rank - 1];
  const std::pair<const char *, const aclTensor *> vectors[] = {
      {"gamma", gamma},
      {"smoothScalesOptional", smoothScalesOptional},
      {"betaOptional", betaOptional}};
  check.that(x->numel() > 0, "x has shape %s; no dimension may be 0", shape_text(whole).c_str());
  for (const auto &[name, tensor] : vectors) {
    if (tensor == nullptr) continue;
    check.same_dtype(name, tensor->dtype, "x", x->dtype);
    check.shape(name, tensor, dense_layout(&width, 1));
  }
  check_dst_type(check, "dstType", dstType, "yOut", yOut);
  check.shape("yOut", yOut, whole);
  check.shape("scaleOut", scaleOut, dense_layout(whole.shape, whole.rank - 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), weight = plan.input(gamma);
  const size_t smooth = plan.input(smoothScalesOptional), beta = plan.input(betaOptional);
  const size_t y = plan.output(yOut), scale = plan.output(scaleOut);
  const int64_t rows = outer_count(*x, 1);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {shared_view(result)}));
        const QuantTarget to(result);
        const RowTarget<float> scale_to(view_of(c.tensor(scale)));
        const QuantRange range = quant_range(result.dtype);
        const auto weights = read_all<float>(c, weight, width, 1.0f),
                   biases = read_all<float>(c, beta, width, 0.0f),
                   factors = read_all<float>(c, smooth, width, 1.0f);
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *values) {
          from.read(row * width, width, values);
          rms_normalise(values, width, epsilon, weights.data());
          for (int64_t i = 0; i < width; ++i) {
            const auto at = static_cast<size_t>(i);
            values[i] = (values[i] + biases[at]) * factors[at];
          }
          const RowScale found = scale_symmetric(values, width, range);
          to.write(row * width, width, values);
          scale_to.write(row, 1, &found.scale);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
