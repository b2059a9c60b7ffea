// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Linear attention that keeps a matrix per head: each token fades it, corrects what it answers to
// the token's key, and asks it with the token's query. The matrix stays float32 within a call.
#include <cmath>

#include "aclnnop/attention.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

struct DeltaArguments {
  const char *op;
  const aclTensor *query, *key, *value, *beta;
  const aclTensor *state;  // in: of tokens or of sequences
  const char *state_name;
  const aclTensor *lengths, *places, *g, *gk, *accepted;
  float scale;
  const aclTensor *out, *final_state;  // null: `state` is written
  int64_t most_key_heads, most_value_heads, most_key, most_value;
};

struct DeltaSizes {
  int64_t tokens, key_heads, value_heads, key, value, sequences;
};

DeltaSizes sizes_of(const DeltaArguments &a) {
  return {a.query->shape[0], a.query->shape[1], a.value->shape[1],
          a.query->shape[2], a.value->shape[2], a.lengths->shape[0]};
}

void check_extent(Check &check, const char *what, int64_t extent, int64_t most) {
  check.that(extent > 0 && extent <= most, "%s is %lld; allowed: 1 to %lld", what,
             static_cast<long long>(extent), static_cast<long long>(most));
}

void check_shapes(Check &check, const DeltaArguments &a) {
  check.rank("query", a.query, 3, 3).rank("value", a.value, 3, 3);
  check.rank(a.state_name, a.state, 4, 4).rank("actualSeqLengths", a.lengths, 1, 1);
  if (!check.ok()) return;
  const DeltaSizes s = sizes_of(a);
  check_extent(check, "the second dimension of query", s.key_heads, a.most_key_heads);
  check_extent(check, "the second dimension of value", s.value_heads, a.most_value_heads);
  check_extent(check, "the last dimension of query", s.key, a.most_key);
  check_extent(check, "the last dimension of value", s.value, a.most_value);
  check.that(s.key_heads > 0 && s.value_heads % s.key_heads == 0,
             "value has %lld heads; they must be a multiple of the %lld of query",
             static_cast<long long>(s.value_heads), static_cast<long long>(s.key_heads));
  check.that(s.tokens > 0, "query has no tokens");
  check.that(s.sequences > 0, "actualSeqLengths is empty");
  if (!check.ok()) return;
  const int64_t keys[] = {s.tokens, s.key_heads, s.key},
                values[] = {s.tokens, s.value_heads, s.value};
  const Layout gates = dense_layout(values, 2);
  const int64_t of_keys[] = {s.tokens, s.value_heads, s.key};
  check.shape("key", a.key, dense_layout(keys, 3)).shape("value", a.value, dense_layout(values, 3));
  check.shape("beta", a.beta, gates).shape("gOptional", a.g, gates);
  check.shape("gkOptional", a.gk, dense_layout(of_keys, 3));
  check.shape("out", a.out, dense_layout(values, 3));
  check.shape("ssmStateIndices", a.places, dense_layout(&s.tokens, 1));
  check.shape("numAcceptedTokens", a.accepted, dense_layout(&s.sequences, 1));
  const int64_t slots = a.final_state ? s.sequences : a.state->shape[0];
  const int64_t states[] = {slots, s.value_heads, s.value, s.key};
  check.shape(a.state_name, a.state, dense_layout(states, 4));
  check.shape("finalState", a.final_state, dense_layout(states, 4));
  check.that(a.final_state || slots >= s.tokens,
             "%s has %lld matrices; there must be one for each of the %lld tokens", a.state_name,
             static_cast<long long>(slots), static_cast<long long>(s.tokens));
}

