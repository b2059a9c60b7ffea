// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// NormRopeConcatBackward: gradients of joined tokens turned back, taken apart, and led through the
// normalisation of each source. float32 inside; weights are summed in float64.
#include "aclnnop/posembedding.h"
#include "ops/moe/routing.h"
#include "ops/rotary/rotate.h"

namespace emu {
namespace {

constexpr int64_t kWidestHead = 1024, kAffine = 2;
// Sums over the rows are made of this many pieces, whatever the number of threads.
constexpr int64_t kPieces = 32;

// One source of tokens: what was normalised, and where its gradients go.
struct SourceGradient {
  const char *x_name, *weight_name, *mean_name, *rstd_name, *out_name, *weight_out_name,
      *bias_out_name;
  const aclTensor *x, *weight, *mean, *rstd, *out, *weight_out, *bias_out;
  size_t x_at = 0, weight_at = 0, mean_at = 0, rstd_at = 0, out_at = 0, weight_out_at = 0,
         bias_out_at = 0;
  int64_t tokens = 0, first = 0, norm = 0;
  bool there = false;
};

struct JoinedGradient {
  const char *name;
  const aclTensor *given;
  SourceGradient sources[2];
  bool turns;
  size_t at = 0;
};

struct ConcatGradient {
  const char *op;
  JoinedGradient joined[3];
  const aclTensor *sin, *cos;
  int64_t norms[2], rope, order;
  size_t sin_at = 0, cos_at = 0;
  int64_t batch = 0, heads = 0, width = 0, rows = 0;
};

template <class Call, class F>
void each_source(Call &a, F &&f) {
  for (auto &joined : a.joined) {
    for (int i = 0; i < 2; ++i) f(joined, joined.sources[i], i);
  }
}

void check_tensors(Check &check, ConcatGradient &a) {
  for (const auto &j : a.joined) check.required(j.name, j.given);
  for (int i = 0; i < 2; ++i)
    check.required(a.joined[i].sources[0].x_name, a.joined[i].sources[0].x);
  for (const auto &j : a.joined) check.required(j.sources[0].out_name, j.sources[0].out);
  each_source(a, [&](const JoinedGradient &j, const SourceGradient &s, int) {
    check.optional(s.out_name, s.out);
    if (!j.turns) return;
    check.optional(s.x_name, s.x).optional(s.weight_name, s.weight);
    check.optional(s.mean_name, s.mean).optional(s.rstd_name, s.rstd);
    check.optional(s.weight_out_name, s.weight_out).optional(s.bias_out_name, s.bias_out);
  });
  check.optional("ropeSin", a.sin).optional("ropeCos", a.cos);
  if (!check.ok()) return;
  const aclDataType kind = a.joined[0].given->dtype;
  const auto alike = [&](const char *name, const aclTensor *tensor) {
    check.dtype(name, tensor);
    if (tensor && check.ok()) check.same_dtype(name, tensor->dtype, "gradQueryOutput", kind);
  };
  for (const auto &j : a.joined) alike(j.name, j.given);
  each_source(a, [&](const JoinedGradient &j, const SourceGradient &s, int) {
    alike(s.out_name, s.out);
    if (!j.turns) return;
    alike(s.x_name, s.x);
    alike(s.weight_name, s.weight);
    check.dtype(s.mean_name, s.mean).dtype(s.rstd_name, s.rstd);
    alike(s.weight_out_name, s.weight_out);
    alike(s.bias_out_name, s.bias_out);
  });
  alike("ropeSin", a.sin);
  alike("ropeCos", a.cos);
}

void check_attributes(Check &check, const ConcatGradient &a) {
  constexpr const char *kNorms[] = {"normType", "normAddedType"};
  for (int i = 0; i < 2; ++i)
    check.that(a.norms[i] >= 0 && a.norms[i] <= kAffine, "%s is %lld; allowed: 0 to 2", kNorms[i],
               wide(a.norms[i]));
  check.that(a.rope >= 0 && a.rope <= 2, "ropeType is %lld; allowed: 0 to 2", wide(a.rope));
  check.that(a.order == 0 || a.order == 1, "concatOrder is %lld; allowed: 0, 1", wide(a.order));
  check.that(a.rope == 0 || (a.sin && a.cos), "ropeSin and ropeCos are needed with ropeType %lld",
             wide(a.rope));
  check.rank("query", a.joined[0].sources[0].x, 4, 4);
  check.rank("key", a.joined[1].sources[0].x, 4, 4);
  for (int i = 0; i < 2; ++i)
    check.rank(a.joined[i].sources[1].x_name, a.joined[i].sources[1].x, 4, 4);
}

void check_source(Check &check, const ConcatGradient &a, const JoinedGradient &j,
                  const SourceGradient &s) {
  if (!s.there) return;
  const int64_t shape[] = {a.batch, s.tokens, a.heads, a.width},
                statistics[] = {a.batch, s.tokens, a.heads, 1};
  check.that(s.out != nullptr, "%s is null; its tokens have a gradient", s.out_name);
  if (!check.ok()) return;
  check.shape(s.out_name, s.out, dense_layout(shape, 4));
  if (!j.turns) return;
  check.shape(s.x_name, s.x, dense_layout(shape, 4));
  if (s.norm == 0) return;
  check.that(s.mean && s.rstd, "%s and %s are needed by the normalisation", s.mean_name,
             s.rstd_name);
  if (!check.ok()) return;
  check.shape(s.mean_name, s.mean, dense_layout(statistics, 4));
  check.shape(s.rstd_name, s.rstd, dense_layout(statistics, 4));
  if (s.norm != kAffine) return;
  check.that(s.weight && s.weight_out && s.bias_out,
             "%s, %s and %s are needed by a normalisation with weights", s.weight_name,
             s.weight_out_name, s.bias_out_name);
  if (!check.ok()) return;
  const Layout row = dense_layout(&a.width, 1);
  check.shape(s.weight_name, s.weight, row).shape(s.weight_out_name, s.weight_out, row);
  check.shape(s.bias_out_name, s.bias_out, row);
}

void check_sizes(Check &check, ConcatGradient &a) {
  const aclTensor &query = *a.joined[0].sources[0].x;
  a.batch = query.shape[0];
  a.heads = query.shape[2];
  a.width = query.shape[3];
  check.that(a.width >= 2 && a.width <= kWidestHead && a.width % 2 == 0,
             "query has heads of %lld elements; allowed: an even number up to %lld", wide(a.width),
             wide(kWidestHead));
  // Values have as many tokens as keys.
  for (int n = 0; n < 3; ++n) {
    for (int i = 0; i < 2; ++i) {
      SourceGradient &s = a.joined[n].sources[i];
      const aclTensor *x = a.joined[n == 2 ? 1 : n].sources[i].x;
      s.there = x != nullptr;
      s.tokens = x ? x->shape[1] : 0;
      s.norm = a.joined[n].turns ? a.norms[i] : 0;
    }
    SourceGradient *s = a.joined[n].sources;
    s[a.order == 0 ? 1 : 0].first = s[a.order == 0 ? 0 : 1].tokens;
    const int64_t all = check.size(a.joined[n].name, Checked(s[0].tokens) + s[1].tokens);
    const int64_t shape[] = {a.batch, a.heads, all, a.width};
    check.shape(a.joined[n].name, a.joined[n].given, dense_layout(shape, 4));
  }
  each_source(a, [&](const JoinedGradient &j, const SourceGradient &s, int) {
    if (check.ok()) check_source(check, a, j, s);
  });
  if (!check.ok() || a.rope == 0) return;
  check.rank("ropeSin", a.sin, 2, 2);
  if (!check.ok()) return;
  a.rows = a.sin->shape[0];
  const int64_t table[] = {a.rows, a.width},
                most = std::min(a.joined[0].given->shape[2], a.joined[1].given->shape[2]);
  check.shape("ropeSin", a.sin, dense_layout(table, 2));
  check.shape("ropeCos", a.cos, dense_layout(table, 2));
  check.that(a.rows >= 1 && a.rows <= most,
             "ropeSin has %lld rows; allowed: 1 to %lld, the joined tokens", wide(a.rows),
             wide(most));
}

struct RotationTables {
  std::vector<float> cos, sin;
};

struct WeightSums {
  std::vector<double> weight, bias;
};

// What is read before the first result is written.
struct SourceOperands {
  View given, x;
  std::vector<float> weight, mean, rstd;
};

void run_source(PlanContext &c, const ConcatGradient &a, const JoinedGradient &j,
                const SourceGradient &s, const SourceOperands &o, const RotationTables &tables) {
  const int64_t width = a.width, rows = a.batch * s.tokens * a.heads, all = j.given->shape[2];
  const RowSource<float> gradient(o.given);
  const RowTarget<float> out(view_of(c.tensor(s.out_at)));
  std::vector<RowSource<float>> source;
  if (s.norm != 0) source.emplace_back(o.x);
  const int64_t per_piece = std::max<int64_t>(1, (rows + kPieces - 1) / kPieces);
  const int64_t pieces = (rows + per_piece - 1) / per_piece;
  const auto size = static_cast<size_t>(width);
  std::vector<WeightSums> sums(static_cast<size_t>(s.norm == kAffine ? pieces : 0));
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> memory(3 * size);
    float *slope = memory.data(), *other = slope + width, *value = other + width;
    for (int64_t piece = begin; piece < end; ++piece) {
      WeightSums *sum = s.norm == kAffine ? &sums[static_cast<size_t>(piece)] : nullptr;
      if (sum) *sum = {std::vector<double>(size, 0.0), std::vector<double>(size, 0.0)};
      for (int64_t row = piece * per_piece; row < std::min(rows, (piece + 1) * per_piece); ++row) {
        const int64_t head = row % a.heads, token = row / a.heads % s.tokens + s.first,
                      batch = row / a.heads / s.tokens;
        gradient.read(((batch * a.heads + head) * all + token) * width, width, slope);
        if (j.turns && token < a.rows) {
          rotate_back(a.rope == 1 ? kInterleave : kHalf, slope, tables.cos.data() + token * width,
                      tables.sin.data() + token * width, width, other);
          std::swap(slope, other);
        }
        if (s.norm != 0) {
          const auto at = static_cast<size_t>(row);
          source[0].read(row * width, width, value);
          double plain = 0.0, along = 0.0;
          for (int64_t i = 0; i < width; ++i) {
            const auto k = static_cast<size_t>(i);
            value[i] = (value[i] - o.mean[at]) * o.rstd[at];
            if (sum) {
              sum->weight[k] += static_cast<double>(slope[i]) * value[i];
              sum->bias[k] += static_cast<double>(slope[i]);
              slope[i] *= o.weight[k];
            }
            plain += static_cast<double>(slope[i]);
            along += static_cast<double>(slope[i]) * value[i];
          }
          const auto average = static_cast<float>(plain / static_cast<double>(width)),
                     share = static_cast<float>(along / static_cast<double>(width));
          for (int64_t i = 0; i < width; ++i)
            slope[i] = o.rstd[at] * (slope[i] - average - value[i] * share);
        }
        out.write(row * width, width, slope);
      }
    }
  });
  if (s.norm != kAffine) return;
  std::vector<float> whole(size);
  for (const bool bias : {false, true}) {
    for (size_t k = 0; k < size; ++k) {
      double total = 0.0;
      for (const WeightSums &sum : sums) total += bias ? sum.bias[k] : sum.weight[k];
      whole[k] = static_cast<float>(total);
    }
    RowTarget<float>(view_of(c.tensor(bias ? s.bias_out_at : s.weight_out_at)))
        .write(0, width, whole.data());
  }
}

