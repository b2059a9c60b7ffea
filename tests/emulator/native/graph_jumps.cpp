// SPDX-License-Identifier: Apache-2.0
// Model instances with several streams: streams that start each other, jumps by a comparison, loops
// by labels. Sums are made by aclrtReduceAsync, so that loops end without any operator.
#include <cstdint>
#include <initializer_list>
#include <thread>
#include <vector>

#include "expect.h"

namespace {

constexpr int32_t kLimitMs = 60000;

aclrtStream persistent() {
  aclrtStream stream = nullptr;
  EXPECT_OK(aclrtCreateStreamWithConfig(&stream, 0, ACL_STREAM_PERSISTENT));
  return stream;
}

// One number on the device.
template <class T>
struct Number {
  explicit Number(T value) {
    EXPECT_OK(aclrtMalloc(reinterpret_cast<void **>(&at), sizeof(T), ACL_MEM_MALLOC_HUGE_FIRST));
    set(value);
  }
  ~Number() { EXPECT_OK(aclrtFree(at)); }
  Number(const Number &) = delete;
  Number &operator=(const Number &) = delete;

  void set(T value) const {
    EXPECT_OK(aclrtMemcpy(at, sizeof value, &value, sizeof value, ACL_MEMCPY_HOST_TO_DEVICE));
  }
  T get() const {
    T value{};
    EXPECT_OK(aclrtMemcpy(&value, sizeof value, at, sizeof value, ACL_MEMCPY_DEVICE_TO_HOST));
    return value;
  }
  T *at = nullptr;
};
using Int = Number<int32_t>;

void add(const Int &to, const Int &what, aclrtStream stream) {
  EXPECT_OK(aclrtReduceAsync(to.at, what.at, sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                             ACL_INT32, stream, nullptr));
}

void copy(const Int &to, const Int &from, aclrtStream stream) {
  EXPECT_OK(aclrtMemcpyAsync(to.at, sizeof(int32_t), from.at, sizeof(int32_t),
                             ACL_MEMCPY_DEVICE_TO_DEVICE, stream));
}

struct Model {
  Model(std::initializer_list<aclrtStream> heads, std::initializer_list<aclrtStream> others) {
    EXPECT_OK(aclmdlRIBuildBegin(&handle, 0));
    for (aclrtStream stream : heads) bind(stream, ACL_MODEL_STREAM_FLAG_HEAD);
    for (aclrtStream stream : others) bind(stream, ACL_MODEL_STREAM_FLAG_DEFAULT);
  }
  ~Model() {
    for (aclrtStream stream : streams) EXPECT_OK(aclmdlRIUnbindStream(handle, stream));
    EXPECT_OK(aclmdlRIDestroy(handle));
  }
  Model(const Model &) = delete;
  Model &operator=(const Model &) = delete;

  void bind(aclrtStream stream, uint32_t flag) {
    EXPECT_OK(aclmdlRIBindStream(handle, stream, flag));
    streams.push_back(stream);
  }
  // Marks the ends of the first `marked` streams; the others end with the building.
  void end(size_t marked) {
    for (size_t i = 0; i < marked; ++i) EXPECT_OK(aclmdlRIEndTask(handle, streams[i]));
    EXPECT_OK(aclmdlRIBuildEnd(handle, nullptr));
  }
  void run() const { EXPECT_OK(aclmdlRIExecute(handle, kLimitMs)); }

