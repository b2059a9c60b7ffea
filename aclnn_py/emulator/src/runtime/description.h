// SPDX-License-Identifier: Apache-2.0
// What aclTensorDesc and aclDataBuffer hold: runtime/ writes them, the aclop interface reads them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl_base.h"

struct aclDataBuffer {
  void *data = nullptr;
  size_t size = 0;
};

struct aclTensorDesc {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND, storage_format = ACL_FORMAT_UNDEFINED,
            origin_format = ACL_FORMAT_UNDEFINED;
  std::vector<int64_t> dims, storage_dims, origin_dims;
  std::vector<std::pair<int64_t, int64_t>> ranges, value_ranges;
  std::string name, dynamic_name;
  std::vector<char> constant;
  aclMemType placement = ACL_MEMTYPE_DEVICE;
};

namespace emu {

bool live(const aclTensorDesc *desc);
bool live(const aclDataBuffer *buffer);

}  // namespace emu
