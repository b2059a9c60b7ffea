// SPDX-License-Identifier: Apache-2.0
// The file that a variable of the environment names, as in ACLNN_PY_TRACE=calls-%p.txt.
#pragma once

#include <string>

namespace emu::faults {

// %p is the process, %r the rank (variable RANK, 0 without it). For a directory: a file in it,
// named after the process.
std::string path_of(const char *variable, const char *kind);

// Empties the file, or makes it. -1 with the reason in `why`.
int open_output(const std::string &path, std::string *why);

// At a place of the file, all of it; false with errno.
bool write_at(int file, const void *data, size_t bytes, size_t at);

}  // namespace emu::faults
