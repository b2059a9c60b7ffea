// SPDX-License-Identifier: Apache-2.0
// Where lines of the log go: to stdout, or to files named and limited as CANN's.
#pragma once

#include <string>

namespace emu::logs {

enum class Kind { debug, run };

// What the environment asks for.
struct Destination {
  bool to_stdout = false;
  std::string directory;  // "" for no files
  int most_files = 10;    // of a kind and process; the oldest are removed

  bool any() const { return to_stdout || !directory.empty(); }
};

Destination destination_from_environment();

// Writes whole lines, each with its end, so that lines of threads and processes do not mix. A
// failure is told once, on stderr, and never to the program.
void put(const Destination &destination, Kind kind, const std::string &lines) noexcept;

}  // namespace emu::logs
