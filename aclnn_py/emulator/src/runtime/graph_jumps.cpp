// SPDX-License-Identifier: Apache-2.0
// Which stream of a model instance runs when: streams that start others, jumps by a comparison of
// two numbers of the device, jumps to labels by an index on the device. All of it is recorded while
// the instance is being built (aclmdlRIBuildBegin).
#include <algorithm>
#include <memory>
#include <vector>

#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/graph.h"
#include "core/memory.h"
#include "core/process.h"

namespace emu {
namespace {

constexpr size_t kMostLabels = 65535;

// Where a label was set. Jumps hold it, so that one that is destroyed still leads there.
struct LabelPlace {
  std::mutex mutex;
  bool set = false;
  uint32_t graph = 0;
  GraphPlace place;
};

struct Label {
  std::shared_ptr<LabelPlace> place;
};
struct LabelList {
  std::vector<std::shared_ptr<LabelPlace>> places;
};

Slots<Label> &labels() {
  static auto *const all = new Slots<Label>(kMostLabels);
  return *all;
}
Slots<LabelList> &label_lists() {
  static auto *const all = new Slots<LabelList>(kMostLabels);
  return *all;
}

Status find_label(const char *routine, aclrtLabel raw, Label **label) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: the label is null.", routine);
  *label = labels().find(raw);
  if (*label != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live label.", routine, raw);
}

Status find_list(const char *routine, aclrtLabelList raw, LabelList **list) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: labelList is null.", routine);
  *list = label_lists().find(raw);
  if (*list != nullptr) return 0;
  return fail(ACL_ERROR_RT_INVALID_HANDLE, "%s: %p is not a live list of labels.", routine, raw);
}

// Null, which is the default stream elsewhere, is bound to no instance.
Status find_stream(const char *routine, const char *parameter, aclrtStream raw, Stream **stream) {
  EMU_ENTER_AS(routine);
  if (raw == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", routine, parameter);
  return resolve(raw, routine, stream);
}

Status check_operand(const char *routine, const char *parameter, const void *address, size_t size) {
  if (address == nullptr)
    return fail(ACL_ERROR_INVALID_PARAM, "%s: %s is null.", routine, parameter);
  if (on_device(address, size, nullptr)) return 0;
  return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: %s is %s.", routine, parameter,
              describe_address(address).c_str());
}

// Memory may have been freed since the jump was recorded.
template <class Number>
Status read(const char *routine, const void *address, Number *number) {
  if (!on_device(address, sizeof *number, nullptr)) {
    return fail(ACL_ERROR_RT_SYS_DMA, "%s: it reads %s.", routine,
                describe_address(address).c_str());
  }
  *number = __atomic_load_n(static_cast<const Number *>(address), __ATOMIC_ACQUIRE);
  return 0;
}

bool holds(int64_t left, aclrtCondition condition, int64_t right) {
  switch (condition) {
    case ACL_RT_EQUAL: return left == right;
    case ACL_RT_NOT_EQUAL: return left != right;
    case ACL_RT_GREATER: return left > right;
    case ACL_RT_GREATER_OR_EQUAL: return left >= right;
    case ACL_RT_LESS: return left < right;
    default: return left <= right;
  }
}

struct Comparison {
  const void *left, *right;
  aclrtCondition condition;
  bool wide;  // numbers of 64 bits

  Status decide(bool *answer) const {
    int64_t values[2] = {};
    const void *const addresses[2] = {left, right};
    for (int i = 0; i < 2; ++i) {
      int32_t narrow = 0;
      const Status s = wide ? read("aclrtSwitchStream", addresses[i], &values[i])
                            : read("aclrtSwitchStream", addresses[i], &narrow);
      if (s != 0) return s;
      if (!wide) values[i] = narrow;
    }
    *answer = holds(values[0], condition, values[1]);
    return 0;
  }
};

Status check_comparison(const char *routine, const Comparison &c, aclrtCompareDataType type) {
  if (c.condition < ACL_RT_EQUAL || c.condition > ACL_RT_LESS_OR_EQUAL) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "%s: cond is %d; it is no comparison.", routine,
                static_cast<int>(c.condition));
  }
  if (type != ACL_RT_SWITCH_INT32 && type != ACL_RT_SWITCH_INT64) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "%s: dataType is %d; allowed are INT32 (0) and INT64 (1).", routine,
                static_cast<int>(type));
  }
  const size_t size = c.wide ? sizeof(int64_t) : sizeof(int32_t);
  if (const Status s = check_operand(routine, "leftValue", c.left, size)) return s;
  return check_operand(routine, "rightValue", c.right, size);
}

