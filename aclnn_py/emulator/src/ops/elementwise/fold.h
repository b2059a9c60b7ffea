// SPDX-License-Identifier: Apache-2.0
// Sums and means of the elements that a row computes.
#pragma once

#include "ops/elementwise/engine.h"

namespace emu {

struct ElementFold {
  // `elements` computes single elements; the row must have the same formula in the wide type.
  ElementFold(const ElementwiseRow &row, const ElementwiseTask &elements, const Fold &how);

  // The views of `in` have the shape `shape`.
  void run(const View *in, const Layout &shape, const View &out) const;

  ElementwiseTask task;
  Fold fold;

 private:
  void all(const View *in, const Layout &shape, const View &out) const;
  void first_dimension(const View *in, const Layout &shape, const View &out) const;
  // Elements [start, start + count) as the formula gives them, and in the wide type.
  void elements(const Reader *readers, int64_t start, int64_t count, void *to) const;
  void wide_elements(const Reader *readers, int64_t start, int64_t count, void *wide) const;

  BlockFn fn_;  // the formula in `element_`
  Compute element_;
  Compute narrow_;  // what operands are read as
  Compute wide_;    // F64, or I64 where the row computes in it
  alignas(16) char scalars_[kMaxScalars * sizeof(double)] = {};
};

}  // namespace emu
