// SPDX-License-Identifier: Apache-2.0
#include "core/export.h"
#include "core/process.h"
#include "core/program_memory.h"
#include "core/statuses.h"
#include "faults/arguments.h"
#include "faults/objects.h"
#include "meta/tensor.h"

namespace emu {

Slots<aclIntArray> &int_arrays() {
  static auto *const all = new Slots<aclIntArray>(size_t{1} << 19);
  return *all;
}
Slots<aclFloatArray> &float_arrays() {
  static auto *const all = new Slots<aclFloatArray>(size_t{1} << 19);
  return *all;
}
Slots<aclBoolArray> &bool_arrays() {
  static auto *const all = new Slots<aclBoolArray>(size_t{1} << 19);
  return *all;
}

namespace {

const char *kind_of(const aclIntArray *) { return "aclIntArray"; }
const char *kind_of(const aclFloatArray *) { return "aclFloatArray"; }
const char *kind_of(const aclBoolArray *) { return "aclBoolArray"; }

template <class Array, class Value>
Array *create(const char *routine, Slots<Array> &slots, const Value *values, uint64_t size) {
  if (check_process(routine)) return nullptr;
  auto array = slots.guard(slots.create());
  if (array == nullptr) {
    fail(kNoExecutor, "%s: too many live arrays (%zu).", routine, slots.live_count());
    return nullptr;
  }
  // A null pointer makes an empty array, whatever the size says.
  if (values != nullptr && read_array(routine, kInvalid, values, size, &array->values) != 0)
    return nullptr;
  if constexpr (std::is_same_v<Value, int64_t>) {
    if (faults::checking()) faults::look_at_numbers(routine, "value", values, size);
  }
  faults::made(kind_of(array.get()), array.get());
  return array.release();
}

template <class Array>
Status destroy(const char *routine, Slots<Array> &slots, const Array *array) {
  if (const Status s = check_process(routine)) return s;
  if (array == nullptr) return 0;
  if (!slots.retire(array)) {
    return fail(kInvalid, "%s: %p is not a live array (destroyed before, or never one).", routine,
                static_cast<const void *>(array));
  }
  faults::ended(array);
  slots.destroy(const_cast<Array *>(array));
  return 0;
}

template <class Array>
Status get_size(const char *routine, Slots<Array> &slots, const Array *array, uint64_t *size) {
  if (const Status s = check_process(routine)) return s;
  if (array == nullptr || size == nullptr) {
    return fail(kNullPointer, "%s: %s is null.", routine, array == nullptr ? "array" : "size");
  }
  if (!slots.live(array)) {
    return fail(kInvalid, "%s: %p is not a live array.", routine, static_cast<const void *>(array));
  }
  *size = array->values.size();
  return 0;
}

}  // namespace
}  // namespace emu

EMU_EXPORT aclIntArray *aclCreateIntArray(const int64_t *value, uint64_t size) try {
  return emu::create(__func__, emu::int_arrays(), value, size);
}
EMU_CATCH
EMU_EXPORT aclFloatArray *aclCreateFloatArray(const float *value, uint64_t size) try {
  return emu::create(__func__, emu::float_arrays(), value, size);
}
EMU_CATCH
EMU_EXPORT aclBoolArray *aclCreateBoolArray(const bool *value, uint64_t size) try {
  return emu::create(__func__, emu::bool_arrays(), value, size);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclDestroyIntArray(const aclIntArray *array) try {
  return emu::destroy(__func__, emu::int_arrays(), array);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclDestroyFloatArray(const aclFloatArray *array) try {
  return emu::destroy(__func__, emu::float_arrays(), array);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclDestroyBoolArray(const aclBoolArray *array) try {
  return emu::destroy(__func__, emu::bool_arrays(), array);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclGetIntArraySize(const aclIntArray *array, uint64_t *size) try {
  return emu::get_size(__func__, emu::int_arrays(), array, size);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclGetFloatArraySize(const aclFloatArray *array, uint64_t *size) try {
  return emu::get_size(__func__, emu::float_arrays(), array, size);
}
EMU_CATCH
EMU_EXPORT aclnnStatus aclGetBoolArraySize(const aclBoolArray *array, uint64_t *size) try {
  return emu::get_size(__func__, emu::bool_arrays(), array, size);
}
EMU_CATCH
