// SPDX-License-Identifier: Apache-2.0
// Which thread does the work of a stream (ACLNN_PY_EMULATOR_INLINE), and that nobody can tell
// otherwise.
#include <sys/resource.h>
#include <time.h>

#include <cstdlib>
#include <string>

#include "aclnnop/conversion.h"
#include "aclnnop/pooling.h"
#include "gate.h"

namespace {

enum class Mode { automatic, always, never };

Mode mode() {
  const char *text = std::getenv("ACLNN_PY_EMULATOR_INLINE");
  const std::string word = text ? text : "";
  return word == "always" ? Mode::always : word == "never" ? Mode::never : Mode::automatic;
}

struct Seen {
  std::atomic<bool> ran{false};
  std::thread::id thread;
  static void note(void *self) {
    auto *seen = static_cast<Seen *>(self);
    seen->thread = std::this_thread::get_id();
    seen->ran.store(true);
  }
};

// what takes long, and what does not
constexpr size_t kLong = size_t{4} << 20, kShort = size_t{64} << 10;

// Device memory that nothing has touched yet.
void *fresh(size_t size) {
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, size, ACL_MEM_MALLOC_HUGE_FIRST));
  return p;
}

long page_faults(int who) {
  rusage used = {};
  EXPECT(getrusage(who, &used) == 0);
  return used.ru_minflt;
}

// Did this thread do the work, which is the first to touch some memory? The system counts page
// faults per thread, and that does not depend on what else the machine does.
template <class Work>
bool worked_here(Work work) {
  const long thread = page_faults(RUSAGE_THREAD), process = page_faults(RUSAGE_SELF);
  work();
  const long own = page_faults(RUSAGE_THREAD) - thread;
  return own > 0 && own * 2 > page_faults(RUSAGE_SELF) - process;
}

// With ACLNN_PY_EMULATOR_INLINE=always a worker gives way for a moment only. On a busy machine it
// may begin before this thread gets there; then the next attempt tells.
template <class Attempt>
void expect_here(Attempt attempt) {
  int here = 0;
  for (int i = 0; i < (mode() == Mode::always ? 200 : 5) && (here == 0 || mode() != Mode::always);
       ++i)
    here += attempt();
  if (mode() == Mode::never) EXPECT(here == 0);
  if (mode() == Mode::always) EXPECT(here > 0);
}

void look_until_done(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) {
    std::this_thread::sleep_for(std::chrono::microseconds(50));
    EXPECT_OK(aclrtStreamQuery(stream, &status));
  }
}

void work_goes_on_without_a_wait(aclrtStream stream, void *p) {
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(aclrtMemsetAsync(p, kLong, i, kShort, stream));
    look_until_done(stream);
  }
}

// The worker of a program that waits for all it queues is not woken each time.
void wait_each_time(aclrtStream stream, void *p) {
  for (int i = 0; i < 100; ++i) {
    EXPECT_OK(aclrtMemsetAsync(p, 64, i, 64, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
  }
}

void nothing_is_left_lying(aclrtStream stream, void *p) {
  aclrtStream other = nullptr;
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEvent(&event));
  for (int i = 0; i < 5; ++i) {
    EXPECT_OK(aclrtCreateStream(&other));
    wait_each_time(stream, p);
    EXPECT_OK(aclrtMemsetAsync(p, kLong, i, kShort, stream));
    look_until_done(stream);

    wait_each_time(stream, p);
    EXPECT_OK(aclrtMemsetAsync(p, kLong, i, kLong, stream));
    EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 200000));

    wait_each_time(stream, p);
    EXPECT_OK(aclrtRecordEvent(event, stream));
    EXPECT_OK(aclrtStreamWaitEvent(other, event));
    EXPECT_OK(aclrtSynchronizeStream(other));
    EXPECT_OK(aclrtSynchronizeEvent(event));

    wait_each_time(stream, p);
    Seen seen;
    EXPECT_OK(aclrtLaunchHostFunc(stream, Seen::note, &seen));
    while (!seen.ran.load()) std::this_thread::sleep_for(std::chrono::microseconds(50));

    wait_each_time(other, p);
    EXPECT_OK(aclrtMemsetAsync(p, kLong, i + 1, kLong, other));
    EXPECT_OK(aclrtDestroyStream(other));
    unsigned char last = 0;
    EXPECT_OK(
        aclrtMemcpy(&last, 1, static_cast<char *>(p) + kLong - 1, 1, ACL_MEMCPY_DEVICE_TO_HOST));
    EXPECT(last == i + 1);
  }
  EXPECT_OK(aclrtDestroyEvent(event));
}