// Sums in eight lanes, which the compiler turns into vectors.
float dot(const float *x, const float *y, int64_t count) {
  float lanes[8] = {};
  int64_t i = 0;
  for (; i + 8 <= count; i += 8)
    for (int lane = 0; lane < 8; ++lane) lanes[lane] += x[i + lane] * y[i + lane];
  for (; i < count; ++i) lanes[0] += x[i] * y[i];
  return ((lanes[0] + lanes[4]) + (lanes[1] + lanes[5])) +
         ((lanes[2] + lanes[6]) + (lanes[3] + lanes[7]));
}

// What one head reads of a token.
struct Token {
  std::vector<float> query, key, value, fade, answer;
  explicit Token(const DeltaSizes &s)
      : query(static_cast<size_t>(s.key)),
        key(static_cast<size_t>(s.key)),
        value(static_cast<size_t>(s.value)),
        fade(static_cast<size_t>(s.key)),
        answer(static_cast<size_t>(s.value)) {}
};

// The matrix (value, key) fades, learns and answers.
void step(float *state, Token &t, float beta, float scale, const DeltaSizes &s) {
  for (int64_t r = 0; r < s.value; ++r) {
    float *row = state + r * s.key;
    for (int64_t i = 0; i < s.key; ++i) row[i] *= t.fade[static_cast<size_t>(i)];
    const float learned = beta * (t.value[static_cast<size_t>(r)] - dot(row, t.key.data(), s.key));
    for (int64_t i = 0; i < s.key; ++i) row[i] += learned * t.key[static_cast<size_t>(i)];
    t.answer[static_cast<size_t>(r)] = dot(row, t.query.data(), s.key) * scale;
  }
}

// Where each sequence begins, and whether all that its data name exists.
Status read_lengths(const char *op, PlanContext &c, size_t lengths, const DeltaSizes &s,
                    std::vector<int64_t> *starts) {
  const auto counts = read_all<int64_t>(c, lengths, s.sequences, 0);
  starts->assign(1, 0);
  for (size_t b = 0; b < counts.size(); ++b) {
    const int64_t rest = s.tokens - starts->back();
    if (counts[b] < 0 || counts[b] > rest) {
      return fail(kKernelFault, "%s: actualSeqLengths[%zu] is %lld; %lld tokens are left of %lld.",
                  op, b, static_cast<long long>(counts[b]), static_cast<long long>(rest),
                  static_cast<long long>(s.tokens));
    }
    starts->push_back(starts->back() + counts[b]);
  }
  return 0;
}

struct DeltaPlan {
  const char *op;
  size_t query, key, value, beta, state, lengths, places, g, gk, accepted, out, final_state;
  DeltaSizes sizes;
  float scale;
};

// The slots that the tokens name, and the one each sequence begins with.
Status read_slots(PlanContext &c, const DeltaPlan &p, const std::vector<int64_t> &starts,
                  std::vector<int64_t> *slots, std::vector<int64_t> *first) {
  const int64_t held = c.tensor(p.state).shape[0];
  *slots = read_all<int64_t>(c, p.places, p.sizes.tokens, 0);
  for (size_t t = 0; t < slots->size(); ++t) {
    const int64_t slot = (*slots)[t];
    if (slot < 0 || slot >= held) {
      return fail(kKernelFault, "%s: ssmStateIndices[%zu] is %lld; allowed: 0 to %lld.", p.op, t,
                  static_cast<long long>(slot), static_cast<long long>(held - 1));
    }
  }
  const auto accepted = read_all<int64_t>(c, p.accepted, p.sizes.sequences, 1);
  for (size_t b = 0; b < accepted.size(); ++b) {
    const int64_t length = starts[b + 1] - starts[b];
    if (length > 0 && (accepted[b] < 1 || accepted[b] > length)) {
      return fail(kKernelFault, "%s: numAcceptedTokens[%zu] is %lld; allowed: 1 to %lld.", p.op, b,
                  static_cast<long long>(accepted[b]), static_cast<long long>(length));
    }
    first->push_back(length > 0 ? (*slots)[static_cast<size_t>(starts[b] + accepted[b] - 1)] : 0);
  }
  return 0;
}

