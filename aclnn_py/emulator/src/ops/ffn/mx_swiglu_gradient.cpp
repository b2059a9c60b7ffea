// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of a gated unit, quantised in blocks along both of its last two dimensions, or along
// the rows of groups. The gradient is float32 until it is quantised.
#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/ffn/gated_gradients.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnSwigluBackwardMxQuantWithDualAxis";
constexpr int64_t kPair = 2 * kMxBlock;

struct QuantisedGradient {
  const aclTensor *x, *incoming, *groups;
  bool left;
  MxAttributes attributes;
  double limit;
  const aclTensor *y1, *scale1, *y2, *scale2;
};

// Dtypes, ranks and the format; `halves` are those of x.
MxFormat check_gradient_format(Check &check, const QuantisedGradient &a, Halves *halves) {
  check.dtype("x", a.x).dtype("yGrad", a.incoming).dtype("groupIndexOptional", a.groups);
  check.dtype("y1Out", a.y1).dtype("y2Out", a.y2);
  check.dtype("mxscale1Out", a.scale1).dtype("mxscale2Out", a.scale2);
  check.rank("x", a.x, 2, 6).plain_format("x", a.x);
  check.rank("groupIndexOptional", a.groups, 1, 1);
  if (!check.ok()) return {};
  check_unit(check, {kOp, "x", a.x, -1, "yGrad", a.incoming}, 2, halves);
  if (!check.ok()) return {};
  check.same_dtype("y2Out", a.y2->dtype, "y1Out", a.y1->dtype);
  check.that(a.limit == 0.0, "maxDtypeValue is %g; allowed: 0", a.limit);
  check.that(a.x->numel() > 0, "x is empty, which is not supported");
  check.that(a.x->shape.back() % kPair == 0,
             "x has %lld in its last dimension; it must be a multiple of %lld",
             static_cast<long long>(a.x->shape.back()), static_cast<long long>(kPair));
  return check_mx_format(check, a.attributes, "y1Out", a.y1);
}

void check_gradient_results(Check &check, const QuantisedGradient &a) {
  const Layout values = layout_of(*a.x);
  check_mx_results(check, values, values.rank - 1, kMxBlock, "y1Out", a.y1, "mxscale1Out",
                   a.scale1);
  if (a.groups == nullptr) {
    check_mx_results(check, values, values.rank - 2, kMxBlock, "y2Out", a.y2, "mxscale2Out",
                     a.scale2);
    return;
  }
  check.rank("x", a.x, 2, 2);
  check.that(a.groups->numel() > 0, "groupIndexOptional is empty");
  if (!check.ok()) return;
  const int64_t pairs =
      check.size("groupIndexOptional", Checked(values.shape[0] / kPair) + a.groups->numel());
  const int64_t shape[] = {pairs, values.shape[1], 2};
  check.shape("y2Out", a.y2, values).shape("mxscale2Out", a.scale2, dense_layout(shape, 3));
}

// The gradient of x, row after row.
std::vector<float> gradient_of(const View &incoming, const View &x, const Halves &halves) {
  std::vector<float> slopes(static_cast<size_t>(x.count()));
  const View to{reinterpret_cast<char *>(slopes.data()), ACL_FLOAT, dense_like(x.layout)};
  slope_halves<float>(incoming, x, to, halves, halves.rows,
                      [](const float *g, float *gate, float *linear, int64_t n, int64_t) {
                        silu_slopes(g, gate, linear, n);
                      });
  return slopes;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(SwigluBackwardMxQuantWithDualAxis,
             (const aclTensor *x, const aclTensor *yGrad, const aclTensor *groupIndexOptional,
              bool activateLeft, const char *roundModeOptional, int64_t scaleAlg, int64_t dstDtype,
              double maxDtypeValue, aclTensor *y1Out, aclTensor *mxscale1Out, aclTensor *y2Out,
              aclTensor *mxscale2Out)) {
  using namespace emu;
  constexpr MxAlgorithms kOnlySecond{0b010, 0, 0};
  const QuantisedGradient a{
      x,
      yGrad,
      groupIndexOptional,
      activateLeft,
      {"roundModeOptional", roundModeOptional, "dstDtype", dstDtype, scaleAlg, kOnlySecond},
      maxDtypeValue,
      y1Out,
      mxscale1Out,
      y2Out,
      mxscale2Out};
  Check check(kOp);
  check.required("x", x).required("yGrad", yGrad);
  check.optional("groupIndexOptional", groupIndexOptional).required("y1Out", y1Out);
  check.required("mxscale1Out", mxscale1Out).required("y2Out", y2Out);
  check.required("mxscale2Out", mxscale2Out);
  if (const Status s = check_chip(check, kRuntimeError)) return s;
  Halves halves{0, 0, false, activateLeft};
  const MxFormat format = check_gradient_format(check, a, &halves);
  if (check.ok()) check_gradient_results(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp, KernelTime::linear);
  const size_t input = plan.input(x), incoming = plan.input(yGrad),
               groups = plan.input(groupIndexOptional), y1 = plan.output(y1Out),
               scale1 = plan.output(mxscale1Out), y2 = plan.output(y2Out),
               scale2 = plan.output(mxscale2Out);
  const Layout values = layout_of(*x);
  MxPlan along = mx_plan(values, values.rank - 1, kMxBlock);
  const MxPlan across = mx_plan(values, values.rank - 2, kMxBlock);
  const int64_t pairs = mxscale2Out->shape[0];
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<MxStep> steps;
        MxPlan rows = along;
        if (c.has(groups)) {
          const Status s = read_group_steps(kOp, "groupIndexOptional", c.tensor(groups),
                                            across.length, kPair, &steps, &rows.outer);
          if (s != 0) return s;
        }
        const std::vector<float> slopes =
            gradient_of(view_of(c.tensor(incoming)), view_of(c.tensor(input)), halves);
        const auto load = [&](int64_t start, int64_t count, float *to) {
          std::copy_n(slopes.data() + start, count, to);
        };
        mx_quantise(rows, format, LowCodes(c.tensor(y1)), LowCodes(c.tensor(scale1)), load);
        const LowCodes scales(c.tensor(scale2)), codes(c.tensor(y2));
        if (c.has(groups)) {
          clear_unused_pairs(across, steps, pairs, scales);
          mx_quantise(across, steps, pairs, format, codes, scales, load);
        } else {
          mx_quantise(across, format, codes, scales, load);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
