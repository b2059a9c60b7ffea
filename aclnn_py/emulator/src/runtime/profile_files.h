// SPDX-License-Identifier: Apache-2.0
// What was profiled, as the files that CANN's tool exports (mindstudio_profiler_output/).
#pragma once

#include <string>

#include "core/status.h"

namespace emu {

// Makes PATH/PROF_.../mindstudio_profiler_output; PATH too where it is missing. 500005 with the
// system's reason when that fails.
Status make_profile_folder(const std::string &path, std::string *folder);
// op_summary, task_time, op_statistic, communication_statistic, api_statistic, msprof_tx, npu_mem
// (CSV) and msprof (JSON, for Perfetto) in the folder: all that was noted, which is forgotten
// afterwards.
Status write_profile(const std::string &folder);

}  // namespace emu
