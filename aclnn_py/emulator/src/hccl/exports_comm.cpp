// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Communicators of the C interface.
#include <algorithm>
#include <cstring>

#include "core/device.h"
#include "core/export.h"
#include "hccl/arguments.h"
#include "hccl/config.h"
#include "hccl/create.h"
#include "hccl/group.h"
#include "hccl/hccl.h"
#include "hccl/registry.h"

namespace emu::hccl {
namespace {

using Comm = std::shared_ptr<Communicator>;

HcclResult result(Status status) { return static_cast<HcclResult>(status); }

// The communicator of a handle, whatever state it is in.
Status known(const char *routine, HcclComm handle, Comm *comm) {
  if (const Status s = check_pointer(routine, "comm", handle)) return s;
  *comm = find_communicator(handle);
  return *comm
             ? 0
             : refuse(HCCL_E_PARA, "%s: comm %p is not a communicator; it may have been destroyed",
                      routine, handle);
}

Status known(const char *routine, HcclComm handle, const char *name, const void *output,
             Comm *comm) {
  if (const Status s = check_pointer(routine, name, output)) return s;
  return known(routine, handle, comm);
}

Status destroy(HcclComm handle) {
  Comm comm;
  if (const Status s = known("HcclCommDestroy", handle, &comm)) return s;
  if (comm->busy() && !comm->failed()) {
    return fail_as("EI0003", HCCL_E_AGAIN,
                   "HcclCommDestroy: communicator %s has calls that have not finished; synchronize "
                   "their streams first",
                   comm->name().c_str());
  }
  comm = withdraw_communicator(handle);
  if (!comm)
    return refuse(HCCL_E_PARA, "HcclCommDestroy: comm %p was destroyed by another thread", handle);
  comm->leave();
  return 0;
}

// --- memory ranges: what a program announces for zero-copy. Data move the same way with and
// without; the bookkeeping and its refusals are those of the library.
Status set_range(HcclComm handle, void *base, size_t size, size_t alignment, uint64_t flags) {
  const char *routine = "HcclCommSetMemoryRange";
  Comm comm;
  if (const Status s = known(routine, handle, "baseVirPtr", base, &comm)) return s;
  if (size == 0) return refuse(HCCL_E_PARA, "%s: size is 0", routine);
  if (flags != 0) return refuse(HCCL_E_PARA, "%s: flags must be 0", routine);
  const auto start = reinterpret_cast<uintptr_t>(base);
  if (alignment != 0 && start % alignment != 0) {
    return refuse(HCCL_E_PARA, "%s: baseVirPtr %p is not aligned to %zu", routine, base, alignment);
  }
  std::lock_guard<std::mutex> hold(comm->ranges_mutex);
  for (const auto &[other, range] : comm->ranges) {
    if (start < other + range.size && other < start + size) {
      return refuse(HCCL_E_PARA, "%s: the range overlaps one that was set before", routine);
    }
  }
  comm->ranges[start].size = size;
  return 0;
}

Status unset_range(HcclComm handle, void *base) {
  const char *routine = "HcclCommUnsetMemoryRange";
  Comm comm;
  if (const Status s = known(routine, handle, "baseVirPtr", base, &comm)) return s;
  std::lock_guard<std::mutex> hold(comm->ranges_mutex);
  const auto found = comm->ranges.find(reinterpret_cast<uintptr_t>(base));
  if (found == comm->ranges.end())
    return refuse(HCCL_E_NOT_FOUND, "%s: no range begins at %p", routine, base);
  if (!found->second.active.empty())
    return refuse(HCCL_E_PARA, "%s: parts of the range are still active", routine);
  comm->ranges.erase(found);
  return 0;
}

Status activate(HcclComm handle, void *address, size_t size, aclrtDrvMemHandle memory) {
  const char *routine = "HcclCommActivateCommMemory";
  Comm comm;
  if (const Status s = known(routine, handle, "virPtr", address, &comm)) return s;
  if (const Status s = check_pointer(routine, "handle", memory)) return s;
  if (size == 0) return refuse(HCCL_E_PARA, "%s: size is 0", routine);
  const auto start = reinterpret_cast<uintptr_t>(address);
  std::lock_guard<std::mutex> hold(comm->ranges_mutex);
  for (auto &[base, range] : comm->ranges) {
    if (start < base || start + size > base + range.size) continue;
    for (const auto &[other, length] : range.active) {
      if (start < other + length && other < start + size)
        return refuse(HCCL_E_PARA, "%s: %p is active already", routine, address);
    }
    range.active[start] = size;
    return 0;
  }
  return refuse(HCCL_E_PARA, "%s: %p lies in no range set with HcclCommSetMemoryRange", routine,
                address);
}

Status deactivate(HcclComm handle, void *address) {
  const char *routine = "HcclCommDeactivateCommMemory";
  Comm comm;
  if (const Status s = known(routine, handle, "virPtr", address, &comm)) return s;
  std::lock_guard<std::mutex> hold(comm->ranges_mutex);
  for (auto &[base, range] : comm->ranges) {
    if (range.active.erase(reinterpret_cast<uintptr_t>(address)) != 0) return 0;
  }
  return refuse(HCCL_E_NOT_FOUND, "%s: %p is not active", routine, address);
}

const char *error_text(int code) {
  switch (code) {
    case HCCL_SUCCESS: return "success";
    case HCCL_E_PARA: return "invalid argument";
    case HCCL_E_PTR: return "null pointer";
    case HCCL_E_MEMORY: return "memory error";
    case HCCL_E_INTERNAL: return "internal error";
    case HCCL_E_NOT_SUPPORT: return "not supported";
    case HCCL_E_NOT_FOUND: return "not found";
    case HCCL_E_UNAVAIL: return "resource unavailable";
    case HCCL_E_SYSCALL: return "system call failed";
    case HCCL_E_TIMEOUT: return "timed out";
    case HCCL_E_OPEN_FILE_FAILURE: return "file cannot be opened";
    case HCCL_E_TCP_CONNECT: return "connection failed";
    case HCCL_E_ROCE_CONNECT: return "RoCE connection failed";
    case HCCL_E_TCP_TRANSFER: return "transfer failed";
    case HCCL_E_ROCE_TRANSFER: return "RoCE transfer failed";
    case HCCL_E_RUNTIME: return "runtime call failed";
    case HCCL_E_DRV: return "driver call failed";
    case HCCL_E_PROFILING: return "profiling call failed";
    case HCCL_E_CCE: return "CCE call failed";
    case HCCL_E_NETWORK: return "network call failed";
    case HCCL_E_AGAIN: return "try again";
    case HCCL_E_REMOTE: return "remote rank failed";
    case HCCL_E_SUSPENDING: return "communicator is suspended";
    case HCCL_E_OPRETRY_FAIL: return "operator retry failed";
    case HCCL_E_OOM: return "out of memory";
    case HCCL_E_IN_STATUS: return "the error is in the status object";
    default: return "unknown HCCL result";
  }
}

}  // namespace
}  // namespace emu::hccl

