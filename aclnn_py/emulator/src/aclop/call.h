// SPDX-License-Identifier: Apache-2.0
// One call of an operator type: finds what the program gave for each parameter of the aclnn form
// and makes the objects of aclnn from it. The first thing that does not fit is kept as the status
// with a message; what is asked for afterwards is null or empty.
#pragma once

#include <cstdint>
#include <deque>
#include <initializer_list>
#include <memory>
#include <string>
#include <vector>

#include "aclop/row.h"
#include "meta/tensor.h"
#include "runtime/description.h"

namespace emu::aclop {

struct Operand {
  const aclTensorDesc *desc = nullptr;
  const aclDataBuffer *buffer = nullptr;  // null while the operator is only compiled
};

// Device memory of a call: for inputs that lie in host memory, and for the workspace.
struct DeviceBlock {
  DeviceBlock() = default;
  DeviceBlock(const DeviceBlock &) = delete;
  DeviceBlock &operator=(const DeviceBlock &) = delete;
  ~DeviceBlock();
  void *address = nullptr;
};

struct Upload {
  std::shared_ptr<DeviceBlock> to;
  std::vector<char> bytes;
};

using PhaseTwo = aclnnStatus (*)(void *, uint64_t, aclOpExecutor *, aclrtStream);

class Call {
 public:
  Call(const char *routine, const Row &row) : routine_(routine), row_(row) {}
  ~Call();
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  // What the program gave, matched with the row. `device` is negative while compiling.
  Status bind(const std::vector<Operand> &inputs, const std::vector<Operand> &outputs,
              const aclopAttr *attr, int device);

  bool failed() const { return status_ != 0; }
  Status status() const { return status_; }
  // A value is in host memory that only an execution brings along.
  bool deferred() const { return deferred_; }
  [[gnu::format(printf, 3, 4)]] void refuse(Status code, const char *format, ...);
  std::string described() const;  // operands and attributes, for messages
  std::string key(bool any_shape) const;

  void runs(PhaseTwo function) { second_ = function; }
  PhaseTwo second() const { return second_; }
  std::vector<Upload> &uploads() { return uploads_; }

  // --- tensors
  aclTensor *tensor(In port);
  aclTensor *tensor(Out port);
  aclTensor *transposed(In port, At flag);
  // The output, which has to have dtype and shape of the input, or the other way round.
  template <class A, class B>
  aclTensor *same(A wanted, B model) {
    return alike(operand(wanted), operand(model)) ? tensor(wanted) : nullptr;
  }
  aclTensor *reshaped(In port, Out to, In shape);
  aclTensor *filling(In value, In dims, Out to);
  aclTensorList *list(In port);
  aclTensorList *list(Out port);
  Status copied(In from, Out to, uint64_t *workspace, aclOpExecutor **executor);
  Status copied(In from, Out to, At source, At target, uint64_t *workspace,
                aclOpExecutor **executor);

  // --- scalars and arrays of aclnn
  aclScalar *scalar(In port);
  aclScalar *scalar(In port, double fallback);
  aclScalar *scalar(At attribute);
  aclScalar *scalar(double value);
  aclIntArray *ints(std::vector<int64_t> values);
  aclIntArray *ints(In port) { return ints(values(port)); }
  aclIntArray *ints(At attribute) { return ints(values(attribute)); }
  aclBoolArray *bools(std::vector<int64_t> values);
  aclBoolArray *bools(At attribute) { return bools(values(attribute)); }
  char *text(At attribute);
  char *text(const char *value);

