// SPDX-License-Identifier: Apache-2.0
// A formula compiled for blocks: one small loop per compute type, shared by every dtype.
#pragma once

#include <type_traits>
#include <utility>

#include "ops/dtype.h"
#include "ops/elementwise/direct.h"
#include "ops/float_kernels.h"

namespace emu {

// `in` are dense blocks of one compute type, `scalars` values of it.
using BlockFn = void (*)(void *out, const void *const *in, int64_t count, const void *scalars);

struct BlockTable {
  BlockFn fn[kComputeCount];      // null: the formula has no meaning for that compute type
  Compute result[kComputeCount];  // what the loop writes
  DirectTable direct;
};

// Sets of compute types a formula is compiled for.
namespace types {
constexpr unsigned bit(Compute c) { return 1u << static_cast<int>(c); }
constexpr unsigned kFloat = bit(Compute::F32) | bit(Compute::F64);
constexpr unsigned kInt = bit(Compute::I32) | bit(Compute::I64);
constexpr unsigned kUnsigned = bit(Compute::U64);
constexpr unsigned kComplex = bit(Compute::C64) | bit(Compute::C128);
constexpr unsigned kReal = kFloat | kInt;
constexpr unsigned kNumber = kReal | kComplex;
constexpr unsigned kAll = kNumber | kUnsigned;
}  // namespace types

// The kernel that computes a formula of one tensor in float32, where there is one; rows.h names
// them.
template <class Formula>
inline constexpr FloatKernel float_kernel = FloatKernel::none;

namespace block_detail {

template <class Formula, class T, size_t... Tensor, size_t... Scalar>
void run(void *out, [[maybe_unused]] const void *const *in, int64_t count,
         [[maybe_unused]] const void *scalars, std::index_sequence<Tensor...>,
         std::index_sequence<Scalar...>) {
  using Result = decltype(Formula::of((static_cast<void>(Tensor), T{})...,
                                      (static_cast<void>(Scalar), T{})...));
  using Stored = std::conditional_t<std::is_same_v<Result, bool>, int32_t, Result>;
  [[maybe_unused]] const T *const x[] = {static_cast<const T *>(in[Tensor])..., nullptr};
  // Copied so that the compiler knows the output does not alias them.
  [[maybe_unused]] const T s[] = {static_cast<const T *>(scalars)[Scalar]..., T{}};
  auto *to = static_cast<Stored *>(out);
  for (int64_t i = 0; i < count; ++i) {
    to[i] = static_cast<Stored>(Formula::of(x[Tensor][i]..., s[Scalar]...));
  }
}

template <class Formula, class T, int kTensors, int kScalars>
void block(void *out, const void *const *in, int64_t count, const void *scalars) {
  if constexpr (std::is_same_v<T, float> && float_kernel<Formula> != FloatKernel::none) {
    static_assert(kTensors == 1, "kernels take one tensor");
    float_kernel_fn(float_kernel<Formula>)(static_cast<const float *>(in[0]), count,
                                           static_cast<const float *>(scalars),
                                           static_cast<float *>(out));
  } else {
    run<Formula, T>(out, in, count, scalars, std::make_index_sequence<kTensors>{},
                    std::make_index_sequence<kScalars>{});
  }
}

template <class Formula, Compute C, size_t... Tensor, size_t... Scalar>
constexpr Compute result_of(std::index_sequence<Tensor...>, std::index_sequence<Scalar...>) {
  using T = ComputeType<C>;
  return compute_of<decltype(Formula::of((static_cast<void>(Tensor), T{})...,
                                         (static_cast<void>(Scalar), T{})...))>();
}

}  // namespace block_detail

// Formula::of takes the tensors' elements, then the scalars, all of one compute type.
template <class Formula, unsigned kTypes, int kTensors, int kScalars>
constexpr BlockTable make_blocks() {
  BlockTable table{};
  for_each_compute<kTypes>([&table](auto type) {
    constexpr Compute C = type.value;
    table.fn[static_cast<int>(C)] =
        block_detail::block<Formula, ComputeType<C>, kTensors, kScalars>;
    table.result[static_cast<int>(C)] = block_detail::result_of<Formula, C>(
        std::make_index_sequence<kTensors>{}, std::make_index_sequence<kScalars>{});
  });
  table.direct = make_direct<Formula, kTypes & direct_types<Formula>, kTensors, kScalars>();
  return table;
}

// The same with a loop of its own in float32.
constexpr BlockTable with_floats(BlockTable table, BlockFn floats) {
  table.fn[static_cast<int>(Compute::F32)] = floats;
  table.direct.fn[static_cast<int>(Compute::F32)] = nullptr;
  return table;
}
// And in float64.
constexpr BlockTable with_doubles(BlockTable table, BlockFn doubles) {
  table.fn[static_cast<int>(Compute::F64)] = doubles;
  table.result[static_cast<int>(Compute::F64)] = Compute::F64;
  table.direct.fn[static_cast<int>(Compute::F64)] = nullptr;
  return table;
}

// For a table whose loops of floats take any number of elements: they run over memory too.
constexpr BlockTable of_any_count(BlockTable table) {
  for (const Compute c : {Compute::F32, Compute::F64})
    table.direct.fn[static_cast<int>(c)] = table.fn[static_cast<int>(c)];
  return table;
}

template <class Formula, unsigned kTypes, int kTensors, int kScalars>
inline constexpr BlockTable block_table = make_blocks<Formula, kTypes, kTensors, kScalars>();

}  // namespace emu
