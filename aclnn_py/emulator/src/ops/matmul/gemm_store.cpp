// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// From accumulators to stored elements: alpha, beta, bias and the one rounding.
#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/convert.h"
#include "ops/dtype.h"
#include "ops/matmul/gemm_ready.h"

namespace emu {
namespace {

constexpr int64_t piece = 256;  // elements handled at a time, on the stack

template <class T>
void gather(const void *source, int64_t first, int64_t stride, int64_t count, float *out) {
  const T *from = static_cast<const T *>(source) + first;
  for (int64_t i = 0; i < count; ++i) out[i] = static_cast<float>(from[i * stride]);
}

template <class T>
void scatter(const float *values, void *target, int64_t first, int64_t stride, int64_t count) {
  T *to = static_cast<T *>(target) + first;
  for (int64_t i = 0; i < count; ++i) to[i * stride] = static_cast<T>(values[i]);
}

using Widen = void (*)(const uint16_t *, float *, int64_t);
using Narrow = void (*)(const float *, uint16_t *, int64_t);

void load_16(Widen widen, const void *source, int64_t first, int64_t stride, int64_t count,
             float *out) {
  const uint16_t *from = static_cast<const uint16_t *>(source) + first;
  if (stride == 1) return widen(from, out, count);
  uint16_t near[piece];
  for (int64_t done = 0; done < count; done += piece) {
    const int64_t n = std::min(piece, count - done);
    for (int64_t i = 0; i < n; ++i) near[i] = from[(done + i) * stride];
    widen(near, out + done, n);
  }
}

void store_16(Narrow narrow, const float *values, void *target, int64_t first, int64_t stride,
              int64_t count) {
  uint16_t *to = static_cast<uint16_t *>(target) + first;
  if (stride == 1) return narrow(values, to, count);
  uint16_t near[piece];
  for (int64_t done = 0; done < count; done += piece) {
    const int64_t n = std::min(piece, count - done);
    narrow(values + done, near, n);
    for (int64_t i = 0; i < n; ++i) to[(done + i) * stride] = near[i];
  }
}

bool present(const Matrix &m) { return m.data != nullptr; }

class FloatStore final : public RowSink<float> {
 public:
  FloatStore(const MatrixOut &out, const GemmEpilogue &e)
      : out_(out), e_(e), plain_(e.alpha == 1.0 && !present(e.addend) && !present(e.bias)) {}

  void accept(int64_t row, int64_t col, int64_t count, const float *values) const override {
    await(row + ahead, col, count);
    if (plain_)
      return store_f32(values, out_.data, out_.dtype, row * out_.row_stride + col * out_.col_stride,
                       out_.col_stride, count);
    float result[piece], term[piece];
    const float alpha = static_cast<float>(e_.alpha), beta = static_cast<float>(e_.beta);
    for (int64_t done = 0; done < count; done += piece) {
      const int64_t n = std::min(piece, count - done), j = col + done;
      const float *sum = values + done;
      if (alpha != 1.0f) {
        for (int64_t i = 0; i < n; ++i) result[i] = alpha * sum[i];
        sum = result;
      }
      if (present(e_.addend)) {
        load_f32(e_.addend.data, e_.addend.dtype, e_.addend.row.at(row) + e_.addend.col.at(j),
                 e_.addend.col.stride, n, term);
        for (int64_t i = 0; i < n; ++i) result[i] = sum[i] + beta * term[i];
        sum = result;
      }
      if (present(e_.bias)) {
        load_f32(e_.bias.data, e_.bias.dtype, e_.bias.col.at(j), e_.bias.col.stride, n, term);
        gemm_kernels().add(sum, term, result, n);
        sum = result;
      }
      store_f32(sum, out_.data, out_.dtype, row * out_.row_stride + j * out_.col_stride,
                out_.col_stride, n);
    }
  }

 private:
  // Rows are mostly handed over one after the other. Those that follow are on their way to the
  // cache, or every store would wait.
  void await(int64_t row, int64_t col, int64_t count) const {
    if (out_.col_stride != 1) return;
    const int64_t size = item_size(out_.dtype), first = row * out_.row_stride + col;
    const auto from = reinterpret_cast<uintptr_t>(out_.data) + static_cast<uintptr_t>(first * size);
    for (uintptr_t at = 0; at < static_cast<uintptr_t>(count * size); at += 64)
      __builtin_prefetch(reinterpret_cast<const void *>(from + at), 1);
  }

  static constexpr int64_t ahead = 16;
  const MatrixOut &out_;
  const GemmEpilogue &e_;
  const bool plain_;
};

class DoubleStore final : public RowSink<double> {
 public:
  DoubleStore(const MatrixOut &out, const GemmEpilogue &e) : out_(out), e_(e) {}

