// SPDX-License-Identifier: Apache-2.0
// Margins made of the image itself: ReflectionPad1d to 3d mirror it at its outermost elements,
// ReplicationPad1d to 3d repeat these.
#include <algorithm>

#include "aclnnop/conversion.h"
#include "ops/norm/rows.h"
#include "ops/window/picking.h"

namespace emu {
namespace {

enum class Border { kReflected, kRepeated };

int64_t source_of(int64_t place, int64_t extent, Border border) {
  if (border == Border::kRepeated) return std::clamp<int64_t>(place, 0, extent - 1);
  if (place < 0) return -place;
  return place < extent ? place : 2 * (extent - 1) - place;
}

Status plan_pad(const char *op, const aclTensor *self, const aclIntArray *padding,
                const aclTensor *out, int spatial, Border border, uint64_t *workspace_size,
                aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self).required("padding", padding).required("out", out);
  check.dtype("self", self).dtype("out", out);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype)
      .rank("self", self, spatial + 1, spatial + 2);
  same_format(check, "out", out, self);
  if (!check.ok()) return check.status();
  only_batch_empty(check, "self", self, spatial);
  length_in(check, "padding", padding, {2 * static_cast<size_t>(spatial)});
  values_from(check, "padding", padding, 0);
  if (!check.ok()) return check.status();
  Layout shape = layout_of(*self);
  int64_t margins[kAxes] = {};  // in front of each axis
  for (int d = 0; d < spatial; ++d) {
    // The numbers count from the last dimension: before and behind it, then those of the one before
    // it.
    const auto pair = static_cast<size_t>(2 * (spatial - 1 - d));
    const int64_t before = padding->values[pair], after = padding->values[pair + 1];
    int64_t &extent = shape.shape[shape.rank - spatial + d];
    check.that(
        border == Border::kRepeated || (before < extent && after < extent),
        "padding has %lld and %lld around %lld elements; a reflection needs less than there are",
        static_cast<long long>(before), static_cast<long long>(after),
        static_cast<long long>(extent));
    if (!check.ok()) return check.status();
    margins[kAxes - spatial + d] = before;
    extent = check.size("padding", Checked(extent) + before + after);
  }
  if (border == Border::kReflected) {
    shape_or_one(check, "out", out, shape);
  } else {
    check.shape("out", out, shape);
  }
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      op, self, out,
      [spatial, border, shape, front = margins[0], top = margins[1], left = margins[2]](
          const View &source, const View &result) {
        const Image from = image_of(source, spatial),
                    to = image_of(in_shape(result, shape), spatial);
        const int64_t before[kAxes] = {front, top, left};
        Picks picks;
        for (int d = 0; d < kAxes; ++d) {
          auto &table = picks.axes[d];
          table.resize(static_cast<size_t>(to.extent[d]));
          for (int64_t i = 0; i < to.extent[d]; ++i) {
            table[static_cast<size_t>(i)] = source_of(i - before[d], from.extent[d], border);
          }
        }
        pick(from, to, picks);
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define EMU_PAD(NAME, SPATIAL, BORDER)                                                      \
  EMU_OPERATOR(NAME, (const aclTensor *self, const aclIntArray *padding, aclTensor *out)) { \
    return emu::plan_pad("aclnn" #NAME, self, padding, out, SPATIAL, emu::Border::BORDER,   \
                         workspaceSize, executor);                                          \
  }                                                                                         \
  EMU_CATCH

EMU_PAD(ReflectionPad1d, 1, kReflected)
EMU_PAD(ReflectionPad2d, 2, kReflected)
EMU_PAD(ReflectionPad3d, 3, kReflected)
EMU_PAD(ReplicationPad1d, 1, kRepeated)
EMU_PAD(ReplicationPad2d, 2, kRepeated)
EMU_PAD(ReplicationPad3d, 3, kRepeated)
