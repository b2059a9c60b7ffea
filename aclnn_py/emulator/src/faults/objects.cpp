// SPDX-License-Identifier: Apache-2.0
#include "faults/objects.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <vector>

#include "faults/findings.h"

namespace emu::faults {
namespace {

struct Begun {
  int64_t count = 0;
  Site first;
};

struct Lives {
  std::mutex mutex;
  std::map<uintptr_t, Life> all;
  std::map<std::string, Begun> begun;
};

Lives &lives() {
  static auto *const instance = new Lives;
  return *instance;
}

struct Group {
  const char *kind;
  size_t count = 0, bytes = 0;
  const Site *made;
};

std::string text_of(const Group &group) {
  std::string text = std::string(group.kind) + ", " + std::to_string(group.count) + " made here";
  if (group.bytes > 0) text += ", " + std::to_string(group.bytes) + " bytes in all";
  return text;
}

}  // namespace

void note_made(const char *kind, const void *handle, size_t bytes) {
  Life life{kind, bytes, true, site_here(), {}};
  std::lock_guard<std::mutex> lock(lives().mutex);
  lives().all[reinterpret_cast<uintptr_t>(handle)] = life;
}

void note_ended(const void *handle) {
  const Site here = site_here();
  std::lock_guard<std::mutex> lock(lives().mutex);
  const auto at = lives().all.find(reinterpret_cast<uintptr_t>(handle));
  if (at == lives().all.end() || !at->second.live) return;
  at->second.live = false;
  at->second.ended = here;
}

bool life_of(const void *handle, Life *life) {
  const auto at = reinterpret_cast<uintptr_t>(handle);
  std::lock_guard<std::mutex> lock(lives().mutex);
  auto next = lives().all.upper_bound(at);
  if (next == lives().all.begin()) return false;
  --next;
  const size_t bytes = std::max<size_t>(next->second.bytes, 1);
  if (at - next->first >= bytes) return false;
  *life = next->second;
  return true;
}

void note_begun(const std::string &what, int64_t count) {
  const Site here = site_here();
  std::lock_guard<std::mutex> lock(lives().mutex);
  Begun &begun = lives().begun[what];
  if (begun.count == 0) begun.first = here;
  begun.count = std::max<int64_t>(0, begun.count + count);
}

void note_device(int device, int64_t count) {
  bool initialized = true;
  {
    std::lock_guard<std::mutex> lock(lives().mutex);
    initialized = lives().begun[kInitialized].count > 0 || lives().begun[kOperators].count > 0;
  }
  if (count > 0 && !initialized) {
    finding("aclInit was not called",
            "aclrtSetDevice: no aclInit came before it, or aclFinalize did");
  }
  note_begun("aclrtSetDevice(" + std::to_string(device) + ") without aclrtResetDevice", count);
}

void report_left() {
  std::map<std::pair<std::string, const void *>, Group> groups;
  std::map<std::string, Begun> begun;
  std::vector<Site> sites;
  {
    std::lock_guard<std::mutex> lock(lives().mutex);
    for (const auto &[handle, life] : lives().all) {
      if (!life.live) continue;
      Group &group = groups[{life.kind, caller_of(life.made)}];
      group.kind = life.kind;
      ++group.count;
      group.bytes += life.bytes;
      group.made = &life.made;
    }
    begun = lives().begun;
  }
  // Nobody makes or ends objects any more.
  for (const auto &[key, group] : groups) finding("never destroyed", text_of(group), *group.made);
  for (const auto &[what, state] : begun) {
    if (state.count > 0) finding("never ended", what, state.first);
  }
}

}  // namespace emu::faults
