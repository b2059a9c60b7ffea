// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "acl/acl_tdt.h"
#include "core/slots.h"
#include "core/status.h"

// A tensor that goes through a channel. One that the program made points to the program's memory;
// one that was received owns its bytes.
struct acltdtDataItem {
  acltdtTensorType type = ACL_TENSOR_DATA_UNDEFINED;
  std::vector<int64_t> dims;
  aclDataType dtype = ACL_DT_UNDEFINED;
  void *data = nullptr;
  size_t size = 0;
  std::vector<char> own;
};

struct acltdtDataset {
  std::string name;  // of the channel it was received from
  std::vector<acltdtDataItem *> items;
  bool received = false;  // its items go with it

  acltdtDataset() = default;
  acltdtDataset(const acltdtDataset &) = delete;
  acltdtDataset &operator=(const acltdtDataset &) = delete;
  ~acltdtDataset();
};

namespace emu {

// The content of a dataset on its way: copies, so that the sender's memory is free again.
using Parcel = std::vector<acltdtDataItem>;

Status find_dataset(const char *routine, const acltdtDataset *raw, acltdtDataset **dataset);

// Copies the items and their bytes. Refuses an item that was destroyed and memory that is not
// there.
Status pack(const char *routine, const acltdtDataset &dataset, Parcel *parcel);

// Makes items of the parcel, owned by the dataset.
Status unpack(const char *routine, const Parcel &parcel, acltdtDataset *dataset);

}  // namespace emu
