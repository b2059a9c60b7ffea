// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/copy/blocked_format.h"

#include <cstring>

#include "core/chip.h"

namespace emu {
namespace {

int64_t parts(int64_t extent, int64_t size) { return extent / size + (extent % size != 0); }

constexpr int kN = 0, kC = 1, kD = 2, kH = 3, kW = 4;
// In the documents, not among the formats a program can name.
constexpr auto kDhwcn = static_cast<aclFormat>(31);

// The axes a plain format has, outermost first.
const char *axes_of(aclFormat format) {
  switch (static_cast<int>(format)) {
    case ACL_FORMAT_NCHW: return "nchw";
    case ACL_FORMAT_NHWC: return "nhwc";
    case ACL_FORMAT_HWCN: return "hwcn";
    case ACL_FORMAT_NCDHW: return "ncdhw";
    case ACL_FORMAT_NDHWC: return "ndhwc";
    case kDhwcn: return "dhwcn";
    default: return "";
  }
}

int number_of(char axis) { return static_cast<int>(std::strchr("ncdhw", axis) - "ncdhw"); }

// Leading dimensions, rows and columns, the last two cut into blocks of 16 rows.
bool pair_matrices(const Dims &shape, int64_t columns, FormatPair *pair) {
  const size_t rank = shape.size();
  if (rank < 2) return false;
  const int64_t rows = shape[rank - 2], cols = shape[rank - 1];
  int64_t lead = 1;
  for (size_t d = 0; d + 2 < rank; ++d) lead *= shape[d];
  const int64_t tall = parts(rows, kFractalRows), broad = parts(cols, columns);
  const int64_t extent[] = {lead, 1, 1, rows, cols};
  std::memcpy(pair->extent, extent, sizeof extent);
  pair->storage = Dims(shape.data(), rank - 2);
  for (const int64_t d : {broad, tall, kFractalRows, columns}) pair->storage.push_back(d);
  if (pair->storage.count() == kUncountable) return false;
  pair->plain.axis[kN] = {rows * cols, 0, 0};
  pair->plain.axis[kH] = {cols, 0, 0};
  pair->plain.axis[kW] = {1, 0, 0};
  pair->blocked.axis[kN] = {tall * kFractalRows * broad * columns, 0, 0};
  pair->blocked.axis[kH] = {columns, 0, 0};
  pair->blocked.axis[kW] = {1, columns, tall * kFractalRows * columns};
  return true;
}

// Images and volumes, the channels cut into blocks; weights cut the output channels too.
bool pair_volumes(const char *order, bool weight, bool deep, const Dims &shape, int64_t columns,
                  FormatPair *pair) {
  const size_t rank = std::strlen(order);
  if (shape.size() != rank) return false;
  for (int64_t &e : pair->extent) e = 1;
  int64_t step = 1;
  for (size_t d = rank; d-- > 0;) {
    const int axis = number_of(order[d]);
    pair->extent[axis] = shape[d];
    pair->plain.axis[axis] = {step, 0, 0};
    step *= shape[d];
  }
  const int64_t *e = pair->extent;
  const int64_t slices = parts(e[kC], columns), sets = parts(e[kN], kFractalRows);
  BlockedAxis *to = pair->blocked.axis;
  if (weight) {
    const Checked places = Checked(e[kD]) * slices * e[kH] * e[kW];
    if (!places.fits()) return false;
    pair->storage = Dims{places.value(), sets, kFractalRows, columns};
  } else {
    pair->storage = deep ? Dims{e[kN], e[kD], slices, e[kH], e[kW], columns}
                         : Dims{e[kN], slices, e[kH], e[kW], columns};
  }
  if (pair->storage.count() == kUncountable) return false;
  // Elements at one place of the image: 16 output channels of each set, or one.
  const int64_t place = weight ? sets * kFractalRows * columns : columns;
  to[kW] = {place, 0, 0};
  to[kH] = {e[kW] * place, 0, 0};
  to[kC] = {1, columns, e[kH] * e[kW] * place};
  to[kD] = {slices * e[kH] * e[kW] * place, 0, 0};
  to[kN] = {weight ? columns : e[kD] * slices * e[kH] * e[kW] * place, 0, 0};
  return true;
}

}  // namespace

bool is_matrix_format(aclFormat format) {
  return format == ACL_FORMAT_FRACTAL_NZ ||
         (format >= ACL_FORMAT_FRACTAL_NZ_C0_16 && format <= ACL_FORMAT_FRACTAL_NZ_C0_8);
}

int64_t block_columns(aclFormat format, aclDataType dtype) {
  switch (format) {
    case ACL_FORMAT_FRACTAL_NZ_C0_2: return 2;
    case ACL_FORMAT_FRACTAL_NZ_C0_4: return 4;
    case ACL_FORMAT_FRACTAL_NZ_C0_8: return 8;
    case ACL_FORMAT_FRACTAL_NZ_C0_16: return 16;
    case ACL_FORMAT_FRACTAL_NZ_C0_32: return 32;
    default: return fractal_columns(dtype);
  }
}

bool is_format_pair(aclFormat plain, aclFormat blocked) {
  if (chip_is_950()) return plain == ACL_FORMAT_ND && is_matrix_format(blocked);
  switch (blocked) {
    case ACL_FORMAT_FRACTAL_NZ:
      return plain == ACL_FORMAT_ND || plain == ACL_FORMAT_NCL || plain == ACL_FORMAT_NCHW ||
             plain == ACL_FORMAT_NCDHW;
    case ACL_FORMAT_NC1HWC0: return plain == ACL_FORMAT_NCHW || plain == ACL_FORMAT_NHWC;
    case ACL_FORMAT_FRACTAL_Z: return plain == ACL_FORMAT_NCHW || plain == ACL_FORMAT_HWCN;
    case ACL_FORMAT_NDC1HWC0: return plain == ACL_FORMAT_NCDHW || plain == ACL_FORMAT_NDHWC;
    case ACL_FRACTAL_Z_3D: return plain == ACL_FORMAT_NCDHW || plain == kDhwcn;
    default: return false;
  }
}

bool pair_formats(aclFormat plain, aclFormat blocked, const Dims &shape, int64_t columns,
                  FormatPair *pair) {
  *pair = FormatPair{};
  if (is_matrix_format(blocked)) return pair_matrices(shape, columns, pair);
  const bool deep = blocked == ACL_FORMAT_NDC1HWC0 || blocked == ACL_FRACTAL_Z_3D;
  const bool weight = blocked == ACL_FORMAT_FRACTAL_Z || blocked == ACL_FRACTAL_Z_3D;
  return pair_volumes(axes_of(plain), weight, deep, shape, columns, pair);
}

}  // namespace emu
