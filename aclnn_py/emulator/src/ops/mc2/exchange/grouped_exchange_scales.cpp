// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/mc2/exchange/grouped_exchange_scales.h"

#include <cinttypes>

#include "core/pool.h"
#include "ops/convert.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/mc2/operand.h"
#include "ops/shared/low_codes.h"

namespace emu {
namespace {

constexpr int64_t kPowersGroupSize = 4295032864;  // 1, 1 and 32 values along m, n and k
constexpr DtypeSet kFour = dtype_set(ACL_FLOAT4_E2M1), kHi = dtype_set(ACL_HIFLOAT8);

// What goes with the mode, and beside a row dtype.
DtypeSet left_dtypes(const OperandScales &s) { return s.powers() ? dt::kFloat8 | kFour : kHi; }
DtypeSet right_dtypes(const OperandScales &s, aclDataType x) {
  if (!s.powers()) return kHi;
  return contains(kFour, x) ? kFour : dt::kFloat8;
}

void check_modes(Check &check, const GroupedExchangeCall &a) {
  const OperandScales &s = *a.scales;
  const auto check_mode = [&](const char *name, int64_t mode) {
    check.that(mode == OperandScales::kTensorMode || mode == OperandScales::kPowersMode,
               "%s is %" PRId64 "; allowed: 1 (one scale for the tensor) and 6 (mx)", name, mode);
    check.that(mode == s.x_mode, "%s is %" PRId64 "; it must be gmmXQuantMode, %" PRId64, name,
               mode, s.x_mode);
  };
  check_mode("gmmXQuantMode", s.x_mode);
  check_mode("gmmWeightQuantMode", s.weight_mode);
  if (a.mm_x) check_mode("mmXQuantMode", s.mm_x_mode);
  if (a.mm_weight) check_mode("mmWeightQuantMode", s.mm_weight_mode);
  const bool sized = a.first_exchanges && s.powers();
  check.that(s.group_size == 0 || (sized && s.group_size == kPowersGroupSize),
             "groupSize is %" PRId64 "; it can be 0%s", s.group_size,
             sized ? " or 4295032864 (1, 1 and 32)" : "");
  check.that(!s.travelling, "commQuantScaleOptional is given; it must be null");
  check.that(s.travelling_mode == 0, "commQuantMode is %" PRId64 "; it must be 0",
             s.travelling_mode);
  check.that(s.travelling_dtype == -1, "commQuantDtypeOptional is %" PRId64 "; it must be -1",
             s.travelling_dtype);
}

// Two values share a byte: rows begin with one.
void check_four_bits(Check &check, const char *name, const aclTensor *tensor, int64_t depth) {
  if (tensor == nullptr || !check.ok() || !contains(kFour, tensor->dtype)) return;
  check.that(depth != 2, "%s has an inner size of 2, which FLOAT4_E2M1 does not support", name);
  const auto last = static_cast<int64_t>(
      is_transposed_view(*tensor) ? tensor->shape[tensor->rank() - 2] : tensor->shape.back());
  check.that(last % 2 == 0,
             "%s has shape %s and dtype FLOAT4_E2M1, two values to a byte; the "
             "dimension whose elements are neighbours must be even",
             name, shape_text(layout_of(*tensor)).c_str());
  check_packed_operand(check, name, tensor);
}

void check_shape(Check &check, const char *name, const aclTensor *scales,
                 std::initializer_list<int64_t> shape) {
  if (check.ok())
    check.shape(name, scales, dense_layout(shape.begin(), static_cast<int>(shape.size())));
}

void check_powers(Check &check, const GroupedExchangeCall &a) {
  const OperandScales &s = *a.scales;
  const int64_t experts = a.weight->shape[0], pairs = scale_pairs(a.x->shape[1]),
                columns = a.weight->shape[a.transposed ? 1 : 2];
  check_shape(check, "gmmXScale", s.x, {a.x->shape[0], pairs, 2});
  if (a.transposed) check_shape(check, "gmmWeightScale", s.weight, {experts, columns, pairs, 2});
  else check_shape(check, "gmmWeightScale", s.weight, {experts, pairs, columns, 2});
  if (a.mm_x == nullptr) return;
  const int64_t mm_pairs = scale_pairs(a.mm_x->shape[1]),
                mm_columns = a.mm_weight->shape[a.mm_transposed ? 0 : 1];
  check_shape(check, "mmXScaleOptional", s.mm_x, {a.mm_x->shape[0], mm_pairs, 2});
  if (a.mm_transposed)
    check_shape(check, "mmWeightScaleOptional", s.mm_weight, {mm_columns, mm_pairs, 2});
  else check_shape(check, "mmWeightScaleOptional", s.mm_weight, {mm_pairs, mm_columns, 2});
}

}  // namespace

int64_t scale_pairs(int64_t depth) { return depth / 64 + (depth % 64 != 0); }

void check_scaled_dtypes(Check &check, const GroupedExchangeCall &a, const char *x_name,
                         const char *y_name) {
  const OperandScales &s = *a.scales;
  check_modes(check, a);
  if (!check.ok()) return;
  const DtypeSet scale = dtype_set(s.powers() ? ACL_FLOAT8_E8M0 : ACL_FLOAT);
  check.dtype_in(x_name, a.x->dtype, left_dtypes(s));
  check.dtype_in("gmmWeight", a.weight->dtype, right_dtypes(s, a.x->dtype));
  check.dtype_in("gmmXScale", s.x->dtype, scale);
  check.dtype_in("gmmWeightScale", s.weight->dtype, scale);
  if (a.mm_x) check.dtype_in("mmXOptional", a.mm_x->dtype, left_dtypes(s));
  if (a.mm_weight)
    check.dtype_in("mmWeightOptional", a.mm_weight->dtype,
                   right_dtypes(s, a.mm_x ? a.mm_x->dtype : a.x->dtype));
  if (s.mm_x) check.dtype_in("mmXScaleOptional", s.mm_x->dtype, scale);
  if (s.mm_weight) check.dtype_in("mmWeightScaleOptional", s.mm_weight->dtype, scale);
  check.dtype_in(y_name, a.y->dtype, dt::kHalf);
  if (a.mm_y) check.same_dtype("mmYOptional", a.mm_y->dtype, y_name, a.y->dtype);
  if (a.keeps && a.permuted)
    check.same_dtype("permuteOutOptional", a.permuted->dtype, x_name, a.x->dtype);
}

void check_scales(Check &check, const GroupedExchangeCall &a) {
  const OperandScales &s = *a.scales;
  const bool shared = a.mm_x != nullptr;
  check.that((s.mm_x != nullptr) == shared && (s.mm_weight != nullptr) == shared,
             "mmXScaleOptional and mmWeightScaleOptional must be given together with mmXOptional");
  if (!check.ok()) return;
  check_float4(check, "gmmX", a.x);
  check_four_bits(check, "gmmX", a.x, a.x->shape[1]);
  check_four_bits(check, "gmmWeight", a.weight, a.x->shape[1]);
  if (a.keeps) check_float4(check, "permuteOutOptional", a.permuted);
  if (shared) {
    check_float4(check, "mmXOptional", a.mm_x);
    check_four_bits(check, "mmXOptional", a.mm_x, a.mm_x->shape[1]);
    check_four_bits(check, "mmWeightOptional", a.mm_weight, a.mm_x->shape[1]);
  }
  if (s.powers()) return check_powers(check, a);
  check_shape(check, "gmmXScale", s.x, {1});
  check_shape(check, "gmmWeightScale", s.weight, {1});
  if (!shared) return;
  check_shape(check, "mmXScaleOptional", s.mm_x, {1});
  check_shape(check, "mmWeightScaleOptional", s.mm_weight, {1});
}

// Powers by the place of a value: those of the inner axis (32 values for each) and of the other
// dimension, with strides in elements.
struct ScaledMatrix::Powers {
  const uint8_t *codes = nullptr;
  int64_t pair = 0, other = 0, one = 1;
  bool inner_rows = false;  // the inner axis is that of the rows
};

void ScaledMatrix::read(const aclTensor &values, const aclTensor &scale, const Powers &powers) {
  matrix_ = as_float(values, values_);
  whole_ = scale.dtype == ACL_FLOAT;
  if (whole_) {
    scale_ = float_scales(scale)[0];
    return;
  }
  const int64_t cols = matrix_.cols;
  parallel_for(matrix_.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float *row = values_.data() + i * cols;
      for (int64_t j = 0; j < cols; ++j) {
        const int64_t k = powers.inner_rows ? i : j, other = powers.inner_rows ? j : i;
        const int64_t at = k / 64 * powers.pair + other * powers.other + k / 32 % 2 * powers.one;
        row[j] *= e8m0_to_float(powers.codes[at]);
      }
    }
  });
}

