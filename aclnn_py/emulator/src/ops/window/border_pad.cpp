// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// ReflectionPad1d to 3d mirror the image at its outermost elements, ReplicationPad1d to 3d repeat
// these, CircularPad2d and 3d go on at the other side.
#include "ops/window/border_pad.h"

#include <algorithm>

#include "aclnnop/conversion.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

int64_t source_of(int64_t place, int64_t extent, Border border) {
  if (border == Border::kRepeated) return std::clamp<int64_t>(place, 0, extent - 1);
  if (border == Border::kCircular)
    return place < 0 ? place + extent : place < extent ? place : place - extent;
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
  Margins margins;
  const Layout shape = check_padding(check, self, padding, spatial, border, false, &margins);
  if (border == Border::kReflected) {
    shape_or_one(check, "out", out, shape);
  } else {
    check.shape("out", out, shape);
  }
  if (!check.ok()) return check.status();
  return plan_one_to_one(
      op, self, out,
      [=](const View &source, const View &result) {
        const Image from = image_of(source, spatial),
                    to = image_of(in_shape(result, shape), spatial);
        pick(from, to, picks_of(from, to, margins, border));
      },
      workspace_size, executor);
}

}  // namespace

Layout check_padding(Check &check, const aclTensor *self, const aclIntArray *padding, int spatial,
                     Border border, bool limited, Margins *margins) {
  only_batch_empty(check, "self", self, spatial);
  length_in(check, "padding", padding, {2 * static_cast<size_t>(spatial)});
  values_from(check, "padding", padding, 0);
  Layout shape = layout_of(*self);
  for (int d = 0; check.ok() && d < spatial; ++d) {
    const auto pair = static_cast<size_t>(2 * (spatial - 1 - d));
    const int64_t before = padding->values[pair], after = padding->values[pair + 1];
    int64_t &extent = shape.shape[shape.rank - spatial + d];
    check.that((border == Border::kRepeated && !limited) || (before < extent && after < extent),
               "padding has %lld and %lld around %lld elements; %s needs less than there are",
               static_cast<long long>(before), static_cast<long long>(after),
               static_cast<long long>(extent),
               border == Border::kReflected  ? "a reflection"
               : border == Border::kCircular ? "a circular margin"
                                             : "this gradient");
    margins->before[kAxes - spatial + d] = before;
    extent = check.size("padding", Checked(extent) + before + after);
  }
  return shape;
}

Picks picks_of(const Image &image, const Image &padded, const Margins &margins, Border border) {
  Picks picks;
  for (int d = 0; d < kAxes; ++d) {
    auto &table = picks.axes[d];
    table.resize(static_cast<size_t>(padded.extent[d]));
    for (int64_t i = 0; i < padded.extent[d]; ++i)
      table[static_cast<size_t>(i)] = source_of(i - margins.before[d], image.extent[d], border);
  }
  return picks;
}

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
EMU_PAD(CircularPad2d, 2, kCircular)
EMU_PAD(CircularPad3d, 3, kCircular)
