// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/mc2/partial.h"

#include <algorithm>
#include <cstdlib>
#include <cstring>

#include "core/statuses.h"
#include "hccl/hccl_types.h"
#include "ops/dtype.h"
#include "ops/mc2/fused.h"

namespace emu {
namespace {

constexpr int64_t kPiece = 256;

bool present(const Matrix &matrix) { return matrix.data != nullptr; }

class Finish final : public RowSink<float>, public RowSink<int32_t> {
 public:
  explicit Finish(const Contribution &c)
      : c_(c), columns_(c.right.cols), plain_(!present(c.bias) && !present(c.x3)) {}

  void accept(int64_t row, int64_t col, int64_t count, const float *sums) const override {
    if (plain_) return store(row, col, count, sums);
    for (int64_t done = 0; done < count; done += kPiece) {
      const int64_t n = std::min(kPiece, count - done), j = col + done;
      float values[kPiece];
      std::memcpy(values, sums + done, static_cast<size_t>(n) * sizeof(float));
      if (present(c_.bias)) add(c_.bias, 0, j, n, values);
      finish(row, j, n, values);
    }
  }

  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override {
    const Dequantisation &d = c_.dequantisation;
    const bool integer_bias = present(c_.bias) && c_.bias.dtype == ACL_INT32;
    const auto *bias = integer_bias ? static_cast<const uint32_t *>(c_.bias.data) : nullptr;
    const bool per_column = d.scale.size() > 1;
    for (int64_t done = 0; done < count; done += kPiece) {
      const int64_t n = std::min(kPiece, count - done), j = col + done;
      float values[kPiece];
      for (int64_t i = 0; i < n; ++i) {
        // sums of 32 bits wrap around
        const uint32_t shift = bias ? bias[c_.bias.col.at(j + i)] : 0;
        values[i] =
            static_cast<float>(static_cast<int32_t>(static_cast<uint32_t>(sums[done + i]) + shift));
      }
      for (int64_t i = 0; i < n; ++i)
        values[i] *= d.scale[per_column ? static_cast<size_t>(j + i) : 0];
      if (!d.pertoken.empty()) {
        for (int64_t i = 0; i < n; ++i) values[i] *= d.pertoken[static_cast<size_t>(row)];
      }
      if (present(c_.bias) && !integer_bias) add(c_.bias, 0, j, n, values);
      finish(row, j, n, values);
    }
  }

 private:
  static void add(const Matrix &term, int64_t row, int64_t col, int64_t count, float *values) {
    float terms[kPiece];
    load_f32(term.data, term.dtype, term.row.at(row) + term.col.at(col), term.col.stride, count,
             terms);
    for (int64_t i = 0; i < count; ++i) values[i] += terms[i];
  }

  void store(int64_t row, int64_t col, int64_t count, const float *values) const {
    store_f32(values, c_.rows, c_.dtype, row * columns_ + col, 1, count);
  }

  void finish(int64_t row, int64_t col, int64_t count, float *values) const {
    store(row, col, count, values);
    if (!present(c_.x3)) return;
    load_f32(c_.rows, c_.dtype, row * columns_ + col, 1, count, values);  // rounded
    add(c_.x3, row, col, count, values);
    store(row, col, count, values);
  }

  const Contribution &c_;
  const int64_t columns_;
  const bool plain_;
};

}  // namespace

void contribute(const Contribution &contribution) {
  const Finish finish(contribution);
  if (contribution.dequantisation.scale.empty()) {
    gemm_f32(contribution.left, contribution.right, finish);
  } else {
    gemm_i32(contribution.left, contribution.right, finish);
  }
}

Status travelling_dtype(const char *op, aclDataType output, aclDataType *travelling) {
  const char *choice = std::getenv("ACLNN_PY_REDUCE");
  *travelling = output;
  if (!choice || !*choice || std::strcmp(choice, "dtype") == 0) return 0;
  if (std::strcmp(choice, "fp32") != 0) {
    return fail(
        kInner,
        "%s: ACLNN_PY_REDUCE is \"%.40s\"; it can be fp32 (one rounding, at the end) or dtype.", op,
        choice);
  }
  *travelling = ACL_FLOAT;
  return 0;
}

hccl::ReduceType sum_of(aclDataType dtype) {
  const HcclDataType type = dtype == ACL_FLOAT  ? HCCL_DATA_TYPE_FP32
                            : dtype == ACL_BF16 ? HCCL_DATA_TYPE_BFP16
                                                : HCCL_DATA_TYPE_FP16;
  return hccl::reduce_type(type, HCCL_REDUCE_SUM);
}

}  // namespace emu
