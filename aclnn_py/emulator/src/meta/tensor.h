// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <initializer_list>
#include <vector>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "core/checked.h"
#include "core/slots.h"
#include "core/status.h"

namespace emu {

// A short vector of 64-bit numbers that lives inside its owner: shapes and strides without heap.
class Dims {
 public:
  static constexpr size_t kMax = 12;  // rank 8 and the split axes of a private storage format

  Dims() = default;
  Dims(std::initializer_list<int64_t> values) { assign(values.begin(), values.size()); }
  Dims(const int64_t *values, size_t count) { assign(values, count); }

  void assign(const int64_t *values, size_t count) {
    size_ = static_cast<uint32_t>(count < kMax ? count : kMax);
    for (uint32_t i = 0; i < size_; ++i) values_[i] = values[i];
  }
  void push_back(int64_t value) {
    if (size_ < kMax) values_[size_++] = value;
  }
  void resize(size_t count, int64_t fill = 0) {
    const auto want = static_cast<uint32_t>(count < kMax ? count : kMax);
    for (uint32_t i = size_; i < want; ++i) values_[i] = fill;
    size_ = want;
  }
  void clear() { size_ = 0; }

  size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  int64_t &operator[](size_t i) { return values_[i]; }
  int64_t operator[](size_t i) const { return values_[i]; }
  int64_t *data() { return values_; }
  const int64_t *data() const { return values_; }
  int64_t *begin() { return values_; }
  int64_t *end() { return values_ + size_; }
  const int64_t *begin() const { return values_; }
  const int64_t *end() const { return values_ + size_; }
  int64_t back() const { return values_[size_ - 1]; }

  // The number of elements of this shape: 1 for rank 0, kUncountable for more than 64 bits can
  // count.
  int64_t count() const { return count_of(values_, size_); }

  friend bool operator==(const Dims &a, const Dims &b) {
    if (a.size_ != b.size_) return false;
    for (uint32_t i = 0; i < a.size_; ++i) {
      if (a.values_[i] != b.values_[i]) return false;
    }
    return true;
  }
  friend bool operator!=(const Dims &a, const Dims &b) { return !(a == b); }

 private:
  int64_t values_[kMax];
  uint32_t size_ = 0;
};

Dims contiguous_strides(const Dims &shape);

// Bits of one element (4 for the packed kinds); 0 for a type without a size.
int dtype_bits(aclDataType dtype);
const char *dtype_name(aclDataType dtype);

// FRACTAL_NZ keeps a matrix in blocks of 16 rows and 32 bytes.
constexpr int64_t kFractalRows = 16;
constexpr int64_t kFractalBits = 32 * 8;
inline int64_t fractal_columns(aclDataType dtype) {
  return dtype_bits(dtype) != 0 ? kFractalBits / dtype_bits(dtype) : 32;
}
// Elements of the blocked form of a (rows, cols) matrix; kUncountable when 64 bits cannot count
// them.
int64_t fractal_elements(aclDataType dtype, int64_t rows, int64_t cols);

const char *format_name(aclFormat format);

}  // namespace emu

// The objects behind the C handles. Operators read them; only meta/ writes them.
struct aclTensor {
  aclDataType dtype = ACL_DT_UNDEFINED;
  aclFormat format = ACL_FORMAT_ND;  // as given: the format of view and of storage
  emu::Dims shape, strides, storage_shape;
  int64_t offset = 0;     // in elements, to be added to data
  void *data = nullptr;   // start of the storage
  uint64_t identity = 0;  // of the handle: no two have the same, copies keep it
  uint64_t moved = 0;     // the count of moves when aclSetRawTensorAddr gave it its address
  // Whether its elements, and the bytes a view reaches, can be counted in 64 bits; an extent of 0
  // counts as 1, so that no part of the shape wraps either. Operators refuse any other tensor.
  bool countable = true;

  int64_t numel() const { return shape.count(); }
  size_t rank() const { return shape.size(); }
  bool contiguous() const;
  // First byte of the view. Only for types of whole bytes.
  void *view_data() const {
    if (data == nullptr) return nullptr;
    return static_cast<char *>(data) + offset * (emu::dtype_bits(dtype) / 8);
  }
  // Where `bytes` from the start of the storage on is, which need not be memory of the tensor.
  char *at(int64_t bytes) const {
    return reinterpret_cast<char *>(reinterpret_cast<uintptr_t>(data) +
                                    static_cast<uintptr_t>(bytes));
  }
  // The bytes of the storage a view can reach: [*low, *high) relative to data; all blocks of one in
  // FRACTAL_NZ. False for an empty
  // view. Only for a countable tensor.
  bool reach(int64_t *low, int64_t *high) const;
};

struct aclScalar {
  aclDataType dtype = ACL_DT_UNDEFINED;
  alignas(16) unsigned char value[16] = {};

  // The value converted; complex numbers give their real part.
  double to_double() const;
  int64_t to_int64() const;
  uint64_t to_uint64() const;
  bool to_bool() const;
  void to_complex(double *real, double *imaginary) const;
};

struct aclIntArray {
  std::vector<int64_t> values;
};
struct aclFloatArray {
  std::vector<float> values;
};
struct aclBoolArray {
  std::vector<unsigned char> values;  // not vector<bool>: operators want a pointer
};
struct aclTensorList {
  std::vector<aclTensor *> members;
};
struct aclScalarList {
  std::vector<aclScalar *> members;
};

namespace emu {

bool is_fractal(const aclTensor &tensor);
// Whether the blocks of a matrix in FRACTAL_NZ hold it as it was before a transposing view was laid
// over it. Only for 2 dimensions or more.
bool fractal_flipped(const aclTensor &tensor);

// Gives a tensor another address, as aclSetRawTensorAddr does, and counts that.
void move(aclTensor &tensor, void *address);
uint64_t moves();

Slots<aclTensor> &tensors();
Slots<aclScalar> &scalars();
Slots<aclIntArray> &int_arrays();
Slots<aclFloatArray> &float_arrays();
Slots<aclBoolArray> &bool_arrays();
Slots<aclTensorList> &tensor_lists();
Slots<aclScalarList> &scalar_lists();

// Is this handle alive? Operators ask before they read an argument (a stale handle is 161002).
inline bool live(const aclTensor *p) { return tensors().live(p); }
inline bool live(const aclScalar *p) { return scalars().live(p); }
inline bool live(const aclIntArray *p) { return int_arrays().live(p); }
inline bool live(const aclFloatArray *p) { return float_arrays().live(p); }
inline bool live(const aclBoolArray *p) { return bool_arrays().live(p); }
inline bool live(const aclTensorList *p) { return tensor_lists().live(p); }
inline bool live(const aclScalarList *p) { return scalar_lists().live(p); }

}  // namespace emu
