// SPDX-License-Identifier: Apache-2.0
// Device memory by key between processes (aclrtIpcMem...).
#include <sys/mman.h>
#include <unistd.h>

#include <cinttypes>
#include <cstdio>
#include <cstring>
#include <map>
#include <mutex>
#include <string>

#include "acl/acl_rt.h"
#include "core/device.h"
#include "core/export.h"
#include "core/memory.h"
#include "core/process.h"
#include "core/undo.h"
#include "runtime/sharing.h"

namespace emu {
namespace {

constexpr size_t kKeyBytes = 65;

struct Imported {
  void *address;  // what the program got
  void *mapping;
  size_t length;
};

struct Keys {
  std::mutex mutex;
  std::map<std::string, OwnTicket> exported;
  std::map<std::string, Imported> imported;
};

Keys &keys() {
  static auto *const instance = new Keys;
  return *instance;
}

Status import(const std::string &key, const char *routine, int32_t pid, int32_t file,
              uint64_t nonce, void **out) {
  Ticket ticket{};
  int backing = -1;
  if (const Status s = open_ticket(pid, file, nonce, routine, &ticket, &backing)) return s;
  const uint64_t start = ticket.offset / kPageBytes * kPageBytes;
  const size_t lead = ticket.offset - start,
               length = (lead + ticket.size + kPageBytes - 1) / kPageBytes * kPageBytes;
  void *mapping =
      mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_SHARED, backing, static_cast<off_t>(start));
  close(backing);
  if (mapping == MAP_FAILED) {
    return fail(ACL_ERROR_RT_MEMORY_ALLOCATION, "%s: the host could not map %zu bytes.", routine,
                length);
  }
  void *address = static_cast<char *>(mapping) + lead;
  int device = 0;
  if (const Status s = current_device(routine, &device)) {
    munmap(mapping, length);
    return s;
  }
  Undo back([&] { munmap(mapping, length); });
  Undo entry([&] { keys().imported.erase(key); });
  keys().imported[key] = {address, mapping, length};
  publish_block(address, ticket.size, device, BlockKind::kImported);
  entry.keep();
  back.keep();
  *out = address;
  return 0;
}

}  // namespace
}  // namespace emu

using emu::fail;
using emu::Status;

EMU_EXPORT aclError aclrtIpcMemGetExportKey(void *devPtr, size_t size, char *key, size_t len,
                                            uint64_t flags) try {
  EMU_ENTER();
  if (devPtr == nullptr || key == nullptr || size == 0 || len < emu::kKeyBytes) {
    return fail(ACL_ERROR_INVALID_PARAM,
                "aclrtIpcMemGetExportKey: devPtr %p, size %zu, key %p of %zu bytes (%zu needed).",
                devPtr, size, static_cast<void *>(key), len, emu::kKeyBytes);
  }
  int device = 0, file = -1;
  uint64_t offset = 0;
  if (!emu::on_device(devPtr, size, &device)) {
    return fail(ACL_ERROR_RT_PARAM_INVALID, "aclrtIpcMemGetExportKey: %zu bytes at %p: %s.", size,
                devPtr, emu::describe_address(devPtr).c_str());
  }
  if (!emu::backing_of(devPtr, &file, &offset)) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclrtIpcMemGetExportKey: this memory cannot be shared; allocate it with "
                "aclrtMalloc.");
  }
  emu::OwnTicket ticket;
  const bool any = (flags & ACL_RT_IPC_MEM_EXPORT_FLAG_DISABLE_PID_VALIDATION) != 0;
  if (const Status s = emu::make_ticket(file, offset, size, device, any, __func__, &ticket))
    return s;
  std::snprintf(key, len, "aclnn-mem-%d-%d-%016" PRIx64, static_cast<int>(getpid()), ticket.file,
                ticket.ticket->nonce);
  emu::Undo back([&] { emu::drop_ticket(ticket); });
  std::lock_guard<std::mutex> lock(emu::keys().mutex);
  emu::keys().exported[key] = ticket;
  back.keep();
  return 0;
}
EMU_CATCH

EMU_EXPORT aclError aclrtIpcMemSetImportPid(const char *key, int32_t *pid, size_t num) try {
  EMU_ENTER();
  if (key == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemSetImportPid: key is null.");
  std::lock_guard<std::mutex> lock(emu::keys().mutex);
  const auto at = emu::keys().exported.find(key);
  if (at == emu::keys().exported.end()) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE,
                "aclrtIpcMemSetImportPid: this process exported no such key.");
  }
  return emu::allow_pids(at->second, pid, num, __func__);
}
EMU_CATCH

EMU_EXPORT aclError aclrtIpcMemImportByKey(void **devPtr, const char *key, uint64_t flags) try {
  EMU_ENTER();
  if (devPtr == nullptr || key == nullptr) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemImportByKey: %s is null.",
                devPtr == nullptr ? "devPtr" : "key");
  }
  if ((flags & ~static_cast<uint64_t>(ACL_RT_IPC_MEM_IMPORT_FLAG_ENABLE_PEER_ACCESS)) != 0) {
    return fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemImportByKey: flags are 0x%" PRIx64 ".", flags);
  }
  int pid = 0, file = 0;
  uint64_t nonce = 0;
  if (std::sscanf(key, "aclnn-mem-%d-%d-%" SCNx64, &pid, &file, &nonce) != 3) {
    return fail(ACL_ERROR_RT_INVALID_HANDLE, "aclrtIpcMemImportByKey: \"%.80s\" is not a key.",
                key);
  }
  std::lock_guard<std::mutex> lock(emu::keys().mutex);
  if (emu::keys().imported.count(key) != 0) {
    return fail(ACL_ERROR_RT_PARAM_INVALID,
                "aclrtIpcMemImportByKey: this process has imported the key already.");
  }
  return emu::import(key, __func__, pid, file, nonce, devPtr);
}
EMU_CATCH

EMU_EXPORT aclError aclrtIpcMemClose(const char *key) try {
  EMU_ENTER();
  if (key == nullptr) return fail(ACL_ERROR_INVALID_PARAM, "aclrtIpcMemClose: key is null.");
  std::lock_guard<std::mutex> lock(emu::keys().mutex);
  auto &keys = emu::keys();
  if (const auto at = keys.imported.find(key); at != keys.imported.end()) {
    emu::withdraw_block(at->second.address, emu::BlockKind::kImported, nullptr);
    munmap(at->second.mapping, at->second.length);
    keys.imported.erase(at);
    return 0;
  }
  if (const auto at = keys.exported.find(key); at != keys.exported.end()) {
    emu::drop_ticket(at->second);
    keys.exported.erase(at);
    return 0;
  }
  return fail(ACL_ERROR_RT_INVALID_HANDLE,
              "aclrtIpcMemClose: this process neither exported nor imported the key.");
}
EMU_CATCH
