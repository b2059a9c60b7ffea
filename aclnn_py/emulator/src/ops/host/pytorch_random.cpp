// SPDX-License-Identifier: Apache-2.0
// Which sequence of random numbers the 950's operators draw. The chips before it have one sequence:
// there the choice is kept and read back, and changes no number.
#include <atomic>

#include "aclnn/host_calls.h"
#include "core/chip.h"
#include "core/export.h"
#include "core/statuses.h"
#include "ops/op.h"

namespace {

std::atomic<int32_t> g_mode{0};

}  // namespace

EMU_EXPORT aclnnStatus aclnnSetPytorchRandom(int32_t pytorchRandom) try {
  using namespace emu;
  if (pytorchRandom != 0 && pytorchRandom != 1) {
    return fail(emu::kInvalid, "aclnnSetPytorchRandom: pytorchRandom is %d; allowed: 0, 1",
                pytorchRandom);
  }
  if (pytorchRandom == 1 && chip_is_950()) {
    return fail(ACL_ERROR_RT_FEATURE_NOT_SUPPORT,
                "aclnnSetPytorchRandom: the emulator does not draw the numbers of PyTorch.");
  }
  g_mode.store(pytorchRandom);
  return 0;
}
EMU_CATCH

EMU_EXPORT int32_t aclnnGetPytorchRandom(void) try { return g_mode.load(); }
EMU_CATCH
