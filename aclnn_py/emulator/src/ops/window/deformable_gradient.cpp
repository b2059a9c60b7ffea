// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// DeformableConv2dBackward: the gradient of the samples, which is that of a convolution, taken back
// to the elements around each sample, to the offsets that moved it and to its mask. Sums are
// float64. Chips of the 950 series alone have it.
#include "aclnnop/conv.h"
#include "core/chip.h"
#include "core/pool.h"
#include "ops/shared/rows.h"
#include "ops/window/deformable.h"

namespace emu {
namespace {

class SampleGradient {
 public:
  SampleGradient(const Deformable &d, const View &input, const View &offset, const View &slopes,
                 const View &grad_input, const View &grad_offset)
      : d_(d),
        input_(image_of(input, 2)),
        offset_(image_of(offset, 2)),
        slopes_(image_of(slopes, 2)),
        to_input_(image_of(grad_input, 2)),
        to_offset_(image_of(grad_offset, 2)),
        elements_(d.elements()),
        count_(d.positions()) {}

  void run() const {
    parallel_for(input_.batch * d_.groups, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) one_group(i / d_.groups, i % d_.groups);
    });
  }

 private:
  // The channel of offset with part 0 to 2 (x, y or mask) of an element.
  int64_t channel_of(int64_t group, int64_t k, int64_t part) const {
    return (part * d_.groups + group) * elements_ + k;
  }

  void one_group(int64_t n, int64_t group) const {
    const int64_t moved = elements_ * count_, channels = input_.channels / d_.groups,
                  area = input_.area();
    std::vector<float> offsets(static_cast<size_t>(3 * moved)), plane(static_cast<size_t>(area)),
        slopes(static_cast<size_t>(moved));
    std::vector<double> to_offsets(offsets.size()), to_plane(plane.size());
    for (int64_t part = 0; part < 3; ++part) {
      for (int64_t k = 0; k < elements_; ++k) {
        RowSource<float>(offset_.plane(n, channel_of(group, k, part)))
            .read(0, count_, offsets.data() + part * moved + k * count_);
      }
    }
    for (int64_t channel = group * channels; channel < (group + 1) * channels; ++channel) {
      RowSource<float>(input_.plane(n, channel)).read(0, area, plane.data());
      RowSource<float>(slopes_.plane(n, channel)).read(0, moved, slopes.data());
      std::fill(to_plane.begin(), to_plane.end(), 0.0);
      for (int64_t i = 0; i < moved; ++i)
        one_sample(i, offsets.data(), plane.data(), slopes.data(), to_plane.data(),
                   to_offsets.data());
      RowTarget<double>(to_input_.plane(n, channel)).write(0, area, to_plane.data());
    }
    for (int64_t part = 0; part < 3; ++part) {
      for (int64_t k = 0; k < elements_; ++k) {
        RowTarget<double>(to_offset_.plane(n, channel_of(group, k, part)))
            .write(0, count_, to_offsets.data() + part * moved + k * count_);
      }
    }
  }

  // Sample i is element i / count of window i % count.
  void one_sample(int64_t i, const float *offsets, const float *plane, const float *slopes,
                  double *to_plane, double *to_offsets) const {
    const int64_t moved = elements_ * count_, k = i / count_, p = i % count_;
    const SamplePlace place = place_of(d_.windows, k, p, offsets[i], offsets[moved + i]);
    if (!place.inside) return;
    const double slope = static_cast<double>(slopes[sample_at(d_.windows, k, p)]),
                 mask = static_cast<double>(offsets[2 * moved + i]);
    float weights[4], values[4] = {};
    place.weights(weights);
    double sample = 0;
    for_corners(d_.windows, place, [&](int corner, int64_t element) {
      values[corner] = plane[element];
      sample += static_cast<double>(weights[corner]) * static_cast<double>(plane[element]);
      to_plane[element] += slope * mask * static_cast<double>(weights[corner]);
    });
    const auto v = [&](int corner) { return static_cast<double>(values[corner]); };
    const double down = static_cast<double>(place.down), across = static_cast<double>(place.across);
    to_offsets[i] += slope * mask * ((1 - down) * (v(1) - v(0)) + down * (v(3) - v(2)));
    to_offsets[moved + i] += slope * mask * ((1 - across) * (v(2) - v(0)) + across * (v(3) - v(1)));
    to_offsets[2 * moved + i] += slope * sample;
  }

