// SPDX-License-Identifier: Apache-2.0
// What the paths of the matrix product have in common: work memory, and when a product is worth
// threads.
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <new>

#include "core/per_thread.h"
#include "ops/matmul/gemm.h"

namespace emu {

inline int64_t ceil_div(int64_t a, int64_t b) { return (a + b - 1) / b; }

// Work memory of one thread. It is kept between products (fresh pages cost more than a small
// product) unless it is large.
class Scratch {
 public:
  ~Scratch() { std::free(data_); }

  void *take(size_t bytes) {
    if (bytes > size_) {
      std::free(data_);
      const size_t grain = bytes < huge_page ? 64 : huge_page;
      size_ = (bytes + grain - 1) / grain * grain;
      data_ = std::aligned_alloc(grain, size_);
      if (!data_) {
        size_ = 0;
        throw std::bad_alloc();
      }
      // Panels lie side by side over megabytes: small pages would exceed the processor's table of
      // translations.
      if (grain == huge_page) madvise(data_, size_, MADV_HUGEPAGE);
    }
    return data_;
  }

  void trim() {
    if (size_ <= kept) return;
    std::free(data_);
    data_ = nullptr;
    size_ = 0;
  }

 private:
  static constexpr size_t huge_page = size_t(2) << 20;
  static constexpr size_t kept = size_t(16) << 20;
  void *data_ = nullptr;
  size_t size_ = 0;
};

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
