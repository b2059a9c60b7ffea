// SPDX-License-Identifier: Apache-2.0
// A process whose host runs out of memory at a chosen point: the n-th allocation, or start of a
// thread, from then on fails, whoever asks. Include it in one file of a program; it replaces the
// allocator of the whole process.
#ifndef TESTS_NATIVE_SCARCE_H
#define TESTS_NATIVE_SCARCE_H

#include <dlfcn.h>
#include <link.h>
#include <pthread.h>
#include <sys/auxv.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>

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

// Whether the loader asks. It ends the process when it gets no memory, for the thread-local
// variables of a library that was opened late, say: nobody can answer for that.
inline bool by_loader(const void *caller) {
  static const auto range = [] {
    const auto base = static_cast<uintptr_t>(getauxval(AT_BASE));
    std::pair<uintptr_t, uintptr_t> found(base, base);
    if (base == 0) return found;  // a static program has none
    const auto *header = reinterpret_cast<const ElfW(Ehdr) *>(base);
    const auto *segment = reinterpret_cast<const ElfW(Phdr) *>(base + header->e_phoff);
    for (int i = 0; i < header->e_phnum; ++i) {
      if (segment[i].p_type == PT_LOAD)
        found.second = base + segment[i].p_vaddr + segment[i].p_memsz;
    }
    return found;
  }();
  const auto address = reinterpret_cast<uintptr_t>(caller);
  return address >= range.first && address < range.second;
}

// The thread is one of the library's, or in a call of it; only with SCARCE_ONLY_LIBRARY does it
// matter.
inline thread_local bool t_library __attribute__((tls_model("initial-exec"))) = false;

inline bool refused(const void *caller = nullptr) {
  if (g_left == 0 || (caller != nullptr && by_loader(caller))) return false;
#ifdef SCARCE_ONLY_LIBRARY
  if (!t_library) return false;
#endif
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

struct Work {
  void *(*body)(void *);
  void *argument;
};

// What a call may answer when the host has no memory: the runtime's own code, the operators', the
// stream that took no work, got no thread or could not be made, and HCCL's for memory, the system
// and the runtime.
inline bool documented(int code) {
  for (const int known : {200000, 207001, 207005, 207008, 361001, 3, 8, 15}) {
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

inline aclrtStream *g_faulty = nullptr;

// Waits for a stream. One with a fault keeps it for those who may still hear of it, so
// every_allocation puts another in its place.
inline int wait_for(aclrtStream &stream) {
  const int code = aclrtSynchronizeStream(stream);
  if (code != 0) g_faulty = &stream;
  return code;
}

inline void renew_faulty() {
  if (g_faulty == nullptr) return;
  if (aclrtDestroyStream(*g_faulty) != 0 || aclrtCreateStream(g_faulty) != 0) {
    std::fprintf(stderr, "a stream with a fault cannot be renewed: %s\n", aclGetRecentErrMsg());
    std::exit(1);
  }
  g_faulty = nullptr;
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
        renew_faulty();
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
  return scarce::refused(__builtin_return_address(0)) ? nullptr
                                                      : scarce::counted(__libc_malloc(size));
}
void *calloc(size_t count, size_t size) {
  return scarce::refused(__builtin_return_address(0)) ? nullptr
                                                      : scarce::counted(__libc_calloc(count, size));
}
void *realloc(void *block, size_t size) {
  if (scarce::refused(__builtin_return_address(0))) return nullptr;
  void *grown = __libc_realloc(block, size);
  return block == nullptr ? scarce::counted(grown) : grown;
}
void *memalign(size_t unit, size_t size) {
  return scarce::refused(__builtin_return_address(0))
             ? nullptr
             : scarce::counted(__libc_memalign(unit, size));
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
  if (!scarce::t_library) return scarce::real_pthread_create()(thread, attributes, body, argument);
  const auto own = [](void *given) -> void * {
    const auto work = *static_cast<scarce::Work *>(given);
    __libc_free(given);
    scarce::t_library = true;  // what the library starts is the library's
    return work.body(work.argument);
  };
  auto *work = static_cast<scarce::Work *>(__libc_malloc(sizeof(scarce::Work)));
  *work = {body, argument};
  const int code = scarce::real_pthread_create()(thread, attributes, own, work);
  if (code != 0) __libc_free(work);
  return code;
}
}

#endif
