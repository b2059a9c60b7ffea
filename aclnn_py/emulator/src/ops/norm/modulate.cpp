// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// A scale and a shift for each sample: out = self * (1 + scale) + shift, and its gradients.
#include "aclnnop/vfusion.h"
#include "ops/block_kernels.h"
#include "ops/norm/gradient.h"

namespace emu {
namespace {

// (batch, hidden) or, where a dimension for the steps is allowed, (batch, 1, hidden).
void check_per_sample(Check &check, const char *name, const aclTensor *given, const aclTensor *x,
                      bool with_steps) {
  if (given == nullptr || !check.ok()) return;
  const int64_t narrow[] = {x->shape[0], x->shape[2]}, wide[] = {x->shape[0], 1, x->shape[2]};
  check.shape(name, given,
              with_steps && given->rank() == 3 ? dense_layout(wide, 3) : dense_layout(narrow, 2));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Modulate, (const aclTensor *self, const aclTensor *scaleOptional,
                        const aclTensor *shiftOptional, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnModulate");
  check.required("self", self).optional("scaleOptional", scaleOptional);
  check.optional("shiftOptional", shiftOptional).required("out", out);
  check.dtype("self", self).dtype("scaleOptional", scaleOptional);
  check.dtype("shiftOptional", shiftOptional).dtype("out", out).rank("self", self, 3, 3);
  if (!check.ok()) return check.status();
  if (scaleOptional) check.same_dtype("scaleOptional", scaleOptional->dtype, "self", self->dtype);
  if (shiftOptional) check.same_dtype("shiftOptional", shiftOptional->dtype, "self", self->dtype);
  check.same_dtype("out", out->dtype, "self", self->dtype).shape("out", out, layout_of(*self));
  check_per_sample(check, "scaleOptional", scaleOptional, self, true);
  check_per_sample(check, "shiftOptional", shiftOptional, self, true);
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{"scaleOptional", scaleOptional},
        {"shiftOptional", shiftOptional}}) {
    check.that(tensor == nullptr || self->numel() > 0 || tensor->numel() == 0,
               "%s has elements, and self has none", name);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t input = plan.input(self), factor = plan.input(scaleOptional);
  const size_t added = plan.input(shiftOptional), to = plan.output(out);
  const int64_t steps = self->shape[1], width = self->shape[2], rows = self->shape[0] * steps;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const bool scaled = c.has(factor), shifted = c.has(added);
        const auto safe = [&](bool given, size_t index) {
          return operands.safe(view_of(c.tensor(given ? index : input)), {result});
        };
        const RowSource<float> factors(safe(scaled, factor)), shifts(safe(shifted, added));
        const Reader lines(safe(true, input), ACL_FLOAT);
        const Writer writer(result, Compute::F32, ACL_DT_UNDEFINED);
        // Pieces of a line, in pieces of lines that share their factors.
        parallel_for(
            rows, std::max<int64_t>(1, 8 * kBlock / std::max<int64_t>(1, width)),
            [&](int64_t begin, int64_t end) {
              alignas(64) float read[kBlock], made[kBlock], by[kBlock], plus[kBlock];
              std::fill_n(by, kBlock, 1.0f);
              std::fill_n(plus, kBlock, -0.0f);  // changes not even a zero
              for (int64_t first = begin; first < end;) {
                const int64_t sample = first / steps, last = std::min(end, (sample + 1) * steps);
                for (int64_t at = 0; at < width; at += kBlock) {
                  const int64_t n = std::min(kBlock, width - at);
                  if (scaled) {
                    factors.read(sample * width + at, n, by);
                    for (int64_t i = 0; i < n; ++i) by[i] += 1.0f;
                  }
                  if (shifted) shifts.read(sample * width + at, n, plus);
                  for (int64_t row = first; row < last; ++row) {
                    const int64_t start = row * width + at;
                    auto *to = static_cast<float *>(writer.target(start, made));
                    block_kernels().scale_shift(
                        static_cast<const float *>(lines.read(start, n, read)), by, plus, n, to);
                    writer.write(start, n, to);
                  }
                }
                first = last;
              }
            });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ModulateBackward,
             (const aclTensor *grad_output, const aclTensor *input, const aclTensor *scaleOptional,
              const aclTensor *shiftOptional, aclTensor *grad_input, aclTensor *grad_scale,
              aclTensor *grad_shift)) {
  using namespace emu;
  Check check("aclnnModulateBackward");
  check.required("grad_output", grad_output).required("input", input);
  check.optional("scaleOptional", scaleOptional).optional("shiftOptional", shiftOptional);
  check.required("grad_input", grad_input);
  if (scaleOptional) check.required("grad_scale", grad_scale);
  else check.optional("grad_scale", grad_scale);
  if (shiftOptional) check.required("grad_shift", grad_shift);
  else check.optional("grad_shift", grad_shift);
  if (!check.ok()) return check.status();
  const aclTensor *by_scale = scaleOptional ? grad_scale : nullptr;
  const aclTensor *by_shift = shiftOptional ? grad_shift : nullptr;
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"grad_output", grad_output},     {"input", input},
      {"scaleOptional", scaleOptional}, {"shiftOptional", shiftOptional},
      {"grad_input", grad_input},       {"grad_scale", by_scale},
      {"grad_shift", by_shift}};
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] : tensors) {
    if (tensor) check.same_dtype(name, tensor->dtype, "grad_output", grad_output->dtype);
  }
  check.rank("input", input, 3, 3);
  if (!check.ok()) return check.status();
  check.shape("grad_output", grad_output, layout_of(*input));
  check.shape("grad_input", grad_input, layout_of(*input));
  for (const auto &[name, tensor] : tensors) {
    if (tensor == scaleOptional || tensor == shiftOptional || tensor == by_scale ||
        tensor == by_shift)
      check_per_sample(check, name, tensor, input, false);
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op(), KernelTime::linear);
  const size_t dy = plan.input(grad_output), x = plan.input(input);
  const size_t factor = plan.input(scaleOptional);
  plan.input(shiftOptional);
  const size_t dx = plan.output(grad_input);
  const size_t dscale = scaleOptional ? plan.output(grad_scale) : plan.unused(grad_scale);
  const size_t dshift = shiftOptional ? plan.output(grad_shift) : plan.unused(grad_shift);
  const int64_t steps = input->shape[1], width = input->shape[2], samples = input->shape[0];
  const bool with_scale = scaleOptional != nullptr, with_shift = shiftOptional != nullptr;
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View dx_view = view_of(c.tensor(dx));
        const View dscale_view = with_scale ? view_of(c.tensor(dscale)) : View();
        const View dshift_view = with_shift ? view_of(c.tensor(dshift)) : View();
        const auto safe = [&](size_t index) {
          return operands.safe(view_of(c.tensor(index)), {dx_view, dscale_view, dshift_view});
        };
        const RowSource<float> gradients(safe(dy)), values(safe(x)),
            factors(safe(with_scale ? factor : x));
        const RowTarget<float> target(dx_view);
        const auto count = static_cast<size_t>(width);
        parallel_for(samples, 1, [&](int64_t begin, int64_t end) {
          std::vector<float> by(count, 1.0f), g(count), row_x(count);
          std::vector<double> along(count), total(count);
          for (int64_t sample = begin; sample < end; ++sample) {
            std::fill(along.begin(), along.end(), 0.0);
            std::fill(total.begin(), total.end(), 0.0);
            if (with_scale) factors.read(sample * width, width, by.data());
            for (int64_t row = sample * steps; row < (sample + 1) * steps; ++row) {
              gradients.read(row * width, width, g.data());
              values.read(row * width, width, row_x.data());
              for (size_t i = 0; i < count; ++i) {
                along[i] += static_cast<double>(g[i]) * static_cast<double>(row_x[i]);
                total[i] += static_cast<double>(g[i]);
                g[i] *= by[i];
              }
              target.write(row * width, width, g.data());
            }
            if (with_scale)
              RowTarget<double>(dscale_view).write(sample * width, width, along.data());
            if (with_shift)
              RowTarget<double>(dshift_view).write(sample * width, width, total.data());
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
