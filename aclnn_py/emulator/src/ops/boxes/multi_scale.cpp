// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// MultiScaleDeformableAttnFunction and MultiScaleDeformableAttentionGrad: each query is the
// weighted sum of what lies at a few points of feature maps of several sizes, whose elements are
// keys. One piece of work is one head of one sample; sums are float32, those of the gradient of
// value float64.
#include <cmath>

#include "aclnnop/vfusion.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kLanes = 8;  // channels are a multiple of it
constexpr int64_t kMostChannels = 256, kMostParts = 16;
constexpr int64_t kFewestQueries = 32, kQueryLimit = 500000;
constexpr int64_t kQueriesTogether = 64;

struct ScaledMaps {
  int64_t samples, keys, heads, channels, queries, levels, points;

  int64_t places() const { return levels * points; }  // of a query and head
};

struct MapLevel {
  int64_t height, width, start;
};

void check_maps(Check &check, const aclTensor *value, const aclTensor *sizes,
                const aclTensor *starts, const aclTensor *location, const aclTensor *weights,
                int64_t fewest_queries, ScaledMaps *m) {
  check.rank("value", value, 4, 4).rank("spatialShape", sizes, 2, 2);
  check.rank("levelStartIndex", starts, 1, 1).rank("location", location, 6, 6);
  check.rank("attnWeight", weights, 5, 5);
  if (!check.ok()) return;
  *m = {value->shape[0],    value->shape[1], value->shape[2],   value->shape[3],
        location->shape[1], sizes->shape[0], location->shape[4]};
  check.that(m->channels % kLanes == 0 && m->channels <= kMostChannels,
             "value has %lld channels; allowed: multiples of %lld up to %lld",
             static_cast<long long>(m->channels), static_cast<long long>(kLanes),
             static_cast<long long>(kMostChannels));
  check.that(m->queries >= fewest_queries && m->queries < kQueryLimit,
             "location has %lld queries; allowed: %lld to %lld", static_cast<long long>(m->queries),
             static_cast<long long>(fewest_queries), static_cast<long long>(kQueryLimit - 1));
  check.that(m->levels <= kMostParts, "spatialShape has %lld levels; allowed: %lld at most",
             static_cast<long long>(m->levels), static_cast<long long>(kMostParts));
  check.that(m->heads <= kMostParts, "value has %lld heads; allowed: %lld at most",
             static_cast<long long>(m->heads), static_cast<long long>(kMostParts));
  check.that(m->points <= kMostParts, "location has %lld points; allowed: %lld at most",
             static_cast<long long>(m->points), static_cast<long long>(kMostParts));
  if (!check.ok()) return;
  const int64_t pairs[] = {m->levels, 2};
  const int64_t places[] = {m->samples, m->queries, m->heads, m->levels, m->points, 2};
  check.shape("spatialShape", sizes, dense_layout(pairs, 2));
  check.shape("levelStartIndex", starts, dense_layout(&m->levels, 1));
  Layout expected;
  for (const int64_t extent : places) expected.push(extent, 0);
  check.shape("location", location, expected);
  --expected.rank;
  check.shape("attnWeight", weights, expected);
}

Layout query_rows(Check &check, const ScaledMaps &m) {
  Layout made;
  made.push(m.samples, 0);
  made.push(m.queries, 0);
  made.push(check.size("value", Checked(m.heads) * m.channels), 0);
  return made;
}

// The maps among the keys; one that reaches beyond them is a fault.
std::vector<MapLevel> read_levels(PlanContext &c, const ScaledMaps &m, size_t sizes, size_t starts,
                                  IndexFault &size_fault, IndexFault &start_fault) {
  const auto extents = read_all<int64_t>(c, sizes, 2 * m.levels, 0),
             first = read_all<int64_t>(c, starts, m.levels, 0);
  std::vector<MapLevel> made;
  for (size_t l = 0; l < first.size(); ++l) {
    const int64_t height = extents[2 * l], width = extents[2 * l + 1];
    for (const int64_t extent : {height, width})
      if (extent < 0 || extent > m.keys) size_fault.report(extent, m.keys);
    const Checked end = Checked(first[l]) + Checked(height) * width;
    if (first[l] < 0 || !end.fits() || end.value() > m.keys) start_fault.report(first[l], m.keys);
    made.push_back({height, width, first[l]});
  }
  return made;
}

