// SPDX-License-Identifier: Apache-2.0
// A task that holds a stream until it is let go: what a test needs to catch a stream at work.
#ifndef TESTS_NATIVE_GATE_H
#define TESTS_NATIVE_GATE_H

#include <atomic>
#include <chrono>
#include <thread>

#include "expect.h"

class Gate {
 public:
  void close(aclrtStream stream) {
    open_.store(false);
    reached_.store(false);
    left_.store(false);
    EXPECT_OK(aclrtLaunchHostFunc(stream, &Gate::hold, this));
  }
  // Returns when the task has let go of this object: it may be destroyed then.
  void open() {
    open_.store(true);
    while (!left_.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  bool reached() const { return reached_.load(); }
  void wait_reached() const {
    while (!reached()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }

 private:
  static void hold(void *self) {
    auto *gate = static_cast<Gate *>(self);
    gate->reached_.store(true);
    while (!gate->open_.load()) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    gate->left_.store(true);
  }
  std::atomic<bool> open_{true}, reached_{false}, left_{true};
};

#endif
