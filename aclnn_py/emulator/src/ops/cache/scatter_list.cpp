// SPDX-License-Identifier: Apache-2.0
// ScatterList: to each tensor of a list its part of the updates, behind a start along one
// dimension.
#include <cstring>

#include "aclnnop/index.h"
#include "core/statuses.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

constexpr size_t kMostMembers = 65536;

// Dimension `axis` is one of `updates`, whose first dimension numbers the members.
void check_shapes(Check &check, const aclTensorList *list, const aclTensor *indice,
                  const aclTensor *updates, const aclTensor *mask, int axis) {
  const auto count = static_cast<int64_t>(list->members.size());
  const Layout first = layout_of(*list->members[0]);
  check.that(updates->shape[0] == count, "updates has %lld in dimension 0; varRef has %lld members",
             wide(updates->shape[0]), wide(count));
  check.that(static_cast<int>(updates->rank()) == first.rank + 1,
             "updates has %d dimensions; expected %d, one more than the members of varRef",
             static_cast<int>(updates->rank()), first.rank + 1);
  for (const aclTensor *member : list->members) check.shape("varRef", member, first);
  for (int d = 1; check.ok() && d <= first.rank; ++d) {
    const int64_t given = updates->shape[static_cast<size_t>(d)], room = first.shape[d - 1];
    check.that(
        d == axis ? given <= room : given == room,
        "updates has %lld in dimension %d; the members of varRef have %lld, and updates must "
        "have %s",
        wide(given), d, wide(room), d == axis ? "no more" : "as many");
  }
  check.rank("indice", indice, 1, 2);
  if (!check.ok()) return;
  const int64_t pairs[] = {count, 2};
  check.shape("indice", indice, dense_layout(pairs, static_cast<int>(indice->rank())));
  check.shape("maskOptional", mask, dense_layout(&count, 1));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ScatterList,
             (aclTensorList *varRef, const aclTensor *indice, const aclTensor *updates,
              const aclTensor *maskOptional, const char *reduceOptional, int64_t axis)) {
  using namespace emu;
  constexpr const char *op = "aclnnScatterList";
  Check check(op);
  check.required("varRef", varRef).required("indice", indice).required("updates", updates);
  check.optional("maskOptional", maskOptional);
  if (!check.ok()) return check.status();
  check.that(!varRef->members.empty() && varRef->members.size() <= kMostMembers,
             "varRef has %zu members; allowed: 1 to %zu", varRef->members.size(), kMostMembers);
  for (const aclTensor *member : varRef->members) {
    check.required("varRef", member).dtype("varRef", member).plain_format("varRef", member);
    if (check.ok()) check.same_dtype("varRef", member->dtype, "updates", updates->dtype);
  }
  check.dtype("indice", indice).dtype("updates", updates).dtype("maskOptional", maskOptional);
  check.that(reduceOptional == nullptr || std::strcmp(reduceOptional, "update") == 0,
             "reduceOptional is \"%.40s\"; allowed: null, \"update\"",
             reduceOptional == nullptr ? "" : reduceOptional);
  check.tiling().plain_format("updates", updates).rank("updates", updates, 2, 8);
  if (!check.ok()) return check.status();
  int along = 0;
  check.that(wrap_dim(axis, static_cast<int>(updates->rank()), &along) && along > 0,
             "axis is %lld; allowed: a dimension of updates other than the first one", wide(axis));
  if (check.ok()) check_shapes(check, varRef, indice, updates, maskOptional, along);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t count = varRef->members.size(), first = plan.output_list(varRef);
  const size_t starts = plan.input(indice), from = plan.input(updates),
               masks = plan.input(maskOptional);
  return plan.finish(
      [=](PlanContext &c) {
        const std::vector<int64_t> listed = integers(c, starts), chosen = integers(c, masks);
        const View all = view_of(c.tensor(from));
        const int64_t most = all.layout.shape[along];
        const bool pairs = c.tensor(starts).rank() == 2;
        const auto place = [&](size_t i) {
          return pairs ? std::pair{listed[2 * i], listed[2 * i + 1]} : std::pair{listed[i], most};
        };
        const auto skipped = [&](size_t i) { return !chosen.empty() && chosen[i] == 0; };
        for (size_t i = 0; i < count; ++i) {
          const int64_t room = c.tensor(first + i).shape[static_cast<size_t>(along - 1)];
          const auto [start, length] = place(i);
          if (skipped(i) || (length >= 0 && length <= most && start >= 0 && start <= room - length))
            continue;
          return fail(kKernelFault,
                      "%s: indice puts %lld of %lld entries at %lld of member %zu, which has %lld",
                      op, wide(length), wide(most), wide(start), i, wide(room));
        }
        for (size_t i = 0; i < count; ++i) {
          if (skipped(i)) continue;
          const auto [start, length] = place(i);
          View to = view_of(c.tensor(first + i)), part = all;
          const int64_t item = item_size(all.dtype);
          part.data += static_cast<int64_t>(i) * all.layout.stride[0] * item;
          part.layout = Layout();
          for (int d = 1; d < all.layout.rank; ++d)
            part.layout.push(d == along ? length : all.layout.shape[d], all.layout.stride[d]);
          to.data += start * to.layout.stride[along - 1] * item;
          to.layout.shape[along - 1] = length;
          Apart apart;
          copy_view(apart.from(part, {to}), to);
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
