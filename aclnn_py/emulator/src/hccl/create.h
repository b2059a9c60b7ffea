// SPDX-License-Identifier: Apache-2.0
// The ways a communicator comes into being.
#pragma once

#include "core/status.h"
#include "hccl/hccl_types.h"

namespace emu::hccl {

Status get_root_info(HcclRootInfo *info);
Status create_from_root_info(const char *routine, uint32_t ranks, const HcclRootInfo *info,
                             uint32_t rank, const HcclCommConfig *config, bool config_given,
                             HcclComm *comm);
Status create_from_rank_table(const char *routine, const char *path, uint32_t rank,
                              const HcclCommConfig *config, bool config_given, HcclComm *comm);
Status create_all(uint32_t count, const int32_t *devices, HcclComm *comms);
Status create_sub(const HcclComm *parent, uint32_t count, const uint32_t *ranks, uint64_t id,
                  uint32_t sub_rank, const HcclCommConfig *config, HcclComm *comm);

}  // namespace emu::hccl
