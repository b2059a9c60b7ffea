// SPDX-License-Identifier: Apache-2.0
// Reductions that fold elements into an accumulator. A new one is one fold and one row:
//
//     EMU_FOLD(Sum, T{}, plus(a, x), plus(a, b), a)
//     EMU_REDUCE_DTYPE(ReduceSum, Sum, kKeep, types::kWideNumber)
//
// The fold's parts are expressions: the start value, the step over accumulator a, element x and
// parameter p, the merge of two accumulators a and b, and the result from a, the element count n
// and p.
#pragma once

#include <type_traits>

#include "ops/elementwise/engine.h"
#include "ops/extreme_kernels.h"
#include "ops/reduce/axes.h"
#include "ops/reduce/products.h"
#include "ops/sum_kernels.h"

namespace emu {

// A fold compiled for one compute type. Accumulators are dense arrays ("lanes").
struct FoldFns {
  void (*start)(void *lanes, int64_t count) = nullptr;
  // Rows of elements, `width` elements from one to the next, into as many lanes as are counted.
  void (*step)(void *lanes, const void *block, int64_t rows, int64_t width, int64_t count,
               const void *parameter) = nullptr;
  // Rows of a block into a lane each; null where only steps are known.
  void (*rows)(void *lanes, const void *block, int64_t rows, int64_t length) = nullptr;
  // Both for elements of the narrower type of the kind that lanes have: float32, int32, complex64;
  // null elsewhere, the second also where only steps are known.
  void (*narrow_step)(void *lanes, const void *block, int64_t rows, int64_t width, int64_t count,
                      const void *parameter) = nullptr;
  void (*narrow_rows)(void *lanes, const void *block, int64_t rows, int64_t length) = nullptr;
  void (*merge)(void *lanes, int64_t count) = nullptr;    // all lanes into the first
  void (*join)(void *lane, const void *other) = nullptr;  // two accumulators
  void (*finish)(void *lanes, int64_t count, int64_t folded, const void *parameter,
                 void *result) = nullptr;
  Compute result = Compute::F32;
};

// What a fold does for which there are kernels: those of ExtremeKernels, SumKernels and
// TruthKernels, and for products of whole numbers multiply_rows.
enum class FoldKernel { kNone, kGreatest, kLeast, kSum, kAny, kAll, kProduct };
template <class Fold>
inline constexpr FoldKernel fold_kernel = FoldKernel::kNone;

struct FoldTable {
  FoldFns fns[kComputeCount];
  FoldKernel kernel = FoldKernel::kNone;
};

namespace fold_detail {

// The narrower type of a kind.
template <class T>
struct Narrow {};
template <>
struct Narrow<double> {
  using Type = float;
};
template <>
struct Narrow<int64_t> {
  using Type = int32_t;
};
template <>
struct Narrow<Complex128> {
  using Type = Complex64;
};
template <class T>
inline constexpr bool has_narrow =
    std::is_same_v<T, double> || std::is_same_v<T, int64_t> || std::is_same_v<T, Complex128>;

// Elements of type X into lanes of type T.
template <class Fold, class T, class X>
void step(void *lanes, const void *block, int64_t rows, int64_t width, int64_t count,
          const void *parameter) {
  constexpr FoldKernel kKernel = fold_kernel<Fold>;
  constexpr bool kGreatest = kKernel == FoldKernel::kGreatest;
  auto *a = static_cast<T *>(lanes);
  const auto *x = static_cast<const X *>(block);
  if constexpr ((kGreatest || kKernel == FoldKernel::kLeast) && has_extremes<T> &&
                std::is_same_v<T, X>) {
    const Extremes<T> &kernels = extremes_of<T>();
    (kGreatest ? kernels.raise : kernels.lower)(a, x, rows, width, count);
  } else if constexpr (kKernel == FoldKernel::kSum && has_narrow<T>) {
    add_rows(a, x, rows, width, count);
  } else {
    const T p = *static_cast<const T *>(parameter);
    for (; rows > 0; --rows, x += width)
      for (int64_t i = 0; i < count; ++i) a[i] = Fold::step(a[i], static_cast<T>(x[i]), p);
  }
}

// The same of rows one behind the other, each into a lane of its own.
template <class T, class X>
void sum_rows(void *lanes, const void *block, int64_t rows, int64_t length) {
  auto *a = static_cast<T *>(lanes);
  const auto *x = static_cast<const X *>(block);
  for (int64_t row = 0; row < rows; ++row, x += length) a[row] = plus(a[row], sum_of(x, length));
}

template <class X>
void product_rows(void *lanes, const void *block, int64_t rows, int64_t length) {
  multiply_rows(static_cast<int64_t *>(lanes), static_cast<const X *>(block), rows, length);
}

template <class Fold, class T>
constexpr FoldFns make() {
  constexpr FoldKernel kKernel = fold_kernel<Fold>;
  constexpr bool kGreatest = kKernel == FoldKernel::kGreatest;
  FoldFns fns;
  fns.start = [](void *lanes, int64_t count) {
    for (int64_t i = 0; i < count; ++i) static_cast<T *>(lanes)[i] = Fold::template start<T>();
  };
  fns.step = step<Fold, T, T>;
  if constexpr ((kGreatest || kKernel == FoldKernel::kLeast) && has_extremes<T>) {
    fns.rows = [](void *lanes, const void *block, int64_t rows, int64_t length) {
      const Extremes<T> &kernels = extremes_of<T>();
      (kGreatest ? kernels.greatest : kernels.least)(static_cast<const T *>(block), rows, length,
                                                     static_cast<T *>(lanes));
    };
  }
  if constexpr (kKernel == FoldKernel::kAny || kKernel == FoldKernel::kAll) {
    fns.rows = [](void *lanes, const void *block, int64_t rows, int64_t length) {
      constexpr bool kAny = kKernel == FoldKernel::kAny;
      const auto *x = static_cast<const T *>(block);
      for (int64_t row = 0; row < rows; ++row, x += length) {
        int32_t found = 0;
        for (int64_t i = 0; i < length; ++i) found |= static_cast<int32_t>(truth(x[i]) == kAny);
        if (found != 0) static_cast<T *>(lanes)[row] = kAny ? T{1} : T{};
      }
    };
  }
  if constexpr (has_narrow<T>) {
    using X = typename Narrow<T>::Type;
    fns.narrow_step = step<Fold, T, X>;
    if constexpr (kKernel == FoldKernel::kSum) {
      fns.rows = sum_rows<T, T>;
      fns.narrow_rows = sum_rows<T, X>;
    }
    if constexpr (kKernel == FoldKernel::kProduct && std::is_same_v<T, int64_t>) {
      fns.rows = product_rows<T>;
      fns.narrow_rows = product_rows<X>;
    }
  }
  fns.merge = [](void *lanes, int64_t count) {
    // Pairwise, which also keeps the rounding error of long sums small.
    auto *a = static_cast<T *>(lanes);
    while (count > 1) {
      const int64_t half = (count + 1) / 2;
      for (int64_t i = 0; i + half < count; ++i) a[i] = Fold::merge(a[i], a[i + half]);
      count = half;
    }
  };
  fns.join = [](void *lane, const void *other) {
    auto *a = static_cast<T *>(lane);
    *a = Fold::merge(*a, *static_cast<const T *>(other));
  };
  fns.finish = [](void *lanes, int64_t count, int64_t folded, const void *parameter, void *result) {
    const auto *a = static_cast<const T *>(lanes);
    const T p = *static_cast<const T *>(parameter);
    using Result = decltype(Fold::finish(T{}, int64_t{}, T{}));
    using Stored = std::conditional_t<std::is_same_v<Result, bool>, int32_t, Result>;
    auto *to = static_cast<Stored *>(result);
    for (int64_t i = 0; i < count; ++i) to[i] = Fold::finish(a[i], folded, p);
  };
  fns.result = compute_of<decltype(Fold::finish(T{}, int64_t{}, T{}))>();
  return fns;
}

template <class Fold, unsigned kTypes>
constexpr FoldTable build() {
  FoldTable table{};
  table.kernel = fold_kernel<Fold>;
  for_each_compute<kTypes>([&table](auto type) {
    table.fns[static_cast<int>(type.value)] = make<Fold, ComputeType<type.value>>();
  });
  return table;
}

}  // namespace fold_detail

template <class Fold, unsigned kTypes>
inline constexpr FoldTable fold_table = fold_detail::build<Fold, kTypes>();

namespace types {
// Folds that accumulate: floats in float64, narrow integers in int64. Narrower compute types are
// widened.
constexpr unsigned kWideReal = bit(Compute::F64) | bit(Compute::I64);
constexpr unsigned kWideNumber = kWideReal | bit(Compute::C128);
}  // namespace types

// Beside the rules of elementwise rows: a reduction over nothing is an error (maximum, minimum).
constexpr unsigned kNeedsElements = 1u << 20;
// A result of one element has the very rank the axes leave, not () or (1) as it likes.
constexpr unsigned kExactRank = 1u << 21;
// self may not have a private format.
constexpr unsigned kPlainSelf = 1u << 22;

// What a reduction row says.
struct ReduceRow {
  const char *op;
  const FoldTable *folds;
  unsigned rule;
};

struct FoldTask {
  FoldFns fns;
  FoldKernel kernel = FoldKernel::kNone;
  aclDataType compute_dtype = ACL_DT_UNDEFINED;  // elements are rounded to it
  aclDataType result_dtype = ACL_DT_UNDEFINED;   // the result is, before the cast to out
  Compute compute = Compute::F32;                // of the lanes
  AxisSet axes = 0;
  alignas(16) char parameter[sizeof(Complex128)] = {};
};

// False when the row has no fold for that dtype.
bool resolve_fold(const ReduceRow &row, aclDataType dtype, FoldTask *task);
void set_parameter(FoldTask *task, double value);
// The elements of `out` in row-major order are the kept dimensions of `in` in row-major order.
void run_fold(const FoldTask &task, const View &in, const View &out);

// Phase one of a reduction whose tensors are known to be alive and whose axes are resolved. `dtype`
// is the dtype to compute in; ACL_DT_UNDEFINED takes the tensor's own.
struct ReduceCall {
  const ReduceRow &row;
  Check &check;
  const aclTensor *self;
  aclTensor *out;
  const char *out_name;
  AxisSet axes;
  bool keep;
  aclDataType dtype = ACL_DT_UNDEFINED;
  double parameter = 0;
};
Status plan_reduce(const ReduceCall &call, uint64_t *workspace_size, aclOpExecutor **executor);

}  // namespace emu

#define EMU_FOLD(NAME, START, STEP, MERGE, FINISH)                              \
  namespace {                                                                   \
  struct NAME##Fold {                                                           \
    template <class T>                                                          \
    static T start() {                                                          \
      return START;                                                             \
    }                                                                           \
    template <class T>                                                          \
    static T step(T a, T x, [[maybe_unused]] T p) {                             \
      return STEP;                                                              \
    }                                                                           \
    template <class T>                                                          \
    static T merge(T a, T b) {                                                  \
      return MERGE;                                                             \
    }                                                                           \
    template <class T>                                                          \
    static auto finish(T a, [[maybe_unused]] int64_t n, [[maybe_unused]] T p) { \
      return FINISH;                                                            \
    }                                                                           \
  };                                                                            \
  }