void a_waiting_thread_runs_what_has_not_begun(aclrtStream stream) {
  expect_here([stream] {
    void *p = fresh(kLong);
    return worked_here([&] {
      EXPECT_OK(aclrtMemsetAsync(p, kLong, 1, kLong, stream));
      EXPECT_OK(aclrtSynchronizeStream(stream));
    });
  });
}

// A thread that wants to be back in time begins nothing long, but does short things.
void a_timeout_is_kept(aclrtStream stream) {
  for (int i = 0; i < 5; ++i) {
    void *p = fresh(kLong);
    EXPECT(!worked_here([&] {
      EXPECT_OK(aclrtMemsetAsync(p, kLong, i, kLong, stream));
      EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 200000));
    }));
  }
  expect_here([stream] {
    auto *p = static_cast<char *>(fresh(kLong));
    return worked_here([&] {
      for (size_t at = 0; at < kLong; at += kShort)
        EXPECT_OK(aclrtMemsetAsync(p + at, kShort, 1, kShort, stream));
      EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 200000));
    });
  });
  Gate gate;
  gate.close(stream);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 30));
  gate.open();
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 200000));
}

int64_t cpu_time(clockid_t clock) {
  timespec time = {};
  EXPECT(clock_gettime(clock, &time) == 0);
  return int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

// The same question for an operator, whose work several threads share.
template <class Work>
bool computed_here(Work work) {
  const int64_t thread = cpu_time(CLOCK_THREAD_CPUTIME_ID);
  const int64_t process = cpu_time(CLOCK_PROCESS_CPUTIME_ID);
  work();
  const int64_t own = cpu_time(CLOCK_THREAD_CPUTIME_ID) - thread;
  return own * 4 > cpu_time(CLOCK_PROCESS_CPUTIME_ID) - process;
}

void fill(aclrtStream stream, void *p, int64_t elements, int times) {
  const int64_t stride = 1;
  float one = 1;
  aclTensor *out =
      aclCreateTensor(&elements, 1, ACL_FLOAT, &stride, 0, ACL_FORMAT_ND, &elements, 1, p);
  aclScalar *value = aclCreateScalar(&one, ACL_FLOAT);
  for (int i = 0; i < times; ++i) {
    uint64_t size = 0;
    aclOpExecutor *executor = nullptr;
    EXPECT_OK(aclnnInplaceFillScalarGetWorkspaceSize(out, value, &size, &executor));
    EXPECT_OK(aclnnInplaceFillScalar(nullptr, size, executor, stream));
  }
  EXPECT_OK(aclDestroyTensor(out));
  EXPECT_OK(aclDestroyScalar(value));
}

// A thread with time to spare also does an operator that goes over its tensors, unless they are
// large, and does not begin one when its time is nearly over.
void operators_and_time(aclrtStream stream) {
  constexpr int64_t kModest = 4'000'000, kLarge = 6'000'000;
  constexpr int32_t kTimeToSpare = 200000, kLittleTime = 20;
  void *p = fresh(kLarge * sizeof(float));
  expect_here([=] {
    return computed_here([=] {
      fill(stream, p, kModest, 1);
      EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, kTimeToSpare));
    });
  });
  // A starved worker's share of the time may look small; not each time.
  int large = 0, late = 0;
  for (int i = 0; i < 5; ++i) {
    large += computed_here([=] {
      fill(stream, p, kLarge, 1);
      EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, kTimeToSpare));
    });
    late += computed_here([=] {
      fill(stream, p, kModest, 1);
      aclError status = ACL_ERROR_RT_STREAM_SYNC_TIMEOUT;
      while (status == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) {
        status = aclrtSynchronizeStreamWithTimeout(stream, kLittleTime);
      }
      EXPECT_OK(status);
    });
  }
  EXPECT(large < 3);
  EXPECT(late < 3);
  fill(stream, p, kModest, 600);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(stream, 60));
  EXPECT_OK(aclrtSynchronizeStream(stream));
  EXPECT_OK(aclrtFree(p));
}

