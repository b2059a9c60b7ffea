// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Rows rotated piece by piece with one small matrix, then quantised with a scale of their own.
#include <cmath>
#include <cstring>

#include "aclnnop/matmul.h"
#include "core/chip.h"
#include "ops/matmul/gemm.h"
#include "ops/quant/rotate_quant.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

constexpr int64_t kFewestColumns = 128, kMostColumns = 16000, kSmallest = 16, kLargest = 1024;

bool known_mode(const char *mode) {
  return mode == nullptr || std::strcmp(mode, "rint") == 0 || std::strcmp(mode, "round") == 0 ||
         std::strcmp(mode, "floor") == 0;
}

Check check_rotation(const RotateArguments &a) {
  Check check(kRotateQuant);
  check.required("x", a.x).required("rotation", a.rotation).optional("alphaOptional", a.alpha);
  check.required("yOut", a.y).required("scaleOut", a.scale);
  check.dtype("x", a.x).dtype("rotation", a.rotation).dtype("yOut", a.y);
  check.dtype("scaleOut", a.scale);
  if (!check.ok()) return check;
  check.dtype_in("yOut", a.y->dtype, dtype_set(ACL_INT8, ACL_INT32));
  check.dtype_in("scaleOut", a.scale->dtype, dtype_set(ACL_FLOAT));
  check.same_dtype("rotation", a.rotation->dtype, "x", a.x->dtype);
  check.that(a.alpha == nullptr, "alphaOptional is given; it must be null");
  check.rank("x", a.x, 2, 2).rank("rotation", a.rotation, 2, 2);
  check.that(a.axis == -1 || a.axis == 1, "axis is %lld; allowed: -1, 1",
             static_cast<long long>(a.axis));
  check.that(known_mode(a.mode), "roundModeOptional is \"%s\"; allowed: rint, round, floor",
             a.mode ? a.mode : "");
  check.that(a.algorithm == 0, "scaleAlg is %lld; it must be 0",
             static_cast<long long>(a.algorithm));
  check.that(a.highest == 0.0, "dstTypeMax is %g; it must be 0", a.highest);
  check.that(!a.transposed, "trans is true; it must be false");
  if (!check.ok()) return check;
  const int64_t rows = a.x->shape[0], width = a.x->shape[1], size = a.rotation->shape[0];
  check.that(rows > 0, "x has no rows");
  check.that(a.rotation->shape[1] == size && size >= kSmallest && size <= kLargest,
             "rotation has shape %s; it must be a square of %lld to %lld",
             shape_text(layout_of(*a.rotation)).c_str(), static_cast<long long>(kSmallest),
             static_cast<long long>(kLargest));
  check.that(width >= kFewestColumns && width <= kMostColumns && width % 8 == 0,
             "x has %lld columns; allowed: multiples of 8 from %lld to %lld",
             static_cast<long long>(width), static_cast<long long>(kFewestColumns),
             static_cast<long long>(kMostColumns));
  check.that(size > 0 && width % size == 0,
             "x has %lld columns; they must be a multiple of the %lld of rotation",
             static_cast<long long>(width), static_cast<long long>(size));
  check_packing(check, "yOut", a.y, layout_of(*a.x), "x");
  check.shape("scaleOut", a.scale, dense_layout(&rows, 1));
  check.size("x", Checked(rows) * width * 4);
  return check;
}

void round_half_away(float *values, int64_t count) {
  for (int64_t i = 0; i < count; ++i) values[i] = std::round(values[i]);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RotateQuant,
             (const aclTensor *x, const aclTensor *rotation, const aclTensor *alphaOptional,
              int64_t axis, const char *roundModeOptional, int64_t scaleAlg, double dstTypeMax,
              bool trans, aclTensor *yOut, aclTensor *scaleOut)) {
  using namespace emu;
  const RotateArguments given{x,        rotation,   alphaOptional, axis, roundModeOptional,
                              scaleAlg, dstTypeMax, trans,         yOut, scaleOut};
  if (chip_is_950()) return plan_rotate_mx_quant(given, workspaceSize, executor);
  const Check check = check_rotation(given);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kRotateQuant);
  const size_t from = plan.input(x), turn = plan.input(rotation);
  plan.unused(alphaOptional);
  const size_t y = plan.output(yOut), scale = plan.output(scaleOut);
  const bool away = roundModeOptional != nullptr && std::strcmp(roundModeOptional, "round") == 0;
  const bool down = roundModeOptional != nullptr && std::strcmp(roundModeOptional, "floor") == 0;
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from)), matrix = view_of(c.tensor(turn));
        const int64_t rows = source.layout.shape[0], width = source.layout.shape[1],
                      size = matrix.layout.shape[0], pieces = width / size;
        Matrix left, right;
        left.data = source.data;
        left.dtype = source.dtype;
        left.rows = rows * pieces;
        left.cols = size;
        left.row = {size * source.layout.stride[1], pieces, source.layout.stride[0]};
        left.col.stride = source.layout.stride[1];
        right.data = matrix.data;
        right.dtype = matrix.dtype;
        right.rows = right.cols = size;
        right.row.stride = matrix.layout.stride[0];
        right.col.stride = matrix.layout.stride[1];
        std::unique_ptr<float[]> turned(new float[static_cast<size_t>(rows * width)]);
        gemm(left, right, {turned.get(), ACL_FLOAT, size, 1});
        const aclTensor &result = c.tensor(y);
        const QuantTarget to(result, down ? Rounding::kFloor : Rounding::kNearestEven);
        const QuantRange range = quant_range(result.dtype);
        const RowTarget<float> scale_to(view_of(c.tensor(scale)));
        parallel_for(rows, std::max<int64_t>(1, 8192 / width), [&](int64_t begin, int64_t end) {
          for (int64_t row = begin; row < end; ++row) {
            float *values = turned.get() + row * width;
            const RowScale found = scale_symmetric(values, width, range);
            if (away) round_half_away(values, width);
            to.write(row * width, width, values);
            scale_to.write(row, 1, &found.scale);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
