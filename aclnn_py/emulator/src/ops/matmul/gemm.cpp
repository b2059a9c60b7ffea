// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/matmul/gemm.h"

#include <algorithm>
#include <type_traits>
#include <vector>

#include "core/pool.h"
#include "ops/dtype.h"
#include "ops/matmul/gemm_pairs.h"
#include "ops/matmul/gemm_ready.h"
#include "ops/matmul/gemm_stream.h"
#include "ops/matmul/gemm_work.h"

namespace emu {
namespace {

struct GroupScratch;  // the memory a thread unpacks one group of columns into

// What is packed and summed. Panels of a kind that is `told_apart` need its careful tiles if they
// have tiny numbers.
struct Floats {
  using Packed = float;
  using Sum = float;
  static constexpr int64_t per_unit = 1;
  static constexpr bool told_apart = false;
  static int columns(const GemmKernels &k) { return k.columns; }
  static auto tiles(const GemmKernels &k, bool) { return k.tile_f32; }
  static auto pack(const GemmKernels &k, GemmStorage storage) {
    return k.pack[static_cast<int>(storage)];
  }
};
struct Bytes {
  using Packed = int16_t;
  using Sum = int32_t;
  static constexpr int64_t per_unit = 2;  // products of two depths are summed at once
  static constexpr bool told_apart = false;
  static int columns(const GemmKernels &k) { return k.columns; }
  static auto tiles(const GemmKernels &k, bool) { return k.tile_i32; }
  static auto pack(const GemmKernels &k, GemmStorage storage) {
    return k.pack[static_cast<int>(storage)];
  }
};
struct Doubles {
  using Packed = double;
  using Sum = double;
  static constexpr int64_t per_unit = 1;
  static constexpr bool told_apart = false;
  static int columns(const GemmKernels &k) { return k.columns64; }
  static auto tiles(const GemmKernels &k, bool) { return k.tile_f64; }
  static auto pack(const GemmKernels &k, GemmStorage storage) {
    return k.pack[static_cast<int>(storage)];
  }
};
struct Brains {
  using Packed = uint16_t;
  using Sum = float;
  static constexpr int64_t per_unit = 2;
  static constexpr bool told_apart = true;
  static int columns(const GemmKernels &k) { return k.columns; }
  static auto tiles(const GemmKernels &, bool tiny) {
    return tiny ? gemm_pairs()->careful : gemm_pairs()->quick;
  }
  static auto pack(const GemmKernels &, GemmStorage) { return gemm_pairs()->pack; }
};

// The depth is cut into equal steps whatever the path, so that sums are made in one order.
constexpr int64_t depth_step = gemm_depth_step;
// Blocking: a panel of `b` (depth_step deep) stays in the first-level cache while the panels of `a`
// pass by, and so do the sums of `group` columns; these fit the second level.
constexpr int64_t most_rows = 512, group = 128;
// Of `a` so much is packed at once.
constexpr int64_t most_bytes = int64_t(15) << 20;
// Where the depth is too large for that, both operands are packed step by step; the sums of one
// chunk fit the third level.
constexpr int64_t chunk_rows = 1024, chunk_columns = 2048, tile_height = 96, tile_width = 1024;
// Rows of `b` unpacked before the next panel of the group has its turn: memory is read in long
// pieces.
constexpr int64_t stretch = 32;
constexpr int64_t cache_line = 64;
// Tasks for each thread: unequal speeds are balanced.
constexpr int64_t tasks_each = 4;
// Panels of `a` in a task, unless there are fewer.
constexpr int64_t least_panels = 8;

// A matrix that products are taken from.
struct Lessened {
  double *data = nullptr;
  int64_t stride = 0;
};

class Subtracted final : public RowSink<double> {
 public:
  explicit Subtracted(const Lessened &from) : from_(from) {}
  void accept(int64_t row, int64_t col, int64_t count, const double *values) const override {
    double *to = from_.data + row * from_.stride + col;
    for (int64_t i = 0; i < count; ++i) to[i] -= values[i];
  }

 private:
  const Lessened from_;
};

// Where products are taken from a matrix, the sink gets those that no tile of full width takes.
template <class Kind>
class Product {
  using P = typename Kind::Packed;
  using C = typename Kind::Sum;
  static constexpr bool can_lessen = std::is_same_v<Kind, Doubles>;

