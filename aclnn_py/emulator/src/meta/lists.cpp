// SPDX-License-Identifier: Apache-2.0
#include <utility>
#include <vector>

#include "core/export.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/statuses.h"
#include "faults/objects.h"
#include "meta/tensor.h"

namespace emu {
namespace {

template <class List, class Member>
List *create(const char *routine, Slots<List> &lists, Slots<Member> &members,
             const Member *const *value, uint64_t size) {
  if (check_process(routine)) return nullptr;
  if (value == nullptr && size != 0) {
    fail(kNullPointer, "%s: value is null while size is %llu.", routine,
         static_cast<unsigned long long>(size));
    return nullptr;
  }
  std::vector<Member *> given;
  if (read_array(routine, kInvalid, value, size, &given) != 0) return nullptr;
  for (uint64_t i = 0; i < size; ++i) {
    if (given[i] != nullptr && !members.live(given[i])) {
      fail(kInvalid, "%s: member %llu (%p) is not alive.", routine,
           static_cast<unsigned long long>(i), static_cast<const void *>(given[i]));
      return nullptr;
    }
  }
  auto list = lists.guard(lists.create());
  if (list == nullptr) {
    fail(kNoExecutor, "%s: too many live lists (%zu).", routine, lists.live_count());
    return nullptr;
  }
  list->members = std::move(given);
  faults::made(std::is_same_v<List, aclTensorList> ? "aclTensorList" : "aclScalarList", list.get());
  return list.release();
}

// A list owns its members: they go with it. One that the program destroyed itself is named, the
// rest goes.
template <class List, class Member>
Status destroy(const char *routine, Slots<List> &lists, Slots<Member> &members, const List *list) {
  if (const Status s = check_process(routine)) return s;
  if (list == nullptr) return 0;
  if (!lists.retire(list)) {
    return fail(kInvalid, "%s: %p is not a live list (destroyed before, or never one).", routine,
                static_cast<const void *>(list));
  }
  auto *mine = const_cast<List *>(list);
  Status status = 0;
  for (size_t i = 0; i < mine->members.size(); ++i) {
    Member *member = mine->members[i];
    if (member == nullptr) continue;
    if (members.retire(member)) {
      faults::ended(member);
      members.destroy(member);
    } else {
      status =
          fail(kInvalid,
               "%s: member %zu was destroyed before its list; a list destroys its members itself.",
               routine, i);
    }
  }
  faults::ended(mine);
  lists.destroy(mine);
  return status;
}

template <class List>
Status get_size(const char *routine, Slots<List> &lists, const List *list, uint64_t *size) {
  if (const Status s = check_process(routine)) return s;
  if (list == nullptr || size == nullptr) {
    return fail(kNullPointer, "%s: %s is null.", routine, list == nullptr ? "the list" : "size");
  }
  if (!lists.live(list)) {
    return fail(kInvalid, "%s: %p is not a live list.", routine, static_cast<const void *>(list));
  }
  *size = list->members.size();
  return 0;
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclTensorList *aclCreateTensorList(const aclTensor *const *value, uint64_t size) try {
  return emu::create(__func__, emu::tensor_lists(), emu::tensors(), value, size);
}
EMU_CATCH
EMU_EXPORT aclScalarList *aclCreateScalarList(const aclScalar *const *value, uint64_t size) try {
  return emu::create(__func__, emu::scalar_lists(), emu::scalars(), value, size);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclDestroyTensorList(const aclTensorList *array) try {
  return emu::destroy(__func__, emu::tensor_lists(), emu::tensors(), array);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclDestroyScalarList(const aclScalarList *array) try {
  return emu::destroy(__func__, emu::scalar_lists(), emu::scalars(), array);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclGetTensorListSize(const aclTensorList *tensorList, uint64_t *size) try {
  return emu::get_size(__func__, emu::tensor_lists(), tensorList, size);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclGetScalarListSize(const aclScalarList *scalarList, uint64_t *size) try {
  return emu::get_size(__func__, emu::scalar_lists(), scalarList, size);
}
EMU_CATCH
