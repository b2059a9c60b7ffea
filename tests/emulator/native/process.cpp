// SPDX-License-Identifier: Apache-2.0
// Fork and exit. The first argument names the case.
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <string>
#include <thread>

#include "expect.h"

namespace {

void *g_p;
aclrtStream g_stream;

// Calls made while the process ends must answer, not crash.
struct AtTheEnd {
  bool used = false;
  ~AtTheEnd() {
    if (!used) return;
    aclrtFree(g_p);
    aclrtDestroyStream(g_stream);
    aclGetRecentErrMsg();
    aclrtResetDevice(0);
    aclFinalize();
    aclGetRecentErrMsg();
  }
} g_at_the_end;

void start_work(int tasks) {
  EXPECT_OK(aclrtSetDevice(0));
  EXPECT_OK(aclrtMalloc(&g_p, 1 << 20, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtCreateStream(&g_stream));
  for (int i = 0; i < tasks; ++i) EXPECT_OK(aclrtMemsetAsync(g_p, 1 << 20, i, 1 << 20, g_stream));
}

int fork_after_use() {
  start_work(100);
  const pid_t pid = fork();
  EXPECT(pid >= 0);
  if (pid == 0) {
    // Typed refusals, no hang: the worker threads exist in the parent only.
    void *p = nullptr;
    uint32_t count = 0;
    const int codes[] = {aclrtMalloc(&p, 32, ACL_MEM_MALLOC_HUGE_FIRST),
                         aclrtSynchronizeStream(g_stream),
                         aclrtMemsetAsync(g_p, 32, 0, 32, g_stream),
                         aclrtSetDevice(0),
                         aclrtFree(g_p),
                         aclrtDestroyStream(g_stream),
                         aclrtGetDeviceCount(&count),
                         aclFinalize(),
                         aclrtResetDevice(0)};
    for (const int code : codes) {
      if (code != ACL_ERROR_RT_SOCKET_CLOSE) _exit(1);
    }
    const char *text = aclGetRecentErrMsg();
    if (text == nullptr || strstr(text, "fork") == nullptr) _exit(2);
    if (aclCreateIntArray(nullptr, 0) != nullptr) _exit(3);
    exit(0);  // with exit handlers and static destructors
  }
  int status = 0;
  EXPECT(waitpid(pid, &status, 0) == pid);
  EXPECT(WIFEXITED(status) && WEXITSTATUS(status) == 0);
  EXPECT_OK(aclrtSynchronizeStream(g_stream));  // the parent goes on
  EXPECT_OK(aclrtDestroyStream(g_stream));
  EXPECT_OK(aclrtFree(g_p));
  EXPECT_OK(aclrtResetDevice(0));
  return 0;
}

int fork_before_use() {
  const pid_t pid = fork();
  if (pid == 0) {
    start_work(10);
    EXPECT_OK(aclrtSynchronizeStream(g_stream));
    exit(0);
  }
  int status = 0;
  EXPECT(waitpid(pid, &status, 0) == pid && WIFEXITED(status) && WEXITSTATUS(status) == 0);
  return 0;
}

int exit_with_work() {
  start_work(20000);
  g_at_the_end.used = true;
  return 0;
}

int exit_with_a_task_that_blocks() {
  start_work(1);
  aclrtStream waiting = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateStream(&waiting));
  EXPECT_OK(aclrtCreateEvent(&event));
  EXPECT_OK(aclrtLaunchHostFunc(
      g_stream, [](void *) { std::this_thread::sleep_for(std::chrono::milliseconds(300)); },
      nullptr));
  EXPECT_OK(aclrtRecordEvent(event, g_stream));
  EXPECT_OK(aclrtStreamWaitEvent(waiting, event));
  return 0;
}

}  // namespace

int main(int argc, char **argv) {
  EXPECT(argc == 2);
  const std::string which = argv[1];
  if (which == "fork-after-use") return fork_after_use();
  if (which == "fork-before-use") return fork_before_use();
  if (which == "exit-with-work") return exit_with_work();
  if (which == "exit-with-a-task-that-blocks") return exit_with_a_task_that_blocks();
  return 99;
}