  aclmdlRI handle = nullptr;
  std::vector<aclrtStream> streams;
};

// Both begin with the run; the second waits for what the first writes late.
void two_heads(aclrtStream a, aclrtStream b) {
  const Int seven(7), from(0), to(0);
  aclrtEvent event = nullptr;
  EXPECT_OK(aclrtCreateEventWithFlag(&event, ACL_EVENT_SYNC));
  Model model({a, b}, {});
  for (int i = 0; i < 50; ++i) copy(from, from, a);
  copy(from, seven, a);
  EXPECT_OK(aclrtRecordEvent(event, a));
  EXPECT_OK(aclrtStreamWaitEvent(b, event));
  EXPECT_OK(aclrtResetEvent(event, b));
  copy(to, from, b);
  model.end(2);
  EXPECT(to.get() == 0);
  for (int i = 0; i < 3; ++i) {
    from.set(0);
    to.set(0);
    model.run();
    EXPECT(to.get() == 7);
  }
  EXPECT_OK(aclrtDestroyEvent(event));
}

// The second runs only when the first starts it.
void a_started_stream(aclrtStream a, aclrtStream b, aclrtStream c) {
  const Int one(1), started(0), idle(0);
  Model model({a}, {b, c});
  EXPECT_OK(aclrtActiveStream(b, a));
  EXPECT_OK(aclrtActiveStream(b, a));  // runs twice, one after the other
  add(started, one, b);
  add(idle, one, c);
  model.end(1);
  model.run();
  EXPECT(started.get() == 2 && idle.get() == 0);
  model.run();
  EXPECT(started.get() == 4 && idle.get() == 0);
}

// while (count < limit) { sum += count; count += 1; }, with the body on a stream of its own.
template <class T>
void loop_of_streams(aclrtStream head, aclrtStream body, aclrtCompareDataType type) {
  const Int one(1), zero(0), sum(0), done(0);
  const Number<T> limit(5), count(0);
  Model model({head}, {body});
  EXPECT_OK(aclrtSwitchStream(count.at, ACL_RT_LESS, limit.at, type, body, nullptr, head));
  copy(done, one, head);
  const auto low_word = [&] { return reinterpret_cast<int32_t *>(count.at); };
  EXPECT_OK(aclrtReduceAsync(sum.at, low_word(), sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                             ACL_INT32, body, nullptr));
  EXPECT_OK(aclrtReduceAsync(low_word(), one.at, sizeof(int32_t), ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM,
                             ACL_INT32, body, nullptr));
  EXPECT_OK(aclrtActiveStream(head, body));
  model.end(1);
  for (int i = 0; i < 3; ++i) {
    sum.set(0);
    done.set(0);
    count.set(0);
    model.run();
    EXPECT(sum.get() == 0 + 1 + 2 + 3 + 4 && done.get() == 1 && count.get() == 5);
  }
  limit.set(static_cast<T>(-1));  // never
  done.set(0);
  count.set(0);
  model.run();
  EXPECT(done.get() == 1 && count.get() == 0);
}

void comparisons(aclrtStream head, aclrtStream yes, aclrtStream no) {
  const struct {
    aclrtCondition condition;
    bool less, equal, greater;
  } rows[] = {
      {ACL_RT_EQUAL, false, true, false},   {ACL_RT_NOT_EQUAL, true, false, true},
      {ACL_RT_GREATER, false, false, true}, {ACL_RT_GREATER_OR_EQUAL, false, true, true},
      {ACL_RT_LESS, true, false, false},    {ACL_RT_LESS_OR_EQUAL, true, true, false},
  };
  const Int left(0), right(-2), answer(0), one(1), two(2), after(0);
  for (const auto &row : rows) {
    Model model({head}, {yes, no});
    EXPECT_OK(
        aclrtSwitchStream(left.at, row.condition, right.at, ACL_RT_SWITCH_INT32, yes, no, head));
    copy(after, one, head);  // of a stream that has jumped nothing runs
    copy(answer, one, yes);
    copy(answer, two, no);
    model.end(1);
    for (int32_t value : {-3, -2, 1}) {
      const bool holds = value < -2 ? row.less : value == -2 ? row.equal : row.greater;
      left.set(value);
      answer.set(0);
      model.run();
      EXPECT(answer.get() == (holds ? 1 : 2) && after.get() == 0);
    }
  }
}

aclrtLabel label() {
  aclrtLabel made = nullptr;
  EXPECT_OK(aclrtCreateLabel(&made));
  return made;
}

aclrtLabelList list_of(std::vector<aclrtLabel> labels) {
  aclrtLabelList made = nullptr;
  EXPECT_OK(aclrtCreateLabelList(labels.data(), labels.size(), &made));
  return made;
}

// One stream jumps back until the index on the device names the label behind the jump.
void loop_by_labels(aclrtStream stream) {
  const Int zero(0), one(1), index(0), rounds(0), done(0);
  aclrtLabel top = label(), bottom = label();
  const aclrtLabelList list = list_of({top, top, top, top, bottom});
  Model model({stream}, {});
  copy(index, zero, stream);
  EXPECT_OK(aclrtSetLabel(top, stream));
  add(rounds, one, stream);
  add(index, one, stream);
  EXPECT_OK(aclrtSwitchLabelByIndex(index.at, 5, list, stream));
  add(done, one, stream);  // never: each index leads elsewhere
  EXPECT_OK(aclrtSetLabel(bottom, stream));
  model.end(1);
  // Jumps hold their labels.
  EXPECT_OK(aclrtDestroyLabelList(list));
  EXPECT_OK(aclrtDestroyLabel(top));
  EXPECT_OK(aclrtDestroyLabel(bottom));
  model.run();
  EXPECT(rounds.get() == 4 && done.get() == 0);
  model.run();
  EXPECT(rounds.get() == 8 && done.get() == 0);
}

// switch (index) { case 0: ... case 1: ... default: the last }, each case on its own stream.
void choice_by_labels(aclrtStream head, aclrtStream first, aclrtStream second) {
  const Int one(1), two(2), chosen(0), skipped(0);
  const Number<uint32_t> index(0);
  aclrtLabel to_first = label(), to_second = label();
  const aclrtLabelList list = list_of({to_first, to_second});
  Model model({head}, {first, second});
  EXPECT_OK(aclrtSwitchLabelByIndex(index.at, 2, list, head));
  add(skipped, one, first);  // before the label
  EXPECT_OK(aclrtSetLabel(to_first, first));
  copy(chosen, one, first);
  EXPECT_OK(aclrtSetLabel(to_second, second));
  copy(chosen, two, second);
  model.end(3);
  for (uint32_t value : {0u, 1u, 2u, 0xffffffffu}) {
    index.set(value);
    chosen.set(0);
    model.run();
    EXPECT(chosen.get() == (value == 0 ? 1 : 2) && skipped.get() == 0);
  }
  EXPECT_OK(aclrtDestroyLabelList(list));
  EXPECT_OK(aclrtDestroyLabel(to_first));
  EXPECT_OK(aclrtDestroyLabel(to_second));
}

// A run that nothing ends is ended from outside.
void endless_loop(aclrtStream stream, aclrtStream plain) {
  const Int zero(0), one(1), count(0);
  aclrtLabel top = label();
  const aclrtLabelList list = list_of({top});
  Model model({stream}, {});
  EXPECT_OK(aclrtSetLabel(top, stream));
  add(count, one, stream);
  EXPECT_OK(aclrtSwitchLabelByIndex(zero.at, 1, list, stream));
  model.end(1);
  EXPECT_OK(aclmdlRIExecuteAsync(model.handle, plain));
  while (count.get() < 3) std::this_thread::yield();
  EXPECT_OK(aclmdlRIAbort(model.handle));
  EXPECT_OK(aclrtSynchronizeStream(plain));
  EXPECT_OK(aclrtDestroyLabelList(list));
  EXPECT_OK(aclrtDestroyLabel(top));
}

// What can be wrong only when the instance runs.
void failures(aclrtStream a, aclrtStream b) {
  const Number<uint32_t> index(0);
  aclrtLabel nowhere = label();
  const aclrtLabelList list = list_of({nowhere});
  {
    Model model({a}, {});
    EXPECT_OK(aclrtSwitchLabelByIndex(index.at, 1, list, a));
    model.end(1);
    EXPECT_CODE(ACL_ERROR_RT_MODEL_EXECUTE, aclmdlRIExecute(model.handle, kLimitMs));
    EXPECT(aclrtDestroyLabel(nullptr) != 0);
  }
  void *gone = nullptr;
  EXPECT_OK(aclrtMalloc(&gone, 64, ACL_MEM_MALLOC_HUGE_FIRST));
  {
    Model model({a}, {b});
    EXPECT_OK(aclrtSwitchStream(gone, ACL_RT_EQUAL, gone, ACL_RT_SWITCH_INT64, b, nullptr, a));
    model.end(2);
    EXPECT_OK(aclrtFree(gone));
    EXPECT_CODE(ACL_ERROR_RT_MODEL_EXECUTE, aclmdlRIExecute(model.handle, kLimitMs));
  }
  EXPECT_OK(aclrtDestroyLabelList(list));
  EXPECT_OK(aclrtDestroyLabel(nowhere));
}

void refused_labels(aclrtStream bound, aclrtStream plain) {
  const Number<uint32_t> index(0);
  aclrtLabel good = label(), stale = label();
  EXPECT_OK(aclrtDestroyLabel(stale));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateLabel(nullptr));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtDestroyLabel(nullptr));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabel(stale));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetLabel(nullptr, bound));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetLabel(stale, bound));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSetLabel(good, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtSetLabel(good, plain));
  aclrtLabelList list = nullptr;
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateLabelList(nullptr, 1, &list));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtCreateLabelList(&good, 1, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateLabelList(&good, 0, &list));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtCreateLabelList(&good, 65536, &list));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtCreateLabelList(&stale, 1, &list));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtDestroyLabelList(nullptr));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabelList(good));
  list = list_of({good, good});
  Model model({bound}, {});
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(nullptr, 2, list, bound));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtSwitchLabelByIndex(&list, 2, list, bound));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtSwitchLabelByIndex(index.at, 0, list, bound));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtSwitchLabelByIndex(index.at, 3, list, bound));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(index.at, 2, nullptr, bound));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtSwitchLabelByIndex(index.at, 2, list, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtSwitchLabelByIndex(index.at, 2, list, plain));
  EXPECT_OK(aclrtSetLabel(good, bound));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtSetLabel(good, bound));
  model.end(1);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtSwitchLabelByIndex(index.at, 2, list, bound));
  EXPECT_OK(aclrtDestroyLabelList(list));
  EXPECT_CODE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyLabelList(list));
  EXPECT_OK(aclrtDestroyLabel(good));
}

