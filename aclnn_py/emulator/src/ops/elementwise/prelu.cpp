// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// The rectifier whose slope below 0 is a parameter, one for all elements or one for each channel,
// and its gradients.
#include "aclnnop/activation.h"
#include "core/pool.h"
#include "ops/elementwise/rows.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kLeastPiece = 64 * kBlock;
constexpr int64_t kMostPieces = 64;

int64_t channels_of(const aclTensor &self) { return self.rank() > 1 ? self.shape[1] : 1; }

// One element, or one for each channel.
Check &weight_fits(Check &check, const aclTensor *weight, const aclTensor *self) {
  const int64_t count = weight->numel(), channels = channels_of(*self);
  return check.that(count == 1 || count == channels,
                    "weight has %lld elements; self has %lld channels, so expected 1 or %lld",
                    static_cast<long long>(count), static_cast<long long>(channels),
                    static_cast<long long>(channels));
}

// A dense weight repeated to the shape of `whole`.
View along_channels(const View &weight, const Layout &whole) {
  View view = weight;
  const bool one = weight.count() == 1;
  view.layout = Layout();
  for (int d = 0; d < whole.rank; ++d) view.layout.push(whole.shape[d], d == 1 && !one ? 1 : 0);
  return view;
}

// The sum of gradient times argument over the elements below 0, for each of `channels`; `inner`
// elements of a channel lie behind each other. Pieces do not depend on the number of threads.
std::vector<double> weight_sums(const View &incoming, const View &self, int64_t channels,
                                int64_t inner) {
  const int64_t total = self.count();
  std::vector<double> sums(static_cast<size_t>(channels));
  if (total == 0) return sums;
  const int64_t least = std::max(kLeastPiece, channels);
  const int64_t pieces = std::clamp<int64_t>(total / least, 1, kMostPieces);
  const int64_t each = (total + pieces - 1) / pieces;
  std::vector<std::vector<double>> parts(static_cast<size_t>(pieces));
  const RowSource<float> gradients(incoming), values(self);
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    float g[kBlock], x[kBlock];
    for (int64_t piece = begin; piece < end; ++piece) {
      std::vector<double> &own = parts[static_cast<size_t>(piece)];
      own.resize(static_cast<size_t>(channels));
      const int64_t last = std::min(total, (piece + 1) * each);
      for (int64_t start = piece * each; start < last; start += kBlock) {
        const int64_t n = std::min(kBlock, last - start);
        gradients.read(start, n, g);
        values.read(start, n, x);
        for (int64_t i = 0; i < n;) {
          const int64_t at = start + i, run = std::min(n - i, inner - at % inner);
          double sum = 0;
          for (const int64_t stop = i + run; i < stop; ++i) {
            sum += x[i] > 0 ? 0.0 : static_cast<double>(g[i]) * static_cast<double>(x[i]);
          }
          own[static_cast<size_t>(at / inner % channels)] += sum;
        }
      }
    }
  });
  for (const std::vector<double> &part : parts) {
    for (size_t c = 0; c < part.size(); ++c) sums[c] += part[c];
  }
  return sums;
}

}  // namespace

EMU_FORMULA_XY(Prelu, x > T{} ? x : x * y)
EMU_OPERATOR(Prelu, (const aclTensor *self, const aclTensor *weight, aclTensor *out)) {
  static constexpr ElementwiseRow row = {
      "aclnnPrelu", &block_table<PreluFormula, types::bit(Compute::F32), 2, 0>, kKeep};
  Check check(row.op);
  check.required("self", self).required("weight", weight).required("out", out);
  check.dtype("self", self).dtype("weight", weight).dtype("out", out);
  if (!check.ok()) return check.status();
  const aclDataType meeting = promote(self->dtype, weight->dtype);
  check.castable(meeting, "out", out->dtype);
  check.rank("self", self, 0, 8).rank("weight", weight, 0, 8);
  check.shape("out", out, layout_of(*self));
  if (check.ok()) weight_fits(check, weight, self);
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, meeting, 2, &task)) return check.status();
  PlanBuilder plan(row.op, KernelTime::linear);
  const size_t from = plan.input(self), slope = plan.input(weight), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View x = view_of(c.tensor(from));
        const Snapshot slopes(view_of(c.tensor(slope)));
        const View in[] = {x, along_channels(slopes.view(), x.layout)};
        run_elementwise(task, in, view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_FORMULA_XYZ(PreluBackward, y > T{} ? x : x * z)
EMU_OPERATOR(PreluBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *weight,
              aclTensor *gradInput, aclTensor *gradWeight)) {
  static constexpr ElementwiseRow row = {
      "aclnnPreluBackward", &block_table<PreluBackwardFormula, types::bit(Compute::F32), 3, 0>,
      kKeep};
  Check check(row.op);
  check.required("gradOutput", gradOutput).required("self", self).required("weight", weight);
  check.required("gradInput", gradInput).required("gradWeight", gradWeight);
  if (!check.ok()) return check.status();
  check.dtype("self", self);
  const std::pair<const char *, const aclTensor *> others[] = {{"gradOutput", gradOutput},
                                                               {"weight", weight},
                                                               {"gradInput", gradInput},
                                                               {"gradWeight", gradWeight}};
  for (const auto &[name, tensor] : others) {
    check.same_dtype(name, tensor->dtype, "self", self->dtype);
  }
  check.rank("self", self, 0, 8);
  for (const auto &[name, tensor] : others) check.rank(name, tensor, 0, 8);
  check.shape("gradInput", gradInput, layout_of(*self));
  if (!check.ok()) return check.status();
  weight_fits(check, weight, self).shape("gradWeight", gradWeight, layout_of(*weight));
  Layout meet;
  const bool meets = broadcast_shapes(layout_of(*self), layout_of(*gradOutput), &meet);
  check.that(meets && same_shape(meet, layout_of(*self)),
             "gradOutput has shape %s, which does not broadcast to %s of self",
             shape_text(layout_of(*gradOutput)).c_str(), shape_text(layout_of(*self)).c_str());
  ElementwiseTask task;
  if (!check.ok() || !resolve_task(row, self->dtype, 3, &task)) return check.status();
  PlanBuilder plan(row.op, KernelTime::linear);
  const size_t incoming = plan.input(gradOutput), from = plan.input(self),
               slope = plan.input(weight), to = plan.output(gradInput),
               sums = plan.output(gradWeight);
  const int64_t channels = weight->numel() == 1 ? 1 : channels_of(*self);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to)), whole = view_of(c.tensor(sums));
        Operands operands;
        const View x = operands.safe(view_of(c.tensor(from)), {whole});
        const View g = operands.safe(view_of(c.tensor(incoming), x.layout), {whole});
        const Snapshot slopes(view_of(c.tensor(slope)));
        int64_t inner = 1;
        for (int d = 2; d < x.layout.rank; ++d) inner *= x.layout.shape[d];
        if (channels == 1) inner = std::max<int64_t>(1, x.count());
        const std::vector<double> totals =
            channels == 0 ? std::vector<double>()
                          : weight_sums(g, x, channels, std::max<int64_t>(1, inner));
        const View in[] = {g, x, along_channels(slopes.view(), x.layout)};
        run_elementwise(task, in, result);
        RowTarget<double>(whole).write(0, channels, totals.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

}  // namespace emu
