// SPDX-License-Identifier: Apache-2.0
#include "core/numbers.h"

#include <sys/mman.h>

#include <cstddef>

#include "core/large_pages.h"
#include "core/per_thread.h"

namespace emu {
namespace {

constexpr size_t kMostKept = size_t{48} << 20;

// Pieces that wait for a kernel of their thread, the oldest first.
class Kept {
 public:
  ~Kept() { drop_to(0); }

  // Null where no piece has this size.
  void *find(size_t size) {
    for (size_t i = pieces_.size(); i-- > 0;) {
      if (pieces_[i].size != size) continue;
      void *const at = pieces_[i].at;
      pieces_.erase(pieces_.begin() + static_cast<std::ptrdiff_t>(i));
      total_ -= size;
      return at;
    }
    return nullptr;
  }
  bool keep(void *at, size_t size) noexcept {
    if (size > kMostKept) return false;
    try {
      pieces_.push_back({at, size});
    } catch (const std::bad_alloc &) {
      return false;
    }
    total_ += size;
    drop_to(kMostKept);
    return true;
  }

 private:
  struct Piece {
    void *at;
    size_t size;
  };

  void drop_to(size_t most) {
    while (total_ > most) {
      std::free(pieces_.front().at);
      total_ -= pieces_.front().size;
      pieces_.erase(pieces_.begin());
    }
  }

  std::vector<Piece> pieces_;
  size_t total_ = 0;
};

size_t grain_of(size_t bytes) { return bytes < kLargePage / 2 ? kWorthKeeping : kLargePage; }
size_t size_for(size_t bytes) {
  const size_t grain = grain_of(bytes);
  return (bytes + grain - 1) / grain * grain;
}

}  // namespace

void *take_work_memory(size_t bytes) {
  const size_t size = size_for(bytes);
  if (void *const kept = PerThread<Kept>::get().find(size)) return kept;
  if (grain_of(bytes) < kLargePage) return std::malloc(size);
  void *const at = std::aligned_alloc(kLargePage, size);
  if (at) madvise(at, size, MADV_HUGEPAGE);
  return at;
}

void give_work_memory(void *at, size_t bytes) {
  Kept *const kept = PerThread<Kept>::try_get();
  if (!kept || !kept->keep(at, size_for(bytes))) std::free(at);
}

}  // namespace emu
