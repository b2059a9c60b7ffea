// SPDX-License-Identifier: Apache-2.0
// Settings of a communicator: the HCCL_* environment and HcclCommConfig.
#pragma once

#include <cstdint>
#include <string>

#include "core/status.h"
#include "hccl/hccl_types.h"

namespace emu::hccl {

struct Config {
  std::string name;              // empty: a name is made
  double connect_timeout = 120;  // seconds
  double exec_timeout = 1836;    // seconds, 0: never
  uint32_t buffer_megabytes = HCCL_COMM_DEFAULT_BUFFSIZE;
  int32_t deterministic = 0;
  uint32_t expansion_mode = 0;
};

// HCCL_E_PARA with EI0001 for a value out of range.
Status read_environment(const char *routine, Config *config);

// Reads the fields that both the structure's version and its size cover. HCCL_E_PARA for a wrong
// magic word or a value out of range.
Status read_config(const char *routine, const HcclCommConfig *given, Config *config);

// HcclSetConfig / HcclGetConfig.
Status set_deterministic(int32_t value);
int32_t deterministic();

}  // namespace emu::hccl
