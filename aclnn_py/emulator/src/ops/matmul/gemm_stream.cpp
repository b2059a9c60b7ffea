// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/gemm_stream.h"

#include <algorithm>
#include <type_traits>

#include "core/pool.h"
#include "ops/dtype.h"
#include "ops/matmul/gemm_work.h"

namespace emu {
namespace {

constexpr int64_t piece = 256;  // columns that are finished at a time
// Columns of one task where columns are neighbours: memory is read in long pieces, and the sums
// stay near. Those of all depth steps are kept for `broad` columns at a time.
constexpr int64_t widest_block = 2048, broad = 8 * widest_block;
constexpr int64_t lines = 16;  // columns taken at once where depths are neighbours

// few (rows, k) @ many (k, n). Mirrored, the result is handed over by its columns.
template <class C>
class Streamed {
  using T = std::conditional_t<std::is_same_v<C, double>, double, float>;

 public:
  Streamed(const Matrix &few, const Matrix &many, const RowSink<C> &sink, bool mirrored)
      : few_(few),
        many_(many),
        sink_(sink),
        mirrored_(mirrored),
        parallel_(worth_threads(few, many)),
        storage_(static_cast<int>(storage_of(many.dtype))),
        height_(height(few.rows)) {}

  // False, and nothing is done, when the rows are not few or memory is not read in long pieces.
  bool run() const {
    if (height_ == 0 || height_ * few_.cols > most_packed || many_.row.block) return false;
    if (many_.col.stride == 1) {
      for (int64_t j = 0; j < many_.cols; j += broad) across(j, std::min(broad, many_.cols - j));
    } else if (many_.row.stride == 1 && !many_.col.block && along_kernel()) {
      along();
    } else {
      return false;
    }
    scratch().trim();
    return true;
  }

 private:
  GemmStreamFn across_kernel() const { return gemm_streams().across[storage_][height_ - 1]; }
  GemmStreamFn along_kernel() const { return gemm_streams().along[storage_][height_ - 1]; }

  // Rows of the smallest kernel that has room for so many; 0 where they are not few.
  int64_t height(int64_t rows) const {
    while (rows <= gemm_few_rows && !gemm_streams().across[storage_][rows - 1]) ++rows;
    return rows <= gemm_few_rows ? rows : 0;
  }

  template <class F>
  void each(int64_t count, int64_t grain, F body) const {
    if (parallel_ && count > grain) return parallel_for(count, grain, body);
    body(int64_t(0), count);
  }

  const void *source(int64_t depth, int64_t col) const {
    const int64_t at = many_.row.at(depth) + many_.col.at(col);
    return static_cast<const char *>(many_.data) + at * item_size(many_.dtype);
  }

  // The few rows as one panel, rows of zeros where the kernel takes more; `behind` elements of work
  // memory follow it.
  T *packed(int64_t behind) const {
    constexpr int64_t line = 64 / sizeof(T);
    const int64_t room = ceil_div(height_ * few_.cols, line) * line;
    T *memory = static_cast<T *>(scratch().take(static_cast<size_t>(room + behind) * sizeof(T)));
    gemm_kernels().pack_wide[static_cast<int>(storage_of(few_.dtype))](
        {few_.data, few_.row, few_.col, 0, few_.rows, 0, few_.cols, static_cast<int>(height_)},
        memory + behind);
    return memory;
  }

  void finish(int64_t col, int64_t count, const C *sums) const {
    if (!mirrored_) {
      for (int64_t i = 0; i < few_.rows; ++i) sink_.accept(i, col, count, sums + i * piece);
      return;
    }
    for (int64_t j = 0; j < count; ++j) {
      C row[gemm_few_rows];
      for (int64_t i = 0; i < few_.rows; ++i) row[i] = sums[i * piece + j];
      sink_.accept(col + j, 0, few_.rows, row);
    }
  }

