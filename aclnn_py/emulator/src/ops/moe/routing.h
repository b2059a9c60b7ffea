// SPDX-License-Identifier: Apache-2.0
// Tokens sorted by their experts: what MoeInitRouting, MoeTokenPermute and their kin share.
#pragma once

#include <memory>
#include <vector>

#include "ops/moe/scores.h"

namespace emu {

// A tensor as dense memory, for kernels that address rows themselves.
class DenseSource {
 public:
  explicit DenseSource(const View &view);
  const char *data() const { return data_; }

 private:
  std::unique_ptr<Snapshot> kept_;
  const char *data_;
};

// A result as dense memory. Elements that are not written keep their values.
class DenseTarget {
 public:
  explicit DenseTarget(const View &view);
  char *data() const { return data_; }
  void finish() const;  // after the last write

 private:
  View view_;
  std::unique_ptr<Snapshot> kept_;
  char *data_;
};

// Operands whose rows change their places on the way to a result: one that shares any byte with it
// is copied. (`Operands` of ops/shared/rows.h lets the same elements in the same order pass.)
class Apart {
 public:
  View from(const View &operand, std::initializer_list<View> results);

 private:
  std::vector<std::unique_ptr<Snapshot>> kept_;
};

// Positions of `experts` in ascending order of the experts; equal experts keep their order.
std::vector<int64_t> order_by_expert(const std::vector<int64_t> &experts);

// Where a sorted list goes: inverse[order[i]] = i.
std::vector<int32_t> inverse_of(const std::vector<int64_t> &order);

// Row `token` of x becomes row `to` of the result.
struct RowMove {
  int64_t to, token;
  int64_t expert = 0;  // the row of the factors it is multiplied with
};

enum class Quantised : uint8_t { kNo, kByScale, kByRow };

struct Quantisation {
  Quantised kind = Quantised::kNo;
  float scale = 1, offset = 0;  // kByScale: round(x * scale + offset)
  std::vector<float> factors;   // kByRow: rows that x is multiplied with; empty without
  int64_t factor_rows = 0;      // 1: all experts share them
};

// Moves rows and quantises them on the way to int8 or int4. `scales` gets the scale of each row
// that kByRow chose; it has no data otherwise. With `clear` the rows that nothing moves to become
// 0.
void move_rows(const View &x, const View &out, const View &scales,
               const std::vector<RowMove> &moves, const Quantisation &quantisation, bool clear);

// The view of a tensor of int4 too, whose elements have no address of their own: it has to be
// dense and start on a whole byte, see check_int4.
View packed_view(const aclTensor &tensor);
Check &check_int4(Check &check, const char *parameter, const aclTensor *tensor);

}  // namespace emu
