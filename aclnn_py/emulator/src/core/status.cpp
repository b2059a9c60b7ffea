// SPDX-License-Identifier: Apache-2.0
#include "core/status.h"

#include <atomic>
#include <cstdio>
#include <mutex>
#include <new>
#include <utility>

#include "core/logs.h"
#include "core/per_thread.h"
#include "core/process.h"
#include "core/refusal.h"
#include "faults/findings.h"
#include "faults/modes.h"

namespace emu {
namespace {

constexpr size_t kMaxPending = 8192;

struct Pending {
  std::string failures;  // newest first
  std::string note;      // what `inform` said last, until something fails
};

struct ThreadMessages {
  Pending pending;
  Refusal refusal;
  std::string handed_out;
};

thread_local Status t_last_error = 0;
// A message was lost because the host had no memory for its text.
thread_local bool t_lost = false;
constexpr const char *kLost = "EE1011: the host had no memory left for the text of an error.";

// Calls made by static destructors, after the thread's own objects are gone, get a fresh (then
// leaked) object.
ThreadMessages &messages() { return PerThread<ThreadMessages>::get(); }

struct ProcessMessages {
  std::mutex mutex;
  Pending pending;
};

ProcessMessages &process_messages() {
  static auto *shared = new ProcessMessages;
  return *shared;
}

std::atomic<int> g_mode{0};

bool process_wide() { return g_mode.load(std::memory_order_relaxed) == 1 && !forked(); }

void prepend(Pending &pending, const std::string &line) {
  pending.note.clear();
  std::string &text = pending.failures;
  text.insert(0, line + "\n");
  if (text.size() > kMaxPending) {
    const size_t cut = text.rfind('\n', kMaxPending);
    text.resize(cut == std::string::npos ? kMaxPending : cut + 1);
  }
}

// Calls f with what is pending for this thread.
template <class F>
void with_pending(F f) {
  if (process_wide()) {
    auto &shared = process_messages();
    std::lock_guard<std::mutex> lock(shared.mutex);
    f(shared.pending);
  } else {
    f(messages().pending);
  }
}

const char *message_code_of(Status code) {
  const int family = code / 1000;
  switch (family) {
    case 161: return "EZ1001";
    case 361: return "EZ9903";
    case 561: return "EZ9999";
    case 100:
    case 148: return "EH0001";
    case 200: return "EH0002";
    case 300:
    case 500: return "EH9999";
    case 107: return "EE1001";
    case 207: return code == 207001 ? "EE1011" : "EE1005";
    default: return "EE9999";
  }
}

std::string format_text(const char *format, va_list args) {
  char small[512];
  va_list again;
  va_copy(again, args);
  const int length = std::vsnprintf(small, sizeof small, format, args);
  std::string text;
  if (length < 0) {
    text = format;
  } else if (static_cast<size_t>(length) < sizeof small) {
    text.assign(small, static_cast<size_t>(length));
  } else {
    text.resize(static_cast<size_t>(length));
    std::vsnprintf(text.data(), text.size() + 1, format, again);
  }
  va_end(again);
  return text;
}

void add(const std::string &line) {
  with_pending([&](Pending &pending) { prepend(pending, line); });
}

void log(logs::Level level, Status code, const char *message_code, const std::string &text) {
  // The codes of HCCL are small numbers, which have no message code of their own.
  const logs::Module module =
      text.compare(0, 4, "Hccl") == 0 ? logs::kHccl : logs::module_of(message_code);
  if (logs::wants(module, level)) logs::write(module, level, message_code, code, text);
}

// Without memory for its text a failure is still a status: nothing is thrown.
void add_formatted(Status code, const char *message_code, const char *format, va_list args,
                   const char *kind = nullptr, const char *parameter = "") noexcept {
  try {
    std::string text = format_text(format, args);
    add(std::string(message_code) + ": " + text);
    log(logs::kError, code, message_code, text);
    if (faults::checking()) faults::refused(code, text);
    messages().refusal = {code, kind, parameter, std::move(text)};
  } catch (const std::bad_alloc &) {
    t_lost = true;
  }
}

}  // namespace

void add_message(const std::string &line) noexcept {
  try {
    add(line);
  } catch (const std::bad_alloc &) {
    t_lost = true;
  }
}

Status fail(Status code, const char *format, ...) noexcept {
  va_list args;
  va_start(args, format);
  add_formatted(code, message_code_of(code), format, args);
  va_end(args);
  t_last_error = code;
  return code;
}

Status fail_about(const char *kind, const char *parameter, Status code, const char *format,
                  ...) noexcept {
  va_list args;
  va_start(args, format);
  add_formatted(code, message_code_of(code), format, args, kind, parameter);
  va_end(args);
  t_last_error = code;
  return code;
}

Status reported_as(Status code) noexcept {
  if (auto *mine = PerThread<ThreadMessages>::try_get()) mine->refusal.status = code;
  t_last_error = code;
  return code;
}

Refusal take_refusal() noexcept {
  auto *mine = PerThread<ThreadMessages>::try_get();
  return mine == nullptr ? Refusal{} : std::exchange(mine->refusal, {});
}

Status inform(Status code, const char *format, ...) noexcept {
  va_list args;
  va_start(args, format);
  try {
    const char *message_code = message_code_of(code);
    const std::string text = format_text(format, args);
    with_pending(
        [&](Pending &pending) { pending.note = std::string(message_code) + ": " + text + "\n"; });
    log(logs::kWarning, code, message_code, text);
  } catch (const std::bad_alloc &) {
    t_lost = true;
  }
  va_end(args);
  t_last_error = code;
  return code;
}

Status fail_as(const char *message_code, Status code, const char *format, ...) noexcept {
  va_list args;
  va_start(args, format);
  add_formatted(code, message_code != nullptr ? message_code : message_code_of(code), format, args);
  va_end(args);
  t_last_error = code;
  return code;
}

std::string take_message() noexcept {
  std::string text;
  try {
    with_pending([&](Pending &pending) {
      text = pending.note + pending.failures;
      pending = {};
    });
  } catch (const std::bad_alloc &) {
    t_lost = true;
  }
  if (!text.empty() && text.back() == '\n') text.pop_back();
  return text;
}

void MessagesAside::exchange() noexcept {
  auto *mine = PerThread<ThreadMessages>::try_get();
  if (mine == nullptr) return;  // nothing of this thread was ever kept
  pending_.swap(mine->pending.failures);
  note_.swap(mine->pending.note);
}

MessagesAside::MessagesAside() noexcept : last_error_(t_last_error) { exchange(); }

MessagesAside::~MessagesAside() {
  exchange();
  t_last_error = last_error_;
}

void set_message_mode(int mode) { g_mode.store(mode, std::memory_order_relaxed); }

Status last_error() { return t_last_error; }
void set_last_error(Status code) { t_last_error = code; }

const char *recent_message() noexcept {
  auto *mine = PerThread<ThreadMessages>::try_get();
  if (mine == nullptr) return kLost;
  mine->handed_out = take_message();
  if (mine->handed_out.empty()) return std::exchange(t_lost, false) ? kLost : nullptr;
  return mine->handed_out.c_str();
}

}  // namespace emu
