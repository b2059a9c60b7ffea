// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Quantisation with given scales, and the way back.
#include "ops/quant/static_quant.h"

#include <cstring>

#include "aclnnop/quant.h"
#include "ops/shared/quantised.h"

namespace emu {

Check &check_along(Check &check, const char *parameter, const aclTensor *factor,
                   const Layout &values, int axis, const char *values_name) {
  if (!check.ok() || factor == nullptr) return check;
  const Layout given = layout_of(*factor);
  const int64_t extent = values.rank > 0 ? values.shape[axis] : 1;
  bool fits = given.rank == 1 || given.rank == values.rank;
  const int along = given.rank == 1 ? 0 : axis;
  for (int d = 0; fits && d < given.rank; ++d)
    fits = given.shape[d] == 1 || (d == along && given.shape[d] == extent);
  return check.that(
      fits,
      "%s has shape %s; allowed: (1,) or (%lld,), the extent of dimension %d of %s, or "
      "the same with the rank of %s and 1 in all other dimensions",
      parameter, shape_text(given).c_str(), static_cast<long long>(extent), axis, values_name,
      values_name);
}

View spread_along(const aclTensor &factor, const Layout &values, int axis) {
  return spread_view(view_of(factor), values, axis);
}

View spread_view(View view, const Layout &values, int axis) {
  const Layout given = view.layout;
  view.layout = values;
  for (int d = 0; d < values.rank; ++d) {
    const int source = given.rank == 1 ? 0 : d;
    const bool runs = d == axis && given.count() != 1 && given.shape[source] != 1;
    view.layout.stride[d] = runs ? given.stride[source] : 0;
  }
  return view;
}

namespace {

bool rounding_of(const char *mode, Rounding *rounding) {
  const std::pair<const char *, Rounding> known[] = {{"round", Rounding::kNearestEven},
                                                     {"ceil", Rounding::kCeil},
                                                     {"floor", Rounding::kFloor},
                                                     {"trunc", Rounding::kTrunc}};
  for (const auto &[name, meaning] : known) {
    if (std::strcmp(mode, name) == 0) {
      *rounding = meaning;
      return true;
    }
  }
  return false;
}

struct AscendQuantArguments {
  const char *op;
  const aclTensor *x, *scale, *offset;
  bool square;
  const char *mode;
  int32_t dst_type;
  int64_t axis;
  bool own_dtype;  // the scale has the dtype of x, whatever that is
  const aclTensor *y;
};

Status plan_ascend_quant(const AscendQuantArguments &a, uint64_t *workspace_size,
                         aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("scale", a.scale).optional("offsetOptional", a.offset);
  check.required_text("roundMode", a.mode).required("y", a.y);
  check.dtype("x", a.x).dtype("y", a.y);
  check.dtype("scale", a.scale).dtype("offsetOptional", a.offset);
  check.plain_format("x", a.x).plain_format("scale", a.scale).plain_format("y", a.y);
  check.rank("x", a.x, 1, 8);
  if (!check.ok()) return check.status();
  if (a.own_dtype || a.x->dtype != ACL_FLOAT)
    check.same_dtype("scale", a.scale->dtype, "x", a.x->dtype);
  if (a.offset) check.same_dtype("offsetOptional", a.offset->dtype, "scale", a.scale->dtype);
  check_dst_type(check, "dstType", a.dst_type, "y", a.y);
  Rounding rounding = Rounding::kNearestEven;
  check.that(rounding_of(a.mode, &rounding),
             "roundMode is \"%.40s\"; allowed: \"round\", \"ceil\", \"floor\", \"trunc\"", a.mode);
  check.that(rounding == Rounding::kNearestEven ||
                 !contains(dt::kFloat8 | dtype_set(ACL_HIFLOAT8), a.y->dtype),
             "roundMode is \"%.40s\"; y has dtype %s, which allows \"round\" only", a.mode,
             dtype_name(a.y->dtype));
  const Layout values = layout_of(*a.x);
  int axis = 0;
  check.that(wrap_dim(a.axis, values.rank, &axis) && axis >= values.rank - 2,
             "axis is %lld; allowed: one of the last two dimensions of x, which has %d",
             static_cast<long long>(a.axis), values.rank);
  check_along(check, "scale", a.scale, values, axis, "x");
  if (check.ok() && a.offset) check.shape("offsetOptional", a.offset, layout_of(*a.scale));
  check_packing(check, "y", a.y, values, "x");
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), scale = plan.input(a.scale), offset = plan.input(a.offset);
  const size_t output = plan.output(a.y);
  const bool square = a.square;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const aclTensor &y = c.tensor(output);
        const View from = view_of(c.tensor(input));
        const RowSource<float> values_from(operands.safe(from, {shared_view(y)}));
        const bool shifted = c.has(offset);
        const RowSource<float> scales(spread_along(c.tensor(scale), from.layout, axis));
        const RowSource<float> offsets(
            spread_along(c.tensor(shifted ? offset : scale), from.layout, axis));
        const QuantTarget to(y, rounding);
        const int64_t total = from.count(), blocks = (total + kBlock - 1) / kBlock;
        parallel_for(blocks, 16, [&](int64_t begin, int64_t end) {
          float x[kBlock], factor[kBlock], shift[kBlock] = {};
          for (int64_t block = begin; block < end; ++block) {
            const int64_t start = block * kBlock, n = std::min(kBlock, total - start);
            values_from.read(start, n, x);
            scales.read(start, n, factor);
            if (shifted) offsets.read(start, n, shift);
            for (int64_t i = 0; i < n; ++i) {
              const float once = x[i] * factor[i];
              x[i] = (square ? once * factor[i] : once) + shift[i];
            }
            to.write(start, n, x);
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AscendQuant,
             (const aclTensor *x, const aclTensor *scale, const aclTensor *offsetOptional,
              bool sqrtMode, const char *roundMode, int32_t dstType, aclTensor *y)) {
  return emu::plan_ascend_quant(
      {"aclnnAscendQuant", x, scale, offsetOptional, sqrtMode, roundMode, dstType, -1, false, y},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AscendQuantV3,
             (const aclTensor *x, const aclTensor *scale, const aclTensor *offsetOptional,
              bool sqrtMode, const char *roundMode, int32_t dstType, int32_t axis, aclTensor *y)) {
  return emu::plan_ascend_quant(
      {"aclnnAscendQuantV3", x, scale, offsetOptional, sqrtMode, roundMode, dstType, axis, true, y},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(AscendAntiQuant,
             (const aclTensor *x, const aclTensor *scale, const aclTensor *offsetOptional,
              int64_t dstType, bool sqrtMode, aclTensor *y)) {
  using namespace emu;
  constexpr const char *op = "aclnnAscendAntiQuant";
  Check check(op);
  check.required("x", x)
      .required("scale", scale)
      .optional("offsetOptional", offsetOptional)
      .required("y", y);
  check.dtype("x", x).dtype("y", y);
  check.dtype("scale", scale).dtype("offsetOptional", offsetOptional);
  check.plain_format("x", x).plain_format("y", y).rank("y", y, 0, 8);
  check.rank("scale", scale, 1, 1).rank("offsetOptional", offsetOptional, 1, 1);
  if (!check.ok()) return check.status();
  if (offsetOptional)
    check.same_dtype("offsetOptional", offsetOptional->dtype, "scale", scale->dtype);
  check_dst_type(check, "dstType", dstType, "y", y);
  const Layout values = layout_of(*y);
  const int axis = std::max(values.rank - 1, 0);
  check_packing(check, "x", x, values, "y");
  check_along(check, "scale", scale, values, axis, "y");
  if (check.ok() && offsetOptional)
    check.shape("offsetOptional", offsetOptional, layout_of(*scale));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t input = plan.input(x), factors = plan.input(scale),
               shifts = plan.input(offsetOptional);
  const size_t output = plan.output(y);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(output));
        const bool shifted = c.has(shifts);
        const RowSource<float> scales(spread_along(c.tensor(factors), result.layout, axis));
        const RowSource<float> offsets(
            spread_along(c.tensor(shifted ? shifts : factors), result.layout, axis));
        const QuantSource from(c.tensor(input));
        const RowTarget<float> to(result);
        const int64_t total = result.count(), blocks = (total + kBlock - 1) / kBlock;
        parallel_for(blocks, 16, [&](int64_t begin, int64_t end) {
          float values[kBlock], factor[kBlock], shift[kBlock] = {};
          for (int64_t block = begin; block < end; ++block) {
            const int64_t start = block * kBlock, n = std::min(kBlock, total - start);
            from.read(start, n, values);
            scales.read(start, n, factor);
            if (shifted) offsets.read(start, n, shift);
            for (int64_t i = 0; i < n; ++i) {
              const float once = (values[i] + shift[i]) * factor[i];
              values[i] = sqrtMode ? once * factor[i] : once;
            }
            to.write(start, n, values);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
