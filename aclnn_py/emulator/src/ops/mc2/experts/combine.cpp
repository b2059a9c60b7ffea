// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// What experts made of the tokens goes back to the ranks of the tokens, where each becomes the
// weighted sum over its experts.
#include "ops/mc2/experts/combine.h"

#include <cinttypes>
#include <cmath>
#include <cstring>

#include "core/pool.h"
#include "ops/mc2/experts/halves.h"
#include "ops/mc2/partial.h"
#include "ops/moe/combining.h"
#include "ops/norm/rms.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

struct Problem {
  Experts experts;
  hccl::Call text;
  bool first, half, quantised, with_norm;
  double epsilon;
  aclDataType dtype;
  size_t commands;  // of the second half
  size_t expanded, ids, assist, ep_counts, weights, tp_counts, mask, shared;
  size_t x, alpha, beta, constant, times, residual, gamma, out, y, rstd, sum;
  uint64_t reduced_bytes, send_bytes, receive_bytes;

  Envelope envelope() const {
    Envelope e;
    e.row_bytes = experts.width * (quantised ? 1 : item_size(dtype));
    e.scale_bytes = quantised ? static_cast<int64_t>(sizeof(float)) : 0;
    return e;
  }
};

// With tensor parallelism: the sum of both ranks' rows, of which each keeps its own.
Status reduce(const Problem &p, PlanContext &c, char *sum, View *rows) {
  const Experts &e = p.experts;
  const std::vector<int64_t> counts = integers(c, p.tp_counts);
  const View all = view_of(c.tensor(p.expanded));
  const int64_t most = e.capacity();
  for (const int64_t count : counts) {
    if (count < 0 || count > most)
      return stop_all(e, "tpSendCounts has %" PRId64 "; a rank has 0 to %" PRId64 " rows", count,
                      most);
  }
  const DenseSource dense(all);
  hccl::Session session(*e.tp, p.text);
  if (const Status s = session.begin()) return s;
  const auto row = static_cast<uint64_t>(e.width * item_size(p.dtype));
  const std::vector<hccl::Block> blocks = {
      {static_cast<uint64_t>(counts[0]) * row, 0},
      {static_cast<uint64_t>(counts[1]) * row, static_cast<uint64_t>(counts[0]) * row}};
  if (const Status s = session.reduce_scatter_v(dense.data(), sum, blocks, sum_of(p.dtype)))
    return s;
  const int64_t shape[] = {counts[e.tp->rank()], e.width};
  *rows = {sum, p.dtype, dense_layout(shape, 2)};
  return 0;
}

void pack(const Problem &p, const View &rows, int64_t row, const Envelope &envelope,
          char *message) {
  const int64_t width = p.experts.width;
  if (!p.quantised) {
    View from = rows, to{message, p.dtype, {}};
    from.data += row * rows.layout.stride[0] * item_size(p.dtype);
    from.layout = {};
    from.layout.push(width, rows.layout.stride[1]);
    to.layout.push(width, 1);
    return copy_view(from, to);
  }
  std::vector<float> values(static_cast<size_t>(width));
  RowSource<float>(rows).read(row * width, width, values.data());
  const float scale = quantise_token(values.data(), width, reinterpret_cast<int8_t *>(message));
  std::memcpy(envelope.scales(message), &scale, sizeof scale);
}

// The rows of this rank in the order in which they leave.
Status find_order(const Problem &p, PlanContext &c, int64_t most, SendingOrder *order,
                  RowCounts *counts) {
  const Experts &e = p.experts;
  if (p.half) {
    Commands commands(Commands::kCombine, c.tensor(p.expanded).shape[0], e.ranks());
    if (const Status s = commands.read(e, c, p.commands, most)) return s;
    order_as_told(commands.routes(), order, counts);
    return 0;
  }
  const std::vector<int64_t> assist = p.first ? std::vector<int64_t>() : integers(c, p.assist);
  return order_rows(e, integers(c, p.ep_counts), assist, most, order, counts);
}

void fill(const Problem &p, const View &rows, const SendingOrder &order, char *send) {
  const Envelope envelope = p.envelope();
  parallel_for(static_cast<int64_t>(order.size()), 8, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const auto &[row, origin] = order[static_cast<size_t>(i)];
      char *message = send + i * envelope.size();
      pack(p, rows, row, envelope, message);
      envelope.address(message, origin);
    }
  });
}

