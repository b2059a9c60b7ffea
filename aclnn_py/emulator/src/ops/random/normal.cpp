// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Normal numbers, with a mean and a deviation for each element too.
#include <algorithm>

#include "aclnnop/random.h"
#include "ops/fill/generate.h"
#include "ops/random/draw.h"
#include "ops/shared/mx_check.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct NormalCall {
  const char *op;
  const aclTensor *mean_of, *deviation_of;  // null: the numbers
  float mean, deviation;
  int64_t seed, offset;
  aclTensor *out;
};

Check check_normal_of(const NormalCall &a) {
  Check check(a.op);
  if (a.mean_of != nullptr) check.dtype("mean", a.mean_of).rank("mean", a.mean_of, 0, 8);
  if (a.deviation_of != nullptr)
    check.dtype("std", a.deviation_of).rank("std", a.deviation_of, 0, 8);
  check.dtype("out", a.out).rank("out", a.out, 0, 8);
  check.that(!(a.deviation < 0), "std is %g; a standard deviation must not be negative",
             static_cast<double>(a.deviation));
  return check_offset(check, a.offset);
}

// The shape in which mean and deviation meet is that of the result.
void check_meeting(Check &check, const NormalCall &a) {
  if (!check.ok()) return;
  const Layout out = layout_of(*a.out);
  Layout met = a.mean_of == nullptr ? out : layout_of(*a.mean_of);
  if (a.mean_of != nullptr && a.deviation_of != nullptr) {
    Layout both;
    check.that(broadcast_shapes(met, layout_of(*a.deviation_of), &both),
               "mean has shape %s and std %s; they must broadcast", shape_text(met).c_str(),
               shape_text(layout_of(*a.deviation_of)).c_str());
    if (!check.ok()) return;
    check.shape("out", a.out, both);
    return;
  }
  Layout both;
  check.that(broadcast_shapes(met, out, &both) && same_shape(both, out),
             "mean has shape %s; it must broadcast to that of out, %s", shape_text(met).c_str(),
             shape_text(out).c_str());
}

// One deviation for each element, and no broadcasting but of one element to nothing.
void check_deviations(Check &check, const NormalCall &a) {
  if (!check.ok()) return;
  const int64_t given = a.deviation_of->numel();
  check.that(given > 0, "std is empty; it must have elements");
  if (given == 1 && a.out->numel() == 0 && a.out->rank() == a.deviation_of->rank()) return;
  check.shape("out", a.out, layout_of(*a.deviation_of));
}

// The normal numbers of a part, by the formula.
void draw_normal(const RandomPart &part, double *normal) {
  alignas(64) uint64_t words[kBlock + 2];
  const auto side = static_cast<int64_t>(part.position % 2);  // the first word has no element
  word_kernels().words({part.seed, part.position - part.position % 2, part.count + side + 1},
                       words);
  for (int64_t i = -side; i < part.count; i += 2) {
    const std::array<double, 2> pair = normal_pair({words[i + side], words[i + side + 1]});
    if (i >= 0) normal[i] = pair[0];
    if (i + 1 < part.count) normal[i + 1] = pair[1];
  }
}

// means[i] + deviations[i] * the normal number of element i, for a result of a dtype.
void shifted_normal(aclDataType dtype, const RandomPart &part, const double *means,
                    const double *deviations, double *block) {
  const auto shifted = [&](int64_t i, double normal) { return means[i] + deviations[i] * normal; };
  if (dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16) {
    int64_t unsure[kBlock];
    const int64_t count = word_kernels().normal(part, means, deviations, block, unsure);
    for (int64_t k = 0; k < count; ++k) {
      const int64_t i = unsure[k];
      const uint64_t position = part.position + static_cast<uint64_t>(i);
      block[i] = shifted(i, normal_pair(bits_pair(part.seed, position / 2))[position % 2]);
    }
    return;
  }
  draw_normal(part, block);
  for (int64_t i = 0; i < part.count; ++i) block[i] = shifted(i, block[i]);
}