// The elements of one head of one sample, of a tensor whose dimension `head` is that of heads.
View of_head(View view, int64_t sample, int64_t head_at, int head) {
  const Layout from = view.layout;
  const int64_t offset = sample * from.stride[0] + head_at * from.stride[head];
  if (view.data != nullptr) view.data += offset * item_size(view.dtype);
  Layout rest;
  for (int d = 1; d < from.rank; ++d)
    if (d != head) rest.push(from.shape[d], from.stride[d]);
  view.layout = rest;
  return view;
}

// The rows (samples, queries, heads * channels) with a dimension of heads.
View split_channels(View view, const ScaledMaps &m) {
  const Layout from = view.layout;
  Layout made;
  made.push(from.shape[0], from.stride[0]);
  made.push(from.shape[1], from.stride[1]);
  made.push(m.heads, from.stride[2] * m.channels);
  made.push(m.channels, from.stride[2]);
  view.layout = made;
  return view;
}

// The four keys around a point, -1 for those outside the map, and their weights.
struct PointCorners {
  int64_t key[4] = {-1, -1, -1, -1};
  float weight[4] = {};
  float across = 0, down = 0;

  PointCorners(const MapLevel &map, float u, float v) {
    const auto width = static_cast<float>(map.width), height = static_cast<float>(map.height);
    const float x = u * width - 0.5f, y = v * height - 0.5f;
    if (!(x > -1 && x < width && y > -1 && y < height)) return;
    const float left = std::floor(x), top = std::floor(y);
    across = x - left;
    down = y - top;
    weight[0] = (1 - down) * (1 - across);
    weight[1] = (1 - down) * across;
    weight[2] = down * (1 - across);
    weight[3] = down * across;
    for (int i = 0; i < 4; ++i) {
      const int64_t row = static_cast<int64_t>(top) + i / 2,
                    column = static_cast<int64_t>(left) + i % 2;
      if (row < 0 || row >= map.height || column < 0 || column >= map.width) continue;
      key[i] = map.start + row * map.width + column;
    }
  }
};

float product_of(const float *a, const float *b, int64_t count) {
  float lanes[kLanes] = {};
  for (int64_t c = 0; c < count; c += kLanes)
    for (int64_t lane = 0; lane < kLanes; ++lane) lanes[lane] += a[c + lane] * b[c + lane];
  return ((lanes[0] + lanes[1]) + (lanes[2] + lanes[3])) +
         ((lanes[4] + lanes[5]) + (lanes[6] + lanes[7]));
}

void attend(const ScaledMaps &m, const std::vector<MapLevel> &levels, const View &value,
            const View &location, const View &weights, const View &out) {
  parallel_for(m.samples * m.heads, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> keys(static_cast<size_t>(m.keys * m.channels));
    std::vector<float> at(static_cast<size_t>(2 * kQueriesTogether * m.places())),
        share(static_cast<size_t>(kQueriesTogether * m.places())),
        sums(static_cast<size_t>(kQueriesTogether * m.channels));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t sample = i / m.heads, head = i % m.heads;
      const RowSource<float> at_from(of_head(location, sample, head, 2)),
          share_from(of_head(weights, sample, head, 2));
      const RowTarget<float> to(of_head(out, sample, head, 2));
      RowSource<float>(of_head(value, sample, head, 2)).read(0, m.keys * m.channels, keys.data());
      for (int64_t q = 0; q < m.queries; q += kQueriesTogether) {
        const int64_t n = std::min(kQueriesTogether, m.queries - q), places = m.places();
        at_from.read(2 * q * places, 2 * n * places, at.data());
        share_from.read(q * places, n * places, share.data());
        std::fill(sums.begin(), sums.end(), 0.0f);
        for (int64_t p = 0; p < n * places; ++p) {
          const auto &map = levels[static_cast<size_t>(p % places / m.points)];
          const PointCorners corners(map, at[static_cast<size_t>(2 * p)],
                                     at[static_cast<size_t>(2 * p + 1)]);
          float *sum = sums.data() + p / places * m.channels;
          for (int k = 0; k < 4; ++k) {
            if (corners.key[k] < 0) continue;
            const float weight = corners.weight[k] * share[static_cast<size_t>(p)];
            const float *from = keys.data() + corners.key[k] * m.channels;
            for (int64_t c = 0; c < m.channels; ++c) sum[c] += weight * from[c];
          }
        }
        to.write(q * m.channels, n * m.channels, sums.data());
      }
    }
  });
}