Status run_concat_gradient(PlanContext &c, const ConcatGradient &a) {
  std::vector<View> results;
  each_source(a, [&](const JoinedGradient &, const SourceGradient &s, int) {
    for (const size_t at : {s.out_at, s.weight_out_at, s.bias_out_at}) {
      if (c.has(at)) results.push_back(view_of(c.tensor(at)));
    }
  });
  // What one result would overwrite while another still needs it is copied.
  Apart apart;
  const auto safe = [&](size_t at) {
    View view = view_of(c.tensor(at));
    for (const View &result : results) view = apart.from(view, {result});
    return view;
  };
  const RotationTables tables{read_all<float>(c, a.cos_at, a.rows * a.width, 0.0f),
                              read_all<float>(c, a.sin_at, a.rows * a.width, 0.0f)};
  std::vector<SourceOperands> operands;
  each_source(a, [&](const JoinedGradient &j, const SourceGradient &s, int) {
    const bool used = s.there && s.norm != 0;
    const int64_t rows = used ? a.batch * s.tokens * a.heads : 0;
    operands.push_back({safe(j.at), used ? safe(s.x_at) : View(),
                        read_all<float>(c, s.weight_at, s.norm == kAffine ? a.width : 0, 1.0f),
                        read_all<float>(c, s.mean_at, rows, 0.0f),
                        read_all<float>(c, s.rstd_at, rows, 1.0f)});
  });
  size_t n = 0;
  each_source(a, [&](const JoinedGradient &j, const SourceGradient &s, int) {
    const SourceOperands &o = operands[n++];
    if (s.there && s.tokens > 0) run_source(c, a, j, s, o, tables);
  });
  return 0;
}