 public:
  static constexpr int64_t item_bytes = sizeof(P);

  // `ready`: the panels of all columns of `b`, if they are there.
  Product(const Matrix &a, const Matrix &b, const RowSink<C> &sink, const Lessened &lessened = {},
          const P *ready = nullptr)
      : a_(a),
        b_(b),
        sink_(sink),
        lessened_(lessened),
        ready_(ready),
        parallel_(worth_threads(a, b)),
        kernels_(gemm_kernels()),
        height_(kernels_.rows),
        width_(Kind::columns(kernels_)),
        tiles_{Kind::tiles(kernels_, false), Kind::tiles(kernels_, true)},
        pack_a_(Kind::pack(kernels_, storage_of(a.dtype))),
        pack_b_(Kind::pack(kernels_, storage_of(b.dtype))) {}

  void run() {
    if (a_.rows == 0 || b_.cols == 0) return;
    if (a_.cols == 0) return zeros();
    if (stream_product(a_, b_, sink_)) return;
    const int64_t rows = std::min(a_.rows, most_rows);
    if (ceil_div(rows, height_) * height_ * room(a_.cols) * item_bytes <= most_bytes) {
      for (int64_t i = 0; i < a_.rows; i += rows) wide(i, std::min(rows, a_.rows - i));
    } else {
      for (int64_t j = 0; j < b_.cols; j += chunk_columns)
        for (int64_t i = 0; i < a_.rows; i += chunk_rows)
          chunk(i, std::min(chunk_rows, a_.rows - i), j, std::min(chunk_columns, b_.cols - j));
    }
    scratch().trim();
  }

 private:
  template <class F>
  void each(int64_t count, int64_t grain, F body) {
    if (parallel_ && count > grain) return parallel_for(count, grain, body);
    body(0, count);
  }

  void zeros() {
    const C none[256] = {};
    for (int64_t i = 0; i < a_.rows; ++i)
      for (int64_t j = 0; j < b_.cols; j += 256)
        sink_.accept(i, j, std::min<int64_t>(256, b_.cols - j), none);
  }

  // Elements of the packed kind that `depth` takes.
  static int64_t room(int64_t depth) { return ceil_div(depth, Kind::per_unit) * Kind::per_unit; }

  // The last panel has the rows that are left, not those of a full one.
  int tall(int64_t row, int64_t end) const {
    return static_cast<int>(std::min<int64_t>(height_, end - row));
  }
  // Both return whether the panel has tiny numbers.
  bool pack_a(int64_t row, int64_t end, int64_t depth_begin, int64_t depth, P *to) const {
    const int rows = tall(row, end);
    pack_a_({a_.data, a_.row, a_.col, row, rows, depth_begin, depth, rows}, to);
    return tiny(to, rows * room(depth));
  }
  bool pack_b(int64_t col, int64_t end, int64_t depth_begin, int64_t depth, P *to) const {
    pack_b_({b_.data, b_.col, b_.row, col, std::min<int64_t>(width_, end - col), depth_begin, depth,
             width_},
            to);
    return tiny(to, width_ * room(depth));
  }
  static bool tiny([[maybe_unused]] const P *packed, [[maybe_unused]] int64_t count) {
    if constexpr (Kind::told_apart) return gemm_pairs()->has_tiny(packed, count);
    return false;
  }

  // The panels of one group of columns, one after the other in `to`, and which have tiny numbers.
  void unpack_group(int64_t begin, int64_t end, int64_t depth_begin, int64_t depth, P *to,
                    uint8_t *tiny) const {
    const int64_t step = b_.col.stride == 1 ? stretch : depth;
    for (int64_t p = 0; p < depth; p += step)
      for (int64_t j = begin; j < end; j += width_) {
        const bool found = pack_b(j, end, depth_begin + p, std::min(step, depth - p),
                                  to + (j - begin) * room(depth) + p * width_);
        uint8_t &known = tiny[(j - begin) / width_];
        known = found || (p > 0 && known);
      }
  }

  GemmTile<P, C> tile(int64_t height, bool tiny) const {
    return tiles_[Kind::told_apart && tiny][height - 1];
  }

