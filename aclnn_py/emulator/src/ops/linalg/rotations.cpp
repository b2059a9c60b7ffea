// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The implicit QR iteration of Demmel and Kahan: sweeps of rotations make what lies above the
// diagonal small, without a shift where a shift would cost the small values their digits. What the
// sweeps do to lines waits until there are many of them: lines then pass through the cache once.
#include "ops/linalg/rotations.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "core/numbers.h"
#include "core/pool.h"
#include "ops/linalg/lines.h"

namespace emu {
namespace {

constexpr double kEpsilon = std::numeric_limits<double>::epsilon() / 2;
// So small an element next to the diagonal, relative to a value it might change, is 0.
constexpr double kTolerance = 80 * kEpsilon;
// Sweeps over all of a matrix for each value; two do.
constexpr int64_t kMostSweeps = 30;
constexpr size_t kWaiting = 32;
// Rows a wave of sweeps reaches beyond its own.
constexpr int64_t kBefore = kSweepsAtOnce - 1, kMargin = kBefore + 1;

struct Turn {
  double cosine, sine;
};

// Turns (f, g) into (size, 0) by less than a right angle: the size has the sign of f.
Turn turn_of(double f, double g, double *size) {
  if (g == 0) {
    *size = f;
    return {1, 0};
  }
  const double square = f * f + g * g;
  if (!(square > 1e-280 && square < 1e280)) {
    const double r = std::copysign(std::hypot(f, g), f);
    *size = r;
    return {f / r, g / r};
  }
  // The root and the quotient do not wait for each other: sweeps are chains of such numbers.
  const double r = std::copysign(std::sqrt(square), f), inverse = r * (1 / square);
  *size = r;
  return {f * inverse, g * inverse};
}

// One pass along part of the matrix. Upward, everything is seen in the mirror: the last row is the
// first, and columns are rows.
struct Sweep {
  bool upward;
  int64_t first;  // row, as the sweep sees it
  std::vector<Turn> columns, rows;
};

// The smaller value of [[f, g], [0, h]].
double smaller_value(double f, double g, double h) {
  f = std::abs(f), g = std::abs(g), h = std::abs(h);
  const double low = std::min(f, h), high = std::max(f, h);
  if (low == 0) return 0;
  const double sum = 1 + low / high, difference = (high - low) / high;
  if (g < high) {
    const double square = (g / high) * (g / high);
    return low *
           (2 / (std::sqrt(sum * sum + square) + std::sqrt(difference * difference + square)));
  }
  const double part = high / g;
  if (part == 0) return low * high / g;
  const double a = sum * part, b = difference * part;
  return 2 * (low * (1 / (std::sqrt(1 + a * a) + std::sqrt(1 + b * b)))) * part;
}

// The numbers of all lines, so many of each line together as the kernel turns at once: from the
// first line to the last, memory is read in one piece.
class Slabs {
 public:
  explicit Slabs(const RotatedLines &lines, int64_t n)
      : lines_(lines), n_(n), width_(line_kernels().width) {
    if (!lines.data) return;
    count_ = (lines.length + width_ - 1) / width_;
    items_.resize(static_cast<size_t>(count_ * slab_size()));
    exchange([](double *line, double *part, int64_t count) { std::copy_n(line, count, part); });
  }

  int64_t count() const { return count_; }
  // Row `row` of a slab; there are rows of zeros on both sides.
  double *at(int64_t slab, int64_t row) {
    return items_.data() + slab * slab_size() + (row + kMargin) * width_;
  }
  void give_back() {
    exchange([](double *line, double *part, int64_t count) { std::copy_n(part, count, line); });
  }

 private:
  int64_t slab_size() const { return (n_ + 2 * kMargin) * width_; }

  template <class F>
  void exchange(F &&f) {
    for (int64_t i = 0; i < n_; ++i) {
      double *line = lines_.data + i * lines_.stride;
      for (int64_t slab = 0; slab < count_; ++slab) {
        const int64_t from = slab * width_;
        f(line + from, at(slab, i), std::min(width_, lines_.length - from));
      }
    }
  }

  const RotatedLines lines_;
  const int64_t n_, width_;
  int64_t count_ = 0;
  Numbers<double> items_;
};

// Applies sweeps to lines.
class Rotations {
 public:
  Rotations(int64_t n, const RotatedLines &left, const RotatedLines &right)
      : n_(n), left_(left, n), right_(right, n), wanted_(left.data || right.data) {}

  bool wanted() const { return wanted_; }
  void add(Sweep sweep) {
    sweeps_.push_back(std::move(sweep));
    if (sweeps_.size() == kWaiting) apply();
  }
  void finish() {
    apply();
    left_.give_back();
    right_.give_back();
  }

