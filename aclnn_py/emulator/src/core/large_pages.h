// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <memory>

// A shared file has small pages where the system's settings say so, and a kernel that goes over
// megabytes then spends much of its time on faults and on translations of addresses. Linux makes a
// large page of them when a program asks for each one.
namespace emu {

constexpr size_t kLargePage = size_t{2} << 20;

// A range of addresses that begins at a large page, with nothing behind them. Null, with errno,
// where the host has none.
char *reserve_large_pages(size_t size);

// Which large pages of a range were asked for.
class LargePages {
 public:
  // False when the host has no memory for the list. The range begins and ends at a large page.
  bool open(uintptr_t start, size_t size);

  // Memory that a kernel or a copy goes over next.
  void use(uintptr_t at, size_t nbytes);

  // The system has these pages back.
  void forget(uintptr_t at, size_t nbytes);

 private:
  uintptr_t start_ = 0;
  std::unique_ptr<std::atomic<bool>[]> asked_;
};

}  // namespace emu
