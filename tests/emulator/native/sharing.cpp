// SPDX-License-Identifier: Apache-2.0
// Memory and events between two processes: the program starts itself again as the other side.
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cinttypes>
#include <string>
#include <vector>

#include "expect.h"

extern char **environ;

namespace {

constexpr size_t kBytes = 10000;

int run_other(const char *self, const std::vector<std::string> &arguments, int before_wait(void *),
              void *context) {
  std::vector<char *> argv{const_cast<char *>(self)};
  for (const std::string &argument : arguments)
    argv.push_back(const_cast<char *>(argument.c_str()));
  argv.push_back(nullptr);
  int ready[2];
  EXPECT(pipe(ready) == 0);
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ready[0], 0);
  posix_spawn_file_actions_addclose(&actions, ready[1]);
  pid_t pid = 0;
  EXPECT(posix_spawn(&pid, self, &actions, nullptr, argv.data(), environ) == 0);
  posix_spawn_file_actions_destroy(&actions);
  struct Both {
    pid_t pid;
    void *context;
  } both{pid, context};
  EXPECT(before_wait(&both) == 0);
  EXPECT(write(ready[1], "g", 1) == 1);  // only now may it import
  close(ready[0]);
  close(ready[1]);
  int status = 0;
  EXPECT(waitpid(pid, &status, 0) == pid);
  EXPECT(WIFEXITED(status));
  return WEXITSTATUS(status);
}

struct Both {
  pid_t pid;
  void *context;
};

std::string hex(const void *bytes, size_t size) {
  std::string text;
  char pair[3];
  for (size_t i = 0; i < size; ++i) {
    snprintf(pair, sizeof pair, "%02x", static_cast<const unsigned char *>(bytes)[i]);
    text += pair;
  }
  return text;
}

void wait_for_go() {
  char go = 0;
  EXPECT(read(0, &go, 1) == 1);
}

int other_side(char **argv) {
  const std::string what = argv[1];
  wait_for_go();
  EXPECT_OK(aclrtSetDevice(1));
  if (what == "memory" || what == "memory-refused") {
    void *p = nullptr;
    if (what == "memory-refused") {
      EXPECT_CODE(ACL_ERROR_RT_NO_PERMISSION, aclrtIpcMemImportByKey(&p, argv[2], 0));
      return 0;
    }
    EXPECT_OK(aclrtIpcMemImportByKey(&p, argv[2], 0));
    EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemImportByKey(&p, argv[2], 0));
    std::vector<unsigned char> host(kBytes);
    EXPECT_OK(aclrtMemcpy(host.data(), kBytes, p, kBytes, ACL_MEMCPY_DEVICE_TO_HOST));
    for (unsigned char byte : host) EXPECT(byte == 0x5A);
    EXPECT_OK(aclrtMemset(p, kBytes, 0x77, kBytes));
    EXPECT_OK(aclrtIpcMemClose(argv[2]));
    EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtIpcMemClose(argv[2]));
    EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtFree(p));
  } else if (what == "physical") {
    uint64_t shared = strtoull(argv[2], nullptr, 10);
    aclrtDrvMemHandle handle = nullptr;
    void *base = nullptr;
    const size_t size = size_t{2} << 20;
    EXPECT_OK(aclrtMemImportFromShareableHandle(shared, 1, &handle));
    EXPECT_OK(aclrtReserveMemAddress(&base, size, 0, nullptr, 1));
    EXPECT_OK(aclrtMapMem(base, size, 0, handle, 0));
    unsigned char byte = 0;
    EXPECT_OK(
        aclrtMemcpy(&byte, 1, static_cast<char *>(base) + size - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(byte == 0x33);
    EXPECT_OK(aclrtMemset(base, size, 0x44, size));
    EXPECT_OK(aclrtUnmapMem(base));
    EXPECT_OK(aclrtReleaseMemAddress(base));
    EXPECT_OK(aclrtFreePhysical(handle));
  } else if (what == "notify" || what == "notify-refused") {
    aclrtNotify notify = nullptr;
    if (what == "notify-refused") {
      EXPECT_CODE(ACL_ERROR_RT_NO_PERMISSION, aclrtNotifyImportByKey(&notify, argv[2], 0));
      return 0;
    }
    EXPECT_OK(
        aclrtNotifyImportByKey(&notify, argv[2], ACL_RT_NOTIFY_IMPORT_FLAG_ENABLE_PEER_ACCESS));
    aclrtStream stream = nullptr;
    EXPECT_OK(aclrtCreateStream(&stream));
    EXPECT_OK(aclrtRecordNotify(notify, stream));  // the other process waits
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT_OK(aclrtDestroyStream(stream));
    EXPECT_OK(aclrtDestroyNotify(notify));
  } else {
    aclrtIpcEventHandle handle;
    for (size_t i = 0; i < sizeof handle; ++i) {
      unsigned value = 0;
      EXPECT(sscanf(argv[2] + 2 * i, "%02x", &value) == 1);
      handle.reserved[i] = static_cast<char>(value);
    }
    aclrtEvent event = nullptr;
    EXPECT_OK(aclrtIpcOpenEventHandle(handle, &event));
    aclrtStream stream = nullptr;
    EXPECT_OK(aclrtCreateStream(&stream));
    EXPECT_OK(aclrtStreamWaitEvent(stream, event));  // recorded by the other process
    EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 20000));
    EXPECT_OK(aclrtDestroyStream(stream));
    EXPECT_OK(aclrtDestroyEvent(event));
  }
  EXPECT_OK(aclrtResetDevice(1));
  return 0;
}