Status go_to_label(const void *index, uint32_t count, uint32_t graph,
                   const std::vector<std::shared_ptr<LabelPlace>> &places,
                   std::optional<GraphPlace> *to) {
  uint32_t chosen = 0;
  if (const Status s = read("aclrtSwitchLabelByIndex", index, &chosen)) return s;
  LabelPlace &label = *places[std::min(chosen, count - 1)];
  std::lock_guard<std::mutex> lock(label.mutex);
  if (!label.set || label.graph != graph) {
    return fail(ACL_ERROR_RT_LABEL_CONTEXT,
                "aclrtSwitchLabelByIndex: label %u of the list was not set in this model instance "
                "(aclrtSetLabel).",
                std::min(chosen, count - 1));
  }
  *to = label.place;
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtActiveStream(aclrtStream activeStream, aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *started = nullptr, *found = nullptr;
  if (const Status s = emu::find_stream(__func__, "activeStream", activeStream, &started)) return s;
  if (const Status s = emu::find_stream(__func__, "stream", stream, &found)) return s;
  if (started == found) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtActiveStream: activeStream and stream are the same.");
  }
  size_t branch = 0;
  if (const Status s = emu::find_branch(*found, *started, __func__, &branch)) return s;
  return emu::record_start(*found, branch, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtSwitchStream(void *leftValue, aclrtCondition cond, void *rightValue,
                                      aclrtCompareDataType dataType, aclrtStream trueStream,
                                      aclrtStream falseStream, aclrtStream stream) try {
  EMU_TIMED();
  emu::Stream *found = nullptr, *yes = nullptr, *no = nullptr;
  if (const Status s = emu::find_stream(__func__, "stream", stream, &found)) return s;
  const emu::Comparison comparison{leftValue, rightValue, cond, dataType == ACL_RT_SWITCH_INT64};
  if (const Status s = emu::check_comparison(__func__, comparison, dataType)) return s;
  if (const Status s = emu::find_stream(__func__, "trueStream", trueStream, &yes)) return s;
  size_t targets[2] = {};
  if (const Status s = emu::find_branch(*found, *yes, __func__, &targets[1])) return s;
  // Later documents reserve falseStream: without it the stream goes on with its next task.
  if (falseStream != nullptr) {
    if (const Status s = emu::find_stream(__func__, "falseStream", falseStream, &no)) return s;
    if (const Status s = emu::find_branch(*found, *no, __func__, &targets[0])) return s;
  }
  return emu::record_jump(
      *found,
      [=, no_target = no == nullptr, else_to = targets[0],
       to = targets[1]](std::optional<emu::GraphPlace> *place) -> Status {
        bool answer = false;
        if (const Status s = comparison.decide(&answer)) return s;
        if (answer || !no_target) *place = emu::GraphPlace{answer ? to : else_to, 0};
        return 0;
      },
      __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateLabel(aclrtLabel *label) try {
  EMU_ENTER();
  if (label == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateLabel: label is null.");
  auto place = std::make_shared<emu::LabelPlace>();
  emu::Label *made = emu::labels().create(emu::Label{std::move(place)});
  if (made == nullptr) {
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL,
                "aclrtCreateLabel: the process has all its %zu labels in use.", emu::kMostLabels);
  }
  *label = made;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyLabel(aclrtLabel label) try {
  emu::Label *found = nullptr;
  if (const Status s = emu::find_label(__func__, label, &found)) return s;
  if (!emu::labels().retire(found)) return emu::find_label(__func__, label, &found);
  emu::labels().destroy(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSetLabel(aclrtLabel label, aclrtStream stream) try {
  EMU_TIMED();
  emu::Label *found = nullptr;
  if (const Status s = emu::find_label(__func__, label, &found)) return s;
  emu::Stream *target = nullptr;
  if (const Status s = emu::find_stream(__func__, "stream", stream, &target)) return s;
  emu::GraphPlace place;
  uint32_t graph = 0;
  if (const Status s = emu::next_place(*target, __func__, &place, &graph)) return s;
  std::lock_guard<std::mutex> lock(found->place->mutex);
  if (found->place->set)
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtSetLabel: the label is set already.");
  found->place->set = true;
  found->place->graph = graph;
  found->place->place = place;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtCreateLabelList(aclrtLabel *labels, size_t num,
                                         aclrtLabelList *labelList) try {
  EMU_ENTER();
  if (labels == nullptr || labelList == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtCreateLabelList: %s is null.",
                labels == nullptr ? "labels" : "labelList");
  }
  if (num == 0 || num > emu::kMostLabels) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtCreateLabelList: num is %zu; allowed: 1 to %zu.",
                num, emu::kMostLabels);
  }
  emu::LabelList list;
  for (size_t i = 0; i < num; ++i) {
    emu::Label *found = nullptr;
    if (const Status s = emu::find_label(__func__, labels[i], &found)) return s;
    list.places.push_back(found->place);
  }
  emu::LabelList *made = emu::label_lists().create(std::move(list));
  if (made == nullptr)
    return fail(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, "aclrtCreateLabelList: too many lists.");
  *labelList = made;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtDestroyLabelList(aclrtLabelList labelList) try {
  emu::LabelList *found = nullptr;
  if (const Status s = emu::find_list(__func__, labelList, &found)) return s;
  if (!emu::label_lists().retire(found)) return emu::find_list(__func__, labelList, &found);
  emu::label_lists().destroy(found);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtSwitchLabelByIndex(void *ptr, uint32_t maxValue, aclrtLabelList labelList,
                                            aclrtStream stream) try {
  EMU_TIMED();
  emu::LabelList *list = nullptr;
  if (const Status s = emu::find_list(__func__, labelList, &list)) return s;
  if (const Status s = emu::check_operand(__func__, "ptr", ptr, sizeof(uint32_t))) return s;
  if (maxValue == 0 || maxValue > list->places.size()) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtSwitchLabelByIndex: maxValue is %u; the list has %zu labels.", maxValue,
                list->places.size());
  }
  emu::Stream *found = nullptr;
  if (const Status s = emu::find_stream(__func__, "stream", stream, &found)) return s;
  emu::GraphPlace here;
  uint32_t graph = 0;
  if (const Status s = emu::next_place(*found, __func__, &here, &graph)) return s;
  return emu::record_jump(
      *found,
      [=, places = list->places](std::optional<emu::GraphPlace> *to) -> Status {
        return emu::go_to_label(ptr, maxValue, graph, places, to);
      },
      __func__);
}
EMU_CATCH
