// SPDX-License-Identifier: Apache-2.0
#include "hccl/group.h"

#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "core/device.h"
#include "core/per_thread.h"
#include "hccl/arguments.h"
#include "hccl/launch.h"

namespace emu::hccl {
namespace {

struct Batch {
  std::shared_ptr<Communicator> communicator;
  aclrtStream stream;
  std::vector<Transfer> transfers;
  std::vector<Span> spans;
};

struct Creation {
  int device;
  std::function<Status()> create;
};

struct Group {
  int depth = 0;
  std::vector<Creation> creations;
  std::vector<Batch> batches;
};

// The group of the calling thread.
Group &group() { return PerThread<Group>::get(); }

}  // namespace

bool group_open() { return group().depth > 0; }

void group_start() { ++group().depth; }

Status group_creation(int device, std::function<Status()> create) {
  group().creations.push_back({device, std::move(create)});
  return 0;
}

Status group_transfer(const std::shared_ptr<Communicator> &communicator, aclrtStream stream,
                      const Transfer &transfer, const Span &span) {
  for (Batch &batch : group().batches) {
    if (batch.communicator == communicator && batch.stream == stream) {
      batch.transfers.push_back(transfer);
      batch.spans.push_back(span);
      return 0;
    }
  }
  group().batches.push_back({communicator, stream, {transfer}, {span}});
  return 0;
}

Status run_on_devices(const char *routine, const std::vector<int> &devices,
                      const std::function<Status(size_t)> &work) {
  struct Outcome {
    Status status = 0;
    std::string text;
  };
  std::vector<Outcome> outcomes(devices.size());
  std::vector<std::thread> threads;
  threads.reserve(devices.size());
  // Nobody begins before all are there: the others would wait for one that was never started.
  std::mutex gate;
  bool complete = false;
  auto run = [&](size_t i) {
    {
      std::lock_guard<std::mutex> wait(gate);
      if (!complete) return;
    }
    Outcome &outcome = outcomes[i];
    try {
      outcome.status =
          set_device(devices[i], routine) != 0 ? static_cast<Status>(HCCL_E_RUNTIME) : work(i);
    } catch (const std::exception &problem) {
      outcome.status = fail_as("EI0007", HCCL_E_MEMORY, "%s: device %d: %s", routine, devices[i],
                               problem.what());
    }
    if (outcome.status != 0) outcome.text = take_message();
  };
  Status start_failure = 0;
  {
    std::lock_guard<std::mutex> closed(gate);
    try {
      for (size_t i = 0; i < devices.size(); ++i) threads.emplace_back(run, i);
      complete = true;
    } catch (const std::exception &error) {
      start_failure =
          fail_as("EI0007", HCCL_E_SYSCALL, "%s: starting a thread: %s", routine, error.what());
    }
  }
  for (std::thread &thread : threads) thread.join();
  for (const Outcome &outcome : outcomes) {
    if (outcome.status == 0) continue;
    add_message(outcome.text);
    return outcome.status;
  }
  return start_failure;
}

Status group_end() {
  if (group().depth == 0)
    return refuse(HCCL_E_PARA, "HcclGroupEnd: no group was started by this thread");
  if (--group().depth > 0) return 0;
  const std::vector<Creation> creations = std::move(group().creations);
  const std::vector<Batch> batches = std::move(group().batches);
  group() = Group{};
  Status first = 0;
  if (!creations.empty()) {
    std::vector<int> devices;
    for (const Creation &creation : creations) devices.push_back(creation.device);
    first =
        run_on_devices("HcclGroupEnd", devices, [&](size_t i) { return creations[i].create(); });
  }
  for (const Batch &batch : batches) {
    const Status status = launch(
        "HcclGroupEnd", batch.communicator, batch.stream,
        describe("group of %zu sends and receives", batch.transfers.size()), batch.spans,
        [transfers = batch.transfers](Session &session) { return session.exchange(transfers); });
    if (first == 0) first = status;
  }
  return first;
}

}  // namespace emu::hccl
