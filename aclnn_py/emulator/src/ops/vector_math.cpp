// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
#include "ops/vector_math.h"

#include <dlfcn.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <limits>
#include <string>

#include "core/isa.h"
#include "ops/block_kernels.h"
#include "ops/vector_math_calls.h"

namespace emu {

EMU_DECLARE_ISA(extern const VectorCalls vector_calls;)

namespace {

using Scalar = double (*)(double);

// A function in both forms; the vectors are null where they are missing.
struct Function {
  Scalar scalar;
  void *vectors;
};

const VectorCalls &calls() {
  static const VectorCalls &chosen = *EMU_PICK_ISA(vector_calls);
  return chosen;
}

// By the vector ABI a name holds the registers, the number of elements and one v for each operand.
void *vectors_of(const char *operands, const char *name) {
  static void *const library = dlopen("libmvec.so.1", RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr || calls().prefix == nullptr) return nullptr;
  return dlsym(library, (std::string(calls().prefix) + operands + "_" + name).c_str());
}

constexpr auto kCount = static_cast<size_t>(WideFunction::count);

std::array<Function, kCount> functions() {
  // In the order of WideFunction.
  static constexpr struct {
    const char *name;
    Scalar scalar;
  } known[] = {
      {"exp", std::exp},     {"exp2", std::exp2},   {"log", std::log},     {"log2", std::log2},
      {"log10", std::log10}, {"log1p", std::log1p}, {"sin", std::sin},     {"cos", std::cos},
      {"tan", std::tan},     {"asin", std::asin},   {"acos", std::acos},   {"atan", std::atan},
      {"sinh", std::sinh},   {"cosh", std::cosh},   {"asinh", std::asinh}, {"acosh", std::acosh},
      {"atanh", std::atanh}, {"erf", std::erf},     {"erfc", std::erfc}};
  static_assert(std::size(known) == kCount);
  std::array<Function, kCount> found;
  for (size_t i = 0; i < kCount; ++i) {
    found[i] = {known[i].scalar, vectors_of("v", known[i].name)};
  }
  return found;
}

constexpr int64_t kPart = 256;

// All bits where a condition holds: the compiler makes vectors of these, and of no nested choices.
uint64_t all_bits(bool condition) { return 0u - static_cast<uint64_t>(condition); }
uint64_t wide_bits(double x) {
  uint64_t bits;
  std::memcpy(&bits, &x, sizeof bits);
  return bits;
}

// From powers of |x| to those of x. The vectors of the C library would take the elements with a
// sign one by one.
void give_signs(const double *x, const double *y, int64_t count, double *powers) {
  constexpr uint64_t kSign = uint64_t{1} << 63;
  constexpr double kMost = std::numeric_limits<double>::max();
  double whole[kPart], half[kPart], pairs[kPart];
  for (int64_t i = 0; i < count; ++i) half[i] = 0.5 * y[i];
  block_kernels().round_wide(y, count, 0, whole);
  block_kernels().round_wide(half, count, 0, pairs);
  for (int64_t i = 0; i < count; ++i) {
    // Zeros and infinities have powers of every kind; infinite exponents count as even ones.
    const uint64_t fraction = all_bits(whole[i] != y[i]);
    const uint64_t odd = all_bits(half[i] != pairs[i]) & ~fraction & kSign;
    const uint64_t number = all_bits(x[i] < 0) & all_bits(x[i] >= -kMost);
    const uint64_t bits = wide_bits(powers[i]) ^ (wide_bits(x[i]) & odd);
    const uint64_t result = bits | (number & fraction);  // all bits are a NaN
    std::memcpy(powers + i, &result, sizeof result);
  }
}

void part_of_powers(void *vectors, const double *x, const double *y, int64_t count, double *to) {
  double size[kPart], powers[kPart];
  for (int64_t i = 0; i < count; ++i) size[i] = std::abs(x[i]);
  calls().pairs(vectors, size, y, count, powers);
  give_signs(x, y, count, powers);
  std::copy_n(powers, count, to);
}

}  // namespace

void wide_function(WideFunction which, const double *from, int64_t count, double *to) {
  static const std::array<Function, kCount> all = functions();
  const Function &function = all[static_cast<size_t>(which)];
  if (function.vectors != nullptr) return calls().each(function.vectors, from, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] = function.scalar(from[i]);
}

void wide_atan2(const double *y, const double *x, int64_t count, double *to) {
  static void *const vectors = vectors_of("vv", "atan2");
  if (vectors != nullptr) return calls().pairs(vectors, y, x, count, to);
  for (int64_t i = 0; i < count; ++i) to[i] = std::atan2(y[i], x[i]);
}

void wide_pow(const double *x, const double *y, int64_t count, double *to) {
  static void *const vectors = vectors_of("vv", "pow");
  if (vectors == nullptr) {
    for (int64_t i = 0; i < count; ++i) to[i] = std::pow(x[i], y[i]);
    return;
  }
  for (int64_t i = 0; i < count; i += kPart) {
    part_of_powers(vectors, x + i, y + i, std::min(kPart, count - i), to + i);
  }
}

}  // namespace emu
