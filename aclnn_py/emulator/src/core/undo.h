// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <utility>

namespace emu {

// Takes back what was done so far unless the rest succeeds:
//
//     charge_memory(device, size);
//     Undo charge([&] { discharge_memory(device, size); });
//     ... may throw or return ...
//     charge.keep();
template <class F>
class Undo {
 public:
  explicit Undo(F back) : back_(std::move(back)) {}
  ~Undo() {
    if (armed_) back_();
  }
  Undo(const Undo &) = delete;
  Undo &operator=(const Undo &) = delete;
  void keep() { armed_ = false; }

 private:
  F back_;
  bool armed_ = true;
};

}  // namespace emu
