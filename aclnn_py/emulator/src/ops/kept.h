// SPDX-License-Identifier: Apache-2.0
// Operands that must not change while a result is written in any order.
#pragma once

#include <optional>

#include "ops/view.h"

namespace emu {

// The view itself, or a copy of it where it shares memory with `written`, be it element for
// element.
class Kept {
 public:
  Kept(const View &view, const View &written) : view_(view) {
    if (clash(view, written) || view.data == written.data) copy_.emplace(view);
  }
  const View &view() const { return copy_ ? copy_->view() : view_; }

 private:
  View view_;
  std::optional<Snapshot> copy_;
};

}  // namespace emu
