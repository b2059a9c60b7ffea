// SPDX-License-Identifier: Apache-2.0
#include <atomic>
#include <cstdio>
#include <exception>
#include <memory>
#include <optional>
#include <utility>

#include "core/process.h"
#include "faults/calls.h"
#include "faults/gate.h"
#include "faults/record.h"
#include "faults/trace.h"

namespace emu::faults {

struct Notes {
  explicit Notes(const char *described) : signature(described) {}
  Signature signature;
  std::optional<Traced> traced;
  RecordedRun recorded;
};

namespace {

// The host has no memory for what is written about a call: whoever reads it is told that it lacks
// something.
void say_lost(const Call &call) noexcept {
  static std::atomic<bool> said{false};
  if (mode(kRecord) && (is_phase_one(call) || is_phase_two(call))) record_failed(call);
  if (mode(kTrace) && !said.exchange(true))
    std::fputs("ACLNN_PY_TRACE: calls are missing: the host had no memory to write them\n", stderr);
}

}  // namespace

// The program's call goes on whatever happens to what is written about it.
void call_begins(Call &call) noexcept try {
  if (forked()) return;  // the files are the parent's
  auto notes = std::make_unique<Notes>(call.described);
  // It waits for the device, which is no part of the time of the call.
  if (mode(kRecord)) notes->recorded = record_begins(call, notes->signature);
  if (mode(kTrace)) trace_begins(call, notes->signature, notes->traced.emplace());
  call.notes = notes.release();
} catch (const std::exception &) {
  say_lost(call);
}

void call_ends(Call &call, const Value &result) noexcept try {
  const int64_t ended = trace_clock();
  const std::unique_ptr<Notes> notes(call.notes);
  if (notes == nullptr) return;
  if (notes->traced) trace_ends(call, notes->signature, *notes->traced, result, ended);
  if (mode(kRecord)) record_ends(call, notes->signature, std::move(notes->recorded), result);
} catch (const std::exception &) {
  say_lost(call);
}

}  // namespace emu::faults
