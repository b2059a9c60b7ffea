// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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
constexpr int64_t widest_block = 1024, broad = 16 * widest_block;

// Rows of the weight in memory whose columns are neighbours.
struct Rows {
  const uint8_t *data;
  int64_t step;  // bytes
  WeightStorage storage;
};

bool rows_of(const QuantisedWeight &w, Rows *rows) {
  const Matrix m = matrix_stack(*w.tensor).first;
  if (m.col.block || m.row.block || m.col.stride != 1) return false;
  const auto *data = static_cast<const uint8_t *>(m.data);
  if (m.dtype == ACL_INT8) {
    *rows = {data, m.row.stride, WeightStorage::bytes};
    return true;
  }
  if (m.dtype == ACL_INT32) {
    *rows = {data, m.row.stride * 4, WeightStorage::halves};
    return w.packing == Packing::kAlongColumns;
  }
  *rows = {data + w.tensor->offset / 2, m.row.stride / 2, WeightStorage::halves};
  return w.tensor->offset % 2 == 0 && (m.row.stride % 2 == 0 || m.rows == 1);
}

class StreamedWeight {
 public:
  StreamedWeight(const Matrix &a, const QuantisedWeight &w, const Rows &b,
                 const RowSink<float> &sink)
      : a_(a),
        w_(w),
        b_(b),
        sink_(sink),
        rows_(a.rows),
        parallel_(a.rows * w.rows * w.cols > 2 * worth_a_thread) {}

  void run() const {
    for (int64_t j = 0; j < w_.cols; j += broad) columns(j, std::min(broad, w_.cols - j));
    scratch().trim();
  }

 private:
  void columns(int64_t origin, int64_t cols) const {
    const int64_t steps = ceil_div(w_.rows, gemm_depth_step);
    const int64_t fair = ceil_div(steps * cols, 2 * parallel_width() * piece) * piece;
    const int64_t block = std::min(fair, widest_block), blocks = ceil_div(cols, block);
    constexpr int64_t line = 16;
    const int64_t room = ceil_div(rows_ * w_.rows, line) * line;
    auto *panel = static_cast<float *>(
        scratch().take(static_cast<size_t>(room + steps * rows_ * cols) * sizeof(float)));
    float *partial = panel + room;
    pack(panel);
    each(steps * blocks, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t)
        step(t / blocks, origin, t % blocks * block, std::min(block, cols - t % blocks * block),
             {panel, partial, cols});
    });
    each(ceil_div(cols, piece), [&](int64_t first, int64_t last) {
      for (int64_t j = first * piece; j < std::min(last * piece, cols); j += piece)
        finish(origin, j, std::min(piece, cols - j), steps, {panel, partial, cols});
    });
  }

  // The packed rows of a; the sums (steps, rows, cols) of the columns that are computed.
  struct Work {
    const float *panel;
    float *partial;
    int64_t cols;
  };

  template <class Body>
  void each(int64_t count, Body body) const {
    if (parallel_ && count > 1) return parallel_for(count, 1, body);
    body(int64_t(0), count);
  }

  void pack(float *panel) const {
    const int rows = static_cast<int>(rows_);
    gemm_kernels().pack_wide[static_cast<int>(storage_of(a_.dtype))](
        {a_.data, a_.row, a_.col, 0, rows, 0, a_.cols, rows}, panel);
  }

  // One step of the depth for a block of columns, group by group. Column `col` of those computed is
  // `origin` + col of the weight.
  void step(int64_t index, int64_t origin, int64_t col, int64_t count, const Work &work) const {
    const int storage = static_cast<int>(b_.storage),
              rounding = static_cast<int>(w_.dtype == ACL_BF16 ? WeightRounding::bfloat16
                                                               : WeightRounding::float16);
    const WeightStreams &streams = weight_streams();
    const int64_t begin = index * gemm_depth_step, end = std::min(begin + gemm_depth_step, w_.rows);
    float scale[widest_block], offset[widest_block], scales[widest_block], shifts[widest_block];
    for (int64_t p = begin, next; p < end; p = next) {
      const int64_t group = w_.group_size > 0 ? p / w_.group_size : 0;
      next = w_.group_size > 0 ? std::min((group + 1) * w_.group_size, end) : end;
      w_.scale.read(group, origin + col, count, scale);
      if (!w_.offset.zero()) w_.offset.read(group, origin + col, count, offset);
      const bool tame = streams.prepare[storage][rounding](
          scale, w_.offset.zero() ? nullptr : offset, count, scales, shifts);
      const int64_t at = (origin + col) / (b_.storage == WeightStorage::halves ? 2 : 1);
      streams.across[storage][rounding][rows_ - 1](
          {work.panel + p * rows_, b_.data + p * b_.step + at, b_.step, count, next - p, scales,
           shifts, tame, work.partial + index * rows_ * work.cols + col, work.cols, p > begin});
    }
  }

  void finish(int64_t origin, int64_t col, int64_t count, int64_t steps, const Work &work) const {
    float sums[piece], ordered[piece];
    for (int64_t i = 0; i < rows_; ++i) {
      const float *from = work.partial + i * work.cols + col;
      std::copy_n(from, count, sums);
      for (int64_t s = 1; s < steps; ++s) {
        from += rows_ * work.cols;
        for (int64_t j = 0; j < count; ++j) sums[j] += from[j];
      }
      sink_.accept(i, origin + col, count, in_order(sums, col, count, work.cols, ordered));
    }
  }

  // The sums of a piece with its columns as they stand in the weight.
  const float *in_order(const float *sums, int64_t col, int64_t count, int64_t cols,
                        float *ordered) const {
    if (b_.storage == WeightStorage::bytes) return sums;
    const int64_t block = weight_streams().block,
                  full = std::min(count, cols / block * block - col);
    for (int64_t j = 0; j < count; ++j) {
      const int64_t r = j % block;
      ordered[j] = sums[j < full ? j - r + r % 2 * (block / 2) + r / 2 : j];
    }
    return ordered;
  }

  const Matrix &a_;
  const QuantisedWeight &w_;
  const Rows b_;
  const RowSink<float> &sink_;
  const int64_t rows_;
  const bool parallel_;
};

}  // namespace

bool stream_weight(const Matrix &a, const QuantisedWeight &w, const RowSink<float> &sink) {
  Rows rows{};
  if (a.rows == 0 || a.rows > most_streamed_rows || a.rows * a.cols > most_packed || a.cols == 0 ||
      w.cols == 0 || !rows_of(w, &rows))
    return false;
  StreamedWeight(a, w, rows, sink).run();
  return true;
}

}  // namespace emu
