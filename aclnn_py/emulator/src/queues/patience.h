// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <mutex>

#include "acl/acl_base_rt.h"
#include "core/status.h"

namespace emu {

// A wait as the queue functions of CANN state it: -1 until it is there, 0 not at all, else
// milliseconds.
class Patience {
 public:
  explicit Patience(int32_t timeout)
      : endless_(timeout < 0),
        end_(std::chrono::steady_clock::now() + std::chrono::milliseconds(timeout)) {}

  static Status check(const char *routine, int32_t timeout) {
    if (timeout >= -1) return 0;
    return fail(ACL_ERROR_INVALID_PARAM,
                "%s: timeout is %d; allowed are -1 (as long as it takes), 0 (not at all) and "
                "milliseconds.",
                routine, timeout);
  }

  // Waits until `ready` holds. False when the time is over first.
  template <class Ready>
  bool wait(std::condition_variable &changed, std::unique_lock<std::mutex> &lock,
            Ready ready) const {
    if (!endless_) return changed.wait_until(lock, end_, ready);
    changed.wait(lock, ready);
    return true;
  }

 private:
  bool endless_;
  std::chrono::steady_clock::time_point end_;
};

}  // namespace emu
