// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_rt.h"

namespace emu {

// Tells the callbacks of aclrtRegStreamStateCallback / aclrtRegDeviceStateCallback.
void tell_stream_state(aclrtStream stream, aclrtStreamState state);
void tell_device_state(int device, aclrtDeviceState state);

}  // namespace emu
