// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/reduce/dense_fold.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/pool.h"
#include "ops/truth_kernels.h"

namespace emu {
namespace {

struct DenseFold {
  aclDataType dtype = ACL_DT_UNDEFINED;  // of elements
  aclDataType lane = ACL_DT_UNDEFINED;   // of results
  // Rows one behind the other into a lane each, and elements `step` apart from row to row into the
  // lanes of their columns.
  void (*rows)(const DenseFold &fold, const char *x, int64_t rows, int64_t length,
               char *lanes) = nullptr;
  void (*columns)(const DenseFold &fold, const char *x, int64_t rows, int64_t step, int64_t count,
                  char *lanes) = nullptr;
};

template <class T, bool kGreatest>
DenseFold extreme_fold() {
  DenseFold fold;
  fold.rows = [](const DenseFold &, const char *x, int64_t rows, int64_t length, char *lanes) {
    const auto *from = reinterpret_cast<const T *>(x);
    auto *to = reinterpret_cast<T *>(lanes);
    for (int64_t row = 0; row < rows; ++row) to[row] = from[row * length];
    const Extremes<T> &kernels = extremes_of<T>();
    (kGreatest ? kernels.greatest : kernels.least)(from, rows, length, to);
  };
  fold.columns = [](const DenseFold &, const char *x, int64_t rows, int64_t step, int64_t count,
                    char *lanes) {
    const auto *from = reinterpret_cast<const T *>(x);
    auto *to = reinterpret_cast<T *>(lanes);
    std::copy(from, from + count, to);
    const Extremes<T> &kernels = extremes_of<T>();
    (kGreatest ? kernels.raise : kernels.lower)(to, from + step, rows - 1, step, count);
  };
  return fold;
}

template <bool kAny>
DenseFold truth_fold() {
  DenseFold fold;
  fold.lane = ACL_BOOL;
  fold.rows = [](const DenseFold &fold, const char *x, int64_t rows, int64_t length, char *lanes) {
    const TruthKernels &kernels = truth_kernels();
    const int64_t size = item_size(fold.dtype);
    const bool sign = is_floating(fold.dtype);
    for (int64_t row = 0; row < rows; ++row, x += length * size)
      lanes[row] =
          kAny ? kernels.any_set(x, length, size, sign) : !kernels.any_zero(x, length, size, sign);
  };
  fold.columns = [](const DenseFold &fold, const char *x, int64_t rows, int64_t step, int64_t count,
                    char *lanes) {
    const TruthKernels &kernels = truth_kernels();
    bool found[kMostColumns];
    (kAny ? kernels.columns_set : kernels.columns_zero)(x, rows, step, count, item_size(fold.dtype),
                                                        is_floating(fold.dtype), found);
    for (int64_t c = 0; c < count; ++c) lanes[c] = found[c] == kAny;
  };
  return fold;
}

template <bool kGreatest>
DenseFold extreme_fold(aclDataType dtype) {
  switch (dtype) {
    case ACL_BOOL: return truth_fold<kGreatest>();  // true is the greatest
    case ACL_FLOAT: return extreme_fold<float, kGreatest>();
    case ACL_DOUBLE: return extreme_fold<double, kGreatest>();
    case ACL_INT8: return extreme_fold<int8_t, kGreatest>();
    case ACL_UINT8: return extreme_fold<uint8_t, kGreatest>();
    case ACL_INT16: return extreme_fold<int16_t, kGreatest>();
    case ACL_INT32: return extreme_fold<int32_t, kGreatest>();
    case ACL_INT64: return extreme_fold<int64_t, kGreatest>();
    default: return {};
  }
}

// Without functions where there is none.
DenseFold dense_fold(FoldKernel kernel, aclDataType dtype) {
  DenseFold fold;
  switch (kernel) {
    case FoldKernel::kGreatest: fold = extreme_fold<true>(dtype); break;
    case FoldKernel::kLeast: fold = extreme_fold<false>(dtype); break;
    case FoldKernel::kAny: fold = truth_fold<true>(); break;
    case FoldKernel::kAll: fold = truth_fold<false>(); break;
    default: break;
  }
  fold.dtype = dtype;
  if (fold.lane == ACL_DT_UNDEFINED) fold.lane = dtype;
  return fold;
}

// Room for the lanes of any dtype, and for results.
struct Lanes {
  alignas(64) char lanes[kBlock * sizeof(Complex128)];
  alignas(64) char result[kBlock * sizeof(Complex128)];
};

void write_lanes(const DenseFold &fold, int64_t start, int64_t count, Lanes &s,
                 const Writer &writer) {
  void *target = writer.target(start, s.result);
  convert_table().load[fold.lane](s.lanes, item_size(fold.lane), count, target);
  writer.write(start, count, target);
}

}  // namespace

bool fold_dense(const FoldTask &task, const View &in, bool columns, int64_t results, int64_t length,
                const Writer &writer) {
  const DenseFold fold = dense_fold(task.kernel, in.dtype);
  const Layout layout = coalesced(in.layout);
  const int64_t outer = columns ? length : results, inner = columns ? results : length;
  // One dimension where rows have no gap between them, else two.
  const bool together = layout.is_dense();
  const bool apart = layout.rank == 2 && layout.shape[0] == outer && layout.stride[1] == 1;
  if (fold.rows == nullptr || in.dtype != task.compute_dtype || length == 0 ||
      !(together || apart)) {
    return false;
  }
  const int64_t step = together ? inner : layout.stride[0], size = item_size(fold.dtype);
  if (columns) {
    const int64_t grain = std::max<int64_t>(1, kFoldPiece / (kBlock * length));
    parallel_for((results + kBlock - 1) / kBlock, grain, [&](int64_t begin, int64_t end) {
      Lanes s;
      for (int64_t start = begin * kBlock; start < std::min(end * kBlock, results);
           start += kBlock) {
        const int64_t count = std::min(kBlock, results - start);
        fold.columns(fold, in.data + start * size, length, step, count, s.lanes);
        write_lanes(fold, start, count, s, writer);
      }
    });
    return true;
  }
  // Pieces of few long rows, or rows as they are.
  const bool cut = length > 2 * kFoldPiece && results < 64;
  const int64_t piece = cut ? kFoldPiece : length, pieces = (length + piece - 1) / piece;
  const int64_t lane_size = item_size(fold.lane), grain = std::max<int64_t>(1, kFoldPiece / piece);
  std::vector<char> found(static_cast<size_t>(cut ? results * pieces * lane_size : 0));
  parallel_for(results * pieces, grain, [&](int64_t begin, int64_t end) {
    Lanes s;
    const int64_t most = cut || step != length ? 1 : kBlock;
    for (int64_t i = begin; i < end;) {
      const int64_t row = i / pieces, first = i % pieces * piece;
      const int64_t count = std::min(most, end - i);
      const char *from = in.data + (row * step + first) * size;
      if (cut) {
        fold.rows(fold, from, 1, std::min(piece, length - first), found.data() + i * lane_size);
      } else {
        fold.rows(fold, from, count, length, s.lanes);
        write_lanes(fold, row, count, s, writer);
      }
      i += count;
    }
  });
  if (!cut) return true;
  const DenseFold joined = dense_fold(task.kernel, fold.lane);
  Lanes s;
  joined.rows(joined, found.data(), results, pieces, s.lanes);
  write_lanes(joined, 0, results, s, writer);
  return true;
}

}  // namespace emu
