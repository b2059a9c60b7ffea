// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>

namespace emu {

// From so many bytes on, what was written is no longer in a cache when somebody reads it.
constexpr size_t kPastCaches = size_t{4} << 20;

// Copies without reading the memory under `to` first and without turning out what the caches hold.
// The C library does so too, but only from a share of the last cache on, which on many machines is
// far beyond kPastCaches. Whoever is told of the result through an atomic variable afterwards sees
// it.
void copy_past_caches(void *to, const void *from, size_t bytes);

}  // namespace emu
