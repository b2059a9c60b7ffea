// SPDX-License-Identifier: Apache-2.0
#include "hccl/described.h"

#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "aclnn_py/refusal.h"
#include "core/export.h"
#include "core/statuses.h"

namespace emu::hccl {
namespace {

struct Described {
  std::mutex mutex;
  std::map<std::string, std::shared_ptr<Communicator>> groups;
};

Described &described() {
  static auto *const instance = new Described;
  return *instance;
}

std::atomic<bool> g_any{false};

Status describe_group(const char *name, uint32_t ranks, uint32_t rank) {
  const char *routine = "aclnn_py_emulator_describe_group";
  if (name == nullptr) return fail(kNullPointer, "%s: name is null", routine);
  if (ranks == 0 || ranks > kMaxRanks || rank >= ranks)
    return fail(kInvalid, "%s: rank %u of %u; allowed: ranks of 1 to %u", routine, rank, ranks,
                kMaxRanks);
  Described &all = described();
  std::lock_guard<std::mutex> hold(all.mutex);
  const auto known = all.groups.find(name);
  if (known != all.groups.end() && known->second->size() == ranks && known->second->rank() == rank)
    return 0;
  Config config;
  if (const Status s = read_environment(routine, &config)) return s;
  std::string why;
  const int shared = Region::create(std::vector<Member>(ranks), &why);
  std::shared_ptr<Region> region = shared < 0 ? nullptr : Region::attach(shared, &why);
  if (region == nullptr) return fail(kRuntimeError, "%s: %s", routine, why.c_str());
  all.groups[name] =
      std::make_shared<Communicator>(name, rank, 0, config, std::move(region), ranks);
  g_any.store(true);
  return 0;
}

}  // namespace

std::shared_ptr<Communicator> find_described(const char *name) {
  if (!g_any.load()) return nullptr;
  Described &all = described();
  std::lock_guard<std::mutex> hold(all.mutex);
  const auto found = all.groups.find(name);
  return found == all.groups.end() ? nullptr : found->second;
}

}  // namespace emu::hccl

EMU_EXPORT int32_t aclnn_py_emulator_describe_group(const char *name, uint32_t ranks,
                                                    uint32_t rank) try {
  return emu::hccl::describe_group(name, ranks, rank);
}
EMU_CATCH
