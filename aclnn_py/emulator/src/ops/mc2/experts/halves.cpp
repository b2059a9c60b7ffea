// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/mc2/experts/halves.h"

#include <cinttypes>

#include "core/pool.h"
#include "ops/moe/routing.h"
#include "ops/moe/scores.h"

namespace emu {
namespace {

constexpr size_t kWords = 16, kMark = 14, kCount = 15;
constexpr int64_t kAssistPerRow = 128;

const char *setup_of(Commands::Kind kind) {
  return kind == Commands::kDispatch ? "aclnnMoeDistributeDispatchSetup"
                                     : "aclnnMoeDistributeCombineSetup";
}

struct DispatchSetup {
  Experts experts;
  size_t x, ids, mask, y, places, commands;
};

Status run(const DispatchSetup &p, PlanContext &c) {
  const Experts &e = p.experts;
  Routing routing;
  if (const Status s = route_tokens(e, c, p.ids, p.mask, &routing)) return s;
  const DenseTarget y(view_of(c.tensor(p.y)));
  const TokenRows maker(c.tensor(p.x), c.tensor(p.y), TokenForm::moved, {});
  const auto count = static_cast<int64_t>(routing.routes.size());
  parallel_for(count, 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      maker.make(routing.routes[static_cast<size_t>(i)], y.data() + i * maker.envelope().row_bytes);
  });
  y.finish();
  const std::vector<int64_t> places = places_of(e, routing);
  RowTarget<int64_t>(view_of(c.tensor(p.places)))
      .write(0, static_cast<int64_t>(places.size()), places.data());
  Commands commands(Commands::kDispatch, e.tokens * e.each, e.ranks() * e.local);
  for (const TokenRoute &route : routing.routes)
    commands.add(route, route.rank * e.local + route.expert);
  commands.write(c, p.commands);
  return 0;
}

struct CombineSetup {
  Experts experts;
  int64_t rows;
  size_t assist, commands;
};

Status run(const CombineSetup &p, PlanContext &c) {
  const Experts &e = p.experts;
  const std::vector<int64_t> assist = integers(c, p.assist);
  Commands commands(Commands::kCombine, p.rows, e.ranks());
  for (int64_t row = 0; row < p.rows; ++row) {
    const int64_t *words = assist.data() + row * kAssistPerRow;
    if (words[0] < 0) break;  // behind the last row
    if (words[0] >= e.ranks() || row >= e.capacity())
      return stop_all(e,
                      "assistInfoForCombine gives row %" PRId64 " to rank %" PRId64 " of %" PRId64
                      ", of at most %" PRId64
                      " rows. It must be what aclnnMoeDistributeDispatchTeardown gave",
                      row, words[0], e.ranks(), e.capacity());
    TokenRoute route{};
    route.rank = words[0];
    route.token = words[1];
    route.slot = words[2];
    commands.add(route, route.rank);
  }
  commands.write(c, p.commands);
  return 0;
}

}  // namespace

Commands::Commands(Kind kind, int64_t rows, int64_t places)
    : kind_(kind), rows_(rows), places_(places), counts_(static_cast<size_t>(places), 0) {}

void Commands::add(const TokenRoute &route, int64_t place) {
  routes_.push_back(route);
  ++counts_[static_cast<size_t>(place)];
}

void Commands::write(PlanContext &c, size_t position) const {
  std::vector<int64_t> all(static_cast<size_t>(words(rows_, places_)), 0);
  for (size_t i = 0; i < routes_.size(); ++i) {
    int64_t *record = all.data() + i * kWords;
    record[0] = routes_[i].rank;
    record[1] = routes_[i].expert;
    record[2] = routes_[i].token;
    record[3] = routes_[i].slot;
  }
  for (size_t i = 0; i < counts_.size(); ++i)
    all[(static_cast<size_t>(rows_) + i) * kWords] = counts_[i];
  all[kMark] = kind_;
  all[kCount] = static_cast<int64_t>(routes_.size());
  RowTarget<int64_t>(view_of(c.tensor(position)))
      .write(0, static_cast<int64_t>(all.size()), all.data());
}

Status Commands::read(const Experts &e, PlanContext &c, size_t position, int64_t most) {
  const std::vector<int64_t> all = integers(c, position);
  const int64_t count = all[kCount];
  bool known = all[kMark] == kind_ && count >= 0 && count <= std::min(rows_, most);
  for (int64_t i = 0; known && i < count; ++i) {
    const int64_t *record = all.data() + static_cast<size_t>(i) * kWords;
    TokenRoute route{};
    route.rank = record[0];
    route.expert = record[1];
    route.token = record[2];
    route.slot = record[3];
    known =
        route.rank >= 0 && route.rank < e.ranks() && route.expert >= 0 && route.expert < e.local;
    // The rows of dispatch lie by rank already.
    if (kind_ == kDispatch && i > 0)
      known = known && route.rank >= routes_.back().rank &&
              (route.rank > routes_.back().rank || route.expert >= routes_.back().expert);
    routes_.push_back(route);
  }
  if (known) return 0;
  return stop_all(e, "commCmdInfo is not what %s wrote for these arguments", setup_of(kind_));
}

Status plan_dispatch_setup(const DispatchSetupCall &a, uint64_t *workspace_size,
                           aclOpExecutor **executor) {
  DispatchSetup p{};
  if (const Status s = check_dispatch_setup(a, &p.experts)) return s;
  PlanBuilder plan(p.experts.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  p.x = plan.input(a.x);
  p.ids = plan.input(a.ids);
  plan.unused(a.scales);
  p.mask = plan.input(a.mask);
  p.y = plan.output(a.y);
  p.places = plan.output(a.places);
  p.commands = plan.output(a.commands);
  // The other ranks wait for what this one puts on its way.
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p.experts.ep, p.experts.op, [&] { return run(p, c); });
      },
      workspace_size, executor);
}

Status plan_combine_setup(const CombineSetupCall &a, uint64_t *workspace_size,
                          aclOpExecutor **executor) {
  CombineSetup p{};
  if (const Status s = check_combine_setup(a, &p.experts)) return s;
  p.rows = a.expanded->shape[0];
  PlanBuilder plan(p.experts.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.unused(a.expanded);
  plan.unused(a.ids);
  p.assist = plan.input(a.assist);
  plan.unused(a.quantised);
  p.commands = plan.output(a.commands);
  // The other ranks wait for what this one puts on its way.
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p.experts.ep, p.experts.op, [&] { return run(p, c); });
      },
      workspace_size, executor);
}

}  // namespace emu