  // Where sums are made, and how.
  struct Sums {
    C *first;
    int64_t stride;
    bool in_place;  // in the matrix that they are taken from
  };
  void multiply(const P *panel, const P *columns, int64_t depth, int64_t height, bool tiny,
                const Sums &sums, bool add) const {
    if constexpr (can_lessen) {
      if (sums.in_place)
        return kernels_.less_f64[height - 1](panel, columns, width_, depth, sums.first, sums.stride,
                                             true);
    }
    tile(height, tiny)(panel, columns, width_, depth, sums.first, sums.stride, add);
  }

  // Where part `i` begins if `count` indices are cut into `parts` about as large as each other.
  static int64_t share(int64_t count, int64_t i, int64_t parts) { return count * i / parts; }

  // Rows of `b` and columns that are unpacked together.
  struct Block {
    int64_t begin, end, depth_begin, depth;
  };

  // The rows of a block that is unpacked soon, a few of them on their way with each call.
  class Awaited {
   public:
    Awaited(const Matrix &b, const Block &block, int64_t calls)
        : bytes_((block.end - block.begin) * item_size(b.dtype)),
          step_(b.row.stride * item_size(b.dtype)),
          row_(static_cast<const char *>(b.data) +
               b.row.at(block.depth_begin) * item_size(b.dtype) + block.begin * item_size(b.dtype)),
          left_(block.depth),
          each_(ceil_div(block.depth, calls)) {}

    void ask() {
      for (int64_t i = std::min(each_, left_); i > 0; --i, --left_, row_ += step_)
        for (int64_t at = 0; at < bytes_; at += cache_line) __builtin_prefetch(row_ + at, 0, 3);
    }

   private:
    const int64_t bytes_, step_;
    const char *row_;
    int64_t left_;
    const int64_t each_;
  };

  // Some rows of `a`, packed for the whole depth.
  struct Packed {
    const P *panels;      // of one depth step after the other
    const uint8_t *tiny;  // by depth step and panel
    int64_t row, rows, count;

    // Panels are about as high as each other: low ones do not keep the processor busy.
    int64_t begin(int64_t i) const { return i * (rows / count) + std::min(i, rows % count); }
  };

  // A part of the result: panels of `a` and columns.
  struct Part {
    int64_t panel_begin, panel_end, begin, end;
  };

  // The rows from `row` on are packed once. Each task unpacks its columns of `b` group by group and
  // uses them at once.
  void wide(int64_t row, int64_t rows) {
    const int64_t panels = ceil_div(rows, height_), k = a_.cols;
    const int64_t steps = ceil_div(k, depth_step);
    const size_t packed_bytes = static_cast<size_t>(panels * height_ * room(k)) * sizeof(P);
    P *packed =
        static_cast<P *>(scratch().take(packed_bytes + static_cast<size_t>(panels * steps)));
    uint8_t *tiny_a = reinterpret_cast<uint8_t *>(packed) + packed_bytes;
    const Packed a{packed, tiny_a, row, rows, panels};
    each(panels, 4, [&](int64_t first, int64_t last) {
      for (int64_t i = first; i < last; ++i)
        for (int64_t p = 0; p < k; p += depth_step)
          tiny_a[p / depth_step * panels + i] = pack_a(
              row + a.begin(i), row + a.begin(i + 1), p, std::min(depth_step, k - p),
              packed + panels * height_ * p + i * height_ * room(std::min(depth_step, k - p)));
    });
    // Columns are divided first: parts of the rows unpack the same columns again.
    const int64_t b_panels = ceil_div(b_.cols, width_),
                  tasks = std::clamp<int64_t>(rows * b_.cols * k / worth_a_thread, 1,
                                              tasks_each * parallel_width()),
                  across = std::min(b_panels, tasks),
                  down = std::clamp<int64_t>(tasks / across, 1, ceil_div(panels, least_panels));
    each(across * down, 1, [&](int64_t first, int64_t last) {
      for (int64_t t = first; t < last; ++t) {
        const int64_t i = t / across, j = t % across;
        part(a, {share(panels, i, down), share(panels, i + 1, down),
                 share(b_panels, j, across) * width_,
                 std::min(share(b_panels, j + 1, across) * width_, b_.cols)});
      }
    });
  }

