// SPDX-License-Identifier: Apache-2.0
// What streams ask of the reports of their faults.
#pragma once

#include "core/stream.h"

namespace emu {

// Room for the first faults of a stream, before it runs anything.
void make_room_for_faults(Stream &stream);
// What no wait has reported of a stream that ends becomes the device's.
void leave_faults(Stream &stream);
// Reports it to the first wait for the device.
Status report_left_faults(int device, const char *routine);

}  // namespace emu
