// SPDX-License-Identifier: Apache-2.0
// GRU and GRUBackward: gates in the order r, z, n of the rows of the weights.
#include <memory>

#include "aclnnop/rnn.h"
#include "ops/rnn/network.h"

EMU_OPERATOR(GRU,
             (const aclTensor *input, const aclTensorList *params, const aclTensor *hxOptional,
              const aclTensor *batchSizesOptional, bool hasBias, int64_t numLayers, double dropout,
              bool train, bool bidirection, bool batchFirst, aclTensor *output, aclTensor *hy,
              aclTensorList *rOutOptional, aclTensorList *zOutOptional, aclTensorList *nOutOptional,
              aclTensorList *hnOutOptional, aclTensorList *hOutOptional)) {
  using namespace emu;
  (void)dropout;  // the documents: any value changes nothing
  Check check("aclnnGRU");
  const struct {
    const char *name;
    const aclTensorList *list;
  } kept[] = {{"rOutOptional", rOutOptional},
              {"zOutOptional", zOutOptional},
              {"nOutOptional", nOutOptional},
              {"hnOutOptional", hnOutOptional},
              {"hOutOptional", hOutOptional}};
  check.required("input", input).required("params", params).optional("hxOptional", hxOptional);
  check.optional("batchSizesOptional", batchSizesOptional);
  check.required("output", output).required("hy", hy);
  for (const auto &one : kept) {
    if (train) check.required(one.name, one.list);
    else check.optional(one.name, one.list);
  }
  check.dtype("input", input).dtype("hxOptional", hxOptional);
  check.dtype("batchSizesOptional", batchSizesOptional).dtype("output", output).dtype("hy", hy);
  if (!check.ok()) return check.status();
  check_members(check, "params", params, input);
  if (hxOptional != nullptr) {
    check.same_dtype("hxOptional", hxOptional->dtype, "input", input->dtype);
  }
  check.same_dtype("output", output->dtype, "input", input->dtype);
  check.same_dtype("hy", hy->dtype, "input", input->dtype);
  for (const auto &one : kept) {
    if (one.list != nullptr) check_members(check, one.name, one.list, input);
  }
  ForwardPlan p;
  check_network(check,
                {"aclnnGRU", &kGru, input, params, batchSizesOptional, "batchSizesOptional",
                 hasBias, numLayers, bidirection, batchFirst, RowPlaces::kPacked},
                "hy", hy, &p.shape);
  if (!check.ok()) return check.status();
  check.shape("hxOptional", hxOptional, p.shape.states());
  check.shape("output", output, p.shape.placed(p.shape.width(), true));
  check.shape("hy", hy, p.shape.states());
  if (!check.ok()) return check.status();
  // Planes are as the output of one direction, with the times in front.
  NetworkShape plane = p.shape;
  plane.batch_first = false;
  for (const auto &one : kept) {
    if (train) check_runs(check, one.name, one.list, plane, plane.placed(plane.hidden, true));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnGRU");
  p.op = "aclnnGRU";
  p.sizes_name = "batchSizesOptional";
  p.keeps = train;
  p.input = plan.input(input);
  p.params = plan.input_list(params);
  p.initial[0] = plan.input(hxOptional);
  p.sizes = plan.input(batchSizesOptional);
  p.output = plan.output(output);
  p.last[0] = plan.output(hy);
  for (size_t i = 0; i < std::size(kept); ++i) {
    p.planes[i] = train ? plan.output_list(kept[i].list) : plan.unused_list(kept[i].list);
  }
  const auto shared = std::make_shared<const ForwardPlan>(p);
  return plan.finish([shared](PlanContext &c) { return run_network(c, *shared); }, workspaceSize,
                     executor);
}
EMU_CATCH

EMU_OPERATOR(GRUBackward, (const aclTensor *input, const aclTensorList *params, const aclTensor *hx,
                           const aclTensor *dy, const aclTensor *dh, const aclTensorList *r,
                           const aclTensorList *z, const aclTensorList *n, const aclTensorList *hn,
                           const aclTensorList *h, const aclTensor *batchSizesOptional,
                           bool hasBias, int64_t numLayers, bool bidirection, bool batchFirst,
                           aclTensor *dxOut, aclTensor *dhPrevOut, aclTensorList *dparamsOut)) {
  using namespace emu;
  Check check("aclnnGRUBackward");
  const struct {
    const char *name;
    const aclTensorList *list;
  } kept[] = {{"r", r}, {"z", z}, {"n", n}, {"hn", hn}, {"h", h}};
  const struct {
    const char *name;
    const aclTensor *tensor;
  } same[] = {{"hx", hx}, {"dy", dy}, {"dh", dh}, {"dxOut", dxOut}, {"dhPrevOut", dhPrevOut}};
  check.required("input", input).required("params", params);
  for (const auto &one : same) check.required(one.name, one.tensor);
  for (const auto &one : kept) check.required(one.name, one.list);
  check.optional("batchSizesOptional", batchSizesOptional).required("dparamsOut", dparamsOut);
  check.dtype("input", input).dtype("batchSizesOptional", batchSizesOptional);
  for (const auto &one : same) check.dtype(one.name, one.tensor);
  if (!check.ok()) return check.status();
  check_members(check, "params", params, input);
  for (const auto &one : same) {
    check.same_dtype(one.name, one.tensor->dtype, "input", input->dtype);
  }
  for (const auto &one : kept) check_members(check, one.name, one.list, input);
  check_members(check, "dparamsOut", dparamsOut, input);
  if (!check.ok()) return check.status();
  // The documents: only an empty tensor of sizes is supported so far.
  check.that(
      batchSizesOptional == nullptr || batchSizesOptional->numel() == 0,
      "batchSizesOptional has %lld elements; only null or an empty tensor is supported",
      static_cast<long long>(batchSizesOptional == nullptr ? 0 : batchSizesOptional->numel()));
  BackwardPlan p;
  check_network(check,
                {"aclnnGRUBackward", &kGru, input, params, nullptr, "batchSizesOptional", hasBias,
                 numLayers, bidirection, batchFirst, RowPlaces::kEqual},
                "hx", hx, &p.shape);
  if (!check.ok()) return check.status();
  const NetworkShape &shape = p.shape;
  check.shape("hx", hx, shape.states()).shape("dy", dy, shape.placed(shape.width(), true));
  check.shape("dh", dh, shape.states());
  NetworkShape plane = shape;
  plane.batch_first = false;
  for (const auto &one : kept) {
    check_runs(check, one.name, one.list, plane, plane.placed(plane.hidden, true));
  }
  check.shape("dxOut", dxOut, layout_of(*input)).shape("dhPrevOut", dhPrevOut, shape.states());
  check_params(check, "dparamsOut", dparamsOut, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnGRUBackward");
  p.op = "aclnnGRUBackward";
  p.input = plan.input(input);
  p.params = plan.input_list(params);
  p.initial[0] = plan.input(hx);
  p.y_slope = plan.input(dy);
  p.last_slopes[0] = plan.input(dh);
  for (size_t i = 0; i < std::size(kept); ++i) p.planes[i] = plan.input_list(kept[i].list);
  p.sizes = plan.unused(batchSizesOptional);
  p.x_slope = plan.output(dxOut);
  p.initial_slopes[0] = plan.output(dhPrevOut);
  p.param_slopes = plan.output_list(dparamsOut);
  const auto shared = std::make_shared<const BackwardPlan>(p);
  return plan.finish([shared](PlanContext &c) { return run_network_gradient(c, *shared); },
                     workspaceSize, executor);
}
EMU_CATCH
