// SPDX-License-Identifier: Apache-2.0
// A zip archive that is written member by member, none of them packed. What is there stays readable
// when the process ends early; the directory comes last.
#pragma once

#include <cstddef>
#include <cstdint>
#include <set>
#include <string>

namespace emu::faults {

class Archive {
 public:
  // Of a file that is empty; the archive closes it.
  explicit Archive(int file) : file_(file) {}

  // False when the disk took not all of it: the file then ends before this member.
  bool add(const std::string &name, const void *data, size_t bytes);
  // Under the digest of the contents, in data/; equal contents are written once.
  bool keep(const void *data, size_t bytes, std::string *name);
  bool finish();  // writes the directory

  size_t bytes() const { return end_; }
  size_t members() const { return count_; }

  static constexpr size_t kMostMembers = 65535, kMostBytes = UINT32_MAX;

 private:
  bool put(const void *data, size_t bytes);

  int file_;
  size_t end_ = 0, written_ = 0, count_ = 0;
  std::string directory_;
  std::set<std::string> kept_;
};

}  // namespace emu::faults