ScaledMatrix::ScaledMatrix(const char *rows, aclDataType dtype, int64_t count, int64_t depth,
                           const aclTensor &scale, const char *powers) {
  const int64_t shape[] = {count, depth};
  aclTensor values;
  values.dtype = dtype;
  values.data = const_cast<char *>(rows);
  values.shape = values.storage_shape = Dims(shape, 2);
  values.strides = contiguous_strides(values.shape);
  Powers lie;
  lie.codes = reinterpret_cast<const uint8_t *>(powers);
  lie.pair = 2;
  lie.other = 2 * scale_pairs(depth);
  read(values, scale, lie);
}

ScaledMatrix::ScaledMatrix(const aclTensor &rows, const aclTensor &scale) {
  Powers lie;
  if (scale.dtype != ACL_FLOAT) {
    const View view = view_of(scale);
    lie.codes = reinterpret_cast<const uint8_t *>(view.data);
    lie.other = view.layout.stride[0];
    lie.pair = view.layout.stride[1];
    lie.one = view.layout.stride[2];
  }
  read(rows, scale, lie);
}

ScaledMatrix::ScaledMatrix(const aclTensor &weight, bool transposed, const aclTensor &scale,
                           int64_t expert) {
  aclTensor values = weight;
  if (weight.rank() == 3) {
    values.shape.assign(weight.shape.data() + 1, 2);
    values.strides.assign(weight.strides.data() + 1, 2);
    values.offset += expert * weight.strides[0];
  }
  Powers lie;
  lie.inner_rows = !transposed;
  if (scale.dtype != ACL_FLOAT) {
    // The last three dimensions are pairs, columns and 2, or the first two of these exchanged.
    const View view = view_of(scale);
    const Layout &layout = view.layout;
    const int last = layout.rank - 1;
    lie.codes = reinterpret_cast<const uint8_t *>(view.data) +
                (layout.rank == 4 ? expert * layout.stride[0] : 0);
    lie.pair = layout.stride[transposed ? last - 1 : last - 2];
    lie.other = layout.stride[transposed ? last - 2 : last - 1];
    lie.one = layout.stride[last];
  }
  read(values, scale, lie);
  if (transposed) matrix_ = matrix_.transposed();
}

void multiply_scaled(const ScaledMatrix &left, const ScaledMatrix &right, aclDataType dtype,
                     char *out) {
  if (!left.whole()) {
    Contribution mine;
    mine.left = left.matrix();
    mine.right = right.matrix();
    mine.rows = out;
    mine.dtype = dtype;
    return contribute(mine);
  }
  FloatProduct product;
  product.x = left.matrix();
  product.w = right.matrix();
  const float row = left.scale(), column = right.scale();
  product.left = &row;
  product.right = &column;
  std::vector<float> sums(static_cast<size_t>(product.x.rows * product.w.cols));
  multiply(product, sums.data());
  store_f32(sums.data(), out, dtype, 0, 1, static_cast<int64_t>(sums.size()));
}

}  // namespace emu
