// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/rnn/layer.h"

#include <algorithm>

#include "core/pool.h"
#include "ops/matmul/gemm_ready.h"

namespace emu {
namespace {

size_t at(int64_t n) { return static_cast<size_t>(n); }

Matrix matrix(const float *data, int64_t rows, int64_t columns, int64_t stride) {
  Matrix m;
  m.data = data;
  m.rows = rows;
  m.cols = columns;
  m.row.stride = stride;
  m.col.stride = 1;
  return m;
}
Matrix matrix(const float *data, int64_t rows, int64_t columns) {
  return matrix(data, rows, columns, columns);
}

// a @ b, plus a row where one is given.
template <class Right>
void multiply(const Matrix &a, const Right &b, int64_t columns, const Floats &bias, float *to) {
  GemmEpilogue epilogue;
  if (!bias.empty()) epilogue.bias = matrix(bias.data(), 1, columns);
  gemm(a, b, {to, ACL_FLOAT, columns, 1}, epilogue);
}

// The sum over the rows.
Floats column_sums(const Floats &values, int64_t rows, int64_t columns, int64_t stride) {
  std::vector<double> sums(at(columns));
  for (int64_t r = 0; r < rows; ++r) {
    for (int64_t c = 0; c < columns; ++c) sums[at(c)] += double{values[at(r * stride + c)]};
  }
  return Floats(sums.begin(), sums.end());
}

// Where the states before each step lie.
class Before {
 public:
  // `planes` gives where each of them begins.
  template <class Planes>
  Before(const LayerCall &call, Planes planes) : call_(call) {
    for (int s = 0; s < call.cell->states; ++s) planes_[s] = planes(call.cell->state_plane[s]);
  }

  // The time before `time`, -1 in front of the first.
  int64_t time(int64_t time) const {
    if (!call_.reverse) return time - 1;
    return time + 1 < call_.steps->times() ? time + 1 : -1;
  }
  const float *state(int which, int64_t now, int64_t sequence) const {
    const TimeSteps &steps = *call_.steps;
    const int64_t size = call_.weights->hidden, then = time(now);
    if (then < 0 || sequence >= steps.count[at(then)]) {
      return call_.initial + (which * steps.batch + sequence) * size;
    }
    return planes_[which] + (steps.first[at(then)] + sequence) * size;
  }

 private:
  const LayerCall &call_;
  const float *planes_[kMostStates] = {};  // of the states
};

// Hidden states before a time, as the rows of a matrix.
void gather_hidden(const Before &before, int64_t time, int64_t count, int64_t size, float *to) {
  for (int64_t b = 0; b < count; ++b) std::copy_n(before.state(0, time, b), size, to + b * size);
}

int64_t time_in_order(const TimeSteps &steps, int64_t place, bool backwards) {
  return backwards ? steps.times() - 1 - place : place;
}

int64_t rows_at_once(int64_t size) {
  return std::max<int64_t>(1, 2048 / std::max<int64_t>(1, size));
}

}  // namespace

void run_layer(const LayerCall &call, std::vector<Floats> *planes, Floats *last) {
  const CellKind &cell = *call.cell;
  const TimeSteps &steps = *call.steps;
  const LayerWeights &w = *call.weights;
  const int64_t size = w.hidden, width = cell.gates * size;
  // A plane that nobody keeps has room for one time.
  bool whole[kMostPlanes];
  for (int p = 0; p < cell.planes; ++p) {
    whole[p] = call.keeps || std::count(cell.state_plane, cell.state_plane + cell.states, p) > 0;
    planes->emplace_back(at((whole[p] ? steps.rows : steps.batch) * size));
  }
  last->assign(call.initial, call.initial + cell.states * steps.batch * size);
  if (steps.times() == 0) return;
  Floats input(at(steps.rows * width)), hidden(at(steps.batch * width)),
      gathered(at(steps.batch * size));
  multiply(matrix(call.x, steps.rows, w.in), matrix(w.input.data(), w.in, width), width,
           w.input_bias, input.data());
  const Before before(call, [&](int p) { return (*planes)[at(p)].data(); });
  const ReadyColumns recurrent(matrix(w.recurrent.data(), size, width), steps.batch);
  for (int64_t place = 0; place < steps.times(); ++place) {
    const int64_t time = time_in_order(steps, place, call.reverse);
    const int64_t first = steps.first[at(time)], count = steps.count[at(time)];
    gather_hidden(before, time, count, size, gathered.data());
    multiply(matrix(gathered.data(), count, size), recurrent, width, w.recurrent_bias,
             hidden.data());
    parallel_for(count, rows_at_once(size), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const float *states[kMostStates];
        float *row[kMostPlanes];
        for (int s = 0; s < cell.states; ++s) states[s] = before.state(s, time, b);
        for (int p = 0; p < cell.planes; ++p) {
          row[p] = (*planes)[at(p)].data() + (whole[p] ? first + b : b) * size;
        }
        cell.forward(
            {size, input.data() + (first + b) * width, hidden.data() + b * width, states, row});
      }
    });
    for (int s = 0; s < cell.states; ++s) {
      const Floats &plane = (*planes)[at(cell.state_plane[s])];
      std::copy_n(plane.data() + first * size, count * size, last->data() + s * steps.batch * size);
    }
  }
}

