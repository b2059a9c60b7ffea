// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Quantisation of matrices in blocks of rows by columns, each with a scale in FLOAT.
#include <cstring>
#include <limits>

#include "aclnnop/quant.h"
#include "core/chip.h"
#include "core/statuses.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

struct BlockArguments {
  const char *op;
  const aclTensor *x, *groups;
  double least;  // minScale
  const char *rounding;
  int64_t dtype, rows, columns, list_type;
  double limit;
  const aclTensor *y, *scale;
  bool grouped, second;  // second: the version with dstTypeMax
};

float largest_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8: return 127.0f;
    case ACL_FLOAT8_E5M2: return kLargestE5m2;
    case ACL_FLOAT8_E4M3FN: return kLargestE4m3;
    default: return kLargestHifloat8;
  }
}

void check_block_rounding(Check &check, const BlockArguments &a) {
  const char *text = a.rounding == nullptr ? "rint" : a.rounding;
  const bool away = a.y->dtype == ACL_HIFLOAT8;
  check.that(
      !away || !a.grouped || std::strcmp(text, "hybrid") != 0,
      "roundModeOptional is \"hybrid\", which rounds at random in a way the documents do not "
      "define; the emulator has \"round\"");
  check.that(std::strcmp(text, away ? "round" : "rint") == 0,
             "roundModeOptional is \"%.40s\"; allowed for %s: %s", text, dtype_name(a.y->dtype),
             away ? "\"round\"" : "\"rint\"");
}

void check_block_sizes(Check &check, const BlockArguments &a) {
  const int64_t r = a.rows, k = a.columns;
  if (!chip_is_950()) {
    check.that(r == 1, "rowBlockSize is %lld; allowed on this chip: 1", static_cast<long long>(r));
    check.that(k == 128 || (k == 1 && a.second), "colBlockSize is %lld; allowed on this chip: %s",
               static_cast<long long>(k), a.second ? "1, 128" : "128");
    return;
  }
  const bool narrow = !a.grouped && !a.second;
  check.that(r == 1 || r == 128 || r == 256 || r == 512 || (r == 64 && narrow),
             "rowBlockSize is %lld; allowed: 1, %s128, 256, 512", static_cast<long long>(r),
             narrow ? "64, " : "");
  check.that(k == 64 || k == 128 || k == 192 || k == 256,
             "colBlockSize is %lld; allowed: 64, 128, 192, 256", static_cast<long long>(k));
}

void check_block_limit(Check &check, const BlockArguments &a) {
  const double limit = a.limit;
  check.that(limit == 0.0 || a.y->dtype == ACL_HIFLOAT8,
             "dstTypeMax is %g; anything but 0 needs yOut of HIFLOAT8", limit);
  const bool listed =
      limit == 0.0 || limit == 15.0 || limit == 56.0 || limit == 224.0 || limit == 32768.0;
  check.that(a.grouped ? limit >= 0.0 && limit <= 32768.0 : listed, "dstTypeMax is %g; allowed: %s",
             limit, a.grouped ? "0 to 32768" : "0, 15, 56, 224, 32768");
}

Check check_block_quant(const BlockArguments &a) {
  Check check(a.op);
  check.dtype("x", a.x, chip_is_950() ? 0 : dtype_set(ACL_FLOAT));
  check.dtype("groupList", a.groups).dtype("yOut", a.y).dtype("scaleOut", a.scale);
  check.rank("x", a.x, 2, 3).rank("groupList", a.groups, 1, 1).plain_format("x", a.x);
  if (!check.ok()) return check;
  check_dst_type(check, "dstType", a.dtype, "yOut", a.y);
  check.that(a.least >= 0.0, "minScale is %g; it must not be negative", a.least);
  check_block_rounding(check, a);
  check_block_sizes(check, a);
  check_block_limit(check, a);
  check.that(a.list_type == 0, "groupListType is %lld; allowed: 0 (ends of groups)",
             static_cast<long long>(a.list_type));
  Layout scales = layout_of(*a.x);
  if (!check.ok()) return check;
  check.that(a.grouped || a.x->numel() > 0, "x has shape %s; it must not be empty",
             shape_text(scales).c_str());
  check.that(!a.grouped || a.groups->numel() > 0, "groupList has no groups; it needs at least one");
  check.shape("yOut", a.y, scales);
  int64_t &rows = scales.shape[scales.rank - 2], &columns = scales.shape[scales.rank - 1];
  rows = rows / a.rows + (a.grouped ? a.groups->numel() : rows % a.rows != 0);
  columns = columns / a.columns + (columns % a.columns != 0);
  return check.shape("scaleOut", a.scale, scales);
}

