// SPDX-License-Identifier: Apache-2.0
// The plan of both forms, and the run of the forward one in the kernel of inference.
#include "ops/attention/training/training.h"

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

Status plan_training(TrainingCall &call, TrainingForm form, uint64_t *workspace_size,
                     aclOpExecutor **executor) {
  const auto training = std::make_shared<Training>();
  if (const Status s = check_training(call, form, training.get())) return s;
  for (auto *t : {&call.softmax, &call.pse_gradient, &call.d_scale_q, &call.d_scale_k,
                  &call.d_scale_v, &call.d_scale_dy, &call.d_scale_o})
    t->accessed = false;
  PlanBuilder plan(call.op);
  call.plan(plan);
  Attention &a = training->attention;
  a.query_at = call.query.at;
  a.key_at = call.key.at;
  a.value_at = call.value.at;
  a.query_rope_at = call.query_rope.at;
  a.key_rope_at = call.key_rope.at;
  a.pse_at = call.pse.at;
  a.mask_at = call.mask.at;
  a.sink_at = call.sink.at;
  a.out_at = call.out.at;
  Training &t = *training;
  t.drop_at = call.drop.at;
  t.padding_at = call.padding.at;
  t.highest_at = call.highest.at;
  t.sum_at = call.sum.at;
  t.dy_at = call.dy.at;
  t.query_gradient_at = call.query_gradient.at;
  t.key_gradient_at = call.key_gradient.at;
  t.value_gradient_at = call.value_gradient.at;
  t.query_rope_gradient_at = call.query_rope_gradient.at;
  t.key_rope_gradient_at = call.key_rope_gradient.at;
  t.sink_gradient_at = call.sink_gradient.at;
  const std::shared_ptr<const Training> kept = training;
  return plan.finish(
      [kept, gradient = form.gradient](PlanContext &c) {
        return gradient ? run_training_gradient(*kept, c) : run_training(*kept, c);
      },
      workspace_size, executor);
}

}  // namespace emu
