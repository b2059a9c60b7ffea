// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/index/addresses.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/row_kernels.h"

#include <cstring>

namespace emu {

Status IndexFault::status(const char *op, const char *parameter) const {
  if (!found) return 0;
  return fail(kKernelFault, "%s: %s holds %lld; the dimension it addresses has %lld", op, parameter,
              static_cast<long long>(value.load()), static_cast<long long>(extent.load()));
}

Addresses::Addresses(const View &plain) : base_(plain), item_(item_size(plain.dtype)) {
  if (base_.layout.rank == 0) base_.layout.push(1, 0);
}

void Addresses::add_index(const View &index, int64_t extent, int64_t stride, Negative negative) {
  View view = index;
  if (view.layout.rank == 0) view.layout.push(1, 0);
  axes_.push_back({view, extent, stride, negative});
}

bool Addresses::list(int64_t start, int64_t count, char **to, IndexFault &fault) const {
  const int64_t unit = item_size(base_.dtype);
  int64_t at = 0;
  for_each_run(base_.layout, start, count, [&](int64_t offset, int64_t step, int64_t run) {
    char *address = base_.data + offset * unit;
    for (int64_t i = 0; i < run; ++i, address += step * unit) to[at + i] = address;
    at += run;
  });
  bool good = true;
  for (const Axis &axis : axes_) {
    at = 0;
    const int64_t bytes = axis.stride * unit, extent = axis.extent;
    const int64_t below = axis.negative == Negative::kFromEnd ? extent : 0;
    const auto add = [&](const auto *index, int64_t step, int64_t run) {
      for (int64_t i = 0; i < run; ++i, index += step) {
        int64_t value = *index;
        if (value < 0) value += below;
        if (static_cast<uint64_t>(value) >= static_cast<uint64_t>(extent)) {
          fault.report(*index, extent);
          good = false;
          value = 0;
        }
        to[at + i] += value * bytes;
      }
      at += run;
    };
    const bool wide = axis.index.dtype == ACL_INT64;
    for_each_run(axis.index.layout, start, count, [&](int64_t offset, int64_t step, int64_t run) {
      if (wide) add(reinterpret_cast<const int64_t *>(axis.index.data) + offset, step, run);
      else add(reinterpret_cast<const int32_t *>(axis.index.data) + offset, step, run);
    });
  }
  return good;
}

namespace {

// The view without what repeats its elements.
View each_once(const View &view) {
  View once = view;
  once.layout = Layout();
  for (int d = 0; d < view.layout.rank; ++d) {
    if (view.layout.stride[d] != 0) once.layout.push(view.layout.shape[d], view.layout.stride[d]);
  }
  once.layout = coalesced(once.layout);
  return once;
}

}  // namespace

bool Addresses::in_range(IndexFault &fault) const {
  for (const Axis &axis : axes_) {
    const View index = each_once(axis.index);
    const bool wide = index.dtype == ACL_INT64;
    const int64_t low = axis.negative == Negative::kFromEnd ? -axis.extent : 0;
    parallel_for(index.count(), 64 * kBlock, [&](int64_t begin, int64_t end) {
      for_each_run(
          index.layout, begin, end - begin, [&](int64_t offset, int64_t step, int64_t run) {
            const int64_t width = item_size(index.dtype);
            if (step == 1 &&
                row_kernels().within(index.data + offset * width, wide, run, low, axis.extent))
              return;
            for (int64_t i = 0; i < run; ++i, offset += step) {
              const int64_t value = wide ? reinterpret_cast<const int64_t *>(index.data)[offset]
                                         : reinterpret_cast<const int32_t *>(index.data)[offset];
              if (value < low || value >= axis.extent) fault.report(value, axis.extent);
            }
          });
    });
  }
  return !fault.found;
}

int64_t Addresses::fold(Addresses &a, Addresses &b) {
  int64_t unit = 1;
  const auto dense = [&](const Addresses &list, int d) {
    if (list.base_.layout.stride[d] != unit) return false;
    for (const Axis &axis : list.axes_) {
      if (axis.index.layout.stride[d] != 0) return false;
    }
    return true;
  };
  const auto drop = [](Addresses &list) {
    --list.base_.layout.rank;
    for (Axis &axis : list.axes_) --axis.index.layout.rank;
  };
  while (a.base_.layout.rank > 1) {
    const int last = a.base_.layout.rank - 1;
    const int64_t extent = a.base_.layout.shape[last];
    if (extent != 1 && !(dense(a, last) && dense(b, last))) break;
    unit *= extent;
    drop(a);
    drop(b);
  }
  a.item_ *= unit;
  b.item_ *= unit;
  return a.item_;
}

bool Addresses::are_rows(const Addresses &from, const Addresses &to, Rows *rows) {
  if (from.axes_.size() != 1 || !to.axes_.empty() || from.item_ < kShortestRow) return false;
  const Axis &axis = from.axes_[0];
  const int64_t unit = item_size(from.base_.dtype);
  const Layout still = coalesced(from.base_.layout), target = coalesced(to.base_.layout);
  // Of one row no stride counts.
  const auto steps = [](const Layout &layout, int64_t stride) {
    return layout.rank == 0 || (layout.rank == 1 && layout.stride[0] == stride);
  };
  if (!steps(still, 0) || !steps(coalesced(axis.index.layout), 1) ||
      !steps(target, from.item_ / unit))
    return false;
  *rows = {from.base_.data,
           axis.index.data,
           axis.stride * unit,
           axis.extent,
           axis.negative == Negative::kFromEnd ? -axis.extent : 0,
           axis.index.dtype == ACL_INT64,
           to.base_.data};
  return true;
}

std::optional<Addresses::Columns> Addresses::columns(const Addresses &from, const Addresses &to) {
  constexpr int64_t kFewestLines = 4;  // below, the index is as well read for each
  if (from.axes_.size() != 1 || !to.axes_.empty()) return {};
  const Axis &axis = from.axes_[0];
  View source = from.base_, target = to.base_, line = from.base_, index = axis.index;
  line.layout = index.layout = Layout();
  const int rank = source.layout.rank;
  int64_t lines = 1, behind = from.item_ / item_size(source.dtype);
  int d = rank;
  for (; d > 0 && (source.layout.stride[d - 1] == 0 || source.layout.shape[d - 1] == 1); --d) {
    if (target.layout.shape[d - 1] != 1 && target.layout.stride[d - 1] != behind) return {};
    behind *= target.layout.shape[d - 1];
  }
  for (int i = d; i < rank; ++i) {
    line.layout.push(source.layout.shape[i], 0);
    index.layout.push(source.layout.shape[i], axis.index.layout.stride[i]);
  }
  for (int i = 0; i < d; ++i) {
    if (axis.index.layout.stride[i] != 0 && source.layout.shape[i] != 1) return {};
    lines *= source.layout.shape[i];
  }
  if (lines < kFewestLines || d == rank) return {};
  source.layout.rank = target.layout.rank = d;
  Columns found{Addresses(line), Addresses(source), Addresses(target)};
  found.line.add_index(index, axis.extent, axis.stride, axis.negative);
  return found;
}

namespace {

// The elements that lie `shift` bytes behind those at `first`, one behind the other.
template <size_t Size>
void copy_shifted(char *const *first, int64_t shift, int64_t count, char *to) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to + i * Size, first[i] + shift, Size);
}