Status plan_concat_gradient(ConcatGradient &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op, KernelTime::linear);
  for (auto &j : a.joined) j.at = plan.input(j.given);
  SourceGradient *const query = a.joined[0].sources, *const key = a.joined[1].sources,
                        *const value = a.joined[2].sources;
  const auto input = [&](const aclTensor *tensor, bool used) {
    return used ? plan.input(tensor) : plan.unused(tensor);
  };
  const auto output = [&](const aclTensor *tensor, bool used) {
    return used ? plan.output(tensor) : plan.unused(tensor);
  };
  for (int i = 0; i < 2; ++i) {
    for (SourceGradient *s : {&query[i], &key[i]}) s->x_at = input(s->x, s->there && s->norm != 0);
  }
  for (int i = 0; i < 2; ++i) {
    for (SourceGradient *s : {&query[i], &key[i]}) {
      s->weight_at = input(s->weight, s->there && s->norm == kAffine);
      s->mean_at = input(s->mean, s->there && s->norm != 0);
      s->rstd_at = input(s->rstd, s->there && s->norm != 0);
    }
  }
  a.sin_at = input(a.sin, a.rope != 0);
  a.cos_at = input(a.cos, a.rope != 0);
  for (int i = 0; i < 2; ++i) {
    for (SourceGradient *s : {&query[i], &key[i], &value[i]}) s->out_at = output(s->out, s->there);
  }
  for (int i = 0; i < 2; ++i) {
    for (SourceGradient *s : {&query[i], &key[i]}) {
      s->weight_out_at = output(s->weight_out, s->there && s->norm == kAffine);
      s->bias_out_at = output(s->bias_out, s->there && s->norm == kAffine);
    }
    value[i].weight_at = value[i].mean_at = value[i].rstd_at = value[i].weight_out_at =
        value[i].bias_out_at = plan.input_if(nullptr);
  }
  const auto kept = std::make_shared<const ConcatGradient>(a);
  return plan.finish([kept](PlanContext &c) { return run_concat_gradient(c, *kept); },
                     workspace_size, executor);
}

}  // namespace
}  // namespace emu