void run_layer_gradient(const LayerCall &call, const std::vector<const float *> &planes,
                        const float *y_slope, int64_t y_stride, Floats *states, float *x_slope,
                        LayerWeights *slopes) {
  const CellKind &cell = *call.cell;
  const TimeSteps &steps = *call.steps;
  const LayerWeights &w = *call.weights;
  const int64_t size = w.hidden, width = cell.gates * size;
  // Rows do not lie a multiple of a page apart, where they would share a few cache sets.
  const int64_t line = width + 16;
  Floats input(at(steps.rows * line)), other, before_all(at(steps.rows * size)),
      product(at(steps.batch * size));
  if (!cell.equal_products) other.resize(input.size());
  Floats &hidden = cell.equal_products ? input : other;
  const Before before(call, [&](int p) { return planes[at(p)]; });
  const ReadyColumns recurrent(matrix(w.recurrent.data(), width, size), steps.batch);
  for (int64_t place = 0; place < steps.times(); ++place) {
    const int64_t time = time_in_order(steps, place, !call.reverse);
    const int64_t first = steps.first[at(time)], count = steps.count[at(time)];
    gather_hidden(before, time, count, size, before_all.data() + first * size);
    parallel_for(count, rows_at_once(size), [&](int64_t begin, int64_t end) {
      for (int64_t b = begin; b < end; ++b) {
        const float *then[kMostStates], *row[kMostPlanes];
        float *slope[kMostStates];
        for (int s = 0; s < cell.states; ++s) {
          then[s] = before.state(s, time, b);
          slope[s] = states->data() + (s * steps.batch + b) * size;
        }
        for (int p = 0; p < cell.planes; ++p) row[p] = planes[at(p)] + (first + b) * size;
        const float *given = y_slope + (first + b) * y_stride;
        for (int64_t i = 0; i < size; ++i) slope[0][i] += given[i];
        cell.backward({size, then, row, slope, input.data() + (first + b) * line,
                       hidden.data() + (first + b) * line});
      }
    });
    multiply(matrix(hidden.data() + first * line, count, width, line), recurrent, size, {},
             product.data());
    for (int64_t i = 0; i < count * size; ++i) (*states)[at(i)] += product[at(i)];
  }
  slopes->in = w.in;
  slopes->hidden = size;
  slopes->input.resize(w.input.size());
  slopes->recurrent.resize(w.recurrent.size());
  const Matrix input_slopes = matrix(input.data(), steps.rows, width, line),
               hidden_slopes = matrix(hidden.data(), steps.rows, width, line);
  multiply(input_slopes.transposed(), matrix(call.x, steps.rows, w.in), w.in, {},
           slopes->input.data());
  multiply(hidden_slopes.transposed(), matrix(before_all.data(), steps.rows, size), size, {},
           slopes->recurrent.data());
  slopes->input_bias = column_sums(input, steps.rows, width, line);
  slopes->recurrent_bias =
      cell.equal_products ? slopes->input_bias : column_sums(hidden, steps.rows, width, line);
  GemmEpilogue sum;
  sum.addend = matrix(x_slope, steps.rows, w.in);
  gemm(input_slopes, matrix(w.input.data(), width, w.in), {x_slope, ACL_FLOAT, w.in, 1}, sum);
}

}  // namespace emu
