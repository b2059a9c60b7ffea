// SPDX-License-Identifier: Apache-2.0
// AllReduce of one product per group: each group has its own weight; x and y are lists of one
// tensor per group or one tensor of which the groups are consecutive rows.
#include <cinttypes>
#include <climits>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

#include "aclnnop/mc2.h"
#include "core/refusal.h"
#include "core/statuses.h"
#include "ops/mc2/fused.h"
#include "ops/mc2/partial.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnGroupedMatMulAllReduce";
constexpr size_t kMostGroups = 64;
constexpr int64_t kEndOfLastDimension = 65536;

struct GroupedCall {
  const aclTensorList *x, *weight, *bias;
  const aclIntArray *group_list;
  int64_t split_item;
  const char *reduce_op;
  int64_t comm_turn, stream_mode;
  const aclTensorList *y;

  bool cuts_x() const { return split_item == 1 || split_item == 3; }
  bool stacks_y() const { return split_item == 2 || split_item == 3; }
  size_t groups() const { return weight->members.size(); }
  bool has_bias() const { return bias && !bias->members.empty() && !absent(*bias); }

  // A list that holds one tensor of shape (0,) stands for no list.
  static bool absent(const aclTensorList &list) {
    const auto &members = list.members;
    return members.size() == 1 && members[0] && members[0]->rank() == 1 &&
           members[0]->shape[0] == 0;
  }
};

// The rows of x and y that belong to one group.
struct Group {
  int64_t first, rows, depth, columns;
};

int64_t rows_in(const aclTensor &tensor) {
  int64_t count = 1;
  for (size_t d = 0; d + 1 < tensor.rank(); ++d) count *= tensor.shape[d];
  return count;
}

void check_list(Check &check, const char *name, const aclTensorList *list, size_t expected) {
  if (!check.ok()) return;
  const size_t count = list->members.size();
  check.that(count == expected, "%s has %zu tensors; it must have %zu", name, count, expected);
  for (size_t i = 0; check.ok() && i < count; ++i) {
    const aclTensor *member = list->members[i];
    check.that(member && live(member), "%s[%zu] is null or was destroyed", name, i);
    if (check.ok())
      check.that(is_plain_format(member->format), "%s[%zu] has format %s; only ND is supported",
                 name, i, format_name(member->format));
  }
}

void check_lists(Check &check, const GroupedCall &c) {
  check.that(c.weight != nullptr, "weight is null").that(c.y != nullptr, "y is null");
  if (!check.ok()) return;
  const size_t groups = c.groups();
  check.that(groups >= 1 && groups <= kMostGroups, "weight has %zu tensors; allowed: 1 to %zu",
             groups, kMostGroups);
  check_list(check, "weight", c.weight, groups);
  check_list(check, "x", c.x, c.cuts_x() ? 1 : groups);
  check_list(check, "y", c.y, c.stacks_y() ? 1 : groups);
  if (check.ok() && c.has_bias()) check_list(check, "bias", c.bias, groups);
}

void check_group_list(Check &check, const GroupedCall &c) {
  if (!check.ok()) return;
  if (!c.cuts_x()) {
    check.that(!c.group_list || c.group_list->values.empty(),
               "groupListOptional is given, but splitItem %" PRId64 " has one x per group",
               c.split_item);
    return;
  }
  check.that(c.group_list != nullptr, "groupListOptional is null; splitItem %" PRId64 " needs one",
             c.split_item);
  if (!check.ok()) return;
  const auto &ends = c.group_list->values;
  check.that(ends.size() == c.groups(),
             "groupListOptional has %zu entries; it must have %zu, one per weight", ends.size(),
             c.groups());
  int64_t before = 0;
  for (size_t i = 0; check.ok() && i < ends.size(); ++i) {
    check.that(ends[i] >= before,
               "groupListOptional[%zu] is %" PRId64 ", below its predecessor %" PRId64, i, ends[i],
               before);
    before = ends[i];
  }
  const aclTensor &x = *c.x->members[0];
  if (check.ok()) check.rank("x[0]", &x, 2, 2);
  if (check.ok())
    check.that(before == x.shape[0],
               "groupListOptional ends at %" PRId64 ", but x[0] has %" PRId64 " rows", before,
               x.shape[0]);
}

void check_dtypes(Check &check, const GroupedCall &c) {
  if (!check.ok()) return;
  const aclDataType dtype = c.x->members[0]->dtype;
  check.dtype_in("x[0]", dtype, dt::kHalf);
  const auto all = [&](const char *name, const aclTensorList &list, aclDataType expected) {
    for (size_t i = 0; check.ok() && i < list.members.size(); ++i) {
      const aclDataType given = list.members[i]->dtype;
      check.that(given == expected, "%s[%zu] has dtype %s; with x of %s it must have %s", name, i,
                 dtype_name(given), dtype_name(dtype), dtype_name(expected));
    }
  };
  all("x", *c.x, dtype);
  all("weight", *c.weight, dtype);
  if (c.has_bias()) all("bias", *c.bias, dtype == ACL_BF16 ? ACL_FLOAT : ACL_FLOAT16);
  all("y", *c.y, dtype);
}

