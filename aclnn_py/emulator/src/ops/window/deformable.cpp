// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// DeformableConv2d: samples between the elements of the image, rounded to its dtype, and a
// convolution of them.
#include "ops/window/deformable.h"

#include "aclnnop/conv.h"
#include "core/pool.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kMostElements = 2048, kMostProducts = 65535;

void check_arrays(Check &check, const DeformableCall &a) {
  length_in(check, "kernelSize", a.kernel, {2});
  length_in(check, "stride", a.stride, {4});
  length_in(check, "padding", a.padding, {4});
  length_in(check, "dilation", a.dilation, {4});
  values_from(check, "kernelSize", a.kernel, 1);
  values_from(check, "stride", a.stride, 1);
  values_from(check, "padding", a.padding, 0);
  values_from(check, "dilation", a.dilation, 1);
  for (size_t i = 0; check.ok() && i < 2; ++i) {
    check.that(a.stride->values[i] == 1 && a.dilation->values[i] == 1,
               "%s begins with %lld, %lld; the first two are those of samples and channels, 1",
               a.stride->values[i] != 1 ? "stride" : "dilation",
               static_cast<long long>(a.stride->values[i] != 1 ? a.stride->values[0]
                                                               : a.dilation->values[0]),
               static_cast<long long>(a.stride->values[i] != 1 ? a.stride->values[1]
                                                               : a.dilation->values[1]));
  }
  check.that(a.modulated, "modulated is false; allowed: true");
}

void check_groups(Check &check, const DeformableCall &a) {
  const int64_t channels = a.input->shape[1], filters = a.weight->shape[0];
  check.that(a.groups >= 1 && channels % a.groups == 0 && filters % a.groups == 0,
             "groups is %lld; it must divide %lld channels and %lld filters",
             static_cast<long long>(a.groups), static_cast<long long>(channels),
             static_cast<long long>(filters));
  check.that(a.deformable_groups >= 1 && channels % a.deformable_groups == 0,
             "deformableGroups is %lld; it must divide %lld channels",
             static_cast<long long>(a.deformable_groups), static_cast<long long>(channels));
}

void sample_planes(const Deformable &d, const View &input, const View &offset,
                   const View &sampled) {
  const Image from = image_of(input, 2), moves = image_of(offset, 2), to = image_of(sampled, 2);
  const int64_t elements = d.elements(), count = d.positions(), area = from.area();
  const int64_t part = d.groups * elements;
  parallel_for(from.batch * from.channels, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> plane(static_cast<size_t>(area)), x(static_cast<size_t>(count)), y(x.size()),
        mask(x.size()), samples(static_cast<size_t>(elements * count));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / from.channels, channel = i % from.channels;
      const int64_t group = channel / (from.channels / d.groups);
      RowSource<float>(from.plane(n, channel)).read(0, area, plane.data());
      for (int64_t k = 0; k < elements; ++k) {
        const int64_t at = group * elements + k;
        RowSource<float>(moves.plane(n, at)).read(0, count, x.data());
        RowSource<float>(moves.plane(n, part + at)).read(0, count, y.data());
        RowSource<float>(moves.plane(n, 2 * part + at)).read(0, count, mask.data());
        for (int64_t p = 0; p < count; ++p) {
          const auto position = static_cast<size_t>(p);
          const SamplePlace place = place_of(d.windows, k, p, x[position], y[position]);
          float value = 0;
          if (place.inside) {
            float weights[4];
            place.weights(weights);
            for_corners(d.windows, place, [&](int corner, int64_t element) {
              value += weights[corner] * plane[static_cast<size_t>(element)];
            });
          }
          samples[static_cast<size_t>(sample_at(d.windows, k, p))] = value * mask[position];
        }
      }
      RowTarget<float>(to.plane(n, channel)).write(0, elements * count, samples.data());
    }
  });
}

}  // namespace

Layout samples_shape(const DeformableCall &a, const Deformable &d) {
  const Axis *axes = d.windows.axes;
  Layout shape;
  shape.push(a.input->shape[0], 0);
  shape.push(a.input->shape[1], 0);
  shape.push(axes[1].count * axes[1].window, 0);
  shape.push(axes[2].count * axes[2].window, 0);
  return shape;
}

