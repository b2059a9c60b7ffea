// SPDX-License-Identifier: Apache-2.0
#include <cstdio>

#include "ops/rnn/network.h"

namespace emu {
namespace {

Layout layout_from(std::initializer_list<int64_t> shape) {
  return dense_layout(shape.begin(), static_cast<int>(shape.size()));
}

// "params[3]"
class MemberName {
 public:
  MemberName(const char *list, size_t index) {
    std::snprintf(text_, sizeof(text_), "%s[%zu]", list, index);
  }
  const char *text() const { return text_; }

 private:
  char text_[64];
};

void check_length(Check &check, const char *name, const aclTensorList *list, Checked expected) {
  const auto given = static_cast<int64_t>(list->members.size());
  check.that(expected.fits() && given == expected.value(),
             "%s has %lld tensors; expected %lld for these layers and directions", name,
             static_cast<long long>(given), static_cast<long long>(expected.value()));
}

}  // namespace

Layout NetworkShape::placed(int64_t columns, bool flat) const {
  if (places == RowPlaces::kPacked || (places == RowPlaces::kPadded && flat)) {
    return layout_from({rows, columns});
  }
  if (batch_first && places == RowPlaces::kEqual) return layout_from({batch, times, columns});
  return layout_from({times, batch, columns});
}

Layout NetworkShape::states() const { return layout_from({runs(), batch, hidden}); }

void check_members(Check &check, const char *name, const aclTensorList *list,
                   const aclTensor *input) {
  if (!check.ok()) return;
  for (size_t i = 0; check.ok() && i < list->members.size(); ++i) {
    const MemberName member(name, i);
    const aclTensor *tensor = list->members[i];
    check.required(member.text(), tensor).dtype(name, tensor);
    if (check.ok()) check.same_dtype(member.text(), tensor->dtype, "input", input->dtype);
  }
}

void check_runs(Check &check, const char *name, const aclTensorList *list,
                const NetworkShape &shape, const Layout &expected) {
  if (!check.ok()) return;
  check_length(check, name, list, shape.runs());
  for (size_t i = 0; check.ok() && i < list->members.size(); ++i) {
    check.shape(MemberName(name, i).text(), list->members[i], expected);
  }
}

void check_params(Check &check, const char *name, const aclTensorList *list,
                  const NetworkShape &shape) {
  if (!check.ok()) return;
  check_length(check, name, list, Checked(shape.runs()) * shape.members());
  const int64_t width = check.size(name, Checked(shape.hidden) * shape.cell->gates);
  const auto members = static_cast<size_t>(shape.members());
  for (size_t i = 0; check.ok() && i < list->members.size(); ++i) {
    const size_t run = i / members, part = i % members;
    const bool first = run < static_cast<size_t>(shape.directions);
    const Layout expected = part == 0   ? layout_from({width, first ? shape.in : shape.width()})
                            : part == 1 ? layout_from({width, shape.hidden})
                                        : layout_from({width});
    check.shape(MemberName(name, i).text(), list->members[i], expected);
  }
}

void check_network(Check &check, const NetworkCall &call, const char *batch_name,
                   const aclTensor *batch, NetworkShape *shape) {
  if (!check.ok()) return;
  const bool sized = call.sizes != nullptr;
  check.rank("input", call.input, sized ? 2 : 3, sized ? 2 : 3);
  if (sized) check.rank(call.sizes_name, call.sizes, 1, 1).rank(batch_name, batch, 3, 3);
  check.that(call.layers > 0, "numLayers is %lld; it must be positive",
             static_cast<long long>(call.layers));
  shape->cell = call.cell;
  shape->directions = call.bidirectional ? 2 : 1;
  shape->bias = call.has_bias;
  shape->dtype = call.input->dtype;
  if (!check.ok()) return;
  check_length(check, "params", call.params,
               Checked(call.layers) * shape->directions * shape->members());
  if (!check.ok()) return;
  shape->layers = call.layers;
  check.rank("params[1]", call.params->members[1], 2, 2);
  if (!check.ok()) return;
  shape->hidden = call.params->members[1]->shape[1];
  const Dims &given = call.input->shape;
  shape->in = given.back();
  if (sized) {
    shape->places = call.with_sizes;
    shape->times = call.sizes->shape[0];
    shape->batch = batch->shape[1];
    shape->rows = given[0];
  } else {
    shape->batch_first = call.batch_first;
    shape->times = given[call.batch_first ? 1 : 0];
    shape->batch = given[call.batch_first ? 0 : 1];
    shape->rows = check.size("input", Checked(shape->times) * shape->batch);
  }
  if (shape->places == RowPlaces::kPadded) {
    const int64_t rows = check.size("input", Checked(shape->times) * shape->batch);
    check.that(shape->rows == rows, "input has %lld rows; expected %lld, %lld times of %lld",
               static_cast<long long>(shape->rows), static_cast<long long>(rows),
               static_cast<long long>(shape->times), static_cast<long long>(shape->batch));
  }
  // Nothing that the kernel holds in memory has more elements than 64 bits can count.
  check.size("numLayers", Checked(shape->layers) * shape->directions * shape->hidden);
  check.size("input", Checked(shape->rows) * shape->in * 64);
  check.size("input", Checked(shape->rows) * shape->hidden * 512);
  check.size("input", Checked(shape->batch) * shape->hidden * 512);
  check_params(check, "params", call.params, *shape);
}

}  // namespace emu
