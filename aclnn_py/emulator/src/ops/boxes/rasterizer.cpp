// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Rasterizer: which triangle is in front at each pixel of a screen, and the weights of its corners
// there. Everything is float32, in the order of the document's formulas.
#include <array>
#include <cinttypes>
#include <cmath>
#include <limits>

#include "aclnnop/image.h"
#include "core/chip.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kName = "aclnnRasterizer";
constexpr int64_t kLongestSide = 4096;
constexpr float kDepthScale = 0.49999f, kBehindAll = std::numeric_limits<float>::infinity();

struct Screen {
  int64_t width, height;
};

struct ScreenPoint {
  float x, y, z;
};

// Three corners on the screen, and the fourth coordinates that they had.
struct Face {
  std::array<ScreenPoint, 3> corners;
  std::array<float, 3> w;
};

using Weights = std::array<float, 3>;

ScreenPoint on_screen(const float *v, const Screen &screen) {
  const float across = static_cast<float>(screen.width - 1),
              down = static_cast<float>(screen.height - 1);
  return {(v[0] / v[3] * 0.5f + 0.5f) * across + 0.5f, (0.5f + 0.5f * v[1] / v[3]) * down + 0.5f,
          v[2] / v[3] * kDepthScale + 0.5f};
}

float directed_area(const ScreenPoint &a, const ScreenPoint &b, const ScreenPoint &c) {
  return (c.x - a.x) * (b.y - a.y) - (b.x - a.x) * (c.y - a.y);
}

// The weights of the corners at the centre of a pixel, on the screen.
Weights weights_at(const Face &face, int64_t x, int64_t y) {
  const auto &[a, b, c] = face.corners;
  const ScreenPoint centre = {static_cast<float>(x) + 0.5f, static_cast<float>(y) + 0.5f, 0};
  const float area = directed_area(a, b, c);
  if (area == 0) return {-1, -1, -1};
  const float second = directed_area(a, centre, c) / area,
              third = directed_area(a, b, centre) / area;
  return {1 - second - third, second, third};
}

bool inside(const Weights &weights) {
  return weights[0] >= 0 && weights[1] >= 0 && weights[2] >= 0;
}

float depth_at(const Face &face, const Weights &weights) {
  return weights[0] * face.corners[0].z + weights[1] * face.corners[1].z +
         weights[2] * face.corners[2].z;
}

// The weights before the corners were projected.
Weights corrected(const Face &face, Weights weights) {
  for (size_t i = 0; i < 3; ++i) weights[i] /= face.w[i];
  const float sum = weights[0] + weights[1] + weights[2];
  for (float &weight : weights) weight /= sum;
  return weights;
}

struct PixelRange {
  int64_t first, end;
};

// The pixels of [first, end) whose centres may lie between the corners; none when a corner is not
// finite.
PixelRange pixels_between(float a, float b, float c, PixelRange within) {
  if (!std::isfinite(a) || !std::isfinite(b) || !std::isfinite(c)) return {0, 0};
  const float low = static_cast<float>(within.first), high = static_cast<float>(within.end);
  const float first = std::clamp(std::floor(std::min({a, b, c})), low, high),
              end = std::clamp(std::floor(std::max({a, b, c})) + 1, low, high);
  return {static_cast<int64_t>(first), static_cast<int64_t>(end)};
}

struct Pixel {
  float depth = kBehindAll;
  int32_t face = 0;  // counted from 1
};

// Draws the faces into the rows of a band; of two at the same depth the one in front stays.
void draw_band(const std::vector<Face> &faces, const Screen &screen, PixelRange rows,
               std::vector<Pixel> &pixels) {
  for (size_t i = 0; i < faces.size(); ++i) {
    const auto &[a, b, c] = faces[i].corners;
    const PixelRange down = pixels_between(a.y, b.y, c.y, rows),
                     across = pixels_between(a.x, b.x, c.x, {0, screen.width});
    for (int64_t y = down.first; y < down.end; ++y) {
      for (int64_t x = across.first; x < across.end; ++x) {
        const Weights weights = weights_at(faces[i], x, y);
        if (!inside(weights)) continue;
        const float depth = depth_at(faces[i], weights);
        Pixel &pixel = pixels[static_cast<size_t>((y - rows.first) * screen.width + x)];
        if (depth < pixel.depth) pixel = {depth, static_cast<int32_t>(i + 1)};
      }
    }
  }
}