Status plan_block_quant(const BlockArguments &a, uint64_t *workspace_size,
                        aclOpExecutor **executor) {
  Check given(a.op);
  given.required("x", a.x);
  if (a.grouped) given.required("groupList", a.groups);
  given.required("yOut", a.y).required("scaleOut", a.scale);
  if (!given.ok()) return given.status();
  if (a.grouped) {
    if (const Status s = check_chip(given, kNoKernel)) return s;
  }
  const Check check = check_block_quant(a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t input = plan.input(a.x), groups = plan.input_if(a.groups);
  const size_t y = plan.output(a.y), scale = plan.output(a.scale);
  const Layout values = layout_of(*a.x), scale_values = layout_of(*a.scale);
  const bool empty = values.count() == 0, grouped = a.grouped;
  const int64_t matrices = values.rank == 3 ? values.shape[0] : 1;
  const int64_t rows = values.shape[values.rank - 2], columns = values.shape[values.rank - 1];
  const int64_t scale_rows = scale_values.shape[values.rank - 2];
  const int64_t scale_columns = scale_values.shape[values.rank - 1];
  const int64_t tall = a.rows, wide = a.columns;
  const float largest = a.limit == 0.0 ? largest_of(a.y->dtype) : static_cast<float>(a.limit);
  const auto least = static_cast<float>(a.least);
  const float highest = least > 0.0f ? 1.0f / least : std::numeric_limits<float>::infinity();
  const char *op = a.op;
  return plan.finish(
      [=](PlanContext &c) {
        if (empty) return Status{0};
        std::vector<MxStep> steps;
        int64_t end = rows;
        if (grouped) {
          const Status s =
              read_group_steps(op, "groupList", c.tensor(groups), rows, tall, &steps, &end);
          if (s != 0) return s;
        } else {
          add_mx_steps(0, rows, 0, tall, &steps);
        }
        Operands operands;
        const View scale_view = view_of(c.tensor(scale));
        const LowCodes to(c.tensor(y));
        const RowSource<float> from(
            operands.safe(view_of(c.tensor(input)), {code_view(c.tensor(y)), scale_view}));
        const RowTarget<float> scale_to(scale_view);
        const EncodeFn encode = encoder(c.tensor(y).dtype, LowRounding::kRint);
        if (grouped) {
          const float zero = 0.0f;
          fill_view(scale_view, &zero);
        }
        const int64_t each = static_cast<int64_t>(steps.size()) * scale_columns;
        const int64_t grain = std::max<int64_t>(1, 8192 / (tall * wide));
        parallel_for(matrices * each, grain, [&](int64_t begin, int64_t stop) {
          std::vector<float> line(static_cast<size_t>(std::min(tall, rows) * wide));
          std::vector<uint8_t> codes(static_cast<size_t>(wide));
          for (int64_t task = begin; task < stop; ++task) {
            const int64_t matrix = task / each, column = task % scale_columns;
            const MxStep &step = steps[static_cast<size_t>(task % each / scale_columns)];
            const int64_t n = std::min(wide, columns - column * wide);
            const int64_t start = (matrix * rows + step.row) * columns + column * wide;
            float most = 0.0f;
            for (int64_t r = 0; r < step.rows; ++r) {
              float *values_of_row = line.data() + r * n;
              from.read(start + r * columns, n, values_of_row);
              for (int64_t i = 0; i < n; ++i) {
                const float size = std::fabs(values_of_row[i]);
                most = size > most ? size : most;
              }
            }
            const float quotient = most / largest;
            const float found = quotient < highest ? quotient : highest;
            scale_to.write((matrix * scale_rows + step.pair) * scale_columns + column, 1, &found);
            // A block of zeros stays zeros.
            const float divisor = found == 0.0f ? 1.0f : found;
            for (int64_t r = 0; r < step.rows; ++r) {
              float *values_of_row = line.data() + r * n;
              for (int64_t i = 0; i < n; ++i) values_of_row[i] /= divisor;
              encode(values_of_row, n, 1.0f, codes.data());
              to.write(start + r * columns, n, codes.data());
            }
          }
        });
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(DynamicBlockQuant,
             (const aclTensor *x, double minScale, const char *roundModeOptional, int64_t dstType,
              int64_t rowBlockSize, int64_t colBlockSize, aclTensor *yOut, aclTensor *scaleOut)) {
  return emu::plan_block_quant(
      {"aclnnDynamicBlockQuant", x, nullptr, minScale, roundModeOptional, dstType, rowBlockSize,
       colBlockSize, 0, 0.0, yOut, scaleOut, false, false},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(DynamicBlockQuantV2,
             (const aclTensor *x, double minScale, const char *roundModeOptional, int64_t dstType,
              int64_t rowBlockSize, int64_t colBlockSize, double dstTypeMax, aclTensor *yOut,
              aclTensor *scaleOut)) {
  return emu::plan_block_quant(
      {"aclnnDynamicBlockQuantV2", x, nullptr, minScale, roundModeOptional, dstType, rowBlockSize,
       colBlockSize, 0, dstTypeMax, yOut, scaleOut, false, true},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedDynamicBlockQuant,
             (const aclTensor *x, const aclTensor *groupList, double minScale,
              const char *roundModeOptional, int64_t dstType, int64_t rowBlockSize,
              int64_t colBlockSize, int64_t groupListType, aclTensor *yOut, aclTensor *scaleOut)) {
  return emu::plan_block_quant(
      {"aclnnGroupedDynamicBlockQuant", x, groupList, minScale, roundModeOptional, dstType,
       rowBlockSize, colBlockSize, groupListType, 0.0, yOut, scaleOut, true, false},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(GroupedDynamicBlockQuantV2,
             (const aclTensor *x, const aclTensor *groupList, double minScale,
              const char *roundModeOptional, int64_t dstType, int64_t rowBlockSize,
              int64_t colBlockSize, int64_t groupListType, double dstTypeMax, aclTensor *yOut,
              aclTensor *scaleOut)) {
  return emu::plan_block_quant(
      {"aclnnGroupedDynamicBlockQuantV2", x, groupList, minScale, roundModeOptional, dstType,
       rowBlockSize, colBlockSize, groupListType, dstTypeMax, yOut, scaleOut, true, true},
      workspaceSize, executor);
}
EMU_CATCH
