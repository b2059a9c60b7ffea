// SPDX-License-Identifier: Apache-2.0
// A refusal of phase one as data, beside its message (include/aclnn_py/refusal.h).
#pragma once

#include <string>

#include "core/status.h"

namespace emu {

// The last failure of a thread. Texts of checks that are written out say themselves what they are
// about: then `kind` is null and `parameter` empty.
struct Refusal {
  Status status = 0;
  const char *kind = nullptr;  // static text
  std::string parameter;       // "x", "x[2]"
  std::string text;            // without the message code
};

// `fail` with the parameter and the kind of rule that is broken.
[[gnu::format(printf, 4, 5)]] Status fail_about(const char *kind, const char *parameter,
                                                Status code, const char *format, ...) noexcept;

// Gives the last refusal of this thread another status, which is returned: some operators report
// what an inner one refuses with a status of their own.
Status reported_as(Status code) noexcept;

// The last failure of this thread, removed from it; status 0 when there is none.
Refusal take_refusal() noexcept;

}  // namespace emu