  const Deformable &d_;
  const Image input_, offset_, slopes_, to_input_, to_offset_;
  const int64_t elements_, count_;
};

}  // namespace
}  // namespace emu

EMU_OPERATOR(DeformableConv2dBackward,
             (const aclTensor *input, const aclTensor *gradOutput, const aclTensor *offsetOut,
              const aclTensor *weight, const aclTensor *offset, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              int64_t groups, int64_t deformableGroups, bool modulated, aclTensor *gradInput,
              aclTensor *gradWeight, aclTensor *gradOffset, aclTensor *gradBias)) {
  using namespace emu;
  const DeformableCall call = {"aclnnDeformableConv2dBackward",
                               "input",
                               "gradOutput",
                               "offsetOut",
                               input,
                               weight,
                               offset,
                               nullptr,
                               gradOutput,
                               offsetOut,
                               kernelSize,
                               stride,
                               padding,
                               dilation,
                               groups,
                               deformableGroups,
                               modulated};
  const std::pair<const char *, const aclTensor *> images[] = {
      {"input", input},           {"gradOutput", gradOutput}, {"offsetOut", offsetOut},
      {"weight", weight},         {"offset", offset},         {"gradInput", gradInput},
      {"gradWeight", gradWeight}, {"gradOffset", gradOffset}};
  Check check(call.op);
  for (const auto &[name, tensor] : images) check.required(name, tensor);
  check.required("gradBias", gradBias).required("kernelSize", kernelSize);
  check.required("stride", stride).required("padding", padding).required("dilation", dilation);
  check.that(chip_is_950(), "this chip does not have the operator; allowed: the 950 series");
  for (const auto &[name, tensor] : images) {
    check.dtype(name, tensor);
    if (!check.ok()) return check.status();
    check.same_dtype(name, tensor->dtype, "input", input->dtype).rank(name, tensor, 4, 4);
    format_in(check, name, tensor, {ACL_FORMAT_NCHW});
  }
  check.dtype("gradBias", gradBias);
  if (!check.ok()) return check.status();
  check.same_dtype("gradBias", gradBias->dtype, "input", input->dtype);
  Deformable deformable{};
  if (check.ok()) check_deformable(check, call, &deformable);
  Layout filters;
  filters.push(weight->shape[0], 0);
  check.shape("gradInput", gradInput, layout_of(*input))
      .shape("gradWeight", gradWeight, layout_of(*weight))
      .shape("gradOffset", gradOffset, layout_of(*offset))
      .shape("gradBias", gradBias, filters);
  if (!check.ok()) return check.status();
  const auto d = std::make_shared<const Deformable>(deformable);
  PlanBuilder plan(call.op);
  const size_t image = plan.input(input), slopes = plan.input(gradOutput),
               samples = plan.input(offsetOut), weights = plan.input(weight),
               moves = plan.input(offset), to_input = plan.output(gradInput),
               to_weight = plan.output(gradWeight), to_offset = plan.output(gradOffset),
               to_bias = plan.output(gradBias);
  return plan.finish(
      [=](PlanContext &c) {
        const View of_input = view_of(c.tensor(to_input)), of_weight = view_of(c.tensor(to_weight)),
                   of_offset = view_of(c.tensor(to_offset)), of_bias = view_of(c.tensor(to_bias));
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {of_input, of_weight, of_offset, of_bias});
        };
        const View from = operand(image), given = operand(slopes), sampled = operand(samples),
                   w = operand(weights), offsets = operand(moves);
        bias_gradient(d->product, given, of_bias);
        weight_gradient(d->product, given, sampled, of_weight);
        std::unique_ptr<char[]> memory;
        const View of_samples = dense_as(sampled, ACL_FLOAT, &memory, false);
        input_gradient(d->product, given, w, of_samples);
        SampleGradient(*d, from, offsets, of_samples, of_input, of_offset).run();
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