#define EMU_SOURCE(X, WEIGHT, MEAN, RSTD, OUT, WEIGHT_OUT, BIAS_OUT) \
  {#X, #WEIGHT, #MEAN, #RSTD, #OUT, #WEIGHT_OUT, #BIAS_OUT,          \
   X,  WEIGHT,  MEAN,  RSTD,  OUT,  WEIGHT_OUT,  BIAS_OUT}
#define EMU_VALUES(OUT) \
  {"", "", "", "", #OUT, "", "", nullptr, nullptr, nullptr, nullptr, OUT, nullptr, nullptr}

EMU_OPERATOR(NormRopeConcatBackward,
             (const aclTensor *gradQueryOutput, const aclTensor *gradKeyOutput,
              const aclTensor *gradValueOutput, const aclTensor *query, const aclTensor *key,
              const aclTensor *encoderQuery, const aclTensor *encoderKey,
              const aclTensor *normQueryWeight, const aclTensor *normQueryMean,
              const aclTensor *normQueryRstd, const aclTensor *normKeyWeight,
              const aclTensor *normKeyMean, const aclTensor *normKeyRstd,
              const aclTensor *normAddedQueryWeight, const aclTensor *normAddedQueryMean,
              const aclTensor *normAddedQueryRstd, const aclTensor *normAddedKeyWeight,
              const aclTensor *normAddedKeyMean, const aclTensor *normAddedKeyRstd,
              const aclTensor *ropeSin, const aclTensor *ropeCos, int64_t normType,
              int64_t normAddedType, int64_t ropeType, int64_t concatOrder, aclTensor *gradQuery,
              aclTensor *gradKey, aclTensor *gradValue, aclTensor *gradEncoderQuery,
              aclTensor *gradEncoderKey, aclTensor *gradEncoderValue,
              aclTensor *gradNormQueryWeight, aclTensor *gradNormQueryBias,
              aclTensor *gradNormKeyWeight, aclTensor *gradNormKeyBias,
              aclTensor *gradNormAddedQueryWeight, aclTensor *gradNormAddedQueryBias,
              aclTensor *gradNormAddedKeyWeight, aclTensor *gradNormAddedKeyBias)) {
  using namespace emu;
  Check check("aclnnNormRopeConcatBackward");
  ConcatGradient a{
      check.op(),
      {{"gradQueryOutput",
        gradQueryOutput,
        {EMU_SOURCE(query, normQueryWeight, normQueryMean, normQueryRstd, gradQuery,
                    gradNormQueryWeight, gradNormQueryBias),
         EMU_SOURCE(encoderQuery, normAddedQueryWeight, normAddedQueryMean, normAddedQueryRstd,
                    gradEncoderQuery, gradNormAddedQueryWeight, gradNormAddedQueryBias)},
        true},
       {"gradKeyOutput",
        gradKeyOutput,
        {EMU_SOURCE(key, normKeyWeight, normKeyMean, normKeyRstd, gradKey, gradNormKeyWeight,
                    gradNormKeyBias),
         EMU_SOURCE(encoderKey, normAddedKeyWeight, normAddedKeyMean, normAddedKeyRstd,
                    gradEncoderKey, gradNormAddedKeyWeight, gradNormAddedKeyBias)},
        true},
       {"gradValueOutput",
        gradValueOutput,
        {EMU_VALUES(gradValue), EMU_VALUES(gradEncoderValue)},
        false}},
      ropeSin,
      ropeCos,
      {normType, normAddedType},
      ropeType,
      concatOrder};
  check_tensors(check, a);
  check.tiling();
  if (check.ok()) check_attributes(check, a);
  if (check.ok()) check_sizes(check, a);
  if (!check.ok()) return check.status();
  return plan_concat_gradient(a, workspaceSize, executor);
}
EMU_CATCH
