// SPDX-License-Identifier: Apache-2.0
// Rows of a tensor as bytes, whatever its dtype and strides: what a cache takes and gives without
// looking at the values.
#pragma once

#include "core/copying.h"
#include "ops/op.h"

namespace emu {

// The tensor's elements; two of 4 bits count as one byte. A tensor of 4 bits has to be dense, see
// check_nibbles.
View bytes_of(const aclTensor &tensor);
Check &check_nibbles(Check &check, const char *parameter, const aclTensor *tensor);

class ByteRows {
 public:
  // The first `outer` dimensions of the view number the rows, the others are one row.
  ByteRows(const View &view, int outer);

  int64_t count() const { return rows_.count(); }
  int64_t bytes() const { return row_.count() * item_; }
  // Where the row lies dense in memory, or `scratch` with a copy of it.
  const char *read(int64_t row, char *scratch) const;
  void write(int64_t row, const char *from) const;
  // The same for one of many rows that do not stay in a cache until they are read.
  void write(int64_t row, const char *from, PastCaches *copies) const;

 private:
  char *at(int64_t row) const;

  Layout rows_, row_;
  char *data_;
  int64_t item_;
  bool dense_;
};

}  // namespace emu