// Which message has the row of each (token, slot); -1: none.
Status place(const Problem &p, PlanContext &c, const Routing &routing, const RowCounts &counts,
             const char *received, std::vector<int64_t> *found) {
  const Experts &e = p.experts;
  const Envelope envelope = p.envelope();
  const int64_t slots = e.slots();
  found->assign(static_cast<size_t>(e.tokens * slots), -1);
  if (!p.first) {
    for (int64_t i = 0; i < counts.all_received(); ++i) {
      const Origin origin = envelope.origin(received + i * envelope.size());
      if (origin.token < 0 || origin.token >= e.tokens || origin.slot < 0 || origin.slot >= slots)
        return stop_all(e,
                        "assistInfoForCombine names token %d and place %d of rank %" PRId64
                        ", which has %" PRId64 " tokens with %" PRId64
                        " places each. It must be what dispatch gave",
                        origin.token, origin.slot, e.rank(), e.tokens, slots);
      (*found)[static_cast<size_t>(origin.token * slots + origin.slot)] = i;
    }
  } else {
    const std::vector<int64_t> places = integers(c, p.assist);
    std::vector<int64_t> first(static_cast<size_t>(e.ranks() * e.local));
    int64_t at = 0;
    for (int64_t r = 0; r < e.ranks(); ++r) {
      for (int64_t expert = 0; expert < e.local; ++expert) {
        first[static_cast<size_t>(r * e.local + expert)] = at;
        at += counts.received(r, expert);
      }
    }
    std::vector<int64_t> shared(static_cast<size_t>(e.ranks()), 0);
    for (const TokenRoute &route : routing.routes) {
      const int64_t j = route.slot - e.shared_slots();
      const int64_t index = j < 0 ? shared[static_cast<size_t>(route.rank)]++
                                  : places[static_cast<size_t>(route.token * e.each + j)];
      if (index < 0 || index >= counts.received(route.rank, route.expert))
        return stop_all(e,
                        "expandIdx has %" PRId64 " for token %" PRId64 ", but rank %" PRId64
                        " returned %" PRId64 " rows of that expert. It must be what dispatch gave",
                        index, route.token, route.rank, counts.received(route.rank, route.expert));
      (*found)[static_cast<size_t>(route.token * slots + route.slot)] =
          first[static_cast<size_t>(route.rank * e.local + route.expert)] + index;
    }
  }
  for (const TokenRoute &route : routing.routes) {
    if ((*found)[static_cast<size_t>(route.token * slots + route.slot)] < 0)
      return stop_all(e,
                      "rank %" PRId64 " returned no row for token %" PRId64 " of rank %" PRId64
                      "; epSendCounts and assistInfoForCombine must be those that dispatch gave",
                      route.rank, route.token, e.rank());
  }
  return 0;
}

View optional_view(PlanContext &c, size_t position) {
  return c.has(position) ? view_of(c.tensor(position)) : View();
}

// The rows that came, as numbers.
View rows_of(const Problem &p, const char *received, int64_t count, std::vector<float> *numbers) {
  const Envelope envelope = p.envelope();
  const int64_t width = p.experts.width;
  const int64_t shape[] = {count, width};
  View rows{const_cast<char *>(received), p.dtype, dense_layout(shape, 2)};
  if (!p.quantised) {
    rows.layout.stride[0] = envelope.size() / item_size(p.dtype);
    return rows;
  }
  numbers->resize(static_cast<size_t>(count * width));
  for (int64_t i = 0; i < count; ++i) {
    const char *message = received + i * envelope.size();
    float scale;
    std::memcpy(&scale, envelope.scales(message), sizeof scale);
    const auto *values = reinterpret_cast<const int8_t *>(message);
    for (int64_t j = 0; j < width; ++j)
      (*numbers)[static_cast<size_t>(i * width + j)] = static_cast<float>(values[j]) * scale;
  }
  return {reinterpret_cast<char *>(numbers->data()), ACL_FLOAT, dense_layout(shape, 2)};
}

