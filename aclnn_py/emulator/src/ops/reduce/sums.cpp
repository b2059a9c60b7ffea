// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// Sums, means and products. Floats accumulate in float64 and round once; integers wrap.
#include "aclnnop/math.h"
#include "ops/reduce/forms.h"

namespace emu {

EMU_FOLD(Sum, T{}, plus(a, x), plus(a, b), a)
EMU_FOLD(NanSum, T{}, is_nan(x) ? a : plus(a, x), plus(a, b), a)
EMU_FOLD(Mean, T{}, plus(a, x), plus(a, b), divide_any(a, static_cast<T>(static_cast<double>(n))))
EMU_FOLD(LogSum, T{}, plus(a, x), plus(a, b), std::log(a))
template <>
inline constexpr FoldKernel fold_kernel<SumFold> = FoldKernel::kSum;
template <>
inline constexpr FoldKernel fold_kernel<MeanFold> = FoldKernel::kSum;
template <>
inline constexpr FoldKernel fold_kernel<LogSumFold> = FoldKernel::kSum;

EMU_FOLD(Prod, T{1}, times(a, x), times(a, b), a)
template <>
inline constexpr FoldKernel fold_kernel<ProdFold> = FoldKernel::kProduct;

EMU_REDUCE_DTYPE(ReduceSum, Sum, kKeep, types::kWideNumber)
EMU_REDUCE_DTYPE(ReduceNansum, NanSum, kKeep, types::kWideReal)
EMU_REDUCE_DTYPE(Mean, Mean, kKeep, types::kWideNumber)
EMU_REDUCE_DIMS_NOOP(MeanV2, Mean, kKeep, types::kWideNumber)
EMU_REDUCE_DIMS_NOOP(ReduceLogSum, LogSum, kExact, types::bit(Compute::F64))
EMU_REDUCE(Prod, Prod, kKeep, types::kWideNumber,
           (const aclTensor *self, aclDataType dtype, aclTensor *out), reduce_all, self, out, dtype)
EMU_REDUCE(ProdDim, Prod, kKeep, types::kWideNumber,
           (const aclTensor *self, int64_t dim, bool keepDim, aclDataType dtype, aclTensor *out),
           reduce_dim, self, dim, keepDim, dtype, out)

}  // namespace emu
