// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/window/filter_blocks.h"

#include <cstring>

#include "core/host_memory.h"
#include "core/memory.h"
#include "core/statuses.h"

namespace emu {
namespace {

const char *name_of(const aclTensor &weight) {
  return weight.rank() == 4 ? "FRACTAL_Z" : "FRACTAL_Z_3D";
}

Status check_memory(const char *op, const aclTensor &weight, const FormatPair &pair, int device) {
  const int64_t bytes = pair.storage.count() * item_size(weight.dtype);
  int owner = -1;
  if (kernel_may_use(weight.data, static_cast<size_t>(bytes), device, &owner)) return 0;
  return fail(kKernelFault, "%s: the %lld bytes of weight in %s do not fit at %p (%s).", op,
              static_cast<long long>(bytes), name_of(weight), weight.data,
              describe_address(weight.data).c_str());
}

// Calls visit(index within the dense filters, index within the blocks).
template <class Visit>
void for_each_element(const FormatPair &pair, Visit &&visit) {
  const BlockedAxis *to = pair.blocked.axis;
  const int64_t *e = pair.extent;
  int64_t next = 0;
  for (int64_t n = 0; n < e[0]; ++n)
    for (int64_t c = 0; c < e[1]; ++c)
      for (int64_t d = 0; d < e[2]; ++d)
        for (int64_t h = 0; h < e[3]; ++h)
          for (int64_t w = 0; w < e[4]; ++w)
            visit(next++, to[0].at(n) + to[1].at(c) + to[2].at(d) + to[3].at(h) + to[4].at(w));
}

}  // namespace

bool pair_filters(const aclTensor &weight, FormatPair *pair) {
  const bool flat = weight.rank() == 4;
  const aclFormat blocked = flat ? ACL_FORMAT_FRACTAL_Z : ACL_FRACTAL_Z_3D;
  return pair_formats(flat ? ACL_FORMAT_NCHW : ACL_FORMAT_NCDHW, blocked, weight.shape,
                      block_columns(blocked, weight.dtype), pair);
}

Check &check_filter_blocks(Check &check, const aclTensor &weight, const char *maker) {
  FormatPair pair;
  check.that(pair_filters(weight, &pair), "weight has shape %s, whose blocks 64 bits do not count",
             shape_text(layout_of(weight)).c_str());
  if (!check.ok()) return check;
  const Dims &given = weight.storage_shape;
  return check.that(
      given == pair.storage && weight.offset == 0 && weight.contiguous(),
      "weight has a storage shape of %s; expected %s without an offset, as %s makes it",
      shape_text(given.data(), static_cast<int>(given.size())).c_str(),
      shape_text(pair.storage.data(), static_cast<int>(pair.storage.size())).c_str(), maker);
}

Status unpack_filters(const char *op, const aclTensor &weight, int device,
                      std::unique_ptr<char[]> *memory, View *dense) {
  FormatPair pair;
  (void)pair_filters(weight, &pair);
  if (const Status bad = check_memory(op, weight, pair, device)) return bad;
  const auto size = static_cast<size_t>(item_size(weight.dtype));
  memory->reset(new char[static_cast<size_t>(weight.numel()) * size]);
  const auto *from = static_cast<const char *>(weight.data);
  char *to = memory->get();
  for_each_element(pair, [&](int64_t plain, int64_t blocked) {
    std::memcpy(to + static_cast<size_t>(plain) * size, from + static_cast<size_t>(blocked) * size,
                size);
  });
  dense->data = to;
  dense->dtype = weight.dtype;
  dense->layout = dense_like(layout_of(weight));
  return 0;
}

Status pack_filters(const char *op, const char *dense, const aclTensor &weight, int device) {
  FormatPair pair;
  (void)pair_filters(weight, &pair);
  if (const Status bad = check_memory(op, weight, pair, device)) return bad;
  const auto size = static_cast<size_t>(item_size(weight.dtype));
  auto *to = static_cast<char *>(weight.data);
  std::memset(to, 0, static_cast<size_t>(pair.storage.count()) * size);
  for_each_element(pair, [&](int64_t plain, int64_t blocked) {
    std::memcpy(to + static_cast<size_t>(blocked) * size, dense + static_cast<size_t>(plain) * size,
                size);
  });
  return 0;
}

}  // namespace emu
