// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -ffp-contract=fast
#include "ops/matmul/gemm_pairs.h"

#include <utility>

#include "ops/matmul/gemm_pack.isa.h"

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__AVX512BW__)
using Pairs = Vec<uint32_t>::type;
using LoosePairs = Vec<uint32_t>::loose;
using F = Vec<float>::type;
using Loose = Vec<float>::loose;
constexpr int lanes = Vec<float>::lanes;

// Products of two numbers from here on have their last bit at 2^-126 or above, and so have sums.
constexpr uint16_t least = (127 - 56) << 7;

bool has_tiny(const uint16_t *packed, int64_t count) {
  constexpr int64_t step = 32;
  __mmask32 found = 0;
  for (int64_t i = 0; i < count; i += step) {
    const auto valid = ~__mmask32(0) >> (count - i < step ? step - (count - i) : 0);
    const __m512i size =
        _mm512_and_si512(_mm512_maskz_loadu_epi16(valid, packed + i), _mm512_set1_epi16(0x7fff));
    // Zero becomes the largest number.
    found |= _mm512_cmplt_epu16_mask(_mm512_sub_epi16(size, _mm512_set1_epi16(1)),
                                     _mm512_set1_epi16(least - 1));
  }
  return found != 0;
}

inline uint32_t pair_at(const uint16_t *a) {
  uint32_t pair;
  memcpy(&pair, a, sizeof pair);
  return pair;
}

template <int rows>
inline void store(const F (&sum)[rows][2], float *c, int64_t ldc, bool add) {
#pragma GCC unroll 16
  for (int i = 0; i < rows; ++i) {
    auto *first = reinterpret_cast<Loose *>(c + i * ldc),
         *second = reinterpret_cast<Loose *>(c + i * ldc + lanes);
    *first = add ? F(*first) + sum[i][0] : sum[i][0];
    *second = add ? F(*second) + sum[i][1] : sum[i][1];
  }
}

template <int rows>
__attribute__((target("avx512bf16"))) void quick(const uint16_t *a, const uint16_t *b, int64_t ldb,
                                                 int64_t depth, float *c, int64_t ldc, bool add) {
  F sum[rows][2] = {};
  await_rows<rows>(c, ldc, 2 * lanes);
  for (int64_t p = 0; p < depth; p += 2) {
    await_panel<rows>(a);
    const auto left = (__m512bh) * reinterpret_cast<const LoosePairs *>(b),
               right = (__m512bh) * reinterpret_cast<const LoosePairs *>(b + 2 * lanes);
#pragma GCC unroll 16
    for (int i = 0; i < rows; ++i) {
      const auto both = (__m512bh)(pair_at(a + 2 * i) - Pairs{});
      sum[i][0] = (F)_mm512_dpbf16_ps((__m512)sum[i][0], both, left);
      sum[i][1] = (F)_mm512_dpbf16_ps((__m512)sum[i][1], both, right);
    }
    a += 2 * rows;
    b += 2 * ldb;
  }
  store<rows>(sum, c, ldc, add);
}

template <int rows>
void careful(const uint16_t *a, const uint16_t *b, int64_t ldb, int64_t depth, float *c,
             int64_t ldc, bool add) {
  constexpr uint32_t upper = 0xffff0000u;
  F sum[rows][2] = {};
  for (int64_t p = 0; p < depth; p += 2) {
    for (int side = 0; side < 2; ++side) {
      const Pairs pairs = *reinterpret_cast<const LoosePairs *>(b + side * 2 * lanes);
      const F first = (F)(pairs << 16), second = (F)(pairs & upper);
      for (int i = 0; i < rows; ++i) {
        const uint32_t both = pair_at(a + 2 * i);
        sum[i][side] += bits_to_float(both & upper) * second;
        sum[i][side] += bits_to_float(both << 16) * first;
      }
    }
    a += 2 * rows;
    b += 2 * ldb;
  }
  store<rows>(sum, c, ldc, add);
}

template <int... less_one>
constexpr GemmPairs make_pairs(std::integer_sequence<int, less_one...>) {
  GemmPairs pairs{};
  pairs.pack = pack<BrainPair>;
  pairs.has_tiny = has_tiny;
  ((pairs.quick[less_one] = quick<less_one + 1>), ...);
  ((pairs.careful[less_one] = careful<less_one + 1>), ...);
  return pairs;
}
#endif

}  // namespace

extern const GemmPairs gemm_pairs_table;
#if defined(__AVX512BW__)
constexpr GemmPairs gemm_pairs_table = make_pairs(std::make_integer_sequence<int, kGemmMostRows>());
#else
constexpr GemmPairs gemm_pairs_table{};
#endif

}  // namespace EMU_ISA_NS
}  // namespace emu
