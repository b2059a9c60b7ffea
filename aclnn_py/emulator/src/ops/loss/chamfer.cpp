// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradient of the distances between each point of one set and its nearest one of another, both
// ways. What several points add to one is added in float64.
#include "aclnnop/loss.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct PointSets {
  const aclTensor *points[2], *nearest[2], *incoming[2];
  const aclTensor *out[2];
};

Check check_points(const PointSets &a) {
  static constexpr const char *kPoints[] = {"xyz1", "xyz2"}, *kNearest[] = {"idx1", "idx2"},
                              *kIncoming[] = {"gradDist1", "gradDist2"},
                              *kOut[] = {"gradXyz1", "gradXyz2"};
  Check check("aclnnChamferDistanceBackward");
  for (int k = 0; k < 2; ++k) {
    check.required(kPoints[k], a.points[k]).required(kNearest[k], a.nearest[k]);
    check.required(kIncoming[k], a.incoming[k]).required(kOut[k], a.out[k]);
  }
  for (int k = 0; k < 2; ++k) {
    check.dtype(kPoints[k], a.points[k]).dtype(kNearest[k], a.nearest[k]);
    check.dtype(kIncoming[k], a.incoming[k]).dtype(kOut[k], a.out[k]);
    check.rank(kPoints[k], a.points[k], 3, 3);
  }
  for (int k = 0; check.ok() && k < 2; ++k) {
    const Dims &shape = a.points[k]->shape;
    check.that(shape[0] == a.points[0]->shape[0] && shape[2] == 2,
               "%s has shape %s; expected (%lld, points, 2)", kPoints[k],
               shape_text(layout_of(*a.points[k])).c_str(),
               static_cast<long long>(a.points[0]->shape[0]));
    const Layout each = dense_layout(shape.data(), 2);
    check.shape(kNearest[k], a.nearest[k], each).shape(kIncoming[k], a.incoming[k], each);
    check.shape(kOut[k], a.out[k], layout_of(*a.points[k]));
  }
  return check;
}

// The indices of one set, each into `count` points of the other.
std::vector<int64_t> read_nearest(PlanContext &c, size_t index, int64_t count, IndexFault &fault) {
  auto nearest = read_all<int64_t>(c, index, c.tensor(index).numel(), 0);
  for (const int64_t one : nearest) {
    if (one < 0 || one >= count) fault.report(one, count);
  }
  return nearest;
}

// Each point pulls at its nearest one, and is pulled.
void pull(const double *own, const double *other, const int64_t *nearest, const double *g,
          int64_t count, double *of_own, double *of_other) {
  for (int64_t i = 0; i < count; ++i) {
    for (int64_t d = 0; d < 2; ++d) {
      const double slope = 2.0 * g[i] * (own[2 * i + d] - other[2 * nearest[i] + d]);
      of_own[2 * i + d] += slope;
      of_other[2 * nearest[i] + d] -= slope;
    }
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ChamferDistanceBackward,
             (const aclTensor *xyz1, const aclTensor *xyz2, const aclTensor *idx1,
              const aclTensor *idx2, const aclTensor *gradDist1, const aclTensor *gradDist2,
              aclTensor *gradXyz1, aclTensor *gradXyz2)) {
  using namespace emu;
  const Check check =
      check_points({{xyz1, xyz2}, {idx1, idx2}, {gradDist1, gradDist2}, {gradXyz1, gradXyz2}});
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t first = plan.input(xyz1), second = plan.input(xyz2), near1 = plan.input(idx1),
               near2 = plan.input(idx2), g1 = plan.input(gradDist1), g2 = plan.input(gradDist2),
               to1 = plan.output(gradXyz1), to2 = plan.output(gradXyz2);
  const int64_t batch = xyz1->shape[0], n = xyz1->shape[1], m = xyz2->shape[1];
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        IndexFault fault1, fault2;
        const auto nearest1 = read_nearest(c, near1, m, fault1);
        if (fault1.found) return fault1.status(op, "idx1");
        const auto nearest2 = read_nearest(c, near2, n, fault2);
        if (fault2.found) return fault2.status(op, "idx2");
        const auto x = read_all<double>(c, first, batch * n * 2, 0.0),
                   y = read_all<double>(c, second, batch * m * 2, 0.0),
                   dx = read_all<double>(c, g1, batch * n, 0.0),
                   dy = read_all<double>(c, g2, batch * m, 0.0);
        std::vector<double> of_x(x.size()), of_y(y.size());
        parallel_for(batch, 1, [&](int64_t begin, int64_t end) {
          for (int64_t b = begin; b < end; ++b) {
            const double *own = x.data() + b * n * 2, *other = y.data() + b * m * 2;
            double *own_slope = of_x.data() + b * n * 2, *other_slope = of_y.data() + b * m * 2;
            pull(own, other, nearest1.data() + b * n, dx.data() + b * n, n, own_slope, other_slope);
            pull(other, own, nearest2.data() + b * m, dy.data() + b * m, m, other_slope, own_slope);
          }
        });
        RowTarget<double>(view_of(c.tensor(to1))).write(0, batch * n * 2, of_x.data());
        RowTarget<double>(view_of(c.tensor(to2))).write(0, batch * m * 2, of_y.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
