// SPDX-License-Identifier: Apache-2.0
// BidirectionLSTM and its second version, which the 310P has: one layer whose parameters are
// tensors of their own.
#include <memory>

#include "aclnnop/rnn.h"
#include "core/chip.h"
#include "ops/rnn/network.h"

namespace emu {
namespace {

struct BidirectionCall {
  const char *op;
  const aclTensor *x, *initial[2];
  const aclTensor *params[8];  // input, recurrent and their biases, then those of the way back
  const aclTensor *sizes;
  bool has_sizes;  // the operator has the parameter
  int64_t layers;
  bool bias, batch_first, both, packed;
  const aclTensor *y, *last[2];
};

constexpr const char *kParams[] = {"wIh",
                                   "wHh",
                                   "bIhOptional",
                                   "bHhOptional",
                                   "wIhReverseOptional",
                                   "wHhReverseOptional",
                                   "bIhReverseOptional",
                                   "bHhReverseOptional"};

// Whether the network has the parameter at this position of kParams.
bool takes(const BidirectionCall &a, size_t position) {
  return (a.both || position < 4) && (a.bias || position % 4 < 2);
}

void check_bidirection(Check &check, const BidirectionCall &a, NetworkShape *shape) {
  check.tiling();
  check.that(a.layers == 1, "numLayers is %lld; allowed: 1", static_cast<long long>(a.layers));
  check.that(!a.batch_first, "batchFirst is true; allowed: false");
  for (size_t i = 0; i < 8; ++i) {
    check.that(!takes(a, i) || a.params[i] != nullptr, "%s is null, and %s asks for it", kParams[i],
               i % 4 < 2 ? "bidirection" : "isbias");
  }
  const bool packed = a.sizes != nullptr && a.packed;
  check.rank("x", a.x, packed ? 2 : 3, packed ? 2 : 3).rank("initH", a.initial[0], 3, 3);
  check.rank("wHh", a.params[1], 2, 2).rank("batchSizeOptional", a.sizes, 1, 1);
  if (!check.ok()) return;
  shape->cell = &kLstm;
  shape->directions = a.both ? 2 : 1;
  shape->bias = a.bias;
  shape->dtype = a.x->dtype;
  shape->in = a.x->shape.back();
  shape->hidden = a.params[1]->shape[1];
  shape->batch = a.initial[0]->shape[1];
  if (a.sizes != nullptr) shape->places = packed ? RowPlaces::kPacked : RowPlaces::kPadded;
  shape->times = packed ? a.sizes->shape[0] : a.x->shape[0];
  shape->rows = packed ? a.x->shape[0] : check.size("x", Checked(shape->times) * shape->batch);
  check.size("wHh", Checked(shape->hidden) * shape->directions);
  const int64_t width = check.size("wHh", Checked(shape->hidden) * 4);
  check.size("x", Checked(shape->rows) * shape->in * 64);
  check.size("x", Checked(shape->rows) * shape->hidden * 512);
  check.size("x", Checked(shape->batch) * shape->hidden * 512);
  if (!check.ok()) return;
  const int64_t weights[2][2] = {{width, shape->in}, {width, shape->hidden}};
  for (size_t i = 0; i < 8; ++i) {
    if (!takes(a, i)) continue;
    check.shape(kParams[i], a.params[i],
                i % 4 < 2 ? dense_layout(weights[i % 4], 2) : dense_layout(&width, 1));
  }
  check.shape("x", a.x, shape->placed(shape->in, false));
  if (a.sizes != nullptr) check.shape("batchSizeOptional", a.sizes, dense_layout(&shape->times, 1));
  check.shape("initH", a.initial[0], shape->states()).shape("initC", a.initial[1], shape->states());
  check.shape("yOut", a.y, shape->placed(shape->width(), false));
  check.shape("outputHOut", a.last[0], shape->states());
  check.shape("outputCOut", a.last[1], shape->states());
}

// The parameters from plan indices of their own.
std::vector<LayerWeights> gather_weights(PlanContext &c, const NetworkShape &shape, size_t first) {
  std::vector<LayerWeights> weights;
  for (size_t run = 0; run < static_cast<size_t>(shape.directions); ++run) {
    const size_t member = first + 4 * run;
    LayerWeights w;
    w.in = shape.in;
    w.hidden = shape.hidden;
    w.input = read_floats(c.tensor(member), true);
    w.recurrent = read_floats(c.tensor(member + 1), true);
    if (shape.bias) {
      w.input_bias = read_floats(c.tensor(member + 2));
      w.recurrent_bias = read_floats(c.tensor(member + 3));
    }
    weights.push_back(std::move(w));
  }
  return weights;
}

Status plan_bidirection(const BidirectionCall &a, uint64_t *workspace_size,
                        aclOpExecutor **executor) {
  Check check(a.op);
  const struct {
    const char *name;
    const aclTensor *tensor;
  } required[] = {{"x", a.x},
                  {"initH", a.initial[0]},
                  {"initC", a.initial[1]},
                  {"wIh", a.params[0]},
                  {"wHh", a.params[1]},
                  {"yOut", a.y},
                  {"outputHOut", a.last[0]},
                  {"outputCOut", a.last[1]}};
  for (const auto &one : required) check.required(one.name, one.tensor);
  for (size_t i = 2; i < 8; ++i) check.optional(kParams[i], a.params[i]);
  check.optional("batchSizeOptional", a.sizes);
  check.that(chip_is_310p(),
             "the chip is %s; only the 310P has this operator, which "
             "ACLNN_PY_EMULATOR_SOC=Ascend310P3 emulates",
             soc_name());
  for (const auto &one : required) check.dtype(one.name, one.tensor);
  for (size_t i = 2; i < 8; ++i) check.dtype(kParams[i], a.params[i]);
  check.dtype("batchSizeOptional", a.sizes);
  if (!check.ok()) return check.status();
  ForwardPlan p;
  check_bidirection(check, a, &p.shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
  p.op = a.op;
  p.sizes_name = "batchSizeOptional";
  p.input = plan.input(a.x);
  for (size_t s = 0; s < 2; ++s) p.initial[s] = plan.input(a.initial[s]);
  for (size_t i = 0; i < 8; ++i) {
    const size_t at = takes(a, i) ? plan.input(a.params[i]) : plan.unused(a.params[i]);
    if (i == 0) p.params = at;
  }
  if (a.has_sizes) p.sizes = plan.input(a.sizes);
  p.output = plan.output(a.y);
  for (size_t s = 0; s < 2; ++s) p.last[s] = plan.output(a.last[s]);
  const auto shared = std::make_shared<const ForwardPlan>(p);
  return plan.finish(
      [shared](PlanContext &c) {
        return run_network(c, *shared, gather_weights(c, shared->shape, shared->params));
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(BidirectionLSTM,
             (const aclTensor *x, const aclTensor *initH, const aclTensor *initC,
              const aclTensor *wIh, const aclTensor *wHh, const aclTensor *bIhOptional,
              const aclTensor *bHhOptional, const aclTensor *wIhReverseOptional,
              const aclTensor *wHhReverseOptional, const aclTensor *bIhReverseOptional,
              const aclTensor *bHhReverseOptional, int64_t numLayers, bool isbias, bool batchFirst,
              bool bidirection, aclTensor *yOut, aclTensor *outputHOut, aclTensor *outputCOut)) {
  return emu::plan_bidirection({"aclnnBidirectionLSTM",
                                x,
                                {initH, initC},
                                {wIh, wHh, bIhOptional, bHhOptional, wIhReverseOptional,
                                 wHhReverseOptional, bIhReverseOptional, bHhReverseOptional},
                                nullptr,
                                false,
                                numLayers,
                                isbias,
                                batchFirst,
                                bidirection,
                                false,
                                yOut,
                                {outputHOut, outputCOut}},
                               workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(BidirectionLSTMV2,
             (const aclTensor *x, const aclTensor *initH, const aclTensor *initC,
              const aclTensor *wIh, const aclTensor *wHh, const aclTensor *bIhOptional,
              const aclTensor *bHhOptional, const aclTensor *wIhReverseOptional,
              const aclTensor *wHhReverseOptional, const aclTensor *bIhReverseOptional,
              const aclTensor *bHhReverseOptional, const aclTensor *batchSizeOptional,
              int64_t numLayers, bool isbias, bool batchFirst, bool bidirection, bool packed,
              aclTensor *yOut, aclTensor *outputHOut, aclTensor *outputCOut)) {
  return emu::plan_bidirection({"aclnnBidirectionLSTMV2",
                                x,
                                {initH, initC},
                                {wIh, wHh, bIhOptional, bHhOptional, wIhReverseOptional,
                                 wHhReverseOptional, bIhReverseOptional, bHhReverseOptional},
                                batchSizeOptional,
                                true,
                                numLayers,
                                isbias,
                                batchFirst,
                                bidirection,
                                packed,
                                yOut,
                                {outputHOut, outputCOut}},
                               workspaceSize, executor);
}
EMU_CATCH
