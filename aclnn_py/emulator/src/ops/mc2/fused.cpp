// SPDX-License-Identifier: Apache-2.0
#include "ops/mc2/fused.h"

#include <cinttypes>
#include <string>

#include "core/device.h"
#include "core/refusal.h"
#include "core/statuses.h"
#include "hccl/arguments.h"
#include "hccl/described.h"

namespace emu {
namespace {

using hccl::Chip;

constexpr uint64_t sizes(std::initializer_list<int> counts) {
  uint64_t set = 0;
  for (const int count : counts) set |= uint64_t{1} << (count - 1);
  return set;
}

// Bit N - 1: the kernels exist for N ranks. None: the chip does not have the operators.
uint64_t world_sizes(Ranks ranks, Chip chip) {
  const bool sliced = ranks == Ranks::sliced;
  switch (chip) {
    case Chip::a2: return sliced ? sizes({2, 4, 8}) : sizes({1, 2, 4, 8});
    case Chip::a3: return sliced ? sizes({2, 4, 8, 16, 32}) : 0;
    case Chip::a5: return sliced ? sizes({2, 4, 8, 16, 32, 64}) : sizes({1, 2, 4, 8, 16, 32, 64});
    case Chip::p310: return sliced ? 0 : sizes({1, 2, 4});
    default: return 0;
  }
}

std::string list_of(uint64_t set) {
  std::string text;
  for (int count = 1; count <= 64; ++count) {
    if ((set >> (count - 1) & 1) == 0) continue;
    const bool last = count == 64 || set >> count == 0;
    text += (text.empty() ? "" : last ? " or " : ", ") + std::to_string(count);
  }
  return text;
}

}  // namespace

void check_plain(Check &check, const char *parameter, const aclTensor *tensor) {
  check.that(!tensor || is_plain_format(tensor->format),
             "%s has the format %s; only ND is supported", parameter,
             tensor ? format_name(tensor->format) : "");
}

void check_not_empty(Check &check, const char *parameter, const aclTensor *tensor) {
  check.that(!tensor || tensor->numel() > 0, "%s of shape %s has no elements", parameter,
             tensor ? shape_text(layout_of(*tensor)).c_str() : "");
}

void check_comm_turn(Check &check, int64_t given) {
  check.that(given == 0, "commTurn is %" PRId64 "; only 0 is supported", given);
}

Status find_group(const char *op, const char *group,
                  std::shared_ptr<hccl::Communicator> *communicator, const char *parameter) {
  if (!group)
    return fail_about("null", parameter, kTiling,
                      "%s: %s is null; it is the name HcclGetCommName gives.", op, parameter);
  if ((*communicator = hccl::find_described(group))) return 0;
  int device = 0;
  if (const Status s = current_device(op, &device)) return s;
  *communicator = hccl::find_communicator(device, group);
  if (*communicator) return 0;
  return fail_about(
      "value", parameter, kRuntimeError,
      "%s: device %d has no communicator named \"%.127s\"; the name comes from HcclGetCommName.",
      op, device, group);
}

Status check_world_size(const char *op, Ranks ranks, hccl::Communicator &communicator) {
  const uint64_t allowed = world_sizes(ranks, hccl::chip());
  Check check = tiling_check(op);
  check.that(allowed != 0, "the operator does not exist on %s", hccl::chip_text());
  const uint32_t count = communicator.size();
  check.that(count <= 64 && (allowed >> (count - 1) & 1) != 0,
             "the communicator %s has %u ranks; on %s it must have %s", communicator.name().c_str(),
             count, hccl::chip_text(), list_of(allowed).c_str());
  return check.status();
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
    case ACL_FORMAT_UNDEFINED:
    case ACL_FORMAT_ND:
    case ACL_FORMAT_NCHW:
    case ACL_FORMAT_NHWC:
    case ACL_FORMAT_NCDHW:
    case ACL_FORMAT_NDHWC:
    case ACL_FORMAT_NC:
    case ACL_FORMAT_NCL:
    case ACL_FORMAT_HWCN: return true;
    default: return false;
  }
}

FlatMatrix::FlatMatrix(const aclTensor &tensor) {
  View view = view_of(tensor);
  if (view.layout.rank > 3 && !view.layout.is_dense()) {
    copy_ = std::make_unique<Snapshot>(view);
    view = copy_->view();
  }
  const MatrixStack stack = matrix_stack(view);
  matrix_ = stack.first;
  if (stack.batch.rank == 0) return;
  if (stack.batch.rank == 1 && matrix_.rows > 0 &&
      stack.batch.stride[0] != matrix_.rows * matrix_.row.stride) {
    // row i of the whole is row i mod rows of matrix i div rows
    matrix_.row.block = matrix_.rows;
    matrix_.row.block_stride = stack.batch.stride[0];
  }
  matrix_.rows *= stack.batch.count();
}

}  // namespace emu
