// SPDX-License-Identifier: Apache-2.0
#include "faults/arguments.h"

#include <algorithm>
#include <string>
#include <utility>

#include "core/host_memory.h"
#include "core/memory.h"
#include "faults/findings.h"
#include "faults/launches.h"
#include "faults/objects.h"
#include "faults/program_pools.h"
#include "meta/fractal.h"
#include "meta/parameter_names.h"
#include "meta/pieces.h"

namespace emu::faults {
namespace {

constexpr int64_t kLikelyExtent = int64_t{1} << 24;
constexpr size_t kMostPieces = 4096;

// Two 32-bit numbers that were read as one of 64 bits.
bool packed_pair(int64_t value) {
  const int64_t low = value & 0xFFFFFFFF, high = value >> 32;
  return high > 0 && high < kLikelyExtent && low < kLikelyExtent;
}

struct Reach {
  uintptr_t low, high;
};

bool reach_of(const PlanTensor &entry, Reach *reach) {
  int64_t low = 0, high = 0;
  if (!entry.present || !entry.tensor.reach(&low, &high)) return false;
  *reach = {reinterpret_cast<uintptr_t>(entry.tensor.at(low)),
            reinterpret_cast<uintptr_t>(entry.tensor.at(high))};
  return true;
}

bool same_view(const PlanTensor &a, const PlanTensor &b) {
  Reach mine, theirs;
  return reach_of(a, &mine) && reach_of(b, &theirs) && mine.low == theirs.low &&
         mine.high == theirs.high;
}

std::vector<Reach> pieces_of(const PlanTensor &entry) {
  std::vector<Reach> pieces;
  each_piece(entry, [&](const char *start, size_t bytes) {
    const auto low = reinterpret_cast<uintptr_t>(start);
    pieces.push_back({low, low + bytes});
    return pieces.size() <= kMostPieces;
  });
  std::sort(pieces.begin(), pieces.end(), [](Reach a, Reach b) { return a.low < b.low; });
  return pieces;
}

// Whether two tensors share bytes; false where their pieces are too many to compare.
bool share_bytes(const PlanTensor &a, const PlanTensor &b) {
  Reach mine, theirs;
  if (!reach_of(a, &mine) || !reach_of(b, &theirs)) return false;
  if (mine.low >= theirs.high || theirs.low >= mine.high) return false;
  const auto left = pieces_of(a), right = pieces_of(b);
  if (left.size() > kMostPieces || right.size() > kMostPieces) return false;
  size_t i = 0, j = 0;
  while (i < left.size() && j < right.size()) {
    if (left[i].low < right[j].high && right[j].low < left[i].high) return true;
    ++(left[i].high <= right[j].high ? i : j);
  }
  return false;
}

void look_for_overlaps(const char *op, const std::vector<PlanTensor> &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    for (size_t j = 0; j < tensors.size(); ++j) {
      const PlanTensor &out = tensors[i], &other = tensors[j];
      const bool both = out.output && other.output;
      if (i == j || !out.output || (both && j < i)) continue;
      if (out.tensor.data == nullptr || same_view(out, other) || !share_bytes(out, other)) continue;
      finding("output overlaps another tensor",
              std::string(op) + ": " + parameter_text(op, tensors, i) +
                  " is written and shares a part of its memory with " +
                  parameter_text(op, tensors, j));
      return;
    }
  }
}

void look_at_addresses(const char *op, const std::vector<PlanTensor> &tensors) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    Reach reach;
    const void *data = tensors[i].tensor.data;
    if (!reach_of(tensors[i], &reach)) continue;
    if (tensors[i].source != nullptr &&
        (!live(tensors[i].source) || tensors[i].source->identity != tensors[i].tensor.identity)) {
      Life life;
      const bool known = life_of(tensors[i].source, &life) && !life.live;
      finding("tensor destroyed between the two phases",
              std::string(op) + ": " + parameter_text(op, tensors, i), site_here(),
              {{"destroyed", known ? life.ended : Site{}}});
    }
    look_in_pools(std::string(op) + ": " + parameter_text(op, tensors, i), reach.low, reach.high);
    if (data != nullptr && device_of_address(data) < 0 &&
        !host_mapped(data, reach.high - reach.low)) {
      finding("host pointer as device data",
              std::string(op) + ": " + parameter_text(op, tensors, i) + " is in host memory");
    }
    if (data == nullptr)
      finding("tensor without memory",
              std::string(op) + ": " + parameter_text(op, tensors, i) + " has a null address");
  }
}

void look_at_workspace(const char *op, void *workspace, uint64_t size) {
  if (workspace == nullptr || size == 0) return;
  const std::string what = std::string(op) + ": a workspace of " + std::to_string(size) + " bytes";
  const auto low = reinterpret_cast<uintptr_t>(workspace);
  look_in_pools(what, low, low + size);
  if (on_device(workspace, size, nullptr)) return;
  if (device_of_address(workspace) < 0) {
    finding("workspace in host memory", what);
    return;
  }
  void *start = nullptr;
  const bool live = find_block(workspace, &start, nullptr, nullptr);
  finding(live ? "workspace larger than its allocation" : "workspace was freed",
          what + " in " + describe_address(workspace));
}

}  // namespace

