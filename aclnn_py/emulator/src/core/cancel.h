// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emu {

// Inside a task: should a long wait end because the stream is aborted or the process ends?
bool wait_cancelled();

}  // namespace emu
