// SPDX-License-Identifier: Apache-2.0
// A weight with two zeros in every four elements, packed: the two others and where they stood. Both
// results are in blocks of 16 rows, the values 32 to a row (FRACTAL_NZ), the places four to a byte.
#include <cstdint>
#include <cstdlib>
#include <memory>

#include "aclnn/host_calls.h"
#include "core/export.h"
#include "core/statuses.h"
#include "ops/matmul/quant/sparse_blocks.h"
#include "ops/op.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnTransSparse4to2Para";
constexpr int64_t kGroup = kSparseGroup, kRows = kSparseRows, kKept = kSparseKept,
                  kPlaces = kSparsePlaces, kSource = kSparseSource;

struct FreeMemory {
  void operator()(void *p) const { std::free(p); }
};
template <class T>
using HostArray = std::unique_ptr<T[], FreeMemory>;

template <class T>
HostArray<T> zeros(uint64_t count) {
  return HostArray<T>(static_cast<T *>(std::calloc(count, sizeof(T))));
}

// A single element is the first one, unless it is the last of the four.
bool pack_group(const int8_t *four, int8_t *two, uint8_t *places) {
  int at[2] = {-1, -1}, found = 0;
  for (int i = 0; i < kGroup; ++i) {
    if (four[i] == 0) continue;
    if (found == 2) return false;
    at[found++] = i;
  }
  const bool lone_last = found == 1 && at[0] == 3;
  const int first = lone_last ? -1 : at[0], second = lone_last ? at[0] : at[1];
  two[0] = first >= 0 ? four[first] : 0;
  two[1] = second >= 0 ? four[second] : 0;
  *places = static_cast<uint8_t>((first >= 0 ? first : 0) | (second >= 0 ? second - 1 : 0) << 2);
  return true;
}

struct Blocks {
  int64_t across, down;  // blocks along k and along n
};

// False at the first group with more than two elements; *row and *column tell where.
bool pack(const int8_t *weight, int64_t n, int64_t k, const Blocks &blocks, int8_t *values,
          uint8_t *places, int64_t *row, int64_t *column) {
  for (int64_t block = 0; block < blocks.across; ++block) {
    for (*row = 0; *row < n; ++*row) {
      const int64_t line = block * blocks.down * kRows + *row;
      for (int64_t group = 0; group < kSource / kGroup; ++group) {
        *column = block * kSource + group * kGroup;
        if (*column >= k) break;
        int8_t four[kGroup] = {};
        for (int64_t i = 0; i < kGroup && *column + i < k; ++i)
          four[i] = weight[*row * k + *column + i];
        uint8_t place = 0;
        if (!pack_group(four, values + line * kKept + group * 2, &place)) return false;
        places[line * kPlaces + group / 2] |= static_cast<uint8_t>(place << (group % 2 * 4));
      }
    }
  }
  return true;
}

int64_t parts(int64_t extent, int64_t size) { return extent / size + (extent % size != 0 ? 1 : 0); }

}  // namespace
}  // namespace emu

// Null is 561103 here, not 161001: the function has no executor and CANN's source answers so.
EMU_EXPORT aclnnStatus aclnnTransSparse4to2Para(const int8_t *weight, aclIntArray *shape,
                                                int8_t **sparseWeight, int64_t **sparseWeightDims,
                                                uint64_t *sparseWeightDimsNum, uint8_t **index,
                                                int64_t **indexDims, uint64_t *indexDimsNum) try {
  using namespace emu;
  const struct {
    const char *name;
    const void *value;
  } arguments[] = {{"shape", shape},
                   {"weight", weight},
                   {"sparseWeight", sparseWeight},
                   {"sparseWeightDims", sparseWeightDims},
                   {"sparseWeightDimsNum", sparseWeightDimsNum},
                   {"index", index},
                   {"indexDims", indexDims},
                   {"indexDimsNum", indexDimsNum}};
  for (const auto &argument : arguments) {
    if (argument.value == nullptr)
      return fail(emu::kInnerNull, "%s: %s is null", kOp, argument.name);
  }
  if (!live(shape)) return fail(emu::kInvalid, "%s: shape is destroyed", kOp);
  const auto &dims = shape->values;
  if (dims.size() != 2)
    return fail(emu::kInvalid, "%s: shape has %zu numbers; allowed: 2 (n, k)", kOp, dims.size());
  const int64_t n = dims[0], k = dims[1];
  const Blocks blocks{parts(k, kSource), parts(n, kRows)};
  int64_t elements = 0, bytes = 0;
  if (n <= 0 || k <= 0 || __builtin_mul_overflow(n, k, &elements) || n > INT64_MAX - kRows ||
      __builtin_mul_overflow(blocks.across * kKept, blocks.down * kRows, &bytes)) {
    return fail(emu::kInvalid,
                "%s: shape is (%lld, %lld); both must be positive and their product within 64 bits",
                kOp, static_cast<long long>(n), static_cast<long long>(k));
  }
  HostArray<int8_t> values = zeros<int8_t>(static_cast<uint64_t>(bytes));
  HostArray<uint8_t> places = zeros<uint8_t>(static_cast<uint64_t>(bytes) / 4);
  HostArray<int64_t> value_dims = zeros<int64_t>(4), place_dims = zeros<int64_t>(4);
  if (!values || !places || !value_dims || !place_dims) {
    return fail(emu::kInnerNull, "%s: no host memory for %lld bytes", kOp,
                static_cast<long long>(bytes));
  }
  int64_t row = 0, column = 0;
  if (!pack(weight, n, k, blocks, values.get(), places.get(), &row, &column)) {
    return fail(emu::kInvalid,
                "%s: row %lld has more than two elements besides zeros from column %lld to %lld",
                kOp, static_cast<long long>(row), static_cast<long long>(column),
                static_cast<long long>(column + kGroup - 1));
  }
  const int64_t shapes[2][4] = {{blocks.across, blocks.down, kRows, kKept},
                                {blocks.across, blocks.down, kRows, kPlaces}};
  for (int i = 0; i < 4; ++i)
    value_dims[static_cast<size_t>(i)] = shapes[0][i],
    place_dims[static_cast<size_t>(i)] = shapes[1][i];
  *sparseWeight = values.release();
  *sparseWeightDims = value_dims.release();
  *index = places.release();
  *indexDims = place_dims.release();
  *sparseWeightDimsNum = *indexDimsNum = 4;
  return 0;
}
EMU_CATCH