void memory(const char *self) {
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, kBytes + 100, ACL_MEM_MALLOC_HUGE_FIRST));
  auto *inside = static_cast<unsigned char *>(p) + 64;
  EXPECT_OK(aclrtMemset(inside, kBytes, 0x5A, kBytes));
  char key[65] = "";
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtIpcMemGetExportKey(inside, kBytes, key, 10, 0));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(key, 10, key, sizeof key, 0));
  EXPECT_OK(aclrtIpcMemGetExportKey(inside, kBytes, key, sizeof key, 0));
  EXPECT(run_other(self, {"memory-refused", key}, [](void *) { return 0; }, nullptr) == 0);
  EXPECT(run_other(
             self, {"memory", key},
             [](void *raw) {
               auto *both = static_cast<Both *>(raw);
               int32_t pid = both->pid;
               return aclrtIpcMemSetImportPid(static_cast<char *>(both->context), &pid, 1);
             },
             key) == 0);
  unsigned char host[3];
  EXPECT_OK(aclrtMemcpy(host, 3, inside + kBytes - 3, 3, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(host[0] == 0x77 && host[2] == 0x77);
  EXPECT_OK(aclrtIpcMemClose(key));
  void *late = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtIpcMemImportByKey(&late, key, 0));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtIpcMemImportByKey(&late, "nonsense", 0));
  EXPECT_OK(aclrtFree(p));
}

void physical(const char *self) {
  aclrtPhysicalMemProp prop = {};
  prop.location.type = ACL_MEM_LOCATION_TYPE_DEVICE;
  const size_t size = size_t{2} << 20;
  aclrtDrvMemHandle handle = nullptr;
  void *base = nullptr;
  EXPECT_OK(aclrtMallocPhysical(&handle, size, &prop, 0));
  EXPECT_OK(aclrtReserveMemAddress(&base, size, 0, nullptr, 1));
  EXPECT_OK(aclrtMapMem(base, size, 0, handle, 0));
  EXPECT_OK(aclrtMemset(base, size, 0x33, size));
  uint64_t shared = 0;
  EXPECT_OK(aclrtMemExportToShareableHandle(handle, ACL_MEM_HANDLE_TYPE_NONE, 0, &shared));
  EXPECT(run_other(
             self, {"physical", std::to_string(shared)},
             [](void *raw) {
               auto *both = static_cast<Both *>(raw);
               int32_t pid = both->pid;
               return aclrtMemSetPidToShareableHandle(*static_cast<uint64_t *>(both->context), &pid,
                                                      1);
             },
             &shared) == 0);
  unsigned char byte = 0;
  EXPECT_OK(aclrtMemcpy(&byte, 1, base, 1, ACL_MEMCPY_DEVICE_TO_HOST));
  EXPECT(byte == 0x44);
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE,
              aclrtMemSetPidToShareableHandle(shared ^ (uint64_t{1} << 40), nullptr, 0));
  EXPECT_OK(aclrtUnmapMem(base));
  EXPECT_OK(aclrtReleaseMemAddress(base));
  EXPECT_OK(aclrtFreePhysical(handle));
}

void events(const char *self) {
  aclrtEvent event = nullptr, plain = nullptr;
  aclrtIpcEventHandle handle;
  EXPECT_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_IPC));
  EXPECT_OK(aclrtCreateEvent(&plain));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcGetEventHandle(plain, &handle));
  EXPECT_OK(aclrtIpcGetEventHandle(event, &handle));
  EXPECT(run_other(
             self, {"event", hex(&handle, sizeof handle)},
             [](void *raw) { return aclrtRecordEvent(static_cast<Both *>(raw)->context, nullptr); },
             event) == 0);
  aclrtIpcEventHandle junk = {};
  aclrtEvent none = nullptr;
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtIpcOpenEventHandle(junk, &none));
  EXPECT_OK(aclrtSynchronizeEvent(event));
  EXPECT_OK(aclrtDestroyEvent(event));
  EXPECT_OK(aclrtDestroyEvent(plain));
}

void notifies(const char *self) {
  aclrtNotify notify = nullptr;
  aclrtStream stream = nullptr;
  char key[65] = "";
  EXPECT_OK(aclrtCreateStream(&stream));
  EXPECT_OK(aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT));
  // waits already when the notify becomes a shared one
  EXPECT_OK(aclrtWaitAndResetNotify(notify, stream, 0));
  EXPECT_OK(aclrtNotifyGetExportKey(notify, key, sizeof key, ACL_RT_NOTIFY_EXPORT_FLAG_DEFAULT));
  EXPECT(run_other(self, {"notify-refused", key}, [](void *) { return 0; }, nullptr) == 0);
  EXPECT(run_other(
             self, {"notify", key},
             [](void *raw) {
               auto *both = static_cast<Both *>(raw);
               int32_t pid = both->pid;
               return aclrtNotifySetImportPid(both->context, &pid, 1);
             },
             notify) == 0);
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 20000));
  EXPECT_OK(aclrtNotifyGetExportKey(notify, key, sizeof key,
                                    ACL_RT_NOTIFY_EXPORT_FLAG_DISABLE_PID_VALIDATION));
  EXPECT_OK(aclrtWaitAndResetNotify(notify, stream, 0));
  EXPECT(run_other(self, {"notify", key}, [](void *) { return 0; }, nullptr) == 0);
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 20000));
  EXPECT_OK(aclrtDestroyNotify(notify));
  EXPECT_OK(aclrtDestroyStream(stream));
}

}  // namespace

int main(int argc, char **argv) {
  if (argc == 3) return other_side(argv);
  EXPECT_OK(aclrtSetDevice(0));
  memory(argv[0]);
  physical(argv[0]);
  events(argv[0]);
  notifies(argv[0]);
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}
