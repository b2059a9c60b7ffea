// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include <algorithm>
#include <cstring>
#include <vector>

#include "core/isa.h"
#include "core/pool.h"
#include "ops/matmul/gemm_work.h"
#include "ops/matmul/quant/weight_quant.h"
#include "ops/matmul/quant/weight_stream_kernels.h"

namespace emu {

EMU_DECLARE_ISA(extern const WeightStreams weight_stream_table;)

const WeightStreams &weight_streams() {
  static const WeightStreams &chosen = *EMU_PICK_ISA(weight_stream_table);
  return chosen;
}

namespace {

constexpr int64_t piece = 256;  // columns that are finished at a time
// Columns of one task; those whose sums of all depth steps are kept at a time.
constexpr int64_t widest_block = 4096, broad = 4 * widest_block;
// Columns that are put in order at a time, where their rows do not lie in one piece. For a few rows
// half of them: the processor foresees more of fewer pieces.
constexpr int64_t most_staged_columns = 128, few_staged_columns = 64;
// More rows than the kernels take at once are taken in turns, so many depths at a time that the
// numbers stay in the first-level cache. Their sums stay in the second: rows times columns are
// limited, but rows of memory are read in long pieces, since each may lie in another page. With yet
// more rows it is quicker to make the weight first.
constexpr int64_t depths_of_a_turn = 8, sums_of_a_block = int64_t(1) << 16, most_rows = 48;
constexpr int64_t most_depths_of_a_word = 8;

// Where the numbers of a weight lie: positions are counted in numbers.
struct Places {
  const uint8_t *data = nullptr;
  WeightStorage storage = WeightStorage::bytes;
  GemmAxis row, col;

  const uint8_t *at(int64_t i, int64_t j) const {
    return data + (row.at(i) + col.at(j)) / (storage == WeightStorage::bytes ? 1 : 2);
  }
  // Bytes from one index of an axis to the next.
  int64_t bytes(const GemmAxis &axis) const {
    return storage == WeightStorage::bytes ? axis.stride : axis.stride / 2;
  }
};

// Each element of the axis is eight numbers side by side, or eight numbers of another axis.
GemmAxis in_numbers(const GemmAxis &axis, bool side_by_side) {
  if (!side_by_side) return {8 * axis.stride, axis.block, 8 * axis.block_stride};
  return {axis.stride == 1 ? 1 : 0, 8 * axis.block, 8 * axis.block_stride};
}

// How many neighbours from `index` on lie in one run.
int64_t run_of(const GemmAxis &axis, int64_t index, int64_t most) {
  return axis.block ? std::min(axis.block - index % axis.block, most) : most;
}

// False where neither columns nor depths are neighbours, where a run begins inside a byte, or where
// a word of depths would belong to two groups.
bool find_places(const QuantisedWeight &w, Places *places) {
  const Matrix m = matrix_stack(*w.tensor).first;
  *places = {static_cast<const uint8_t *>(m.data), WeightStorage::bytes, m.row, m.col};
  if (m.dtype != ACL_INT8) places->storage = WeightStorage::halves;
  if (m.dtype == ACL_INT32) {
    places->row = in_numbers(m.row, w.packing == Packing::kAlongRows);
    places->col = in_numbers(m.col, w.packing == Packing::kAlongColumns);
  }
  const bool across = places->col.stride == 1;
  const GemmAxis &near = across ? places->col : places->row,
                 &far = across ? places->row : places->col;
  if (near.stride != 1 || far.block) return false;
  if (!across && w.group_size % most_depths_of_a_word != 0) return false;
  if (places->storage == WeightStorage::bytes) return true;
  if (m.dtype == ACL_INT4) places->data += w.tensor->offset / 2;
  const bool one = (across ? w.rows : w.cols) == 1;
  return (m.dtype == ACL_INT32 || w.tensor->offset % 2 == 0) && (one || far.stride % 2 == 0) &&
         near.block % 2 == 0 && near.block_stride % 2 == 0;
}

class StreamedWeight {
 public:
  StreamedWeight(const Matrix &a, const QuantisedWeight &w, const Places &b,
                 const RowSink<float> &sink)
      : a_(a),
        w_(w),
        b_(b),
        sink_(sink),
        rows_(with_kernels(a.rows)),
        turned_(b.col.stride != 1),
        staged_(turned_ || b.col.block),
        per_row_(!turned_                            ? 1
                 : b.storage == WeightStorage::bytes ? 4
                                                     : 8),
        staged_columns_(rows_ > any_streamed_rows ? most_staged_columns : few_staged_columns),
        tile_step_(turned_ ? 4 * staged_columns_ : staged_columns_),
        storage_(!turned_                            ? b.storage
                 : b.storage == WeightStorage::bytes ? WeightStorage::words_of_bytes
                                                     : WeightStorage::words_of_halves),
        parallel_(a.rows * w.rows * w.cols > 2 * worth_a_thread) {}

