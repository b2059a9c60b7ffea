// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// The gradients of RotaryPositionEmbedding and InplacePartialRotaryMul.
#include "aclnnop/posembedding.h"
#include "core/chip.h"
#include "ops/rotary/rotate.h"
#include "ops/shared/mx_check.h"

namespace emu {
namespace {

// The same elements with those dimensions last, before the rows, in which the table has one entry
// for all.
View repeats_last(const View &view, const Layout &table) {
  View moved = view;
  moved.layout = Layout();
  const int last = view.layout.rank - 1;
  for (const bool repeated : {false, true}) {
    for (int d = 0; d < last; ++d) {
      const bool shared = table.shape[d] == 1 && view.layout.shape[d] != 1;
      if (shared == repeated) moved.layout.push(view.layout.shape[d], view.layout.stride[d]);
    }
  }
  moved.layout.push(view.layout.shape[last], view.layout.stride[last]);
  return moved;
}

// With y = own * cos + other * sin: dcos = sum(dy * own), dsin = sum(dy * other).
void table_gradients(int64_t mode, const View &dy, const View &x, const View &dcos,
                     const View &dsin) {
  const int64_t width = dy.layout.shape[dy.layout.rank - 1];
  if (dcos.count() == 0) return;
  const int64_t rows = dcos.count() / width, repeats = dy.count() / width / rows;
  const RowSource<float> gradient(repeats_last(dy, dcos.layout)),
      source(repeats_last(x, dcos.layout));
  const RowTarget<float> to_cos(dcos), to_sin(dsin);
  const auto size = static_cast<size_t>(width);
  const std::vector<float> ones(size, 1.0f), zeros(size, 0.0f);
  for_each_row<float>(rows, width, 4, [&](int64_t row, float *memory) {
    float *in = memory, *slope = memory + width, *own = slope + width, *other = own + width;
    std::vector<double> cosine(size, 0.0), sine(size, 0.0);
    for (int64_t i = 0; i < repeats; ++i) {
      gradient.read((row * repeats + i) * width, width, slope);
      source.read((row * repeats + i) * width, width, in);
      rotate(mode, in, ones.data(), zeros.data(), width, own);
      rotate(mode, in, zeros.data(), ones.data(), width, other);
      for (size_t k = 0; k < size; ++k) {
        cosine[k] += static_cast<double>(slope[k]) * own[k];
        sine[k] += static_cast<double>(slope[k]) * other[k];
      }
    }
    for (size_t k = 0; k < size; ++k) {
      own[k] = static_cast<float>(cosine[k]);
      other[k] = static_cast<float>(sine[k]);
    }
    to_cos.write(row * width, width, own);
    to_sin.write(row * width, width, other);
  });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RotaryPositionEmbeddingGrad,
             (const aclTensor *dy, const aclTensor *cos, const aclTensor *sin,
              const aclTensor *xOptional, int64_t mode, aclTensor *dxOut, aclTensor *dcosOut,
              aclTensor *dsinOut)) {
  using namespace emu;
  constexpr const char *op = "aclnnRotaryPositionEmbeddingGrad";
  constexpr int64_t kWidest = 894, kWidest950 = 1024;
  Check check(op);
  check.required("dy", dy).required("cos", cos).required("sin", sin);
  check.optional("xOptional", xOptional).required("dxOut", dxOut);
  check.required("dcosOut", dcosOut).required("dsinOut", dsinOut);
  check.dtype("dy", dy).dtype("cos", cos).dtype("sin", sin).dtype("xOptional", xOptional);
  check.dtype("dxOut", dxOut).dtype("dcosOut", dcosOut).dtype("dsinOut", dsinOut);
  if (!check.ok()) return check.status();
  for (const auto &[name, tensor] :
       {std::pair<const char *, const aclTensor *>{"xOptional", xOptional},
        std::pair<const char *, const aclTensor *>{"dxOut", dxOut},
        std::pair<const char *, const aclTensor *>{"dcosOut", dcosOut},
        std::pair<const char *, const aclTensor *>{"dsinOut", dsinOut}}) {
    if (tensor) check.same_dtype(name, tensor->dtype, "dy", dy->dtype);
  }
  mode = mode_of_chip(mode);
  check.tiling().that(mode >= 0 && mode <= 3, "mode is %lld; allowed: 0 to 3",
                      static_cast<long long>(mode));
  check.rank("dy", dy, 3, 4);
  if (!check.ok()) return check.status();
  const int rank = static_cast<int>(dy->rank());
  check.rank("cos", cos, rank, rank);
  check_tables(check, "dy", dy, cos, sin, mode);
  if (!check.ok()) return check.status();
  const int64_t width = dy->shape.back(), widest = chip_is_950() ? kWidest950 : kWidest;
  check.that(width >= 1 && width <= widest, "dy has %lld as its last dimension; allowed: 1 to %lld",
             static_cast<long long>(width), static_cast<long long>(widest));
  int own = 0;
  for (int d = 0; d + 1 < rank; ++d) own += cos->shape[static_cast<size_t>(d)] != 1;
  check.that(chip_is_950() || mode != kInterleave || own <= 1,
             "cos has shape %s; with mode 1 all of its dimensions but the tokens and the last one "
             "are 1",
             shape_text(layout_of(*cos)).c_str());
  check.that(cos->shape.back() == width, "cos has %lld as its last dimension, dy %lld",
             static_cast<long long>(cos->shape.back()), static_cast<long long>(width));
  check.shape("dxOut", dxOut, layout_of(*dy));
  if (xOptional) {
    check.shape("xOptional", xOptional, layout_of(*dy));
    check.shape("dcosOut", dcosOut, layout_of(*cos)).shape("dsinOut", dsinOut, layout_of(*cos));
  }
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t from = plan.input(dy), c1 = plan.input(cos), s1 = plan.input(sin),
               x = plan.input(xOptional), to = plan.output(dxOut);
  const auto table = [&](const aclTensor *tensor) {
    return xOptional ? plan.output(tensor) : plan.unused(tensor);
  };
  const size_t c2 = table(dcosOut), s2 = table(dsinOut);
  return plan.finish(
      [=](PlanContext &c) {
        Operands operands;
        const View dx = view_of(c.tensor(to));
        const bool with_tables = c.has(x);
        const View dcos = with_tables ? view_of(c.tensor(c2)) : View(),
                   dsin = with_tables ? view_of(c.tensor(s2)) : View();
        const View slopes = operands.safe(view_of(c.tensor(from)), {dx, dcos, dsin});
        const View cosines = operands.safe(view_of(c.tensor(c1), slopes.layout), {dcos, dsin}),
                   sines = operands.safe(view_of(c.tensor(s1), slopes.layout), {dcos, dsin});
        if (with_tables) {
          // It is read before dx is written, which may be its memory.
          table_gradients(mode, slopes, operands.safe(view_of(c.tensor(x)), {dcos, dsin}), dcos,
                          dsin);
        }
        rotate_all_back(mode, slopes, cosines, sines, dx);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(InplacePartialRotaryMulGrad,
             (aclTensor *dyRef, const aclTensor *cos, const aclTensor *sin, int64_t rotaryMode,
              const aclIntArray *partialSlice)) {
  using namespace emu;
  constexpr const char *op = "aclnnInplacePartialRotaryMulGrad";
  constexpr int64_t kWidest = 1024;
  Check check(op);
  check.required("dyRef", dyRef).required("cos", cos).required("sin", sin);
  check.required("partialSlice", partialSlice);
  check.dtype("dyRef", dyRef).dtype("cos", cos).dtype("sin", sin);
  if (!check.ok()) return check.status();
  check.same_dtype("sin", sin->dtype, "cos", cos->dtype);
  if (!check.ok()) return check.status();
  if (const Status s = check_chip(check, kNoKernel)) return s;
  check.tiling().that(rotaryMode == kInterleave, "rotaryMode is %lld; allowed: 1",
                      static_cast<long long>(rotaryMode));
  check.rank("dyRef", dyRef, 4, 4).rank("cos", cos, 4, 4);
  check.that(partialSlice->values.size() == 2, "partialSlice has %zu numbers; allowed: 2",
             partialSlice->values.size());
  if (!check.ok()) return check.status();
  Layout part = layout_of(*dyRef), met;
  const int64_t width = part.shape[3], start = partialSlice->values[0],
                end = partialSlice->values[1];
  check.that(part.count() > 0 && width <= kWidest,
             "dyRef has shape %s; no dimension is 0, and the last one at most %lld",
             shape_text(part).c_str(), static_cast<long long>(kWidest));
  check.that(start >= 0 && start < end && end <= width && start % 2 == end % 2,
             "partialSlice is [%lld, %lld); it must lie in the last dimension of dyRef, %lld, and "
             "have an even length that is not 0",
             static_cast<long long>(start), static_cast<long long>(end),
             static_cast<long long>(width));
  if (!check.ok()) return check.status();
  part.shape[3] = end - start;
  const Layout table = layout_of(*cos);
  check.that(broadcast_shapes(table, part, &met) && same_shape(met, part) &&
                 table.shape[3] == part.shape[3],
             "cos %s does not broadcast to the part of dyRef that turns, %s",
             shape_text(table).c_str(), shape_text(part).c_str());
  check.shape("sin", sin, table);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  const size_t dy = plan.in_place(dyRef), c1 = plan.input(cos), s1 = plan.input(sin);
  return plan.finish(
      [=](PlanContext &c) {
        View view = view_of(c.tensor(dy));
        view.data += start * view.layout.stride[3] * item_size(view.dtype);
        view.layout.shape[3] = end - start;
        rotate_all_back(kInterleave, view, view_of(c.tensor(c1), view.layout),
                        view_of(c.tensor(s1), view.layout), view);
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
