// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/gmm/low_bits.h"

#include <algorithm>
#include <cinttypes>

#include "core/pool.h"
#include "ops/four_bits.h"
#include "ops/matmul/stack.h"

namespace emu {
namespace {

constexpr int64_t kPerWord = 8;

// The dimension whose elements are neighbours: that before the last one in a transposed view.
size_t inner_dimension(const aclTensor &t) {
  return t.rank() >= 2 && t.strides[t.rank() - 2] == 1 && t.strides[t.rank() - 1] != 1
             ? t.rank() - 2
             : t.rank() - 1;
}

void spread_words(aclTensor &t) {
  const size_t inner = inner_dimension(t);
  for (size_t d = 0; d < t.rank(); ++d) {
    if (d == inner) continue;
    // Nothing is known of the stride of a stack of one.
    t.strides[d] = d + 2 < t.rank() && t.shape[d] == 1 ? 0 : t.strides[d] * kPerWord;
  }
  t.shape[inner] *= kPerWord;
  t.offset *= kPerWord;
  if (!t.storage_shape.empty()) t.storage_shape[t.storage_shape.size() - 1] *= kPerWord;
  t.dtype = t.dtype == ACL_FLOAT ? ACL_FLOAT4_E2M1 : ACL_INT4;
}

bool packed_matrices(const aclTensor &t) {
  const size_t rank = t.rank(), inner = inner_dimension(t), outer = 2 * rank - 3 - inner;
  if (t.strides[inner] != 1 || t.strides[outer] != t.shape[inner]) return false;
  int64_t step = t.shape[inner] * t.shape[outer];
  for (size_t d = rank - 2; d-- > 0;) {
    if (t.shape[d] != 1 && t.strides[d] != step) return false;
    step *= t.shape[d];
  }
  return true;
}

// `count` numbers of 4 bits from `first` on, one to a byte.
void unpack_run(const void *data, int64_t first, int64_t count, int8_t *to) {
  if (count > 0 && (first & 1) != 0) {
    *to++ = number_of_4_bits(data, first++);
    --count;
  }
  const auto *bytes = static_cast<const uint8_t *>(data) + first / 2;
  for (int64_t i = 0; i < count / 2; ++i) {
    const uint8_t both = bytes[i];
    to[2 * i] = static_cast<int8_t>(static_cast<int8_t>((both & 15) ^ 8) - 8);
    to[2 * i + 1] = static_cast<int8_t>(static_cast<int8_t>(both >> 4 ^ 8) - 8);
  }
  if (count & 1) to[count - 1] = number_of_4_bits(data, first + count - 1);
}

// Sums of one piece of the depth: stored or added, with the scale of their column.
class PieceSums final : public RowSink<int32_t> {
 public:
  float *out;
  int64_t columns;
  const float *scale;
  const int32_t *lift;  // by column; null: none
  bool add;

  void accept(int64_t row, int64_t col, int64_t count, const int32_t *sums) const override {
    float *to = out + row * columns + col;
    for (int64_t i = 0; i < count; ++i) {
      // wraps around
      const auto sum = static_cast<int32_t>(static_cast<uint32_t>(sums[i]) +
                                            static_cast<uint32_t>(lift ? lift[col + i] : 0));
      const float value = static_cast<float>(sum) * scale[col + i];
      to[i] = add ? to[i] + value : value;
    }
  }
};

std::vector<int32_t> column_sums(const Matrix &w, int32_t factor) {
  std::vector<int32_t> sums(static_cast<size_t>(w.cols), 0);
  const auto *data = static_cast<const int8_t *>(w.data);
  const bool dense = w.col.stride == 1 && w.col.block == 0;
  parallel_for(w.cols, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t k = 0; k < w.rows; ++k) {
      const int8_t *row = data + w.row.at(k);
      int32_t *to = sums.data();
      if (dense)
        for (int64_t j = begin; j < end; ++j) to[j] += row[j];
      else
        for (int64_t j = begin; j < end; ++j) to[j] += row[w.col.at(j)];
    }
  });
  for (int32_t &sum : sums) sum *= factor;
  return sums;
}

}  // namespace

aclTensor weight_of(const aclTensor &given, Blocks blocks) {
  aclTensor t = given;
  if (t.dtype == ACL_INT32) spread_words(t);
  const size_t rank = t.rank();
  if (rank >= 4) {
    const int64_t columns = t.shape[rank - 4] * t.shape[rank - 1];
    const int64_t rows = t.shape[rank - 3] * t.shape[rank - 2];
    t.storage_shape = t.shape;
    Dims shape(t.shape.data(), rank - 4);
    shape.push_back(rows);
    shape.push_back(columns);
    t.shape = shape;
    t.strides = contiguous_strides(shape);
    t.format = ACL_FORMAT_FRACTAL_NZ;
  } else if (blocks == Blocks::kAlways) {
    t.format = ACL_FORMAT_FRACTAL_NZ;
  }
  return t;
}

aclTensor weight_numbers(const aclTensor &given, bool exchanged) {
  aclTensor t = given;
  if (t.dtype == ACL_INT32 || t.dtype == ACL_FLOAT) spread_words(t);
  if (exchanged) {
    const size_t rank = t.rank();
    std::swap(t.shape[rank - 2], t.shape[rank - 1]);
    std::swap(t.strides[rank - 2], t.strides[rank - 1]);
  }
  return t;
}

