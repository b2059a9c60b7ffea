// SPDX-License-Identifier: Apache-2.0
// Rank table files, versions 1.0 and 1.2.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/status.h"

namespace emu::hccl {

struct RankEntry {
  std::string server;
  uint32_t device = 0;  // the number before ASCEND_RT_VISIBLE_DEVICES narrows the list
};

struct RankTable {
  std::vector<RankEntry> ranks;  // by rank id
  std::string contents;
};

// Reads a file; while its status is "initializing" it is read again, for at most `timeout` seconds.
// HCCL_E_OPEN_FILE_FAILURE, HCCL_E_TIMEOUT, or HCCL_E_PARA (EI0004, EI0014, EI0017) with the
// reason.
Status read_rank_table(const char *routine, const char *path, double timeout, RankTable *table);

}  // namespace emu::hccl
