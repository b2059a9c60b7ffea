// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/foreach/foreach.h"

#include <cstring>
#include <vector>

namespace emu {
namespace {

struct Member {
  ElementwiseTask task;
  size_t out = 0;
  size_t in[kMaxTensors] = {};
};

// The names of the parameters: first the lists, then the scalar (which may come before them), then
// the result. Operators in place have no result of their own; theirs is the first list.
struct Names {
  const OperatorFacts &facts;
  size_t lists;
  bool has_scalar, in_place, scalar_first;

  const char *list(size_t i) const { return facts.name(static_cast<int>(i) + scalar_first); }
  const char *scalar() const { return facts.name(scalar_first ? 0 : static_cast<int>(lists)); }
  const char *out() const {
    return in_place ? list(0) : facts.name(static_cast<int>(lists) + has_scalar);
  }
};

void check_scalar(Check &check, const Names &names, const ForeachScalar &scalar, size_t members) {
  const char *name = names.scalar();
  switch (scalar.kind) {
    case ForeachScalar::kNone: return;
    case ForeachScalar::kScalar: check.required(name, scalar.scalar); return;
    case ForeachScalar::kScalarList:
      check.required(name, scalar.list);
      if (!check.ok()) return;
      check.that(scalar.list->members.size() == members, "%s has %zu members; expected %zu", name,
                 scalar.list->members.size(), members);
      return;
    case ForeachScalar::kTensor:
    case ForeachScalar::kTensorEach: {
      check.required(name, scalar.tensor).dtype(name, scalar.tensor);
      if (!check.ok()) return;
      const auto expected =
          scalar.kind == ForeachScalar::kTensorEach ? static_cast<int64_t>(members) : 1;
      check.that(scalar.tensor->numel() == expected,
                 "%s has shape %s; expected %lld elements in all", name,
                 shape_text(layout_of(*scalar.tensor)).c_str(), static_cast<long long>(expected));
      return;
    }
  }
}

void check_member(Check &check, const char *name, size_t index, const aclTensor *tensor,
                  const aclTensor *model, aclDataType dtype, bool plain) {
  check.required(name, tensor).dtype(name, tensor).rank(name, tensor);
  if (plain) check.plain_format(name, tensor);
  if (!check.ok() || tensor == model) return;
  check.that(tensor->dtype == dtype, "%s[%zu] has dtype %s; expected %s", name, index,
             dtype_name(tensor->dtype), dtype_name(dtype));
  check.that(tensor->shape == model->shape, "%s[%zu] has shape %s; expected %s", name, index,
             shape_text(layout_of(*tensor)).c_str(), shape_text(layout_of(*model)).c_str());
}

// A number has the members' own dtype (float32 beside bfloat16, and where the documents name no
// float16) or the widest of its kind.
void check_number(Check &check, const char *name, aclDataType number, aclDataType member) {
  const ParameterFacts *facts = check.facts().find(name);
  const bool half =
      member == ACL_FLOAT16 && (facts == nullptr || contains(facts->dtypes, ACL_FLOAT16));
  check.dtype_in(name, number,
                 !is_floating(member) ? dtype_set(ACL_INT32, ACL_INT64)
                 : half               ? dtype_set(ACL_FLOAT16, ACL_DOUBLE)
                                      : dtype_set(ACL_FLOAT, ACL_DOUBLE));
}

// The element of a device tensor of any shape as the task's scalar.
void read_scalar(const View &values, int64_t index, ElementwiseTask *task) {
  aclScalar scalar;
  scalar.dtype = values.dtype;
  const int64_t size = item_size(values.dtype);
  for_each_run(coalesced(values.layout), index, 1, [&](int64_t offset, int64_t, int64_t) {
    std::memcpy(scalar.value, values.data + offset * size, static_cast<size_t>(size));
  });
  set_scalar(task, 0, scalar, false);
}

}  // namespace

Status foreach_rows(const ElementwiseRow &row, std::initializer_list<const aclTensorList *> lists,
                    const ForeachScalar &scalar, const aclTensorList *out, uint64_t *workspace_size,
                    aclOpExecutor **executor) {
  Check check(row.op);
  const bool has_scalar = scalar.kind != ForeachScalar::kNone;
  const bool in_place = check.facts().count == static_cast<int>(lists.size()) + has_scalar;
  const bool scalar_first = (row.rule & kScalarFirst) != 0;
  const Names names{check.facts(), lists.size(), has_scalar, in_place, scalar_first};
  for (size_t i = 0; i < lists.size(); ++i) check.required(names.list(i), lists.begin()[i]);
  check.required(names.out(), out);
  if (!check.ok()) return check.status();
  const size_t count = (*lists.begin())->members.size();
  check_scalar(check, names, scalar, count);
  for (size_t i = 0; i < lists.size(); ++i) {
    check.that(lists.begin()[i]->members.size() == count, "%s has %zu members; expected %zu",
               names.list(i), lists.begin()[i]->members.size(), count);
  }
  check.that(out->members.size() == count, "%s has %zu members; expected %zu", names.out(),
             out->members.size(), count);
  if (!check.ok()) return check.status();

  const bool plain = (row.rule & kAsksMore) != 0;
  const auto member_dtype = [](const aclTensor *model) {
    return model != nullptr ? model->dtype : ACL_DT_UNDEFINED;
  };
  const auto result_dtype = [&](const aclTensor *model) {
    const aclTensor *first = out->members[0];
    return (row.rule & kOwnDtype) != 0 && live(first) ? first->dtype : member_dtype(model);
  };
  std::vector<Member> members(count);
  for (size_t m = 0; m < count && check.ok(); ++m) {
    const aclTensor *model = (*lists.begin())->members[m];
    for (size_t i = 0; i < lists.size(); ++i) {
      check_member(check, names.list(i), m, lists.begin()[i]->members[m], model,
                   member_dtype(model), plain);
    }
    check_member(check, names.out(), m, out->members[m], model, result_dtype(model), plain);
    if (!check.ok()) break;
    check.that(!plain || model->dtype == lists.begin()[0]->members[0]->dtype,
               "%s[%zu] has dtype %s; expected %s", names.list(0), m, dtype_name(model->dtype),
               dtype_name(lists.begin()[0]->members[0]->dtype));
    ElementwiseTask &task = members[m].task;
    check.that(resolve_task(row, model->dtype, static_cast<int>(lists.size()), &task),
               "%s[%zu] has dtype %s, which is not supported", names.list(0), m,
               dtype_name(model->dtype));
    if (!check.ok()) break;
    if (plain && scalar.tensor != nullptr && scalar.kind == ForeachScalar::kTensor) {
      check_number(check, names.scalar(), scalar.tensor->dtype, model->dtype);
    }
    const aclScalar *value = scalar.kind == ForeachScalar::kScalar       ? scalar.scalar
                             : scalar.kind == ForeachScalar::kScalarList ? scalar.list->members[m]
                                                                         : nullptr;
    if (scalar.kind != ForeachScalar::kScalar && scalar.kind != ForeachScalar::kScalarList)
      continue;
    check.required(names.scalar(), value);
    if (!check.ok()) break;
    if ((row.rule & kScalarChooses) != 0) check.dtype(names.scalar(), value);
    else if (plain) check_number(check, names.scalar(), value->dtype, model->dtype);
    else check.castable(value->dtype, names.scalar(), task.compute_dtype);
    if (check.ok()) set_scalar(&task, 0, *value, false);
  }
  if (!check.ok()) return check.status();

  PlanBuilder plan(row.op, KernelTime::linear);
  size_t place = 0;
  for (const aclTensorList *list : lists) {
    const size_t first = plan.input_list(list);
    for (size_t m = 0; m < count; ++m) members[m].in[place] = first + m;
    ++place;
  }
  const size_t values = scalar.tensor != nullptr ? plan.input(scalar.tensor) : 0;
  const size_t first_out = in_place ? 0 : plan.output_list(out);
  for (size_t m = 0; m < count; ++m) members[m].out = in_place ? members[m].in[0] : first_out + m;
  const ForeachScalar::Kind kind = scalar.kind;
  return plan.finish(
      [members = std::move(members), values, kind](PlanContext &context) {
        int64_t index = 0;
        for (const Member &member : members) {
          ElementwiseTask task = member.task;
          if (kind == ForeachScalar::kTensor || kind == ForeachScalar::kTensorEach) {
            read_scalar(view_of(context.tensor(values)),
                        kind == ForeachScalar::kTensorEach ? index : 0, &task);
          }
          View in[kMaxTensors];
          for (int i = 0; i < task.inputs; ++i) in[i] = view_of(context.tensor(member.in[i]));
          run_elementwise(task, in, view_of(context.tensor(member.out)));
          ++index;
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace emu
