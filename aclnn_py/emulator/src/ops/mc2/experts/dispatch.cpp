// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Tokens go to the ranks of their experts: each rank sends a row per chosen expert and gets the
// rows of its own experts, those of an expert together and in the order of the ranks they come
// from.
#include "ops/mc2/experts/dispatch.h"

#include <cinttypes>
#include <cstring>

#include "core/pool.h"
#include "ops/mc2/experts/halves.h"
#include "ops/moe/low_rows.h"
#include "ops/moe/scores.h"

namespace emu {
namespace {

constexpr int64_t kAssistPerRow = 128;

struct Problem {
  Experts experts;
  TokenForm form;
  int64_t count_type;
  bool first, half;
  hccl::Call text;
  size_t y, commands;  // of the second half
  size_t x, ids, scales, mask, weights, times;
  size_t expanded, dynamic_scales, assist, expert_counts, ep_counts, tp_counts, expanded_weights;
  uint64_t send_bytes, receive_bytes;
};

// One message per row that this rank has, in the order in which the outputs have them.
using Messages = std::vector<const char *>;

std::vector<float> factors_of(const Problem &p, PlanContext &c) {
  const bool factors = c.has(p.scales) && p.form != TokenForm::moved_with_scales;
  return factors ? read_all<float>(c, p.scales, c.tensor(p.scales).numel(), 1.0f)
                 : std::vector<float>();
}

// By expert, then by rank.
Messages by_expert(const Experts &e, const RowCounts &counts, const char *received,
                   int64_t message) {
  std::vector<const char *> next;
  for (int64_t r = 0; r < e.ranks(); ++r) {
    next.push_back(received);
    received += counts.received(r) * message;
  }
  Messages rows;
  for (int64_t expert = 0; expert < e.here(); ++expert) {
    for (int64_t r = 0; r < e.ranks(); ++r) {
      for (int64_t i = 0; i < counts.received(r, expert); ++i) {
        rows.push_back(next[static_cast<size_t>(r)]);
        next[static_cast<size_t>(r)] += message;
      }
    }
  }
  return rows;
}

void write_integers(PlanContext &c, size_t position, const std::vector<int64_t> &values) {
  if (!c.has(position)) return;
  const View view = view_of(c.tensor(position));
  RowTarget<int64_t>(view).write(
      0, std::min<int64_t>(view.count(), static_cast<int64_t>(values.size())), values.data());
}

// Ends of the rows by expert and rank, as the way back needs them.
std::vector<int64_t> ends_of(const Experts &e, const RowCounts &counts) {
  std::vector<int64_t> ends;
  int64_t end = 0;
  for (int64_t expert = 0; expert < e.here(); ++expert) {
    for (int64_t r = 0; r < e.ranks(); ++r) ends.push_back(end += counts.received(r, expert));
  }
  return ends;
}

void write_rows(const Problem &p, PlanContext &c, const Envelope &envelope, const Messages &rows) {
  const DenseTarget expanded(byte_view(c.tensor(p.expanded)));
  parallel_for(static_cast<int64_t>(rows.size()), 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      std::memcpy(expanded.data() + i * envelope.row_bytes, rows[static_cast<size_t>(i)],
                  static_cast<size_t>(envelope.row_bytes));
    }
  });
  expanded.finish();
  if (envelope.scale_bytes > 0) {
    const DenseTarget scales(view_of(c.tensor(p.dynamic_scales)));
    for (size_t i = 0; i < rows.size(); ++i) {
      std::memcpy(scales.data() + static_cast<int64_t>(i) * envelope.scale_bytes,
                  envelope.scales(rows[i]), static_cast<size_t>(envelope.scale_bytes));
    }
    scales.finish();
  }
}

// Which token each row is, for the way back.
void write_origins(const Problem &p, PlanContext &c, const Envelope &envelope,
                   const std::vector<int64_t> &ranks, const Messages &rows) {
  const bool weighted = c.has(p.expanded_weights) && c.has(p.weights);
  const RowTarget<int32_t> assist(view_of(c.tensor(p.assist)));
  for (size_t i = 0; i < rows.size(); ++i) {
    const Origin origin = envelope.origin(rows[i]);
    const auto row = static_cast<int64_t>(i);
    if (!p.first) {
      const int32_t words[] = {static_cast<int32_t>(ranks[i]), origin.token, origin.slot};
      assist.write(row * kAssistPerRow, 3, words);
    }
    if (weighted)
      RowTarget<float>(view_of(c.tensor(p.expanded_weights))).write(row, 1, &origin.weight);
  }
  // The first half of combine has no other numbers of rows: none behind the last one.
  const int64_t all = p.half ? c.tensor(p.expanded).shape[0] : 0;
  constexpr int32_t kNone = -1;
  for (auto row = static_cast<int64_t>(rows.size()); row < all; ++row)
    assist.write(row * kAssistPerRow, 1, &kNone);
}

