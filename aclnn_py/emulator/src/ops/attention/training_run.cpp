// SPDX-License-Identifier: Apache-2.0
// The plan of both forms, and the run of the forward one in the kernel of inference.
#include <algorithm>

#include "ops/attention/training.h"

namespace emu {
namespace {

Status run_training(const Training &t, PlanContext &c) {
  TrainingTerms terms(t, c);
  if (const Status s = terms.read()) return s;
  const Attention &a = terms.attention();
  const std::initializer_list<size_t> results = {a.out_at, t.highest_at, t.sum_at};
  terms.read_pairs(results);
  AttentionOperand &o = terms.attention_operand();
  o.query = terms.operand(a.query_at, a.query_form, a.width, results);
  if (a.rope_width != 0)
    o.rope = terms.operand(a.query_rope_at, a.query_form, a.rope_width, results);
  o.out = terms.heads(a.out_at, a.out_form, a.value_width);
  const PageTable pages;
  const FactorTable none(a, a.key_factors, c);
  const auto side = [&](size_t at, int64_t width) {
    Tokens::Parts parts;
    parts.width = width;
    parts.heads.push_back(terms.operand(at, a.key_form, width, results));
    return parts;
  };
  Tokens::Parts keys = side(a.key_at, a.width);
  if (a.rope_width != 0)
    keys.rope = terms.operand(a.key_rope_at, a.key_form, a.rope_width, results);
  const Tokens key_tokens(a, std::move(keys), none, pages, o.key_starts),
      value_tokens(a, side(a.value_at, a.value_width), none, pages, o.key_starts);
  compute_attention(a, o, key_tokens, value_tokens);
  return 0;
}

}  // namespace

Status plan_training(const TrainingCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  const auto training = std::make_shared<Training>();
  if (const Status s = check_training(call, training.get())) return s;
  PlanBuilder plan(call.op);
  Attention &a = training->attention;
  Training &t = *training;
  using Call = TrainingCall;
  struct Place {
    Call::Tensor member;
    size_t *at;
    bool result;
  };
  const bool forward = !call.gradient;
  a.pse_at = a.mask_at = kAbsent;
  const Place places[] = {{&Call::query, &a.query_at, false},
                          {&Call::key, &a.key_at, false},
                          {&Call::value, &a.value_at, false},
                          {&Call::query_rope, &a.query_rope_at, false},
                          {&Call::key_rope, &a.key_rope_at, false},
                          {&Call::pse, &a.pse_at, false},
                          {&Call::drop, &t.drop_at, false},
                          {&Call::padding, &t.padding_at, false},
                          {&Call::mask, &a.mask_at, false},
                          {&Call::sink, &a.sink_at, false},
                          {&Call::highest, &t.highest_at, forward},
                          {&Call::sum, &t.sum_at, forward},
                          {&Call::out, &a.out_at, forward},
                          {&Call::dy, &t.dy_at, false},
                          {&Call::query_gradient, &t.query_gradient_at, true},
                          {&Call::key_gradient, &t.key_gradient_at, true},
                          {&Call::value_gradient, &t.value_gradient_at, true},
                          {&Call::query_rope_gradient, &t.query_rope_gradient_at, true},
                          {&Call::key_rope_gradient, &t.key_rope_gradient_at, true},
                          {&Call::sink_gradient, &t.sink_gradient_at, true}};
  for (const auto &[member, given] : call.order) {
    const Call::Tensor wanted = member;
    const auto *place = std::find_if(std::begin(places), std::end(places),
                                     [&](const Place &p) { return p.member == wanted; });
    if (place == std::end(places)) plan.unused(given);
    else *place->at = place->result ? plan.output(given) : plan.input(given);
  }
  const std::shared_ptr<const Training> kept = training;
  const bool gradient = call.gradient;
  return plan.finish(
      [kept, gradient](PlanContext &c) {
        return gradient ? run_training_gradient(*kept, c) : run_training(*kept, c);
      },
      workspace_size, executor);
}

}  // namespace emu
