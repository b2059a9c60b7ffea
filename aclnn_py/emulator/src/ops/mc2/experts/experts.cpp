// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/mc2/experts/experts.h"

#include <algorithm>
#include <chrono>
#include <cinttypes>
#include <cstdarg>
#include <cstdio>
#include <cstring>

#include "ops/moe/scores.h"

namespace emu {
namespace {

int64_t now_in_microseconds() {
  // of this host: ranks may compare theirs
  return std::chrono::duration_cast<std::chrono::microseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// Whether the true values of a mask with one value per token come first.
bool has_hole(const std::vector<int64_t> &mask) {
  return !std::is_sorted(mask.begin(), mask.end(), [](int64_t a, int64_t b) { return a > b; });
}

}  // namespace

int64_t Experts::capacity() const {
  if (!holds_shared()) return most_tokens * ranks() * std::min(local, each);
  // The copies of a shared expert take the ranks in turn.
  const int64_t copies = shared_ranks / shared;
  return most_tokens * ((ranks() + copies - 1) / copies);
}

Status stop_all(const Experts &experts, const char *format, ...) {
  char text[512];
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  return experts.ep->abandon("EZ9999", kKernelFault, "%s: %s", experts.op, text);
}

Status route_tokens(const Experts &e, PlanContext &context, size_t ids, size_t mask,
                    Routing *routing) {
  const std::vector<int64_t> experts = integers(context, ids), active = integers(context, mask);
  const bool by_slot =
      active.size() == experts.size() && context.has(mask) && context.tensor(mask).rank() == 2;
  if (!by_slot && has_hole(active))
    return stop_all(e, "xActiveMask has a true value behind a false one; true values come first");
  const int64_t copies = e.shared_ranks > 0 ? e.shared_ranks / e.shared : 1, first_copy = e.zero,
                first_constant = e.zero + e.copy, end = e.zero + e.copy + e.constant;
  routing->chosen.assign(experts.size(), Chosen::nothing);
  routing->which.assign(experts.size(), 0);
  std::vector<TokenRoute> &routes = routing->routes;
  for (int64_t token = 0; token < e.tokens; ++token) {
    bool any = active.empty();
    if (!active.empty() && !by_slot) any = active[static_cast<size_t>(token)] != 0;
    for (int64_t j = 0; j < e.each; ++j) {
      const auto at = static_cast<size_t>(token * e.each + j);
      if (by_slot ? active[at] == 0 : !any && !by_slot) continue;
      any = true;
      const int64_t expert = experts[at];
      if (expert < 0 || expert >= e.moe + end)
        return stop_all(
            e, "expertIds names expert %" PRId64 " for token %" PRId64 "; there are %" PRId64,
            expert, token, e.moe + end);
      if (expert < e.moe) {
        routing->chosen[at] = Chosen::sent;
        routes.push_back({token, e.shared_slots() + j, e.shared_ranks + expert / e.local,
                          expert % e.local, e.shared_slots() + expert});
        continue;
      }
      const int64_t special = expert - e.moe;
      routing->chosen[at] = special < first_copy       ? Chosen::zero
                            : special < first_constant ? Chosen::copy
                                                       : Chosen::constant;
      if (special >= first_constant) routing->which[at] = special - first_constant;
    }
    for (int64_t s = 0; any && s < e.shared_slots(); ++s)
      routes.push_back({token, s, s * copies + e.rank() % copies, 0, s});
  }
  std::stable_sort(routes.begin(), routes.end(), [](const TokenRoute &a, const TokenRoute &b) {
    return a.rank != b.rank ? a.rank < b.rank : a.expert < b.expert;
  });
  return 0;
}

std::vector<int64_t> places_of(const Experts &e, const Routing &routing) {
  std::vector<int64_t> places(static_cast<size_t>(e.tokens * e.each), 0);
  int64_t place = 0;
  for (size_t i = 0; i < routing.routes.size(); ++i) {
    const TokenRoute &route = routing.routes[i];
    const bool same = i > 0 && routing.routes[i - 1].rank == route.rank &&
                      routing.routes[i - 1].expert == route.expert;
    place = same ? place + 1 : 0;
    const int64_t j = route.slot - e.shared_slots();
    if (j >= 0) places[static_cast<size_t>(route.token * e.each + j)] = place;
  }
  return places;
}

RowCounts::RowCounts(const Experts &e)
    : ranks_(e.ranks()),
      experts_(e.local),
      stride_(experts_ + 1),  // and the time
      sent_(static_cast<size_t>(ranks_ * stride_), 0),
      received_(sent_.size(), 0) {}

Status RowCounts::exchange(hccl::Session &session) {
  const int64_t since = now_in_microseconds();
  std::vector<hccl::Block> blocks;
  for (int64_t r = 0; r < ranks_; ++r) {
    sent_[static_cast<size_t>(r * stride_ + experts_)] = since;
    const auto bytes = static_cast<uint64_t>(stride_) * sizeof(int64_t);
    blocks.push_back({bytes, static_cast<uint64_t>(r) * bytes});
  }
  if (const Status s = session.all_to_all_v(sent_.data(), blocks, received_.data(), blocks))
    return s;
  for (int64_t r = 0; r < ranks_; ++r) {
    const int64_t came = received_[static_cast<size_t>(r * stride_ + experts_)];
    waited_.push_back(std::max<int64_t>(0, came - since));
  }
  return 0;
}

int64_t RowCounts::total(const std::vector<int64_t> &counts, int64_t rank) const {
  int64_t sum = 0;
  for (int64_t i = 0; i < experts_; ++i) sum += counts[static_cast<size_t>(rank * stride_ + i)];
  return sum;
}

int64_t RowCounts::all_received() const {
  int64_t sum = 0;
  for (int64_t r = 0; r < ranks_; ++r) sum += received(r);
  return sum;
}

void Envelope::address(char *message, const Origin &origin) const {
  std::memcpy(message + row_bytes + scale_bytes, &origin, sizeof origin);
}

Origin Envelope::origin(const char *message) const {
  Origin origin;
  std::memcpy(&origin, message + row_bytes + scale_bytes, sizeof origin);
  return origin;
}

Status exchange_messages(hccl::Session &session, const Envelope &envelope, const void *from,
                         const std::vector<int64_t> &send, void *to,
                         const std::vector<int64_t> &receive) {
  const auto blocks = [&](const std::vector<int64_t> &counts) {
    std::vector<hccl::Block> made;
    uint64_t at = 0;
    for (const int64_t count : counts) {
      const auto bytes = static_cast<uint64_t>(count * envelope.size());
      made.push_back({bytes, at});
      at += bytes;
    }
    return made;
  };
  return session.all_to_all_v(from, blocks(send), to, blocks(receive));
}

void add_times(PlanContext &context, size_t position, const std::vector<int64_t> &times) {
  if (!context.has(position)) return;
  std::vector<int64_t> sums = integers(context, position);
  for (size_t i = 0; i < sums.size() && i < times.size(); ++i) sums[i] += times[i];
  RowTarget<int64_t>(view_of(context.tensor(position)))
      .write(0, static_cast<int64_t>(sums.size()), sums.data());
}

}  // namespace emu
