// SPDX-License-Identifier: Apache-2.0
// Elements from one line of memory to another, whatever their steps.
#pragma once

#include <cstdint>

namespace emu {

// `count` elements; steps in elements. The lines must not overlap.
using CopyRunFn = void (*)(const char *read, int64_t step, char *write, int64_t to_step,
                           int64_t count);
// For elements of 1, 2, 4, 8 or 16 bytes.
CopyRunFn copy_run_of(int64_t item_size);

// Every one of `count` elements `times` times into dense memory.
using RepeatEachFn = void (*)(const char *read, int64_t step, char *write, int64_t times,
                              int64_t count);
RepeatEachFn repeat_each_of(int64_t item_size);

}  // namespace emu
