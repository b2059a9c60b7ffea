// SPDX-License-Identifier: Apache-2.0
// Who hears of which fault: random calls of four threads beside a model of the rule in
// docs/emulator.md. Arguments: the number of steps, the seed.
#include <condition_variable>
#include <functional>
#include <mutex>
#include <queue>
#include <random>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "operands.h"

namespace {

constexpr int kThreads = 4, kStreams = 3;
constexpr int kKernelFault = ACL_ERROR_RT_AICORE_EXCEPTION,
              kGraphFault = ACL_ERROR_RT_MODEL_EXECUTE;

int g_step = 0;

// Ends the program, saying at which step.
void check(bool holds, const char *what, const std::string &more = "") {
  if (holds) return;
  fprintf(stderr, "step %d: %s %s\n", g_step, what, more.c_str());
  exit(1);
}

// A thread that makes the calls it is given, one after the other.
class Worker {
 public:
  Worker() : thread_([this] { run(); }) {}
  ~Worker() {
    make(nullptr);
    thread_.join();
  }
  void make(std::function<void()> call) {
    std::unique_lock<std::mutex> lock(mutex_);
    call_ = std::move(call);
    given_ = true;
    changed_.notify_all();
    changed_.wait(lock, [this] { return !given_; });
  }

 private:
  void run() {
    EXPECT_OK(aclrtSetDevice(0));
    std::unique_lock<std::mutex> lock(mutex_);
    for (;;) {
      changed_.wait(lock, [this] { return given_; });
      const bool last = !call_;
      if (!last) call_();
      given_ = false;
      changed_.notify_all();
      if (last) return;
    }
  }
  std::mutex mutex_;
  std::condition_variable changed_;
  std::function<void()> call_;
  bool given_ = false;
  std::thread thread_;
};

struct Fault {
  int number, thread, status;
  bool told = false, owner_knows = false;
  std::set<int> heard;

  bool concerns(int who) const {
    if (heard.count(who) != 0) return false;
    return !told || (who == thread && !owner_knows);
  }
};

struct Log {
  std::vector<Fault> faults;

