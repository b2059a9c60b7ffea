// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/scan_kernels.h"

#include "core/isa.h"

#if defined(__AVX2__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

// The elements of one register, wherever they lie.
#if defined(__AVX512F__)
constexpr int64_t kWide = 16;
#elif defined(__AVX__)
constexpr int64_t kWide = 8;
#else
constexpr int64_t kWide = 4;
#endif
using Floats =
    float __attribute__((vector_size(kWide * sizeof(float)), aligned(alignof(float)), may_alias));

// Where it is rare, or for the rest of a block. Not a function that is called: around one that does
// not touch wide registers itself the compiler forgets to clear their upper halves, and whoever
// calls `squares` from code without such registers is slow after it.
inline __attribute__((always_inline)) double wide_squares(const float *x, int64_t count) {
  double total = 0;
  for (int64_t i = 0; i < count; ++i)
    total += static_cast<double>(x[i]) * static_cast<double>(x[i]);
  return total;
}

// Runs in float32, whose squares are exact to half a unit and whose chains are short, added up in
// float64. A run whose squares do not fit into float32 is taken in float64 as a whole.
double squares(const float *x, int64_t count) {
  constexpr int64_t kChains = 8, kRun = 4 * kChains * kWide;
  double total = 0;
  int64_t start = 0;
  for (; start + kRun <= count; start += kRun) {
    Floats sums[kChains] = {};
    for (int64_t i = start; i < start + kRun; i += kChains * kWide) {
      for (int64_t k = 0; k < kChains; ++k) {
        const Floats v = *reinterpret_cast<const Floats *>(x + i + k * kWide);
        sums[k] += v * v;
      }
    }
    for (int64_t half = kChains / 2; half > 0; half /= 2)
      for (int64_t k = 0; k < half; ++k) sums[k] += sums[k + half];
    double run = 0;
    for (int64_t lane = 0; lane < kWide; ++lane) run += static_cast<double>(sums[0][lane]);
    const bool fits = run >= 0x1p-90 && run < 0x1p127;
    total += fits ? run : wide_squares(x + start, kRun);
  }
  return total + wide_squares(x + start, count - start);
}

#if defined(__AVX2__)

// For each pattern of eight marks the places of those that are set, one behind the other.
struct Places {
  uint8_t of[256][8];
};
constexpr Places places_of_marks() {
  Places places{};
  for (int pattern = 0; pattern < 256; ++pattern) {
    int kept = 0;
    for (int place = 0; place < 8; ++place) {
      if ((pattern >> place & 1) != 0) places.of[pattern][kept++] = static_cast<uint8_t>(place);
    }
  }
  return places;
}
constexpr Places kPlaces = places_of_marks();

int64_t positions(const unsigned char *marks, int64_t count, int64_t from, int64_t *to) {
  int64_t kept = 0, i = 0;
  for (; i + 32 <= count; i += 32) {
    const __m256i bytes = _mm256_loadu_si256(reinterpret_cast<const __m256i *>(marks + i));
    const __m256i clear = _mm256_cmpeq_epi8(bytes, _mm256_setzero_si256());
    auto patterns = ~static_cast<uint32_t>(_mm256_movemask_epi8(clear));
    for (int64_t group = 0; group < 32; group += 8, patterns >>= 8) {
      const uint32_t pattern = patterns & 255u;
      const __m256i base = _mm256_set1_epi64x(from + i + group);
      const __m128i places =
          _mm_loadl_epi64(reinterpret_cast<const __m128i *>(kPlaces.of[pattern]));
      auto *into = reinterpret_cast<__m256i *>(to + kept);
      _mm256_storeu_si256(into, _mm256_add_epi64(base, _mm256_cvtepu8_epi64(places)));
      _mm256_storeu_si256(into + 1,
                          _mm256_add_epi64(base, _mm256_cvtepu8_epi64(_mm_srli_si128(places, 4))));
      kept += __builtin_popcount(pattern);
    }
  }
  for (; i < count; ++i) {
    to[kept] = from + i;
    kept += marks[i] != 0 ? 1 : 0;
  }
  return kept;
}

#else

// Without a branch: half the branches would be foreseen wrongly.
int64_t positions(const unsigned char *marks, int64_t count, int64_t from, int64_t *to) {
  int64_t kept = 0;
  for (int64_t i = 0; i < count; ++i) {
    to[kept] = from + i;
    kept += marks[i] != 0 ? 1 : 0;
  }
  return kept;
}

#endif

}  // namespace

extern const ScanKernels scan_table;
constexpr ScanKernels scan_table = {squares, positions};

}  // namespace EMU_ISA_NS
}  // namespace emu