  // --- numbers
  std::vector<int64_t> values(In port);
  std::vector<int64_t> values(At attribute);
  int64_t integer(In port) { return only(values(port), row_.inputs[port.at].name); }
  int64_t integer(At attribute) { return only(values(attribute), name_of(attribute)); }
  int64_t integer(int64_t value) { return value; }
  double real(In port);
  double real(At attribute);
  double real(double value) { return value; }
  bool flag(At attribute);
  bool flag(bool value) { return value; }
  int64_t choice(At attribute, std::initializer_list<const char *> texts);
  aclDataType dtype(Out port);
  aclDataType type_of(Out port, At attribute);
  template <class T>
  T narrow(int64_t value) {
    if (static_cast<int64_t>(static_cast<T>(value)) != value)
      refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "%lld does not fit", static_cast<long long>(value));
    return static_cast<T>(value);
  }

  // --- what an aclnn form wants to know that the operator type says otherwise
  std::vector<int64_t> shape(In port);
  std::vector<int64_t> inner(In port, At axis);
  template <class Where>
  std::vector<int64_t> axes(Where where) {
    return chosen_axes(values(where));
  }
  template <class Offsets, class Size>
  std::vector<int64_t> ends(In port, Offsets offsets, Size size) {
    return ends_of(shape(port), values(offsets), values(size));
  }
  std::vector<int64_t> every_axis(In port);
  std::vector<int64_t> steps(In port);
  std::vector<int64_t> pads(In port) { return turned(values(port)); }
  std::vector<int64_t> pads(At attribute) { return turned(values(attribute)); }
  std::vector<int64_t> image(At attribute);
  std::vector<int64_t> margins(At attribute);
  template <class Axis>
  std::vector<int64_t> even(In port, Axis axis, At parts) {
    return even_parts(shape(port), integer(axis), integer(parts));
  }
  int64_t columns(At rows, At columns);

 private:
  struct Bound {
    size_t first = 0, count = 0;
  };

  const char *name_of(At attribute) const { return row_.attributes[attribute.at].name; }
  const Operand *operand(In port) const;
  const Operand *operand(Out port) const;
  bool alike(const Operand *a, const Operand *b);

  void check_side(const char *side, const std::vector<Operand> &given);
  void check_shapes(const char *side, Status code, const std::vector<Operand> &given);
  void match(const char *side, Status code, const Span<Port> &ports,
             const std::vector<Operand> &given, std::vector<Bound> *bound);
  void match_lists(const char *side, Status code, const Span<Port> &ports,
                   const std::vector<Operand> &given, std::vector<Bound> *bound);
  void take_attributes(const aclopAttr *attr);
  void check_shared();

  aclTensor *make(const Operand &operand, const char *name);
  aclTensorList *list_of(const Operand *first, size_t count, const char *name);
  aclTensor *flat_storage(const Operand &operand);
  void *address_of(const Operand &operand, size_t bytes, const char *name);
  const void *host_bytes(In port, size_t *size);
  aclTensor *keep(aclTensor *made);
  int64_t only(const std::vector<int64_t> &values, const char *name);
  std::vector<int64_t> chosen_axes(std::vector<int64_t> values);
  std::vector<int64_t> ends_of(const std::vector<int64_t> &shape,
                               const std::vector<int64_t> &offsets,
                               const std::vector<int64_t> &size);
  std::vector<int64_t> turned(const std::vector<int64_t> &pairs);
  std::vector<int64_t> even_parts(const std::vector<int64_t> &shape, int64_t axis, int64_t parts);

  const char *routine_;
  const Row &row_;
  Status status_ = 0;
  bool deferred_ = false;
  int device_ = -1;
  std::vector<Operand> inputs_, outputs_;
  std::vector<Bound> in_, out_;
  std::vector<Value> attributes_;
  PhaseTwo second_ = nullptr;

  std::vector<Upload> uploads_;
  std::deque<std::vector<char>> host_values_;  // of inputs in host memory
  std::vector<aclTensor *> tensors_;
  std::vector<aclTensorList *> lists_;
  std::vector<aclScalar *> scalars_;
  std::vector<aclIntArray *> int_arrays_;
  std::vector<aclBoolArray *> bool_arrays_;
  std::vector<std::unique_ptr<std::string>> texts_;
};

}  // namespace emu::aclop
