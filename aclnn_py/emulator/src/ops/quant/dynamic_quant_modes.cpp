// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Dynamic quantisation with a scale for each row, each column of a matrix, or the whole tensor. For
// chips of the 950 series.
#include <cstring>

#include "aclnnop/quant.h"
#include "core/statuses.h"
#include "ops/quant/row_groups.h"
#include "ops/shared/dynamic.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr int64_t kMostGroups = 1024;

enum class Span : uint8_t { kRow, kColumn, kTensor };

struct ModeArguments {
  const char *op;
  const aclTensor *x, *smooth, *groups;
  int64_t dst_type;
  bool symmetric;
  const char *mode;
  float limit;  // of HIFLOAT8; 0: that of the dtype
  const aclTensor *y, *scale, *offset;
};

Span span_of(Check &check, const char *mode) {
  if (mode == nullptr || std::strcmp(mode, "pertoken") == 0) return Span::kRow;
  if (std::strcmp(mode, "perchannel") == 0) return Span::kColumn;
  check.that(std::strcmp(mode, "pertensor") == 0,
             "quantModeOptional is \"%.40s\"; allowed: \"pertoken\", \"pertensor\", \"perchannel\"",
             mode);
  return Span::kTensor;
}

Status check_modes(const ModeArguments &a, Span *span) {
  Check check(a.op);
  check.required("x", a.x).optional("smoothScalesOptional", a.smooth);
  check.optional("groupIndexOptional", a.groups);
  check.required("yOut", a.y).required("scaleOut", a.scale);
  if (a.symmetric) check.optional("offsetOutOptional", a.offset);
  else check.required("offsetOutOptional", a.offset);
  if (const Status s = check_chip(check, kInvalid)) return s;
  check.dtype("x", a.x).dtype("smoothScalesOptional", a.smooth);
  check.dtype("groupIndexOptional", a.groups).dtype("yOut", a.y).dtype("scaleOut", a.scale);
  check.dtype("offsetOutOptional", a.offset);
  check.plain_format("x", a.x).plain_format("yOut", a.y).rank("x", a.x, 2, 8);
  if (!check.ok()) return check.status();
  check_dst_type(check, "dstType", a.dst_type, "yOut", a.y);
  *span = span_of(check, a.mode);
  check.that(!a.symmetric || a.offset == nullptr,
             "offsetOutOptional is given; with isSymmetrical it must be null");
  check.that(a.limit >= 0 && a.limit <= kLargestHifloat8, "dstTypeMax is %g; allowed: 0 to %g",
             static_cast<double>(a.limit), static_cast<double>(kLargestHifloat8));
  const Layout whole = layout_of(*a.x);
  const int64_t width = whole.shape[whole.rank - 1], height = whole.shape[whole.rank - 2], one = 1;
  const int64_t smoothed = *span == Span::kColumn ? height : width;
  if (a.smooth) check.same_dtype("smoothScalesOptional", a.smooth->dtype, "x", a.x->dtype);
  if (a.groups) {
    check.that(*span == Span::kRow,
               "groupIndexOptional is given; quantModeOptional must be \"pertoken\"");
    check.that(a.smooth != nullptr,
               "groupIndexOptional is given; then smoothScalesOptional must be given too");
    check.rank("groupIndexOptional", a.groups, 1, 1);
    if (!check.ok()) return check.status();
    const int64_t count = a.groups->shape[0], expected[] = {count, width};
    check.that(count <= kMostGroups, "groupIndexOptional has %lld groups; allowed: at most %lld",
               static_cast<long long>(count), static_cast<long long>(kMostGroups));
    check.shape("smoothScalesOptional", a.smooth, dense_layout(expected, 2));
  } else {
    check.shape("smoothScalesOptional", a.smooth, dense_layout(&smoothed, 1));
  }
  check_packing(check, "yOut", a.y, whole, "x");
  Layout found = dense_layout(whole.shape, whole.rank - 1);
  if (*span == Span::kTensor) found = dense_layout(&one, 1);
  if (*span == Span::kColumn) found.shape[found.rank - 1] = width;
  check.shape("scaleOut", a.scale, found).shape("offsetOutOptional", a.offset, found);
  return check.status();
}

// The smallest and the largest of some values; NaN counts for nothing.
struct Bounds {
  float least = std::numeric_limits<float>::infinity();
  float most = -std::numeric_limits<float>::infinity();

  void take(float value) {
    least = value < least ? value : least;
    most = value > most ? value : most;
  }
  void take(const Bounds &other) {
    take(other.least);
    take(other.most);
  }
  RowScale scale(bool symmetric, const QuantRange &range) const {
    if (least > most) return {0.0f, 0.0f};
    if (symmetric) return {std::max(std::fabs(least), std::fabs(most)) / range.highest, 0.0f};
    const float found = (most - least) / (range.highest - range.lowest);
    return {found, range.highest - most / found};
  }
};

float scaled(float value, const RowScale &by, bool symmetric) {
  if (by.scale == 0.0f) return symmetric ? value : 0.0f;
  return value / by.scale + by.offset;
}

