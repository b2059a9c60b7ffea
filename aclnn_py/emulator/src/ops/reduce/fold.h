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

#include "ops/block_kernels.h"
#include "ops/elementwise/engine.h"
#include "ops/extreme_kernels.h"
#include "ops/reduce/axes.h"

namespace emu {

// A fold compiled for one compute type. Accumulators are dense arrays ("lanes").
struct FoldFns {
  void (*start)(void *lanes, int64_t count) = nullptr;
  void (*step)(void *lanes, const void *block, int64_t count, const void *parameter) = nullptr;
  // Rows of a block into a lane each; null where only steps are known.
  void (*rows)(void *lanes, const void *block, int64_t rows, int64_t length) = nullptr;
  // Both for blocks of float32 or int32 where lanes are float64 or int64; null elsewhere, the
  // second also where only steps are known.
  void (*narrow_step)(void *lanes, const void *block, int64_t count,
                      const void *parameter) = nullptr;
  void (*narrow_rows)(void *lanes, const void *block, int64_t rows, int64_t length) = nullptr;
  void (*merge)(void *lanes, int64_t count) = nullptr;    // all lanes into the first
  void (*join)(void *lane, const void *other) = nullptr;  // two accumulators
  void (*finish)(void *lanes, int64_t count, int64_t folded, const void *parameter,
                 void *result) = nullptr;
  Compute result = Compute::F32;
};

struct FoldTable {
  FoldFns fns[kComputeCount];
};

// What a fold does for which there are kernels: per instruction set those of ExtremeKernels, and
// the sums of float32 in float64 and of int32 in int64; and whether any or all elements of rows are
// true.
enum class FoldKernel { kNone, kGreatest, kLeast, kSum, kAny, kAll };
template <class Fold>
inline constexpr FoldKernel fold_kernel = FoldKernel::kNone;

namespace fold_detail {

template <class Fold, class T>
constexpr FoldFns make() {
  constexpr FoldKernel kKernel = fold_kernel<Fold>;
  constexpr bool kGreatest = kKernel == FoldKernel::kGreatest;
  constexpr bool kExtreme = (kGreatest || kKernel == FoldKernel::kLeast) && has_extremes<T>;
  FoldFns fns;
  fns.start = [](void *lanes, int64_t count) {
    for (int64_t i = 0; i < count; ++i) static_cast<T *>(lanes)[i] = Fold::template start<T>();
  };
  fns.step = [](void *lanes, const void *block, int64_t count, const void *parameter) {
    auto *a = static_cast<T *>(lanes);
    const auto *x = static_cast<const T *>(block);
    if constexpr (kExtreme) {
      const Extremes<T> &kernels = extremes_of<T>();
      (kGreatest ? kernels.raise : kernels.lower)(a, x, count);
    } else {
      const T p = *static_cast<const T *>(parameter);
      for (int64_t i = 0; i < count; ++i) a[i] = Fold::step(a[i], x[i], p);
    }
  };
  if constexpr (kExtreme) {
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
  if constexpr (std::is_same_v<T, double> || std::is_same_v<T, int64_t>) {
    using Narrow = std::conditional_t<std::is_same_v<T, double>, float, int32_t>;
    fns.narrow_step = [](void *lanes, const void *block, int64_t count, const void *parameter) {
      auto *a = static_cast<T *>(lanes);
      const auto *x = static_cast<const Narrow *>(block);
      if constexpr (kKernel == FoldKernel::kSum) {
        const BlockKernels &kernels = block_kernels();
        if constexpr (std::is_same_v<T, double>) kernels.add_to(a, x, count);
        else kernels.add_whole_to(a, x, count);
      } else {
        const T p = *static_cast<const T *>(parameter);
        for (int64_t i = 0; i < count; ++i) a[i] = Fold::step(a[i], static_cast<T>(x[i]), p);
      }
    };
    if constexpr (kKernel == FoldKernel::kSum) {
      fns.narrow_rows = [](void *lanes, const void *block, int64_t rows, int64_t length) {
        const BlockKernels &kernels = block_kernels();
        auto *a = static_cast<T *>(lanes);
        const auto *x = static_cast<const Narrow *>(block);
        for (int64_t row = 0; row < rows; ++row, x += length) {
          if constexpr (std::is_same_v<T, double>) a[row] += kernels.sum(x, length);
          else a[row] = plus(a[row], kernels.sum_whole(x, length));
        }
      };
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

template <class Fold, unsigned kTypes, Compute C>
constexpr void add(FoldTable &table) {
  if constexpr ((kTypes & types::bit(C)) != 0) {
    table.fns[static_cast<int>(C)] = make<Fold, ComputeType<C>>();
  }
}

template <class Fold, unsigned kTypes>
constexpr FoldTable build() {
  FoldTable table{};
  add<Fold, kTypes, Compute::F32>(table);
  add<Fold, kTypes, Compute::F64>(table);
  add<Fold, kTypes, Compute::I32>(table);
  add<Fold, kTypes, Compute::I64>(table);
  add<Fold, kTypes, Compute::U64>(table);
  add<Fold, kTypes, Compute::C64>(table);
  add<Fold, kTypes, Compute::C128>(table);
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
