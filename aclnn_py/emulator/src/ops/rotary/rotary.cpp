// SPDX-License-Identifier: Apache-2.0
// Rotary position embedding: x * cos + rotated(x) * sin, in float32, rounded once.
#include "aclnnop/posembedding.h"
#include "ops/norm/rows.h"

#include <string>

namespace emu {
namespace {

enum Mode : int64_t { kHalf = 0, kInterleave = 1, kQuarter = 2, kInterleaveHalf = 3 };

// The layout TND: one dimension for batch and sequence.
constexpr int64_t kTokens = 4;

// y = x * cos + rotated(x) * sin for one row. x and y are different memory.
void rotate(int64_t mode, const float *x, const float *cos, const float *sin, int64_t width,
            float *y) {
  const int64_t half = width / 2;
  switch (mode) {
    case kHalf:
      for (int64_t i = 0; i < half; ++i) {
        y[i] = x[i] * cos[i] - x[half + i] * sin[i];
        y[half + i] = x[half + i] * cos[half + i] + x[i] * sin[half + i];
      }
      return;
    case kInterleave:
      for (int64_t i = 0; i < width; i += 2) {
        y[i] = x[i] * cos[i] - x[i + 1] * sin[i];
        y[i + 1] = x[i + 1] * cos[i + 1] + x[i] * sin[i + 1];
      }
      return;
    case kQuarter:
      rotate(kHalf, x, cos, sin, half, y);
      rotate(kHalf, x + half, cos + half, sin + half, half, y + half);
      return;
    default:  // pairs lie side by side in x and half a row apart in the result
      for (int64_t i = 0; i < half; ++i) {
        y[i] = x[2 * i] * cos[i] - x[2 * i + 1] * sin[i];
        y[half + i] = x[2 * i + 1] * cos[half + i] + x[2 * i] * sin[half + i];
      }
  }
}

void rotate_all(int64_t mode, const View &x, const View &cos, const View &sin, const View &out) {
  Operands operands;
  const int64_t width = x.layout.shape[x.layout.rank - 1];
  if (x.count() == 0) return;
  const RowSource<float> source(operands.safe(x, {out})), c(operands.safe(cos, {out})),
      s(operands.safe(sin, {out}));
  const RowTarget<float> target(out);
  for_each_row<float>(x.count() / width, width, 4, [&](int64_t row, float *memory) {
    float *in = memory, *cosine = memory + width, *sine = memory + 2 * width,
          *result = memory + 3 * width;
    source.read(row * width, width, in);
    c.read(row * width, width, cosine);
    s.read(row * width, width, sine);
    rotate(mode, in, cosine, sine, width, result);
    target.write(row * width, width, result);
  });
}

// The rules cos and sin obey towards the tensor they turn.
void check_tables(Check &check, const char *name, const aclTensor *x, const aclTensor *cos,
                  const aclTensor *sin, int64_t mode) {
  if (!check.ok()) return;
  check.same_dtype("cos", cos->dtype, name, x->dtype).same_dtype("sin", sin->dtype, name, x->dtype);
  const Layout shape = layout_of(*x);
  check.that(shape.rank >= 2 && shape.rank <= 8, "%s has %d dimensions; allowed: 2 to 8", name,
             shape.rank);
  if (!check.ok()) return;
  const int64_t width = shape.shape[shape.rank - 1], unit = mode == kQuarter ? 4 : 2;
  check.that(width % unit == 0, "%s has %lld as its last dimension; it must be a multiple of %lld",
             name, static_cast<long long>(width), static_cast<long long>(unit));
  Layout met;
  check.that(broadcast_shapes(layout_of(*cos), shape, &met) && same_shape(met, shape),
             "cos %s does not broadcast to %s %s", shape_text(layout_of(*cos)).c_str(), name,
             shape_text(shape).c_str());
  check.shape("sin", sin, layout_of(*cos));
}

struct ApplyCall {
  const char *op;
  aclTensor *query, *key;
  const aclTensor *cos, *sin;
  int64_t layout;
  bool layout_known;    // whether the operator has this layout
  const char *layouts;  // those it has, for the message
  int64_t mode;
};

Status plan_apply(const ApplyCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("queryRef", a.query).required("keyRef", a.key);
  check.required("cos", a.cos).required("sin", a.sin);
  check.dtype("queryRef", a.query).dtype("keyRef", a.key).dtype("cos", a.cos).dtype("sin", a.sin);
  check.that(a.layout_known, "layout is %lld; allowed: %s", static_cast<long long>(a.layout),
             a.layouts);
  if (!check.ok()) return check.status();
  const int rank = a.layout == kTokens ? 3 : 4;
  check.rank("queryRef", a.query, rank, rank).rank("keyRef", a.key, rank, rank);
  if (!check.ok()) return check.status();
  check.same_dtype("keyRef", a.key->dtype, "queryRef", a.query->dtype);
  check_tables(check, "queryRef", a.query, a.cos, a.sin, a.mode);
  check_tables(check, "keyRef", a.key, a.cos, a.sin, a.mode);
  if (!check.ok()) return check.status();
  PlanBuilder plan(a.op);
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
  check.that(mode >= 0 && mode <= 3, "mode is %lld; allowed: 0 to 3", static_cast<long long>(mode));
  check_tables(check, "x", x, cos, sin, mode);
  if (check.ok())
    check.same_dtype("out", out->dtype, "x", x->dtype).shape("out", out, layout_of(*x));
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnRotaryPositionEmbedding");
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
  call.layout_known = layout == 1 || layout == emu::kTokens;
  call.layouts = "1 (BSND), 4 (TND)";
  call.mode = emu::kHalf;
  return emu::plan_apply(call, workspaceSize, executor);
}
EMU_CATCH

// layout: 1 BSND, 2 SBND, 3 BNSD, 4 TND. The arithmetic is the same: cos and sin broadcast over the
// heads.
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
  call.layout_known = layout >= 1 && layout <= kTokens;
  call.layouts = "1 to 4";
  call.mode = mode;
  return plan_apply(call, workspaceSize, executor);
}
EMU_CATCH
