// SPDX-License-Identifier: Apache-2.0
#pragma once

namespace emu {

// Whether the address lies in a reservation of aclrtReserveMemAddress, mapped or not.
bool reserved_address(const void *address);

}  // namespace emu
