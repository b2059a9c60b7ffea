// SPDX-License-Identifier: Apache-2.0
#include "runtime/state_callbacks.h"

#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "core/export.h"
#include "core/process.h"

namespace emu {
namespace {

template <class Callback>
class Registry {
 public:
  Status set(const char *routine, const char *name, Callback callback, void *args) {
    if (const Status s = check_process(routine)) return s;
    if (name == nullptr || *name == '\0')
      return fail(ACL_ERROR_INVALID_PARAM, "%s: regName is null or empty.", routine);
    std::lock_guard<std::mutex> lock(mutex_);
    if (callback == nullptr) {
      entries_.erase(name);
    } else {
      entries_[name] = {callback, args};
    }
    return 0;
  }

  std::vector<std::pair<Callback, void *>> all() {
    std::lock_guard<std::mutex> lock(mutex_);
    std::vector<std::pair<Callback, void *>> copy;
    for (const auto &entry : entries_) copy.push_back(entry.second);
    return copy;
  }

 private:
  std::mutex mutex_;
  std::map<std::string, std::pair<Callback, void *>> entries_;
};

Registry<aclrtStreamStateCallback> &stream_registry() {
  static auto *const registry = new Registry<aclrtStreamStateCallback>;
  return *registry;
}
Registry<aclrtDeviceStateCallback> &device_registry() {
  static auto *const registry = new Registry<aclrtDeviceStateCallback>;
  return *registry;
}

}  // namespace

void tell_stream_state(aclrtStream stream, aclrtStreamState state) {
  for (const auto &[callback, args] : stream_registry().all()) callback(stream, state, args);
}

void tell_device_state(int device, aclrtDeviceState state) {
  for (const auto &[callback, args] : device_registry().all()) callback(device, state, args);
}

}  // namespace emu

// A null callback takes the registration of that name back.
EMU_EXPORT aclError aclrtRegStreamStateCallback(const char *regName,
                                                aclrtStreamStateCallback callback, void *args) try {
  return emu::stream_registry().set(__func__, regName, callback, args);
}
EMU_CATCH

EMU_EXPORT aclError aclrtRegDeviceStateCallback(const char *regName,
                                                aclrtDeviceStateCallback callback, void *args) try {
  return emu::device_registry().set(__func__, regName, callback, args);
}
EMU_CATCH
