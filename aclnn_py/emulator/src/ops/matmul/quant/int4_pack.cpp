// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// Weights of 4 bits as products take them: numbers that lie one to an INT32 become two to a byte,
// plain or in FRACTAL_NZ. On chips of the 950 series values of FLOAT become FLOAT4_E2M1 in the same
// way.
#include <cinttypes>
#include <cstring>

#include "aclnnop/matmul.h"
#include "core/pool.h"
#include "ops/matmul/quant/operand.h"
#include "ops/matmul/quant/product.h"
#include "ops/shared/low_bits.h"

namespace emu {
namespace {

Status check_packing(const char *op, const aclTensor *weight, const aclTensor *packed) {
  Check check(op);
  check.required("weight", weight).required("weightInt4Pack", packed);
  check.dtype("weight", weight).dtype("weightInt4Pack", packed);
  if (!check.ok()) return check.status();
  check.dtype_in("weightInt4Pack", packed->dtype,
                 weight->dtype == ACL_FLOAT ? dtype_set(ACL_FLOAT4_E2M1, ACL_FLOAT)
                                            : dtype_set(ACL_INT4, ACL_INT32));
  if (!check.ok()) return check.status();
  check.that(!is_fractal(*weight), "weight has the format FRACTAL_NZ; allowed: ND");
  check.rank("weight", weight, 2, 3);
  check.that(weight->numel() > 0, "weight has shape %s; it has no element",
             shape_text(layout_of(*weight)).c_str());
  if (!check.ok()) return check.status();
  const bool words = dtype_bits(packed->dtype) == 32;
  const int64_t unit = words ? 8 : 2, cols = weight->shape.back();
  check.that(cols % unit == 0,
             "weight has %" PRId64 " columns; for %s they are a multiple of %" PRId64, cols,
             dtype_name(packed->dtype), unit);
  Layout expected = layout_of(*weight);
  if (words) expected.shape[expected.rank - 1] = cols / 8;
  check.shape("weightInt4Pack", packed, expected);
  check.that(packed->contiguous() && packed->offset == 0,
             "weightInt4Pack is a view with gaps or an offset; it must be dense");
  return check.status();
}

void pack(const aclTensor &weight, const aclTensor &packed) {
  // Whether or not the two share memory, nothing is overwritten before it is read.
  const Snapshot source(view_of(weight));
  const MatrixStack from = matrix_stack(source.view()), to = matrix_stack(packed);
  const bool words = dtype_bits(packed.dtype) == 32, floats = weight.dtype == ACL_FLOAT;
  const int64_t per_element = words ? 8 : 1, rows = from.first.rows, cols = from.first.cols;
  auto *bytes = static_cast<unsigned char *>(packed.data);
  int64_t low = 0, high = 0;
  if (packed.reach(&low, &high)) std::memset(bytes + low, 0, static_cast<size_t>(high - low));
  const auto *numbers = static_cast<const int32_t *>(from.first.data);
  const auto *values = static_cast<const float *>(from.first.data);
  parallel_for(from.batch.count() * rows, std::max<int64_t>(1, 4096 / cols),
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin; r < end; ++r) {
                   const int64_t matrix = to.batch.rank ? r / rows * to.batch.stride[0] : 0;
                   for (int64_t j = 0; j < cols; ++j) {
                     const int64_t element =
                         matrix + to.first.row.at(r % rows) + to.first.col.at(j / per_element);
                     const int64_t at = element * per_element + j % per_element;
                     const int bits = floats
                                          ? saturated_e2m1<LowRounding::kRint>(values[r * cols + j])
                                          : numbers[r * cols + j] & 15;
                     bytes[at / 2] = static_cast<unsigned char>(bytes[at / 2] | bits << at % 2 * 4);
                   }
                 }
               });
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ConvertWeightToINT4Pack, (const aclTensor *weight, aclTensor *weightInt4Pack)) {
  constexpr const char *op = "aclnnConvertWeightToINT4Pack";
  if (const emu::Status status = emu::check_packing(op, weight, weightInt4Pack)) return status;
  emu::PlanBuilder plan(op);
  const size_t from = plan.input(weight), to = plan.output(weightInt4Pack);
  return plan.finish(
      [=](emu::PlanContext &c) {
        emu::pack(c.tensor(from), c.tensor(to));
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