  void run() const {
    if (rows_ > any_streamed_rows) {
      many_rows();
    } else {
      for (int64_t j = 0; j < w_.cols; j += broad) columns(j, std::min(broad, w_.cols - j));
    }
    scratch().trim();
  }

 private:
  void columns(int64_t origin, int64_t cols) const {
    const int64_t steps = ceil_div(w_.rows, gemm_depth_step);
    const int64_t fair = ceil_div(steps * cols, 2 * parallel_width() * piece) * piece;
    const int64_t block = staged_ ? staged_columns_ : std::min(fair, widest_block),
                  blocks = ceil_div(cols, block);
    constexpr int64_t line = 16;
    const int64_t room = ceil_div(rows_ * w_.rows, line) * line;
    auto *panel = static_cast<float *>(
        scratch().take(static_cast<size_t>(room + steps * rows_ * cols) * sizeof(float)));
    float *partial = panel + room;
    pack(panel);
    each(steps * blocks, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        // Down the columns of a block: each step has asked for the memory of the next one.
        const int64_t col = t / steps * block;
        step(t % steps, origin + col, std::min(block, cols - col), panel,
             partial + t % steps * rows_ * cols + col, cols);
      }
    });
    each(ceil_div(cols, piece), [&](int64_t first, int64_t last) {
      for (int64_t j = first * piece; j < std::min(last * piece, cols); j += piece)
        finish(origin, j, std::min(piece, cols - j), steps, partial, cols);
    });
  }

  // Each task takes its columns through all depths: the sums of all steps would be larger than the
  // weight.
  void many_rows() const {
    const int64_t most = std::min(sums_of_a_block / rows_ / piece * piece, widest_block),
                  fair = ceil_div(w_.cols, 2 * parallel_width() * piece) * piece,
                  block = staged_ ? staged_columns_ : std::min(fair, most);
    auto *panel =
        static_cast<float *>(scratch().take(static_cast<size_t>(rows_ * w_.rows) * sizeof(float)));
    pack(panel);
    each(ceil_div(w_.cols, block), [&](int64_t first, int64_t last) {
      std::vector<float> memory(static_cast<size_t>(2 * rows_ * block));
      float *totals = memory.data(), *sums = totals + rows_ * block;
      for (int64_t col = first * block; col < std::min(last * block, w_.cols); col += block) {
        const int64_t count = std::min(block, w_.cols - col);
        for (int64_t p = 0; p < w_.rows; p += gemm_depth_step) {
          step(p / gemm_depth_step, col, count, panel, p ? sums : totals, block);
          for (int64_t i = 0; p && i < rows_ * block; ++i) totals[i] += sums[i];
        }
        for (int64_t i = 0; i < a_.rows; ++i)
          for (int64_t j = 0; j < count; j += piece) {
            float ordered[piece];
            const int64_t n = std::min(piece, count - j);
            sink_.accept(i, col + j, n, in_order(totals + i * block + j, n, ordered));
          }
      }
    });
  }