Check &check_weight(Check &check, const char *parameter, const aclTensor &given, size_t rank,
                    Blocks blocks) {
  if (!check.ok()) return check;
  const bool in_blocks = blocks == Blocks::kAlways || is_fractal(given);
  const bool shape_of_blocks = in_blocks && given.rank() == rank + 2;
  check.that(shape_of_blocks || given.rank() == rank, "%s has shape %s; it needs %zu dimensions%s",
             parameter, shape_text(layout_of(given)).c_str(), rank,
             in_blocks ? ", or those of the blocks of FRACTAL_NZ, 2 more" : "");
  check.that(given.numel() > 0, "%s is empty, which is not supported", parameter);
  check.that(given.numel() <= kUncountable / (4 * kPerWord), "%s has too many elements", parameter);
  if (!check.ok()) return check;
  if (shape_of_blocks) {
    const aclDataType dtype = given.dtype == ACL_INT32 ? ACL_INT4 : given.dtype;
    const int64_t width = given.shape[rank + 1] * (given.dtype == ACL_INT32 ? kPerWord : 1);
    check.that(given.shape[rank] == kFractalRows && width == fractal_columns(dtype),
               "%s has shape %s; blocks of FRACTAL_NZ end in %" PRId64 ", %" PRId64, parameter,
               shape_text(layout_of(given)).c_str(), kFractalRows,
               fractal_columns(dtype) / (given.dtype == ACL_INT32 ? kPerWord : 1));
    return check.that(given.contiguous(), "%s has the shape of blocks; then it must be contiguous",
                      parameter);
  }
  check.that((!in_blocks && given.dtype == ACL_INT8) || packed_matrices(given),
             "%s must be contiguous, or a transposed view of a contiguous tensor", parameter);
  if (!check.ok() || !in_blocks) return check;
  const aclTensor weight = weight_of(given, blocks);
  const int64_t k = weight.shape[rank - 2], n = weight.shape[rank - 1];
  int64_t k_unit = kFractalRows, n_unit = fractal_columns(weight.dtype);
  if (fractal_flipped(weight)) std::swap(k_unit, n_unit);
  return check.that(k % k_unit == 0 && n % n_unit == 0,
                    "%s is (%" PRId64 ", %" PRId64
                    "); in FRACTAL_NZ its rows are a multiple of %" PRId64
                    " and its columns of %" PRId64,
                    parameter, k, n, k_unit, n_unit);
}

aclTensor entry_of(const aclTensor &stack, size_t group) {
  const int64_t step = is_fractal(stack) && stack.rank() == 3 ? matrix_stack(stack).batch.stride[0]
                                                              : stack.strides[0];
  aclTensor part = stack;
  part.shape.assign(stack.shape.data() + 1, stack.rank() - 1);
  part.strides.assign(stack.strides.data() + 1, stack.rank() - 1);
  if (is_fractal(stack) && stack.storage_shape.size() > 1)
    part.storage_shape.assign(stack.storage_shape.data() + 1, stack.storage_shape.size() - 1);
  part.offset += static_cast<int64_t>(group) * step;
  return part;
}

Matrix as_int8(const aclTensor &given, std::vector<int8_t> &memory) {
  aclTensor tensor = given;
  if (tensor.dtype == ACL_INT32) spread_words(tensor);
  Matrix m = matrix_stack(tensor).first;
  if (m.dtype != ACL_INT4) return m;
  // Numbers that are neighbours in memory stay neighbours.
  const bool turned = m.col.stride != 1 && m.row.stride == 1;
  if (turned) m = m.transposed();
  memory.resize(static_cast<size_t>(m.rows * m.cols));
  const int64_t grain = std::max<int64_t>(1, 16384 / std::max<int64_t>(1, m.cols));
  const int64_t run = m.col.stride != 1 ? 1 : m.col.block > 0 ? m.col.block : m.cols;
  parallel_for(m.rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = tensor.offset + m.row.at(i);
      int8_t *to = memory.data() + i * m.cols;
      for (int64_t j = 0; j < m.cols; j += run)
        unpack_run(m.data, first + m.col.at(j), std::min(run, m.cols - j), to + j);
    }
  });
  m.data = memory.data();
  m.dtype = ACL_INT8;
  m.row = {m.cols, 0, 0};
  m.col = {1, 0, 0};
  return turned ? m.transposed() : m;
}

void scaled_product(const ScaledProduct &p, float *out) {
  const int64_t columns = p.w.cols, depth = p.w.rows / p.pieces;
  for (int64_t piece = 0; piece < p.pieces; ++piece) {
    Matrix a = p.x, b = p.w;
    a.data = static_cast<const int8_t *>(a.data) + a.col.at(piece * depth);
    b.data = static_cast<const int8_t *>(b.data) + b.row.at(piece * depth);
    a.cols = b.rows = depth;
    std::vector<int32_t> lift;
    if (p.lift != 0) lift = column_sums(b, p.lift);
    if (p.bias != nullptr) lift.assign(p.bias, p.bias + columns);
    PieceSums sums;
    sums.out = out;
    sums.columns = columns;
    sums.scale = p.scale + piece * columns;
    sums.lift = lift.empty() ? nullptr : lift.data();
    sums.add = piece > 0;
    gemm_i32(a, b, sums);
  }
  if (p.shift == nullptr && p.token == nullptr) return;
  parallel_for(p.x.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      float *row = out + i * columns;
      const float token = p.token ? p.token[i] : 1.0f;
      for (int64_t j = 0; j < columns; ++j)
        row[j] = (p.shift ? row[j] + p.shift[j] : row[j]) * token;
    }
  });
}

}  // namespace emu
