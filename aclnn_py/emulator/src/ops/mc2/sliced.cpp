// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/mc2/sliced.h"

#include <cinttypes>

#include "acl/acl_rt.h"
#include "core/statuses.h"

namespace emu {
namespace {

constexpr int64_t kLowestK = 256, kEndK = 65535;

bool all_zero(const aclTensor &tensor) {
  const View view = view_of(tensor);
  const Reader reader(view, ACL_FLOAT);
  alignas(64) float scratch[kBlock];
  for (int64_t at = 0; at < view.count(); at += kBlock) {
    const int64_t count = view.count() - at < kBlock ? view.count() - at : kBlock;
    const auto *values = static_cast<const float *>(reader.read(at, count, scratch));
    for (int64_t i = 0; i < count; ++i) {
      if (values[i] != 0) return false;
    }
  }
  return true;
}

}  // namespace

void check_sliced_arguments(Check &check, const SlicedCall &c, const aclTensor *gathered) {
  check.required("x1", c.x1).required("x2", c.x2).required("output", c.output);
  check.optional("bias", c.bias).optional("gatherOut", gathered);
  if (!check.ok()) return;
  check.dtype_in("x1", c.x1->dtype, dt::kHalf).dtype_in("x2", c.x2->dtype, dt::kHalf);
  check.dtype_in("output", c.output->dtype, dt::kHalf);
  if (c.bias) check.dtype_in("bias", c.bias->dtype, dt::kHalf);
  if (gathered) check.dtype_in("gatherOut", gathered->dtype, dt::kHalf);
  check.same_dtype("x2", c.x2->dtype, "x1", c.x1->dtype)
      .same_dtype("output", c.output->dtype, "x1", c.x1->dtype);
  if (c.bias) check.same_dtype("bias", c.bias->dtype, "x1", c.x1->dtype);
  check.that(c.stream_mode == 1, "streamMode is %" PRId64 "; only 1 (stop on failure) is allowed",
             c.stream_mode);
  check.that(c.x1->rank() < 2 || c.x1->shape[1] != 0, "x1 has no columns: dimension 1 (k) is 0");
}

void check_sliced_shapes(Check &check, const SlicedCall &c, const aclTensor *gathered) {
  check.rank("x1", c.x1, 2, 2).rank("x2", c.x2, 2, 2);
  if (!check.ok()) return;
  check.that(!is_transposed_view(*c.x1), "x1 is a transposed view; only x2 may be one");
  const int64_t k = c.x1->shape[1];
  check.that(c.x2->shape[0] == k, "x1 has %" PRId64 " columns, but x2 has %" PRId64 " rows", k,
             c.x2->shape[0]);
  if (gathered && gathered->numel() > 0) {
    check.that(gathered->rank() == 2 && gathered->shape[1] == k,
               "gatherOut must have %" PRId64 " columns like x1, or be empty", k);
  }
  check.that(k >= kLowestK && k < kEndK,
             "x1 has %" PRId64 " columns (k); k must be in [256, 65535)", k);
  check.that(c.output->rank() == 2 && c.output->shape[1] == c.x2->shape[1],
             "output must have %" PRId64 " columns like x2", c.x2->shape[1]);
}

Status check_sliced_tiling(const SlicedCall &c, const aclTensor *gathered, int64_t comm_turn,
                           hccl::Communicator &communicator) {
  Check check = tiling_check(c.op);
  check_comm_turn(check, comm_turn);
  check_plain(check, "x1", c.x1);
  check_plain(check, "x2", c.x2);
  check_plain(check, "output", c.output);
  check_plain(check, "gatherOut", gathered);
  return check.ok() ? check_world_size(c.op, Ranks::sliced, communicator) : check.status();
}

Status refuse_bias(hccl::Communicator &communicator, const char *op, const aclTensor &bias) {
  if (all_zero(bias)) return 0;
  return communicator.abandon(
      "EZ9999", kKernelFault,
      "%s: bias has elements that are not zero; the operator does not add one", op);
}

}  // namespace emu
