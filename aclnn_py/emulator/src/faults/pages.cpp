// SPDX-License-Identifier: Apache-2.0
#include "faults/pages.h"

#include <sys/mman.h>
#include <ucontext.h>

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <mutex>
#include <vector>

#include "core/memory.h"
#include "core/memory_signals.h"
#include "faults/findings.h"
#include "faults/objects.h"
#include "faults/sites.h"

namespace emu::faults {
namespace {

constexpr int kMostWindows = 64;

struct Window {
  char *start;
  size_t size;
  char *second;  // the same memory, always open
};

// Plain data: the handler of the signal reads it.
Window g_windows[kMostWindows];
std::atomic<int> g_count{0};
std::atomic<int> g_all_open{0};
std::atomic<bool> g_given_up{false};

struct Opened {
  std::mutex mutex;
  std::vector<Pages> pages;  // open now, one entry per use
};

Opened &opened() {
  static auto *const instance = new Opened;
  return *instance;
}

void protect_all(int how) {
  const int count = g_count.load();
  for (int i = 0; i < count; ++i) mprotect(g_windows[i].start, g_windows[i].size, how);
}

void protect(Pages pages, int how) {
  if (pages.low < pages.high)
    mprotect(reinterpret_cast<void *>(pages.low), pages.high - pages.low, how);
}

const Window *window_of(const void *address) {
  const auto *at = static_cast<const char *>(address);
  const int count = g_count.load();
  for (int i = 0; i < count; ++i) {
    if (at >= g_windows[i].start && at < g_windows[i].start + g_windows[i].size)
      return &g_windows[i];
  }
  return nullptr;
}

// Closes pages, but for what others use. The lock is held.
void close_but_for(Pages pages, size_t first) {
  const auto &all = opened().pages;
  for (size_t i = first; i < all.size(); ++i) {
    if (all[i].low >= pages.high || pages.low >= all[i].high) continue;
    close_but_for({pages.low, all[i].low}, i + 1);
    close_but_for({all[i].high, pages.high}, i + 1);
    return;
  }
  protect(pages, PROT_NONE);
}

const void *instruction_of(const void *context) {
  const auto *machine = static_cast<const ucontext_t *>(context);
#if defined(__x86_64__)
  return reinterpret_cast<const void *>(machine->uc_mcontext.gregs[REG_RIP]);
#elif defined(__aarch64__)
  return reinterpret_cast<const void *>(machine->uc_mcontext.pc);
#else
#error "name the register that holds the address of the instruction"
#endif
}

bool was_write(const void *context) {
#if defined(__x86_64__)
  return (static_cast<const ucontext_t *>(context)->uc_mcontext.gregs[REG_ERR] & 2) != 0;
#else
  (void)context;
  return true;
#endif
}

// The process ends here: nothing that is not safe in a handler can do harm any more.
void report_access(const void *address, const Site &site, bool wrote) {
  const std::string what = describe_address(address);
  Life life;
  const bool known = life_of(address, &life);
  const char *name = wrote ? "host write to device memory" : "host access to device memory";
  const std::string text = "the program itself accesses " + what + "; aclrtMemcpy does it";
  if (known) {
    finding(name, text, site, {{"allocated", life.made}});
  } else {
    finding(name, text, site);
  }
}

bool on_fault(int /*signal*/, siginfo_t *info, void *context) {
  if (g_given_up.load() || window_of(info->si_addr) == nullptr) return false;
  if (g_all_open.load() > 0) return true;  // opened since
  const Site site = site_of_signal(instruction_of(context));
  if (inside_library(site)) {
    stop_guarding();  // the library's own access: the guard was wrong, the program is not
    return true;
  }
  report_access(info->si_addr, site, was_write(context));
  return false;
}

void install() {
  set_memory_signal_hook(on_fault);
  (void)site_here();  // loads what walks over frames, which a handler should not
}

}  // namespace

void guard_window(void *start, size_t size, int file) {
  std::lock_guard<std::mutex> lock(opened().mutex);
  const int count = g_count.load();
  if (file < 0 || g_given_up.load() || count == kMostWindows) return;
  void *second = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file, 0);
  if (second == MAP_FAILED) return;
  if (count == 0) install();
  g_windows[count] = {static_cast<char *>(start), size, static_cast<char *>(second)};
  g_count.store(count + 1);
  if (g_all_open.load() == 0) mprotect(start, size, PROT_NONE);
}

void stop_guarding() {
  g_given_up.store(true);
  protect_all(PROT_READ | PROT_WRITE);
}

void *second_way(const void *address) {
  const Window *window = window_of(address);
  if (window == nullptr) return const_cast<void *>(address);
  return window->second + (static_cast<const char *>(address) - window->start);
}

Access::Access() : open_(checking()), all_(true) {
  if (!open_) return;
  std::lock_guard<std::mutex> lock(opened().mutex);
  if (g_all_open.load() == 0) protect_all(PROT_READ | PROT_WRITE);
  g_all_open.fetch_add(1);
}

Access::Access(std::vector<Pages> pages) : open_(checking()) {
  if (!open_) return;
  std::lock_guard<std::mutex> lock(opened().mutex);
  for (Pages &piece : pages) {
    if (window_of(reinterpret_cast<const void *>(piece.low)) == nullptr) continue;
    pages_.push_back({piece.low / kPageBytes * kPageBytes,
                      (piece.high + kPageBytes - 1) / kPageBytes * kPageBytes});
  }
  opened().pages.insert(opened().pages.end(), pages_.begin(), pages_.end());
  if (g_all_open.load() > 0 || g_given_up.load()) return;
  for (const Pages piece : pages_) protect(piece, PROT_READ | PROT_WRITE);
}

Access::~Access() {
  if (!open_) return;
  auto &all = opened().pages;
  std::lock_guard<std::mutex> lock(opened().mutex);
  for (const Pages piece : pages_) {
    const auto at = std::find_if(all.begin(), all.end(), [&](Pages other) {
      return other.low == piece.low && other.high == piece.high;
    });
    if (at != all.end()) all.erase(at);
  }
  const bool last = all_ && g_all_open.fetch_sub(1) == 1;
  if (g_given_up.load() || g_all_open.load() > 0) return;
  if (last) {
    protect_all(PROT_NONE);
    for (const Pages piece : all) protect(piece, PROT_READ | PROT_WRITE);
  }
  for (const Pages piece : pages_) close_but_for(piece, 0);
}

}  // namespace emu::faults