  std::vector<int> pending(int who, int last) const {
    std::vector<int> statuses;
    for (const Fault &fault : faults) {
      if (fault.number <= last && fault.concerns(who)) statuses.push_back(fault.status);
    }
    return statuses;
  }
  void waited(int who, int last, bool whole_device) {
    for (Fault &fault : faults) {
      if (fault.number > last) continue;
      if (fault.concerns(who)) fault.heard.insert(who);
      if (fault.thread == who) fault.owner_knows = true;
      if (!whole_device) fault.told = true;
    }
  }
  bool open() const {
    for (const Fault &fault : faults) {
      if (!fault.told) return true;
    }
    return false;
  }
};

struct Queue {
  aclrtStream stream = nullptr;  // null: the default stream
  int last = 0;
  Log log;
  aclrtEvent event = nullptr;
  int recorded = 0;
};

void until_done(aclrtStream stream) {
  aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
  while (status != ACL_STREAM_STATUS_COMPLETE) EXPECT_OK(aclrtStreamQuery(stream, &status));
}

class Machine {
 public:
  explicit Machine(unsigned seed) : random_(seed), one_({1, 1, 1, 1}), sum_({0, 0, 0, 0}) {
    const int64_t size = 4;
    wrong_ = aclCreateTensor(&size, 1, ACL_FLOAT, nullptr, 0, ACL_FORMAT_ND, &size, 1, host_);
    EXPECT_OK(aclrtMallocHost(&pinned_, 16));
    for (Queue &queue : queues_) make(queue);
    for (const bool bad : {false, true}) {
      aclrtStream stream = queues_[1].stream;
      EXPECT_OK(aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
      launch(stream, bad);
      EXPECT_OK(aclmdlRICaptureEnd(stream, &graphs_[bad]));
    }
  }
  ~Machine() {
    for (aclmdlRI graph : graphs_) EXPECT_OK(aclmdlRIDestroy(graph));
    for (Queue &queue : queues_) end(queue);
    EXPECT_OK(aclrtFreeHost(pinned_));
    EXPECT_OK(aclDestroyTensor(wrong_));
  }

  void step() {
    const int who = pick(kThreads), what = pick(14);
    Queue &queue = queues_[pick(kStreams + 1)];
    workers_[who].make([&] { act(who, what, queue); });
  }

 private:
  int pick(int count) { return std::uniform_int_distribution<int>(0, count - 1)(random_); }

  void make(Queue &queue) {
    queue = Queue{};
    if (&queue != &queues_[0]) EXPECT_OK(aclrtCreateStream(&queue.stream));
    EXPECT_OK(aclrtCreateEvent(&queue.event));
  }

  void end(Queue &queue) {
    EXPECT_OK(aclrtDestroyEvent(queue.event));
    if (queue.stream != nullptr) EXPECT_OK(aclrtDestroyStream(queue.stream));
  }

  void launch(aclrtStream stream, bool bad) {
    uint64_t size = 0;
    aclOpExecutor *executor = add(one_.tensor, one_.tensor, bad ? wrong_ : sum_.tensor, &size);
    EXPECT_OK(aclnnAdd(nullptr, size, executor, stream));
  }

  void launched(Queue &queue, int who, int status) {
    ++queue.last;
    if (status != 0) queue.log.faults.push_back({queue.last, who, status, false, false, {}});
  }

  // The call has answered as it must: with the status of the first fault and a text about all, or
  // with success.
  void expect(int code, const std::vector<int> &wanted, const char *what) {
    const char *said = aclGetRecentErrMsg();
    const std::string text = said != nullptr ? said : "";
    check(code == (wanted.empty() ? 0 : wanted[0]), what, std::to_string(code) + ": " + text);
    if (wanted.size() < 2) return;
    const std::string more = "and " + std::to_string(wanted.size() - 1) + " more after it";
    check(text.find(more) != std::string::npos, what, text + " lacks " + more);
  }

  void waited(int code, Queue &queue, int who, int last, const char *what) {
    expect(code, queue.log.pending(who, last), what);
    queue.log.waited(who, last, false);
  }

  void act(int who, int what, Queue &queue) {
    Queue &own = queues_[0];
    switch (what) {
      case 0:
      case 1: {
        launch(queue.stream, what == 1);
        return launched(queue, who, what == 1 ? kKernelFault : 0);
      }
      case 2:
      case 3: {
        EXPECT_OK(aclmdlRIExecuteAsync(graphs_[what == 3], queue.stream));
        return launched(queue, who, what == 3 ? kGraphFault : 0);
      }
      case 4: return waited(aclrtSynchronizeStream(queue.stream), queue, who, queue.last, "stream");
      case 5: {
        const int code = aclrtSynchronizeStreamWithTimeout(queue.stream, 1);
        if (code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT) return (void)aclGetRecentErrMsg();
        return waited(code, queue, who, queue.last, "stream with a limit");
      }
      case 6: {
        EXPECT_OK(aclrtRecordEvent(queue.event, queue.stream));
        launched(queue, who, 0);
        queue.recorded = queue.last;
        return;
      }
      case 7:
        return waited(aclrtSynchronizeEvent(queue.event), queue, who, queue.recorded, "event");
      case 8: return device(who);
      case 9: return until_done(queue.stream);
      case 10: {  // of other memory, after the default stream is done
        until_done(nullptr);
        float host[4] = {};
        const int code =
            aclrtMemcpy(host, sizeof host, one_.data, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
        waited(code, own, who, own.last, "copy");
        check(code != 0 || host[3] == 1, "what was copied");
        return;
      }
      case 11: return refused(who);
      case 12: {
        const bool pageable = pick(2) != 0;
        const int code = aclrtMemcpyAsync(pageable ? host_ : pinned_, 16, one_.data, 16,
                                          ACL_MEMCPY_DEVICE_TO_HOST, queue.stream);
        launched(queue, who, 0);
        if (pageable) return waited(code, queue, who, queue.last, "copy of pageable memory");
        return expect(code, {}, "copy of pinned memory");
      }
      default: return renew(queue);
    }
  }

  void device(int who) {
    std::vector<int> wanted = {};
    size_t reports = 0;
    for (Queue *queue : {&queues_[0], &queues_[1], &queues_[2], &queues_[3]}) {
      const std::vector<int> pending = queue->log.pending(who, queue->last);
      wanted.insert(wanted.end(), pending.begin(), pending.end());
      reports += !pending.empty();
      queue->log.waited(who, queue->last, true);
    }
    const std::vector<int> left = left_.pending(who, 0);
    wanted.insert(wanted.end(), left.begin(), left.end());
    reports += !left.empty();
    left_.waited(who, 0, false);
    const int code = aclrtSynchronizeDevice();
    const char *said = aclGetRecentErrMsg();
    std::string text = said != nullptr ? said : "";
    check((code != 0) == !wanted.empty(), "device", std::to_string(code) + ": " + text);
    size_t named = 0;
    for (size_t at = 0;
         (at = text.find("aclrtSynchronizeDevice: device 0", at)) != std::string::npos; ++at)
      ++named;
    check(named == reports, "reports of a wait for the device", text);
  }

  // A copy that fails for another reason says which streams have unreported faults.
  void refused(int who) {
    until_done(nullptr);
    Queue &own = queues_[0];
    const std::vector<int> pending = own.log.pending(who, own.last);
    own.log.waited(who, own.last, false);
    size_t open = left_.open() ? 1 : 0;
    for (Queue &queue : queues_) {
      until_done(queue.stream);
      open += queue.log.open();
    }
    float host[4] = {};
    const int code = aclrtMemcpy(host, 8, one_.data, sizeof host, ACL_MEMCPY_DEVICE_TO_HOST);
    const char *said = aclGetRecentErrMsg();
    const std::string text = said != nullptr ? said : "";
    const int wanted = pending.empty() ? ACL_ERROR_RT_PARAM_INVALID : pending[0];
    check(code == wanted, "a refused copy", text);
    size_t named = 0;
    for (size_t at = 0; (at = text.find("has an unreported fault", at)) != std::string::npos; ++at)
      ++named;
    check(named == open, "streams named by a refused copy", text);
  }

  // Ends a stream: what no wait for it has reported is the device's then.
  void renew(Queue &queue) {
    if (queue.stream == nullptr) return;
    end(queue);
    for (const Fault &fault : queue.log.faults) {
      if (!fault.told) left_.faults.push_back({0, fault.thread, fault.status, false, false, {}});
    }
    make(queue);
  }

  std::mt19937 random_;
  Vector one_, sum_;
  float host_[4] = {};
  void *pinned_ = nullptr;
  aclTensor *wrong_ = nullptr;
  aclmdlRI graphs_[2] = {};
  Queue queues_[kStreams + 1];  // the first is the default stream
  Log left_;
  Worker workers_[kThreads];
};

}  // namespace

int main(int count, char **arguments) {
  EXPECT(count == 3);
  const int steps = atoi(arguments[1]);
  EXPECT_OK(aclrtSetDevice(0));
  {
    Machine machine(static_cast<unsigned>(atoi(arguments[2])));
    for (g_step = 0; g_step < steps; ++g_step) machine.step();
  }
  EXPECT_OK(aclrtResetDevice(0));
  printf("%d steps\n", steps);
  return 0;
}
