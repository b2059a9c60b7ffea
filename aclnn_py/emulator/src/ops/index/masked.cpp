// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// MaskedSelect, InplaceMaskedScatter, Nonzero, NonzeroV2 and OneHot.
#include "aclnnop/conversion.h"
#include "aclnnop/index.h"
#include "aclnnop/math.h"
#include "core/statuses.h"
#include "ops/index/addresses.h"
#include "ops/index/masks.h"
#include "ops/shape/movement.h"
#include "ops/shared/rows.h"

#include <optional>

namespace emu {
namespace {

// The first `count` positions of a result that has room for more.
View head_of(const View &view, int64_t count) { return narrowed(view, 0, 0, count); }

Status plan_nonzero(const char *op, const aclTensor *self, const aclTensor *out, bool transposed,
                    uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(op);
  check.required("self", self)
      .required("out", out)
      .dtype("self", self)
      .dtype("out", out)
      .rank("self", self, 0, 8);
  check.rank("out", out, 2, 2);
  if (!check.ok()) return check.status();
  const auto rank = static_cast<int64_t>(self->rank());
  check.that(out->shape[transposed ? 0 : 1] == rank,
             "out has shape %s; one of its dimensions must be the rank of self, %lld",
             shape_text(layout_of(*out)).c_str(), static_cast<long long>(rank));
  check.that(out->contiguous(), "out is not contiguous");
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(self), to = plan.output(out);
  const GrowingResult result(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from)), target = view_of(c.tensor(to));
        const Truth truth(source, {target});
        const int64_t count = truth.count(), room = target.layout.shape[transposed ? 1 : 0];
        if (count > room) {
          return fail(
              kKernelFault,
              "%s: out has room for %lld positions; self has %lld elements that are not zero", op,
              static_cast<long long>(room), static_cast<long long>(count));
        }
        int64_t *first[kMaxRank];
        for (int64_t d = 0; d < rank; ++d)
          first[d] = reinterpret_cast<int64_t *>(target.data) + d * (transposed ? count : 1);
        write_coordinates(truth, source.layout, first, transposed ? 1 : rank);
        Layout shape;
        shape.push(transposed ? rank : count, 0);
        shape.push(transposed ? count : rank, 0);
        result.settle(shape);
        return Status{0};
      },
      workspace_size, executor);
}

template <size_t kSize>
struct Item {
  char bytes[kSize];
};

// The chosen elements of dense values, one behind the other.
template <size_t kSize>
void select_items(const Truth &truth, const char *values, char *to) {
  const auto *items = reinterpret_cast<const Item<kSize> *>(values);
  auto *found = reinterpret_cast<Item<kSize> *>(to);
  truth.each([&](int64_t begin, int64_t end, int64_t rank) {
    Item<kSize> block[kBlock];
    const int64_t kept = truth.keep(begin, end - begin, items + begin, block);
    std::copy_n(block, kept, found + rank);
  });
}

