// SPDX-License-Identifier: Apache-2.0
// What a gate does with a call of the program while somebody looks (build_parts/gates.py writes the
// gates): its arguments are packed, shown, and the call is made.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include "aclnn/acl_meta.h"
#include "core/export.h"
#include "faults/modes.h"

namespace emu::faults {

enum class Kind : uint8_t {
  nothing,
  integer,
  natural,
  boolean,
  real,
  enumeration,
  text,      // const char *
  numbers,   // a pointer to arithmetic values or enumerators
  pointers,  // a pointer to pointers
  function,
  record,   // a structure; the address of a copy
  address,  // any other pointer; a handle, if its type has a name
  tensor,
  tensor_list,
  scalar,
  scalar_list,
  int_array,
  float_array,
  bool_array,
  executor,
};

// What a C value is.
struct Type {
  Kind kind = Kind::nothing;
  Kind element = Kind::nothing;  // of what `numbers` and `pointers` point to
  uint8_t bytes = 0;             // of the value; of an element for `numbers`
  bool writable = false;         // what it points to

  template <class T>
  static constexpr Type of() {
    Type type{kind_of<T>(), Kind::nothing, 0, false};
    if constexpr (!std::is_void_v<T>) type.bytes = sizeof(T);
    if constexpr (std::is_pointer_v<T>) {
      using Target = std::remove_pointer_t<T>;
      type.writable = !std::is_const_v<Target>;
      if constexpr (std::is_arithmetic_v<Target> || std::is_enum_v<Target>)
        type.bytes = sizeof(Target);
      if constexpr (!std::is_void_v<Target> && !std::is_function_v<Target>)
        type.element = kind_of<std::remove_cv_t<Target>>();
    }
    return type;
  }

  template <class T>
  static constexpr Kind kind_of() {
    if constexpr (std::is_same_v<T, bool>) return Kind::boolean;
    if constexpr (std::is_enum_v<T>) return Kind::enumeration;
    if constexpr (std::is_floating_point_v<T>) return Kind::real;
    if constexpr (std::is_integral_v<T>) return std::is_signed_v<T> ? Kind::integer : Kind::natural;
    if constexpr (std::is_class_v<T> || std::is_union_v<T>) return Kind::record;
    if constexpr (std::is_pointer_v<T>) {
      using Target = std::remove_cv_t<std::remove_pointer_t<T>>;
      if constexpr (std::is_function_v<Target>) return Kind::function;
      if constexpr (std::is_same_v<T, const char *>) return Kind::text;
      if constexpr (std::is_same_v<T, char *>) return Kind::address;
      if constexpr (std::is_same_v<Target, aclTensor>) return Kind::tensor;
      if constexpr (std::is_same_v<Target, aclTensorList>) return Kind::tensor_list;
      if constexpr (std::is_same_v<Target, aclScalar>) return Kind::scalar;
      if constexpr (std::is_same_v<Target, aclScalarList>) return Kind::scalar_list;
      if constexpr (std::is_same_v<Target, aclIntArray>) return Kind::int_array;
      if constexpr (std::is_same_v<Target, aclFloatArray>) return Kind::float_array;
      if constexpr (std::is_same_v<Target, aclBoolArray>) return Kind::bool_array;
      if constexpr (std::is_same_v<Target, aclOpExecutor>) return Kind::executor;
      if constexpr (std::is_arithmetic_v<Target> || std::is_enum_v<Target>) return Kind::numbers;
      if constexpr (std::is_pointer_v<Target>) return Kind::pointers;
      return Kind::address;
    }
    return Kind::nothing;
  }
};

// An argument or a result: any C value, and what it is.
struct Value : Type {
  uint64_t bits = 0;  // sign-extended; a double for `real`

  const void *pointer() const { return reinterpret_cast<const void *>(bits); }
  int64_t number() const { return static_cast<int64_t>(bits); }
  double fraction() const {
    double value;
    __builtin_memcpy(&value, &bits, sizeof value);
    return value;
  }

  template <class T>
  static Value of(const T &given) {
    return {Type::of<T>(), bits_of(given)};
  }

  template <class T>
  static uint64_t bits_of(const T &given) {
    if constexpr (std::is_pointer_v<T>) {
      return reinterpret_cast<uint64_t>(given);
    } else if constexpr (std::is_class_v<T> || std::is_union_v<T>) {
      return reinterpret_cast<uint64_t>(&given);
    } else if constexpr (std::is_floating_point_v<T>) {
      const double wide = given;
      uint64_t bits;
      __builtin_memcpy(&bits, &wide, sizeof wide);
      return bits;
    } else {
      return static_cast<uint64_t>(static_cast<int64_t>(given));
    }
  }
};

// A call that is being watched. `described` is "aclrtFree(devPtr):aclError": parameters with the
// types that the machine's types do not tell, and "[]" after an array whose length comes next.
struct Call {
  const char *described;
  // Of the arguments. The types are a table: written into each gate, they were a third of its code.
  const Type *types;
  const uint64_t *bits;
  size_t count;
  struct Notes *notes = nullptr;  // what the watchers keep until the call returns

  Value value(size_t at) const { return {types[at], bits[at]}; }
};

void call_begins(Call &call) noexcept;
void call_ends(Call &call, const Value &result) noexcept;

template <class F>
struct Gate;

template <class R, class... A>
struct Gate<R(A...)> {
  // The described function comes last, so that the others stay in their registers.
  __attribute__((noinline, cold)) static R pass(A... given, const char *described,
                                                R (*inner)(A...)) {
    static constexpr Type types[] = {Type::of<A>()..., Type{}};  // an array has an element
    const uint64_t bits[] = {Value::bits_of(given)..., 0};
    Call call{described, types, bits, sizeof...(A)};
    call_begins(call);
    if constexpr (std::is_void_v<R>) {
      inner(given...);
      call_ends(call, Value{});
    } else {
      const R result = inner(given...);
      call_ends(call, Value::of(result));
      return result;
    }
  }
};

}  // namespace emu::faults
