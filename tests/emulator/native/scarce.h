// SPDX-License-Identifier: Apache-2.0
// A process whose host runs out of memory at a chosen point: the n-th allocation, or start of a
// thread, from then on fails, whoever asks. Include it in one file of a program; it replaces the
// allocator of the whole process.
#ifndef TESTS_NATIVE_SCARCE_H
#define TESTS_NATIVE_SCARCE_H

#include <dlfcn.h>
#include <pthread.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>

#include "expect.h"

extern "C" {
void *__libc_malloc(size_t);
void *__libc_calloc(size_t, size_t);
void *__libc_realloc(void *, size_t);
void *__libc_memalign(size_t, size_t);
void __libc_free(void *);
}

namespace scarce {

inline std::atomic<long> g_left{0};  // allocations until one fails; 0: none does
inline std::atomic<bool> g_failed{false};
inline std::atomic<long> g_live{0};  // blocks that nobody has freed

inline bool refused() {
  long left = g_left.load();
  while (left > 0 && !g_left.compare_exchange_weak(left, left - 1)) {
  }
  if (left != 1) return false;
  g_failed = true;
  errno = ENOMEM;
  return true;
}

inline void *counted(void *block) {
  if (block != nullptr) ++g_live;
  return block;
}

inline void arm(long n) {
  g_failed = false;
  g_left = n;
}

// Whether something was refused since arm().
inline bool disarm() {
  g_left = 0;
  return g_failed.exchange(false);
}

using PthreadCreate = int (*)(pthread_t *, const pthread_attr_t *, void *(*)(void *), void *);
inline PthreadCreate real_pthread_create() {
  static const auto real = reinterpret_cast<PthreadCreate>(dlsym(RTLD_NEXT, "pthread_create"));
  return real;
}

// What a call may answer when the host has no memory: the runtime's own code, the operators', the
// stream that took no work or got no thread, and HCCL's for memory, the system and the runtime.
inline bool documented(int code) {
  for (const int known : {200000, 207001, 207005, 361001, 3, 8, 15}) {
    if (code == known) return true;
  }
  return false;
}

constexpr int kNull = -1;  // the answer of a call that returned a null pointer

inline void expect_refusal(const std::string &what, long n, int code) {
  const char *text = aclGetRecentErrMsg();
  if (code == kNull || documented(code)) {
    if (text != nullptr) return;
    std::fprintf(stderr, "%s, allocation %ld: answered %d without a message\n", what.c_str(), n,
                 code);
  } else {
    std::fprintf(stderr, "%s, allocation %ld: answered %d: %s\n", what.c_str(), n, code,
                 text ? text : "(no message)");
  }
  std::exit(1);
}

inline void expect_success(const std::string &what, long n, int code) {
  if (code == 0) return;
  const char *text = aclGetRecentErrMsg();
  std::fprintf(stderr, "%s, with memory again after allocation %ld: answered %d: %s\n",
               what.c_str(), n, code, text ? text : "(no message)");
  std::exit(1);
}

// Fails every allocation of `attempt` in turn, until it succeeds because none is left. Each time: a
// documented answer with a message, success when there is memory again, and no block more than
// before. `undo` takes back what a successful attempt made. Returns how many allocations were
// refused.
inline long every_allocation(const std::string &what, const std::function<int()> &attempt,
                             const std::function<void()> &undo) {
  const auto succeed = [&](long n) {
    expect_success(what, n, attempt());
    undo();
  };
  succeed(0);
  for (long n = 1;; ++n) {
    bool failed = false;
    long more = 1;
    // What is made once, or let go of later by another thread, is no leak: one grows with every
    // round.
    for (int round = 0; round < 6 && more > 0; ++round) {
      const long before = g_live;
      arm(n);
      const int code = attempt();
      failed = disarm();
      if (code == 0) {
        undo();
      } else {
        if (!failed) expect_success(what, n, code);
        expect_refusal(what, n, code);
        succeed(n);
      }
      while (aclGetRecentErrMsg() != nullptr) {
      }
      for (int i = 0; i < 100 && g_live > before; ++i) usleep(10000);
      more = g_live - before;
    }
    if (more > 0) {
      std::fprintf(stderr, "%s, allocation %ld: %ld blocks more than before\n", what.c_str(), n,
                   more);
      std::exit(1);
    }
    if (!failed) return n - 1;
  }
}

}  // namespace scarce

extern "C" {
void *malloc(size_t size) {
  return scarce::refused() ? nullptr : scarce::counted(__libc_malloc(size));
}
void *calloc(size_t count, size_t size) {
  return scarce::refused() ? nullptr : scarce::counted(__libc_calloc(count, size));
}
void *realloc(void *block, size_t size) {
  if (scarce::refused()) return nullptr;
  void *grown = __libc_realloc(block, size);
  return block == nullptr ? scarce::counted(grown) : grown;
}
void *memalign(size_t unit, size_t size) {
  return scarce::refused() ? nullptr : scarce::counted(__libc_memalign(unit, size));
}
void *aligned_alloc(size_t unit, size_t size) { return memalign(unit, size); }
int posix_memalign(void **block, size_t unit, size_t size) {
  *block = memalign(unit, size);
  return *block != nullptr ? 0 : ENOMEM;
}
void free(void *block) {
  if (block != nullptr) --scarce::g_live;
  __libc_free(block);
}
int pthread_create(pthread_t *thread, const pthread_attr_t *attributes, void *(*body)(void *),
                   void *argument) {
  if (scarce::refused()) return EAGAIN;
  return scarce::real_pthread_create()(thread, attributes, body, argument);
}
}

#endif