using ShiftedFn = void (*)(char *const *, int64_t, int64_t, char *);

// Null for items that are longer.
ShiftedFn shifted_of(int64_t size) {
  switch (size) {
    case 1: return copy_shifted<1>;
    case 2: return copy_shifted<2>;
    case 4: return copy_shifted<4>;
    case 8: return copy_shifted<8>;
    case 16: return copy_shifted<16>;
    default: return nullptr;
  }
}

void copy_columns(const Addresses::Columns &columns, ShiftedFn copy, int64_t size,
                  IndexFault &fault) {
  const int64_t count = columns.line.count();
  const int64_t grain = std::max<int64_t>(1, 65536 / (count * size));
  char *first = nullptr;
  columns.from.list(0, 1, &first, fault);
  parallel_for(columns.to.count(), grain, [&](int64_t begin, int64_t end) {
    char *named[kBlock], *sources[kBlock], *targets[kBlock];
    for (int64_t column = 0; column < count; column += kBlock) {
      const int64_t n = std::min(kBlock, count - column);
      if (!columns.line.list(column, n, named, fault)) return;
      for (int64_t line = begin; line < end; line += kBlock) {
        const int64_t lines = std::min(kBlock, end - line);
        columns.from.list(line, lines, sources, fault);
        columns.to.list(line, lines, targets, fault);
        for (int64_t i = 0; i < lines; ++i)
          copy(named, sources[i] - first, n, targets[i] + column * size);
      }
    }
  });
}