Status plan_modes(const ModeArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Span span = Span::kRow;
  if (const Status s = check_modes(a, &span)) return s;
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), smooth = plan.input(a.smooth);
  const size_t groups = plan.input(a.groups), y = plan.output(a.y), scale = plan.output(a.scale);
  const size_t offset = plan.output(a.offset);
  const char *op = a.op;
  const bool grouped = a.groups != nullptr, symmetric = a.symmetric;
  const int64_t width = a.x->shape.back(), total = a.x->numel();
  const int64_t rows = width == 0 ? 0 : total / width, height = a.x->shape[a.x->rank() - 2];
  QuantRange range = quant_range(a.y->dtype);
  if (a.y->dtype == ACL_HIFLOAT8 && a.limit > 0) range = {-a.limit, a.limit};
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<int64_t> group_of(static_cast<size_t>(rows), 0);
        if (grouped) {
          const Status s =
              read_row_groups(op, "groupIndexOptional", c.tensor(groups), true, rows, &group_of);
          if (s != 0) return s;
        }
        Operands operands;
        const aclTensor &result = c.tensor(y);
        const View scale_view = view_of(c.tensor(scale)),
                   offset_view = symmetric ? View() : view_of(c.tensor(offset));
        const RowSource<float> from(operands.safe(view_of(c.tensor(input)),
                                                  {shared_view(result), scale_view, offset_view}));
        const QuantTarget to(result);
        const bool smoothed = c.has(smooth);
        const auto factors =
            read_all<float>(c, smooth, smoothed ? c.tensor(smooth).numel() : 0, 1.0f);
        const auto load = [&](int64_t row, float *x) {
          from.read(row * width, width, x);
          if (!smoothed) return;
          if (span == Span::kColumn) {
            for (int64_t i = 0; i < width; ++i) x[i] *= factors[static_cast<size_t>(row % height)];
          } else {
            const float *factor = factors.data() + group_of[static_cast<size_t>(row)] * width;
            for (int64_t i = 0; i < width; ++i) x[i] *= factor[i];
          }
        };
        const auto keep = [&](int64_t at, const RowScale &found) {
          RowTarget<float>(scale_view).write(at, 1, &found.scale);
          if (!symmetric) RowTarget<float>(offset_view).write(at, 1, &found.offset);
        };
        const auto store = [&](int64_t row, float *x, const RowScale &by) {
          for (int64_t i = 0; i < width; ++i) x[i] = scaled(x[i], by, symmetric);
          to.write(row * width, width, x);
        };
        if (span == Span::kColumn) {
          const int64_t matrices = height == 0 ? 0 : rows / height;
          for_each_row<float>(matrices, height * width, 1, [&](int64_t matrix, float *x) {
            std::vector<Bounds> bounds(static_cast<size_t>(width));
            for (int64_t r = 0; r < height; ++r) {
              load(matrix * height + r, x + r * width);
              for (int64_t i = 0; i < width; ++i)
                bounds[static_cast<size_t>(i)].take(x[r * width + i]);
            }
            for (int64_t i = 0; i < width; ++i) {
              const RowScale found = bounds[static_cast<size_t>(i)].scale(symmetric, range);
              keep(matrix * width + i, found);
              for (int64_t r = 0; r < height; ++r)
                x[r * width + i] = scaled(x[r * width + i], found, symmetric);
            }
            to.write(matrix * height * width, height * width, x);
          });
          return Status{0};
        }
        std::vector<Bounds> bounds(static_cast<size_t>(rows));
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          if (group_of[static_cast<size_t>(row)] < 0) return;
          load(row, x);
          Bounds &own = bounds[static_cast<size_t>(row)];
          for (int64_t i = 0; i < width; ++i) own.take(x[i]);
          if (span != Span::kRow) return;
          const RowScale found = own.scale(symmetric, range);
          store(row, x, found);
          keep(row, found);
        });
        if (span == Span::kRow) return Status{0};
        Bounds all;
        for (const Bounds &row : bounds) all.take(row);
        const RowScale found = all.scale(symmetric, range);
        for_each_row<float>(rows, width, 1, [&](int64_t row, float *x) {
          load(row, x);
          store(row, x, found);
        });
        keep(0, found);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicQuantV3, (const aclTensor *x, const aclTensor *smoothScalesOptional,
                              const aclTensor *groupIndexOptional, int64_t dstType,
                              bool isSymmetrical, const char *quantModeOptional, aclTensor *yOut,
                              aclTensor *scaleOut, aclTensor *offsetOutOptional)) {
  return emu::plan_modes(
      {"aclnnDynamicQuantV3", x, smoothScalesOptional, groupIndexOptional, dstType, isSymmetrical,
       quantModeOptional, 0.0f, yOut, scaleOut, offsetOutOptional},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DynamicQuantV4, (const aclTensor *x, const aclTensor *smoothScalesOptional,
                              const aclTensor *groupIndexOptional, int64_t dstType,
                              bool isSymmetrical, const char *quantModeOptional, float dstTypeMax,
                              aclTensor *yOut, aclTensor *scaleOut, aclTensor *offsetOutOptional)) {
  return emu::plan_modes(
      {"aclnnDynamicQuantV4", x, smoothScalesOptional, groupIndexOptional, dstType, isSymmetrical,
       quantModeOptional, dstTypeMax, yOut, scaleOut, offsetOutOptional},
      workspaceSize, executor);
}
EMU_CATCH
