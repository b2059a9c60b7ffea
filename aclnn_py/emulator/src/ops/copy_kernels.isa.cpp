// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/copy_kernels.h"

#include <cstring>

#include "core/isa.h"

namespace emu::EMU_ISA_NS {
namespace {

#if defined(__AVX2__)
constexpr int64_t kRegister = 32;
#else
constexpr int64_t kRegister = 16;
#endif

typedef uint64_t Wide __attribute__((vector_size(16)));

template <class E>
E item_at(const char *read) {
  E item;
  std::memcpy(&item, read, sizeof item);
  return item;
}

template <class E>
void copy_steps(const char *read, int64_t step, char *write, int64_t to_step, int64_t count) {
  step *= static_cast<int64_t>(sizeof(E));
  to_step *= static_cast<int64_t>(sizeof(E));
#pragma GCC unroll 4
  for (int64_t i = 0; i < count; ++i) std::memcpy(write + i * to_step, read + i * step, sizeof(E));
}

// Every second element.
template <class E>
void copy_seconds(const char *read, char *write, int64_t count) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(E));
  for (int64_t i = 0; i < count; ++i) {
    const E item = item_at<E>(read + 2 * i * kSize);
    std::memcpy(write + i * kSize, &item, sizeof item);
  }
}

template <class E>
void repeat_one(const char *read, char *write, int64_t count) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(E));
  const E item = item_at<E>(read);
  for (int64_t i = 0; i < count; ++i) std::memcpy(write + i * kSize, &item, sizeof item);
}

// The element at `read` and those in front of it in reverse order, a register at a time.
template <class E>
void copy_backwards(const char *read, char *write, int64_t count) {
  constexpr auto kSize = static_cast<int64_t>(sizeof(E));
  int64_t done = 0;
  if constexpr (sizeof(E) <= 8) {
    constexpr int64_t kEach = kRegister / kSize;
    typedef E Register __attribute__((vector_size(kRegister)));
    Register backwards;
    for (int64_t i = 0; i < kEach; ++i) backwards[i] = static_cast<E>(kEach - 1 - i);
    for (; done + kEach <= count; done += kEach) {
      auto held = item_at<Register>(read - (done + kEach - 1) * kSize);
      held = __builtin_shuffle(held, backwards);
      std::memcpy(write + done * kSize, &held, sizeof held);
    }
  }
  copy_steps<E>(read - done * kSize, -1, write + done * kSize, 1, count - done);
}

template <class E>
void copy_run(const char *read, int64_t step, char *write, int64_t to_step, int64_t count) {
  if (to_step == 1) {
    switch (step) {
      case 1: std::memcpy(write, read, static_cast<size_t>(count) * sizeof(E)); return;
      case 0: return repeat_one<E>(read, write, count);
      case -1: return copy_backwards<E>(read, write, count);
      case 2: return copy_seconds<E>(read, write, count);
      default: break;
    }
  }
  copy_steps<E>(read, step, write, to_step, count);
}

// Registers full of an element, whose surplus the next element overwrites.
template <class E>
void repeat_each(const char *read, int64_t step, char *write, int64_t times, int64_t count) {
  constexpr int64_t kSize = static_cast<int64_t>(sizeof(E)), kEach = 16 / kSize;
  step *= kSize;
  if constexpr (kEach > 1) {
    typedef E Register __attribute__((vector_size(16)));
    const int64_t written = (times + kEach - 1) / kEach * kEach, total = count * times;
    // Behind the last ones there is no next element.
    const int64_t whole = total < written ? 0 : (total - written) / times + 1;
    for (int64_t i = 0; i < whole; ++i, read += step, write += times * kSize) {
      const Register held = Register{} + item_at<E>(read);
      for (int64_t j = 0; j < times; j += kEach) std::memcpy(write + j * kSize, &held, sizeof held);
    }
    count -= whole;
  }
  for (int64_t i = 0; i < count; ++i, read += step, write += times * kSize)
    repeat_one<E>(read, write, times);
}

}  // namespace

RepeatEachFn repeat_each_of(int64_t item_size) {
  switch (item_size) {
    case 1: return repeat_each<uint8_t>;
    case 2: return repeat_each<uint16_t>;
    case 4: return repeat_each<uint32_t>;
    case 8: return repeat_each<uint64_t>;
    default: return repeat_each<Wide>;
  }
}

CopyRunFn copy_run_of(int64_t item_size) {
  switch (item_size) {
    case 1: return copy_run<uint8_t>;
    case 2: return copy_run<uint16_t>;
    case 4: return copy_run<uint32_t>;
    case 8: return copy_run<uint64_t>;
    default: return copy_run<Wide>;
  }
}

}  // namespace emu::EMU_ISA_NS
