// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "core/memory_signals.h"

#include <pthread.h>
#include <setjmp.h>

#include <atomic>
#include <cstdlib>
#include <new>

namespace emu {
namespace {

struct Landing {
  sigjmp_buf back;
  const AddressRange *ranges;
  uintptr_t bad;
  Landing *outer;
};

// Of each thread; the handler must not allocate memory, and reading a key does not. A thread_local
// that promises the same would put all of the library's into the static TLS block, which has little
// room for a library that is opened while the program runs.
const pthread_key_t g_landing = [] {
  pthread_key_t key;
  if (pthread_key_create(&key, nullptr) != 0) std::abort();
  return key;
}();

Landing *current_landing() { return static_cast<Landing *>(pthread_getspecific(g_landing)); }

// False when the host has no memory for it, which only the first one of a thread may need.
bool set_landing(Landing *landing) { return pthread_setspecific(g_landing, landing) == 0; }

struct sigaction g_before_segv, g_before_bus;
std::atomic<MemorySignalHook> g_hook{nullptr};

void pass_on(int signal, siginfo_t *info, void *context) {
  const struct sigaction &before = signal == SIGBUS ? g_before_bus : g_before_segv;
  if ((before.sa_flags & SA_SIGINFO) != 0) return before.sa_sigaction(signal, info, context);
  if (before.sa_handler != SIG_DFL && before.sa_handler != SIG_IGN)
    return before.sa_handler(signal);
  // The instruction runs again and meets what was there; a signal that was sent is sent again.
  sigaction(signal, &before, nullptr);
  if (info->si_code <= 0) raise(signal);
}

void on_signal(int signal, siginfo_t *info, void *context) {
  const bool sent = info->si_code <= 0;
  const bool untold = info->si_code == SI_KERNEL;  // an address that no memory can have
  const auto at = untold ? 0 : reinterpret_cast<uintptr_t>(info->si_addr);
  Landing *landing = current_landing();
  if (landing != nullptr && !sent &&
      (untold || landing->ranges[0].holds(at) || landing->ranges[1].holds(at))) {
    landing->bad = at;
    set_landing(landing->outer);
    siglongjmp(landing->back, 1);
  }
  const MemorySignalHook hook = g_hook.load();
  if (hook != nullptr && !sent && hook(signal, info, context)) return;
  pass_on(signal, info, context);
}

// Without a signal mask, so that the jump out of the handler has none to restore.
bool install() {
  struct sigaction action{};
  action.sa_sigaction = on_signal;
  action.sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER;
  sigemptyset(&action.sa_mask);
  // The old ones first: a signal may come as soon as the handler is there.
  sigaction(SIGSEGV, nullptr, &g_before_segv);
  sigaction(SIGBUS, nullptr, &g_before_bus);
  return sigaction(SIGSEGV, &action, nullptr) == 0 && sigaction(SIGBUS, &action, nullptr) == 0;
}

bool installed() {
  static const bool done = install();
  return done;
}

}  // namespace

bool survives(void (*work)(void *), void *data, const AddressRange (&ranges)[2], uintptr_t *bad) {
  (void)installed();
  Landing landing;
  landing.ranges = ranges;
  landing.outer = current_landing();
  if (sigsetjmp(landing.back, 0) != 0) {
    *bad = landing.bad;
    return false;
  }
  if (!set_landing(&landing)) throw std::bad_alloc();
  std::atomic_signal_fence(std::memory_order_seq_cst);
  work(data);
  std::atomic_signal_fence(std::memory_order_seq_cst);
  set_landing(landing.outer);
  return true;
}

void set_memory_signal_hook(MemorySignalHook hook) {
  g_hook.store(hook);
  (void)installed();
}

}  // namespace emu
