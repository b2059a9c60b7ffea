// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Query, key and value of attention out of one projection, with its bias.
#include "aclnnop/math.h"
#include "ops/shared/rows.h"

#include <cmath>

EMU_OPERATOR(TransformBiasRescaleQkv,
             (const aclTensor *qkv, const aclTensor *qkvBias, int64_t numHeads, aclTensor *qOut,
              aclTensor *kOut, aclTensor *vOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnTransformBiasRescaleQkv";
  constexpr const char *names[] = {"qOut", "kOut", "vOut"};
  const aclTensor *results[] = {qOut, kOut, vOut};
  Check check(op);
  check.required("qkv", qkv).required("qkvBias", qkvBias);
  for (int i = 0; i < 3; ++i) check.required(names[i], results[i]);
  check.dtype("qkv", qkv).dtype("qkvBias", qkvBias);
  for (int i = 0; i < 3; ++i) check.dtype(names[i], results[i]);
  check.plain_format("qkv", qkv).plain_format("qkvBias", qkvBias);
  check.rank("qkv", qkv, 3, 3).rank("qkvBias", qkvBias, 1, 1);
  if (!check.ok()) return check.status();
  check.same_dtype("qkvBias", qkvBias->dtype, "qkv", qkv->dtype);
  for (int i = 0; i < 3; ++i) check.same_dtype(names[i], results[i]->dtype, "qkv", qkv->dtype);
  const int64_t width = qkv->shape[2];
  check.that(numHeads > 0, "numHeads is %lld; it must be positive",
             static_cast<long long>(numHeads));
  check.that(width > 0 && width % 3 == 0 && width / 3 % std::max<int64_t>(1, numHeads) == 0,
             "qkv has %lld columns; they do not divide into 3 parts of %lld heads",
             static_cast<long long>(width), static_cast<long long>(numHeads));
  check.shape("qkvBias", qkvBias, dense_layout(&width, 1));
  if (!check.ok()) return check.status();
  const int64_t depth = width / 3 / numHeads, batch = qkv->shape[0], length = qkv->shape[1];
  const int64_t shape[] = {batch, numHeads, length, depth};
  for (int i = 0; i < 3; ++i) check.shape(names[i], results[i], dense_layout(shape, 4));
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(qkv), bias = plan.input(qkvBias);
  const size_t to[] = {plan.output(qOut), plan.output(kOut), plan.output(vOut)};
  return plan.finish(
      [=](PlanContext &c) {
        const View q = view_of(c.tensor(to[0])), k = view_of(c.tensor(to[1])),
                   v = view_of(c.tensor(to[2]));
        if (q.count() == 0) return Status{0};
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(from)), {q, k, v}));
        const auto shift = read_all<float>(c, bias, width, 0.0f);
        const RowTarget<float> targets[] = {RowTarget<float>(q), RowTarget<float>(k),
                                            RowTarget<float>(v)};
        const auto root = std::sqrt(static_cast<float>(depth));
        for_each_row<float>(batch * length, width, 1, [&](int64_t row, float *x) {
          source.read(row * width, width, x);
          for (int64_t i = 0; i < width; ++i) x[i] += shift[static_cast<size_t>(i)];
          for (int64_t i = 0; i < width / 3; ++i) x[i] /= root;
          const int64_t b = row / length, t = row % length;
          for (int part = 0; part < 3; ++part) {
            for (int64_t h = 0; h < numHeads; ++h) {
              targets[part].write(((b * numHeads + h) * length + t) * depth, depth,
                                  x + (part * numHeads + h) * depth);
            }
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