  void accept(int64_t row, int64_t col, int64_t count, const double *values) const override {
    double *to = static_cast<double *>(out_.data) + row * out_.row_stride;
    const double *addend = static_cast<const double *>(e_.addend.data),
                 *bias = static_cast<const double *>(e_.bias.data);
    for (int64_t i = 0; i < count; ++i) {
      double value = e_.alpha * values[i];
      if (addend) value += e_.beta * addend[e_.addend.row.at(row) + e_.addend.col.at(col + i)];
      if (bias) value += bias[e_.bias.col.at(col + i)];
      to[(col + i) * out_.col_stride] = value;
    }
  }

 private:
  const MatrixOut &out_;
  const GemmEpilogue &e_;
};

// Exact while it is an integer: an int32 bias is added before anything is converted to float32.
class IntegerStore final : public RowSink<int32_t> {
 public:
  IntegerStore(const MatrixOut &out, const GemmEpilogue &e)
      : out_(out), e_(e), floats_(out, rest(e)) {}

  void accept(int64_t row, int64_t col, int64_t count, const int32_t *values) const override {
    int32_t sums[piece];
    for (int64_t done = 0; done < count; done += piece) {
      const int64_t n = std::min(piece, count - done), j = col + done;
      std::memcpy(sums, values + done, static_cast<size_t>(n) * sizeof(int32_t));
      if (integer_bias(e_)) {
        const uint32_t *bias = static_cast<const uint32_t *>(e_.bias.data);
        for (int64_t i = 0; i < n; ++i)
          sums[i] =
              static_cast<int32_t>(static_cast<uint32_t>(sums[i]) + bias[e_.bias.col.at(j + i)]);
      }
      if (out_.dtype == ACL_INT32) {
        int32_t *to = static_cast<int32_t *>(out_.data) + row * out_.row_stride;
        for (int64_t i = 0; i < n; ++i) to[(j + i) * out_.col_stride] = sums[i];
      } else {
        float converted[piece];
        for (int64_t i = 0; i < n; ++i) converted[i] = static_cast<float>(sums[i]);
        floats_.accept(row, j, n, converted);
      }
    }
  }

 private:
  static bool integer_bias(const GemmEpilogue &e) {
    return present(e.bias) && e.bias.dtype == ACL_INT32;
  }
  const GemmEpilogue &rest(const GemmEpilogue &e) {
    rest_ = e;
    if (integer_bias(e)) rest_.bias = {};
    return rest_;
  }

  const MatrixOut &out_;
  const GemmEpilogue &e_;
  GemmEpilogue rest_;
  FloatStore floats_;
};

}  // namespace

bool gemm_is_float(aclDataType dtype) {
  return dtype == ACL_FLOAT || dtype == ACL_FLOAT16 || dtype == ACL_BF16;
}
bool gemm_is_int8(aclDataType dtype) { return dtype == ACL_INT8 || dtype == ACL_UINT8; }

void load_f32(const void *source, aclDataType dtype, int64_t first, int64_t stride, int64_t count,
              float *out) {
  switch (dtype) {
    case ACL_FLOAT16: return load_16(gemm_kernels().from_f16, source, first, stride, count, out);
    case ACL_BF16: return load_16(gemm_kernels().from_bfloat16, source, first, stride, count, out);
    case ACL_INT8: return gather<int8_t>(source, first, stride, count, out);
    case ACL_UINT8: return gather<uint8_t>(source, first, stride, count, out);
    case ACL_INT32: return gather<int32_t>(source, first, stride, count, out);
    case ACL_DOUBLE: return gather<double>(source, first, stride, count, out);
    case ACL_FLOAT8_E4M3FN:
    case ACL_FLOAT8_E5M2:
      return load_as(dtype, static_cast<const char *>(source) + first, stride, count, ACL_FLOAT,
                     out);
    default: return gather<float>(source, first, stride, count, out);
  }
}

void store_f32(const float *values, void *target, aclDataType dtype, int64_t first, int64_t stride,
               int64_t count) {
  switch (dtype) {
    case ACL_FLOAT16: return store_16(gemm_kernels().to_f16, values, target, first, stride, count);
    case ACL_BF16:
      return store_16(gemm_kernels().to_bfloat16, values, target, first, stride, count);
    case ACL_DOUBLE: return scatter<double>(values, target, first, stride, count);
    default:
      if (stride == 1) {
        std::copy_n(values, count, static_cast<float *>(target) + first);
        return;
      }
      return scatter<float>(values, target, first, stride, count);
  }
}

void gemm(const Matrix &a, const Matrix &b, const MatrixOut &out, const GemmEpilogue &epilogue) {
  if (a.dtype == ACL_DOUBLE) {
    gemm_f64(a, b, DoubleStore(out, epilogue));
  } else if (gemm_is_int8(a.dtype)) {
    gemm_i32(a, b, IntegerStore(out, epilogue));
  } else {
    gemm_f32(a, b, FloatStore(out, epilogue));
  }
}
void gemm(const Matrix &a, const ReadyColumns &b, const MatrixOut &out,
          const GemmEpilogue &epilogue) {
  gemm_f32(a, b, FloatStore(out, epilogue));
}

}  // namespace emu
