// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// MoeGatingTopKBackward: the gradient of the scores of a gate with sigmoids, of which the chosen
// ones were divided by their sum.
#include "aclnnop/moe.h"
#include "core/statuses.h"
#include "ops/moe/scores.h"

EMU_OPERATOR(MoeGatingTopKBackward, (const aclTensor *xNorm, const aclTensor *gradY,
                                     const aclTensor *expertIdx, int64_t renorm, int64_t normType,
                                     double routedScalingFactor, double eps, aclTensor *out)) {
  using namespace emu;
  constexpr const char *op = "aclnnMoeGatingTopKBackward";
  constexpr int64_t kFewestExperts = 2, kMostExperts = 2048;
  Check check(op);
  check.required("xNorm", xNorm).required("gradY", gradY).required("expertIdx", expertIdx);
  check.required("out", out);
  check.dtype("xNorm", xNorm).dtype("gradY", gradY).dtype("expertIdx", expertIdx);
  check.dtype("out", out).rank("xNorm", xNorm, 2, 2).rank("gradY", gradY, 2, 2);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "gradY", gradY->dtype);
  check.shape("expertIdx", expertIdx, layout_of(*gradY)).shape("out", out, layout_of(*xNorm));
  check.tiling();
  const int64_t rows = xNorm->shape[0], experts = xNorm->shape[1], k = gradY->shape[1];
  check.that(normType == 1, "normType is %lld; allowed: 1", static_cast<long long>(normType));
  check.that(renorm == 0 || renorm == 1, "renorm is %lld; allowed: 0, 1",
             static_cast<long long>(renorm));
  check.that(rows >= 1 && gradY->shape[0] == rows, "gradY has %lld rows; xNorm has %lld",
             static_cast<long long>(gradY->shape[0]), static_cast<long long>(rows));
  check.that(experts >= kFewestExperts && experts <= kMostExperts && k >= 1 && k <= experts,
             "xNorm has %lld experts and gradY %lld chosen ones; allowed: 2 to 2048, and up to as "
             "many",
             static_cast<long long>(experts), static_cast<long long>(k));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op);
  const size_t x = plan.input(xNorm), dy = plan.input(gradY), index = plan.input(expertIdx),
               to = plan.output(out);
  const auto scale = static_cast<float>(routedScalingFactor), least = static_cast<float>(eps);
  return plan.finish(
      [=](PlanContext &c) {
        const std::vector<int64_t> chosen = integers(c, index);
        for (const int64_t expert : chosen) {
          if (expert < 0 || expert >= experts)
            return fail(kKernelFault, "%s: expertIdx holds %lld; allowed: 0 to %lld", op,
                        static_cast<long long>(expert), static_cast<long long>(experts - 1));
        }
        Operands operands;
        const View result = view_of(c.tensor(to));
        const RowSource<float> scores(operands.safe(view_of(c.tensor(x)), {result}));
        const std::vector<float> gradients = read_all<float>(c, dy, rows * k, 0.0f);
        const RowTarget<float> target(result);
        for_each_row<float>(rows, experts, 2, [&](int64_t row, float *values) {
          float *slopes = values + experts;
          scores.read(row * experts, experts, values);
          std::fill(slopes, slopes + experts, 0.0f);
          const int64_t *picked = chosen.data() + row * k;
          const float *gradient = gradients.data() + row * k;
          double sum = static_cast<double>(least), along = 0.0;
          for (int64_t p = 0; p < k; ++p) sum += static_cast<double>(values[picked[p]]);
          for (int64_t p = 0; p < k; ++p)
            along += static_cast<double>(values[picked[p]]) / sum * scale * gradient[p];
          for (int64_t p = 0; p < k; ++p)
            slopes[picked[p]] += static_cast<float>((scale * gradient[p] - along) / sum);
          for (int64_t j = 0; j < experts; ++j) slopes[j] *= values[j] * (1.0f - values[j]);
          target.write(row * experts, experts, slopes);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
