// SPDX-License-Identifier: Apache-2.0
#include "core/host_calls.h"

#include <sys/syscall.h>
#include <unistd.h>

#include <cstring>

#include "core/timeline.h"

namespace emu {
namespace {

// The noted call of a thread.
struct Current {
  bool active = false;
  uint64_t begin_ns = 0, before_ns = 0;
  TaskPlace launched;
};
thread_local Current t_call;

// The phase one that a thread is in, or has left with a refusal.
struct PhaseOne {
  const char *op = nullptr;
  uint64_t begin_ns = 0;
};
thread_local PhaseOne t_phase_one;

}  // namespace

int64_t thread_number() {
  static thread_local const int64_t number = syscall(SYS_gettid);
  return number;
}

void HostCall::begin(const char *what) {
  t_phase_one = PhaseOne{};
  if (t_call.active) return;
  what_ = what;
  t_call = Current{true, timeline_now_ns(), 0, {}};
}

void HostCall::end() noexcept {
  keep_call({what_, false, thread_number(), t_call.begin_ns, timeline_now_ns(), t_call.before_ns,
             t_call.launched});
  t_call.active = false;
}

void start_phase_one(const char *op) {
  const bool same = t_phase_one.op != nullptr && std::strcmp(t_phase_one.op, op) == 0;
  if (!same) t_phase_one = {op, timeline_now_ns()};
}

uint64_t end_phase_one(const char *op) noexcept {
  if (t_phase_one.op == nullptr || std::strcmp(t_phase_one.op, op) != 0) return 0;
  const uint64_t begin = t_phase_one.begin_ns, end = timeline_now_ns();
  t_phase_one = PhaseOne{};
  keep_call({op, true, thread_number(), begin, end, 0, {}});
  return end - begin;
}

void add_preparation(uint64_t ns) {
  if (t_call.active) t_call.before_ns += ns;
}

void note_launch(int32_t device, int32_t stream, uint32_t task) {
  if (t_call.active) t_call.launched = {device, stream, task};
}

}  // namespace emu
