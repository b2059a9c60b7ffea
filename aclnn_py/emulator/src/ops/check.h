// SPDX-License-Identifier: Apache-2.0
// Phase-one argument checks. The first failure wins; its text names the parameter, what was given
// and what is allowed. Callers check in the documented order: nulls, dtypes, formats, ranks and
// shapes.
#pragma once

#include "core/checked.h"
#include "core/statuses.h"
#include "meta/tensor.h"
#include "ops/dtype.h"
#include "ops/facts.h"
#include "ops/layout.h"

namespace emu {

class Check {
 public:
  explicit Check(const char *op) : op_(op), facts_(find_facts(op)) {}

  // What follows is the second line of checks, that of the kernel's tiling: it refuses with 561002.
  Check &tiling() {
    refusal_ = kTiling;
    return *this;
  }

  bool ok() const { return status_ == 0; }
  Status status() const { return status_; }
  const char *op() const { return op_; }
  const OperatorFacts &facts() const { return facts_; }

  // Any kind of handle: null is 161001, one that was destroyed is 161002. So is a tensor, or a
  // member of a list, with more elements than 64 bits can count or a reach beyond them: sizes of
  // what passed here can be computed freely. (Not inline: operators ask it 2,500 times.)
  template <class Handle>
  Check &required(const char *parameter, const Handle *given);
  // Null is fine, a destroyed handle is not.
  template <class Handle>
  Check &optional(const char *parameter, const Handle *given);
  Check &required_text(const char *parameter, const char *given) {
    return given == nullptr && ok() ? null(parameter) : *this;
  }

  // The tensor's or scalar's dtype against the list of the facts, less what `refused` names. An
  // absent optional passes, and so does everything where the facts name no dtype.
  Check &dtype(const char *parameter, const aclTensor *tensor, DtypeSet refused = 0);
  Check &dtype(const char *parameter, const aclScalar *scalar, DtypeSet refused = 0);
  // Against a list of the operator's own.
  Check &dtype_in(const char *parameter, aclDataType given, DtypeSet allowed);
  Check &same_dtype(const char *parameter, aclDataType given, const char *other,
                    aclDataType expected);
  // A result of dtype `from` must be storable in the parameter's dtype.
  Check &castable(aclDataType from, const char *parameter, aclDataType to);
  // The number of dimensions against the facts; an absent optional passes.
  Check &rank(const char *parameter, const aclTensor *tensor);
  // Against a range of the operator's own.
  Check &rank(const char *parameter, const aclTensor *tensor, int lowest, int highest);
  Check &shape(const char *parameter, const aclTensor *tensor, const Layout &expected);
  // The same, but one element may be () or (1) in either.
  Check &shape_or_one_element(const char *parameter, const aclTensor *tensor,
                              const Layout &expected);
  // Not in a format that cuts the shape into blocks; CANN calls these private.
  Check &plain_format(const char *parameter, const aclTensor *tensor);
  Check &same_format(const char *parameter, const aclTensor *tensor, const char *other,
                     const aclTensor *model);
  // A size computed from `parameter`: refused when it does not fit 64 bits, then 0.
  int64_t size(const char *parameter, Checked value);
  // Any other rule: `holds` or the message, which starts with the parameter's name.
  [[gnu::format(printf, 3, 4)]] Check &that(bool holds, const char *format, ...);

 private:
  Check &null(const char *parameter);
  Check &stale(const char *parameter);
  template <class Handle>
  Check &countable(const char *parameter, const Handle *given);
  Check &uncountable(const char *parameter, const aclTensor &given);
  // Scalars of half a byte, and of dtypes without a number, cannot be read.
  Check &readable(const char *parameter, const aclScalar &given) {
    return dtype_in(parameter, given.dtype, dt::kComputable);
  }

  const char *op_;
  OperatorFacts facts_;
  Status status_ = 0;
  Status refusal_ = kInvalid;
};

// `dim` of a tensor of this rank with negative values counted from the end; rank 0 counts as 1.
// False when out of range.
bool wrap_dim(int64_t dim, int rank, int *wrapped);

}  // namespace emu