  // The depth steps are tasks of their own, however few columns there are; their sums are added up
  // in order.
  void across(int64_t col, int64_t cols) const {
    const int64_t rows = height_, k = few_.cols;
    const int64_t steps = ceil_div(k, gemm_depth_step);
    // A product of few steps has narrower blocks, or there would be none for some of the threads.
    const int64_t fair = ceil_div(steps * cols, 2 * parallel_width() * piece) * piece;
    const int64_t block = std::min(fair, widest_block), blocks = ceil_div(cols, block);
    T *partial = packed(steps * rows * cols);
    const T *panel = partial + steps * rows * cols;
    const GemmStreamFn kernel = across_kernel();
    const int64_t least =
        std::max<int64_t>(1, worth_a_thread / (rows * gemm_depth_step * std::min(cols, block)));
    each(steps * blocks, least, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const int64_t step = t / blocks, p = step * gemm_depth_step,
                      end = std::min((t % blocks + 1) * block, cols);
        for (int64_t j = t % blocks * block, count; j < end; j += count) {
          count = many_.col.block ? std::min(end - j, many_.col.block - (col + j) % many_.col.block)
                                  : end - j;
          kernel({panel + p * rows, source(p, col + j), many_.row.stride, count,
                  std::min(gemm_depth_step, k - p), partial + step * rows * cols + j, cols,
                  many_.next});
        }
      }
    });
    each(ceil_div(cols, piece), std::max<int64_t>(1, worth_a_thread / (steps * rows * piece)),
         [&](int64_t first, int64_t last) {
           C sums[gemm_few_rows * piece];
           for (int64_t j = first * piece; j < std::min(last * piece, cols); j += piece) {
             const int64_t count = std::min(piece, cols - j);
             for (int64_t i = 0; i < few_.rows; ++i)
               add_steps(partial + i * cols + j, steps, rows * cols, count, sums + i * piece);
             finish(col + j, count, sums);
           }
         });
  }

  static void add_steps(const T *partial, int64_t steps, int64_t stride, int64_t count, C *sums) {
    for (int64_t j = 0; j < count; ++j) sums[j] = static_cast<C>(partial[j]);
    for (int64_t step = 1; step < steps; ++step) {
      partial += stride;
      for (int64_t j = 0; j < count; ++j) {
        if constexpr (std::is_same_v<C, int32_t>) {  // wraps around
          const auto part = static_cast<uint32_t>(static_cast<int32_t>(partial[j]));
          sums[j] = static_cast<int32_t>(static_cast<uint32_t>(sums[j]) + part);
        } else {
          sums[j] += partial[j];
        }
      }
    }
  }

  void along() const {
    const int64_t rows = height_, k = few_.cols;
    const T *panel = packed(0);
    const GemmStreamFn kernel = along_kernel();
    each(ceil_div(many_.cols, lines), std::max<int64_t>(1, worth_a_thread / (rows * k * lines)),
         [&](int64_t first, int64_t last) {
           C sums[gemm_few_rows * piece];
           for (int64_t j = first * lines; j < std::min(last * lines, many_.cols); j += piece) {
             const int64_t count = std::min({piece, last * lines - j, many_.cols - j});
             kernel({panel, source(0, j), many_.col.stride, count, k, sums, piece, many_.next});
             finish(j, count, sums);
           }
         });
  }

  const Matrix &few_, &many_;
  const RowSink<C> &sink_;
  const bool mirrored_, parallel_;
  const int storage_;
  const int64_t height_;
};

}  // namespace

template <class C>
bool stream_product(const Matrix &a, const Matrix &b, const RowSink<C> &sink) {
  if (Streamed<C>(a, b, sink, false).run()) return true;
  const Matrix left = b.transposed(), right = a.transposed();
  return Streamed<C>(left, right, sink, true).run();
}

template bool stream_product(const Matrix &, const Matrix &, const RowSink<float> &);
template bool stream_product(const Matrix &, const Matrix &, const RowSink<int32_t> &);
template bool stream_product(const Matrix &, const Matrix &, const RowSink<double> &);

}  // namespace emu