  void part(const Packed &a, const Part &of) const {
    const int64_t k = a_.cols, top = a.begin(of.panel_begin), rows = a.begin(of.panel_end) - top,
                  panels = of.panel_end - of.panel_begin;
    const bool awaits = !ready_ && b_.col.stride == 1 && !b_.col.block && !b_.row.block;
    const int64_t low = a.rows / a.count, higher = a.rows % a.count;
    const int64_t high = std::max<int64_t>(1, tile_height / height_);
    const size_t unpacked_bytes = static_cast<size_t>(depth_step * group) * sizeof(P);
    char *memory = static_cast<char *>(PerThread<Scratch, GroupScratch>::get().take(
        unpacked_bytes + static_cast<size_t>(rows * group) * sizeof(C)));
    P *unpacked = reinterpret_cast<P *>(memory);
    C *sums = reinterpret_cast<C *>(memory + unpacked_bytes);
    uint8_t tiny_b[group] = {};
    for (int64_t begin = of.begin; begin < of.end; begin += group) {
      const int64_t end = std::min(begin + group, of.end), across = ceil_div(end - begin, width_);
      const int64_t in_place = lessened_.data ? (end - begin) / width_ : 0,
                    done = in_place * width_;
      for (int64_t p = 0; p < k; p += depth_step) {
        const int64_t depth = std::min(depth_step, k - p);
        // Further down, or at the top of the next group.
        Block next{};
        if (p + depth < k) next = {begin, end, p + depth, std::min(depth_step, k - p - depth)};
        else if (end < of.end)
          next = {end, std::min(end + group, of.end), 0, std::min(depth_step, k)};
        if (!awaits) next.depth = 0;
        Awaited awaited(b_, next, across * panels);
        if (!ready_) unpack_group(begin, end, p, depth, unpacked, tiny_b);
        const P *columns = ready_ ? ready_ + begin * room(k) + p * width_ : unpacked;
        const int64_t each_panel = width_ * room(ready_ ? k : depth);
        const uint8_t *tiny_a = a.tiny + p / depth_step * a.count;
        for (int64_t from = of.panel_begin; from < of.panel_end; from += high) {
          const int64_t to = std::min(from + high, of.panel_end);
          for (int64_t j = 0; j < across; ++j) {
            const P *panel = a.panels + (a.count * p + from * room(depth)) * height_;
            Sums sum{sums + (a.begin(from) - top) * group + j * width_, group, j < in_place};
            if constexpr (can_lessen) {
              if (sum.in_place)
                sum = {lessened_.data + (a.row + a.begin(from)) * lessened_.stride + begin +
                           j * width_,
                       lessened_.stride, true};
            }
            for (int64_t i = from; i < to; ++i) {
              const int64_t height = low + (i < higher);
              awaited.ask();
              multiply(panel, columns + j * each_panel, depth, height, tiny_a[i] | tiny_b[j], sum,
                       p > 0);
              panel += height_ * room(depth);
              sum.first += height * sum.stride;
            }
          }
        }
      }
      for (int64_t i = 0; i < rows && begin + done < end; ++i)
        sink_.accept(a.row + top + i, begin + done, end - begin - done, sums + i * group + done);
    }
  }

