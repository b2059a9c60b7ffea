// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: x * cos + rotated(x) * sin, in float32, rounded once.
#include "aclnnop/posembedding.h"
#include "core/chip.h"
#include "ops/rotary/rotate.h"

#include <string>

namespace emu {
namespace {

// The layouts BSND and TND: the latter has one dimension for batch and sequence.
constexpr int64_t kFirst = 1, kTokens = 4;

struct ApplyCall {
  const char *op;
  aclTensor *query, *key;
  const aclTensor *cos, *sin;
  int64_t layout;
  bool all_layouts;  // those between the first and the last too
  int64_t mode;
};

Status plan_apply(const ApplyCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("queryRef", a.query).required("keyRef", a.key);
  check.required("cos", a.cos).required("sin", a.sin);
  check.dtype("queryRef", a.query).dtype("keyRef", a.key).dtype("cos", a.cos).dtype("sin", a.sin);
  const bool known = a.layout == kFirst || a.layout == kTokens ||
                     (a.all_layouts && a.layout > kFirst && a.layout < kTokens);
  check.that(known, "layout is %lld; allowed: %s", static_cast<long long>(a.layout),
             a.all_layouts ? "1 to 4" : "1 (BSND), 4 (TND)");
  if (!check.ok()) return check.status();
  const int rank = a.layout == kTokens ? 3 : 4;
  check.rank("queryRef", a.query, rank, rank).rank("keyRef", a.key, rank, rank);
  if (!check.ok()) return check.status();
  check.same_dtype("keyRef", a.key->dtype, "queryRef", a.query->dtype);
  check_tables(check, "queryRef", a.query, a.cos, a.sin, a.mode);
  check_tables(check, "keyRef", a.key, a.cos, a.sin, a.mode);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op, KernelTime::linear);
  const size_t q = plan.output(a.query), k = plan.output(a.key), c1 = plan.input(a.cos),
               s1 = plan.input(a.sin);
  const int64_t mode = a.mode;
  return plan.finish(
      [=](PlanContext &c) {
        for (const size_t index : {q, k}) {
          const View x = view_of(c.tensor(index));
          rotate_all(mode, x, view_of(c.tensor(c1), x.layout), view_of(c.tensor(s1), x.layout), x);
        }
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RotaryPositionEmbedding, (const aclTensor *x, const aclTensor *cos,
                                       const aclTensor *sin, int64_t mode, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnRotaryPositionEmbedding");
  check.required("x", x).required("cos", cos).required("sin", sin).required("out", out);
  check.dtype("x", x).dtype("cos", cos).dtype("sin", sin).dtype("out", out);
  mode = mode_of_chip(mode);
  check.that(mode >= 0 && mode <= 3, "mode is %lld; allowed: 0 to 3", static_cast<long long>(mode));
  check_tables(check, "x", x, cos, sin, mode);
  if (check.ok())
    check.same_dtype("out", out->dtype, "x", x->dtype).shape("out", out, layout_of(*x));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnRotaryPositionEmbedding", KernelTime::linear);
  const size_t from = plan.input(x), c1 = plan.input(cos), s1 = plan.input(sin),
               to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View source = view_of(c.tensor(from));
        rotate_all(mode, source, view_of(c.tensor(c1), source.layout),
                   view_of(c.tensor(s1), source.layout), view_of(c.tensor(to)));
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

// layout: 1 BSND and 4 TND, the only ones of this form.
EMU_OPERATOR(ApplyRotaryPosEmb, (aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos,
                                 const aclTensor *sin, int64_t layout)) {
  emu::ApplyCall call{};
  call.op = "aclnnApplyRotaryPosEmb";
  call.query = queryRef;
  call.key = keyRef;
  call.cos = cos;
  call.sin = sin;
  call.layout = layout;
  call.mode = emu::kHalf;
  return emu::plan_apply(call, workspaceSize, executor);
}
EMU_CATCH

// layout: 1 BSND, 4 TND, on a 950 also 2 SBND and 3 BNSD. The arithmetic is the same: cos and sin
// broadcast over the heads. A 910B's kernel does not read rotaryMode: it turns halves.
EMU_OPERATOR(ApplyRotaryPosEmbV2, (aclTensor *queryRef, aclTensor *keyRef, const aclTensor *cos,
                                   const aclTensor *sin, int64_t layout, const char *rotaryMode)) {
  using namespace emu;
  Check check("aclnnApplyRotaryPosEmbV2");
  check.required_text("rotaryMode", rotaryMode);
  if (!check.ok()) return check.status();
  const std::string name = rotaryMode;
  const int64_t mode = name == "half" ? 0 : name == "interleave" ? 1 : name == "quarter" ? 2 : -1;
  check.that(mode >= 0, "rotaryMode is \"%s\"; allowed: half, interleave, quarter", name.c_str());
  if (!check.ok()) return check.status();
  ApplyCall call{};
  call.op = "aclnnApplyRotaryPosEmbV2";
  call.query = queryRef;
  call.key = keyRef;
  call.cos = cos;
  call.sin = sin;
  call.layout = layout;
  call.all_layouts = chip_is_950();
  call.mode = chip_is_950() ? mode : kHalf;
  return plan_apply(call, workspaceSize, executor);
}
EMU_CATCH
