// SPDX-License-Identifier: Apache-2.0
#include "core/host_limits.h"

#include <malloc.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <sstream>
#include <vector>

namespace emu {
namespace {

// Of the addresses that a process may have, a table of handles reserves one part in so many.
constexpr uint64_t kTables = 64;
constexpr uint64_t kLeastTable = uint64_t{1} << 20;

uint64_t resource_limit(int resource) {
  rlimit limit{};
  if (getrlimit(static_cast<__rlimit_resource>(resource), &limit) != 0) return kUnlimited;
  return limit.rlim_cur == RLIM_INFINITY ? kUnlimited : limit.rlim_cur;
}

uint64_t host_memory() {
  const long pages = sysconf(_SC_PHYS_PAGES), page = sysconf(_SC_PAGESIZE);
  return pages > 0 && page > 0 ? static_cast<uint64_t>(pages) * static_cast<uint64_t>(page)
                               : kUnlimited;
}

// A hierarchy of cgroups that limits memory.
struct Hierarchy {
  std::string root;   // the group at the mount point
  std::string mount;  // where it is mounted
  bool unified;       // version 2
};

// A path of /proc/self/mountinfo, where a blank is "\040".
std::string unescaped(const std::string &text) {
  std::string plain;
  for (size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '\\' && at + 3 < text.size()) {
      plain += static_cast<char>(std::stoi(text.substr(at + 1, 3), nullptr, 8));
      at += 3;
    } else {
      plain += text[at];
    }
  }
  return plain;
}

std::vector<Hierarchy> hierarchies() {
  std::vector<Hierarchy> found;
  std::ifstream mounts("/proc/self/mountinfo");
  for (std::string line; std::getline(mounts, line);) {
    std::istringstream words(line);
    std::string id, parent, device, root, mount, word, kind, source, options;
    words >> id >> parent >> device >> root >> mount;
    while (words >> word && word != "-") {
    }
    words >> kind >> source >> options;
    const bool unified = kind == "cgroup2";
    const bool memory = ("," + options + ",").find(",memory,") != std::string::npos;
    if (unified || (kind == "cgroup" && memory))
      found.push_back({unescaped(root), unescaped(mount), unified});
  }
  return found;
}

// The process's group in a hierarchy, as /proc/self/cgroup names it: "0::/a/b", "4:memory:/a/b".
std::string own_group(bool unified) {
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);) {
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (second == std::string::npos) continue;
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    if (unified ? controllers == ",," : controllers.find(",memory,") != std::string::npos)
      return line.substr(second + 1);
  }
  return "/";
}

// The group's path below the mount point; in a container the group may lie outside what is mounted.
std::string below(const Hierarchy &hierarchy, const std::string &group) {
  const std::string root = hierarchy.root == "/" ? "" : hierarchy.root;
  const bool inside = group.compare(0, root.size(), root) == 0 &&
                      (group.size() == root.size() || group[root.size()] == '/');
  return inside && group.find("/..") == std::string::npos ? group.substr(root.size()) : "";
}

// The least limit of a group and of those around it: each of them holds the process.
void ask_groups(const Hierarchy &hierarchy, MemoryLimit &least) {
  const char *const name = hierarchy.unified ? "memory.max" : "memory.limit_in_bytes";
  std::string group = below(hierarchy, own_group(hierarchy.unified));
  while (!group.empty() && group.back() == '/') group.pop_back();
  for (;;) {
    const std::string path = hierarchy.mount + group + "/" + name;
    uint64_t bytes = 0;
    // The word "max", which is no number, is version 2's for no limit.
    if (std::ifstream(path) >> bytes && bytes < least.bytes)
      least = {bytes, "the cgroup's " + path};
    if (group.empty()) return;
    group.resize(group.rfind('/'));
  }
}

void add_limit(std::string &text, const char *option, int resource, bool bytes) {
  const uint64_t limit = resource_limit(resource);
  if (limit == kUnlimited) return;
  text += text.empty() ? "" : " and ";
  text += std::string("`ulimit ") + option + "` is ";
  text += bytes ? std::to_string(limit >> 20) + " MiB" : std::to_string(limit);
}

}  // namespace

MemoryLimit memory_limit() {
  MemoryLimit least{host_memory(), "the host's memory"};
  for (const Hierarchy &hierarchy : hierarchies()) ask_groups(hierarchy, least);
  const uint64_t data = resource_limit(RLIMIT_DATA);
  if (data < least.bytes) least = {data, "`ulimit -d`"};
  return least;
}

uint64_t free_addresses() {
  const uint64_t limit = resource_limit(RLIMIT_AS);
  if (limit == kUnlimited) return kUnlimited;
  uint64_t pages = 0;
  // Where the system does not tell, a process with its libraries is taken to have half of them.
  if (!(std::ifstream("/proc/self/statm") >> pages)) return limit / 2;
  const uint64_t taken = pages * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
  return limit - std::min(limit, taken);
}

void spare_addresses() {
#ifdef M_ARENA_MAX
  mallopt(M_ARENA_MAX, 2);
#endif
}

size_t table_room(size_t wanted) {
  const uint64_t limit = resource_limit(RLIMIT_AS);
  if (limit == kUnlimited) return wanted;
  return static_cast<size_t>(std::min<uint64_t>(wanted, std::max(limit / kTables, kLeastTable)));
}

std::string refusal(int error) {
  std::string limits;
  if (error == ENOMEM || error == EAGAIN) {
    add_limit(limits, "-v", RLIMIT_AS, true);
    add_limit(limits, "-d", RLIMIT_DATA, true);
  }
  if (error == EAGAIN) add_limit(limits, "-u", RLIMIT_NPROC, false);
  if (error == EMFILE) add_limit(limits, "-n", RLIMIT_NOFILE, false);
  if (limits.empty()) {
    limits = error == EAGAIN ? "look at pids.max of the cgroup"
                             : "look at the host's memory and at vm.overcommit_memory";
  } else {
    limits += ": raise what is too low";
  }
  return std::string(std::strerror(error)) + "; " + limits;
}

HostRefusal::HostRefusal(const char *what, int error)
    : text_(std::string(what) + ": " + refusal(error)) {}

}  // namespace emu
