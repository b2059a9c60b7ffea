// SPDX-License-Identifier: Apache-2.0
// What the paths of the matrix product have in common: work memory, and when a product is worth
// threads.
#pragma once

#include "core/per_thread.h"
#include "core/scratch.h"
#include "ops/matmul/gemm.h"

namespace emu {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

inline Scratch &scratch() { return PerThread<Scratch>::get(); }

inline GemmStorage storage_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT16: return GemmStorage::float16;
    case ACL_BF16: return GemmStorage::bfloat16;
    case ACL_INT8: return GemmStorage::int8;
    case ACL_UINT8: return GemmStorage::uint8;
    case ACL_DOUBLE: return GemmStorage::float64;
    default: return GemmStorage::float32;
  }
}

constexpr int64_t worth_a_thread = int64_t(1) << 16;  // multiplications
// Elements of `a` that are packed before the first product is made.
constexpr int64_t most_packed = int64_t(1) << 21;

inline bool worth_threads(const Matrix &a, const Matrix &b) {
  return a.rows * b.cols * a.cols > 2 * worth_a_thread;
}

}  // namespace emu
