// SPDX-License-Identifier: Apache-2.0
#include "ops/mc2/fused.h"

#include "core/device.h"
#include "core/pool.h"
#include "hccl/arguments.h"
#include "ops/matmul/gemm.h"

namespace emu {

Status find_group(const char *op, const char *group, std::shared_ptr<hccl::Communicator> *communicator) {
  if (!group) return fail(kTiling, "%s: group is null; it is the name HcclGetCommName gives.", op);
  int device = 0;
  if (Status s = current_device(op, &device)) return s;
  *communicator = hccl::find_communicator(device, group);
  if (*communicator) return 0;
  return fail(kRuntimeError, "%s: device %d has no communicator named \"%.127s\"; the name comes from HcclGetCommName.", op,
              device, group);
}

Status check_world_size(const char *op, hccl::Communicator &communicator) {
  const hccl::Chip chip = hccl::chip();
  if (chip == hccl::Chip::p310 || chip == hccl::Chip::a1) {
    return fail(kTiling, "%s does not exist on %s.", op, hccl::chip_text());
  }
  const uint32_t ranks = communicator.size(), most = chip == hccl::Chip::a2 ? 8 : 32;
  if (ranks >= 2 && ranks <= most && (ranks & (ranks - 1)) == 0) return 0;
  return fail(kTiling, "%s: the communicator %s has %u ranks; on %s it must have %s.", op, communicator.name().c_str(), ranks,
              hccl::chip_text(), most == 8 ? "2, 4 or 8" : "2, 4, 8, 16 or 32");
}

bool is_transposed_view(const aclTensor &tensor) {
  const size_t rank = tensor.rank();
  if (rank < 2 || rank > 6) return false;
  const int64_t rows = tensor.shape[rank - 2], columns = tensor.shape[rank - 1];
  if (rows == 1 && columns == 1) return false;
  if (tensor.strides[rank - 2] != 1 || tensor.strides[rank - 1] != rows) return false;
  int64_t inner = rows * columns;
  for (size_t i = rank - 2; i-- > 0;) {
    if (tensor.strides[i] != inner) return false;
    inner *= tensor.shape[i];
  }
  return true;
}

bool is_plain_format(aclFormat format) {
  switch (format) {
    case ACL_FORMAT_UNDEFINED: case ACL_FORMAT_ND: case ACL_FORMAT_NCHW: case ACL_FORMAT_NHWC: case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NDHWC: case ACL_FORMAT_NC: case ACL_FORMAT_NCL: case ACL_FORMAT_HWCN: return true;
    default: return false;
  }
}

bool all_zero(const aclTensor &tensor) {
  const auto *data = static_cast<const uint16_t *>(tensor.view_data());
  const int64_t count = tensor.numel();
  for (int64_t i = 0; i < count; ++i) {
    int64_t rest = i, at = 0;
    for (size_t d = tensor.rank(); d-- > 0;) {
      at += rest % tensor.shape[d] * tensor.strides[d];
      rest /= tensor.shape[d];
    }
    if (data[at] & 0x7fff) return false;
  }
  return true;
}

void copy_rows(const aclTensor &from, void *to) {
  const auto *source = static_cast<const uint16_t *>(from.view_data());
  auto *target = static_cast<uint16_t *>(to);
  const int64_t columns = from.shape[1];
  parallel_for(from.shape[0], 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < columns; ++j) target[i * columns + j] = source[i * from.strides[0] + j * from.strides[1]];
    }
  });
}

void copy_to_view(const void *from, const aclTensor &to) {
  const auto *source = static_cast<const uint16_t *>(from);
  auto *target = static_cast<uint16_t *>(to.view_data());
  const int64_t columns = to.shape[1];
  parallel_for(to.shape[0], 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      for (int64_t j = 0; j < columns; ++j) target[i * to.strides[0] + j * to.strides[1]] = source[i * columns + j];
    }
  });
}

void multiply(const void *left, int64_t rows, int64_t depth, const aclTensor &right, const aclTensor &out) {
  Matrix a{left, right.dtype, rows, depth, {}, {}}, b{right.view_data(), right.dtype, depth, right.shape[1], {}, {}};
  a.row.stride = depth;
  a.col.stride = 1;
  b.row.stride = right.strides[0];
  b.col.stride = right.strides[1];
  gemm(a, b, {out.view_data(), out.dtype, out.strides[0], out.strides[1]});
}

}  // namespace emu