 private:
  void apply() {
    apply_to(left_, true);
    apply_to(right_, false);
    sweeps_.clear();
  }

  // Sweeps that go the same way, one step behind the other.
  struct Wave {
    bool upward;
    int64_t first, steps;  // row as the sweeps see it
    std::vector<double> turns;
  };

  std::vector<Wave> waves(bool of_left) const {
    std::vector<Wave> result;
    for (size_t i = 0; i < sweeps_.size();) {
      size_t end = i;
      int64_t first = sweeps_[i].first, last = first;
      while (end < sweeps_.size() && end < i + kSweepsAtOnce &&
             sweeps_[end].upward == sweeps_[i].upward) {
        const Sweep &sweep = sweeps_[end++];
        first = std::min(first, sweep.first);
        last = std::max(last, sweep.first + static_cast<int64_t>(sweep.rows.size()));
      }
      Wave wave{sweeps_[i].upward, first, last - first + kBefore, {}};
      wave.turns.resize(static_cast<size_t>(2 * kSweepsAtOnce * wave.steps));
      for (size_t s = i; s < end; ++s) {
        const Sweep &sweep = sweeps_[s];
        const std::vector<Turn> &turns = of_left != sweep.upward ? sweep.rows : sweep.columns;
        double *to = wave.turns.data() + 2 * (s - i) +
                     2 * kSweepsAtOnce * (static_cast<size_t>(sweep.first - first) + (s - i));
        for (const Turn &turn : turns) {
          to[0] = turn.sine / (1 + turn.cosine);
          to[1] = turn.sine;
          to += 2 * kSweepsAtOnce;
        }
      }
      result.push_back(std::move(wave));
      i = end;
    }
    return result;
  }

  void apply_to(Slabs &slabs, bool of_left) const {
    const LineKernels &kernels = line_kernels();
    const std::vector<Wave> all = waves(of_left);
    const int64_t width = kernels.width;
    parallel_for(slabs.count(), std::max<int64_t>(1, 4096 / n_), [&](int64_t begin, int64_t end) {
      for (int64_t slab = begin; slab < end; ++slab) {
        for (const Wave &wave : all) {
          const int64_t first = wave.first - kBefore;
          kernels.turn(slabs.at(slab, wave.upward ? n_ - 1 - first : first),
                       wave.upward ? -width : width, wave.turns.data(), wave.steps);
        }
      }
    });
  }

  const int64_t n_;
  Slabs left_, right_;
  const bool wanted_;
  std::vector<Sweep> sweeps_;
};

class Iteration {
 public:
  Iteration(std::vector<double> *diagonal, std::vector<double> *above, Rotations *rotations)
      : n_(static_cast<int64_t>(diagonal->size())),
        d_(diagonal->data()),
        e_(above->data()),
        rotations_(*rotations) {}

  bool run() {
    threshold_ = negligible();
    int64_t left = kMostSweeps * n_ * n_;  // rotations
    for (int64_t last = n_ - 1; last > 0;) {
      const int64_t first = top_of_block(last);
      if (first == last) {
        --last;
        continue;
      }
      if (first != block_first_ || last > block_last_) {
        // From the large end to the small one.
        upward_ = std::abs(d_[first]) < std::abs(d_[last]);
      }
      block_first_ = first;
      block_last_ = last;
      const View view = seen(first, last);
      double least, most;
      if (separated(view, &least, &most)) continue;
      left -= view.count;
      if (left < 0) return false;
      sweep(view, shift_for(view, least, most));
    }
    rotations_.finish();
    return true;
  }

 private:
  // A block as a sweep sees it: its diagonal and what lies above that, `count` of these.
  struct View {
    double *d, *e;
    int64_t step, first, count;
    double &diagonal(int64_t i) const { return d[i * step]; }
    double &above(int64_t i) const { return e[i * step]; }
  };

  View seen(int64_t first, int64_t last) const {
    if (upward_) return {d_ + last, e_ + last - 1, -1, n_ - 1 - last, last - first};
    return {d_ + first, e_ + first, 1, first, last - first};
  }

  // Elements below this do not change any value by more than rounding does.
  double negligible() const {
    double least = std::abs(d_[0]), reach = least;
    for (int64_t i = 1; i < n_ && least > 0; ++i) {
      reach = std::abs(d_[i]) * (reach / (reach + std::abs(e_[i - 1])));
      least = std::min(least, reach);
    }
    const double size = static_cast<double>(n_);
    return std::max(kTolerance * least / std::sqrt(size),
                    kMostSweeps * size * size * std::numeric_limits<double>::min());
  }

