// SPDX-License-Identifier: Apache-2.0
#include "ops/gmm/float_scales.h"

#include <algorithm>

#include "ops/convert.h"

namespace emu {
namespace {

Layout shape_of(FloatMode mode, bool stacked, int64_t groups, int64_t first, int64_t second) {
  Layout shape;
  if (stacked) shape.push(groups, 0);
  shape.push(first, 0);
  shape.push(second, 0);
  if (mode == FloatMode::kMx) shape.push(2, 0);
  return shape;
}

}  // namespace

Check &check_weight_scales(Check &check, const char *name, const aclTensor &scale, FloatMode mode,
                           const FloatWeight &weight, bool stacked, ScaleMap *map) {
  if (!check.ok()) return check;
  const bool mx = mode == FloatMode::kMx;
  const int64_t deep = inner_entries(mode, weight.depth), unit = mx ? 2 : 1;
  const int64_t wide = mx ? weight.columns : inner_entries(mode, weight.columns);
  const Layout given = layout_of(scale), plain = shape_of(mode, stacked, weight.groups, deep, wide),
               turned = shape_of(mode, stacked, weight.groups, wide, deep);
  map->rows = mx ? 1 : 128;
  map->pairs = mx;
  // Where both shapes fit, what lies dense has the order of the weight's memory.
  const bool in_order = weight.turned && same_shape(given, turned) && given.is_dense();
  const int64_t step = (in_order ? 1 : wide) * unit;
  map->row_step = (in_order ? deep : 1) * unit;
  map->group_step = map->pair_step = step;
  return check.that(in_order || same_shape(given, plain), "%s has shape %s; expected %s", name,
                    shape_text(given).c_str(), shape_text(weight.turned ? turned : plain).c_str());
}

Check &check_row_scales(Check &check, const char *name, const aclTensor &scale, FloatMode mode,
                        int64_t rows, int64_t depth, ScaleMap *map) {
  const int64_t deep = inner_entries(mode, depth), unit = mode == FloatMode::kMx ? 2 : 1;
  map->pairs = mode == FloatMode::kMx;
  map->row_step = deep * unit;
  map->group_step = map->pair_step = unit;
  return check.shape(name, &scale, shape_of(mode, false, 1, rows, deep));
}

void round_values(aclDataType dtype, float *values, int64_t count) {
  if (dtype == ACL_FLOAT) return;
  uint16_t bits[kBlock];
  for (int64_t done = 0; done < count; done += kBlock) {
    const int64_t n = std::min(kBlock, count - done);
    store_f32(values + done, bits, dtype, 0, 1, n);
    load_f32(bits, dtype, 0, 1, n, values + done);
  }
}

}  // namespace emu
