// SPDX-License-Identifier: Apache-2.0
#include "faults/sites.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <link.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdint>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>

extern char **environ;

namespace emu::faults {
namespace {

constexpr int kShown = 4;  // places of one site

struct Range {
  uintptr_t low = 0, high = 0;
};

// Where this library's code lies.
int note_own(dl_phdr_info *info, size_t, void *out) {
  const auto mine = reinterpret_cast<uintptr_t>(&note_own);
  Range range{UINTPTR_MAX, 0};
  bool here = false;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto &part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD) continue;
    const uintptr_t low = info->dlpi_addr + part.p_vaddr, high = low + part.p_memsz;
    range = {low < range.low ? low : range.low, high > range.high ? high : range.high};
    here = here || (mine >= low && mine < high);
  }
  if (here) *static_cast<Range *>(out) = range;
  return here ? 1 : 0;
}

std::string base_of(const char *path) {
  const char *slash = std::strrchr(path, '/');
  return slash != nullptr ? slash + 1 : path;
}

// Code that stands between a program and this library, or below main: nobody looks for mistakes
// there.
bool system_code(const void *address) {
  Dl_info info{};
  if (dladdr(address, &info) == 0 || info.dli_fname == nullptr) return false;
  const std::string name = base_of(info.dli_fname);
  for (const char *head : {"libc.so", "libc-", "libpthread", "ld-linux", "libstdc++", "libgcc_s",
                           "libasan", "libubsan", "libtsan", "linux-vdso"}) {
    if (name.rfind(head, 0) == 0) return true;
  }
  return false;
}

// What addr2line says about an address of a module: the function, and file and line; both empty
// when it says nothing.
void ask_addr2line(const char *module, uintptr_t offset, std::string *function, std::string *line) {
  int ends[2];
  if (pipe(ends) != 0) return;
  char place[32];
  std::snprintf(place, sizeof place, "0x%zx", static_cast<size_t>(offset));
  const char *arguments[] = {"addr2line", "-f", "-C", "-e", module, place, nullptr};
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_addopen(&actions, 2, "/dev/null", 1 /* O_WRONLY */, 0);
  posix_spawn_file_actions_addclose(&actions, ends[0]);
  pid_t child = -1;
  const int failed =
      posix_spawnp(&child, "addr2line", &actions, nullptr, const_cast<char **>(arguments), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  if (failed == 0) {
    char part[512];
    for (ssize_t n; (n = read(ends[0], part, sizeof part)) > 0;)
      text.append(part, static_cast<size_t>(n));
    waitpid(child, nullptr, 0);
  }
  close(ends[0]);
  const size_t end = text.find('\n');
  if (end == std::string::npos) return;
  *function = text.substr(0, end);
  *line = text.substr(end + 1, text.find_first_of("\n ", end + 1) - end - 1);
  if (line->rfind("??", 0) == 0 ||
      (line->size() > 2 && line->compare(line->size() - 2, 2, ":?") == 0))
    line->clear();
  if (function->rfind("??", 0) == 0) function->clear();
}

std::string describe(const void *address) {
  Dl_info info{};
  link_map *map = nullptr;
  if (dladdr1(address, &info, reinterpret_cast<void **>(&map), RTLD_DL_LINKMAP) == 0 ||
      map == nullptr) {
    char text[32];
    std::snprintf(text, sizeof text, "%p", address);
    return text;
  }
  char program[4096];
  const char *module = map->l_name;
  if (module == nullptr || *module == '\0') {
    const ssize_t n = readlink("/proc/self/exe", program, sizeof program - 1);
    program[n > 0 ? n : 0] = '\0';
    module = program;
  }
  const uintptr_t offset = reinterpret_cast<uintptr_t>(address) - map->l_addr;
  std::string function, line;
  ask_addr2line(module, offset, &function, &line);
  if (function.empty() && info.dli_sname != nullptr) function = info.dli_sname;
  if (line.empty()) {
    char text[32];
    std::snprintf(text, sizeof text, "+0x%zx", static_cast<size_t>(offset));
    line = base_of(module) + text;
  }
  return function.empty() ? line : line + " in " + function;
}

struct Known {
  std::mutex mutex;
  std::map<const void *, std::string> texts;
};

const std::string &text_of(const void *address) {
  static auto *const known = new Known;
  std::lock_guard<std::mutex> lock(known->mutex);
  const auto at = known->texts.find(address);
  return at != known->texts.end() ? at->second
                                  : known->texts.emplace(address, describe(address)).first->second;
}

int first_outside(const Site &site) {
  int i = 0;
  while (i < site.count && (own_code(site.frames[i]) || system_code(site.frames[i]))) ++i;
  return i;
}

// The address of a call, of the address it returns to.
void step_back(Site &site, int from) {
  for (int i = from; i < site.count; ++i) site.frames[i] = static_cast<char *>(site.frames[i]) - 1;
}

}  // namespace

bool own_code(const void *address) {
  static const Range own = [] {
    Range range;
    dl_iterate_phdr(note_own, &range);
    return range;
  }();
  const auto at = reinterpret_cast<uintptr_t>(address);
  return at >= own.low && at < own.high;
}

Site site_here() {
  Site site;
  site.count = backtrace(site.frames, Site::kMost);
  step_back(site, 0);
  return site;
}

Site site_of_signal(const void *instruction) {
  Site all, site;
  all.count = backtrace(all.frames, Site::kMost);
  int at = 0;
  while (at < all.count && all.frames[at] != instruction) ++at;
  site.frames[site.count++] = const_cast<void *>(instruction);
  for (int i = at + 1; i < all.count; ++i) site.frames[site.count++] = all.frames[i];
  step_back(site, 1);
  return site;
}

bool inside_library(const Site &site) {
  int i = 0;
  while (i < site.count && !own_code(site.frames[i]) && system_code(site.frames[i])) ++i;
  return i < site.count && own_code(site.frames[i]);
}

const void *caller_of(const Site &site) {
  const int at = first_outside(site);
  return at < site.count ? site.frames[at] : nullptr;
}

std::string site_text(const Site &site) {
  std::string text;
  int shown = 0;
  for (int i = first_outside(site); i < site.count && shown < kShown; ++i) {
    if (system_code(site.frames[i])) break;
    text += (shown++ > 0 ? ", called from " : "") + text_of(site.frames[i]);
    if (text.size() >= 8 && text.compare(text.size() - 8, 8, " in main") == 0) break;
  }
  return text;
}

std::string line_of(const Site &site) {
  const void *caller = caller_of(site);
  if (caller == nullptr) return "";
  const std::string &text = text_of(caller);
  return text.substr(0, text.find(" in "));
}

}  // namespace emu::faults