  int64_t top_of_block(int64_t last) {
    int64_t first = last;
    while (first > 0) {
      if (std::abs(e_[first - 1]) <= threshold_) {
        e_[first - 1] = 0;
        break;
      }
      --first;
    }
    return first;
  }

  // Whether an element above the diagonal became 0, so that the block falls apart; else a bound of
  // the least value and the largest element.
  bool separated(const View &view, double *least, double *most) {
    const int64_t n = view.count;
    if (std::abs(view.above(n - 1)) <= kTolerance * std::abs(view.diagonal(n))) {
      view.above(n - 1) = 0;
      return true;
    }
    double reach = std::abs(view.diagonal(0));
    *least = *most = reach;
    for (int64_t i = 0; i < n; ++i) {
      const double beside = std::abs(view.above(i)), next = std::abs(view.diagonal(i + 1));
      if (beside <= kTolerance * reach) {
        view.above(i) = 0;
        return true;
      }
      reach = next * (reach / (reach + beside));
      *least = std::min(*least, reach);
      *most = std::max({*most, beside, next});
    }
    return false;
  }

  // 0 where a shift would be lost in rounding, or the least value would.
  double shift_for(const View &view, double least, double most) const {
    if (static_cast<double>(n_) * kTolerance * (least / most) <=
        std::max(kEpsilon, 0.01 * kTolerance))
      return 0;
    const int64_t n = view.count;
    const double shift = smaller_value(view.diagonal(n - 1), view.above(n - 1), view.diagonal(n));
    const double start = std::abs(view.diagonal(0));
    if (start > 0 && (shift / start) * (shift / start) < kEpsilon) return 0;
    return shift;
  }

  void sweep(const View &view, double shift) {
    Sweep done{upward_, view.first, {}, {}};
    if (rotations_.wanted()) {
      done.columns.resize(static_cast<size_t>(view.count));
      done.rows.resize(static_cast<size_t>(view.count));
    }
    if (shift == 0) unshifted(view, &done);
    else shifted(view, shift, &done);
    double &end = view.above(view.count - 1);
    if (std::abs(end) <= threshold_) end = 0;
    if (rotations_.wanted()) rotations_.add(std::move(done));
  }

  static void note(Sweep *done, int64_t i, const Turn &column, const Turn &row) {
    if (done->rows.empty()) return;
    done->columns[static_cast<size_t>(i)] = column;
    done->rows[static_cast<size_t>(i)] = row;
  }

  static void unshifted(const View &view, Sweep *done) {
    Turn column{1, 0}, row{1, 0};
    double size = 0;
    for (int64_t i = 0; i < view.count; ++i) {
      column = turn_of(view.diagonal(i) * column.cosine, view.above(i), &size);
      if (i > 0) view.above(i - 1) = row.sine * size;
      row = turn_of(row.cosine * size, view.diagonal(i + 1) * column.sine, &view.diagonal(i));
      note(done, i, column, row);
    }
    const double end = view.diagonal(view.count) * column.cosine;
    view.diagonal(view.count) = end * row.cosine;
    view.above(view.count - 1) = end * row.sine;
  }

  static void shifted(const View &view, double shift, Sweep *done) {
    const double start = view.diagonal(0);
    double f = (std::abs(start) - shift) * (std::copysign(1.0, start) + shift / start);
    double g = view.above(0), size = 0;
    for (int64_t i = 0; i < view.count; ++i) {
      const Turn column = turn_of(f, g, &size);
      if (i > 0) view.above(i - 1) = size;
      double &own = view.diagonal(i), &next = view.diagonal(i + 1), &above = view.above(i);
      f = column.cosine * own + column.sine * above;
      above = column.cosine * above - column.sine * own;
      g = column.sine * next;
      next *= column.cosine;
      const Turn row = turn_of(f, g, &own);
      f = row.cosine * above + row.sine * next;
      next = row.cosine * next - row.sine * above;
      if (i + 1 < view.count) {
        g = row.sine * view.above(i + 1);
        view.above(i + 1) *= row.cosine;
      }
      note(done, i, column, row);
    }
    view.above(view.count - 1) = f;
  }

  const int64_t n_;
  double *const d_, *const e_;
  Rotations &rotations_;
  double threshold_ = 0;
  bool upward_ = false;
  int64_t block_first_ = -1, block_last_ = -1;
};

}  // namespace

bool diagonalise(std::vector<double> *diagonal, std::vector<double> *above,
                 const RotatedLines &left, const RotatedLines &right) {
  if (diagonal->empty()) return true;
  Rotations rotations(static_cast<int64_t>(diagonal->size()), left, right);
  return Iteration(diagonal, above, &rotations).run();
}

}  // namespace emu
