// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <sys/mman.h>

#include <cstdlib>
#include <new>

namespace emu {

// Work memory of one thread. It is kept between kernels (fresh pages cost more than a small
// kernel) unless it is large.
class Scratch {
 public:
  ~Scratch() { std::free(data_); }

  // Memory whose content is whatever it was; what was taken before is gone.
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
      // Kernels go back and forth over megabytes: small pages would exceed the processor's table of
      // translations.
      if (grain == huge_page) madvise(data_, size_, MADV_HUGEPAGE);
    }
    return data_;
  }

  // Keeps what is small.
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

}  // namespace emu