void look_at_numbers(const char *routine, const char *name, const int64_t *values, uint64_t count) {
  for (uint64_t i = 0; values != nullptr && i < count; ++i) {
    if (!packed_pair(values[i])) continue;
    finding("array of 32-bit numbers",
            std::string(routine) + ": " + name + "[" + std::to_string(i) + "] is " +
                std::to_string(values[i]) + ", which two 32-bit numbers make, " +
                std::to_string(values[i] & 0xFFFFFFFF) + " and " + std::to_string(values[i] >> 32) +
                "; the array has to hold numbers of 64 bits");
    return;
  }
}

void look_at_tensor(const char *routine, const aclTensor &tensor) {
  look_at_numbers(routine, "viewDims", tensor.shape.data(), tensor.shape.size());
  look_at_numbers(routine, "storageDims", tensor.storage_shape.data(), tensor.storage_shape.size());
  int64_t low = 0, high = 0;
  if (!tensor.countable || !tensor.reach(&low, &high)) return;
  const int64_t elements = tensor.storage_shape.count(), bits = dtype_bits(tensor.dtype);
  if (elements >= INT64_MAX / std::max<int64_t>(bits, 1)) return;
  const int64_t storage = (elements * bits + 7) / 8;
  const bool within = is_fractal(tensor)
                          ? within_storage(tensor)
                          : tensor.storage_shape.empty() || (low >= 0 && high <= storage);
  if (!within) {
    finding("view beyond its storage", std::string(routine) +
                                           ": shape, strides and offset reach bytes " +
                                           std::to_string(low) + " to " + std::to_string(high) +
                                           " of a storage of " + std::to_string(storage));
    return;
  }
  void *start = nullptr;
  size_t size = 0;
  if (tensor.data == nullptr || !find_block(tensor.data, &start, &size, nullptr)) return;
  const size_t left =
      size - static_cast<size_t>(static_cast<char *>(tensor.data) - static_cast<char *>(start));
  const auto needed = static_cast<size_t>(std::max(storage, high));
  if (needed <= left || on_device(tensor.data, needed, nullptr)) return;
  Life life;
  const bool known = life_of(start, &life);
  finding("tensor beyond its allocation",
          std::string(routine) + ": the tensor needs " + std::to_string(needed) + " bytes; " +
              std::to_string(left) + " are left of the allocation",
          site_here(), {{"allocated", known ? life.made : Site{}}});
}

void look_at_launch(const char *op, const std::vector<PlanTensor> &tensors, void *workspace,
                    uint64_t workspace_size, Stream &stream) {
  look_at_addresses(op, tensors);
  look_for_overlaps(op, tensors);
  look_at_workspace(op, workspace, workspace_size);
  std::vector<Use> uses;
  for (size_t i = 0; i < tensors.size(); ++i) {
    Reach reach;
    if (tensors[i].tensor.data == nullptr || !reach_of(tensors[i], &reach)) continue;
    uses.push_back({reach.low, reach.high, tensors[i].output, parameter_text(op, tensors, i)});
  }
  if (workspace != nullptr && workspace_size > 0) {
    const auto low = reinterpret_cast<uintptr_t>(workspace);
    uses.push_back({low, low + workspace_size, true, "workspace"});
  }
  before_launch(stream, op, std::move(uses));
}

void look_at_copy(const char *routine, const void *dst, bool dst_on_device, const void *src,
                  bool src_on_device, size_t size, aclrtMemcpyKind kind) {
  for (const auto &[name, at] : {std::pair{"dst", dst}, std::pair{"src", src}}) {
    const auto low = reinterpret_cast<uintptr_t>(at);
    look_in_pools(std::string(routine) + ": " + name, low, low + size);
  }
  bool to = false, from = false;
  switch (kind) {
    case ACL_MEMCPY_HOST_TO_HOST: break;
    case ACL_MEMCPY_HOST_TO_DEVICE:
    case ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE: to = true; break;
    case ACL_MEMCPY_DEVICE_TO_HOST: from = true; break;
    case ACL_MEMCPY_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INNER_DEVICE_TO_DEVICE:
    case ACL_MEMCPY_INTER_DEVICE_TO_DEVICE: to = from = true; break;
    default: return;  // the library looks at the addresses itself
  }
  if (to == dst_on_device && from == src_on_device) return;
  const auto side = [](bool device) { return std::string(device ? "device" : "host"); };
  finding("kind of copy contradicts the addresses",
          std::string(routine) + ": the kind says " + side(from) + " to " + side(to) +
              ", but src " + "is " + describe_address(src) + " and dst is " +
              describe_address(dst));
}

}  // namespace emu::faults
