// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Attention apart from the experts: tokens that arrived from attention workers, sorted by expert.
#include <algorithm>
#include <cstring>

#include "aclnnop/ffn.h"
#include "core/statuses.h"
#include "ops/ffn/worker_context.h"
#include "ops/moe/routing.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnFfnWorkerBatching";
constexpr int64_t kMostExperts = 8192, kMostSessions = 1024, kMostEach = 64;

struct Results {
  const aclTensor *y, *groups, *sessions, *batches, *tokens, *choices, *scales, *count;
};

struct Problem {
  int64_t experts, sessions, tokens, each, width, value_bytes;
  bool receives, scaled;
  size_t context, y, groups, session_ids, batch_ids, token_ids, choices, scales, count;
  int64_t rows() const { return sessions * tokens * each; }
  int64_t needed_bytes() const { return width * value_bytes + (scaled ? 4 : 0); }
};

Check check_batching(const aclTensor *context, const aclIntArray *shape, int64_t layers,
                     int64_t dtype, int64_t schedules, const Results &r, Problem *p) {
  Check check(kOp);
  const std::pair<const char *, const aclTensor *> tensors[] = {
      {"scheduleContext", context}, {"y", r.y},
      {"groupList", r.groups},      {"sessionIds", r.sessions},
      {"microBatchIds", r.batches}, {"tokenIds", r.tokens},
      {"expertOffsets", r.choices}, {"dynamicScale", r.scales},
      {"actualTokenNum", r.count}};
  for (const auto &[name, tensor] : tensors) check.required(name, tensor);
  check.required("maxOutShape", shape);
  for (const auto &[name, tensor] : tensors) check.dtype(name, tensor).plain_format(name, tensor);
  if (!check.ok()) return check;
  check.that(p->experts > 0 && p->experts <= kMostExperts, "expertNum is %lld; allowed: 1 to %lld",
             wide(p->experts), wide(kMostExperts));
  check.that(shape->values.size() == 4,
             "maxOutShape has %zu values; expected 4: A, BS, topK + 1 and H", shape->values.size());
  check.that(dtype >= 0 && dtype <= 2,
             "tokenDtype is %lld; allowed: 0 (FLOAT16), 1 (BFLOAT16) and 2 (INT8)", wide(dtype));
  check.that(schedules == 0 || schedules == 1, "needSchedule is %lld; allowed: 0 and 1",
             wide(schedules));
  check.that(layers >= 0 && layers <= p->experts, "layerNum is %lld; allowed: 0 to %lld",
             wide(layers), wide(p->experts));
  if (!check.ok()) return check;
  p->sessions = shape->values[0], p->tokens = shape->values[1];
  p->each = shape->values[2], p->width = shape->values[3];
  check.that(p->sessions > 0 && p->sessions <= kMostSessions && p->tokens > 0 && p->each > 0 &&
                 p->each <= kMostEach && p->width > 0,
             "maxOutShape is [%lld, %lld, %lld, %lld]; all are positive, the first is at most "
             "1024, the third at most 64",
             wide(p->sessions), wide(p->tokens), wide(p->each), wide(p->width));
  const int64_t rows = check.size("maxOutShape", Checked(p->sessions) * p->tokens * p->each);
  check.size("maxOutShape", Checked(p->width) * int64_t{4} * rows);
  if (!check.ok()) return check;
  constexpr aclDataType kinds[] = {ACL_FLOAT16, ACL_BF16, ACL_INT8};
  check.that(r.y->dtype == kinds[dtype], "y has dtype %s; with tokenDtype %lld it must be %s",
             dtype_name(r.y->dtype), wide(dtype), dtype_name(kinds[dtype]));
  p->scaled = dtype == 2;
  p->receives = schedules == 1;
  p->value_bytes = p->scaled ? 1 : 2;
  const int64_t table[] = {rows, p->width}, groups[] = {p->experts, 2}, one[] = {1};
  check.shape("scheduleContext", context, dense_layout(&kWorkerContextBytes, 1));
  check.shape("y", r.y, dense_layout(table, 2));
  check.shape("groupList", r.groups, dense_layout(groups, 2));
  for (const auto &[name, tensor] : {tensors[3], tensors[4], tensors[5], tensors[6]})
    check.shape(name, tensor, dense_layout(&rows, 1));
  if (p->scaled) check.shape("dynamicScale", r.scales, dense_layout(&rows, 1));
  check.shape("actualTokenNum", r.count, dense_layout(one, 1));
  if (!check.ok()) return check;
  check.that(layout_of(*context).is_dense() && context->offset % 8 == 0,
             "scheduleContext has gaps or begins %lld bytes into its memory; it must be "
             "contiguous and begin at a multiple of 8",
             wide(context->offset));
  return check;
}

// A token that goes to an expert.
struct Choice {
  int32_t expert;
  int64_t batch, at;  // of those taken; of the batch's tokens and their experts
};

// The context must be that of the tokens that the caller expects.
Status check_context(const Problem &p, const WorkerSizes &z) {
  if (z.sessions > p.sessions || z.tokens != p.tokens || z.each != p.each) {
    return fail(kKernelFault,
                "%s: the context has %lld sessions with %lld tokens of %lld experts; maxOutShape "
                "has at most %lld with %lld of %lld",
                kOp, wide(z.sessions), wide(z.tokens), wide(z.each), wide(p.sessions),
                wide(p.tokens), wide(p.each));
  }
  if (z.row_bytes < p.needed_bytes()) {
    return fail(kKernelFault,
                "%s: attn_to_ffn_token_size of the context is %lld; a token has %lld bytes", kOp,
                wide(z.row_bytes), wide(p.needed_bytes()));
  }
  return 0;
}

