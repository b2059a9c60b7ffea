// SPDX-License-Identifier: Apache-2.0
// Recurrent networks of several layers in one or two directions: what their operators check, and
// what the kernels read and write. A layer's list members are those of its forward direction, then
// those of its reverse direction.
#pragma once

#include "ops/op.h"
#include "ops/rnn/layer.h"

namespace emu {

// How the rows of sequences of several lengths lie.
enum class RowPlaces : uint8_t {
  kEqual,   // all sequences are as long as the tensor
  kPadded,  // (times, batch), of which the first ones of each time count
  kPacked,  // only those that count, time after time
};

// Sizes that phase one found.
struct NetworkShape {
  const CellKind *cell = nullptr;
  RowPlaces places = RowPlaces::kEqual;
  int64_t layers = 1, directions = 1;
  bool bias = false, batch_first = false;
  int64_t times = 0, batch = 0, rows = 0, in = 0, hidden = 0;
  aclDataType dtype = ACL_FLOAT;

  int64_t runs() const { return layers * directions; }
  int64_t members() const { return bias ? 4 : 2; }       // of the list of parameters, for each run
  int64_t width() const { return directions * hidden; }  // of the output
  // Of a tensor with one row of `columns` values for each place; `flat`: rows are one dimension
  // when the sequences differ in length.
  Layout placed(int64_t columns, bool flat) const;
  Layout states() const;
};

// What the operators on lists have in common.
struct NetworkCall {
  const char *op;
  const CellKind *cell;
  const aclTensor *input;
  const aclTensorList *params;
  const aclTensor *sizes;
  const char *sizes_name;
  bool has_bias;
  int64_t layers;
  bool bidirectional, batch_first;
  RowPlaces with_sizes;  // what sizes mean
};

// Checks input, params and sizes, whose nulls and dtypes were checked, and finds the shape of the
// network; `batch` is the tensor that tells the batch of sequences of several lengths.
void check_network(Check &check, const NetworkCall &call, const char *batch_name,
                   const aclTensor *batch, NetworkShape *shape);
// Every member of a list: live, of the dtypes of the facts and of the dtype of input.
void check_members(Check &check, const char *name, const aclTensorList *list,
                   const aclTensor *input);
// One tensor per layer and direction, each of this shape.
void check_runs(Check &check, const char *name, const aclTensorList *list,
                const NetworkShape &shape, const Layout &expected);
// The shapes of the parameters, or of their gradients.
void check_params(Check &check, const char *name, const aclTensorList *list,
                  const NetworkShape &shape);

// A fault when the sizes do not describe the rows.
Status time_steps(const char *op, const char *sizes_name, const NetworkShape &shape,
                  const aclTensor *sizes, TimeSteps *steps);

// All elements of a tensor as float32; `swapped`: its first two dimensions exchanged.
Floats read_floats(const aclTensor &tensor, bool swapped = false);
// The same where they lie, or in `memory` if they do not lie ready.
const float *ready_floats(const aclTensor &tensor, Floats *memory);
void write_floats(const aclTensor &tensor, const Floats &values, bool swapped = false);
// Rounds to a dtype and back.
void round_floats(aclDataType dtype, Floats *values);
// Sets rows without a time to 0; a row has `width` values.
void clear_padding(const TimeSteps &steps, int64_t width, Floats *values);

// The parameters of one run, whose list begins at plan index `first`; `turned`: weights transposed.
LayerWeights read_weights(PlanContext &c, const NetworkShape &shape, size_t first, int64_t run,
                          bool turned);
void write_weights(PlanContext &c, const NetworkShape &shape, size_t first, int64_t run,
                   const LayerWeights &weights);

// What a forward operator has planned: indices of PlanContext.
struct ForwardPlan {
  const char *op = nullptr, *sizes_name = nullptr;
  NetworkShape shape;
  bool keeps = false;  // the planes are results
  size_t input = 0, sizes = 0, output = 0;
  size_t params = 0;
  size_t initial[kMostStates] = {}, last[kMostStates] = {};
  size_t planes[kMostPlanes] = {};  // lists
};
// Runs a network whose weights the caller has read, turned.
Status run_network(PlanContext &c, const ForwardPlan &plan,
                   const std::vector<LayerWeights> &weights);
Status run_network(PlanContext &c, const ForwardPlan &plan);

struct BackwardPlan {
  const char *op = nullptr, *sizes_name = nullptr;
  NetworkShape shape;
  size_t input = 0, sizes = 0, params = 0, y_slope = 0;
  size_t initial[kMostStates] = {}, last_slopes[kMostStates] = {};
  size_t planes[kMostPlanes] = {};
  size_t x_slope = 0, initial_slopes[kMostStates] = {}, param_slopes = 0;
};
Status run_network_gradient(PlanContext &c, const BackwardPlan &plan);

}  // namespace emu