void add_up(const Problem &p, PlanContext &c, const Routing &routing, const View &rows,
            const std::vector<int64_t> &found, const View &out) {
  const Experts &e = p.experts;
  const int64_t slots = e.slots();
  std::vector<Term> terms(found.size());
  std::vector<float> weights(found.size(), 1.0f);
  const auto given = read_all<float>(c, p.weights, e.tokens * e.each, 1.0f);
  for (int64_t token = 0; token < e.tokens; ++token) {
    for (int64_t slot = 0; slot < slots; ++slot) {
      const auto at = static_cast<size_t>(token * slots + slot);
      Term &term = terms[at];
      const int64_t j = slot - e.shared_slots();
      if (j < 0) {
        if (found[at] >= 0) term = {Term::kRow, found[at], 0};
        continue;
      }
      const auto choice = static_cast<size_t>(token * e.each + j);
      weights[at] = given[choice];
      switch (routing.chosen[choice]) {
        case Chosen::sent: term = {Term::kRow, found[at], 0}; break;
        case Chosen::copy: term.kind = Term::kCopy; break;
        case Chosen::constant: term = {Term::kConstant, routing.which[choice], 0}; break;
        case Chosen::zero:
        case Chosen::nothing: break;
      }
    }
  }
  const auto count = static_cast<int64_t>(weights.size());
  Combination all;
  all.results = rows;
  all.first = optional_view(c, p.shared);
  all.weights = {reinterpret_cast<char *>(weights.data()), ACL_FLOAT, dense_layout(&count, 1)};
  all.x = optional_view(c, p.x);
  all.alpha = optional_view(c, p.alpha);
  all.beta = optional_view(c, p.beta);
  all.constant = optional_view(c, p.constant);
  all.out = out;
  combine(all, terms, slots);
}

// What AddRmsNorm does with the combined tokens.
void normalise(const Problem &p, PlanContext &c, const View &combined) {
  const int64_t width = p.experts.width, rows = p.experts.tokens;
  const View y = view_of(c.tensor(p.y)), sum = view_of(c.tensor(p.sum));
  Operands operands;
  const RowSource<float> x(combined), other(operands.safe(view_of(c.tensor(p.residual)), {y, sum}));
  const RowTarget<float> y_to(y), sum_to(sum);
  const auto scale = read_all<float>(c, p.gamma, width, 1.0f);
  std::vector<float> inverses(static_cast<size_t>(rows));
  for_each_row<float>(rows, width, 2, [&](int64_t row, float *values) {
    float *added = values + width;
    x.read(row * width, width, values);
    other.read(row * width, width, added);
    for (int64_t i = 0; i < width; ++i) values[i] += added[i];
    sum_to.write(row * width, width, values);
    inverses[static_cast<size_t>(row)] = rms_normalise(values, width, p.epsilon, scale.data());
    y_to.write(row * width, width, values);
  });
  RowTarget<float>(view_of(c.tensor(p.rstd))).write(0, rows, inverses.data());
}

Status run(const Problem &p, PlanContext &c) {
  const Experts &e = p.experts;
  const Envelope envelope = p.envelope();
  auto *reduced = static_cast<char *>(c.workspace()), *send = reduced + p.reduced_bytes,
       *received = send + p.send_bytes;
  View rows = view_of(c.tensor(p.expanded));
  if (e.tp) {
    if (const Status s = reduce(p, c, reduced, &rows)) return s;
  }
  hccl::Session session(*e.ep, p.text);
  if (const Status s = session.begin()) return s;
  SendingOrder order;
  RowCounts counts(e);
  const int64_t most = std::min(rows.layout.shape[0], e.capacity());
  if (const Status s = find_order(p, c, most, &order, &counts)) return s;
  Routing routing;
  if (const Status s = route_tokens(e, c, p.ids, p.mask, &routing)) return s;
  fill(p, rows, order, send);
  if (const Status s = counts.exchange(session)) return s;
  if (counts.all_received() > e.tokens * e.slots())
    return stop_all(e,
                    "%" PRId64 " rows are for rank %" PRId64 ", whose tokens have %" PRId64
                    " experts in all; epSendCounts must be what dispatch gave",
                    counts.all_received(), e.rank(), e.tokens * e.slots());
  std::vector<int64_t> to, from;
  for (int64_t r = 0; r < e.ranks(); ++r) {
    to.push_back(counts.sent(r));
    from.push_back(counts.received(r));
  }
  if (const Status s = exchange_messages(session, envelope, send, to, received, from)) return s;
  add_times(c, p.times, counts.waited());
  std::vector<int64_t> found;
  if (const Status s = place(p, c, routing, counts, received, &found)) return s;
  std::vector<float> numbers;
  const View came = rows_of(p, received, counts.all_received(), &numbers);
  if (!p.with_norm) {
    add_up(p, c, routing, came, found, view_of(c.tensor(p.out)));
    return 0;
  }
  const int64_t shape[] = {e.tokens, e.width};
  std::vector<char> memory(static_cast<size_t>(e.tokens * e.width * item_size(p.dtype)));
  const View combined{memory.data(), p.dtype, dense_layout(shape, 2)};
  add_up(p, c, routing, came, found, combined);
  normalise(p, c, combined);
  return 0;
}

