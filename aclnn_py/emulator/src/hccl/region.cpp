// SPDX-License-Identifier: Apache-2.0
#include "hccl/region.h"

#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <algorithm>
#include <cerrno>
#include <cstring>

#include "core/undo.h"

#ifndef MFD_CLOEXEC
#define MFD_CLOEXEC 1U
#endif

namespace emu::hccl {
namespace {

constexpr uint64_t kMagic = 0x31304c4343484b41ULL;
constexpr uint64_t kPage = 4096;

uint64_t round_up(uint64_t value, uint64_t unit) { return (value + unit - 1) / unit * unit; }

std::string system_reason(const char *what) {
  return std::string(what) + ": " + std::strerror(errno);
}

}  // namespace

// Pages are taken when they are first written, so the bounds below are address space, not memory.
// Two slots of at most 512 KiB stay in a processor's own cache on the way from rank to rank;
// HCCL_BUFFSIZE, which is 1 MB or more, bounds the same thing on a device and changes nothing here.
uint64_t Region::lay_out(uint32_t ranks) {
  ranks_ = ranks;
  uint64_t n = ranks;
  step_bytes_ =
      std::clamp<uint64_t>((uint64_t{8} << 20) / n, uint64_t{64} << 10, uint64_t{512} << 10);
  step_bytes_ = std::max(round_up(step_bytes_, kPage), n * kPage);
  piece_bytes_ = round_up(
      std::clamp<uint64_t>((uint64_t{128} << 20) / (n * n), kPage, uint64_t{256} << 10), kPage);
  record_bytes_ = round_up(sizeof(StepRecord) + 3 * n * sizeof(uint64_t), 64);
  uint64_t end = round_up(sizeof(Header), 128);
  auto take = [&end](uint64_t bytes, uint64_t unit) {
    uint64_t offset = round_up(end, unit);
    end = offset + bytes;
    return offset;
  };
  members_ = take(n * sizeof(Member), 64);
  states_ = take(n * sizeof(RankState), 128);
  records_ = take(n * kRing * record_bytes_, 64);
  channels_ = take(n * n * sizeof(Channel), 128);
  staging_ = take(n * kRing * step_bytes_, kPage);
  pieces_ = take(n * n * kRing * piece_bytes_, kPage);
  return round_up(end, kPage);
}

int Region::create(const std::vector<Member> &members, std::string *why) {
  Region layout;
  uint64_t size = layout.lay_out(static_cast<uint32_t>(members.size()));
  int fd = static_cast<int>(syscall(SYS_memfd_create, "aclnn_py_hccl", MFD_CLOEXEC));
  if (fd < 0) {
    *why = system_reason("memfd_create");
    return -1;
  }
  if (fchmod(fd, 0600) != 0 || ftruncate(fd, static_cast<off_t>(size)) != 0) {
    *why = system_reason("sizing the shared memory");
    close(fd);
    return -1;
  }
  void *base = mmap(nullptr, size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  if (base == MAP_FAILED) {
    *why = system_reason("mapping the shared memory");
    close(fd);
    return -1;
  }
  layout.base_ = static_cast<char *>(base);
  layout.size_ = size;
  // the file starts as zeros: only what differs from zero is written
  Header &header = layout.header();
  header.ranks = layout.ranks_;
  header.step_bytes = layout.step_bytes_;
  header.piece_bytes = layout.piece_bytes_;
  std::copy(members.begin(), members.end(), layout.at<Member>(layout.members_));
  header.magic = kMagic;
  return fd;
}

std::shared_ptr<Region> Region::attach(int fd, std::string *why) {
  struct stat about{};
  Undo opened([fd] { close(fd); });
  std::shared_ptr<Region> region(new Region);
  opened.keep();
  void *base = MAP_FAILED;
  if (fstat(fd, &about) == 0 && about.st_size >= static_cast<off_t>(kPage)) {
    base = mmap(nullptr, about.st_size, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, fd, 0);
  }
  if (base == MAP_FAILED) *why = system_reason("mapping the shared memory");
  close(fd);
  if (base == MAP_FAILED) return nullptr;
  region->base_ = static_cast<char *>(base);
  region->size_ = static_cast<uint64_t>(about.st_size);
  if (region->size_ < sizeof(Header)) {
    *why = "the shared memory is too small";
    return nullptr;
  }
  const Header &header = region->header();
  const uint32_t ranks = header.ranks;  // read once: others can write there
  if (header.magic != kMagic || ranks == 0 || ranks > kMaxRanks ||
      region->lay_out(ranks) != region->size_ || header.step_bytes != region->step_bytes_ ||
      header.piece_bytes != region->piece_bytes_) {
    *why = "the shared memory was laid out by another version of the emulator";
    return nullptr;
  }
  return region;
}

Region::~Region() {
  if (base_) munmap(base_, size_);
}

}  // namespace emu::hccl
