// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Rows rotated piece by piece with one small matrix, or each piece with its own, and quantised in
// blocks with a power of two as their scale.
#include <algorithm>
#include <cmath>

#include "ops/matmul/stack.h"
#include "ops/quant/rotate_quant.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

constexpr MxAlgorithms kAlgorithms{0b011, 0b101, 0};

MxFormat check_rotation(Check &check, const RotateArguments &a) {
  check.required("x", a.x).required("rotation", a.rotation).optional("alphaOptional", a.alpha);
  check.required("yOut", a.y).required("scaleOut", a.scale);
  check.dtype("x", a.x).dtype("rotation", a.rotation).dtype("alphaOptional", a.alpha);
  check.dtype("yOut", a.y).dtype("scaleOut", a.scale);
  if (!check.ok()) return {};
  check.same_dtype("rotation", a.rotation->dtype, "x", a.x->dtype);
  check.rank("x", a.x, 1, 7).rank("rotation", a.rotation, 2, 3);
  check.plain_format("x", a.x).plain_format("rotation", a.rotation);
  check.that(!a.transposed, "trans is true; it must be false");
  if (!check.ok()) return {};
  const int rank = static_cast<int>(a.x->rank()), last = rank - 1;
  check.that(a.axis == -1 || a.axis == last, "axis is %lld; allowed: -1, %d",
             static_cast<long long>(a.axis), last);
  const MxFormat format = check_mx_format(check,
                                          {"roundModeOptional", a.mode, "yOut", a.y->dtype,
                                           a.algorithm, kAlgorithms, "dstTypeMax", a.highest},
                                          "yOut", a.y);
  check.that(a.algorithm != 2 || (a.highest >= 6.0 && a.highest <= 12.0),
             "dstTypeMax is %g; with scaleAlg 2 it is 6 to 12", a.highest);
  check.that(a.algorithm == 2 || a.highest == 0.0, "dstTypeMax is %g; with scaleAlg %lld it is 0",
             a.highest, static_cast<long long>(a.algorithm));
  if (!check.ok()) return {};
  const Layout values = layout_of(*a.x), turn = layout_of(*a.rotation);
  const int64_t width = values.shape[last], size = turn.shape[turn.rank - 1];
  check.that(values.count() > 0, "x has shape %s; it may not be empty", shape_text(values).c_str());
  check.that((size == 32 || size == 64 || size == 128) && turn.shape[turn.rank - 2] == size,
             "rotation has shape %s; its matrices are squares of 32, 64 or 128",
             shape_text(turn).c_str());
  check.that(size > 0 && width % size == 0,
             "x has %lld columns; they must be a multiple of the %lld of "
             "rotation",
             static_cast<long long>(width), static_cast<long long>(size));
  check.that(turn.rank == 2 || turn.shape[0] * size == width,
             "rotation has %lld matrices; x has %lld pieces of %lld columns",
             static_cast<long long>(turn.shape[0]),
             static_cast<long long>(width / std::max<int64_t>(1, size)),
             static_cast<long long>(size));
  if (a.alpha) {
    const int64_t one = 1;
    check.shape("alphaOptional", a.alpha, dense_layout(&one, 1));
  }
  check_mx_results(check, values, last, kMxBlock, "yOut", a.y, "scaleOut", a.scale);
  check.size("x", Checked(values.count()) * 4);
  return format;
}

// Blocks of 32 values are limited to a share of their largest.
void limit_blocks(float *values, int64_t count, float alpha) {
  for (int64_t first = 0; first < count; first += kMxBlock) {
    float most = 0.0f;
    for (int64_t i = first; i < first + kMxBlock; ++i) most = std::max(most, std::fabs(values[i]));
    const float limit = alpha * most;
    for (int64_t i = first; i < first + kMxBlock; ++i)
      values[i] = values[i] < -limit ? -limit : values[i] > limit ? limit : values[i];
  }
}

struct Job {
  size_t x, rotation, alpha, y, scale;
  MxFormat format;
};

Status run(const Job &job, PlanContext &c) {
  const View source = view_of(c.tensor(job.x));
  const MatrixStack turns = matrix_stack(view_of(c.tensor(job.rotation)));
  const int64_t width = source.layout.shape[source.layout.rank - 1], size = turns.first.rows,
                pieces = width / size, rows = source.count() / width;
  float alpha = 0.0f;
  if (c.has(job.alpha)) RowSource<float>(view_of(c.tensor(job.alpha))).read(0, 1, &alpha);
  std::vector<float> values(static_cast<size_t>(rows * width)), turned(values.size());
  RowSource<float>(source).read(0, rows * width, values.data());
  for (int64_t piece = 0; piece < pieces; ++piece) {
    Matrix left;
    left.data = values.data() + piece * size;
    left.rows = rows;
    left.cols = size;
    left.row.stride = width;
    left.col.stride = 1;
    const int64_t own = turns.batch.rank == 0 ? 0 : piece * turns.batch.stride[0];
    gemm(left, turns.at(own), {turned.data() + piece * size, ACL_FLOAT, width, 1});
  }
  if (alpha > 0.0f && alpha < 1.0f) limit_blocks(turned.data(), rows * width, alpha);
  const MxPlan plan = mx_plan(layout_of(c.tensor(job.y)), source.layout.rank - 1, kMxBlock);
  mx_quantise(plan, job.format, LowCodes(c.tensor(job.y)), LowCodes(c.tensor(job.scale)),
              [&](int64_t start, int64_t count, float *to) {
                std::copy_n(turned.data() + start, count, to);
              });
  return 0;
}

}  // namespace

Status plan_rotate_mx_quant(const RotateArguments &a, uint64_t *workspace_size,
                            aclOpExecutor **executor) {
  Check check(kRotateQuant);
  Job job{};
  job.format = check_rotation(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kRotateQuant);
  job.x = plan.input(a.x);
  job.rotation = plan.input(a.rotation);
  job.alpha = plan.input(a.alpha);
  job.y = plan.output(a.y);
  job.scale = plan.output(a.scale);
  return plan.finish([job](PlanContext &c) { return run(job, c); }, workspace_size, executor);
}

}  // namespace emu
