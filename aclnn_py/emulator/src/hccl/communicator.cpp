// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "hccl/communicator.h"

#include <sched.h>

#include <algorithm>
#include <chrono>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <new>

#include "acl/acl_base.h"
#include "core/cancel.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "core/stream.h"
#include "hccl/futex.h"

namespace emu::hccl {
namespace {

using Clock = std::chrono::steady_clock;

int usable_processors() {
  cpu_set_t set;
  return sched_getaffinity(0, sizeof set, &set) == 0 ? CPU_COUNT(&set) : 1;
}

double seconds_since(Clock::time_point start) {
  return std::chrono::duration<double>(Clock::now() - start).count();
}

}  // namespace

Call describe(const char *format, ...) {
  Call call;
  va_list arguments;
  va_start(arguments, format);
  std::vsnprintf(call.text, sizeof call.text, format, arguments);
  va_end(arguments);
  return call;
}

Communicator::Communicator(std::string name, uint32_t rank, int device, Config config,
                           std::shared_ptr<Region> region, uint32_t crowd)
    : name_(std::move(name)),
      rank_(rank),
      device_(device),
      config_(std::move(config)),
      region_(std::move(region)),
      crowd_(std::max(crowd, region_->ranks())),
      peers_(*region_, rank_) {
  region_->state(rank_).reach.store(peers_.complete() ? Reach::everyone : Reach::not_everyone,
                                    std::memory_order_release);
  // a short look before sleeping pays only while every rank has a processor of its own
  const int processors = usable_processors();
  spins_ = static_cast<int>(crowd_) <= processors ? 400 : 0;
  width_ = std::clamp(processors / static_cast<int>(crowd_), 1, parallel_width());
}

bool Communicator::direct() {
  for (uint32_t r = 0; r < size(); ++r) {
    if (region_->state(r).reach.load(std::memory_order_acquire) != Reach::everyone) return false;
  }
  return true;
}

Communicator::~Communicator() = default;

void Communicator::cpu_pause() { cpu_relax(); }

void Communicator::ring(uint32_t rank) {
  RankState &state = region_->state(rank);
  state.bell.fetch_add(1, std::memory_order_seq_cst);
  if (state.sleeping.exchange(0, std::memory_order_seq_cst) != 0) futex_wake_all(&state.bell);
}

void Communicator::ring_all() {
  for (uint32_t r = 0; r < size(); ++r) {
    if (r != rank_) ring(r);
  }
}

Status Communicator::wait_asleep(const Wait &wait, bool (*ready)(void *), void *context) {
  RankState &self = region_->state(rank_);
  self.awaited_rank.store(wait.rank, std::memory_order_relaxed);
  self.awaited_value.store(wait.value, std::memory_order_relaxed);
  self.awaits.store(static_cast<uint32_t>(wait.what), std::memory_order_relaxed);
  self.serial.fetch_add(1, std::memory_order_seq_cst);
  const Clock::time_point start = Clock::now();
  Clock::time_point looked = start;
  Status status = 0;
  for (;;) {
    const uint32_t heard = self.bell.load(std::memory_order_seq_cst);
    self.sleeping.store(1, std::memory_order_seq_cst);
    // ready() first: a rank that has all it needs completes its call whatever happened to the
    // others since
    if (ready(context)) break;
    if (failed()) {
      status = report_failure();
      break;
    }
    futex_wait(&self.bell, heard, 20);
    if (seconds_since(looked) >= 0.02) {
      looked = Clock::now();
      if (ready(context)) break;
      status = look_around(wait, seconds_since(start), ready, context);
      if (status != 0) break;
    }
  }
  self.sleeping.store(0, std::memory_order_relaxed);
  self.serial.fetch_add(1, std::memory_order_seq_cst);
  return status;
}

// The slow part of waiting: is there any reason to believe that the wait will never end?
// A rank may arrive and leave at once: that it left is a reason only if it had not come by then.
Status Communicator::look_around(const Wait &wait, double waited, bool (*ready)(void *),
                                 void *context) {
  const std::string here = current_call(rank_);
  if (wait_cancelled()) {
    return abandon("EI0002", kPeerLate,
                   "%s stopped waiting in %s: its stream was aborted or its process is ending",
                   who(rank_).c_str(), here.c_str());
  }
  auto check = [&](uint32_t rank) -> Status {
    const bool ended = !is_running(region_->member(rank).process);
    const bool left = region_->state(rank).left.load(std::memory_order_acquire) != 0;
    if (!ended && !left) return 0;
    const bool came = wait.what == Awaits::step
                          ? region_->state(rank).step.load(std::memory_order_acquire) >= wait.value
                          : ready(context);
    if (came) return 0;
    if (!left) {
      return abandon("EI0012", kPeerLost, "%s ended while %s waited for it in %s",
                     who(rank).c_str(), who(rank_).c_str(), here.c_str());
    }
    return abandon("EI0012", kPeerLost,
                   "%s destroyed its communicator while %s waited for it in %s", who(rank).c_str(),
                   who(rank_).c_str(), here.c_str());
  };
  std::vector<uint32_t> missing;
  if (wait.peers) {
    missing = *wait.peers;
  } else if (wait.what == Awaits::step) {
    for (uint32_t r = 0; r < size(); ++r) {
      if (region_->state(r).step.load(std::memory_order_acquire) < wait.value) missing.push_back(r);
    }
  } else {
    missing.push_back(wait.rank);
  }
  for (uint32_t r : missing) {
    if (const Status status = check(r)) return status;
  }
  if (const Status status = find_deadlock(wait)) return status;
  const double limit = wait.limit > 0 ? wait.limit : config_.exec_timeout;
  if (limit > 0 && waited > limit && !ready(context)) {
    std::string late;
    for (uint32_t r : missing)
      late += (late.empty() ? "" : ", ") + who(r) + " (" + current_call(r) + ")";
    return abandon("EI0002", kPeerLate, "%s waited %g s in %s for %s; %s sets the limit",
                   who(rank_).c_str(), limit, here.c_str(), late.c_str(),
                   wait.limit > 0 ? "an argument of the call" : "HCCL_EXEC_TIMEOUT");
  }
  return 0;
}

// Is what `waiter` published still unsatisfied? Reads counters only.
bool Communicator::unsatisfied(uint32_t waiter, Wait *wait) {
  RankState &state = region_->state(waiter);
  wait->what = static_cast<Awaits>(state.awaits.load(std::memory_order_relaxed));
  wait->rank = state.awaited_rank.load(std::memory_order_relaxed);
  wait->value = state.awaited_value.load(std::memory_order_relaxed);
  switch (wait->what) {
    case Awaits::step:
      // a step waits for all; the first rank that is not there is enough to close a circle
      for (uint32_t r = 0; r < size(); ++r) {
        if (region_->state(r).step.load(std::memory_order_acquire) < wait->value) {
          wait->rank = r;
          return true;
        }
      }
      return false;
    case Awaits::posted:
      return wait->rank < size() &&
             region_->channel(wait->rank, waiter).posted.load() < wait->value;
    case Awaits::taken:
      return wait->rank < size() && region_->channel(waiter, wait->rank).taken.load() < wait->value;
    case Awaits::nothing: break;
  }
  return false;
}

// Follows "waits for" from rank to rank. When the chain comes back to this rank, every wait on it
// is unsatisfied and nobody on it left its wait meanwhile (the serials are odd and unchanged), no
// rank of the circle can ever go on: they called things that do not belong together.
Status Communicator::find_deadlock(const Wait &wait) {
  if (wait.what != Awaits::step && wait.rank >= size()) return 0;
  std::vector<uint32_t> chain;
  std::vector<uint64_t> serials;
  uint32_t at = rank_;
  for (;;) {
    const uint64_t serial = region_->state(at).serial.load(std::memory_order_seq_cst);
    Wait link;
    if (serial % 2 == 0 || !unsatisfied(at, &link)) return 0;
    chain.push_back(at);
    serials.push_back(serial);
    if (link.rank == rank_) break;
    if (chain.size() > size()) return 0;  // a circle that this rank waits for, but is not part of
    at = link.rank;
  }
  std::atomic_thread_fence(std::memory_order_seq_cst);
  std::string calls;
  for (size_t i = 0; i < chain.size(); ++i) {
    if (region_->state(chain[i]).serial.load(std::memory_order_seq_cst) != serials[i]) return 0;
  }
  std::sort(chain.begin(), chain.end());
  for (uint32_t r : chain)
    calls += (calls.empty() ? "" : ", ") + who(r) + " called " + current_call(r);
  return abandon("EI0005", kRanksDisagree,
                 "the ranks wait for each other in calls that do not belong together: %s",
                 calls.c_str());
}

Status Communicator::abandon(const char *message_code, Status status, const char *format, ...) {
  Header &header = region_->header();
  uint32_t none = 0;
  if (header.failure.compare_exchange_strong(none, 1, std::memory_order_acq_rel)) {
    int used = std::snprintf(header.reason, sizeof header.reason,
                             "communicator %s (%u ranks): ", name_.c_str(), size());
    va_list arguments;
    va_start(arguments, format);
    std::vsnprintf(header.reason + used, sizeof header.reason - static_cast<size_t>(used), format,
                   arguments);
    va_end(arguments);
    std::snprintf(header.prefix, sizeof header.prefix, "%s", message_code);
    header.status = status;
    header.failure.store(2, std::memory_order_release);
    ring_all();
  }
  return report_failure();
}

std::string Communicator::failure_text() {
  Header &header = region_->header();
  // the rank that found the failure may have been killed between taking the word and writing the
  // text
  for (int i = 0; i < 100 && header.failure.load(std::memory_order_acquire) == 1; ++i) {
    timespec nap{0, 10000000};
    nanosleep(&nap, nullptr);
  }
  switch (header.failure.load(std::memory_order_acquire)) {
    case 0: return "";
    case 1: return "communicator " + name_ + ": a rank ended while it reported a failure";
    default: return header.reason;
  }
}

Status Communicator::report_failure() {
  const std::string text = failure_text();
  Header &header = region_->header();
  const bool told = header.failure.load(std::memory_order_acquire) == 2;
  return fail_as(told ? header.prefix : "EI0012", told ? header.status : kPeerLost, "%s",
                 text.c_str());
}

void Communicator::leave() {
  region_->state(rank_).left.store(1, std::memory_order_release);
  ring_all();
}

// Every counter is set by its owner to a value no earlier call can have reached; a rank counts as
// revived only after that, and the failure is cleared only after all are.
Status Communicator::resume() {
  suspended_.store(false);
  Header &header = region_->header();
  if (header.failure.load(std::memory_order_acquire) == 0) return 0;
  RankState &self = region_->state(rank_);
  const uint32_t round = self.revived.load() + 1;
  const uint64_t base = uint64_t{round} << 40;
  step = base;
  self.step.store(base);
  for (uint32_t r = 0; r < size(); ++r) {
    region_->channel(rank_, r).posted.store(base);
    region_->channel(r, rank_).taken.store(base);
  }
  self.revived.store(round, std::memory_order_release);
  const Clock::time_point start = Clock::now();
  for (;;) {
    std::string missing;
    for (uint32_t r = 0; r < size(); ++r) {
      if (region_->state(r).revived.load(std::memory_order_acquire) >= round) continue;
      missing += (missing.empty() ? "" : ", ") + who(r);
      const bool gone =
          !is_running(region_->member(r).process) || region_->state(r).left.load() != 0;
      if (gone && region_->state(r).revived.load(std::memory_order_acquire) < round) {
        return fail_as("EI0012", HCCL_E_REMOTE, "HcclCommResume: %s is gone", who(r).c_str());
      }
    }
    if (missing.empty()) break;
    if (seconds_since(start) > config_.connect_timeout) {
      return fail_as("EI0006", HCCL_E_TIMEOUT, "HcclCommResume: not resumed within %g s: %s",
                     config_.connect_timeout, missing.c_str());
    }
    timespec nap{0, 2000000};
    nanosleep(&nap, nullptr);
  }
  uint32_t expected = round - 1;
  if (header.revived.compare_exchange_strong(expected, round, std::memory_order_acq_rel)) {
    header.failure.store(0, std::memory_order_release);
    header.cleared.store(round, std::memory_order_release);
  }
  while (header.cleared.load(std::memory_order_acquire) < round) sched_yield();
  return 0;
}

uint64_t Communicator::issue() {
  std::lock_guard<std::mutex> hold(turn_mutex_);
  open_.insert(open_.end(), issued_ + 1);
  return ++issued_;
}

void Communicator::close_turn(uint64_t ticket) noexcept {
  open_.erase(ticket);
  turn_changed_.notify_all();
}

void Communicator::give_up(uint64_t ticket) noexcept {
  std::lock_guard<std::mutex> hold(turn_mutex_);
  close_turn(ticket);
}

// The work of a ticket was dropped before it ran, because its stream failed or was destroyed. The
// other ranks wait for it, so they are told.
void Communicator::withdraw(uint64_t ticket) noexcept {
  give_up(ticket);
  if (region_->state(rank_).left.load() != 0) return;
  const Member &member = region_->member(rank_);
  try {
    abandon("EI0012", kPeerLost,
            "a call of rank %u (process %lld, device %lld) was dropped before it ran: its stream "
            "had failed or was destroyed",
            rank_, static_cast<long long>(member.process.pid),
            static_cast<long long>(member.device));
  } catch (const std::bad_alloc &) {
    // The ranks have been told; there is no memory for this thread's own copy of the text.
    return;
  }
}

Status Communicator::enter(uint64_t ticket, const Call &call) {
  if (region_->state(rank_).left.load(std::memory_order_acquire) != 0) {
    if (ticket != 0) give_up(ticket);
    return fail_as("EI0003", kRanksDisagree,
                   "%s: the communicator %s was destroyed before the call ran", call.text,
                   name_.c_str());
  }
  std::unique_lock<std::mutex> hold(turn_mutex_);
  while (!may_go(ticket)) {
    if (failed() || wait_cancelled()) break;
    turn_changed_.wait_for(hold, std::chrono::milliseconds(100));
  }
  if (!may_go(ticket)) {
    close_turn(ticket);
    hold.unlock();
    if (failed()) return report_failure();
    return abandon("EI0002", kPeerLate,
                   "%s gave up %s: its stream was aborted or its process is ending",
                   who(rank_).c_str(), call.text);
  }
  running_ = true;
  hold.unlock();
  RankState &self = region_->state(rank_);
  uint64_t words[kCallText / 8];
  static_assert(sizeof words == sizeof call.text);
  std::memcpy(words, call.text, sizeof words);
  for (size_t i = 0; i < kCallText / 8; ++i) {
    self.text[i].store(words[i], std::memory_order_relaxed);
    if (std::memchr(&words[i], 0, 8)) break;
  }
  self.calls.fetch_add(1, std::memory_order_release);
  if (failed()) {
    exit(ticket);
    return report_failure();
  }
  return 0;
}

void Communicator::exit(uint64_t ticket) {
  region_->state(rank_).text[0].store(0, std::memory_order_relaxed);
  std::lock_guard<std::mutex> hold(turn_mutex_);
  running_ = false;
  close_turn(ticket);
}

bool Communicator::busy() {
  std::lock_guard<std::mutex> hold(turn_mutex_);
  return running_ || !open_.empty();
}

std::string Communicator::current_call(uint32_t rank) {
  RankState &state = region_->state(rank);
  uint64_t words[kCallText / 8];
  for (size_t i = 0; i < kCallText / 8; ++i)
    words[i] = state.text[i].load(std::memory_order_relaxed);
  char text[kCallText];
  std::memcpy(text, words, sizeof text);
  text[sizeof text - 1] = 0;
  const uint64_t calls = state.calls.load(std::memory_order_acquire);
  if (text[0] == 0)
    return calls == 0 ? "no call yet" : "no call since number " + std::to_string(calls);
  return std::string(text) + " as call " + std::to_string(calls);
}

std::string Communicator::who(uint32_t rank) {
  const Member &member = region_->member(rank);
  return "rank " + std::to_string(rank) + " (process " + std::to_string(member.process.pid) +
         ", device " + std::to_string(member.device) + ")";
}

}  // namespace emu::hccl
