// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The inverse of maximum pools: MaxUnpool2d and MaxUnpool3d put elements at the places of maxima
// and zeros elsewhere; their gradients read the slopes at these places. Of elements of one place
// the last one stays.
#include <cstring>
#include <vector>

#include "aclnnop/index.h"
#include "core/pool.h"
#include "ops/index/addresses.h"
#include "ops/shared/rows.h"
#include "ops/window/geometry.h"

namespace emu {
namespace {

struct UnpoolCall {
  const char *op;
  const aclTensor *slopes;  // of the gradient; null forward
  const aclTensor *self, *indices;
  const aclIntArray *size;
  const aclIntArray *stride, *padding;  // of three dimensions only, where they change nothing
  const aclTensor *out;
  int spatial;
  bool backward;
};

// to[place of i] = from[i], or with `gather` to[i] = from[place of i], plane by plane.
template <class E>
void move_elements(const Image &from, const Image &places, const Image &to, bool gather,
                   IndexFault &fault) {
  const int64_t given = from.area(), made = to.area(), count = places.area();
  const int64_t limit = gather ? given : made;
  const int64_t grain = std::max<int64_t>(1, (int64_t{1} << 15) / std::max<int64_t>(1, made));
  parallel_for(to.batch * to.channels, grain, [&](int64_t begin, int64_t end) {
    std::vector<E> source(static_cast<size_t>(given)), target(static_cast<size_t>(made));
    std::vector<int64_t> at(static_cast<size_t>(count));
    const auto dense = [](std::vector<E> &elements, View like) {
      like.data = reinterpret_cast<char *>(elements.data());
      like.layout = dense_like(like.layout);
      return like;
    };
    for (int64_t i = begin; i < end; ++i) {
      const int64_t n = i / to.channels, channel = i % to.channels;
      const View plane = from.plane(n, channel);
      copy_view(plane, dense(source, plane));
      RowSource<int64_t>(places.plane(n, channel)).read(0, count, at.data());
      std::fill(target.begin(), target.end(), E{});
      for (size_t k = 0; k < at.size(); ++k) {
        const int64_t place = at[k];
        if (place < 0 || place >= limit) {
          fault.report(place, limit);
        } else if (gather) {
          target[k] = source[static_cast<size_t>(place)];
        } else {
          target[static_cast<size_t>(place)] = source[k];
        }
      }
      View made_plane = to.plane(n, channel);
      View result = dense(target, made_plane);
      result.dtype = from.dtype;
      copy_view(result, made_plane);
    }
  });
}

void move_planes(const Image &from, const Image &places, const Image &to, bool gather,
                 IndexFault &fault) {
  switch (item_size(from.dtype)) {
    case 1: return move_elements<uint8_t>(from, places, to, gather, fault);
    case 2: return move_elements<uint16_t>(from, places, to, gather, fault);
    case 4: return move_elements<uint32_t>(from, places, to, gather, fault);
    default: return move_elements<uint64_t>(from, places, to, gather, fault);
  }
}

void check_sizes(Check &check, const UnpoolCall &a) {
  const auto sizes = static_cast<size_t>(a.spatial);
  length_in(check, "outputSize", a.size, {sizes});
  if (a.stride != nullptr) {
    length_in(check, "stride", a.stride, {sizes});
    length_in(check, "padding", a.padding, {sizes});
    values_from(check, "stride", a.stride, 1);
    values_from(check, "outputSize", a.size, 1);
    only_batch_empty(check, "self", a.self, a.spatial);
  }
  if (!check.ok()) return;
  // The unpooled tensor: out, or gradOutput of the gradient.
  Layout whole = layout_of(*a.self);
  Checked given(1), wanted(1);
  for (int d = 0; d < a.spatial; ++d) {
    int64_t &extent = whole.shape[whole.rank - a.spatial + d];
    const int64_t size = a.size->values[static_cast<size_t>(d)];
    check.that(size >= 0, "outputSize has the value %lld; it must not be negative",
               static_cast<long long>(size));
    given *= extent;
    wanted *= size;
    extent = size;
  }
  if (!check.ok()) return;
  if (!a.backward || a.spatial == 3) {
    check.that(wanted.fits() && given.fits() && wanted.value() >= given.value(),
               "outputSize asks for fewer elements than a plane of self has, %lld",
               static_cast<long long>(given.value()));
  }
  check.shape(a.backward ? "gradOutput" : "out", a.backward ? a.slopes : a.out, whole);
  if (!a.backward) return;
  check.shape("out", a.out, layout_of(*a.self));
  check.that(a.self->numel() == 0 || a.slopes->numel() != 0,
             "gradOutput has shape %s, which is empty, and self is not",
             shape_text(layout_of(*a.slopes)).c_str());
}

Status plan_unpool(const UnpoolCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  if (a.backward) check.required("gradOutput", a.slopes);
  check.required("self", a.self).required("indices", a.indices).required("outputSize", a.size);
  if (a.spatial == 3) check.required("stride", a.stride).required("padding", a.padding);
  check.required("out", a.out);
  check.dtype("gradOutput", a.slopes).dtype("self", a.self).dtype("out", a.out);
  check.dtype("indices", a.indices);
  if (!check.ok()) return check.status();
  if (a.backward) check.same_dtype("gradOutput", a.slopes->dtype, "self", a.self->dtype);
  if (a.backward && a.spatial == 2) {
    check.castable(a.slopes->dtype, "out", a.out->dtype);
  } else {
    check.same_dtype("out", a.out->dtype, "self", a.self->dtype);
  }
  check.rank("self", a.self, a.spatial + 1, a.spatial + 2);
  if (!check.ok()) return check.status();
  check.shape("indices", a.indices, layout_of(*a.self));
  if (check.ok()) check_sizes(check, a);
  if (!check.ok()) return check.status();
  check.that(!a.backward || a.spatial == 2 || layout_of(*a.out).is_dense(),
             "out is not contiguous; this operator writes dense memory alone");
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t from = plan.input(a.backward ? a.slopes : a.self);
  if (a.backward) plan.input(a.self);
  const size_t places = plan.input(a.indices), to = plan.output(a.out);
  return plan.finish(
      [=, op = a.op, spatial = a.spatial, gather = a.backward](PlanContext &c) {
        Operands operands;
        const View result = view_of(c.tensor(to));
        const View source = operands.safe(view_of(c.tensor(from)), {result}),
                   at = operands.safe(view_of(c.tensor(places)), {result});
        IndexFault fault;
        move_planes(image_of(source, spatial), image_of(at, spatial), image_of(result, spatial),
                    gather, fault);
        return fault.found ? fault.status(op, "indices") : Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MaxUnpool2d, (const aclTensor *self, const aclTensor *indices,
                           const aclIntArray *outputSize, aclTensor *out)) {
  return emu::plan_unpool(
      {"aclnnMaxUnpool2d", nullptr, self, indices, outputSize, nullptr, nullptr, out, 2, false},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxUnpool3d,
             (const aclTensor *self, const aclTensor *indices, const aclIntArray *outputSize,
              const aclIntArray *stride, const aclIntArray *padding, aclTensor *out)) {
  return emu::plan_unpool(
      {"aclnnMaxUnpool3d", nullptr, self, indices, outputSize, stride, padding, out, 3, false},
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxUnpool2dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,
              const aclIntArray *outputSize, aclTensor *out)) {
  return emu::plan_unpool({"aclnnMaxUnpool2dBackward", gradOutput, self, indices, outputSize,
                           nullptr, nullptr, out, 2, true},
                          workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(MaxUnpool3dBackward,
             (const aclTensor *gradOutput, const aclTensor *self, const aclTensor *indices,
              const aclIntArray *outputSize, const aclIntArray *stride, const aclIntArray *padding,
              aclTensor *out)) {
  return emu::plan_unpool({"aclnnMaxUnpool3dBackward", gradOutput, self, indices, outputSize,
                           stride, padding, out, 3, true},
                          workspaceSize, executor);
}
EMU_CATCH
