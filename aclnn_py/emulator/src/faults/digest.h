// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace emu::faults {

// The checksum of zip archives.
uint32_t crc32(const void *data, size_t bytes);
// SHA-256 (FIPS 180-4) in hexadecimal.
std::string sha256(const void *data, size_t bytes);

}  // namespace emu::faults
