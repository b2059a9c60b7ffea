// SPDX-License-Identifier: Apache-2.0
#include "faults/archive.h"

#include <unistd.h>

#include <cerrno>

#include "faults/digest.h"
#include "faults/output.h"

namespace emu::faults {
namespace {

constexpr uint16_t kVersion = 20, kStored = 0;
constexpr uint16_t kDay = (1 << 5) | 1;  // 1980-01-01: equal records are equal files

void number(std::string &to, uint64_t value, int bytes) {
  for (int i = 0; i < bytes; ++i) to += static_cast<char>(value >> 8 * i & 0xFF);
}

// What local headers and the directory have in common, from the version on.
std::string entry(const std::string &name, uint32_t sum, size_t bytes) {
  std::string text;
  number(text, kVersion, 2);
  number(text, 0, 2);  // flags
  number(text, kStored, 2);
  number(text, 0, 2);  // time
  number(text, kDay, 2);
  number(text, sum, 4);
  number(text, bytes, 4);
  number(text, bytes, 4);
  number(text, name.size(), 2);
  number(text, 0, 2);  // extra
  return text;
}

}  // namespace

bool Archive::put(const void *data, size_t bytes) {
  if (!write_at(file_, data, bytes, written_)) return false;
  written_ += bytes;
  return true;
}

bool Archive::add(const std::string &name, const void *data, size_t bytes) {
  const std::string fields = entry(name, crc32(data, bytes), bytes);
  written_ = end_;
  const std::string head = "PK\3\4" + fields + name;
  if (!put(head.data(), head.size()) || !put(data, bytes)) {
    const int problem = errno;
    if (ftruncate(file_, static_cast<off_t>(end_)) != 0) errno = problem;
    errno = problem;
    return false;
  }
  directory_ += "PK\1\2";
  number(directory_, kVersion, 2);
  directory_ += fields;
  number(directory_, 0, 2);  // comment
  number(directory_, 0, 2);  // disk
  number(directory_, 0, 2);  // inner attributes
  number(directory_, 0100644u << 16, 4);
  number(directory_, end_, 4);
  directory_ += name;
  end_ = written_;
  ++count_;
  return true;
}

bool Archive::keep(const void *data, size_t bytes, std::string *name) {
  *name = "data/" + sha256(data, bytes) + ".bin";
  if (kept_.count(*name) != 0) return true;
  if (!add(*name, data, bytes)) return false;
  kept_.insert(*name);
  return true;
}

bool Archive::finish() {
  std::string tail = directory_ + "PK\5\6";
  number(tail, 0, 4);  // disks
  number(tail, count_, 2);
  number(tail, count_, 2);
  number(tail, directory_.size(), 4);
  number(tail, end_, 4);
  number(tail, 0, 2);  // comment
  const bool done = write_at(file_, tail.data(), tail.size(), end_);
  const int problem = errno;
  if (!done && ftruncate(file_, static_cast<off_t>(end_)) != 0) errno = problem;
  close(file_);
  file_ = -1;
  errno = problem;
  return done;
}

}  // namespace emu::faults
