// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/rnn/network.h"

#include <algorithm>
#include <utility>

#include "ops/shared/rows.h"

namespace emu {
namespace {

size_t at(int64_t n) { return static_cast<size_t>(n); }

View floats_view(const aclTensor &tensor, bool swapped) {
  View view = view_of(tensor);
  if (swapped) {
    std::swap(view.layout.shape[0], view.layout.shape[1]);
    std::swap(view.layout.stride[0], view.layout.stride[1]);
  }
  return view;
}

View dense_floats(float *values, const Layout &shape) {
  return {reinterpret_cast<char *>(values), ACL_FLOAT, dense_like(shape)};
}

std::vector<int64_t> read_sizes(const aclTensor &sizes) {
  std::vector<int64_t> values(at(sizes.numel()));
  RowSource<int64_t>(view_of(sizes)).read(0, sizes.numel(), values.data());
  return values;
}

// The states of one run out of those of all, or zeros.
Floats states_of(const NetworkShape &shape, const std::vector<Floats> &all, int64_t run) {
  const int64_t length = shape.batch * shape.hidden;
  Floats states(at(shape.cell->states * length));
  for (int s = 0; s < shape.cell->states; ++s) {
    if (all[at(s)].empty()) continue;
    std::copy_n(all[at(s)].data() + run * length, length, states.data() + s * length);
  }
  return states;
}

void keep_states(const NetworkShape &shape, const Floats &states, int64_t run,
                 std::vector<Floats> *all) {
  const int64_t length = shape.batch * shape.hidden;
  for (int s = 0; s < shape.cell->states; ++s) {
    std::copy_n(states.data() + s * length, length, (*all)[at(s)].data() + run * length);
  }
}

std::vector<Floats> read_states(PlanContext &c, const NetworkShape &shape, const size_t *indices) {
  std::vector<Floats> all(at(shape.cell->states));
  for (int s = 0; s < shape.cell->states; ++s) {
    if (c.has(indices[s])) all[at(s)] = read_floats(c.tensor(indices[s]));
  }
  return all;
}

std::vector<Floats> blank_states(const NetworkShape &shape) {
  return std::vector<Floats>(at(shape.cell->states),
                             Floats(at(shape.runs() * shape.batch * shape.hidden)));
}

void write_states(PlanContext &c, const NetworkShape &shape, const size_t *indices,
                  const std::vector<Floats> &all) {
  for (int s = 0; s < shape.cell->states; ++s) write_floats(c.tensor(indices[s]), all[at(s)]);
}

// Hidden states of one direction into their columns of the output of a layer.
void place_columns(const NetworkShape &shape, const Floats &hidden, int64_t direction,
                   Floats *output) {
  for (int64_t r = 0; r < shape.rows; ++r) {
    std::copy_n(hidden.data() + r * shape.hidden, shape.hidden,
                output->data() + r * shape.width() + direction * shape.hidden);
  }
}

}  // namespace

Status time_steps(const char *op, const char *sizes_name, const NetworkShape &shape,
                  const aclTensor *sizes, TimeSteps *steps) {
  steps->rows = shape.rows;
  steps->batch = shape.batch;
  if (shape.places == RowPlaces::kEqual) {
    if (shape.rows == 0 || shape.hidden == 0) return 0;
    steps->count.assign(at(shape.times), shape.batch);
    for (int64_t t = 0; t < shape.times; ++t) steps->first.push_back(t * shape.batch);
    return 0;
  }
  steps->count = read_sizes(*sizes);
  int64_t highest = shape.batch, row = 0;
  for (size_t t = 0; t < steps->count.size(); ++t) {
    const int64_t count = steps->count[t];
    const int64_t lowest = t == 0 ? shape.batch : 1;
    if (count < lowest || count > highest) {
      return fail(kKernelFault, "%s: %s[%zu] is %lld; allowed: %lld to %lld", op, sizes_name, t,
                  static_cast<long long>(count), static_cast<long long>(lowest),
                  static_cast<long long>(highest));
    }
    highest = count;
    steps->first.push_back(row);
    row += shape.places == RowPlaces::kPadded ? shape.batch : count;
    if (row > shape.rows) break;
  }
  if (row != shape.rows) {
    return fail(kKernelFault, "%s: %s names another number of rows than the %lld of the input", op,
                sizes_name, static_cast<long long>(shape.rows));
  }
  if (shape.hidden == 0) *steps = {{}, {}, shape.rows, shape.batch};
  return 0;
}

Floats read_floats(const aclTensor &tensor, bool swapped) {
  const View view = floats_view(tensor, swapped);
  Floats values(at(view.count()));
  if (!values.empty()) copy_view(view, dense_floats(values.data(), view.layout));
  return values;
}

const float *ready_floats(const aclTensor &tensor, Floats *memory) {
  const View view = view_of(tensor);
  if (view.dtype == ACL_FLOAT && view.layout.is_dense())
    return reinterpret_cast<const float *>(view.data);
  *memory = read_floats(tensor);
  return memory->data();
}

void write_floats(const aclTensor &tensor, const Floats &values, bool swapped) {
  const View view = floats_view(tensor, swapped);
  // Only read.
  auto *from = const_cast<float *>(values.data());
  if (!values.empty()) copy_view(dense_floats(from, view.layout), view);
}

void round_floats(aclDataType dtype, Floats *values) {
  if (dtype == ACL_FLOAT) return;
  const int64_t size = item_size(dtype);
  char narrow[kBlock * 8];
  for (size_t i = 0; i < values->size(); i += kBlock) {
    const auto count = static_cast<int64_t>(std::min(values->size() - i, size_t{kBlock}));
    store_as(dtype, narrow, size, count, Compute::F32, values->data() + i);
    load_as(dtype, narrow, size, count, ACL_FLOAT, values->data() + i);
  }
}

void clear_padding(const TimeSteps &steps, int64_t width, Floats *values) {
  for (int64_t t = 0; t < steps.times(); ++t) {
    const int64_t begin = steps.first[at(t)] + steps.count[at(t)];
    const int64_t end = t + 1 < steps.times() ? steps.first[at(t + 1)] : steps.rows;
    std::fill(values->begin() + begin * width, values->begin() + end * width, 0.0f);
  }
}

LayerWeights read_weights(PlanContext &c, const NetworkShape &shape, size_t first, int64_t run,
                          bool turned) {
  const size_t member = first + at(run * shape.members());
  LayerWeights w;
  w.in = run < shape.directions ? shape.in : shape.width();
  w.hidden = shape.hidden;
  w.input = read_floats(c.tensor(member), turned);
  w.recurrent = read_floats(c.tensor(member + 1), turned);
  if (shape.bias) {
    w.input_bias = read_floats(c.tensor(member + 2));
    w.recurrent_bias = read_floats(c.tensor(member + 3));
  }
  return w;
}

void write_weights(PlanContext &c, const NetworkShape &shape, size_t first, int64_t run,
                   const LayerWeights &w) {
  const size_t member = first + at(run * shape.members());
  write_floats(c.tensor(member), w.input);
  write_floats(c.tensor(member + 1), w.recurrent);
  if (shape.bias) {
    write_floats(c.tensor(member + 2), w.input_bias);
    write_floats(c.tensor(member + 3), w.recurrent_bias);
  }
}

Status run_network(PlanContext &c, const ForwardPlan &plan) {
  std::vector<LayerWeights> weights;
  for (int64_t run = 0; run < plan.shape.runs(); ++run) {
    weights.push_back(read_weights(c, plan.shape, plan.params, run, true));
  }
  return run_network(c, plan, weights);
}

Status run_network(PlanContext &c, const ForwardPlan &plan,
                   const std::vector<LayerWeights> &weights) {
  const NetworkShape &shape = plan.shape;
  TimeSteps steps;
  const aclTensor *sizes = shape.places == RowPlaces::kEqual ? nullptr : &c.tensor(plan.sizes);
  const Status status = time_steps(plan.op, plan.sizes_name, shape, sizes, &steps);
  if (status != 0) return status;
  Floats x = read_floats(c.tensor(plan.input), shape.batch_first);
  const std::vector<Floats> initial = read_states(c, shape, plan.initial);
  std::vector<Floats> last = blank_states(shape);
  // Results are written when everything has been read: they may lie where an operand does.
  std::vector<std::vector<Floats>> kept(at(shape.runs()));
  for (int64_t run = 0; run < shape.runs(); run += shape.directions) {
    Floats output(at(shape.rows * shape.width()));
    for (int64_t d = 0; d < shape.directions; ++d) {
      std::vector<Floats> planes;
      Floats states;
      const Floats begin = states_of(shape, initial, run + d);
      run_layer(
          {shape.cell, &steps, d == 1, &weights[at(run + d)], x.data(), begin.data(), plan.keeps},
          &planes, &states);
      keep_states(shape, states, run + d, &last);
      place_columns(shape, planes[at(shape.cell->state_plane[0])], d, &output);
      if (plan.keeps) kept[at(run + d)] = std::move(planes);
    }
    round_floats(shape.dtype, &output);
    x = std::move(output);
  }
  write_floats(c.tensor(plan.output), x, shape.batch_first);
  write_states(c, shape, plan.last, last);
  for (size_t run = 0; plan.keeps && run < kept.size(); ++run) {
    for (int p = 0; p < shape.cell->planes; ++p) {
      write_floats(c.tensor(plan.planes[p] + run), kept[run][at(p)]);
    }
  }
  return 0;
}

}  // namespace emu
