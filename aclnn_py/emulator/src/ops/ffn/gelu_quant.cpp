// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// GeluQuant, which chips of the 950 series have: rows are activated and quantised.
#include <cstring>

#include "aclnnop/activation.h"
#include "core/statuses.h"
#include "ops/float_kernels.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/low_codes.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

struct GeluQuantArguments {
  const aclTensor *x, *scale, *offset;
  const char *approximate, *mode, *rounding;
  int64_t dtype;
  const aclTensor *y, *out_scale;
};

bool one_of(const char *given, std::initializer_list<const char *> names) {
  return std::any_of(names.begin(), names.end(),
                     [&](const char *name) { return std::strcmp(given, name) == 0; });
}

Check check_gelu_quant(const GeluQuantArguments &a, bool dynamic) {
  Check check("aclnnGeluQuant");
  check.dtype("self", a.x).dtype("inputScaleOptional", a.scale);
  check.dtype("inputOffsetOptional", a.offset).dtype("y", a.y);
  check.dtype("outScaleOptional", a.out_scale);
  check.that(one_of(a.approximate, {"none", "tanh"}),
             "approximate is \"%.40s\"; allowed: \"none\", \"tanh\"", a.approximate);
  check.that(dynamic || one_of(a.mode, {"static"}),
             "quantMode is \"%.40s\"; allowed: \"static\", \"dynamic\"", a.mode);
  check_dst_type(check, "dstType", a.dtype, "y", a.y);
  if (!check.ok()) return check;
  const char *wanted = a.y->dtype == ACL_HIFLOAT8 ? "round" : "rint";
  check.that(one_of(a.rounding, {wanted}), "roundMode is \"%.40s\"; with y of %s it must be \"%s\"",
             a.rounding, dtype_name(a.y->dtype), wanted);
  check.rank("self", a.x, dynamic ? 2 : 1, 8);
  if (!check.ok()) return check;
  const Layout whole = layout_of(*a.x);
  const int64_t width = whole.shape[whole.rank - 1];
  check.that(a.x->numel() > 0, "self is empty, which is not supported");
  check.shape("y", a.y, whole);
  for (const aclTensor *factor : {a.scale, a.offset}) {
    if (factor == nullptr) continue;
    check.that(factor->rank() == 1 && (factor->shape[0] == 1 || factor->shape[0] == width),
               "%s has shape %s; allowed: (1,) or (%lld,)",
               factor == a.scale ? "inputScaleOptional" : "inputOffsetOptional",
               shape_text(layout_of(*factor)).c_str(), static_cast<long long>(width));
    check.that(factor->dtype == a.x->dtype || factor->dtype == ACL_FLOAT,
               "%s has dtype %s; it must be that of self, %s, or FLOAT",
               factor == a.scale ? "inputScaleOptional" : "inputOffsetOptional",
               dtype_name(factor->dtype), dtype_name(a.x->dtype));
  }
  if (check.ok() && a.offset) {
    check.that(a.scale != nullptr, "inputOffsetOptional is given without inputScaleOptional");
    if (check.ok()) {
      check.same_dtype("inputOffsetOptional", a.offset->dtype, "inputScaleOptional",
                       a.scale->dtype);
      check.shape("inputOffsetOptional", a.offset, layout_of(*a.scale));
    }
  }
  if (dynamic)
    return check.shape("outScaleOptional", a.out_scale, dense_layout(whole.shape, whole.rank - 1));
  return check.that(a.out_scale == nullptr,
                    "outScaleOptional is given; static quantisation has none");
}

// The largest number of the dtype of y.
QuantRange gelu_range(aclDataType dtype) {
  if (dtype == ACL_HIFLOAT8) return {-kLargestHifloat8, kLargestHifloat8};
  return quant_range(dtype);
}

Status plan_gelu_quant(const GeluQuantArguments &a, uint64_t *workspace_size,
                       aclOpExecutor **executor) {
  Check given("aclnnGeluQuant");
  given.required("self", a.x).required_text("approximate", a.approximate);
  given.required_text("quantMode", a.mode).required_text("roundMode", a.rounding);
  given.required("y", a.y);
  if (!given.ok()) return given.status();
  const bool dynamic = std::strcmp(a.mode, "dynamic") == 0;
  if (dynamic) given.required("outScaleOptional", a.out_scale);
  if (given.ok() && std::strcmp(a.mode, "static") == 0)
    given.required("inputScaleOptional", a.scale);
  given.optional("inputScaleOptional", a.scale).optional("inputOffsetOptional", a.offset);
  given.optional("outScaleOptional", a.out_scale);
  if (const Status s = check_chip(given, kRuntimeError)) return s;
  const Check check = check_gelu_quant(a, dynamic);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t input = plan.input(a.x), scale = plan.input(a.scale);
  // The formula of dynamic quantisation has no offset.
  const size_t offset = dynamic ? plan.unused(a.offset) : plan.input(a.offset);
  const size_t y = plan.output(a.y), out_scale = plan.output(a.out_scale);
  const float form = std::strcmp(a.approximate, "tanh") == 0 ? 1.0f : 0.0f;
  const int64_t width = a.x->shape[a.x->rank() - 1], rows = a.x->numel() / width;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const bool hifloat = result.dtype == ACL_HIFLOAT8;
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)), {code_view(result)}));
        const auto values = [&](size_t index) {
          return read_all<float>(c, index, c.has(index) ? c.tensor(index).numel() : 0, 0.0f);
        };
        const std::vector<float> factors = values(scale), shifts = values(offset);
        const size_t step = factors.size() == 1 ? 0 : 1;
        const QuantRange range = gelu_range(result.dtype);
        std::optional<QuantTarget> to;
        std::optional<LowCodes> codes;
        if (hifloat) codes.emplace(result);
        else to.emplace(result);
        const EncodeFn encode = hifloat ? encoder(ACL_HIFLOAT8, LowRounding::kRound) : nullptr;
        std::optional<RowTarget<float>> scale_to;
        if (dynamic) scale_to.emplace(view_of(c.tensor(out_scale)));
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          from.read(row * width, width, x);
          float_kernel_fn(FloatKernel::gelu_form)(x, width, &form, x);
          for (int64_t i = 0; i < width && !factors.empty(); ++i)
            x[i] *= factors[step * static_cast<size_t>(i)];
          for (int64_t i = 0; i < width && !shifts.empty(); ++i)
            x[i] += shifts[step * static_cast<size_t>(i)];
          if (dynamic) {
            const RowScale found = scale_symmetric(x, width, range);
            scale_to->write(row, 1, &found.scale);
          }
          if (!hifloat) return to->write(row * width, width, x);
          std::vector<uint8_t> bytes(static_cast<size_t>(width));
          encode(x, width, 1.0f, bytes.data());
          codes->write(row * width, width, bytes.data());
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GeluQuant,
             (const aclTensor *self, const aclTensor *inputScaleOptional,
              const aclTensor *inputOffsetOptional, const char *approximate, const char *quantMode,
              const char *roundMode, int64_t dstType, aclTensor *y, aclTensor *outScaleOptional)) {
  return emu::plan_gelu_quant({self, inputScaleOptional, inputOffsetOptional, approximate,
                               quantMode, roundMode, dstType, y, outScaleOptional},
                              workspaceSize, executor);
}
EMU_CATCH
