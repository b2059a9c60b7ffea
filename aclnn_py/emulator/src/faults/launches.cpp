// SPDX-License-Identifier: Apache-2.0
#include "faults/launches.h"

#include <algorithm>
#include <cstring>
#include <deque>
#include <map>
#include <mutex>
#include <utility>

#include "core/process.h"
#include "core/stream.h"
#include "faults/findings.h"
#include "faults/objects.h"

namespace emu::faults {
namespace {

constexpr size_t kMostPending = 4096;  // of a stream; the oldest are forgotten

struct Launch {
  uint64_t number;  // 0 until the stream took it
  const char *what;
  std::vector<Use> uses;
  Site site;
};

// What a stream or an event comes after: stream -> number of the last piece of work.
using Clock = std::map<const Stream *, uint64_t>;

struct Pending {
  std::deque<Launch> launches;
  Clock after;
};

struct State {
  std::mutex mutex;
  std::map<const Stream *, Pending> streams;
  std::map<const void *, Clock> events;
};

void forget_stream(Stream *stream);

State &state() {
  static auto *const instance = [] {
    at_stream_end(forget_stream);
    return new State;
  }();
  return *instance;
}

void forget_stream(Stream *stream) {
  if (!checking()) return;
  std::lock_guard<std::mutex> lock(state().mutex);
  state().streams.erase(stream);
}

void merge(Clock &into, const Clock &from) {
  for (const auto &[stream, number] : from) into[stream] = std::max(into[stream], number);
}

uint64_t seen(const Clock &clock, const Stream *stream) {
  const auto at = clock.find(stream);
  return at != clock.end() ? at->second : 0;
}

const Use *touching(const Launch &launch, uintptr_t low, uintptr_t high, bool writes) {
  for (const Use &use : launch.uses) {
    if (use.low < high && low < use.high && (writes || use.writes)) return &use;
  }
  return nullptr;
}

struct Clash {
  const char *name;
  std::string text;
  Site other;
};

// Work of other streams that shares memory with this launch, without an order between the two.
void find_clashes(State &s, const Stream &stream, const Launch &mine, std::vector<Clash> &found) {
  const Clock &after = s.streams[&stream].after;
  for (const auto &[other, pending] : s.streams) {
    if (other == &stream) continue;
    const uint64_t known = seen(after, other);
    for (const Launch &launch : pending.launches) {
      if (launch.number != 0 && launch.number <= known) continue;
      for (const Use &use : mine.uses) {
        const Use *theirs = touching(launch, use.low, use.high, use.writes);
        if (theirs == nullptr) continue;
        const bool workspace = use.name == "workspace" && theirs->name == "workspace";
        found.push_back({workspace ? "workspace shared by two streams"
                                   : "memory used by two streams without an event between them",
                         std::string(mine.what) + ": " + use.name + " is also " + theirs->name +
                             " of " + launch.what + " on another stream",
                         launch.site});
        return;  // the first is enough
      }
    }
  }
}

void drop_done(Pending &pending, uint64_t completed) {
  auto &all = pending.launches;
  while (!all.empty() && all.front().number != 0 && all.front().number <= completed)
    all.pop_front();
}

}  // namespace

void before_launch(Stream &stream, const char *what, std::vector<Use> uses) {
  std::vector<Clash> clashes;
  Launch launch{0, what, std::move(uses), site_here()};
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    find_clashes(state(), stream, launch, clashes);
    auto &all = state().streams[&stream].launches;
    if (all.size() == kMostPending) all.pop_front();
    all.push_back(launch);
  }
  for (const Clash &clash : clashes)
    finding(clash.name, clash.text, launch.site, {{"the other was launched", clash.other}});
}

void after_launch(Stream &stream, bool taken) {
  std::lock_guard<std::mutex> lock(state().mutex);
  auto &all = state().streams[&stream].launches;
  const auto last = std::find_if(all.rbegin(), all.rend(),
                                 [](const Launch &launch) { return launch.number == 0; });
  if (last == all.rend()) return;
  if (taken) {
    last->number = last_task_id();
  } else {
    all.erase(std::next(last).base());
  }
}

void note_waited() {
  std::lock_guard<std::mutex> lock(state().mutex);
  for (auto &[other, pending] : state().streams) drop_done(pending, other->completed.load());
}

void note_task(const char *what) {
  for (const char *head : {"aclnn", "aclrtMemcpyAsync", "aclrtMemsetAsync", "aclrtRecordEvent",
                           "aclrtStreamWaitEvent", "aclrtResetEvent", "Hccl"}) {
    if (std::strncmp(what, head, std::strlen(head)) == 0) return;
  }
  std::lock_guard<std::mutex> lock(state().mutex);
  for (auto &[stream, pending] : state().streams) pending.launches.clear();
}

void note_recorded(const void *event, Stream &stream) {
  std::lock_guard<std::mutex> lock(state().mutex);
  Clock clock = state().streams[&stream].after;
  clock[&stream] = stream.submitted.load();
  state().events[event] = std::move(clock);
}

void note_ordered(Stream &stream, const void *event) {
  std::lock_guard<std::mutex> lock(state().mutex);
  const auto at = state().events.find(event);
  if (at != state().events.end()) merge(state().streams[&stream].after, at->second);
}

void host_touches(Host how, const char *routine, const void *start, size_t bytes) {
  const auto low = reinterpret_cast<uintptr_t>(start), high = low + bytes;
  Site launched;
  std::string what;
  {
    std::lock_guard<std::mutex> lock(state().mutex);
    for (const auto &[stream, pending] : state().streams) {
      for (const Launch &launch : pending.launches) {
        const Use *use = touching(launch, low, high, how != Host::reads);
        if (use == nullptr) continue;
        launched = launch.site;
        what = std::string(routine) + ": " + use->name + " of " + launch.what + " on stream " +
               std::to_string(stream->id) + ", which nothing has waited for";
      }
    }
  }
  if (what.empty()) return;
  const char *name = how == Host::frees   ? "memory freed before the stream was waited for"
                     : how == Host::reads ? "result read before the stream was waited for"
                                          : "memory written while a stream may use it";
  finding(name, what, site_here(), {{"launched", launched}});
}

bool launch_site(const Stream &stream, const char *what, uint32_t task, Site *site) {
  std::lock_guard<std::mutex> lock(state().mutex);
  const auto at = state().streams.find(&stream);
  if (at == state().streams.end()) return false;
  for (const Launch &launch : at->second.launches) {
    if (launch.number != task && !(launch.number == 0 && std::string(launch.what) == what))
      continue;
    *site = launch.site;
    return true;
  }
  return false;
}

}  // namespace emu::faults