void refused_jumps(aclrtStream a, aclrtStream b, aclrtStream plain) {
  const Int left(0);
  const auto jump = [&](void *value, int condition, int type, aclrtStream to, aclrtStream on) {
    return aclrtSwitchStream(value, static_cast<aclrtCondition>(condition), left.at,
                             static_cast<aclrtCompareDataType>(type), to, nullptr, on);
  };
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(b, a));
  Model model({a}, {});
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtActiveStream(nullptr, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, aclrtActiveStream(b, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, aclrtActiveStream(a, a));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(b, a));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(a, plain));
  {
    // Each stream belongs to one instance, and starts streams of that one only.
    Model other({b}, {});
    EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(b, a));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, jump(left.at, ACL_RT_EQUAL, 0, b, a));
    EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL,
                aclmdlRIBindStream(other.handle, a, ACL_MODEL_STREAM_FLAG_HEAD));
    other.end(1);
  }
  model.bind(b, ACL_MODEL_STREAM_FLAG_DEFAULT);
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, jump(nullptr, ACL_RT_EQUAL, 0, b, a));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, jump(&model, ACL_RT_EQUAL, 0, b, a));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, jump(left.at, 6, 0, b, a));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, jump(left.at, -1, 0, b, a));
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID, jump(left.at, ACL_RT_EQUAL, 2, b, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, jump(left.at, ACL_RT_EQUAL, 0, nullptr, a));
  EXPECT_CODE(ACL_ERROR_INVALID_PARAM, jump(left.at, ACL_RT_EQUAL, 0, b, nullptr));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, jump(left.at, ACL_RT_EQUAL, 0, plain, a));
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, jump(left.at, ACL_RT_EQUAL, 0, b, plain));
  model.end(1);
  EXPECT_CODE(ACL_ERROR_RT_STREAM_MODEL, aclrtActiveStream(b, a));
  aclrtStream late = persistent();
  EXPECT_CODE(ACL_ERROR_RT_PARAM_INVALID,
              aclmdlRIBindStream(model.handle, late, ACL_MODEL_STREAM_FLAG_HEAD));
  EXPECT_OK(aclrtDestroyStream(late));
  model.run();  // refused calls left nothing behind
}

}  // namespace

int main() {
  EXPECT_OK(aclInit(nullptr));
  EXPECT_OK(aclrtSetDevice(0));
  aclrtStream a = persistent(), b = persistent(), c = persistent(), plain = nullptr;
  EXPECT_OK(aclrtCreateStream(&plain));
  two_heads(a, b);
  a_started_stream(a, b, c);
  loop_of_streams<int32_t>(a, b, ACL_RT_SWITCH_INT32);
  loop_of_streams<int64_t>(a, b, ACL_RT_SWITCH_INT64);
  comparisons(a, b, c);
  loop_by_labels(a);
  choice_by_labels(a, b, c);
  endless_loop(a, plain);
  failures(a, b);
  refused_labels(a, plain);
  refused_jumps(a, b, plain);
  for (aclrtStream stream : {a, b, c, plain}) EXPECT_OK(aclrtDestroyStream(stream));
  EXPECT_OK(aclrtResetDevice(0));
  EXPECT_OK(aclFinalize());
  return 0;
}
