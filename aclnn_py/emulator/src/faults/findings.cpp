// SPDX-License-Identifier: Apache-2.0
#include "faults/findings.h"

#include <unistd.h>

#include <cstdio>
#include <mutex>
#include <set>
#include <utility>

#include "core/process.h"
#include "faults/modes.h"
#include "faults/objects.h"

namespace emu::faults {
namespace {

struct Found {
  std::mutex mutex;
  std::set<std::pair<std::string, const void *>> seen;
};

Found &found() {
  static auto *const instance = new Found;
  return *instance;
}

void write_out(const std::string &text) {
  size_t done = 0;
  while (done < text.size()) {
    const ssize_t n = write(STDERR_FILENO, text.data() + done, text.size() - done);
    if (n <= 0) return;  // nobody reads it
    done += static_cast<size_t>(n);
  }
}

// The last that is heard of a program: what it never destroyed, and the count.
__attribute__((destructor)) void at_the_end() {
  if (!checking() || forked()) return;
  report_left();
  std::lock_guard<std::mutex> lock(found().mutex);
  if (found().seen.empty()) return;
  const size_t count = found().seen.size();
  write_out("aclnn_py check: " + std::to_string(count) +
            (count == 1 ? " mistake\n" : " mistakes\n"));
}

}  // namespace

void finding(const char *name, const std::string &text, const Site &site,
             std::initializer_list<Place> places) {
  {
    std::lock_guard<std::mutex> lock(found().mutex);
    if (!found().seen.emplace(name, caller_of(site)).second) return;
  }
  std::string out = std::string("aclnn_py check: ") + name + ": " + text + "\n";
  if (const std::string at = site_text(site); !at.empty()) out += "    at " + at + "\n";
  for (const Place &place : places) {
    const std::string at = site_text(place.site);
    if (!at.empty()) out += std::string("    ") + place.label + " at " + at + "\n";
  }
  write_out(out);
}

void finding(const char *name, const std::string &text) { finding(name, text, site_here()); }

}  // namespace emu::faults