// Ranks and extents; fills the table of groups.
void check_shapes(Check &check, const GroupedCall &c, std::vector<Group> *groups) {
  int64_t first = 0;
  for (size_t i = 0; check.ok() && i < c.groups(); ++i) {
    const size_t of_x = c.cuts_x() ? 0 : i;
    const aclTensor &x = *c.x->members[of_x], &w = *c.weight->members[i];
    check.that(w.rank() == 2, "weight[%zu] has %zu dimensions; it must have 2", i, w.rank());
    const size_t most = c.split_item == 0 ? 6 : 2;
    check.that(x.rank() >= 2 && x.rank() <= most, "x[%zu] has %zu dimensions; allowed: 2 to %zu",
               of_x, x.rank(), most);
    if (!check.ok()) return;
    const int64_t depth = x.shape.back(), columns = w.shape[1];
    check.that(w.shape[0] == depth,
               "weight[%zu] has %" PRId64 " rows, but x[%zu] has %" PRId64 " columns (k)", i,
               w.shape[0], of_x, depth);
    check.that(!is_transposed_view(w), "weight[%zu] is a transposed view", i);
    check.that(depth > 0 && columns > 0,
               "weight[%zu] of shape (%" PRId64 ", %" PRId64 ") has no elements", i, w.shape[0],
               columns);
    check.that(depth < kEndOfLastDimension && columns < kEndOfLastDimension,
               "a last dimension is above 65535: k=%" PRId64 ", n=%" PRId64 " of group %zu", depth,
               columns, i);
    check.that(!c.stacks_y() || columns == c.weight->members[0]->shape[1],
               "weight[%zu] has %" PRId64 " columns; groups that share one y need equal ones", i,
               columns);
    if (c.has_bias()) {
      const aclTensor &bias = *c.bias->members[i];
      check.that(bias.rank() == 1 && bias.shape[0] == columns,
                 "bias[%zu] has shape %s; expected (%" PRId64 ",)", i,
                 shape_text(layout_of(bias)).c_str(), columns);
    }
    int64_t end = c.cuts_x() ? c.group_list->values[i] : first + rows_in(x);
    groups->push_back({first, end - first, depth, columns});
    first = end;
  }
}

void check_results(Check &check, const GroupedCall &c, const std::vector<Group> &groups) {
  for (size_t i = 0; check.ok() && i < c.y->members.size(); ++i) {
    const Group &group = groups[i];
    Layout expected;
    if (c.split_item == 0) {
      expected = layout_of(*c.x->members[i]);
      expected.shape[expected.rank - 1] = group.columns;
    } else {
      expected.push(c.stacks_y() ? groups.back().first + groups.back().rows : group.rows, 0);
      expected.push(group.columns, 0);
    }
    const Layout given = layout_of(*c.y->members[i]);
    check.that(same_shape(given, expected), "y[%zu] has shape %s; expected %s", i,
               shape_text(given).c_str(), shape_text(expected).c_str());
  }
}

struct Problem {
  std::shared_ptr<hccl::Communicator> communicator;
  std::vector<Group> groups;
  bool cuts_x, stacks_y, has_bias;
  size_t x, weight, bias, y;
  aclDataType dtype, travelling;
  std::string call;

  int64_t count() const {
    int64_t total = 0;
    for (const Group &group : groups) total += group.rows * group.columns;
    return total;
  }
};

// What the ranks must have in common, short enough to be compared: the shapes of all groups.
std::string describe_groups(const GroupedCall &c, const std::vector<Group> &groups) {
  std::string text = std::string(kOp) + "(splitItem=" + std::to_string(c.split_item) +
                     ", dtype=" + dtype_name(c.x->members[0]->dtype) + ", m*k*n=";
  uint64_t digest = 14695981039346656037u;  // FNV-1a, for the groups the text has no room for
  for (size_t i = 0; i < groups.size(); ++i) {
    for (const int64_t extent : {groups[i].rows, groups[i].depth, groups[i].columns}) {
      digest = (digest ^ static_cast<uint64_t>(extent)) * 1099511628211u;
    }
    if (i >= 4) continue;
    text += (i ? " " : "") + std::to_string(groups[i].rows) + "*" +
            std::to_string(groups[i].depth) + "*" + std::to_string(groups[i].columns);
  }
  if (groups.size() > 4)
    text += " and others, " + std::to_string(groups.size()) + " in all, digest " +
            std::to_string(digest);
  return text + ")";
}

