// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdarg>
#include <cstdint>
#include <string>

namespace emu {

using Status = int32_t;

// Formats a message, keeps it as this thread's recent message behind the message code that goes
// with `code` (EZ1001 for 161xxx, EE1001 for 107xxx, ...) and returns `code`. A fixed text is used
// when the host has no memory for the message.
[[gnu::format(printf, 2, 3)]] Status fail(Status code, const char *format, ...) noexcept;

// For an expected answer (a second call, an absent package): the text can be read, but the next
// failure of the thread replaces it, so that it is never appended to another call's error.
[[gnu::format(printf, 2, 3)]] Status inform(Status code, const char *format, ...) noexcept;

// The same as `fail` with the six-character message code given ("EI0002" of HCCL, for instance);
// null means as `fail` does.
[[gnu::format(printf, 3, 4)]] Status fail_as(const char *message_code, Status code,
                                             const char *format, ...) noexcept;

// Adds a finished message, as `fail` does: for faults whose text was made on another thread.
void add_message(const std::string &line) noexcept;

// The pending text of this thread, removed from it. Empty when there is none.
std::string take_message() noexcept;

// Hides the calling thread's messages and last error during its lifetime and restores them at its
// end. For a thread that does the work of a stream.
class MessagesAside {
 public:
  MessagesAside() noexcept;
  ~MessagesAside();
  MessagesAside(const MessagesAside &) = delete;
  MessagesAside &operator=(const MessagesAside &) = delete;

 private:
  void exchange() noexcept;

  std::string pending_, note_;
  const Status last_error_;
};

// 0: every thread has its own messages. 1: one list for the process (`err_msg_mode` of the
// configuration).
void set_message_mode(int mode);

// What aclrtPeekAtLastError and aclrtGetLastError report for this thread.
Status last_error();
void set_last_error(Status code);

// Null-terminated text that lives until the next call on this thread; null when nothing is pending.
const char *recent_message() noexcept;

}  // namespace emu
