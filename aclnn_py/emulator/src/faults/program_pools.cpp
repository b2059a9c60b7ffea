// SPDX-License-Identifier: Apache-2.0
#include "faults/program_pools.h"

#include <iterator>
#include <map>
#include <mutex>

#include "faults/findings.h"
#include "faults/sites.h"

namespace emu::faults {
namespace {

struct Part {
  uintptr_t high;
  bool given;  // otherwise it was, and nothing else has been given out there since
  Site site;   // where that happened
};

struct Pools {
  std::mutex mutex;
  std::map<uintptr_t, uintptr_t> pools;  // start to end
  std::map<uintptr_t, Part> parts;
};

Pools &pools() {
  static auto *const instance = new Pools;
  return *instance;
}

uintptr_t address(const void *p) { return reinterpret_cast<uintptr_t>(p); }

// The first entry of a map by address that overlaps [low, high), or its end.
template <class Map, class End>
auto overlapping(Map &map, uintptr_t low, uintptr_t high, End end) {
  auto at = map.upper_bound(low);
  if (at != map.begin() && end(std::prev(at)->second) > low) return std::prev(at);
  return at != map.end() && at->first < high ? at : map.end();
}

uintptr_t end_of(uintptr_t pool) { return pool; }
uintptr_t end_of(const Part &part) { return part.high; }

void forget_parts(Pools &all, uintptr_t low, uintptr_t high) {
  const auto end = [](const Part &part) { return end_of(part); };
  for (auto at = overlapping(all.parts, low, high, end); at != all.parts.end();
       at = overlapping(all.parts, low, high, end))
    all.parts.erase(at);
}

}  // namespace

void note_pool(const void *start, size_t size) {
  Pools &all = pools();
  std::lock_guard<std::mutex> lock(all.mutex);
  forget_parts(all, address(start), address(start) + size);
  all.pools[address(start)] = address(start) + size;
}

void note_pool_end(const void *start) {
  Pools &all = pools();
  std::lock_guard<std::mutex> lock(all.mutex);
  const auto at = all.pools.find(address(start));
  if (at == all.pools.end()) return;
  forget_parts(all, at->first, at->second);
  all.pools.erase(at);
}

void note_part(const void *start, size_t size) {
  const Site here = site_here();
  Pools &all = pools();
  std::lock_guard<std::mutex> lock(all.mutex);
  forget_parts(all, address(start), address(start) + size);
  all.parts[address(start)] = {address(start) + size, true, here};
}

void note_part_end(const void *start) {
  const Site here = site_here();
  Pools &all = pools();
  std::lock_guard<std::mutex> lock(all.mutex);
  const auto at = all.parts.find(address(start));
  if (at == all.parts.end()) return;
  at->second.given = false;
  at->second.site = here;
}

void look_in_pools(const std::string &what, uintptr_t low, uintptr_t high) {
  std::string name, text;
  Site site;
  const char *label = "";
  {
    Pools &all = pools();
    std::lock_guard<std::mutex> lock(all.mutex);
    const auto pool = overlapping(all.pools, low, high, [](uintptr_t end) { return end_of(end); });
    if (pool == all.pools.end()) return;
    const auto part =
        overlapping(all.parts, low, high, [](const Part &each) { return end_of(each); });
    const bool begins = part != all.parts.end() && part->first <= low;
    if (begins && part->second.given && part->second.high >= high) return;
    if (begins && part->second.given) {
      name = "beyond its part of a pool";
      text = what + " reaches " + std::to_string(high - part->second.high) +
             " bytes beyond its part of a pool, which has " +
             std::to_string(part->second.high - part->first);
      label = "given out";
    } else {
      name = "memory of a pool that is not given out";
      text = what + " uses " + std::to_string(high - low) + " bytes, " +
             std::to_string(low - pool->first) + " bytes into a pool, that are not given out";
      label = "given back";
    }
    if (begins) site = part->second.site;
  }
  finding(name.c_str(), text, site_here(), {{label, site}});
}

}  // namespace emu::faults
