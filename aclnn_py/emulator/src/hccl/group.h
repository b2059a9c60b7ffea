// SPDX-License-Identifier: Apache-2.0
// HcclGroupStart / HcclGroupEnd: between them one thread may create communicators of several
// devices, and may send and receive in any order; all of it takes effect together at the end of the
// outermost group.
#pragma once

#include <functional>
#include <memory>

#include "acl/acl_rt.h"
#include "hccl/launch.h"
#include "hccl/session.h"

namespace emu::hccl {

// Is a group of the calling thread open?
bool group_open();

void group_start();
// Runs what was put off. The first failure is returned, with its text.
Status group_end();

// Puts off the creation of a communicator. It runs in a thread of its own with `device` current.
Status group_creation(int device, std::function<Status()> create);

// Puts off a transfer: those of one communicator and stream become one batch.
Status group_transfer(const std::shared_ptr<Communicator> &communicator, aclrtStream stream,
                      const Transfer &transfer, const Span &span);

// Runs one function per device, each in a thread with that device current. The first failure wins;
// its text becomes the calling thread's.
Status run_on_devices(const char *routine, const std::vector<int> &devices,
                      const std::function<Status(size_t)> &work);

}  // namespace emu::hccl