Status read_faces(const View &points, const View &corners, const Screen &screen,
                  std::vector<Face> *faces) {
  const int64_t count = points.layout.shape[0], of_faces = corners.layout.shape[0];
  std::vector<float> v(static_cast<size_t>(4 * count));
  std::vector<int32_t> f(static_cast<size_t>(3 * of_faces));
  RowSource<float>(points).read(0, 4 * count, v.data());
  RowSource<int32_t>(corners).read(0, 3 * of_faces, f.data());
  IndexFault fault;
  faces->resize(static_cast<size_t>(of_faces));
  for (size_t i = 0; i < f.size() && !fault.found; ++i) {
    if (f[i] < 0 || f[i] >= count) {
      fault.report(f[i], count);
      continue;
    }
    const float *point = v.data() + 4 * static_cast<size_t>(f[i]);
    (*faces)[i / 3].corners[i % 3] = on_screen(point, screen);
    (*faces)[i / 3].w[i % 3] = point[3];
  }
  return fault.found ? fault.status(kName, "f") : Status{0};
}

void rasterize(const std::vector<Face> &faces, const Screen &screen, const View &indices_out,
               const View &weights_out) {
  const RowTarget<int32_t> indices_to(indices_out);
  const RowTarget<float> weights_to(weights_out);
  parallel_for(screen.height, 16, [&](int64_t begin, int64_t end) {
    const int64_t count = (end - begin) * screen.width;
    std::vector<Pixel> pixels(static_cast<size_t>(count));
    draw_band(faces, screen, {begin, end}, pixels);
    std::vector<int32_t> indices(pixels.size());
    std::vector<float> weights(3 * pixels.size());
    for (size_t i = 0; i < pixels.size(); ++i) {
      indices[i] = pixels[i].face;
      if (pixels[i].face == 0) continue;
      const Face &face = faces[static_cast<size_t>(pixels[i].face - 1)];
      const int64_t at = static_cast<int64_t>(i);
      const Weights found =
          corrected(face, weights_at(face, at % screen.width, begin + at / screen.width));
      std::copy(found.begin(), found.end(), weights.begin() + 3 * at);
    }
    indices_to.write(begin * screen.width, count, indices.data());
    weights_to.write(3 * begin * screen.width, 3 * count, weights.data());
  });
}

void check_sizes(Check &check, const aclTensor *v, const aclTensor *f, const Screen &screen,
                 int64_t useDepthPrior, const aclTensor *findicesOut,
                 const aclTensor *barycentricOut) {
  check.rank("v", v, 2, 2).rank("f", f, 2, 2);
  check.rank("findicesOut", findicesOut, 2, 2).rank("barycentricOut", barycentricOut, 3, 3);
  if (!check.ok()) return;
  check.that(v->shape[0] > 0 && v->shape[1] == 4, "v has shape %s; it must have rows of 4 numbers",
             shape_text(layout_of(*v)).c_str());
  check.that(f->shape[0] > 0 && f->shape[1] == 3, "f has shape %s; it must have rows of 3 indices",
             shape_text(layout_of(*f)).c_str());
  const auto side = [&](const char *name, int64_t given) {
    check.that(given >= 1 && given <= kLongestSide,
               "%s is %" PRId64 "; it must be in [1, %" PRId64 "]", name, given, kLongestSide);
  };
  side("width", screen.width);
  side("height", screen.height);
  check.that(useDepthPrior == 0, "useDepthPrior is %" PRId64 "; allowed: 0", useDepthPrior);
  if (!check.ok()) return;
  const int64_t shape[] = {screen.height, screen.width, 3};
  check.shape("findicesOut", findicesOut, dense_layout(shape, 2));
  check.shape("barycentricOut", barycentricOut, dense_layout(shape, 3));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Rasterizer, (const aclTensor *v, const aclTensor *f, const aclTensor *dOptional,
                          int64_t width, int64_t height, double, int64_t useDepthPrior,
                          aclTensor *findicesOut, aclTensor *barycentricOut)) {
  using namespace emu;
  Check check(kName);
  check.required("v", v).required("f", f).optional("dOptional", dOptional);
  check.required("findicesOut", findicesOut).required("barycentricOut", barycentricOut);
  check.that(!chip_is_950(), "this chip does not have the operator");
  check.dtype("v", v).dtype("f", f).dtype("dOptional", dOptional);
  check.dtype("findicesOut", findicesOut).dtype("barycentricOut", barycentricOut);
  const Screen screen = {width, height};
  check.tiling();
  if (check.ok()) check_sizes(check, v, f, screen, useDepthPrior, findicesOut, barycentricOut);
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t points = plan.input(v), corners = plan.input(f), indices = plan.output(findicesOut),
               weights = plan.output(barycentricOut);
  return plan.finish(
      [=](PlanContext &c) {
        std::vector<Face> faces;
        if (const Status s =
                read_faces(view_of(c.tensor(points)), view_of(c.tensor(corners)), screen, &faces))
          return s;
        rasterize(faces, screen, view_of(c.tensor(indices)), view_of(c.tensor(weights)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
