// SPDX-License-Identifier: Apache-2.0
// Plans of the products out = self @ mat2 and out = beta * self + alpha * (mat1 @ mat2), which many
// operators are. Everything between the operands and the result is float32, rounded once.
// cubeMathType 1 and 3 permit the hardware's shorter hf32 and are computed in full float32; 2
// rounds float32 operands to float16; 4 asks for sums of more precision, which all sums here have.
#pragma once

#include <cmath>
#include <limits>

#include "ops/matmul/stack.h"

namespace emu {

constexpr int8_t kUseFloat16 = 2, kUseHf32 = 3, kAddInFp32 = 4;

// What both plans check, for operators that check for themselves.
Check &check_math_type(Check &check, int8_t value, int8_t highest);
Check &check_format(Check &check, const char *name, const aclTensor *tensor, bool fractal = false);

// Operands as the multiplier sees them: with cubeMathType 2 a float32 operand is first rounded to
// float16.
class Operand {
 public:
  Operand(const aclTensor &tensor, int8_t cube_math_type);
  const MatrixStack &stack() const { return stack_; }

 private:
  std::unique_ptr<char[]> memory_;
  MatrixStack stack_;
};

struct ProductArguments {
  const char *op;
  const aclTensor *self, *mat2;
  aclTensor *out;
  int8_t cube_math_type;
  int lowest_rank, highest_rank;
  bool fractal;
  int8_t highest_math_type = kAddInFp32;
  const char *names[2] = {"self", "mat2"};
};
Status plan_product(const ProductArguments &a, uint64_t *workspace_size, aclOpExecutor **executor);

// Factors this near to zero count as zero, as CANN counts them.
inline bool counts_as_zero(double factor) {
  return std::fabs(static_cast<float>(factor)) <= std::numeric_limits<float>::epsilon();
}

// What an alpha of zero and an inner dimension of zero leave.
enum class NoProduct : uint8_t {
  product,         // alpha * (mat1 @ mat2) nevertheless, in which NaN stays NaN
  product_of_any,  // the same, but beta * self, of zero too, for an inner dimension of zero
  self,            // beta * self, with beta of zero too
  beta_first,      // beta * self, or zeros with beta of zero
};

// out = beta * self + alpha * (mat1 @ mat2), without self where beta is zero
struct SumArguments {
  const char *op;
  const aclTensor *self, *mat1, *mat2;
  const aclScalar *beta, *alpha;
  const aclTensor *out;
  int8_t cube_math_type;
  int rank = 2;              // of mat1 and mat2
  bool sum_batches = false;  // Addbmm
  const char *names[3] = {"self", "mat1", "mat2"};
  const char *out_name = "out";
  bool plain_factors = false;  // numbers instead of scalars
  double plain_beta = 1.0, plain_alpha = 1.0;
  bool transpose[2] = {false, false};  // mat1, mat2
  bool fractal = false;                // mat2 may be in FRACTAL_NZ
  NoProduct without = NoProduct::product;
  bool broadcasts_in_fp32 = false;  // self broadcasts with cubeMathType 4 too
};
Status plan_sum(const SumArguments &a, uint64_t *workspace_size, aclOpExecutor **executor);

}  // namespace emu
