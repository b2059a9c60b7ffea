// SPDX-License-Identifier: Apache-2.0
// SIGSEGV and SIGBUS. The handler is installed with the first copy of the program's memory, keeps
// the one that was there before, and leaves to it every signal that is not meant here. A handler
// that the program installs later takes its place: then a bad address ends the process, as it does
// in any program.
#pragma once

#include <signal.h>

#include <cstddef>
#include <cstdint>

namespace emu {

struct AddressRange {
  uintptr_t low, high;

  bool holds(uintptr_t at) const { return at >= low && at < high; }
};

// Runs `work`, which accesses the two ranges and holds nothing that has to be given back. False,
// with the address (0 where the processor does not tell it), when an access to one of them failed.
bool survives(void (*work)(void *), void *data, const AddressRange (&ranges)[2], uintptr_t *bad);

// Asked about every other signal before the handler that was there first; true when the instruction
// is to run again.
using MemorySignalHook = bool (*)(int signal, siginfo_t *info, void *context);
void set_memory_signal_hook(MemorySignalHook hook);

}  // namespace emu