void select(const Truth &truth, const View &from, const View &target, char *to) {
  Operands operands;
  View values = operands.safe(from, {target});
  std::optional<Snapshot> dense;
  if (!values.layout.is_dense() || values.data == target.data)
    values = dense.emplace(values).view();
  switch (item_size(values.dtype)) {
    case 1: return select_items<1>(truth, values.data, to);
    case 2: return select_items<2>(truth, values.data, to);
    case 4: return select_items<4>(truth, values.data, to);
    case 8: return select_items<8>(truth, values.data, to);
    default: return select_items<16>(truth, values.data, to);
  }
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MaskedSelect, (const aclTensor *self, const aclTensor *mask, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnMaskedSelect");
  check.required("self", self).required("mask", mask).required("out", out);
  check.dtype("self", self)
      .dtype("mask", mask)
      .dtype("out", out)
      .rank("self", self, 0, 8)
      .rank("mask", mask, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("out", out->dtype, "self", self->dtype).rank("out", out, 1, 1);
  Layout walk;
  check.that(broadcast_shapes(layout_of(*self), layout_of(*mask), &walk),
             "mask %s does not broadcast with self %s", shape_text(layout_of(*mask)).c_str(),
             shape_text(layout_of(*self)).c_str());
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnMaskedSelect", KernelTime::linear);
  const size_t from = plan.input(self), where = plan.input(mask), to = plan.output(out);
  const GrowingResult result(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const Truth truth(view_of(c.tensor(where), walk), {target});
        const int64_t count = truth.count(), room = target.count();
        if (count > room) {
          return fail(emu::kKernelFault,
                      "aclnnMaskedSelect: out has %lld elements; mask selects %lld",
                      static_cast<long long>(room), static_cast<long long>(count));
        }
        View dense = head_of(target, count);
        const bool direct = dense.layout.is_dense();
        std::unique_ptr<char[]> packed;
        if (!direct) {
          packed.reset(new char[static_cast<size_t>(count * item_size(target.dtype))]);
          dense.data = packed.get();
          dense.layout = dense_like(dense.layout);
        }
        select(truth, view_of(c.tensor(from), walk), target, dense.data);
        if (!direct) copy_view(dense, head_of(target, count));
        result.settle(dense.layout);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// The true elements of the mask take the elements of source one after the other.
EMU_OPERATOR(InplaceMaskedScatter,
             (aclTensor *selfRef, const aclTensor *mask, const aclTensor *source)) {
  using namespace emu;
  Check check("aclnnInplaceMaskedScatter");
  check.required("selfRef", selfRef).required("mask", mask).required("source", source);
  check.dtype("selfRef", selfRef)
      .dtype("mask", mask)
      .rank("selfRef", selfRef, 0, 8)
      .rank("mask", mask, 0, 8);
  if (!check.ok()) return check.status();
  check.same_dtype("source", source->dtype, "selfRef", selfRef->dtype);
  Layout met;
  const Layout self = layout_of(*selfRef);
  check.that(broadcast_shapes(layout_of(*mask), self, &met) && same_shape(met, self),
             "mask %s does not broadcast to selfRef %s", shape_text(layout_of(*mask)).c_str(),
             shape_text(self).c_str());
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnInplaceMaskedScatter", KernelTime::linear);
  const size_t to = plan.output(selfRef), where = plan.input(mask), from = plan.input(source);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        const Truth truth(view_of(c.tensor(where), target.layout), {target});
        const Snapshot values(view_of(c.tensor(from))), line(target);
        const int64_t size = item_size(target.dtype), available = values.view().count();
        int64_t used = 0;
        for (int64_t i = 0; i < target.count(); ++i) {
          if (!truth[i]) continue;
          if (used == available) {
            return fail(emu::kKernelFault,
                        "aclnnInplaceMaskedScatter: source has %lld elements; mask asks for more",
                        static_cast<long long>(available));
          }
          std::copy_n(values.view().data + used++ * size, size, line.view().data + i * size);
        }
        copy_view(line.view(), target);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(Nonzero, (const aclTensor *self, aclTensor *out)) {
  return emu::plan_nonzero("aclnnNonzero", self, out, false, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(NonzeroV2, (const aclTensor *self, aclTensor *out)) {
  return emu::plan_nonzero("aclnnNonzeroV2", self, out, true, workspaceSize, executor);
}
EMU_CATCH

// A new dimension of numClasses at `axis`: onValue where self names the class, offValue elsewhere.
// A number outside names none.
EMU_OPERATOR(OneHot, (const aclTensor *self, int numClasses, const aclTensor *onValue,
                      const aclTensor *offValue, int64_t axis, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnOneHot");
  check.required("self", self)
      .required("onValue", onValue)
      .required("offValue", offValue)
      .required("out", out);
  check.dtype("self", self).dtype("onValue", onValue).dtype("offValue", offValue).dtype("out", out);
  check.rank("self", self, 0, 7);
  if (!check.ok()) return check.status();
  check.same_dtype("onValue", onValue->dtype, "out", out->dtype)
      .same_dtype("offValue", offValue->dtype, "out", out->dtype);
  // Of more elements the first one counts.
  check.that(onValue->numel() > 0 && offValue->numel() > 0,
             "onValue and offValue must have an element");
  check.that(numClasses >= 0, "numClasses is %d; it must not be negative", numClasses);
  int at = 0;
  dimension(check, "axis", axis, "out", self->rank() + 1, &at);
  if (!check.ok()) return check.status();
  Layout result;
  for (int d = 0; d <= static_cast<int>(self->rank()); ++d) {
    if (d == at) result.push(numClasses, 0);
    if (d < static_cast<int>(self->rank())) result.push(self->shape[static_cast<size_t>(d)], 0);
  }
  check.shape("out", out, result);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnOneHot", KernelTime::linear);
  const size_t from = plan.input(self), on = plan.input(onValue), off = plan.input(offValue),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View target = view_of(c.tensor(to));
        if (target.count() == 0) return Status{0};
        View hot = view_of(c.tensor(on)), cold = view_of(c.tensor(off));
        hot.layout = Layout();
        const Snapshot kept_hot(hot), classes(view_of(c.tensor(from)));
        cold.layout = still(target.layout);
        move_view(cold, target);
        const View line = selected(target, at, 0);
        const Addresses places(line);
        const Reader reader(classes.view(), ACL_INT64);
        const int64_t size = item_size(target.dtype), step = target.layout.stride[at] * size;
        IndexFault unused;
        for (int64_t start = 0; start < line.count(); start += kBlock) {
          const int64_t n = std::min(kBlock, line.count() - start);
          char *address[kBlock];
          int64_t scratch[kBlock];
          places.list(start, n, address, unused);
          const auto *names = static_cast<const int64_t *>(reader.read(start, n, scratch));
          for (int64_t i = 0; i < n; ++i) {
            if (names[i] < 0 || names[i] >= numClasses) continue;
            std::copy_n(kept_hot.view().data, size, address[i] + names[i] * step);
          }
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