std::vector<int64_t> sources_of(const Experts &e, const RowCounts &counts) {
  std::vector<int64_t> ranks;
  for (int64_t expert = 0; expert < e.here(); ++expert) {
    for (int64_t r = 0; r < e.ranks(); ++r)
      ranks.insert(ranks.end(), static_cast<size_t>(counts.received(r, expert)), r);
  }
  return ranks;
}

// The ranks of tensor parallelism get each other's rows: those of the first come first.
Status gather(const Problem &p, const Envelope &envelope, Messages *rows,
              std::vector<int64_t> *ends, char *room, std::vector<int64_t> *per_rank) {
  const Experts &e = p.experts;
  hccl::Session session(*e.tp, p.text);
  if (const Status s = session.begin()) return s;
  const auto own = static_cast<int64_t>(rows->size());
  std::vector<int64_t> all_ends(ends->size() * 2);
  if (const Status s = session.all_gather(ends->data(), all_ends.data(), ends->size() * 8))
    return s;
  *ends = all_ends;
  std::vector<hccl::Block> blocks;
  uint64_t at = 0;
  for (size_t t = 0; t < 2; ++t) {
    const int64_t count = all_ends[(t + 1) * all_ends.size() / 2 - 1];
    per_rank->push_back(count);
    const auto bytes = static_cast<uint64_t>(count * envelope.size());
    blocks.push_back({bytes, at});
    at += bytes;
  }
  char *mine = room + blocks[e.tp->rank()].offset;
  for (int64_t i = 0; i < own; ++i)
    std::memcpy(mine + i * envelope.size(), (*rows)[static_cast<size_t>(i)],
                static_cast<size_t>(envelope.size()));
  if (const Status s = session.all_gather_v(mine, room, blocks)) return s;
  rows->clear();
  for (int64_t i = 0; i < (*per_rank)[0] + (*per_rank)[1]; ++i)
    rows->push_back(room + i * envelope.size());
  return 0;
}

// Which rows go where; the second half has it from the first.
Status find_routes(const Problem &p, PlanContext &c, Routing *routing) {
  const Experts &e = p.experts;
  if (!p.half) return route_tokens(e, c, p.ids, p.mask, routing);
  Commands commands(Commands::kDispatch, e.tokens * e.each, e.ranks() * e.local);
  if (const Status s = commands.read(e, c, p.commands, e.tokens * e.each)) return s;
  routing->routes = commands.routes();
  return 0;
}

Status run(const Problem &p, PlanContext &c) {
  const Experts &e = p.experts;
  const aclTensor &from_rows = c.tensor(p.half ? p.y : p.x);
  const TokenRows maker(from_rows, c.tensor(p.expanded), p.form, factors_of(p, c),
                        p.form == TokenForm::moved_with_scales ? &c.tensor(p.scales) : nullptr);
  const Envelope &envelope = maker.envelope();
  auto *send = static_cast<char *>(c.workspace()), *received = send + p.send_bytes;
  Messages rows;
  std::vector<int64_t> ends, sources;
  {
    hccl::Session session(*e.ep, p.text);
    if (const Status s = session.begin()) return s;
    Routing routing;
    if (const Status s = find_routes(p, c, &routing)) return s;
    const auto weights = read_all<float>(c, p.weights, e.tokens * e.each, 1.0f);
    const auto count = static_cast<int64_t>(routing.routes.size());
    parallel_for(count, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const TokenRoute &route = routing.routes[static_cast<size_t>(i)];
        char *message = send + i * envelope.size();
        TokenRoute made = route;
        if (p.half) made.token = i;  // rows of y lie in the order of the routes
        maker.make(made, message);
        const int64_t j = route.slot - e.shared_slots();
        envelope.address(message,
                         {static_cast<int32_t>(route.token), static_cast<int32_t>(route.slot),
                          j < 0 ? 1.0f : weights[static_cast<size_t>(route.token * e.each + j)]});
      }
    });
    RowCounts counts(e);
    for (const TokenRoute &route : routing.routes) counts.add(route.rank, route.expert, 1);
    if (const Status s = counts.exchange(session)) return s;
    if (counts.all_received() > e.capacity())
      return stop_all(e,
                      "%" PRId64 " rows are for rank %" PRId64 ", which has room for %" PRId64
                      "; a token may name an expert only once",
                      counts.all_received(), e.rank(), e.capacity());
    std::vector<int64_t> to, from;
    for (int64_t r = 0; r < e.ranks(); ++r) {
      to.push_back(counts.sent(r));
      from.push_back(counts.received(r));
    }
    if (const Status s = exchange_messages(session, envelope, send, to, received, from)) return s;
    add_times(c, p.times, counts.waited());
    rows = by_expert(e, counts, received, envelope.size());
    ends = ends_of(e, counts);
    sources = sources_of(e, counts);
    // In the first version: the place of each token among those for the same expert.
    if (p.first) write_integers(c, p.assist, places_of(e, routing));
  }
  write_origins(p, c, envelope, sources, rows);
  std::vector<int64_t> per_rank;
  if (e.tp) {
    if (const Status s = gather(p, envelope, &rows, &ends, received + p.receive_bytes, &per_rank))
      return s;
  }
  write_rows(p, c, envelope, rows);
  std::vector<int64_t> per_expert(static_cast<size_t>(e.here()), 0);
  const size_t parts = e.tp ? 2 : 1, each = ends.size() / parts;
  for (size_t t = 0; t < parts; ++t) {
    int64_t before = 0;
    for (int64_t expert = 0; expert < e.here(); ++expert) {
      const int64_t end = ends[t * each + static_cast<size_t>((expert + 1) * e.ranks() - 1)];
      per_expert[static_cast<size_t>(expert)] += p.count_type == 0 ? end : end - before;
      before = end;
    }
  }
  write_integers(c, p.expert_counts, per_expert);
  write_integers(c, p.ep_counts, ends);
  write_integers(c, p.tp_counts, per_rank);
  return 0;
}

}  // namespace