std::vector<Choice> collect(const Problem &p, const std::vector<WorkerBatch> &taken) {
  std::vector<Choice> choices;
  for (size_t i = 0; i < taken.size(); ++i) {
    for (int64_t j = 0; j < p.tokens * p.each; ++j) {
      const int32_t expert = taken[i].experts[static_cast<size_t>(j)];
      if (expert >= 0 && expert < p.experts)
        choices.push_back({expert, static_cast<int64_t>(i), j});
    }
  }
  std::stable_sort(choices.begin(), choices.end(),
                   [](const Choice &a, const Choice &b) { return a.expert < b.expert; });
  return choices;
}

void write_groups(const Problem &p, PlanContext &c, const std::vector<Choice> &choices) {
  std::vector<int64_t> groups;
  for (const Choice &choice : choices) {
    if (groups.empty() || groups[groups.size() - 2] != choice.expert) {
      groups.push_back(choice.expert);
      groups.push_back(0);
    }
    ++groups.back();
  }
  groups.resize(static_cast<size_t>(p.experts) * 2, 0);
  RowTarget<int64_t>(view_of(c.tensor(p.groups))).write(0, p.experts * 2, groups.data());
  const auto count = static_cast<int64_t>(choices.size());
  RowTarget<int64_t>(view_of(c.tensor(p.count))).write(0, 1, &count);
}

Status run(const Problem &p, PlanContext &c) {
  WorkerContext context(kOp, static_cast<char *>(c.tensor(p.context).view_data()));
  std::vector<WorkerBatch> taken;
  std::vector<Choice> choices;
  if (p.receives && context.ended()) {
    write_groups(p, c, choices);
    return 0;
  }
  if (const Status s = context.read()) return s;
  const WorkerSizes &z = context.sizes();
  if (const Status s = check_context(p, z)) return s;
  if (const Status s = p.receives ? context.receive(z.sessions, &taken) : context.published(&taken))
    return s;
  choices = collect(p, taken);
  const DenseTarget y(view_of(c.tensor(p.y)));
  std::vector<int32_t> sessions, batches, tokens, places;
  std::vector<float> scales;
  const int64_t bytes = p.width * p.value_bytes;
  for (const Choice &choice : choices) {
    const WorkerBatch &from = taken[static_cast<size_t>(choice.batch)];
    const char *row;
    if (const Status s = context.row_of(from, choice.at, &row)) return s;
    std::memcpy(y.data() + static_cast<int64_t>(sessions.size()) * bytes, row,
                static_cast<size_t>(bytes));
    float scale = 0;
    if (p.scaled) std::memcpy(&scale, row + bytes, sizeof scale);
    scales.push_back(scale);
    sessions.push_back(from.session);
    batches.push_back(from.batch);
    tokens.push_back(static_cast<int32_t>(choice.at / z.each));
    places.push_back(static_cast<int32_t>(choice.at % z.each));
  }
  y.finish();
  const auto count = static_cast<int64_t>(choices.size());
  const std::pair<size_t, const std::vector<int32_t> *> columns[] = {{p.session_ids, &sessions},
                                                                     {p.batch_ids, &batches},
                                                                     {p.token_ids, &tokens},
                                                                     {p.choices, &places}};
  for (const auto &[position, values] : columns)
    RowTarget<int32_t>(view_of(c.tensor(position))).write(0, count, values->data());
  if (p.scaled) RowTarget<float>(view_of(c.tensor(p.scales))).write(0, count, scales.data());
  write_groups(p, c, choices);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(FfnWorkerBatching,
             (const aclTensor *scheduleContext, int64_t expertNum, const aclIntArray *maxOutShape,
              int64_t tokenDtype, int64_t needSchedule, int64_t layerNum, aclTensor *y,
              aclTensor *groupList, aclTensor *sessionIds, aclTensor *microBatchIds,
              aclTensor *tokenIds, aclTensor *expertOffsets, aclTensor *dynamicScale,
              aclTensor *actualTokenNum)) {
  using namespace emu;
  Problem p{};
  p.experts = expertNum;
  const Results results{y,        groupList,     sessionIds,   microBatchIds,
                        tokenIds, expertOffsets, dynamicScale, actualTokenNum};
  const Check check =
      check_batching(scheduleContext, maxOutShape, layerNum, tokenDtype, needSchedule, results, &p);
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  // Receiving moves its cursor on and clears what it took.
  p.context = p.receives ? plan.in_place(scheduleContext) : plan.input(scheduleContext);
  p.y = plan.output(y);
  p.groups = plan.output(groupList);
  p.session_ids = plan.output(sessionIds);
  p.batch_ids = plan.output(microBatchIds);
  p.token_ids = plan.output(tokenIds);
  p.choices = plan.output(expertOffsets);
  p.scales = p.scaled ? plan.output(dynamicScale) : plan.unused(dynamicScale);
  p.count = plan.output(actualTokenNum);
  if (p.receives) plan.waits();
  return plan.finish([p](PlanContext &c) { return run(p, c); }, workspaceSize, executor);
}
EMU_CATCH
