// SPDX-License-Identifier: Apache-2.0
// A library to be preloaded, for a program that is not C++: it makes both phases of an operator for
// every rank of a group, with the n-th allocation of the process refused meanwhile. The program's
// own allocations are not counted.
#include "scarce.h"

extern "C" {

// What the emulator exports; a preloaded library cannot be linked with it.
struct ScarceFunctions {
  int (*set_device)(int32_t);
  int (*synchronize)(void *, int32_t);
  const char *(*message)();
};

// One rank's call. In: the first six. Out: the size phase one asked for, and how the call was
// refused when that was the allocation's doing.
struct ScarceCall {
  int (*phase_one)(const void *, const void *, uint64_t *, void **);
  const void *op, *words;
  int (*phase_two)(void *, uint64_t, void *, void *);
  void *workspace, *stream;
  int32_t device;
  int32_t refused;  // 0: it was not
  uint64_t size;
};

struct ScarceOutcome {
  int32_t code;          // 0, or what was answered although nothing was refused
  int32_t failed;        // whether an allocation was refused
  int32_t undocumented;  // a refusal for want of memory with a status that is none
  int32_t silent;        // one without a message
  int64_t more;          // blocks that live longer than the calls
};

}  // extern "C"

namespace {

template <class F>
auto aside(F &&f) {
  const long left = scarce::g_left.exchange(0);
  auto result = f();
  scarce::g_left = left;
  return result;
}

class Attempt {
 public:
  Attempt(const ScarceFunctions &functions, ScarceOutcome *outcome)
      : functions_(functions), outcome_(*outcome) {}

  // A call that no memory refused is made again, so that the other ranks do not wait for it.
  void launch(ScarceCall *call) {
    if (const int code = aside([&] { return functions_.set_device(call->device); }))
      return fail(code);
    int code = both_phases(call);
    if (code != 0 && judge(code)) {
      call->refused = code;
      code = both_phases(call);
    }
    if (code != 0) fail(code);
  }

  void wait(ScarceCall *call) {
    if (const int code = aside([&] { return functions_.set_device(call->device); }))
      return fail(code);
    const int code = functions_.synchronize(call->stream, 3000);
    if (code == 0) return;
    if (judge(code)) {
      call->refused = code;
    } else {
      fail(code);
    }
  }

 private:
  static int both_phases(ScarceCall *call) {
    void *executor = nullptr;
    if (const int code = call->phase_one(call->op, call->words, &call->size, &executor))
      return code;
    return call->phase_two(call->workspace, call->size, executor, call->stream);
  }

  // Whether the code is an answer to an allocation that was refused.
  bool judge(int code) {
    if (!scarce::g_failed) return false;
    if (!scarce::documented(code)) outcome_.undocumented = code;
    const char *text = functions_.message();
    if (text == nullptr || *text == 0) outcome_.silent = code;
    return true;
  }

  void fail(int code) {
    if (outcome_.code == 0) outcome_.code = code;
  }

  const ScarceFunctions functions_;
  ScarceOutcome &outcome_;
};

}  // namespace

// n = 0 refuses nothing.
extern "C" void scarce_attempt(long n, const ScarceFunctions *functions, ScarceCall *calls,
                               int32_t count, ScarceOutcome *outcome) {
  *outcome = {};
  Attempt attempt(*functions, outcome);
  const long before = scarce::g_live;
  scarce::arm(n);
  for (int32_t i = 0; i < count; ++i) attempt.launch(&calls[i]);
  for (int32_t i = 0; i < count; ++i) attempt.wait(&calls[i]);
  outcome->failed = scarce::disarm();
  while (functions->message() != nullptr) {
  }
  // Another thread may let go of a block a little later.
  for (int i = 0; i < 20 && scarce::g_live > before; ++i) usleep(2000);
  outcome->more = scarce::g_live - before;
}