void check_deformable(Check &check, const DeformableCall &a, Deformable *d) {
  check.rank(a.input_name, a.input, 4, 4).rank("weight", a.weight, 4, 4);
  if (!check.ok()) return;
  check_arrays(check, a);
  check_groups(check, a);
  if (!check.ok()) return;
  check.that(a.input->numel() > 0, "%s has shape %s; it must not be empty", a.input_name,
             shape_text(layout_of(*a.input)).c_str());
  check.that(a.weight->numel() > 0, "weight has shape %s; it must not be empty",
             shape_text(layout_of(*a.weight)).c_str());
  const Checked area = Checked(a.input->shape[2]) * a.input->shape[3];
  check.that(area.fits() && area.value() <= INT32_MAX,
             "%s has shape %s; a plane may have %d elements", a.input_name,
             shape_text(layout_of(*a.input)).c_str(), INT32_MAX);
  const int64_t height = a.kernel->values[0], width = a.kernel->values[1];
  const int64_t channels = a.input->shape[1], each = channels / a.groups;
  const int64_t elements = height * width;  // of numbers of 32 bits
  check.that(
      elements <= kMostElements && (Checked(elements) * each).fits() &&
          elements * each <= kMostProducts,
      "kernelSize is %lld, %lld; a window may have %lld elements, and %lld with its channels",
      static_cast<long long>(height), static_cast<long long>(width),
      static_cast<long long>(kMostElements), static_cast<long long>(kMostProducts));
  if (!check.ok()) return;
  Layout filters;
  filters.push(a.weight->shape[0], 0);
  filters.push(each, 0);
  filters.push(height, 0);
  filters.push(width, 0);
  check.shape("weight", a.weight, filters);
  Layout made, moves;
  made.push(a.input->shape[0], 0);
  made.push(a.weight->shape[0], 0);
  moves.push(a.input->shape[0], 0);
  moves.push(check.size("deformableGroups", Checked(a.deformable_groups) * 3 * elements), 0);
  for (size_t i = 0; check.ok() && i < 2; ++i) {
    Axis &axis = d->windows.axes[1 + i];
    axis = {a.input->shape[2 + i],     a.kernel->values[i],      a.stride->values[2 + i],
            a.dilation->values[2 + i], a.padding->values[2 * i], a.padding->values[2 * i + 1]};
    axis.count = window_count(axis, false);
    check.that(
        axis.count >= 1, "kernelSize %lld does not fit into %lld elements of %s with padding",
        static_cast<long long>(axis.window), static_cast<long long>(axis.extent), a.input_name);
    check.size("kernelSize", Checked(axis.count) * axis.window);
    made.push(axis.count, 0);
    moves.push(axis.count, 0);
    Axis &taken = d->product.windows.axes[1 + i];
    if (!check.ok()) return;
    taken = {axis.count * axis.window, axis.window, axis.window, 1, 0, 0, axis.count};
  }
  check.shape("offset", a.offset, moves).shape(a.output_name, a.output, made);
  if (!check.ok()) return;
  if (a.sampled != nullptr) check.shape(a.sampled_name, a.sampled, samples_shape(a, *d));
  d->groups = a.deformable_groups;
  d->product.spatial = 2;
  d->product.groups = a.groups;
  d->product.in_channels = each;
  d->product.out_channels = a.weight->shape[0] / a.groups;
}

}  // namespace emu

EMU_OPERATOR(DeformableConv2d,
             (const aclTensor *x, const aclTensor *weight, const aclTensor *offset,
              const aclTensor *biasOptional, const aclIntArray *kernelSize,
              const aclIntArray *stride, const aclIntArray *padding, const aclIntArray *dilation,
              int64_t groups, int64_t deformableGroups, bool modulated, aclTensor *out,
              aclTensor *deformOutOptional)) {
  using namespace emu;
  const DeformableCall call = {"aclnnDeformableConv2d",
                               "x",
                               "out",
                               "deformOutOptional",
                               x,
                               weight,
                               offset,
                               biasOptional,
                               out,
                               deformOutOptional,
                               kernelSize,
                               stride,
                               padding,
                               dilation,
                               groups,
                               deformableGroups,
                               modulated};
  Check check(call.op);
  check.required("x", x).required("weight", weight).required("offset", offset);
  check.optional("biasOptional", biasOptional).required("kernelSize", kernelSize);
  check.required("stride", stride).required("padding", padding).required("dilation", dilation);
  check.required("out", out).optional("deformOutOptional", deformOutOptional);
  const std::pair<const char *, const aclTensor *> images[] = {
      {"x", x},
      {"weight", weight},
      {"offset", offset},
      {"out", out},
      {"deformOutOptional", deformOutOptional}};
  for (const auto &[name, tensor] : images) {
    check.dtype(name, tensor);
    if (!check.ok()) return check.status();
    if (tensor == nullptr) continue;
    check.same_dtype(name, tensor->dtype, "x", x->dtype).rank(name, tensor, 4, 4);
    format_in(check, name, tensor, {ACL_FORMAT_ND, ACL_FORMAT_NCHW});
    check.same_format(name, tensor, "x", x);
  }
  check.dtype("biasOptional", biasOptional);
  Deformable deformable{};
  if (check.ok()) check_deformable(check, call, &deformable);
  if (check.ok() && biasOptional != nullptr) {
    Layout filters;
    filters.push(weight->shape[0], 0);
    check.same_dtype("biasOptional", biasOptional->dtype, "x", x->dtype)
        .shape("biasOptional", biasOptional, filters);
  }
  if (!check.ok()) return check.status();
  const auto d = std::make_shared<const Deformable>(deformable);
  const Layout shape = samples_shape(call, deformable);
  PlanBuilder plan(call.op);
  const size_t image = plan.input(x), filters = plan.input(weight), moves = plan.input(offset),
               bias = plan.input(biasOptional), to = plan.output(out),
               kept = plan.output(deformOutOptional);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        const View asked = c.has(kept) ? view_of(c.tensor(kept)) : View();
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {result, asked});
        };
        const View from = operand(image), weights = operand(filters), offsets = operand(moves),
                   shift = c.has(bias) ? operand(bias) : View();
        std::unique_ptr<char[]> memory;
        View samples = asked;
        if (!c.has(kept)) {
          View like = from;
          like.layout = dense_like(shape);
          samples = dense_as(like, from.dtype, &memory, false);
        }
        sample_planes(*d, from, offsets, samples);
        convolve(d->product, samples, weights, shift, result);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