using emu::Status;
using namespace emu::hccl;

EMU_EXPORT HcclResult HcclGetRootInfo(HcclRootInfo *rootInfo) try {
  return result(get_root_info(rootInfo));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo *rootInfo,
                                           uint32_t rank, HcclComm *comm) try {
  return result(
      create_from_root_info("HcclCommInitRootInfo", nRanks, rootInfo, rank, nullptr, false, comm));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo *rootInfo,
                                                 uint32_t rank, const HcclCommConfig *config,
                                                 HcclComm *comm) try {
  return result(create_from_root_info("HcclCommInitRootInfoConfig", nRanks, rootInfo, rank, config,
                                      true, comm));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommInitClusterInfo(const char *clusterInfo, uint32_t rank,
                                              HcclComm *comm) try {
  return result(
      create_from_rank_table("HcclCommInitClusterInfo", clusterInfo, rank, nullptr, false, comm));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommInitClusterInfoConfig(const char *clusterInfo, uint32_t rank,
                                                    HcclCommConfig *config, HcclComm *comm) try {
  return result(create_from_rank_table("HcclCommInitClusterInfoConfig", clusterInfo, rank, config,
                                       true, comm));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommInitAll(uint32_t ndev, int32_t *devices, HcclComm *comms) try {
  return result(create_all(ndev, devices, comms));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCreateSubCommConfig(HcclComm *comm, uint32_t rankNum, uint32_t *rankIds,
                                              uint64_t subCommId, uint32_t subCommRankId,
                                              HcclCommConfig *config, HcclComm *subComm) try {
  return result(create_sub(comm, rankNum, rankIds, subCommId, subCommRankId, config, subComm));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommDestroy(HcclComm comm) try { return result(destroy(comm)); }
EMU_CATCH

EMU_EXPORT HcclResult HcclGetRankSize(HcclComm comm, uint32_t *rankSize) try {
  Comm found;
  if (const Status s = known("HcclGetRankSize", comm, "rankSize", rankSize, &found))
    return result(s);
  *rankSize = found->size();
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclGetRankId(HcclComm comm, uint32_t *rank) try {
  Comm found;
  if (const Status s = known("HcclGetRankId", comm, "rank", rank, &found)) return result(s);
  *rank = found->rank();
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclGetCommName(HcclComm comm, char *commName) try {
  Comm found;
  if (const Status s = known("HcclGetCommName", comm, "commName", commName, &found))
    return result(s);
  std::memcpy(commName, found->name().c_str(), found->name().size() + 1);
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommGetHandleWithName(const char *commName, HcclComm *comm) try {
  const char *routine = "HcclCommGetHandleWithName";
  if (const Status s = check_pointer(routine, "commName", commName)) return result(s);
  if (const Status s = check_pointer(routine, "comm", comm)) return result(s);
  int device = 0;
  if (emu::current_device(routine, &device) != 0) return HCCL_E_RUNTIME;
  *comm = find_handle(device, commName);
  if (*comm) return HCCL_SUCCESS;
  return result(refuse(HCCL_E_NOT_FOUND, "%s: device %d has no communicator named \"%s\"", routine,
                       device, commName));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult *asyncError) try {
  Comm found;
  if (const Status s = known("HcclGetCommAsyncError", comm, "asyncError", asyncError, &found))
    return result(s);
  *asyncError = found->failed() ? HCCL_E_REMOTE : HCCL_SUCCESS;
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommGetStatus(const char *commId, HcclCommStatus *status) try {
  const char *routine = "HcclCommGetStatus";
  if (const Status s = check_pointer(routine, "commId", commId)) return result(s);
  if (const Status s = check_pointer(routine, "status", status)) return result(s);
  int device = 0;
  if (emu::current_device(routine, &device) != 0) return HCCL_E_RUNTIME;
  const Comm found = find_communicator(device, commId);
  *status = !found || found->failed() ? HCCL_COMM_STATUS_INVALID
            : found->suspended()      ? HCCL_COMM_STATUS_SUSPENDING
                                      : HCCL_COMM_STATUS_READY;
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommSuspend(HcclComm comm) try {
  Comm found;
  if (const Status s = known("HcclCommSuspend", comm, &found)) return result(s);
  found->suspend();
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommResume(HcclComm comm) try {
  Comm found;
  if (const Status s = known("HcclCommResume", comm, &found)) return result(s);
  return result(found->resume());
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommWorkingDevNicSet(HcclComm comm, uint32_t *ranks, bool *useBackup,
                                               uint32_t nRanks) try {
  const char *routine = "HcclCommWorkingDevNicSet";
  Comm found;
  if (const Status s = known(routine, comm, &found)) return result(s);
  if (const Status s = check_pointer(routine, "ranks", ranks)) return result(s);
  if (const Status s = check_pointer(routine, "useBackup", useBackup)) return result(s);
  for (uint32_t i = 0; i < nRanks; ++i) {
    if (const Status s = check_rank(routine, "a member of ranks", ranks[i], found->size()))
      return result(s);
  }
  return result(refuse(HCCL_E_NOT_SUPPORT,
                       "%s: the emulator's devices have no network interfaces to choose from",
                       routine));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommSetMemoryRange(HcclComm comm, void *baseVirPtr, size_t size,
                                             size_t alignment, uint64_t flags) try {
  return result(set_range(comm, baseVirPtr, size, alignment, flags));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommUnsetMemoryRange(HcclComm comm, void *baseVirPtr) try {
  return result(unset_range(comm, baseVirPtr));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommActivateCommMemory(HcclComm comm, void *virPtr, size_t size,
                                                 size_t offset, aclrtDrvMemHandle handle,
                                                 uint64_t flags) try {
  if (offset != 0 || flags != 0)
    return result(refuse(HCCL_E_PARA, "HcclCommActivateCommMemory: offset and flags must be 0"));
  return result(activate(comm, virPtr, size, handle));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclCommDeactivateCommMemory(HcclComm comm, void *virPtr) try {
  return result(deactivate(comm, virPtr));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) try {
  if (config != HCCL_DETERMINISTIC)
    return result(refuse(HCCL_E_PARA, "HcclSetConfig: there is no setting %d", config));
  return result(set_deterministic(configValue.value));
}
EMU_CATCH

EMU_EXPORT HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue *configValue) try {
  if (const Status s = check_pointer("HcclGetConfig", "configValue", configValue)) return result(s);
  if (config != HCCL_DETERMINISTIC)
    return result(refuse(HCCL_E_PARA, "HcclGetConfig: there is no setting %d", config));
  configValue->value = deterministic();
  return HCCL_SUCCESS;
}
EMU_CATCH

// Features up to the execution timeout are honoured or have nothing to act on; names of buffers are
// not read.
EMU_EXPORT uint32_t HcclGetCommConfigCapability(void) try { return HCCL_COMM_CONFIG_RETRY + 1; }
EMU_CATCH

EMU_EXPORT const char *HcclGetErrorString(HcclResult code) try { return error_text(code); }
EMU_CATCH

EMU_EXPORT HcclResult HcclGroupStart(void) try {
  group_start();
  return HCCL_SUCCESS;
}
EMU_CATCH

EMU_EXPORT HcclResult HcclGroupEnd(void) try { return result(group_end()); }
EMU_CATCH

EMU_EXPORT HcclResult HcclGroupStatusGet(bool *isGroupEnabled) try {
  if (const Status s = check_pointer("HcclGroupStatusGet", "isGroupEnabled", isGroupEnabled))
    return result(s);
  *isGroupEnabled = group_open();
  return HCCL_SUCCESS;
}
EMU_CATCH
