// SPDX-License-Identifier: Apache-2.0
// Places of a program: who called the library, as addresses that become file and line only when a
// report is written.
#pragma once

#include <string>

namespace emu::faults {

struct Site {
  static constexpr int kMost = 24;
  void *frames[kMost];
  int count = 0;
};

// The calling thread's frames.
Site site_here();
// From the instruction that a signal interrupted.
Site site_of_signal(const void *instruction);

bool own_code(const void *address);
// Whether the innermost code that is no C library belongs to this library.
bool inside_library(const Site &site);

// The first place outside of this library and the C library; null when there is none.
const void *caller_of(const Site &site);

// "add.c:31 in main", with up to three callers: ", called from ...". Empty without a caller.
std::string site_text(const Site &site);

// "add.c:31", the same place without function and callers.
std::string line_of(const Site &site);

}  // namespace emu::faults