  // One chunk of the result, whole depth: both operands are packed in parallel, then tiles of the
  // chunk are multiplied in parallel.
  void chunk(int64_t row, int64_t rows, int64_t col, int64_t cols) {
    const int64_t a_panels = ceil_div(rows, height_), b_panels = ceil_div(cols, width_),
                  k = a_.cols;
    // The odd line keeps rows from lying a multiple of a page apart, where they would share a few
    // cache sets.
    const int64_t ldc = b_panels * width_ + cache_line / static_cast<int64_t>(sizeof(C)),
                  deepest = room(std::min(depth_step, k));
    const size_t a_bytes = static_cast<size_t>(a_panels * height_ * deepest) * sizeof(P),
                 b_bytes = static_cast<size_t>(b_panels * width_ * deepest) * sizeof(P);
    const size_t a_room = (a_bytes + 63) & ~size_t(63), b_room = (b_bytes + 63) & ~size_t(63);
    char *memory = static_cast<char *>(scratch().take(
        a_room + b_room + static_cast<size_t>(a_panels * height_ * ldc) * sizeof(C)));
    P *packed_a = reinterpret_cast<P *>(memory), *packed_b = reinterpret_cast<P *>(memory + a_room);
    C *sums = reinterpret_cast<C *>(memory + a_room + b_room);
    std::vector<uint8_t> tiny(static_cast<size_t>(a_panels + b_panels));
    uint8_t *tiny_a = tiny.data(), *tiny_b = tiny_a + a_panels;
    const int64_t high = std::max<int64_t>(1, tile_height / height_),
                  broad = std::max<int64_t>(1, tile_width / width_);
    const int64_t tiles_down = ceil_div(a_panels, high), tiles_across = ceil_div(b_panels, broad);
    for (int64_t p = 0; p < k; p += depth_step) {
      const int64_t depth = std::min(depth_step, k - p);
      each(a_panels + b_panels, 4, [&](int64_t first, int64_t last) {
        for (int64_t i = first; i < std::min(last, a_panels); ++i)
          tiny_a[i] =
              pack_a(row + i * height_, row + rows, p, depth, packed_a + i * height_ * room(depth));
        const int64_t begin = std::max<int64_t>(0, first - a_panels) * width_,
                      end = std::min((last - a_panels) * width_, cols);
        if (begin < end)
          unpack_group(col + begin, col + end, p, depth, packed_b + begin * room(depth),
                       tiny_b + begin / width_);
      });
      const bool finished = p + depth == k;
      each(tiles_down * tiles_across, 1, [&](int64_t first, int64_t last) {
        for (int64_t t = first; t < last; ++t) {
          const int64_t i0 = t % tiles_down * high, j0 = t / tiles_down * broad;
          const int64_t i1 = std::min(i0 + high, a_panels), j1 = std::min(j0 + broad, b_panels);
          for (int64_t j = j0; j < j1; ++j)
            for (int64_t i = i0; i < i1; ++i)
              tile(tall(i * height_, rows), tiny_a[i] | tiny_b[j])(
                  packed_a + i * height_ * room(depth), packed_b + j * width_ * room(depth), width_,
                  depth, sums + i * height_ * ldc + j * width_, ldc, p > 0);
          if (!finished) continue;
          const int64_t j_begin = j0 * width_, j_end = std::min(j1 * width_, cols),
                        i_end = std::min(i1 * height_, rows);
          for (int64_t i = i0 * height_; i < i_end; ++i)
            sink_.accept(row + i, col + j_begin, j_end - j_begin, sums + i * ldc + j_begin);
        }
      });
    }
  }

  const Matrix &a_, &b_;
  const RowSink<C> &sink_;
  const Lessened lessened_;
  const P *const ready_;
  const bool parallel_;
  const GemmKernels &kernels_;
  const int height_, width_;
  const GemmTile<P, C> *const tiles_[2];
  void (*const pack_a_)(const GemmPanel &, void *);
  void (*const pack_b_)(const GemmPanel &, void *);
};

}  // namespace

void gemm_f32(const Matrix &a, const Matrix &b, const RowSink<float> &sink) {
  if (a.dtype == ACL_BF16 && b.dtype == ACL_BF16 && gemm_pairs()) {
    Product<Brains>(a, b, sink).run();
  } else {
    Product<Floats>(a, b, sink).run();
  }
}
void gemm_f32(const Matrix &a, const ReadyColumns &b, const RowSink<float> &sink) {
  Product<Floats>(a, b.matrix(), sink, {}, b.panels()).run();
}
void gemm_i32(const Matrix &a, const Matrix &b, const RowSink<int32_t> &sink) {
  Product<Bytes>(a, b, sink).run();
}
void gemm_f64(const Matrix &a, const Matrix &b, const RowSink<double> &sink) {
  Product<Doubles>(a, b, sink).run();
}
ReadyColumns::ReadyColumns(const Matrix &b, int64_t rows) : b_(b) {
  if (rows <= gemm_few_rows || b.rows == 0) return;
  const GemmKernels &kernels = gemm_kernels();
  const int64_t width = kernels.columns, count = ceil_div(b.cols, width);
  panels_.resize(static_cast<size_t>(count * width * b.rows));
  parallel_for(
      count, std::max<int64_t>(1, worth_a_thread / (width * b.rows)),
      [&](int64_t first, int64_t last) {
        for (int64_t j = first * width; j < std::min(last * width, b.cols); j += width)
          Floats::pack(kernels, GemmStorage::float32)(
              {b.data, b.col, b.row, j, std::min(width, b.cols - j), 0, b.rows, kernels.columns},
              panels_.data() + j * b.rows);
      });
}

void gemm_f64_less(const Matrix &a, const Matrix &b, double *c, int64_t stride) {
  const Lessened from{c, stride};
  Product<Doubles>(a, b, Subtracted(from), from).run();
}

}  // namespace emu
