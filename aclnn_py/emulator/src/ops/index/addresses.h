// SPDX-License-Identifier: Apache-2.0
// Elements named by index tensors. A walk goes over a shape in row-major order; an address list
// gives, for each of its positions, the byte address of an element: a plain strided one, or one
// some of whose coordinates are read from index tensors. Gathers, scatters and their kin are copies
// between two address lists of one walk.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "ops/op.h"

namespace emu {

// The first index found outside its dimension; kernels report it as a fault of the device.
struct IndexFault {
  std::atomic<bool> found{false};
  std::atomic<int64_t> value{0}, extent{0};

  void report(int64_t bad, int64_t size) {
    if (found.exchange(true)) return;
    value = bad;
    extent = size;
  }
  Status status(const char *op, const char *parameter) const;
};

enum class Negative : bool { kRefuse, kFromEnd };

class Addresses {
 public:
  // The elements of a view whose shape is the walk's.
  explicit Addresses(const View &plain);
  // Coordinates from index tensors are added to `base`, whose layout has the walk's shape (stride 0
  // where an index decides). `index` has the walk's shape as well; its entries count steps of
  // `stride` elements and must be below `extent`.
  void add_index(const View &index, int64_t extent, int64_t stride, Negative negative);

  // Whether all indices are in range; the first that is not is reported.
  bool in_range(IndexFault &fault) const;

  // Addresses of positions [start, start + count), count <= kBlock. False when an index is out of
  // range.
  bool list(int64_t start, int64_t count, char **to, IndexFault &fault) const;

  // Folds the last dimension into the element while no index varies along it and both sides are
  // dense there. Returns the bytes of one enlarged element.
  static int64_t fold(Addresses &a, Addresses &b);

  // Rows that one index names, read in its order and written one behind the other: no addresses
  // need be listed.
  struct Rows {
    const char *from, *index;
    int64_t step, extent, low;  // bytes between rows, how many there are, the least index
    bool wide;                  // int64, else int32
    char *to;
  };
  // Whether a folded walk is one over rows.
  static bool are_rows(const Addresses &from, const Addresses &to, Rows *rows);

  // The same index along every line, whose elements are written one behind the other: it is read
  // once for many lines.
  struct Columns;
  // Those of a folded walk, nothing where it is no walk over lines.
  static std::optional<Columns> columns(const Addresses &from, const Addresses &to);

  int64_t count() const { return base_.count(); }
  int64_t item() const { return item_; }
  aclDataType dtype() const { return base_.dtype; }

 private:
  struct Axis {
    View index;
    int64_t extent, stride;
    Negative negative;
  };
  View base_;
  int64_t item_;
  std::vector<Axis> axes_;
};

struct Addresses::Columns {
  Addresses line;      // what the index names in the first line
  Addresses from, to;  // where each line begins
};

// to[i] = from[i] for every position of the walk. Ordered: one thread, so that of duplicate targets
// the last one wins.
enum class Order : bool { kFree, kSequential };
void copy_addressed(Addresses from, Addresses to, Order order, IndexFault &fault);

// to[i] = combine(to[i], from[i]) in order; the combination is computed in the compute type of the
// dtype. A quotient of whole numbers is cut towards zero, and the divisor must not be 0; NaN is
// both the greatest and the least. Complex numbers are added and multiplied only.
enum class Combine : uint8_t { kAdd, kMultiply, kDivide, kMaximum, kMinimum };
void combine_addressed(Addresses from, Addresses to, Combine how, IndexFault &fault);
// Every element of a dense view, in any order, with one element of its dtype.
void combine_with(const View &dense, const char *element, Combine how);

// A layout with the extents of `shape` and strides of 0, for bases that an index fills in.
Layout still(const Layout &shape);

}  // namespace emu
