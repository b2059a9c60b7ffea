// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// AdamW whose moments are numbers of 8 bits: places in a table of 256 ascending values, times the
// largest magnitude of their block.
#include <algorithm>
#include <vector>

#include "aclnnop/optim.h"
#include "ops/optim/update.h"

namespace emu {
namespace {

constexpr int64_t kQuantBlock = 256, kTableSize = 256;

// The place of the nearest value of an ascending table, the lower one of two.
uint8_t nearest_place(const std::vector<float> &table, float value) {
  const auto above = std::lower_bound(table.begin(), table.end(), value);
  if (above == table.begin()) return 0;
  const auto place = static_cast<uint8_t>(above - table.begin() - 1);
  if (above == table.end()) return place;
  return value - *(above - 1) <= *above - value ? place : static_cast<uint8_t>(place + 1);
}

// Moments of one block: places in `codes` and their scale.
void expand(const std::vector<float> &table, float scale, const int32_t *codes, int64_t count,
            float *values) {
  for (int64_t i = 0; i < count; ++i) values[i] = table[static_cast<size_t>(codes[i])] * scale;
}

// Where `keeps_signs`, a place whose entry has the other sign moves one on towards that of the
// value.
float quantise_block(const std::vector<float> &table, const float *values, int64_t count,
                     bool keeps_signs, int32_t *codes) {
  float largest = 0;
  for (int64_t i = 0; i < count; ++i) largest = std::max(largest, std::abs(values[i]));
  for (int64_t i = 0; i < count; ++i) {
    const float value = largest > 0 ? values[i] / largest : 0.0f;
    const int32_t place = nearest_place(table, value);
    const float entry = table[static_cast<size_t>(place)];
    codes[i] = place;
    if (!keeps_signs || value * entry >= 0) continue;
    codes[i] = value > 0 ? std::min<int32_t>(place + 1, kTableSize - 1) : std::max(place - 1, 0);
  }
  return largest;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ApplyAdamWQuant,
             (aclTensor *varRef, const aclTensor *grad, aclTensor *mRef, aclTensor *vRef,
              const aclTensor *qmapM, const aclTensor *qmapV, aclTensor *absmaxMRef,
              aclTensor *absmaxVRef, const aclTensor *step, double lr, double beta1, double beta2,
              double weightDecay, double eps, double gnormScale, const char *, int64_t blockSize)) {
  using namespace emu;
  Check check("aclnnApplyAdamWQuant");
  const std::initializer_list<std::pair<const char *, const aclTensor *>> all = {
      {"varRef", varRef},
      {"grad", grad},
      {"mRef", mRef},
      {"vRef", vRef},
      {"qmapM", qmapM},
      {"qmapV", qmapV},
      {"absmaxMRef", absmaxMRef},
      {"absmaxVRef", absmaxVRef},
      {"step", step}};
  for (const auto &[name, tensor] : all) check.required(name, tensor);
  for (const auto &[name, tensor] : all) check.dtype(name, tensor);
  if (!check.ok()) return check.status();
  check.same_dtype("grad", grad->dtype, "varRef", varRef->dtype).tiling();
  check.rank("varRef", varRef, 1, 8);
  check.that(blockSize == kQuantBlock, "blockSize is %lld; it must be 256",
             static_cast<long long>(blockSize));
  if (!check.ok()) return check.status();
  const int64_t elements = varRef->numel(), table = kTableSize, one = 1;
  const int64_t blocks = elements / kQuantBlock + (elements % kQuantBlock != 0 ? 1 : 0);
  const Layout shape = layout_of(*varRef);
  check.shape("grad", grad, shape).shape("mRef", mRef, shape).shape("vRef", vRef, shape);
  check.shape("qmapM", qmapM, dense_layout(&table, 1));
  check.shape("qmapV", qmapV, dense_layout(&table, 1));
  check.shape("absmaxMRef", absmaxMRef, dense_layout(&blocks, 1));
  check.shape("absmaxVRef", absmaxVRef, dense_layout(&blocks, 1));
  check.shape("step", step, dense_layout(&one, 1));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t var = plan.in_place(varRef), g = plan.input(grad), m = plan.in_place(mRef);
  const size_t v = plan.in_place(vRef), map_m = plan.input(qmapM), map_v = plan.input(qmapV);
  const size_t max_m = plan.in_place(absmaxMRef), max_v = plan.in_place(absmaxVRef);
  const size_t t = plan.input(step);
  // The weights decay after the step, and not at all with a negative decay.
  const AdamwNumbers numbers{lr, beta1, beta2, 0, eps, false};
  const auto keep = static_cast<float>(weightDecay > 0 ? 1 - lr * weightDecay : 1);
  const auto factor = static_cast<float>(gnormScale);
  return plan.finish(
      [=](PlanContext &c) {
        const AdamwStep step_of(numbers, number_in(c, t) + 1);  // taken before this one
        const auto values_m = read_all<float>(c, map_m, kTableSize, 0.0f);
        const auto values_v = read_all<float>(c, map_v, kTableSize, 0.0f);
        auto scales_m = read_all<float>(c, max_m, blocks, 0.0f);
        auto scales_v = read_all<float>(c, max_v, blocks, 0.0f);
        const View target = view_of(c.tensor(var)), codes_m = view_of(c.tensor(m)),
                   codes_v = view_of(c.tensor(v));
        Operands operands;
        const RowSource<float> grads(
            operands.safe(view_of(c.tensor(g)), {target, codes_m, codes_v}));
        const RowSource<float> from(target);
        const RowTarget<float> to(target);
        const RowSource<int32_t> from_m(codes_m), from_v(codes_v);
        const RowTarget<int32_t> to_m(codes_m), to_v(codes_v);
        parallel_for(blocks, 16, [&](int64_t begin, int64_t end) {
          float x[kQuantBlock], grad_of[kQuantBlock], mean[kQuantBlock], square[kQuantBlock];
          int32_t codes[kQuantBlock];
          for (int64_t block = begin; block < end; ++block) {
            const int64_t start = block * kQuantBlock;
            const int64_t n = std::min(kQuantBlock, elements - start);
            const auto at = static_cast<size_t>(block);
            from.read(start, n, x);
            grads.read(start, n, grad_of);
            for (int64_t i = 0; i < n; ++i) grad_of[i] *= factor;
            from_m.read(start, n, codes);
            expand(values_m, scales_m[at], codes, n, mean);
            from_v.read(start, n, codes);
            expand(values_v, scales_v[at], codes, n, square);
            step_of.run(x, mean, square, nullptr, grad_of, n);
            for (int64_t i = 0; i < n; ++i) x[i] *= keep;
            to.write(start, n, x);
            scales_m[at] = quantise_block(values_m, mean, n, true, codes);
            to_m.write(start, n, codes);
            scales_v[at] = quantise_block(values_v, square, n, false, codes);
            to_v.write(start, n, codes);
          }
        });
        RowTarget<float>(view_of(c.tensor(max_m))).write(0, blocks, scales_m.data());
        RowTarget<float>(view_of(c.tensor(max_v))).write(0, blocks, scales_v.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