void fill_normal_of(const View &out, const View *means, const View *deviations, double mean,
                    double deviation, const RandomPlace &place) {
  alignas(64) double same_mean[kBlock], same_deviation[kBlock];
  std::fill_n(same_mean, kBlock, mean);
  std::fill_n(same_deviation, kBlock, deviation);
  const auto read = [](const View &view, int64_t start, int64_t count, double *scratch) {
    RowSource<double>(view).read(start, count, scratch);
    return scratch;
  };
  generate_blocks<double>(out, out.count(), [&](int64_t start, int64_t count, double *block) {
    alignas(64) double shifts[kBlock], factors[kBlock];
    shifted_normal(
        out.dtype, part_of(place, start, count),
        means == nullptr ? same_mean : read(*means, start, count, shifts),
        deviations == nullptr ? same_deviation : read(*deviations, start, count, factors), block);
  });
}

Status plan_normal_of(Check &check, const NormalCall &a, uint64_t *workspace_size,
                      aclOpExecutor **executor) {
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  plan.not_repeatable();
  const bool has_mean = a.mean_of != nullptr, has_deviation = a.deviation_of != nullptr;
  const size_t means = plan.input_if(a.mean_of), deviations = plan.input_if(a.deviation_of);
  const size_t to = plan.output(a.out);
  const RandomPlace place{static_cast<uint64_t>(a.seed), static_cast<uint64_t>(a.offset)};
  const auto mean = static_cast<double>(a.mean), deviation = static_cast<double>(a.deviation);
  return plan.finish(
      [=](PlanContext &c) {
        const View out = view_of(c.tensor(to));
        if (out.count() == 0) return Status{0};
        Operands operands;
        const auto spread = [&](bool given, size_t index) {
          return given ? operands.safe(view_of(c.tensor(index), out.layout), {out}) : View();
        };
        const View shift = spread(has_mean, means), factor = spread(has_deviation, deviations);
        fill_normal_of(out, has_mean ? &shift : nullptr, has_deviation ? &factor : nullptr, mean,
                       deviation, place);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

void fill_normal(const View &out, double mean, double deviation, const RandomPlace &place) {
  fill_normal_of(out, nullptr, nullptr, mean, deviation, place);
}

}  // namespace emu

EMU_OPERATOR(NormalFloatFloat,
             (float mean, float std, int64_t seed, int64_t offset, aclTensor *out)) {
  const emu::NormalCall call{
      "aclnnNormalFloatFloat", nullptr, nullptr, mean, std, seed, offset, out};
  emu::Check given(call.op);
  given.required("out", out);
  if (const emu::Status s = emu::check_chip(given, emu::kInvalid)) return s;
  emu::Check check = emu::check_normal_of(call);
  return emu::plan_normal_of(check, call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NormalFloatTensor,
             (float mean, const aclTensor *std, int64_t seed, int64_t offset, aclTensor *out)) {
  const emu::NormalCall call{"aclnnNormalFloatTensor", nullptr, std, mean, 1, seed, offset, out};
  emu::Check given(call.op);
  given.required("std", std).required("out", out);
  if (const emu::Status s = emu::check_chip(given, emu::kInvalid)) return s;
  emu::Check check = emu::check_normal_of(call);
  emu::check_deviations(check, call);
  return emu::plan_normal_of(check, call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NormalTensorFloat,
             (const aclTensor *mean, float std, int64_t seed, int64_t offset, aclTensor *out)) {
  const emu::NormalCall call{"aclnnNormalTensorFloat", mean, nullptr, 0, std, seed, offset, out};
  emu::Check given(call.op);
  given.required("mean", mean).required("out", out);
  if (const emu::Status s = emu::check_chip(given, emu::kInvalid)) return s;
  emu::Check check = emu::check_normal_of(call);
  emu::check_meeting(check, call);
  return emu::plan_normal_of(check, call, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NormalTensorTensor, (const aclTensor *mean, const aclTensor *std, int64_t seed,
                                  int64_t offset, aclTensor *out)) {
  const emu::NormalCall call{"aclnnNormalTensorTensor", mean, std, 0, 1, seed, offset, out};
  emu::Check given(call.op);
  given.required("mean", mean).required("std", std).required("out", out);
  if (const emu::Status s = emu::check_chip(given, emu::kInvalid)) return s;
  emu::Check check = emu::check_normal_of(call);
  emu::check_meeting(check, call);
  return emu::plan_normal_of(check, call, workspaceSize, executor);
}
EMU_CATCH
