// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace emu {

class TimedRun;

// Counts time in which a task waits for other ranks.
class TimedWait {
 public:
  TimedWait();
  ~TimedWait();
  TimedWait(const TimedWait &) = delete;
  TimedWait &operator=(const TimedWait &) = delete;

 private:
  TimedRun *const run_;
  uint64_t begin_ns_ = 0;
};

}  // namespace emu