Status run(const Problem &p, PlanContext &context) {
  hccl::Session session(*p.communicator, hccl::describe("%s", p.call.c_str()));
  if (const Status s = session.begin()) return s;
  const int64_t size = item_size(p.travelling);
  auto *memory = static_cast<char *>(context.workspace());
  char *at = memory;
  for (size_t i = 0; i < p.groups.size(); ++i) {
    const Group &group = p.groups[i];
    const FlatMatrix all(context.tensor(p.x + (p.cuts_x ? 0 : i)));
    Contribution mine;
    mine.left = all.matrix();
    if (p.cuts_x) {
      mine.left.data = static_cast<const char *>(mine.left.data) +
                       mine.left.row.at(group.first) * item_size(p.dtype);
      mine.left.rows = group.rows;
    }
    mine.right = matrix_stack(context.tensor(p.weight + i)).first;
    if (p.has_bias) mine.bias = row_of(context.tensor(p.bias + i));
    mine.rows = at;
    mine.dtype = p.travelling;
    contribute(mine);
    at += group.rows * group.columns * size;
  }
  if (const Status s = session.all_reduce(memory, memory, static_cast<uint64_t>(p.count()),
                                          sum_of(p.travelling)))
    return s;
  at = memory;
  const size_t results = p.stacks_y ? 1 : p.groups.size();
  for (size_t i = 0; i < results; ++i) {
    const View y = view_of(context.tensor(p.y + i));
    copy_view({at, p.travelling, dense_like(y.layout)}, y);
    at += y.count() * size;
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(GroupedMatMulAllReduce,
             (const aclTensorList *x, const aclTensorList *weight,
              const aclTensorList *biasOptional, const aclIntArray *groupListOptional,
              int64_t splitItem, const char *group, const char *reduceOp, int64_t commTurn,
              int64_t streamMode, aclTensorList *y)) {
  using namespace emu;
  const GroupedCall c{
      x, weight, biasOptional, groupListOptional, splitItem, reduceOp, commTurn, streamMode, y};
  Check check(kOp);
  check.that(streamMode == 1, "streamMode is %" PRId64 "; only 1 (stop on failure) is allowed",
             streamMode);
  check.that(commTurn == 0, "commTurn is %" PRId64 "; only 0 is supported", commTurn);
  check.required_text("reduceOp", reduceOp);
  if (check.ok())
    check.that(std::strcmp(reduceOp, "sum") == 0,
               "reduceOp is \"%.40s\"; only \"sum\" is supported", reduceOp);
  check.that(splitItem >= 0 && splitItem <= 3, "splitItem is %" PRId64 "; allowed: 0 to 3",
             splitItem);
  check.required("x", x).optional("weight", weight).optional("y", y);
  check.optional("biasOptional", biasOptional).optional("groupListOptional", groupListOptional);
  if (check.ok()) check_lists(check, c);
  check_group_list(check, c);
  check_dtypes(check, c);
  Problem p{};
  check_shapes(check, c, &p.groups);
  check_results(check, c, p.groups);
  if (!check.ok()) return check.status();
  // the wrapper reports whatever the inner operator refuses as an invalid argument
  const auto inner = [&] {
    if (const Status s = find_group(kOp, group, &p.communicator)) return s;
    if (const Status s = check_world_size(kOp, Ranks::all_reduce, *p.communicator)) return s;
    Check tiling = tiling_check(kOp);
    tiling.that(p.count() > 0, "x has no rows");
    return tiling.status();
  };
  if (inner() != 0) return emu::reported_as(emu::kInvalid);
  p.dtype = x->members[0]->dtype;
  if (const Status s = travelling_dtype(kOp, p.dtype, &p.travelling)) return s;
  PlanBuilder plan(kOp);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(emu::kInner);
  plan.waits();
  p.cuts_x = c.cuts_x();
  p.stacks_y = c.stacks_y();
  p.has_bias = c.has_bias();
  p.x = plan.input_list(x);
  p.weight = plan.input_list(weight);
  p.bias = plan.input_list(biasOptional);
  p.y = plan.output_list(y);
  p.call = describe_groups(c, p.groups) + (p.travelling != p.dtype ? " summed in FLOAT" : "");
  plan.workspace(static_cast<uint64_t>(p.count() * item_size(p.travelling)));
  auto shared = std::make_shared<const Problem>(std::move(p));
  return plan.finish(
      [shared](PlanContext &context) {
        return hccl::together(*shared->communicator, kOp, [&] { return run(*shared, context); });
      },
      workspaceSize, executor);
}
EMU_CATCH
