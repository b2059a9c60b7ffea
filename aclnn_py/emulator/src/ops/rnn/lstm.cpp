// SPDX-License-Identifier: Apache-2.0
// LSTM and LstmBackward: gates in the order i, f, g, o of the rows of the weights.
#include <memory>

#include "aclnnop/rnn.h"
#include "ops/rnn/network.h"

namespace emu {
namespace {

struct NamedList {
  const char *name;
  const aclTensorList *list;
};
struct NamedTensor {
  const char *name;
  const aclTensor *tensor;
};

// Two states, or none where the list is absent or empty.
bool has_states(const aclTensorList *hx) { return hx != nullptr && !hx->members.empty(); }

void check_states(Check &check, const char *name, const aclTensorList *hx,
                  const NetworkShape &shape) {
  if (!check.ok() || !has_states(hx)) return;
  check.that(hx->members.size() == 2, "%s has %zu tensors; expected 2, the hidden and cell states",
             name, hx->members.size());
  for (size_t i = 0; check.ok() && i < 2; ++i) check.shape(name, hx->members[i], shape.states());
}

void check_same(Check &check, const NamedTensor &one, const aclTensor *input) {
  if (!check.ok() || one.tensor == nullptr) return;
  check.dtype(one.name, one.tensor);
  if (check.ok()) check.same_dtype(one.name, one.tensor->dtype, "input", input->dtype);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(LSTM,
             (const aclTensor *input, const aclTensorList *params, const aclTensorList *hxOptional,
              const aclTensor *batchSizesOptional, bool hasBias, int64_t numLayers, double dropout,
              bool train, bool bidirectional, bool batchFirst, aclTensor *output, aclTensor *hy,
              aclTensor *cy, aclTensorList *iOut, aclTensorList *jOut, aclTensorList *fOut,
              aclTensorList *oOut, aclTensorList *hOut, aclTensorList *cOut,
              aclTensorList *tanhCOut)) {
  using namespace emu;
  (void)dropout;  // the documents: not supported yet
  Check check("aclnnLSTM");
  const NamedList kept[] = {{"iOut", iOut}, {"jOut", jOut}, {"fOut", fOut},        {"oOut", oOut},
                            {"hOut", hOut}, {"cOut", cOut}, {"tanhCOut", tanhCOut}};
  const NamedTensor results[] = {{"output", output}, {"hy", hy}, {"cy", cy}};
  check.required("input", input).required("params", params).optional("hxOptional", hxOptional);
  check.optional("batchSizesOptional", batchSizesOptional);
  for (const NamedTensor &one : results) check.required(one.name, one.tensor);
  for (const NamedList &one : kept) {
    if (train) check.required(one.name, one.list);
    else check.optional(one.name, one.list);
  }
  check.dtype("input", input).dtype("batchSizesOptional", batchSizesOptional);
  if (!check.ok()) return check.status();
  check_members(check, "params", params, input);
  if (hxOptional != nullptr) check_members(check, "hxOptional", hxOptional, input);
  for (const NamedTensor &one : results) check_same(check, one, input);
  for (const NamedList &one : kept) {
    if (one.list != nullptr) check_members(check, one.name, one.list, input);
  }
  ForwardPlan p;
  check_network(check,
                {"aclnnLSTM", &kLstm, input, params, batchSizesOptional, "batchSizesOptional",
                 hasBias, numLayers, bidirectional, batchFirst, RowPlaces::kPadded},
                "hy", hy, &p.shape);
  if (!check.ok()) return check.status();
  check_states(check, "hxOptional", hxOptional, p.shape);
  check.shape("output", output, p.shape.placed(p.shape.width(), false));
  check.shape("hy", hy, p.shape.states()).shape("cy", cy, p.shape.states());
  if (!check.ok()) return check.status();
  // Planes are as the output of one direction, with the times in front.
  NetworkShape plane = p.shape;
  plane.batch_first = false;
  for (const NamedList &one : kept) {
    if (train) check_runs(check, one.name, one.list, plane, plane.placed(plane.hidden, false));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnLSTM");
  p.op = "aclnnLSTM";
  p.sizes_name = "batchSizesOptional";
  p.keeps = train;
  p.input = plan.input(input);
  p.params = plan.input_list(params);
  const size_t states = plan.input_list(hxOptional);
  for (size_t s = 0; s < 2; ++s) {
    p.initial[s] = has_states(hxOptional) ? states + s : plan.input_if(nullptr);
  }
  p.sizes = plan.input(batchSizesOptional);
  p.output = plan.output(output);
  p.last[0] = plan.output(hy);
  p.last[1] = plan.output(cy);
  for (size_t i = 0; i < std::size(kept); ++i) {
    p.planes[i] = train ? plan.output_list(kept[i].list) : plan.unused_list(kept[i].list);
  }
  const auto shared = std::make_shared<const ForwardPlan>(p);
  return plan.finish([shared](PlanContext &c) { return run_network(c, *shared); }, workspaceSize,
                     executor);
}
EMU_CATCH

EMU_OPERATOR(LstmBackward,
             (const aclTensor *input, const aclTensorList *hx, const aclTensorList *params,
              const aclTensor *dyOptional, const aclTensor *dhOptional, const aclTensor *dcOptional,
              const aclTensorList *i, const aclTensorList *g, const aclTensorList *f,
              const aclTensorList *o, const aclTensorList *h, const aclTensorList *c,
              const aclTensorList *tanhc, const aclTensor *batchSizesOptional, bool hasBias,
              int64_t numLayers, double dropout, bool train, bool bidirectional, bool batchFirst,
              const aclBoolArray *outputMaskOptional, aclTensor *dxOut, aclTensor *dhPrevOut,
              aclTensor *dcPrevOut, aclTensorList *dparamsOut)) {
  using namespace emu;
  (void)dropout;             // as in the forward operator
  (void)train;               // the gates were kept, or there would be no gradient
  (void)outputMaskOptional;  // the documents: not supported yet, all gradients are made
  Check check("aclnnLstmBackward");
  const NamedList kept[] = {{"i", i}, {"g", g}, {"f", f},        {"o", o},
                            {"h", h}, {"c", c}, {"tanhc", tanhc}};
  const NamedTensor slopes[] = {
      {"dyOptional", dyOptional}, {"dhOptional", dhOptional}, {"dcOptional", dcOptional}};
  const NamedTensor results[] = {
      {"dxOut", dxOut}, {"dhPrevOut", dhPrevOut}, {"dcPrevOut", dcPrevOut}};
  check.required("input", input).required("hx", hx).required("params", params);
  for (const NamedTensor &one : slopes) check.optional(one.name, one.tensor);
  for (const NamedList &one : kept) check.required(one.name, one.list);
  check.optional("batchSizesOptional", batchSizesOptional);
  for (const NamedTensor &one : results) check.required(one.name, one.tensor);
  check.required("dparamsOut", dparamsOut);
  check.dtype("input", input).dtype("batchSizesOptional", batchSizesOptional);
  if (!check.ok()) return check.status();
  check_members(check, "hx", hx, input);
  check_members(check, "params", params, input);
  for (const NamedTensor &one : slopes) check_same(check, one, input);
  for (const NamedList &one : kept) check_members(check, one.name, one.list, input);
  for (const NamedTensor &one : results) check_same(check, one, input);
  check_members(check, "dparamsOut", dparamsOut, input);
  if (!check.ok()) return check.status();
  check.that(hx->members.size() == 2, "hx has %zu tensors; expected 2, the hidden and cell states",
             hx->members.size());
  if (!check.ok()) return check.status();
  BackwardPlan p;
  check_network(
      check,
      {"aclnnLstmBackward", &kLstm, input, params, batchSizesOptional, "batchSizesOptional",
       hasBias, numLayers, bidirectional, batchFirst, RowPlaces::kPadded},
      "hx[0]", hx->members[0], &p.shape);
  if (!check.ok()) return check.status();
  const NetworkShape &shape = p.shape;
  check_states(check, "hx", hx, shape);
  check.shape("dyOptional", dyOptional, shape.placed(shape.width(), true));
  check.shape("dhOptional", dhOptional, shape.states());
  check.shape("dcOptional", dcOptional, shape.states());
  NetworkShape plane = shape;
  plane.batch_first = false;
  for (const NamedList &one : kept) {
    check_runs(check, one.name, one.list, plane, plane.placed(plane.hidden, false));
  }
  check.shape("dxOut", dxOut, layout_of(*input));
  check.shape("dhPrevOut", dhPrevOut, shape.states());
  check.shape("dcPrevOut", dcPrevOut, shape.states());
  check_params(check, "dparamsOut", dparamsOut, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnLstmBackward");
  p.op = "aclnnLstmBackward";
  p.sizes_name = "batchSizesOptional";
  p.input = plan.input(input);
  p.initial[0] = plan.input_list(hx);
  p.initial[1] = p.initial[0] + 1;
  p.params = plan.input_list(params);
  p.y_slope = plan.input(dyOptional);
  p.last_slopes[0] = plan.input(dhOptional);
  p.last_slopes[1] = plan.input(dcOptional);
  for (size_t k = 0; k < std::size(kept); ++k) p.planes[k] = plan.input_list(kept[k].list);
  p.sizes = plan.input(batchSizesOptional);
  p.x_slope = plan.output(dxOut);
  p.initial_slopes[0] = plan.output(dhPrevOut);
  p.initial_slopes[1] = plan.output(dcPrevOut);
  p.param_slopes = plan.output_list(dparamsOut);
  const auto shared = std::make_shared<const BackwardPlan>(p);
  return plan.finish(
      [shared](PlanContext &context) { return run_network_gradient(context, *shared); },
      workspaceSize, executor);
}
EMU_CATCH