  template <class Body>
  void each(int64_t count, Body body) const {
    if (parallel_ && count > 1) return parallel_for(count, 1, body);
    body(int64_t(0), count);
  }

  // A panel for each turn of rows, one behind the other.
  void pack(float *panel) const {
    const auto pack = gemm_kernels().pack_wide[static_cast<int>(storage_of(a_.dtype))];
    for (int64_t i = 0, rows; i < rows_; i += rows) {
      rows = turn(i);
      pack({a_.data, a_.row, a_.col, i, std::min(rows, a_.rows - i), 0, a_.cols,
            static_cast<int>(rows)},
           panel + i * w_.rows);
    }
  }

  // So many rows, with rows of zeros where the last ones have no kernel of their own: they wait for
  // memory, and each kernel takes the compiler seconds.
  static int64_t with_kernels(int64_t rows) {
    const auto &kernels = weight_streams().across[0][0];
    int64_t last = rows % any_streamed_rows;
    while (last > 0 && !kernels[last - 1]) ++last;
    return rows - rows % any_streamed_rows + last;
  }

  // How many rows are taken at once from row `i` on.
  int64_t turn(int64_t i) const {
    const int64_t left = rows_ - i, most = weight_streams().rows[static_cast<int>(storage_)];
    return left >= most ? most : std::min<int64_t>(left, any_streamed_rows);
  }

  // One step of the depth for columns from `col` on, group by group.
  void step(int64_t index, int64_t col, int64_t count, const float *panel, float *sums,
            int64_t sums_stride) const {
    const int storage = static_cast<int>(storage_),
              rounding = static_cast<int>(w_.dtype == ACL_BF16 ? WeightRounding::bfloat16
                                                               : WeightRounding::float16);
    const WeightStreams &streams = weight_streams();
    const auto across = streams.across[storage][rounding];
    const bool shifted = !w_.offset.zero(), same_kind = w_.scale.dtype() == w_.dtype;
    const int64_t begin = index * gemm_depth_step, end = std::min(begin + gemm_depth_step, w_.rows);
    alignas(64) float scale[widest_block], shift[widest_block];
    alignas(64) uint8_t tile[gemm_depth_step * most_staged_columns];
    if (staged_) stage(col, count, begin, end, tile);
    for (int64_t p = begin, next; p < end; p = next) {
      const int64_t group = w_.group_size > 0 ? p / w_.group_size : 0;
      next = w_.group_size > 0 ? std::min((group + 1) * w_.group_size, end) : end;
      const uint16_t *stored = same_kind && !shifted ? w_.scale.stored(group, col) : nullptr;
      WeightRange range = WeightRange::exact;
      if (!stored || !streams.prepare_exact[storage][rounding](stored, scale, shift, count)) {
        w_.scale.read(group, col, count, scale);
        if (shifted) w_.offset.read(group, col, count, shift);
        range = streams.prepare[storage][rounding](scale, shift, count, shifted, same_kind);
      }
      w_.scale.await(group + 1, col, count);
      const int64_t together = staged_ || turn(0) == rows_ ? next - p : depths_of_a_turn;
      for (int64_t q = p; q < next; q += together) {
        const WeightBlock block{
            staged_ ? tile + (q - begin) / per_row_ * tile_step_ : b_.at(q, col),
            staged_ ? tile_step_ : b_.bytes(b_.row),
            count,
            std::min(together, next - q),
            scale,
            shift,
            range};
        for (int64_t i = 0, rows; i < rows_; i += rows) {
          rows = turn(i);
          across[rows - 1]({block, panel + i * w_.rows + q * rows, sums + i * sums_stride,
                            sums_stride, q > begin});
        }
      }
    }
  }