// The mean of windows of `window` x `window`, `step` apart, in an image of 320 x 320.
void pool(aclrtStream stream, char *p, int64_t window, int64_t step) {
  const int64_t size = 320, made = (size - window) / step + 1, none = 0;
  const auto image = [](int64_t extent, void *data) {
    const int64_t shape[] = {1, 1, extent, extent}, strides[] = {1, 1, extent, 1};
    return aclCreateTensor(shape, 4, ACL_FLOAT, strides, 0, ACL_FORMAT_NCHW, shape, 4, data);
  };
  aclTensor *self = image(size, p), *out = image(made, p + size * size * 4);
  aclIntArray *windows = aclCreateIntArray(&window, 1), *steps = aclCreateIntArray(&step, 1),
              *margins = aclCreateIntArray(&none, 1);
  uint64_t bytes = 0;
  aclOpExecutor *executor = nullptr;
  EXPECT_OK(aclnnAvgPool2dGetWorkspaceSize(self, windows, steps, margins, false, true, 0, 0, out,
                                           &bytes, &executor));
  EXPECT_OK(aclnnAvgPool2d(nullptr, bytes, executor, stream));
  EXPECT_OK(aclrtSynchronizeStreamWithTimeout(stream, 200000));
  for (aclTensor *tensor : {self, out}) EXPECT_OK(aclDestroyTensor(tensor));
  for (aclIntArray *array : {windows, steps, margins}) EXPECT_OK(aclDestroyIntArray(array));
}

// The elements of a pool say how long it takes only where its windows lie apart.
void pools_and_time(aclrtStream stream) {
  auto *p = static_cast<char *>(fresh(size_t{2} * 320 * 320 * sizeof(float)));
  pool(stream, p, 2, 2);  // whatever the first one costs
  expect_here([=] { return computed_here([=] { pool(stream, p, 2, 2); }); });
  int overlapping = 0;
  for (int i = 0; i < 5; ++i) overlapping += computed_here([=] { pool(stream, p, 32, 1); });
  EXPECT(overlapping < 3);
  EXPECT_OK(aclrtFree(p));
}