// The tensors of an operator in the order of its parameters.
void add_whole(const CombineCall &a, PlanBuilder &plan, Problem *p) {
  const int version = a.attributes.version;
  p->expanded = plan.input(a.expanded);
  p->ids = plan.input(a.ids);
  p->assist = plan.input(a.assist);
  p->ep_counts = plan.input(a.ep_counts);
  p->weights = plan.input(a.weights);
  if (p->with_norm) {
    p->residual = plan.input(a.residual);
    p->gamma = plan.input(a.gamma);
  }
  p->tp_counts = p->experts.tp ? plan.input(a.tp_counts) : plan.unused(a.tp_counts);
  p->mask = plan.input(a.mask);
  for (const aclTensor *reserved : {a.activation_scale, a.weight_scale, a.group_list})
    plan.unused(reserved);
  plan.unused(a.expanded_weights);
  p->shared = p->first ? plan.input_if(nullptr) : plan.input(a.shared);
  const bool special = version >= 3;
  if (special) plan.unused(a.elastic);
  const auto add = [&](const aclTensor *tensor) {
    return special ? plan.input(tensor) : plan.input_if(nullptr);
  };
  p->x = add(a.x);
  p->alpha = add(a.alpha);
  p->beta = add(a.beta);
  p->constant = add(a.constant);
  p->times = version >= 4 ? plan.in_place(a.times) : plan.input_if(nullptr);
  if (p->with_norm) {
    p->y = plan.output(a.y);
    p->rstd = plan.output(a.rstd);
    p->sum = plan.output(a.sum);
  } else {
    p->out = plan.output(a.out);
  }
}

void add_half(const CombineCall &a, PlanBuilder &plan, Problem *p) {
  const size_t none = plan.input_if(nullptr);
  for (size_t *absent : {&p->assist, &p->ep_counts, &p->tp_counts, &p->x, &p->alpha, &p->beta,
                         &p->constant, &p->times})
    *absent = none;
  p->expanded = plan.input(a.expanded);
  plan.unused(a.quantised);
  p->ids = plan.input(a.ids);
  plan.unused(a.places);
  p->weights = plan.input(a.weights);
  p->commands = plan.input(a.commands);
  p->mask = plan.input(a.mask);
  p->shared = plan.input(a.shared);
  p->out = plan.output(a.out);
}

}  // namespace

Status plan_combine(const CombineCall &a, uint64_t *workspace_size, aclOpExecutor **executor,
                    const HalfCall *half) {
  auto p = std::make_shared<Problem>();
  p->half = half != nullptr;
  const Status checked =
      p->half ? check_combine_teardown(a, *half, &p->experts) : check_combine(a, &p->experts);
  if (checked != 0) return checked;
  const Experts &e = p->experts;
  p->first = a.first();
  p->quantised = a.quant_mode == 2;
  p->with_norm = a.with_norm();
  p->epsilon = a.epsilon;
  p->dtype = a.expanded->dtype;
  p->text = hccl::describe("%s(tokens=%" PRId64 ", k=%" PRId64 ", h=%" PRId64 ", experts=%" PRId64
                           ", sharedExpertNum=%" PRId64 ", sharedExpertRankNum=%" PRId64
                           ", commQuantMode=%" PRId64 ", dtype=%s)",
                           e.op, e.most_tokens, e.each, e.width, a.attributes.all_experts(),
                           e.shared, e.shared_ranks, a.quant_mode, dtype_name(p->dtype));
  PlanBuilder plan(e.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  if (p->half) add_half(a, plan, p.get());
  else add_whole(a, plan, p.get());
  const auto message = static_cast<uint64_t>(p->envelope().size());
  const auto rows = static_cast<uint64_t>(e.capacity());
  // a sum of rows is dense
  p->reduced_bytes = e.tp ? aligned(rows * static_cast<uint64_t>(e.width) * 2) : 0;
  p->send_bytes = aligned(rows * message);
  p->receive_bytes = aligned(static_cast<uint64_t>(e.tokens * e.slots()) * message);
  plan.workspace(p->reduced_bytes + p->send_bytes + p->receive_bytes);
  return plan.finish(
      [p](PlanContext &c) {
        const Experts &e = p->experts;
        return among_both(*e.ep, e.tp.get(), e.op, [&] { return run(*p, c); });
      },
      workspace_size, executor);
}

}  // namespace emu
