// SPDX-License-Identifier: Apache-2.0
// The other ranks' device memory, where this process sees it. Device memory lies in a memory file,
// so a process can map that of another one and use it with one copy fewer than through shared
// staging. A rank of the same process is seen at its own addresses. Where a mapping is refused, the
// ranks go through the staging.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "hccl/region.h"

namespace emu::hccl {

// What a rank on `device` of this process tells the others; size 0 when its memory cannot be
// shared, or is not to be: ACLNN_PY_EMULATOR_PEER_MEMORY=0 sends everything through the staging.
MemberMemory own_memory(int device);

class Peers {
 public:
  Peers(Region &region, uint32_t rank);
  ~Peers();
  Peers(const Peers &) = delete;
  Peers &operator=(const Peers &) = delete;

  // Are the memories of all ranks seen here?
  bool complete() const { return complete_; }
  bool sees(uint32_t rank) const { return views_[rank].same || views_[rank].mapping; }

  // May ranks of other processes use [data, data + bytes) of this rank? Nothing at all is always
  // open.
  bool open_to_others(const void *data, uint64_t bytes) const;

  // An address of `rank`, which is open to others, as an address of this process.
  template <class T>
  T *here(uint32_t rank, T *address) const {
    return reinterpret_cast<T *>(reinterpret_cast<uintptr_t>(address) + views_[rank].shift);
  }

 private:
  struct Mapping;
  struct View {
    bool same = false;  // of this process
    uintptr_t shift = 0;
    std::shared_ptr<Mapping> mapping;
  };
  static std::shared_ptr<Mapping> map(const Member &member);

  std::vector<View> views_;
  MemberMemory own_;
  bool complete_ = true, alone_ = true;  // alone_: all ranks are of this process
};

}  // namespace emu::hccl