Status run_delta(PlanContext &c, const DeltaPlan &p) {
  const DeltaSizes s = p.sizes;
  std::vector<int64_t> starts, slots, first;
  if (const Status status = read_lengths(p.op, c, p.lengths, s, &starts)) return status;
  const bool slotted = c.has(p.places);
  if (slotted)
    if (const Status status = read_slots(c, p, starts, &slots, &first)) return status;
  const View out = view_of(c.tensor(p.out));
  const View kept = view_of(c.tensor(slotted ? p.state : p.final_state));
  Operands operands;
  const auto safe = [&](size_t index) {
    return RowSource<float>(operands.safe(view_of(c.tensor(index)), {out, kept}));
  };
  const RowSource<float> query = safe(p.query), key = safe(p.key), value = safe(p.value);
  const RowSource<float> before(slotted ? kept
                                        : operands.safe(view_of(c.tensor(p.state)), {out, kept}));
  const auto beta = read_all<float>(c, p.beta, s.tokens * s.value_heads, 1.0f);
  const auto g = read_all<float>(c, p.g, s.tokens * s.value_heads, 0.0f);
  const bool per_key = c.has(p.gk);
  const RowSource<float> gk = per_key ? safe(p.gk) : query;
  const RowTarget<float> out_to(out), state_to(kept);
  const int64_t matrix = s.value * s.key, shared = s.value_heads / s.key_heads;
  parallel_for(s.sequences * s.value_heads, 1, [&](int64_t begin, int64_t end) {
    std::vector<float> state(static_cast<size_t>(matrix));
    Token token(s);
    for (int64_t work = begin; work < end; ++work) {
      const int64_t b = work / s.value_heads, h = work % s.value_heads;
      const auto sequence = static_cast<size_t>(b);
      const int64_t from = slotted ? first[sequence] : b;
      if (slotted && starts[sequence] == starts[sequence + 1]) continue;
      before.read((from * s.value_heads + h) * matrix, matrix, state.data());
      for (int64_t t = starts[sequence]; t < starts[sequence + 1]; ++t) {
        const int64_t at_key = (t * s.key_heads + h / shared) * s.key;
        const int64_t at = t * s.value_heads + h;
        query.read(at_key, s.key, token.query.data());
        key.read(at_key, s.key, token.key.data());
        value.read(at * s.value, s.value, token.value.data());
        const float fade = std::exp(g[static_cast<size_t>(at)]);
        if (per_key) gk.read(at * s.key, s.key, token.fade.data());
        for (float &f : token.fade) f = per_key ? fade * std::exp(f) : fade;
        step(state.data(), token, beta[static_cast<size_t>(at)], p.scale, s);
        out_to.write(at * s.value, s.value, token.answer.data());
        if (slotted) {
          const int64_t slot = slots[static_cast<size_t>(t)];
          state_to.write((slot * s.value_heads + h) * matrix, matrix, state.data());
        }
      }
      if (!slotted) state_to.write(work * matrix, matrix, state.data());
    }
  });
  return 0;
}

Status plan_delta(const DeltaArguments &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  PlanBuilder plan(a.op);
  DeltaPlan p{};
  const bool chunked = a.final_state != nullptr;
  p.op = a.op;
  p.query = plan.input(a.query), p.key = plan.input(a.key);
  p.value = plan.input(a.value), p.beta = plan.input(a.beta);
  p.state = chunked ? plan.input(a.state) : plan.in_place(a.state);
  p.lengths = plan.input(a.lengths);
  // Without slots the absent entries take the place of an argument the operator does not have.
  p.places = plan.input_if(a.places);
  p.g = plan.input(a.g);
  p.gk = chunked ? plan.input_if(a.gk) : plan.input(a.gk);
  p.accepted = chunked ? plan.input_if(a.accepted) : plan.input(a.accepted);
  p.out = plan.output(a.out);
  p.final_state = plan.output_if(a.final_state);
  p.sizes = sizes_of(a);
  p.scale = a.scale;
  const auto kept = std::make_shared<const DeltaPlan>(p);
  return plan.finish([kept](PlanContext &c) { return run_delta(c, *kept); }, workspace_size,
                     executor);
}

