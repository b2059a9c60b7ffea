// SPDX-License-Identifier: Apache-2.0
// Functions of the program that are called when it initializes and finalizes.
#include "runtime/init_callbacks.h"

#include <algorithm>
#include <mutex>
#include <new>
#include <optional>
#include <vector>

#include "acl/acl_rt.h"
#include "core/export.h"
#include "core/process.h"

namespace emu {
namespace {

template <class Function>
class Callbacks {
 public:
  struct Entry {
    aclRegisterCallbackType type;
    Function function;
    void *data;
  };

  void add(const Entry &entry) { entries_.push_back(entry); }

  bool remove(aclRegisterCallbackType type, Function function) {
    const auto gone = std::remove_if(entries_.begin(), entries_.end(), [&](const Entry &entry) {
      return entry.type == type && entry.function == function;
    });
    const bool found = gone != entries_.end();
    entries_.erase(gone, entries_.end());
    return found;
  }

  const std::vector<Entry> &all() const { return entries_; }

 private:
  std::vector<Entry> entries_;
};

struct Registry {
  std::mutex mutex;
  Callbacks<aclInitCallbackFunc> init;  // guarded by mutex, as the rest
  Callbacks<aclFinalizeCallbackFunc> finalize;
  std::optional<std::string> configuration;  // of the initialization that is in force
};

Registry &registry() {
  alignas(Registry) static unsigned char place[sizeof(Registry)];
  static auto *const instance = ::new (static_cast<void *>(place)) Registry;
  return *instance;
}

Status check_type(const char *routine, aclRegisterCallbackType type, bool has_function) {
  EMU_ENTER_AS(routine);
  if (!has_function) return fail(ACL_ERROR_INVALID_PARAM, "%s: cbFunc is null.", routine);
  const int number = type;
  if ((number >= ACL_REG_TYPE_ACL_MODEL && number <= ACL_REG_TYPE_ACL_RETR) ||
      number == ACL_REG_TYPE_OTHER)
    return 0;
  return fail(ACL_ERROR_INVALID_PARAM, "%s: type %d is not known.", routine, number);
}

Status answer_of(const char *routine, Status answer) {
  return answer == 0 ? 0
                     : fail(answer, "%s: a function of the program answered %d.", routine, answer);
}

}  // namespace

Status tell_initialized(const std::string &configuration) {
  std::vector<Callbacks<aclInitCallbackFunc>::Entry> told;
  {
    std::lock_guard<std::mutex> lock(registry().mutex);
    registry().configuration = configuration;
    told = registry().init.all();
  }
  for (const auto &entry : told) {  // without the lock: a function may register another one
    const Status answer = entry.function(configuration.c_str(), configuration.size(), entry.data);
    if (const Status s = answer_of("aclInit", answer)) {
      std::lock_guard<std::mutex> lock(registry().mutex);
      registry().configuration.reset();
      return s;
    }
  }
  return 0;
}

Status tell_finalizing() {
  size_t count = 0;
  {
    std::lock_guard<std::mutex> lock(registry().mutex);
    registry().configuration.reset();
    count = registry().finalize.all().size();
  }
  // Without the lock, as above; one at a time, since the end of a program must not depend on memory
  // for a copy.
  Status first = 0;
  for (size_t i = 0; i < count; ++i) {
    std::unique_lock<std::mutex> lock(registry().mutex);
    if (i >= registry().finalize.all().size()) break;
    const auto entry = registry().finalize.all()[i];
    lock.unlock();
    const Status answer = entry.function(entry.data);
    if (first == 0) first = answer;
  }
  return answer_of("aclFinalize", first);
}

}  // namespace emu

using emu::fail;
using emu::registry;
using emu::Status;

// Called at once when the process is initialized already; a function that fails then is not kept.
EMU_EXPORT aclError aclInitCallbackRegister(aclRegisterCallbackType type,
                                            aclInitCallbackFunc cbFunc, void *userData) try {
  if (const Status s = emu::check_type(__func__, type, cbFunc != nullptr)) return s;
  std::optional<std::string> configuration;
  {
    std::lock_guard<std::mutex> lock(registry().mutex);
    registry().init.add({type, cbFunc, userData});
    configuration = registry().configuration;
  }
  if (!configuration) return 0;
  const Status answer = cbFunc(configuration->c_str(), configuration->size(), userData);
  if (answer == 0) return 0;
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().init.remove(type, cbFunc);
  return emu::answer_of(__func__, answer);
}
EMU_CATCH

EMU_EXPORT aclError aclInitCallbackUnRegister(aclRegisterCallbackType type,
                                              aclInitCallbackFunc cbFunc) try {
  if (const Status s = emu::check_type(__func__, type, cbFunc != nullptr)) return s;
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (registry().init.remove(type, cbFunc)) return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "aclInitCallbackUnRegister: the function is not registered for type %d.",
              static_cast<int>(type));
}
EMU_CATCH

EMU_EXPORT aclError aclFinalizeCallbackRegister(aclRegisterCallbackType type,
                                                aclFinalizeCallbackFunc cbFunc,
                                                void *userData) try {
  if (const Status s = emu::check_type(__func__, type, cbFunc != nullptr)) return s;
  std::lock_guard<std::mutex> lock(registry().mutex);
  registry().finalize.add({type, cbFunc, userData});
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclFinalizeCallbackUnRegister(aclRegisterCallbackType type,
                                                  aclFinalizeCallbackFunc cbFunc) try {
  if (const Status s = emu::check_type(__func__, type, cbFunc != nullptr)) return s;
  std::lock_guard<std::mutex> lock(registry().mutex);
  if (registry().finalize.remove(type, cbFunc)) return 0;
  return fail(ACL_ERROR_INVALID_PARAM,
              "aclFinalizeCallbackUnRegister: the function is not registered for type %d.",
              static_cast<int>(type));
}
EMU_CATCH
