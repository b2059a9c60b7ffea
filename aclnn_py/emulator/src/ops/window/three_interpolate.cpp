// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// ThreeInterpolateBackward: each slope goes to three features, with their weights. Sums are float64
// and rounded once.
#include "aclnnop/image.h"
#include "core/pool.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kNeighbours = 3;

// (batch, channels, elements), also as (batch, channels, elements, 1).
void check_features(Check &check, const char *name, const aclTensor *tensor) {
  check.rank(name, tensor, 3, 4);
  if (!check.ok()) return;
  check.that(tensor->rank() == 3 || tensor->shape[3] == 1,
             "%s has shape %s; a fourth dimension must be 1", name,
             shape_text(layout_of(*tensor)).c_str());
  check.that(tensor->numel() > 0, "%s has shape %s; it must not be empty", name,
             shape_text(layout_of(*tensor)).c_str());
}

void give_to_neighbours(const View &slopes, const View &places, const View &weights,
                        const View &result, IndexFault &fault) {
  const int64_t batch = result.layout.shape[0], channels = result.layout.shape[1],
                features = result.layout.shape[2], count = slopes.layout.shape[2],
                taps = count * kNeighbours;
  std::vector<int64_t> at(static_cast<size_t>(taps));
  std::vector<float> shares(static_cast<size_t>(taps));
  const RowSource<float> source(slopes);
  const RowTarget<double> target(result);
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, taps));
  for (int64_t n = 0; n < batch; ++n) {
    RowSource<int64_t>(places).read(n * taps, taps, at.data());
    RowSource<float>(weights).read(n * taps, taps, shares.data());
    for (const int64_t place : at) {
      if (place < 0 || place >= features) {
        fault.report(place, features);
        return;
      }
    }
    parallel_for(channels, grain, [&](int64_t begin, int64_t end) {
      std::vector<float> line(static_cast<size_t>(count));
      std::vector<double> sums(static_cast<size_t>(features));
      for (int64_t i = n * channels + begin; i < n * channels + end; ++i) {
        source.read(i * count, count, line.data());
        std::fill(sums.begin(), sums.end(), 0.0);
        for (size_t k = 0; k < at.size(); ++k) {
          sums[static_cast<size_t>(at[k])] +=
              static_cast<double>(line[k / kNeighbours]) * static_cast<double>(shares[k]);
        }
        target.write(i * features, features, sums.data());
      }
    });
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ThreeInterpolateBackward, (const aclTensor *grad_x, const aclTensor *idx,
                                        const aclTensor *weight, int m, aclTensor *grad_y)) {
  using namespace emu;
  constexpr const char *kName = "aclnnThreeInterpolateBackward";
  Check check(kName);
  check.required("grad_x", grad_x).required("idx", idx).required("weight", weight);
  check.required("grad_y", grad_y);
  check.dtype("grad_x", grad_x).dtype("idx", idx).dtype("weight", weight).dtype("grad_y", grad_y);
  if (!check.ok()) return check.status();
  check.same_dtype("weight", weight->dtype, "grad_x", grad_x->dtype)
      .same_dtype("grad_y", grad_y->dtype, "grad_x", grad_x->dtype);
  check_features(check, "grad_x", grad_x);
  check.that(m > 0, "m is %d; it must be positive", m);
  if (!check.ok()) return check.status();
  Layout taps, features = layout_of(*grad_x);
  for (const int64_t extent : {grad_x->shape[0], grad_x->shape[2], kNeighbours})
    taps.push(extent, 0);
  features.shape[2] = m;
  check.shape("idx", idx, taps).shape("weight", weight, taps).shape("grad_y", grad_y, features);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kName);
  const size_t slopes = plan.input(grad_x), places = plan.input(idx), weights = plan.input(weight),
               to = plan.output(grad_y);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {result});
        };
        IndexFault fault;
        give_to_neighbours(operand(slopes), operand(places), operand(weights), result, fault);
        return fault.status(kName, "idx");
      },
      workspaceSize, executor);
}
EMU_CATCH