struct MapSlopes {
  View value, location, weights;
};

// Adds the slopes of one point to that of its keys; returns those of its place and weight.
struct PointSlope {
  float u = 0, v = 0, weight = 0;

  PointSlope(const PointCorners &corners, const MapLevel &map, const float *keys,
             const float *slope, float share, int64_t channels, double *of_keys) {
    float dot[4] = {};
    for (int k = 0; k < 4; ++k) {
      if (corners.key[k] < 0) continue;
      dot[k] = product_of(slope, keys + corners.key[k] * channels, channels);
      weight += corners.weight[k] * dot[k];
      const float factor = corners.weight[k] * share;
      double *to = of_keys + corners.key[k] * channels;
      for (int64_t c = 0; c < channels; ++c) to[c] += static_cast<double>(factor * slope[c]);
    }
    u = static_cast<float>(map.width) * share *
        ((dot[1] - dot[0]) * (1 - corners.down) + (dot[3] - dot[2]) * corners.down);
    v = static_cast<float>(map.height) * share *
        ((dot[2] - dot[0]) * (1 - corners.across) + (dot[3] - dot[1]) * corners.across);
  }
};

void attend_gradient(const ScaledMaps &m, const std::vector<MapLevel> &levels, const View &value,
                     const View &location, const View &weights, const View &slopes,
                     const MapSlopes &out) {
  parallel_for(m.samples * m.heads, 1, [&](int64_t begin, int64_t end) {
    const int64_t places = m.places();
    std::vector<float> keys(static_cast<size_t>(m.keys * m.channels));
    std::vector<double> of_keys(keys.size());
    std::vector<float> at(static_cast<size_t>(2 * kQueriesTogether * places)),
        share(static_cast<size_t>(kQueriesTogether * places)),
        slope(static_cast<size_t>(kQueriesTogether * m.channels));
    for (int64_t i = begin; i < end; ++i) {
      const int64_t sample = i / m.heads, head = i % m.heads;
      const auto part = [&](const View &view) { return of_head(view, sample, head, 2); };
      const RowSource<float> at_from(part(location)), share_from(part(weights)),
          slope_from(part(slopes));
      const RowTarget<float> at_to(part(out.location)), share_to(part(out.weights));
      RowSource<float>(part(value)).read(0, m.keys * m.channels, keys.data());
      std::fill(of_keys.begin(), of_keys.end(), 0.0);
      for (int64_t q = 0; q < m.queries; q += kQueriesTogether) {
        const int64_t n = std::min(kQueriesTogether, m.queries - q);
        at_from.read(2 * q * places, 2 * n * places, at.data());
        share_from.read(q * places, n * places, share.data());
        slope_from.read(q * m.channels, n * m.channels, slope.data());
        for (int64_t p = 0; p < n * places; ++p) {
          const auto &map = levels[static_cast<size_t>(p % places / m.points)];
          float *place = at.data() + 2 * p;
          float &weight = share[static_cast<size_t>(p)];
          const PointSlope found(PointCorners(map, place[0], place[1]), map, keys.data(),
                                 slope.data() + p / places * m.channels, weight, m.channels,
                                 of_keys.data());
          place[0] = found.u;
          place[1] = found.v;
          weight = found.weight;
        }
        at_to.write(2 * q * places, 2 * n * places, at.data());
        share_to.write(q * places, n * places, share.data());
      }
      RowTarget<double>(part(out.value)).write(0, m.keys * m.channels, of_keys.data());
    }
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MultiScaleDeformableAttnFunction,
             (const aclTensor *value, const aclTensor *spatialShape,
              const aclTensor *levelStartIndex, const aclTensor *location,
              const aclTensor *attnWeight, aclTensor *output)) {
  using namespace emu;
  Check check("aclnnMultiScaleDeformableAttnFunction");
  check.required("value", value).required("spatialShape", spatialShape);
  check.required("levelStartIndex", levelStartIndex).required("location", location);
  check.required("attnWeight", attnWeight).required("output", output);
  check.dtype("value", value).dtype("spatialShape", spatialShape);
  check.dtype("levelStartIndex", levelStartIndex).dtype("location", location);
  check.dtype("attnWeight", attnWeight).dtype("output", output);
  if (!check.ok()) return check.status();
  check.same_dtype("location", location->dtype, "value", value->dtype);
  check.same_dtype("attnWeight", attnWeight->dtype, "value", value->dtype);
  check.same_dtype("output", output->dtype, "value", value->dtype);
  ScaledMaps m{};
  check_maps(check, value, spatialShape, levelStartIndex, location, attnWeight, kFewestQueries, &m);
  if (!check.ok()) return check.status();
  check.shape("output", output, query_rows(check, m));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t keys = plan.input(value), sizes = plan.input(spatialShape),
               starts = plan.input(levelStartIndex), places = plan.input(location),
               shares = plan.input(attnWeight), to = plan.output(output);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        if (c.tensor(to).numel() == 0) return Status{0};
        IndexFault size_fault, start_fault;
        const auto levels = read_levels(c, m, sizes, starts, size_fault, start_fault);
        if (size_fault.found) return size_fault.status(op, "spatialShape");
        if (start_fault.found) return start_fault.status(op, "levelStartIndex");
        Operands operands;
        const View result = view_of(c.tensor(to));
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {result});
        };
        attend(m, levels, operand(keys), operand(places), operand(shares),
               split_channels(result, m));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MultiScaleDeformableAttentionGrad,
             (const aclTensor *value, const aclTensor *spatialShape,
              const aclTensor *levelStartIndex, const aclTensor *location,
              const aclTensor *attnWeight, const aclTensor *gradOutput, aclTensor *gradValue,
              aclTensor *gradLocation, aclTensor *gradAttnWeight)) {
  using namespace emu;
  Check check("aclnnMultiScaleDeformableAttentionGrad");
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"value", value},
      {"spatialShape", spatialShape},
      {"levelStartIndex", levelStartIndex},
      {"location", location},
      {"attnWeight", attnWeight},
      {"gradOutput", gradOutput},
      {"gradValue", gradValue},
      {"gradLocation", gradLocation},
      {"gradAttnWeight", gradAttnWeight}};
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor);
  if (!check.ok()) return check.status();
  ScaledMaps m{};
  check_maps(check, value, spatialShape, levelStartIndex, location, attnWeight, 0, &m);
  if (!check.ok()) return check.status();
  check.shape("gradOutput", gradOutput, query_rows(check, m));
  check.shape("gradValue", gradValue, layout_of(*value));
  check.shape("gradLocation", gradLocation, layout_of(*location));
  check.shape("gradAttnWeight", gradAttnWeight, layout_of(*attnWeight));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t keys = plan.input(value), sizes = plan.input(spatialShape),
               starts = plan.input(levelStartIndex), places = plan.input(location),
               shares = plan.input(attnWeight), slopes = plan.input(gradOutput),
               to_keys = plan.output(gradValue), to_places = plan.output(gradLocation),
               to_shares = plan.output(gradAttnWeight);
  return plan.finish(
      [=, op = check.op()](PlanContext &c) {
        if (m.samples == 0 || m.heads == 0) return Status{0};
        IndexFault size_fault, start_fault;
        const auto levels = read_levels(c, m, sizes, starts, size_fault, start_fault);
        if (size_fault.found) return size_fault.status(op, "spatialShape");
        if (start_fault.found) return start_fault.status(op, "levelStartIndex");
        const MapSlopes out = {view_of(c.tensor(to_keys)), view_of(c.tensor(to_places)),
                               view_of(c.tensor(to_shares))};
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {out.value, out.location, out.weights});
        };
        attend_gradient(m, levels, operand(keys), operand(places), operand(shares),
                        split_channels(operand(slopes), m), out);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