// The program's own functions have a thread of the device, whoever does the work around them.
void functions_run_on_the_worker(aclrtStream stream, void *p) {
  for (int i = 0; i < 50; ++i) {
    Seen seen;
    EXPECT_OK(aclrtMemsetAsync(p, kLong, i, kShort, stream));
    EXPECT_OK(aclrtLaunchHostFunc(stream, Seen::note, &seen));
    EXPECT_OK(aclrtMemsetAsync(p, kLong, i, kShort, stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
    EXPECT(seen.ran.load() && seen.thread != std::this_thread::get_id());
  }
}

// What is queued behind a function is done in order, whoever does it.
void order_is_kept(aclrtStream stream) {
  void *p = nullptr;
  unsigned char got[64];
  EXPECT_OK(aclrtMalloc(&p, sizeof got, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int i = 0; i < 50; ++i) {
    Seen seen;
    EXPECT_OK(aclrtMemsetAsync(p, sizeof got, 1, sizeof got, stream));
    if (i % 2) EXPECT_OK(aclrtLaunchHostFunc(stream, Seen::note, &seen));
    EXPECT_OK(aclrtMemsetAsync(p, sizeof got, i, sizeof got, stream));
    EXPECT_OK(i % 3 ? aclrtSynchronizeStream(stream)
                    : aclrtSynchronizeStreamWithTimeout(stream, 200000));
    EXPECT_OK(aclrtMemcpy(got, sizeof got, p, sizeof got, ACL_MEMCPY_DEVICE_TO_HOST));
    for (unsigned char byte : got) EXPECT(byte == i);
  }
  EXPECT_OK(aclrtFree(p));
}

// Two streams that wait for each other's events, drained by the same thread one after the other.
void streams_wait_for_each_other(aclrtStream stream) {
  aclrtStream other = nullptr;
  aclrtEvent first = nullptr, second = nullptr;
  EXPECT_OK(aclrtCreateStream(&other));
  EXPECT_OK(aclrtCreateEvent(&first));
  EXPECT_OK(aclrtCreateEvent(&second));
  for (int i = 0; i < 50; ++i) {
    EXPECT_OK(aclrtRecordEvent(first, other));
    EXPECT_OK(aclrtStreamWaitEvent(stream, first));
    EXPECT_OK(aclrtRecordEvent(second, stream));
    EXPECT_OK(aclrtStreamWaitEvent(other, second));
    EXPECT_OK(aclrtSynchronizeStream(i % 2 ? stream : other));
    EXPECT_OK(aclrtSynchronizeStream(i % 2 ? other : stream));
  }
  EXPECT_OK(aclrtDestroyEvent(first));
  EXPECT_OK(aclrtDestroyEvent(second));
  EXPECT_OK(aclrtDestroyStream(other));
}

// The thread keeps its own context and its own message; a fault reaches it as from the worker.
void what_the_thread_has_stays(aclrtStream stream) {
  aclrtContext before = nullptr, after = nullptr;
  EXPECT_OK(aclrtGetCurrentContext(&before));
  void *own = nullptr;
  EXPECT_OK(aclrtMalloc(&own, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  for (int i = 0; i < 20; ++i) {
    EXPECT_OK(aclrtMemsetAsync(own, 64, i, 64, stream));
    EXPECT(aclrtFree(&own) != 0);
    EXPECT(aclrtSynchronizeStream(stream) == 0);
    const char *text = aclGetRecentErrMsg();
    EXPECT(text != nullptr && strstr(text, "aclrtFree") != nullptr);
    EXPECT_OK(aclrtGetCurrentContext(&after));
    EXPECT(after == before);
  }
  EXPECT_OK(aclrtFree(own));
  for (int i = 0; i < 20; ++i) {
    Gate gate;
    gate.close(stream);
    void *p = nullptr;
    EXPECT_OK(aclrtMalloc(&p, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    EXPECT_OK(aclrtMemsetAsync(p, 64, 1, 64, stream));
    EXPECT_OK(aclrtFree(p));
    gate.open();
    EXPECT_CODE(ACL_ERROR_RT_SYS_DMA, aclrtSynchronizeStream(stream));
    EXPECT_OK(aclrtSynchronizeStream(stream));
  }
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStream(&stream));
  void *p = nullptr;
  EXPECT_OK(aclrtMalloc(&p, kLong, ACL_MEM_MALLOC_HUGE_FIRST));
  EXPECT_OK(aclrtMemset(p, kLong, 0, kLong));
  work_goes_on_without_a_wait(stream, p);
  nothing_is_left_lying(stream, p);
  a_waiting_thread_runs_what_has_not_begun(stream);
  a_timeout_is_kept(stream);
  operators_and_time(stream);
  pools_and_time(stream);
  functions_run_on_the_worker(stream, p);
  EXPECT_OK(aclrtFree(p));
  order_is_kept(stream);
  streams_wait_for_each_other(stream);
  what_the_thread_has_stays(stream);
  EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclFinalize());
  return 0;
}
