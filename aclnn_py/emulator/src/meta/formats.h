// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "acl/acl_base_rt.h"

namespace emu {

// Formats that name the axes of elements in C order.
inline bool is_plain(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_HWCN:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NCL:
    case ACL_FORMAT_NC: return true;
    default: return static_cast<int>(format) == 31;  // DHWCN
  }
}

}  // namespace emu
