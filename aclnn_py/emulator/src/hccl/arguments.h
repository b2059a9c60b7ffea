// SPDX-License-Identifier: Apache-2.0
// What HCCL accepts: data types, reductions, roots, counts and buffers, by chip.
#pragma once

#include <cstdint>

#include "core/status.h"
#include "hccl/hccl_types.h"

namespace emu::hccl {

// Bytes of one element; 0 for a number that is no data type.
uint32_t item_bytes(uint32_t dtype);
const char *dtype_text(uint32_t dtype);
const char *reduce_text(uint32_t op);

enum class Chip { a2, a3, a5, p310, a1 };
Chip chip();
const char *chip_text();

enum class Collective {
  all_reduce,
  reduce_scatter,
  reduce,
  reduce_scatter_v,
  all_gather,
  all_gather_v,
  broadcast,
  scatter,
  send_recv,
  all_to_all,
  all_to_all_vc,
  barrier
};

// HCCL_E_NOT_SUPPORT with a message when the chip has no such collective, or not for the data type.
Status check_supported(const char *routine, Collective collective, uint32_t dtype);
Status check_reduction(const char *routine, Collective collective, uint32_t dtype, uint32_t op);

Status check_pointer(const char *routine, const char *name, const void *value);
Status check_count(const char *routine, const char *name, uint64_t count);
Status check_rank(const char *routine, const char *name, uint32_t rank, uint32_t size);
// HCCL_E_PARA unless the bytes lie in live memory of the communicator's device.
Status check_buffer(const char *routine, const char *name, const void *data, uint64_t bytes,
                    int device);

// fail_as with EI0003, the message code of refused arguments of collectives.
[[gnu::format(printf, 2, 3)]] Status refuse(Status code, const char *format, ...);

}  // namespace emu::hccl
