// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// AffineGrid: the places that GridSampler2D or GridSampler3D reads for an affine map. Positions
// are evenly spaced between -1 and 1: with alignCorners the first and the last lie at the ends,
// else each is the middle of its part. float32 inside; one rounding.
#include "aclnnop/math.h"
#include "core/pool.h"
#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {
namespace {

constexpr int64_t kMostPlaces = 100000;  // along an axis

std::vector<float> positions(int64_t count, bool align_corners) {
  std::vector<float> found(static_cast<size_t>(count));
  for (int64_t i = 0; i < count; ++i) {
    const auto at = static_cast<double>(2 * i), all = static_cast<double>(count);
    double position = (at + 1) / all - 1;
    if (align_corners) position = count > 1 ? at / (all - 1) - 1 : 0;
    found[static_cast<size_t>(i)] = static_cast<float>(position);
  }
  return found;
}

void affine_grid(const View &theta, const View &out, int spatial, bool align_corners) {
  const Layout &shape = out.layout;
  const int64_t batch = shape.shape[0], width = shape.shape[spatial];
  std::vector<float> axes[kAxes];  // x, y, z
  int64_t lines = 1;
  for (int d = 0; d < spatial; ++d) {
    axes[d] = positions(shape.shape[spatial - d], align_corners);
    if (d > 0) lines *= shape.shape[spatial - d];
  }
  const int64_t rows = shape.shape[spatial - 1];
  const RowSource<float> maps(theta);
  const RowTarget<float> target(out);
  const int64_t grain = std::max<int64_t>(1, 8192 / std::max<int64_t>(1, width));
  parallel_for(batch * lines, grain, [&](int64_t begin, int64_t end) {
    std::vector<float> line(static_cast<size_t>(width * spatial));
    float map[kAxes * (kAxes + 1)];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / lines, place = i % lines, terms = spatial + 1;
      maps.read(n * spatial * terms, spatial * terms, map);
      const float y = axes[1][static_cast<size_t>(place % rows)],
                  z = spatial == 3 ? axes[2][static_cast<size_t>(place / rows)] : 0.0f;
      for (int d = 0; d < spatial; ++d) {
        const float *row = map + d * terms;
        const float rest = row[1] * y + (spatial == 3 ? row[2] * z : 0.0f) + row[spatial];
        for (int64_t x = 0; x < width; ++x)
          line[static_cast<size_t>(x * spatial + d)] =
              row[0] * axes[0][static_cast<size_t>(x)] + rest;
      }
      target.write(i * width * spatial, width * spatial, line.data());
    }
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AffineGrid,
             (const aclTensor *theta, const aclIntArray *size, bool alignCorners, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnAffineGrid");
  check.required("theta", theta).required("size", size).required("out", out);
  check.dtype("theta", theta).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "theta", theta->dtype);
  length_in(check, "size", size, {4, 5});
  if (!check.ok()) return check.status();
  const int spatial = static_cast<int>(size->values.size()) - 2;
  for (size_t d = 0; d < size->values.size(); ++d) {
    const int64_t value = size->values[d];
    check.that(d == 1 || (value > 0 && value <= kMostPlaces),
               "size has the value %lld; allowed: 1 to %lld", static_cast<long long>(value),
               static_cast<long long>(kMostPlaces));
  }
  if (!check.ok()) return check.status();
  Layout maps, places;
  maps.push(size->values[0], 0);
  maps.push(spatial, 0);
  maps.push(spatial + 1, 0);
  places.push(size->values[0], 0);
  for (int d = 0; d < spatial; ++d) places.push(size->values[static_cast<size_t>(d) + 2], 0);
  places.push(spatial, 0);
  check.shape("theta", theta, maps).shape("out", out, places);
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      "aclnnAffineGrid", theta, out,
      [=](const View &source, const View &result) {
        affine_grid(source, result, spatial, alignCorners);
      },
      workspaceSize, executor);
}
EMU_CATCH
