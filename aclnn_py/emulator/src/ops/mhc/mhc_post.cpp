// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The output of a layer written back to its residual streams, which are mixed.
#include "aclnnop/mhc.h"
#include "core/chip.h"
#include "ops/mhc/mixing.h"

namespace emu {
namespace {

struct PostArguments {
  const aclTensor *x, *mix, *added, *weights, *out;
};

Check check_post(const PostArguments &a, StreamSizes *s) {
  Check check("aclnnMhcPost");
  check.required("x", a.x);
  if (chip_is_950()) check.optional("hRes", a.mix);
  else check.required("hRes", a.mix);
  check.required("hOut", a.added).required("hPost", a.weights).required("out", a.out);
  check.dtype("x", a.x).dtype("hRes", a.mix).dtype("hOut", a.added).dtype("hPost", a.weights);
  check.dtype("out", a.out).plain_format("x", a.x).plain_format("out", a.out);
  check.rank("x", a.x, 3, 4);
  if (!check.ok()) return check;
  check.same_dtype("hOut", a.added->dtype, "x", a.x->dtype);
  check.same_dtype("out", a.out->dtype, "x", a.x->dtype);
  *s = stream_sizes(*a.x);
  const int64_t n = s->streams;
  check.shape("hRes", a.mix, per_token(*a.x, {n, n}));
  check.shape("hOut", a.added, per_token(*a.x, {s->width}));
  check.shape("hPost", a.weights, per_token(*a.x, {n}));
  check.shape("out", a.out, layout_of(*a.x));
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(MhcPost, (const aclTensor *x, const aclTensor *hRes, const aclTensor *hOut,
                       const aclTensor *hPost, aclTensor *out)) {
  using namespace emu;
  StreamSizes s;
  const Check check = check_post({x, hRes, hOut, hPost, out}, &s);
  if (!check.ok()) return check.status();
  constexpr int64_t kStreams = 4, kWidest = 100000;
  const bool wide = s.width > 0 && s.width <= kWidest && s.width % 128 == 0;
  if (!chip_is_950() && (s.streams != kStreams || !wide)) {
    return fail(kInnerNull,
                "%s: x has %lld streams of %lld elements; allowed: 4 streams of multiples of 128 "
                "up to %lld",
                check.op(), static_cast<long long>(s.streams), static_cast<long long>(s.width),
                static_cast<long long>(kWidest));
  }
  PlanBuilder plan(check.op());
  const size_t from = plan.input(x), mix = plan.input(hRes), added = plan.input(hOut),
               weights = plan.input(hPost), to = plan.output(out);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        if (result.count() == 0) return Status{0};
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(from)), {result}));
        const RowSource<float> layer(operands.safe(view_of(c.tensor(added)), {result}));
        const RowTarget<float> target(result);
        const int64_t n = s.streams, width = s.width, row = s.row();
        const bool mixes = c.has(mix);
        const auto mixing = read_all<float>(c, mix, mixes ? s.tokens * n * n : 0, 0.0f);
        const auto post = read_all<float>(c, weights, s.tokens * n, 0.0f);
        for_each_row<float>(s.tokens, row, 3, [&](int64_t token, float *streams) {
          float *written = streams + row, *layer_out = written + row;
          source.read(token * row, row, streams);
          layer.read(token * width, width, layer_out);
          for (int64_t i = 0; i < n; ++i) {
            float *y = written + i * width;
            if (mixes) std::fill(y, y + width, 0.0f);
            else std::copy(streams + i * width, streams + (i + 1) * width, y);
            for (int64_t j = 0; mixes && j < n; ++j) {
              const float factor = mixing[static_cast<size_t>((token * n + j) * n + i)];
              const float *x_of = streams + j * width;
              for (int64_t d = 0; d < width; ++d) y[d] += factor * x_of[d];
            }
            const float weight = post[static_cast<size_t>(token * n + i)];
            for (int64_t d = 0; d < width; ++d) y[d] += layer_out[d] * weight;
          }
          target.write(token * row, row, written);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
