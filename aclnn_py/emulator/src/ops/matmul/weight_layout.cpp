// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Weights in FRACTAL_NZ. Phase one already gives the tensor its new format and storage shape; phase
// two moves the data.
#include "aclnn/host_calls.h"
#include "aclnnop/conversion.h"
#include "core/host_memory.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/copy/blocked_room.h"
#include "ops/matmul/stack.h"

#include <cstring>

namespace emu {
namespace {

int64_t blocks(int64_t extent, int64_t size) { return extent == 0 ? 0 : (extent - 1) / size + 1; }

// The address may have been bound anew since phase one.
Status to_fractal(const aclTensor &tensor, int64_t needed, int device) {
  const View view = view_of(tensor);
  if (view.count() == 0) return 0;
  int owner = -1;
  if (!kernel_may_use(view.data, static_cast<size_t>(needed * item_size(tensor.dtype)), device,
                      &owner)) {
    return fail(
        kKernelFault,
        "aclnnTransMatmulWeight: the %lld elements of the blocked form do not fit at %p (%s).",
        static_cast<long long>(needed), static_cast<const void *>(view.data),
        describe_address(view.data).c_str());
  }
  const Snapshot before(view);
  const MatrixStack from = matrix_stack(before.view()), to = matrix_stack(tensor);
  const int64_t size = item_size(tensor.dtype);
  const int64_t rows = tensor.storage_shape[tensor.storage_shape.size() - 3] * kFractalRows;
  const int64_t cols =
      tensor.storage_shape[tensor.storage_shape.size() - 4] * fractal_columns(tensor.dtype);
  const int64_t matrices = to.batch.count(), step = rows * cols * size;
  parallel_for(matrices, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      char *target = view.data + b * step;
      std::memset(target, 0, static_cast<size_t>(step));
      const char *source =
          static_cast<const char *>(from.first.data) + b * from.first.rows * from.first.cols * size;
      for (int64_t i = 0; i < from.first.rows; ++i) {
        for (int64_t j = 0; j < from.first.cols; ++j) {
          std::memcpy(target + (to.first.row.at(i) + to.first.col.at(j)) * size, source,
                      static_cast<size_t>(size));
          source += size;
        }
      }
    }
  });
  return 0;
}

Status weight_size(const char *op, const aclIntArray *shape, aclDataType dtype, uint64_t *size) {
  Check check(op);
  check.required("tensorShape", shape);
  if (check.ok() && size == nullptr) return fail(kNullPointer, "%s: weightTensorSize is null", op);
  check.dtype_in("dataType", dtype, dt::kHalf | dtype_set(ACL_INT8));
  if (!check.ok()) return check.status();
  const auto &dims = shape->values;
  check.that(dims.size() >= 2 && dims.size() <= 6,
             "tensorShape has %zu dimensions; allowed: 2 to 6", dims.size());
  for (size_t d = 0; d < dims.size(); ++d) {
    check.that(dims[d] > 0, "tensorShape[%zu] is %lld; it must be positive", d,
               static_cast<long long>(dims[d]));
  }
  if (!check.ok()) return check.status();
  const Checked tall = blocks(dims[dims.size() - 2], kFractalRows),
                wide = blocks(dims.back(), fractal_columns(dtype));
  Checked elements = tall * kFractalRows * wide * fractal_columns(dtype);
  for (size_t d = 0; d + 2 < dims.size(); ++d) elements *= dims[d];
  const int64_t total = check.size("tensorShape", elements);
  if (!check.ok()) return check.status();
  *size = static_cast<uint64_t>(total);
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(TransMatmulWeight, (aclTensor *mmWeightRef)) {
  emu::Check check("aclnnTransMatmulWeight");
  check.required("mmWeightRef", mmWeightRef);
  check.dtype("mmWeightRef", mmWeightRef);
  if (check.ok()) {
    check.that(mmWeightRef->format == ACL_FORMAT_ND, "mmWeightRef has format %s; allowed: ND",
               emu::format_name(mmWeightRef->format));
  }
  check.rank("mmWeightRef", mmWeightRef, 2, 6);
  if (!check.ok()) return check.status();
  aclTensor weight = *mmWeightRef;
  int64_t needed = 0;
  if (weight.numel() > 0) {
    const size_t rank = weight.rank();
    const bool transposed = weight.strides[rank - 2] == 1 &&
                            weight.strides[rank - 1] == weight.shape[rank - 2] &&
                            weight.shape[rank - 1] > 1 && weight.shape[rank - 2] > 1;
    const int64_t rows = weight.shape[transposed ? rank - 1 : rank - 2];
    const int64_t cols = weight.shape[transposed ? rank - 2 : rank - 1];
    const int64_t width = emu::fractal_columns(weight.dtype);
    emu::Dims storage(weight.shape.data(), rank - 2);
    for (const int64_t d : {emu::blocks(cols, width), emu::blocks(rows, emu::kFractalRows),
                            emu::kFractalRows, width}) {
      storage.push_back(d);
    }
    needed = storage.count();
    check.that(emu::has_room(weight, needed),
               "mmWeightRef has a storage of %lld elements from its offset on; in FRACTAL_NZ it "
               "takes %lld. Make the memory as large as aclnnCalculateMatmulWeightSizeV2 says, and "
               "give that number as "
               "storageDims",
               static_cast<long long>(weight.storage_shape.count() - weight.offset),
               static_cast<long long>(needed));
    if (!check.ok()) return check.status();
    weight.storage_shape = storage;
  }
  weight.format = ACL_FORMAT_FRACTAL_NZ;
  emu::PlanBuilder plan("aclnnTransMatmulWeight");
  const size_t index = plan.output(&weight);
  const emu::Status status = plan.finish(
      [index, needed](emu::PlanContext &c) {
        return emu::to_fractal(c.tensor(index), needed, c.device());
      },
      workspaceSize, executor);
  if (status == 0) {
    mmWeightRef->storage_shape = weight.storage_shape;
    mmWeightRef->format = weight.format;
  }
  return status;
}
EMU_CATCH

// In elements, not bytes. The form without a dtype counts as for float16.
EMU_EXPORT aclnnStatus aclnnCalculateMatmulWeightSize(const aclIntArray *tensorShape,
                                                      uint64_t *weightTensorSize) try {
  return emu::weight_size("aclnnCalculateMatmulWeightSize", tensorShape, ACL_FLOAT16,
                          weightTensorSize);
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclnnCalculateMatmulWeightSizeV2(const aclIntArray *tensorShape,
                                                        aclDataType dataType,
                                                        uint64_t *weightTensorSize) try {
  return emu::weight_size("aclnnCalculateMatmulWeightSizeV2", tensorShape, dataType,
                          weightTensorSize);
}
EMU_CATCH
