// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include <cstring>

#include "core/isa.h"
#include "ops/vector_math_calls.h"

#if defined(__x86_64__)
#include <immintrin.h>
#endif

namespace emu {
namespace EMU_ISA_NS {
namespace {

#if defined(__x86_64__)

#if defined(__AVX512F__)
using Vector = __m512d;
constexpr char kPrefix[] = "_ZGVeN8";
#elif defined(__AVX2__)
using Vector = __m256d;
constexpr char kPrefix[] = "_ZGVdN4";
#else
using Vector = __m128d;
constexpr char kPrefix[] = "_ZGVbN2";
#endif
constexpr int64_t kWide = sizeof(Vector) / sizeof(double);

inline Vector at(const double *x) {
  Vector v;
  std::memcpy(&v, x, sizeof v);
  return v;
}
inline void put(Vector v, double *to) { std::memcpy(to, &v, sizeof v); }

// The last elements, fewer than a register holds, and the last one again in the other places: it is
// no rare case where the others are none.
inline Vector rest_at(const double *x, int64_t count) {
  double padded[kWide];
  for (int64_t i = 0; i < kWide; ++i) padded[i] = x[i < count ? i : count - 1];
  return at(padded);
}
inline void put_rest(Vector v, int64_t count, double *to) {
  double padded[kWide];
  put(v, padded);
  for (int64_t i = 0; i < count; ++i) to[i] = padded[i];
}

void each(void *function, const double *from, int64_t count, double *to) {
  const auto of = reinterpret_cast<Vector (*)(Vector)>(function);
  int64_t i = 0;
  for (; i + kWide <= count; i += kWide) put(of(at(from + i)), to + i);
  if (i < count) put_rest(of(rest_at(from + i, count - i)), count - i, to + i);
}

void pairs(void *function, const double *x, const double *y, int64_t count, double *to) {
  const auto of = reinterpret_cast<Vector (*)(Vector, Vector)>(function);
  int64_t i = 0;
  for (; i + kWide <= count; i += kWide) put(of(at(x + i), at(y + i)), to + i);
  const int64_t left = count - i;
  if (left > 0) put_rest(of(rest_at(x + i, left), rest_at(y + i, left)), left, to + i);
}

#else

constexpr const char *kPrefix = nullptr;
constexpr decltype(VectorCalls::each) each = nullptr;
constexpr decltype(VectorCalls::pairs) pairs = nullptr;

#endif

}  // namespace

extern const VectorCalls vector_calls;
constexpr VectorCalls vector_calls = {kPrefix, each, pairs};

}  // namespace EMU_ISA_NS
}  // namespace emu
