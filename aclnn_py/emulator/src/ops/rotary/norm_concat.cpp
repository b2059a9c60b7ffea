// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// NormRopeConcat: tokens of two sources normalised, joined along the sequence, turned, and laid out
// with the heads in front. float32 inside, rounded once. A row of the tables turns the token of its
// number in the joined sequence; tokens behind the tables stay as they are.
#include "aclnnop/posembedding.h"
#include "core/statuses.h"
#include "ops/moe/routing.h"
#include "ops/norm/layer.h"
#include "ops/norm/rms.h"
#include "ops/rotary/rotate.h"

namespace emu {
namespace {

constexpr int64_t kWidestHead = 1024;

enum Norm : int64_t { kPlain = 0, kLayer = 1, kLayerAffine = 2, kRms = 3, kRmsAffine = 4 };

bool scales(int64_t norm) { return norm == kLayerAffine || norm == kRmsAffine; }
bool centres(int64_t norm) { return norm == kLayer || norm == kLayerAffine; }

// Tokens of one source: queries, keys or values.
struct Part {
  const char *name, *weight_name, *bias_name, *mean_name, *rstd_name;
  const aclTensor *x, *weight = nullptr, *bias = nullptr, *mean = nullptr, *rstd = nullptr;
};

// What becomes one result: the tokens themselves and those of the encoder.
struct JoinStream {
  Part parts[2];
  const char *out_name;
  const aclTensor *out;
  bool turns;  // queries and keys are normalised and turned, values are not
};

struct JoinCall {
  JoinStream streams[3];
  const aclTensor *sin, *cos;
  int64_t norms[2], rope, order;
  double epsilon;
  bool training;
};

constexpr const char *kNormNames[] = {"normType", "normAddedType"};

void check_presence(Check &check, const JoinCall &a) {
  for (const JoinStream &s : a.streams) {
    check.required(s.parts[0].name, s.parts[0].x).optional(s.parts[1].name, s.parts[1].x);
    check.required(s.out_name, s.out);
  }
  for (const JoinStream &s : a.streams) {
    for (const Part &p : s.parts) {
      if (!s.turns) continue;
      check.optional(p.weight_name, p.weight).optional(p.bias_name, p.bias);
      check.optional(p.mean_name, p.mean).optional(p.rstd_name, p.rstd);
    }
  }
  check.optional("ropeSinOptional", a.sin).optional("ropeCosOptional", a.cos);
}

void check_dtypes(Check &check, const JoinCall &a) {
  const aclTensor &query = *a.streams[0].parts[0].x;
  const auto alike = [&](const char *name, const aclTensor *tensor) {
    check.dtype(name, tensor);
    if (tensor && check.ok()) check.same_dtype(name, tensor->dtype, "query", query.dtype);
  };
  for (const JoinStream &s : a.streams) {
    for (const Part &p : s.parts) {
      alike(p.name, p.x);
      if (!s.turns) continue;
      alike(p.weight_name, p.weight);
      alike(p.bias_name, p.bias);
      check.dtype(p.mean_name, p.mean).dtype(p.rstd_name, p.rstd);
    }
    alike(s.out_name, s.out);
  }
  alike("ropeSinOptional", a.sin);
  alike("ropeCosOptional", a.cos);
}

// What a kind of norm and training need.
void check_needs(Check &check, const JoinCall &a) {
  for (int i = 0; i < 2; ++i)
    check.that(a.norms[i] >= kPlain && a.norms[i] <= kRmsAffine, "%s is %lld; allowed: 0 to 4",
               kNormNames[i], wide(a.norms[i]));
  for (const JoinStream &s : a.streams) {
    for (int i = 0; i < 2 && s.turns; ++i) {
      const Part &p = s.parts[i];
      const int64_t norm = a.norms[i];
      const bool trained = a.training;
      if (p.x == nullptr) continue;
      check.that(!scales(norm) || p.weight, "%s is null; with %s %lld it is needed", p.weight_name,
                 kNormNames[i], wide(norm));
      check.that(norm != kLayerAffine || p.bias, "%s is null; with %s 2 it is needed", p.bias_name,
                 kNormNames[i]);
      check.that(!trained || !centres(norm) || p.mean, "%s is null; training needs it",
                 p.mean_name);
      check.that(!trained || norm == kPlain || p.rstd, "%s is null; training needs it",
                 p.rstd_name);
    }
  }
  check.that(a.rope == 0 || a.sin, "ropeSinOptional is null; with ropeType %lld it is needed",
             wide(a.rope));
  check.that(a.rope == 0 || a.cos, "ropeCosOptional is null; with ropeType %lld it is needed",
             wide(a.rope));
}

int64_t tokens_of(const Part &p) { return p.x == nullptr ? 0 : p.x->shape[1]; }

int64_t joined(Check &check, const JoinStream &s) {
  return check.size(s.parts[0].name, Checked(tokens_of(s.parts[0])) + tokens_of(s.parts[1]));
}

void check_stream(Check &check, const JoinCall &a, const JoinStream &s) {
  const aclTensor &query = *a.streams[0].parts[0].x;
  const int64_t batch = query.shape[0], heads = query.shape[2], width = query.shape[3];
  for (int i = 0; i < 2; ++i) {
    const Part &p = s.parts[i];
    if (p.x == nullptr) continue;
    const int64_t tokens[] = {batch, p.x->shape[1], heads, width};
    const int64_t statistics[] = {batch, p.x->shape[1], heads, 1};
    check.shape(p.name, p.x, dense_layout(tokens, 4));
    if (!s.turns) continue;
    if (scales(a.norms[i])) check.shape(p.weight_name, p.weight, dense_layout(&width, 1));
    if (a.norms[i] == kLayerAffine) check.shape(p.bias_name, p.bias, dense_layout(&width, 1));
    if (!a.training || a.norms[i] == kPlain) continue;
    check.shape(p.rstd_name, p.rstd, dense_layout(statistics, 4));
    if (centres(a.norms[i])) check.shape(p.mean_name, p.mean, dense_layout(statistics, 4));
  }
  const int64_t result[] = {batch, heads, joined(check, s), width};
  check.shape(s.out_name, s.out, dense_layout(result, 4));
}

void check_tables_of(Check &check, const JoinCall &a) {
  if (a.rope == 0) return;
  check.rank("ropeSinOptional", a.sin, 2, 2);
  if (!check.ok()) return;
  const int64_t width = a.streams[0].parts[0].x->shape[3], rows = a.sin->shape[0];
  const int64_t most = std::min(joined(check, a.streams[0]), joined(check, a.streams[1]));
  const int64_t table[] = {rows, width};
  check.shape("ropeSinOptional", a.sin, dense_layout(table, 2));
  check.shape("ropeCosOptional", a.cos, dense_layout(table, 2));
  check.that(rows >= 1 && rows <= most,
             "ropeSinOptional has %lld rows; allowed: 1 to %lld, the joined tokens", wide(rows),
             wide(most));
}

struct PartAt {
  size_t x, weight, bias, mean, rstd;
  int64_t tokens, first, norm;  // first: where they begin in the joined sequence
};

struct StreamAt {
  PartAt parts[2];
  size_t out;
  int64_t joined;
  bool turns;
};

struct JoinKernel {
  StreamAt streams[3];
  size_t sin, cos;
  int64_t batch, heads, width, rope, rows;
  double epsilon;
};

// What is read before the first result is written.
struct Loaded {
  View x;
  std::vector<float> weight, bias;
};

struct Tables {
  std::vector<float> cos, sin;
};

// The rows of one source on their way to a result.
void run_part(PlanContext &c, const JoinKernel &k, const StreamAt &s, const PartAt &p,
              const Loaded &given, const Tables &tables) {
  const RowSource<float> x(given.x);
  const RowTarget<float> to(view_of(c.tensor(s.out)));
  const int64_t width = k.width, norm = s.turns ? p.norm : int64_t{kPlain};
  const auto statistics = [&](size_t at) { return c.has(at) ? view_of(c.tensor(at)) : View(); };
  const View means = statistics(p.mean), rstds = statistics(p.rstd);
  for_each_row<float>(k.batch * p.tokens * k.heads, width, 2, [&](int64_t row, float *values) {
    float *turned = values + width, *result = values;
    x.read(row * width, width, values);
    RowStatistics found{};
    if (centres(norm)) {
      found = layer_normalise(values, width, k.epsilon, given.weight.data(), given.bias.data());
    } else if (norm != kPlain) {
      found.rstd = rms_normalise(values, width, k.epsilon, given.weight.data());
    }
    if (means.data) RowTarget<float>(means).write(row, 1, &found.mean);
    if (rstds.data) RowTarget<float>(rstds).write(row, 1, &found.rstd);
    const int64_t head = row % k.heads, token = row / k.heads % p.tokens + p.first,
                  batch = row / k.heads / p.tokens;
    if (s.turns && token < k.rows) {
      rotate(k.rope == 1 ? kInterleave : kHalf, values, tables.cos.data() + token * width,
             tables.sin.data() + token * width, width, turned);
      result = turned;
    }
    to.write(((batch * k.heads + head) * s.joined + token) * width, width, result);
  });
}

Status run_join(PlanContext &c, const JoinKernel &k) {
  Apart apart;
  const auto out = [&](int n) { return view_of(c.tensor(k.streams[n].out)); };
  const Tables tables{read_all<float>(c, k.cos, k.rows * k.width, 0.0f),
                      read_all<float>(c, k.sin, k.rows * k.width, 0.0f)};
  std::vector<Loaded> loaded;
  for (const StreamAt &s : k.streams) {
    for (const PartAt &p : s.parts) {
      const View x = c.has(p.x) ? view_of(c.tensor(p.x)) : View();
      loaded.push_back({p.tokens > 0 ? apart.from(x, {out(0), out(1), out(2)}) : View(),
                        read_all<float>(c, p.weight, k.width, 1.0f),
                        read_all<float>(c, p.bias, k.width, 0.0f)});
    }
  }
  size_t n = 0;
  for (const StreamAt &s : k.streams) {
    for (const PartAt &p : s.parts) {
      if (p.tokens > 0) run_part(c, k, s, p, loaded[n], tables);
      ++n;
    }
  }
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(NormRopeConcat,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *encoderQueryOptional, const aclTensor *encoderKeyOptional,
              const aclTensor *encoderValueOptional, const aclTensor *normQueryWeightOptional,
              const aclTensor *normQueryBiasOptional, const aclTensor *normKeyWeightOptional,
              const aclTensor *normKeyBiasOptional, const aclTensor *normAddedQueryWeightOptional,
              const aclTensor *normAddedQueryBiasOptional,
              const aclTensor *normAddedKeyWeightOptional,
              const aclTensor *normAddedKeyBiasOptional, const aclTensor *ropeSinOptional,
              const aclTensor *ropeCosOptional, int64_t normType, int64_t normAddedType,
              int64_t ropeType, int64_t concatOrder, double eps, bool isTraining,
              aclTensor *queryOutput, aclTensor *keyOutput, aclTensor *valueOutput,
              aclTensor *normQueryMeanOptional, aclTensor *normQueryRstdOptional,
              aclTensor *normKeyMeanOptional, aclTensor *normKeyRstdOptional,
              aclTensor *normAddedQueryMeanOptional, aclTensor *normAddedQueryRstdOptional,
              aclTensor *normAddedKeyMeanOptional, aclTensor *normAddedKeyRstdOptional)) {
  using namespace emu;
  constexpr const char *op = "aclnnNormRopeConcat";
  const JoinCall a{
      {{{{"query", "normQueryWeightOptional", "normQueryBiasOptional", "normQueryMeanOptional",
          "normQueryRstdOptional", query, normQueryWeightOptional, normQueryBiasOptional,
          normQueryMeanOptional, normQueryRstdOptional},
         {"encoderQueryOptional", "normAddedQueryWeightOptional", "normAddedQueryBiasOptional",
          "normAddedQueryMeanOptional", "normAddedQueryRstdOptional", encoderQueryOptional,
          normAddedQueryWeightOptional, normAddedQueryBiasOptional, normAddedQueryMeanOptional,
          normAddedQueryRstdOptional}},
        "queryOutput",
        queryOutput,
        true},
       {{{"key", "normKeyWeightOptional", "normKeyBiasOptional", "normKeyMeanOptional",
          "normKeyRstdOptional", key, normKeyWeightOptional, normKeyBiasOptional,
          normKeyMeanOptional, normKeyRstdOptional},
         {"encoderKeyOptional", "normAddedKeyWeightOptional", "normAddedKeyBiasOptional",
          "normAddedKeyMeanOptional", "normAddedKeyRstdOptional", encoderKeyOptional,
          normAddedKeyWeightOptional, normAddedKeyBiasOptional, normAddedKeyMeanOptional,
          normAddedKeyRstdOptional}},
        "keyOutput",
        keyOutput,
        true},
       {{{"value", "", "", "", "", value},
         {"encoderValueOptional", "", "", "", "", encoderValueOptional}},
        "valueOutput",
        valueOutput,
        false}},
      ropeSinOptional,
      ropeCosOptional,
      {normType, normAddedType},
      ropeType,
      concatOrder,
      eps,
      isTraining};
  Check check(op);
  check_presence(check, a);
  if (check.ok()) check_dtypes(check, a);
  if (!check.ok()) return check.status();
  for (const auto &[name, given, last] : {std::tuple{"ropeType", ropeType, int64_t{2}},
                                          std::tuple{"concatOrder", concatOrder, int64_t{1}}}) {
    if (given < 0 || given > last)
      return fail(kRuntimeError, "%s: %s is %lld; allowed: 0 to %lld", op, name, wide(given),
                  wide(last));
  }
  check.rank("query", query, 4, 4);
  check.tiling();
  if (check.ok()) check_needs(check, a);
  if (!check.ok()) return check.status();
  const int64_t width = query->shape[3];
  check.that(width >= 1 && width <= kWidestHead && width % 2 == 0,
             "query has heads of %lld elements; allowed: an even number up to %lld", wide(width),
             wide(kWidestHead));
  for (const JoinStream &s : a.streams) {
    for (const Part &p : s.parts)
      if (p.x) check.rank(p.name, p.x, 4, 4);
    if (check.ok()) check_stream(check, a, s);
  }
  if (check.ok()) check_tables_of(check, a);
  if (!check.ok()) return check.status();
  PlanBuilder plan(op, KernelTime::linear);
  JoinKernel k{};
  for (int n = 0; n < 3; ++n) {
    const JoinStream &s = a.streams[n];
    StreamAt &at = k.streams[n];
    const bool behind = concatOrder == 1;  // the tokens themselves, behind those of the encoder
    at.turns = s.turns;
    at.joined = tokens_of(s.parts[0]) + tokens_of(s.parts[1]);
    for (int i = 0; i < 2; ++i) {
      const Part &p = s.parts[i];
      const bool kept = isTraining && s.turns && p.x && a.norms[i] != kPlain;
      const auto read = [&](const aclTensor *tensor, bool wanted) {
        return wanted && p.x ? plan.input(tensor) : plan.unused(tensor);
      };
      const auto result = [&](const aclTensor *tensor, bool wanted) {
        return wanted ? plan.output(tensor) : plan.unused(tensor);
      };
      at.parts[i] = {plan.input(p.x),
                     read(p.weight, scales(a.norms[i])),
                     read(p.bias, a.norms[i] == kLayerAffine),
                     result(p.mean, kept && centres(a.norms[i])),
                     result(p.rstd, kept),
                     tokens_of(p),
                     (i == 0) == behind ? tokens_of(s.parts[1 - i]) : 0,
                     a.norms[i]};
    }
    at.out = plan.output(s.out);
  }
  const auto table = [&](const aclTensor *tensor) {
    return ropeType == 0 ? plan.unused(tensor) : plan.input(tensor);
  };
  k.sin = table(ropeSinOptional), k.cos = table(ropeCosOptional);
  k.batch = query->shape[0], k.heads = query->shape[2], k.width = width, k.rope = ropeType;
  k.rows = ropeType == 0 ? 0 : ropeSinOptional->shape[0], k.epsilon = eps;
  const auto kept = std::make_shared<const JoinKernel>(k);
  return plan.finish([kept](PlanContext &c) { return run_join(c, *kept); }, workspaceSize,
                     executor);
}
EMU_CATCH
