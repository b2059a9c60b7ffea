// SPDX-License-Identifier: Apache-2.0
// A formula compiled for elements as they lie in memory: nothing is converted on the way, so that a
// vector holds as many elements as fit, and truth values are written as BOOL. Only for formulas
// that give the same in a narrow integer as in a wide one that is narrowed at the end.
#pragma once

#include <type_traits>
#include <utility>

#include "ops/dtype.h"

namespace emu {

// As BlockFn, but over memory: `out` and `in` are dense, and `out` is an input or apart from it.
// `scalars` are of the compute type.
using MemoryFn = void (*)(void *out, const void *const *in, int64_t count, const void *scalars);

// The compute types in their order, the dtypes that are narrower than theirs, and both halves.
constexpr int kDirectCount = kComputeCount + 5;

// The place of a dtype, -1 for none.
constexpr int direct_index(aclDataType dtype) {
  switch (dtype) {
    case ACL_INT8: return kComputeCount;
    case ACL_UINT8: return kComputeCount + 1;
    case ACL_INT16: return kComputeCount + 2;
    case ACL_BOOL: return kComputeCount + 3;
    // Only for what is done to the bits of either alike.
    case ACL_FLOAT16:
    case ACL_BF16: return kComputeCount + 4;
    default: return is_native(dtype) ? static_cast<int>(compute_for(dtype)) : -1;
  }
}

struct DirectTable {
  MemoryFn fn[kDirectCount] = {};
  bool truth = false;  // the formula asks a question: its results are BOOL

  MemoryFn of(aclDataType dtype) const {
    const int index = direct_index(dtype);
    return index < 0 ? nullptr : fn[index];
  }
};

// The compute types for which a formula has such loops, with the narrower dtypes of each:
// EMU_DIRECT of rows.h.
template <class Formula>
inline constexpr unsigned direct_types = 0;

// The base of x86-64 goes without: there these loops would hardly be faster than blocks.
#if defined(__x86_64__)
#define EMU_DIRECT_TARGET __attribute__((target("avx2")))
constexpr int kDirectLevel = 1;
#else
#define EMU_DIRECT_TARGET
constexpr int kDirectLevel = 0;
#endif

namespace direct_detail {

// An element whose byte is a truth value; computed with as an INT8.
struct ByteOfTruth {};

template <class Element>
struct MemoryElement {
  using Value = Element;
  using Memory = Element;
  // Scalars are of the compute type.
  using Scalar = std::conditional_t<sizeof(Element) < sizeof(int32_t), int32_t, Element>;
  static Value load(Memory value) { return value; }
  template <class Result>
  static auto store(Result value) {
    if constexpr (std::is_same_v<Result, bool>) return static_cast<uint8_t>(value);
    else if constexpr (std::is_integral_v<Element>) return static_cast<Element>(value);
    else return value;
  }
};

template <>
struct MemoryElement<ByteOfTruth> {
  using Value = int8_t;
  using Memory = uint8_t;
  using Scalar = int32_t;
  static Value load(Memory value) { return value != 0; }
  template <class Result>
  static uint8_t store(Result value) {
    return value != 0;
  }
};

template <class Formula, class Element, size_t... Tensor, size_t... Scalar>
[[gnu::always_inline]] inline void loop(void *out, [[maybe_unused]] const void *const *in,
                                        int64_t count, [[maybe_unused]] const void *scalars,
                                        std::index_sequence<Tensor...>,
                                        std::index_sequence<Scalar...>) {
  using K = MemoryElement<Element>;
  using T = typename K::Value;
  [[maybe_unused]] const typename K::Memory *const x[] = {
      static_cast<const typename K::Memory *>(in[Tensor])..., nullptr};
  [[maybe_unused]] const T s[] = {
      static_cast<T>(static_cast<const typename K::Scalar *>(scalars)[Scalar])..., T{}};
  auto *to = static_cast<decltype(K::store(Formula::of(
      (static_cast<void>(Tensor), T{})..., (static_cast<void>(Scalar), T{})...))) *>(out);
#pragma GCC ivdep
  for (int64_t i = 0; i < count; ++i) {
    to[i] = K::store(Formula::of(K::load(x[Tensor][i])..., s[Scalar]...));
  }
}

template <class Formula, class Element, int kTensors, int kScalars>
EMU_DIRECT_TARGET void direct(void *out, const void *const *in, int64_t count,
                              const void *scalars) {
  loop<Formula, Element>(out, in, count, scalars, std::make_index_sequence<kTensors>{},
                         std::make_index_sequence<kScalars>{});
}

constexpr bool has(unsigned types, Compute type) {
  return (types >> static_cast<int>(type) & 1) != 0;
}

template <class Formula, size_t... Tensor, size_t... Scalar>
constexpr bool asks(std::index_sequence<Tensor...>, std::index_sequence<Scalar...>) {
  return std::is_same_v<decltype(Formula::of((static_cast<void>(Tensor), int32_t{})...,
                                             (static_cast<void>(Scalar), int32_t{})...)),
                        bool>;
}

}  // namespace direct_detail

template <class Formula, unsigned kTypes, int kTensors, int kScalars>
constexpr DirectTable make_direct() {
  DirectTable table{};
  for_each_compute<kTypes>([&table](auto type) {
    table.fn[static_cast<int>(type.value)] =
        direct_detail::direct<Formula, ComputeType<type.value>, kTensors, kScalars>;
  });
  if constexpr (direct_detail::has(kTypes, Compute::I32)) {
    table.fn[direct_index(ACL_INT8)] = direct_detail::direct<Formula, int8_t, kTensors, kScalars>;
    table.fn[direct_index(ACL_UINT8)] = direct_detail::direct<Formula, uint8_t, kTensors, kScalars>;
    table.fn[direct_index(ACL_INT16)] = direct_detail::direct<Formula, int16_t, kTensors, kScalars>;
    table.fn[direct_index(ACL_BOOL)] =
        direct_detail::direct<Formula, direct_detail::ByteOfTruth, kTensors, kScalars>;
    table.truth = direct_detail::asks<Formula>(std::make_index_sequence<kTensors>{},
                                               std::make_index_sequence<kScalars>{});
  }
  return table;
}

struct ElementwiseTask;
struct View;

// Computes a task whose operands and result all have dtypes that its direct loop takes; false where
// they have not. The views have the shape of `out` and share no memory with it, or are it.
bool run_direct(const ElementwiseTask &task, const View *in, const View &out);

}  // namespace emu
