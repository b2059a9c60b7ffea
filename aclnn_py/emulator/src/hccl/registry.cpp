// SPDX-License-Identifier: Apache-2.0
#include "hccl/registry.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <utility>

#include "core/slots.h"
#include "faults/objects.h"
#include "hccl/arguments.h"

namespace emu::hccl {
namespace {

struct Entry {
  explicit Entry(std::shared_ptr<Communicator> c) : communicator(std::move(c)) {}
  std::shared_ptr<Communicator> communicator;
};

// Never destroyed: a communicator may be used while the process ends.
struct Registry {
  std::mutex mutex;
  Slots<Entry> entries{65536};
  std::map<std::pair<int, std::string>, Entry *> names;  // null: being made
};

// Without making a key: what ends a communicator needs no memory.
auto entry_of(Registry &all, int device, const std::string &name) {
  return std::find_if(all.names.begin(), all.names.end(), [&](const auto &entry) {
    return entry.first.first == device && entry.first.second == name;
  });
}

Registry &registry() {
  static Registry *const instance = new Registry;
  return *instance;
}

}  // namespace

NameHold::~NameHold() {
  if (!held_) return;
  Registry &all = registry();
  std::lock_guard<std::mutex> hold(all.mutex);
  const auto at = entry_of(all, device_, name_);
  if (at != all.names.end()) all.names.erase(at);
}

Status NameHold::take(const char *routine, int device, const std::string &name) {
  Registry &all = registry();
  {
    // The hold knows the name before the registry does: it is the hold that takes it back.
    device_ = device;
    name_ = name;
    std::lock_guard<std::mutex> hold(all.mutex);
    held_ = all.names.emplace(std::make_pair(device, name), nullptr).second;
  }
  if (held_) return 0;
  return refuse(HCCL_E_PARA, "%s: device %d already has a communicator named \"%s\"", routine,
                device, name.c_str());
}

HcclComm NameHold::publish(std::shared_ptr<Communicator> communicator) {
  Registry &all = registry();
  std::lock_guard<std::mutex> hold(all.mutex);
  Entry *entry = all.entries.create(std::move(communicator));
  if (!entry) return nullptr;
  entry_of(all, device_, name_)->second = entry;  // as long as the hold lives, the name is there
  held_ = false;
  faults::made("communicator", entry);
  return entry;
}

std::shared_ptr<Communicator> find_communicator(HcclComm handle) {
  Registry &all = registry();
  std::lock_guard<std::mutex> hold(all.mutex);
  Entry *entry = all.entries.find(handle);
  return entry ? entry->communicator : nullptr;
}

HcclComm find_handle(int device, const std::string &name) {
  Registry &all = registry();
  std::lock_guard<std::mutex> hold(all.mutex);
  const auto found = all.names.find({device, name});
  return found == all.names.end() ? nullptr : found->second;
}

std::shared_ptr<Communicator> find_communicator(int device, const std::string &name) {
  Registry &all = registry();
  std::lock_guard<std::mutex> hold(all.mutex);
  const auto found = all.names.find({device, name});
  return found == all.names.end() || !found->second ? nullptr : found->second->communicator;
}

std::shared_ptr<Communicator> withdraw_communicator(HcclComm handle) {
  Registry &all = registry();
  std::lock_guard<std::mutex> hold(all.mutex);
  Entry *entry = all.entries.find(handle);
  if (!entry || !all.entries.retire(handle)) return nullptr;
  std::shared_ptr<Communicator> communicator = std::move(entry->communicator);
  const auto at = entry_of(all, communicator->device(), communicator->name());
  if (at != all.names.end()) all.names.erase(at);
  faults::ended(handle);
  all.entries.destroy(entry);
  return communicator;
}

}  // namespace emu::hccl
