// SPDX-License-Identifier: Apache-2.0
#include "faults/modes.h"

#include <cstdlib>

#include "core/export.h"
#include "core/process.h"
#include "faults/pages.h"

namespace emu::faults {
namespace {

uint32_t from_environment() {
  uint32_t modes = 0;
  if (check_mode()) modes |= kCheck;
  if (environment_number("ACLNN_PY_BLOCKING", 0) != 0) modes |= kBlocking;
  const auto named = [](const char *variable) {
    const char *file = std::getenv(variable);
    return file != nullptr && *file != '\0';
  };
  if (named("ACLNN_PY_TRACE")) modes |= kTrace;
  if (named("ACLNN_PY_RECORD")) modes |= kRecord;
  return modes;
}

}  // namespace

std::atomic<uint32_t> g_modes{from_environment()};

}  // namespace emu::faults

// The package aclnn_py drives this process: it looks for mistakes itself, with Python's lines.
EMU_EXPORT void aclnn_py_emulator_python_reports(void) try {
  emu::faults::g_modes.store(0);
  emu::faults::stop_guarding();
}
EMU_CATCH_VOID
