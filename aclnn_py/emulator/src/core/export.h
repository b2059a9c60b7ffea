// SPDX-License-Identifier: Apache-2.0
// The border of the library. Everything is compiled with -fvisibility=hidden: only the C entry
// points leave it, and no exception does. An entry point is a function whose body is one try block:
//
//     EMU_EXPORT aclError aclrtFoo(int32_t device) try {
//       EMU_ENTER();
//       ...
//     }
//     EMU_CATCH
//
// EMU_OPERATOR brings the `try` itself. The try block costs nothing while nothing is thrown.
#pragma once

#include <exception>
#include <type_traits>

#include "core/status.h"

#define EMU_EXPORT extern "C" __attribute__((visibility("default")))

// Ends the body of an entry point: what was thrown becomes its status (or null, or zero) and a
// message.
#define EMU_CATCH                             \
  catch (const std::exception &problem_) {    \
    return ::emu::caught(__func__, problem_); \
  }
// The same for an entry point that returns nothing.
#define EMU_CATCH_VOID                     \
  catch (const std::exception &problem_) { \
    ::emu::caught(__func__, problem_);     \
  }

namespace emu {

// The answer of an entry point that threw, in the type it returns.
class Caught {
 public:
  explicit Caught(Status status) : status_(status) {}

  template <class T>
  operator T() const {  // NOLINT: implicit on purpose, it is what a catch block returns
    if constexpr (std::is_pointer_v<T>) {
      return nullptr;
    } else if constexpr (std::is_same_v<T, Status> || std::is_enum_v<T>) {
      return static_cast<T>(status_);
    } else {
      static_assert(std::is_arithmetic_v<T>);
      return 0;  // a count or a size
    }
  }

 private:
  Status status_;
};

// Writes the message and picks the status of the routine's family. A failed host allocation is
// 207001 for operators, 200000 for the runtime and HCCL_E_MEMORY for HCCL; any other exception is
// the family's internal error.
Caught caught(const char *routine, const std::exception &problem) noexcept;

}  // namespace emu
