// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// The gradient of MhcPost: of the streams, of their mixing, of the layer's output and its weights.
#include "aclnnop/mhc.h"
#include "core/chip.h"
#include "ops/mhc/mixing.h"

EMU_OPERATOR(MhcPostBackward,
             (const aclTensor *gradOutput, const aclTensor *x, const aclTensor *hRes,
              const aclTensor *hOut, const aclTensor *hPost, aclTensor *gradX, aclTensor *gradHRes,
              aclTensor *gradHOut, aclTensor *gradHPost)) {
  using namespace emu;
  using Number = long long;
  constexpr int64_t kWidest = 100000;
  Check check("aclnnMhcPostBackward");
  const std::pair<const char *, const aclTensor *> streams[] = {{"gradOutput", gradOutput},
                                                                {"x", x},
                                                                {"gradX", gradX},
                                                                {"hOut", hOut},
                                                                {"gradHOut", gradHOut}};
  const std::pair<const char *, const aclTensor *> weights[] = {
      {"hRes", hRes}, {"gradHRes", gradHRes}, {"hPost", hPost}, {"gradHPost", gradHPost}};
  for (const auto &[name, tensor] : streams) check.required(name, tensor);
  for (const auto &[name, tensor] : weights) check.required(name, tensor);
  for (const auto &[name, tensor] : streams) {
    check.dtype(name, tensor);
    if (check.ok()) check.same_dtype(name, tensor->dtype, "gradOutput", gradOutput->dtype);
  }
  for (const auto &[name, tensor] : weights) check.dtype(name, tensor);
  for (const auto &[name, tensor] : streams) check.plain_format(name, tensor);
  check.rank("x", x, 3, 4);
  if (!check.ok()) return check.status();
  const StreamSizes s = stream_sizes(*x);
  const int64_t n = s.streams;
  check.that(x->numel() > 0, "x is empty: %s", shape_text(layout_of(*x)).c_str());
  check.that(n == 4 || (chip_is_950() && (n == 6 || n == 8)), "x has %lld streams; allowed: %s",
             Number{n}, chip_is_950() ? "4, 6, 8" : "4");
  check.that(chip_is_950() || (s.width % 128 == 0 && s.width <= kWidest),
             "x has a last dimension of %lld; allowed: multiples of 128 up to %lld",
             Number{s.width}, Number{kWidest});
  if (!check.ok()) return check.status();
  check.shape("gradOutput", gradOutput, layout_of(*x)).shape("gradX", gradX, layout_of(*x));
  check.shape("hRes", hRes, per_token(*x, {n, n})).shape("gradHRes", gradHRes, layout_of(*hRes));
  check.shape("hOut", hOut, per_token(*x, {s.width}));
  check.shape("gradHOut", gradHOut, layout_of(*hOut));
  check.shape("hPost", hPost, per_token(*x, {n}));
  check.shape("gradHPost", gradHPost, layout_of(*hPost));
  if (!check.ok()) return check.status();
  PlanBuilder plan(check.op());
  const size_t dy = plan.input(gradOutput), from = plan.input(x), mix = plan.input(hRes),
               layer = plan.input(hOut), post = plan.input(hPost), dx = plan.output(gradX),
               dmix = plan.output(gradHRes), dlayer = plan.output(gradHOut),
               dpost = plan.output(gradHPost);
  return plan.finish(
      [=](PlanContext &c) {
        const std::initializer_list<View> results = {view_of(c.tensor(dx)), view_of(c.tensor(dmix)),
                                                     view_of(c.tensor(dlayer)),
                                                     view_of(c.tensor(dpost))};
        Operands operands;
        const auto source = [&](size_t at) {
          return RowSource<float>(operands.safe(view_of(c.tensor(at)), results));
        };
        const RowSource<float> gradient(source(dy)), value(source(from)), out(source(layer));
        const RowTarget<float> to_x(view_of(c.tensor(dx))), to_mix(view_of(c.tensor(dmix))),
            to_layer(view_of(c.tensor(dlayer))), to_post(view_of(c.tensor(dpost)));
        const int64_t width = s.width, row = s.row(), square = n * n;
        const auto mixing = read_all<float>(c, mix, s.tokens * square, 0.0f);
        const auto written = read_all<float>(c, post, s.tokens * n, 0.0f);
        for_each_row<float>(s.tokens, row, 4, [&](int64_t token, float *g) {
          float *streams_of = g + row, *slopes = streams_of + row, *layer_out = slopes + row;
          gradient.read(token * row, row, g);
          value.read(token * row, row, streams_of);
          out.read(token * width, width, layer_out);
          const float *factors = mixing.data() + token * square, *by = written.data() + token * n;
          std::vector<float> pairs(static_cast<size_t>(square)), posts(static_cast<size_t>(n)),
              shared(static_cast<size_t>(width), 0.0f);
          std::fill(slopes, slopes + row, 0.0f);
          for (int64_t i = 0; i < n; ++i) {
            const float *g_i = g + i * width;
            double along = 0.0;
            for (int64_t d = 0; d < width; ++d) {
              shared[static_cast<size_t>(d)] += g_i[d] * by[i];
              along += static_cast<double>(g_i[d]) * layer_out[d];
            }
            posts[static_cast<size_t>(i)] = static_cast<float>(along);
            for (int64_t j = 0; j < n; ++j) {
              const float *x_j = streams_of + j * width;
              float *slope = slopes + j * width;
              const float factor = factors[j * n + i];
              double sum = 0.0;
              for (int64_t d = 0; d < width; ++d) {
                slope[d] += factor * g_i[d];
                sum += static_cast<double>(x_j[d]) * g_i[d];
              }
              pairs[static_cast<size_t>(j * n + i)] = static_cast<float>(sum);
            }
          }
          to_x.write(token * row, row, slopes);
          to_mix.write(token * square, square, pairs.data());
          to_layer.write(token * width, width, shared.data());
          to_post.write(token * n, n, posts.data());
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