Status plan_dispatch(const DispatchCall &a, uint64_t *workspace_size, aclOpExecutor **executor,
                     const HalfCall *half) {
  auto p = std::make_shared<Problem>();
  p->half = half != nullptr;
  p->form = TokenForm::moved;
  const Status checked = p->half ? check_dispatch_teardown(a, *half, &p->experts)
                                 : check_dispatch(a, &p->experts, &p->form);
  if (checked != 0) return checked;
  const Experts &e = p->experts;
  p->count_type = a.count_type;
  p->first = a.first();
  p->text = hccl::describe("%s(tokens=%" PRId64 ", k=%" PRId64 ", h=%" PRId64 ", experts=%" PRId64
                           ", sharedExpertNum=%" PRId64 ", sharedExpertRankNum=%" PRId64
                           ", quantMode=%" PRId64 ", dtype=%s)",
                           e.op, e.most_tokens, e.each, e.width, a.attributes.all_experts(),
                           e.shared, e.shared_ranks, a.quant_mode, dtype_name(a.expanded->dtype));
  PlanBuilder plan(e.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  // A half lacks parameters that the others may leave out.
  const auto input = [&](const aclTensor *tensor) {
    return p->half ? plan.input_if(tensor) : plan.input(tensor);
  };
  const auto output = [&](const aclTensor *tensor, bool used) {
    if (p->half) return plan.output_if(nullptr);
    return used ? plan.output(tensor) : plan.unused(tensor);
  };
  p->x = plan.input(a.x);
  p->y = plan.input_if(a.y);
  p->ids = plan.input(a.ids);
  p->commands = plan.input_if(a.commands);
  p->scales = input(a.scales);
  p->mask = input(a.mask);
  p->weights = input(a.weights);
  if (a.attributes.version >= 3) plan.unused(a.elastic);
  p->times = a.attributes.version >= 4 ? plan.in_place(a.times) : plan.input_if(nullptr);
  p->expanded = plan.output(a.expanded);
  const bool has_scales = p->form != TokenForm::moved && p->form != TokenForm::converted;
  p->dynamic_scales = has_scales ? plan.output(a.dynamic_scales) : plan.unused(a.dynamic_scales);
  p->assist = plan.output(a.assist);
  p->expert_counts = plan.output(a.expert_counts);
  p->ep_counts = output(a.ep_counts, true);
  p->tp_counts = output(a.tp_counts, e.tp != nullptr);
  p->expanded_weights = output(a.expanded_weights, a.weights != nullptr);
  const Envelope envelope = TokenRows(*a.x, *a.expanded, p->form, {}, a.scales).envelope();
  p->send_bytes = aligned(static_cast<uint64_t>(e.tokens * e.slots() * envelope.size()));
  p->receive_bytes = aligned(static_cast<uint64_t>(e.capacity() * envelope.size()));
  plan.workspace(p->send_bytes + p->receive_bytes * (e.tp ? 3 : 1));
  return plan.finish(
      [p](PlanContext &c) {
        const Experts &e = p->experts;
        return among_both(*e.ep, e.tp.get(), e.op, [&] { return run(*p, c); });
      },
      workspace_size, executor);
}

}  // namespace emu
