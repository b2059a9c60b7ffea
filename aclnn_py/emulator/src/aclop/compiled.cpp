// SPDX-License-Identifier: Apache-2.0
#include "aclop/compiled.h"

#include <deque>
#include <mutex>
#include <unordered_set>

namespace emu::aclop {
namespace {

struct Compiled {
  std::mutex mutex;
  std::unordered_set<std::string> keys;
  std::deque<std::string> order;
  uint64_t most = 20000;
  bool any_shape = false;
};

Compiled &compiled() {
  static auto *const all = new Compiled;
  return *all;
}

void forget(Compiled &all) {
  while (all.order.size() > all.most) {
    all.keys.erase(all.order.front());
    all.order.pop_front();
  }
}

// A key of one shape and a key of all shapes are never equal.
std::string key_of(const Call &call, bool any_shape) {
  return (any_shape ? "*" : "=") + call.key(any_shape);
}

}  // namespace

void note_compiled(const Call &call) {
  Compiled &all = compiled();
  std::lock_guard<std::mutex> lock(all.mutex);
  std::string key = key_of(call, all.any_shape);
  if (!all.keys.insert(key).second) return;
  all.order.push_back(std::move(key));
  forget(all);
}

bool is_compiled(const Call &call) {
  Compiled &all = compiled();
  std::lock_guard<std::mutex> lock(all.mutex);
  return all.keys.count(key_of(call, false)) > 0 || all.keys.count(key_of(call, true)) > 0;
}

void keep_at_most(uint64_t count) {
  Compiled &all = compiled();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.most = count;
  forget(all);
}

void compile_for_any_shape(bool any) {
  Compiled &all = compiled();
  std::lock_guard<std::mutex> lock(all.mutex);
  all.any_shape = any;
}

}  // namespace emu::aclop
