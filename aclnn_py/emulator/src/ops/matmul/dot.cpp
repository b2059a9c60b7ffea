// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/dot.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include "core/pool.h"
#include "ops/matmul/gemm.h"

namespace emu {
namespace {

constexpr int64_t piece = dot_piece;
constexpr int64_t worth_a_thread = 8;  // pieces

// add(piece, x, y, count) for all elements, which are read as `via`, in order for each piece.
template <class T, class Add>
void each_block(const View &a, const View &b, aclDataType via, Add add) {
  static_assert(kBlock % dot_block == 0 && piece % kBlock == 0);
  const auto ready = [via](const View &view) {
    return view.dtype == via && view.layout.is_dense();
  };
  const Reader left(a, via), right(b, via);
  const int64_t count = a.count(), step = ready(a) && ready(b) ? piece : kBlock;
  parallel_for((count + piece - 1) / piece, worth_a_thread, [&](int64_t first, int64_t last) {
    alignas(64) T x[kBlock], y[kBlock];
    for (int64_t p = first; p < last; ++p) {
      const int64_t end = std::min(count, (p + 1) * piece);
      for (int64_t i = p * piece; i < end; i += step) {
        const int64_t n = std::min(step, end - i);
        add(static_cast<size_t>(p), static_cast<const T *>(left.read(i, n, x)),
            static_cast<const T *>(right.read(i, n, y)), n);
      }
    }
  });
}

size_t pieces_of(const View &view) {
  return static_cast<size_t>((view.count() + piece - 1) / piece);
}

}  // namespace

double dot_of_floats(const View &a, const View &b) {
  static const auto kernel = EMU_PICK_ISA(add_products);
  std::vector<double> lanes(pieces_of(a) * dot_lanes);
  each_block<float>(a, b, ACL_FLOAT, [&](size_t p, const float *x, const float *y, int64_t n) {
    kernel(x, y, n, &lanes[p * dot_lanes]);
  });
  return std::accumulate(lanes.begin(), lanes.end(), 0.0);
}

void dots_of_rows(const View &matrix, const View &vector, float *sums) {
  static const auto kernel = EMU_PICK_ISA(row_products);
  const int64_t rows = matrix.layout.shape[0], depth = matrix.layout.shape[1],
                step = matrix.layout.stride[0];
  std::vector<float> column(static_cast<size_t>(depth));
  load_f32(vector.data, vector.dtype, 0, vector.layout.stride[0], depth, column.data());
  const int64_t grain = std::max<int64_t>(1, worth_a_thread * piece / std::max<int64_t>(1, depth));
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    if (matrix.dtype == ACL_FLOAT) {
      const auto *first = reinterpret_cast<const float *>(matrix.data) + begin * step;
      return kernel(first, step, end - begin, column.data(), depth, sums + begin);
    }
    std::vector<float> row(static_cast<size_t>(depth));
    for (int64_t i = begin; i < end; ++i) {
      load_f32(matrix.data, matrix.dtype, i * step, 1, depth, row.data());
      kernel(row.data(), depth, 1, column.data(), depth, sums + i);
    }
  });
}

uint32_t dot_of_integers(const View &a, const View &b) {
  static const auto kernel = EMU_PICK_ISA(wrapping_products);
  std::vector<uint32_t> sums(pieces_of(a));
  each_block<int32_t>(
      a, b, ACL_INT32,
      [&](size_t p, const int32_t *x, const int32_t *y, int64_t n) { sums[p] += kernel(x, y, n); });
  return std::accumulate(sums.begin(), sums.end(), uint32_t{0});
}

}  // namespace emu