template <size_t Size>
void copy_each(char *const *from, char *const *to, int64_t count) {
  for (int64_t i = 0; i < count; ++i) std::memcpy(to[i], from[i], Size);
}

template <class T>
T combined(T a, T b, Combine how) {
  if constexpr (std::is_integral_v<T>) {
    using U = std::make_unsigned_t<T>;
    const U x = static_cast<U>(a), y = static_cast<U>(b);
    switch (how) {
      case Combine::kAdd: return static_cast<T>(x + y);
      case Combine::kMultiply: return static_cast<T>(x * y);
      // The least number has no opposite; it wraps like a product.
      case Combine::kDivide:
        return y == static_cast<U>(-1) && std::is_signed_v<T> ? static_cast<T>(U{0} - x)
                                                              : static_cast<T>(a / b);
      default: return (how == Combine::kMaximum) == (a < b) ? b : a;
    }
  } else if constexpr (std::is_floating_point_v<T>) {
    switch (how) {
      case Combine::kAdd: return a + b;
      case Combine::kMultiply: return a * b;
      case Combine::kDivide: return a / b;
      case Combine::kMaximum: return a != a || a > b ? a : b;
      default: return a != a || a < b ? a : b;
    }
  } else {
    return how == Combine::kAdd ? a + b : a * b;
  }
}

// How one block of elements meets another, or the first one of it where `step` is 0.
template <class T>
void combine_block(T *a, const T *b, int64_t step, int64_t count, Combine how) {
  if (how == Combine::kAdd && step == 1) {
    for (int64_t i = 0; i < count; ++i) a[i] = combined(a[i], b[i], Combine::kAdd);
  } else if (how == Combine::kMultiply && step == 0) {
    for (int64_t i = 0; i < count; ++i) a[i] = combined(a[i], b[0], Combine::kMultiply);
  } else {
    for (int64_t i = 0; i < count; ++i) a[i] = combined(a[i], b[i * step], how);
  }
}

// `count` dense elements of a dtype at `target` and those at `source`, `step` elements apart.
template <class T>
void combine_run(char *target, const char *source, int64_t step, int64_t count, aclDataType dtype,
                 Combine how) {
  const ConvertTable &table = convert_table();
  const LoadFn load = table.load[dtype];
  const StoreFn store = table.store[dtype];
  const int64_t unit = item_size(dtype);
  alignas(64) T a[kBlock], b[kBlock];
  for (int64_t start = 0; start < count; start += kBlock) {
    const int64_t n = std::min(kBlock, count - start);
    load(target + start * unit, unit, n, a);
    load(source + start * step * unit, unit, step == 0 ? 1 : n, b);
    combine_block(a, b, step, n, how);
    store(target + start * unit, unit, n, a);
  }
}

using CombineFn = void (*)(char *, const char *, int64_t, int64_t, aclDataType, Combine);

CombineFn combine_in(aclDataType dtype) {
  switch (compute_for(dtype)) {
    case Compute::F64: return combine_run<double>;
    case Compute::I32: return combine_run<int32_t>;
    case Compute::I64: return combine_run<int64_t>;
    case Compute::U64: return combine_run<uint64_t>;
    case Compute::C64: return combine_run<Complex64>;
    case Compute::C128: return combine_run<Complex128>;
    default: return combine_run<float>;
  }
}

// Targets lie anywhere: those of so many pairs further on are on their way meanwhile.
constexpr int64_t kAwaited = 16;

// One element each, of a dtype that needs no conversion. In order, since targets may repeat.
template <class T, Combine How>
void combine_each(char *const *targets, char *const *sources, int64_t count) {
  for (int64_t i = 0; i < count; ++i) {
    if (i + kAwaited < count) __builtin_prefetch(targets[i + kAwaited], 1);
    T a, b;
    std::memcpy(&a, targets[i], sizeof a);
    std::memcpy(&b, sources[i], sizeof b);
    a = combined(a, b, How);
    std::memcpy(targets[i], &a, sizeof a);
  }
}

using EachFn = void (*)(char *const *, char *const *, int64_t);