  // Depths from `begin` to `end` of `count` columns, as rows of the tile.
  void stage(int64_t col, int64_t count, int64_t begin, int64_t end, uint8_t *tile) const {
    if (turned_) {
      for (int64_t p = begin, run; p < end; p += run) {
        run = run_of(b_.row, p, end - p);
        weight_streams().turn[static_cast<int>(b_.storage)](
            b_.at(p, col), b_.bytes(b_.col), count, run, tile + (p - begin) / per_row_ * tile_step_,
            tile_step_, gemm_depth_step / (b_.storage == WeightStorage::bytes ? 1 : 2));
      }
      return;
    }
    const int64_t step = b_.bytes(b_.row);
    for (int64_t j = 0, run; j < count; j += run) {
      run = run_of(b_.col, col + j, count - j);
      const int64_t bytes = b_.storage == WeightStorage::bytes ? run : ceil_div(run, 2);
      const uint8_t *from = b_.at(begin, col + j);
      uint8_t *to = tile + (b_.storage == WeightStorage::bytes ? j : j / 2);
      for (int64_t p = begin; p < end; ++p, from += step, to += tile_step_) {
        __builtin_prefetch(from + gemm_depth_step * step);  // what the next depth step reads
        copy_run(from, bytes, to);
      }
    }
  }

  static void copy_run(const uint8_t *from, int64_t bytes, uint8_t *to) {
    constexpr int64_t usual = 32;  // a row of a block of FRACTAL_NZ
    if (bytes == usual) {
      memcpy(to, from, usual);
    } else {
      memcpy(to, from, static_cast<size_t>(bytes));
    }
  }

  // Columns of the sums (steps, rows, cols), which are those of the weight from `origin` on.
  void finish(int64_t origin, int64_t col, int64_t count, int64_t steps, const float *partial,
              int64_t cols) const {
    float sums[piece], ordered[piece];
    for (int64_t i = 0; i < a_.rows; ++i) {
      const float *from = partial + i * cols + col;
      std::copy_n(from, count, sums);
      for (int64_t s = 1; s < steps; ++s)
        gemm_kernels().add(sums, from + s * rows_ * cols, sums, count);
      sink_.accept(i, origin + col, count, in_order(sums, count, ordered));
    }
  }

  // The sums of a piece with its columns as they stand in the weight. A piece has whole blocks but
  // for the last of all columns.
  const float *in_order(const float *sums, int64_t count, float *ordered) const {
    const int64_t vectors = weight_streams().vectors[static_cast<int>(storage_)],
                  lanes = weight_streams().lanes, block = vectors * lanes;
    if (vectors == 1) return sums;
    int64_t j = 0;
    for (; j + block <= count; j += block)
      for (int64_t v = 0; v < vectors; ++v)
        for (int64_t i = 0; i < lanes; ++i) ordered[j + i * vectors + v] = sums[j + v * lanes + i];
    std::copy(sums + j, sums + count, ordered + j);
    return ordered;
  }

  const Matrix &a_;
  const QuantisedWeight &w_;
  const Places b_;
  const RowSink<float> &sink_;
  const int64_t rows_;     // some of zeros behind those of a_
  const bool turned_;      // depths are neighbours
  const bool staged_;      // rows are not read where they lie
  const int64_t per_row_;  // depths of a row of the tile
  const int64_t staged_columns_;
  const int64_t tile_step_;      // bytes of a row of the tile
  const WeightStorage storage_;  // of what is multiplied
  const bool parallel_;
};

}  // namespace

bool stream_weight(const Matrix &a, const QuantisedWeight &w, const RowSink<float> &sink) {
  Places places;
  if (a.rows == 0 || a.rows > most_rows || a.rows * a.cols > most_packed || a.cols == 0 ||
      w.cols == 0 || !find_places(w, &places))
    return false;
  StreamedWeight(a, w, places, sink).run();
  return true;
}

}  // namespace emu
