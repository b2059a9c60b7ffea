// SPDX-License-Identifier: Apache-2.0
// Elementwise operators: what a row says, and the one body all rows share.
#pragma once

#include <initializer_list>

#include "ops/elementwise/block.h"
#include "ops/op.h"

namespace emu {

constexpr int kMaxTensors = 5;
constexpr int kMaxScalars = 4;

// How dtypes of the result follow from those of the arguments. Tensors are promoted to one dtype
// and operand scalars join by category; attribute scalars have no say.
enum RowRule : unsigned {
  kKeep = 0,             // computed in the promoted dtype, which the result may be cast from
  kToFloat = 1,          // integers and bool are computed in float32
  kToBool = 2,           // the result is BOOL
  kExact = 4,            // the out parameter must have the result's dtype
  kOneDtype = 8,         // tensors are not promoted: all must have one dtype
  kLeadShape = 16,       // the other tensors broadcast to the first one, not both ways
  kCondition = 32,       // the first tensor is a truth value and takes no part in promotion
  kOneShape = 64,        // tensors are not broadcast: all must have one shape
  kAnyResult = 128,      // the result is cast to whatever dtype the out parameter has
  kCastBack = 256,       // with kToFloat: the result counts as one of the promoted dtype
  kPlain = 512,          // no tensor may have a private format
  kPlainFirst = 1024,    // the first tensor may not
  kAlikeScalars = 2048,  // scalars take the dtypes of the first tensor
  kFreeScalars = 4096,   // operand scalars of any dtype: the promoted one is asked about instead
  // attribute scalars are cast to the dtype of the computation, whatever they lose
  kCastScalars = 8192,
  kFloatScalar = 16384,        // a float64 scalar beside bfloat16 is computed with in float32
  kFloatScalarOfHalf = 32768,  // so is a float32 scalar beside float16
  // tensors are not promoted: the others are cast to the dtype of the first one
  kLeadDtype = 65536,
};

struct ElementwiseRow {
  const char *op;
  const BlockTable *blocks;
  unsigned rule;
  DtypeSet meeting = 0;  // the dtypes in which operands may meet; 0: any that has a kernel
};

// One argument in C order. A scalar is an operand (it takes part in promotion and is rounded like a
// tensor) or an attribute; a plain number is an attribute.
struct Argument {
  enum Kind { kTensor, kOperand, kAttribute, kNumber, kSkipped } kind = kTensor;
  const aclTensor *tensor = nullptr;
  const aclScalar *scalar = nullptr;
  double number = 0;

  Argument(const aclTensor *t) : kind(kTensor), tensor(t) {}
  Argument(const aclScalar *s) : kind(kOperand), scalar(s) {}
  explicit Argument(double value) : kind(kNumber), number(value) {}
};

inline Argument attribute(const aclScalar *scalar) {
  Argument argument(scalar);
  argument.kind = Argument::kAttribute;
  return argument;
}
inline Argument number(double value) { return Argument(value); }
inline Argument attribute_or(const aclScalar *scalar, double otherwise) {
  return scalar == nullptr ? number(otherwise) : attribute(scalar);
}
// A parameter the formula does not see; it keeps its place so that the others keep their names.
inline Argument skipped() {
  Argument argument(0.0);
  argument.kind = Argument::kSkipped;
  return argument;
}

// Everything a block loop needs but the memory.
struct ElementwiseTask {
  BlockFn fn = nullptr;
  MemoryFn direct = nullptr;                     // over memory, where there is one for the dtype
  aclDataType compute_dtype = ACL_DT_UNDEFINED;  // operands are rounded to it
  aclDataType result_dtype = ACL_DT_UNDEFINED;   // results are rounded to it before the cast to out
  Compute result = Compute::F32;                 // what fn writes
  int inputs = 0;
  alignas(16) char scalars[kMaxScalars * sizeof(Complex128)] = {};
};

// The dtype a row computes in, given the promoted one.
aclDataType row_compute_dtype(unsigned rule, aclDataType promoted);
// Fills fn, dtypes and result; false when the row has no kernel for that dtype.
bool resolve_task(const ElementwiseRow &row, aclDataType promoted, int inputs,
                  ElementwiseTask *task);
// Puts a scalar into the task in its compute type. Operands are rounded to the compute dtype.
void set_scalar(ElementwiseTask *task, int position, const aclScalar &scalar, bool operand);
void set_number(ElementwiseTask *task, int position, double value);

// Whether every index of a coalesced layout names the same element.
inline bool is_repeated(const Layout &layout) {
  return layout.rank == 0 || (layout.rank == 1 && layout.stride[0] == 0);
}

// out = fn(in...), whatever aliases what: an input that shares memory with `out` in any way but
// element by element is read in full first. The views of `in` have the shape of `out`.
void run_elementwise(const ElementwiseTask &task, const View *in, const View &out);

// Phase one of a row.
Status elementwise(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                   aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor);
// How the elements that a row computes are folded into the out parameter.
struct Fold {
  enum Over { kAll, kFirstDimension } over = kAll;
  bool mean = false;            // of nothing it is NaN
  bool one_element = false;     // a result of all may have the shape (1) instead of ()
  bool float_elements = false;  // those of float32 operands are float32 before they are added
};
// Phase one of a row whose elements are added up. They are computed in float64 unless the fold says
// otherwise, in the dtype the operands meet in if that is an integer, and rounded once, after the
// sum.
Status elementwise_folded(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                          const Fold &fold, aclTensor *out, uint64_t *workspace_size,
                          aclOpExecutor **executor);
// Phase one of a row that writes its first tensor.
Status elementwise_in_place(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                            aclTensor *self, uint64_t *workspace_size, aclOpExecutor **executor);

}  // namespace emu