template <class T>
EachFn each_of(Combine how) {
  switch (how) {
    case Combine::kAdd: return combine_each<T, Combine::kAdd>;
    case Combine::kMultiply: return combine_each<T, Combine::kMultiply>;
    case Combine::kDivide: return combine_each<T, Combine::kDivide>;
    case Combine::kMaximum: return combine_each<T, Combine::kMaximum>;
    default: return combine_each<T, Combine::kMinimum>;
  }
}

// Null for a dtype that must be converted.
EachFn each_in(aclDataType dtype, Combine how) {
  if (!is_native(dtype)) return nullptr;
  switch (compute_for(dtype)) {
    case Compute::F64: return each_of<double>(how);
    case Compute::I32: return each_of<int32_t>(how);
    case Compute::I64: return each_of<int64_t>(how);
    case Compute::U64: return each_of<uint64_t>(how);
    case Compute::C64: return each_of<Complex64>(how);
    case Compute::C128: return each_of<Complex128>(how);
    default: return each_of<float>(how);
  }
}

}  // namespace

void copy_addressed(Addresses from, Addresses to, Order order, IndexFault &fault) {
  const int64_t total = from.count();
  if (total == 0) return;
  const int64_t size = Addresses::fold(from, to);
  const int64_t positions = from.count();
  if (const ShiftedFn copy = shifted_of(size); copy != nullptr && order == Order::kFree) {
    if (const auto columns = Addresses::columns(from, to)) {
      copy_columns(*columns, copy, size, fault);
      return;
    }
  }
  Addresses::Rows rows{};
  const bool by_rows = Addresses::are_rows(from, to, &rows);
  const auto piece = [&](int64_t begin, int64_t end) {
    if (by_rows) {
      const char *index = rows.index + begin * (rows.wide ? 8 : 4);
      const RowKernels &kernels = row_kernels();
      if (kernels.within(index, rows.wide, end - begin, rows.low, rows.extent)) {
        kernels.gather(rows.from, rows.step, rows.extent, index, rows.wide, end - begin, size,
                       rows.to + begin * size);
        return;
      }
    }
    char *sources[kBlock], *targets[kBlock];
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t n = std::min(kBlock, end - start);
      if (!from.list(start, n, sources, fault) || !to.list(start, n, targets, fault)) return;
      switch (size) {
        case 1: copy_each<1>(sources, targets, n); break;
        case 2: copy_each<2>(sources, targets, n); break;
        case 4: copy_each<4>(sources, targets, n); break;
        case 8: copy_each<8>(sources, targets, n); break;
        case 16: copy_each<16>(sources, targets, n); break;
        default:
          if (size >= kShortestRow) {
            row_kernels().copy(sources, targets, n, size);
            break;
          }
          for (int64_t i = 0; i < n; ++i)
            std::memcpy(targets[i], sources[i], static_cast<size_t>(size));
      }
    }
  };
  if (order == Order::kSequential) {
    piece(0, positions);
  } else {
    parallel_for(positions, std::max<int64_t>(1, 65536 / size), piece);
  }
}

void combine_addressed(Addresses from, Addresses to, Combine how, IndexFault &fault) {
  const aclDataType dtype = to.dtype();
  if (to.count() == 0) return;
  const int64_t run = Addresses::fold(from, to) / item_size(dtype), total = to.count();
  const CombineFn combine = combine_in(dtype);
  const EachFn each = run == 1 ? each_in(dtype, how) : nullptr;
  char *sources[kBlock], *targets[kBlock];
  for (int64_t start = 0; start < total; start += kBlock) {
    const int64_t n = std::min(kBlock, total - start);
    if (!from.list(start, n, sources, fault) || !to.list(start, n, targets, fault)) return;
    if (each != nullptr) {
      each(targets, sources, n);
      continue;
    }
    for (int64_t i = 0; i < n; ++i) {
      if (i + kAwaited < n) __builtin_prefetch(targets[i + kAwaited], 1);
      combine(targets[i], sources[i], 1, run, dtype, how);
    }
  }
}

void combine_with(const View &dense, const char *element, Combine how) {
  const CombineFn combine = combine_in(dense.dtype);
  const int64_t unit = item_size(dense.dtype);
  parallel_for(dense.count(), 32 * kBlock, [&](int64_t begin, int64_t end) {
    combine(dense.data + begin * unit, element, 0, end - begin, dense.dtype, how);
  });
}

Layout still(const Layout &shape) {
  Layout layout = shape;
  for (int d = 0; d < layout.rank; ++d) layout.stride[d] = 0;
  return layout;
}

}  // namespace emu
