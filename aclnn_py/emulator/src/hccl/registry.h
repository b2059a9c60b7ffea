// SPDX-License-Identifier: Apache-2.0
// The communicators of this process: by handle, and by group name on a device. Several devices of
// one process may have a communicator of the same name (its ranks as threads).
#pragma once

#include <memory>
#include <string>

#include "hccl/communicator.h"
#include "hccl/hccl_types.h"

namespace emu::hccl {

// Keeps a name of a device for the communicator that is being made; gives it back unless published.
class NameHold {
 public:
  NameHold() = default;
  ~NameHold();
  NameHold(const NameHold &) = delete;
  NameHold &operator=(const NameHold &) = delete;

  // HCCL_E_PARA when the device has a communicator of that name.
  Status take(const char *routine, int device, const std::string &name);
  HcclComm publish(std::shared_ptr<Communicator> communicator);

 private:
  int device_ = -1;
  std::string name_;
  bool held_ = false;
};

// Null for a handle that is not (or no longer) one.
std::shared_ptr<Communicator> find_communicator(HcclComm handle);
// What the group string of a fused operator means on a device. Null when there is none.
std::shared_ptr<Communicator> find_communicator(int device, const std::string &name);
// The handle of that communicator, null when there is none.
HcclComm find_handle(int device, const std::string &name);

// Takes a communicator out. Null when the handle is not one.
std::shared_ptr<Communicator> withdraw_communicator(HcclComm handle);

}  // namespace emu::hccl
