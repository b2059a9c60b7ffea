// SPDX-License-Identifier: Apache-2.0
// In place of expect.h, for a program that was written without scarcity in mind: allocation
// SCARCE_N that the library makes is refused. The call that answers so must do it by its documented
// status and a message, and is made again; then the program has to go on as if nothing had been.
// Where work on a stream was lost, the program ends there.
//
// The library's allocations are those inside an expected call, and those of the threads it starts.
#ifndef TESTS_NATIVE_EXPECT_H
#define TESTS_NATIVE_EXPECT_H

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "acl/acl.h"
#include "aclnn/aclnn_base.h"

#define SCARCE_ONLY_LIBRARY
#include "scarce.h"

namespace scarce {

constexpr long kNever = 1L << 40;

inline long n() {
  const char *given = std::getenv("SCARCE_N");
  return given != nullptr ? std::atol(given) : kNever;
}

// Without SCARCE_N nothing is refused. Prints at the end how many allocations there were.
struct Begin {
  Begin() { arm(n()); }
  ~Begin() { std::printf(g_failed ? "refused\n" : "all %ld\n", n() - g_left); }
};
inline Begin g_begin;
inline bool g_answered = false;  // the call that was refused has said so

template <class F>
int inside(F &&call) {
  const bool before = t_library;
  t_library = true;
  const int code = static_cast<int>(call());
  t_library = before;
  return code;
}

// Whether a call cannot be made again: what it tells of is lost, it has done a part of its work, or
// it ends something whether or not it succeeds.
inline bool ends(const char *what) {
  for (const char *part : {"Synchronize", "StreamQuery", "TaskUpdateEnd", "aclmdlRIExecute("}) {
    if (std::strstr(what, part) != nullptr) return true;
  }
  return std::strncmp(what, "aclnn", 5) == 0 && std::strstr(what, "GetWorkspaceSize") == nullptr;
}

[[noreturn]] inline void end() {
  std::puts("refused");
  std::fflush(stdout);
  std::_Exit(0);
}

// The answer that counts: that of the second attempt, where the first was refused its memory.
template <class F>
int answer(const char *what, int want, F &&call) {
  const int code = inside(call);
  if (code == want || !g_failed || g_answered) return code;
  g_answered = true;
  expect_refusal(what, n(), code);
  if (ends(what)) {
    end();
  }
  const int again = inside(call);
  // The failure that the program waits for was told already, as one for want of memory.
  if (want != 0 && again == 0) end();
  return again;
}

}  // namespace scarce

#define EXPECT(condition)                                                     \
  do {                                                                        \
    if (!(condition)) {                                                       \
      fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      exit(1);                                                                \
    }                                                                         \
  } while (0)

#define EXPECT_CODE(code, call)                                                               \
  do {                                                                                        \
    const int want_ = (code);                                                                 \
    const int got_ = scarce::answer(#call, want_, [&] { return call; });                      \
    const char *text_ = aclGetRecentErrMsg();                                                 \
    if (got_ != want_ || (got_ != 0 && text_ == nullptr)) {                                   \
      fprintf(stderr, "%s:%d: %s answered %d, not %d: %s\n", __FILE__, __LINE__, #call, got_, \
              want_, text_ ? text_ : "(no message)");                                         \
      exit(1);                                                                                \
    }                                                                                         \
  } while (0)

#define EXPECT_OK(call) EXPECT_CODE(0, call)

#endif