void check_dtypes(Check &check, const DeltaArguments &a) {
  check.dtype("query", a.query).dtype("key", a.key).dtype("value", a.value).dtype("beta", a.beta);
  check.dtype(a.state_name, a.state).dtype("actualSeqLengths", a.lengths);
  check.dtype("gOptional", a.g).dtype("out", a.out);
  check.plain_format("query", a.query).plain_format(a.state_name, a.state);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(RecurrentGatedDeltaRule,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *beta, aclTensor *stateRef, const aclTensor *actualSeqLengths,
              const aclTensor *ssmStateIndices, const aclTensor *gOptional,
              const aclTensor *gkOptional, const aclTensor *numAcceptedTokens, float scaleValue,
              aclTensor *out)) {
  emu::DeltaArguments a{};
  a.op = "aclnnRecurrentGatedDeltaRule";
  a.query = query, a.key = key, a.value = value, a.beta = beta;
  a.state = stateRef, a.state_name = "stateRef";
  a.lengths = actualSeqLengths, a.places = ssmStateIndices;
  a.g = gOptional, a.gk = gkOptional, a.accepted = numAcceptedTokens;
  a.scale = scaleValue, a.out = out;
  a.most_key_heads = a.most_value_heads = 256;
  a.most_key = a.most_value = 512;
  emu::Check check(a.op);
  check.required("query", query).required("key", key).required("value", value);
  check.required("beta", beta).required("stateRef", stateRef);
  check.required("actualSeqLengths", actualSeqLengths);
  check.required("ssmStateIndices", ssmStateIndices).optional("gOptional", gOptional);
  check.optional("gkOptional", gkOptional).optional("numAcceptedTokens", numAcceptedTokens);
  check.required("out", out);
  emu::check_dtypes(check, a);
  check.dtype("ssmStateIndices", ssmStateIndices).dtype("gkOptional", gkOptional);
  check.dtype("numAcceptedTokens", numAcceptedTokens);
  if (check.ok()) emu::check_shapes(check, a);
  if (!check.ok()) return check.status();
  return emu::plan_delta(a, workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ChunkGatedDeltaRule,
             (const aclTensor *query, const aclTensor *key, const aclTensor *value,
              const aclTensor *beta, const aclTensor *initialState,
              const aclTensor *actualSeqLengths, const aclTensor *gOptional, float scaleValue,
              aclTensor *out, aclTensor *finalState)) {
  emu::DeltaArguments a{};
  a.op = "aclnnChunkGatedDeltaRule";
  a.query = query, a.key = key, a.value = value, a.beta = beta;
  a.state = initialState, a.state_name = "initialState";
  a.lengths = actualSeqLengths, a.g = gOptional;
  a.scale = scaleValue, a.out = out, a.final_state = finalState;
  a.most_key_heads = a.most_value_heads = 64;
  a.most_key = a.most_value = 128;
  emu::Check check(a.op);
  check.required("query", query).required("key", key).required("value", value);
  check.required("beta", beta).required("initialState", initialState);
  check.required("actualSeqLengths", actualSeqLengths).optional("gOptional", gOptional);
  check.required("out", out).required("finalState", finalState);
  emu::check_dtypes(check, a);
  check.dtype("finalState", finalState);
  if (check.ok())
    check.same_dtype("finalState", finalState->dtype, "initialState", initialState->dtype);
  if (check.ok()) emu::check_shapes(check.tiling(), a);
  if (!check.ok()) return check.status();
  return emu::plan_delta(a, workspaceSize, executor);
}
EMU_CATCH
