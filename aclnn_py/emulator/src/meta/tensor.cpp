// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "meta/tensor.h"

#include <algorithm>
#include <atomic>

#include "core/export.h"
#include "core/process.h"
#include "core/statuses.h"
#include "faults/arguments.h"
#include "faults/objects.h"
#include "meta/fractal.h"

bool aclTensor::contiguous() const {
  int64_t expected = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    if (shape[i] == 0) return true;
    if (shape[i] != 1 && strides[i] != expected) return false;
    if (!emu::checked_mul(expected, shape[i], &expected)) return false;
  }
  return true;
}

bool aclTensor::reach(int64_t *low, int64_t *high) const {
  int64_t first = offset, last = offset;
  for (size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 0) return false;
    const int64_t span = (shape[i] - 1) * strides[i];
    (span < 0 ? first : last) += span;
  }
  const int64_t bits = emu::dtype_bits(dtype);
  *low = first * bits / 8;
  *high = ((last + 1) * bits + 7) / 8;
  // Operators that know no blocks read such a tensor by its strides.
  if (emu::is_fractal(*this) && shape.size() >= 2) {
    const emu::Checked bytes = (emu::Checked(emu::block_elements(*this)) + offset) * bits;
    *high = std::max(*high, bytes.fits() ? bytes.value() / 8 : INT64_MAX);
  }
  return true;
}

namespace emu {

int64_t fractal_elements(aclDataType dtype, int64_t rows, int64_t cols) {
  const int64_t width = fractal_columns(dtype);
  const Checked tall = (rows - 1) / kFractalRows + 1, wide = (cols - 1) / width + 1;
  const Checked elements = tall * kFractalRows * wide * width;
  return elements.fits() ? elements.value() : kUncountable;
}

bool is_fractal(const aclTensor &tensor) { return tensor.format == ACL_FORMAT_FRACTAL_NZ; }

aclDataType block_dtype(const aclTensor &tensor) {
  const Dims &storage = tensor.storage_shape;
  if (storage.size() < 4 || storage[storage.size() - 2] != kFractalRows) return tensor.dtype;
  const int64_t columns = storage.back();
  const int bits = dtype_bits(tensor.dtype);
  if (bits == 4 && columns == fractal_columns(ACL_FLOAT16)) return ACL_FLOAT16;
  // Two elements of eight numbers each.
  if (bits == 32 && columns == fractal_columns(ACL_COMPLEX128)) return ACL_COMPLEX128;
  return tensor.dtype;
}

int64_t block_elements(const aclTensor &tensor) {
  const size_t rank = tensor.rank(), flipped = fractal_flipped(tensor) ? 1 : 0;
  Checked elements = fractal_elements(block_dtype(tensor), tensor.shape[rank - 2 + flipped],
                                      tensor.shape[rank - 1 - flipped]);
  for (size_t i = 0; i + 2 < rank; ++i) elements *= tensor.shape[i];
  return elements.fits() ? elements.value() : kUncountable;
}

bool within_storage(const aclTensor &tensor) {
  const Dims &storage = tensor.storage_shape;
  if (!is_fractal(tensor) || tensor.rank() < 2 || storage.empty() || tensor.numel() == 0)
    return true;
  Checked first = tensor.offset, last = tensor.offset;
  for (size_t i = 0; i < tensor.rank(); ++i) {
    const Checked span = Checked(tensor.shape[i] - 1) * tensor.strides[i];
    (span.value() < 0 ? first : last) += span;
  }
  // Programs also give the number of elements, without the padding of the last blocks.
  const bool in_blocks = storage.size() >= 4 && storage[storage.size() - 2] == kFractalRows;
  const Checked end = Checked(in_blocks ? block_elements(tensor) : tensor.numel()) + tensor.offset;
  const int64_t room = storage.count();
  return first.value() >= 0 && last.fits() && last.value() < room && end.fits() &&
         end.value() <= room;
}

bool fractal_flipped(const aclTensor &tensor) {
  const size_t rank = tensor.rank();
  const int64_t rows = tensor.shape[rank - 2], cols = tensor.shape[rank - 1];
  return tensor.strides[rank - 2] == 1 && tensor.strides[rank - 1] == rows && cols > 1 && rows > 1;
}

static std::atomic<uint64_t> g_moves{0};

uint64_t moves() { return g_moves.load(std::memory_order_relaxed); }

void move(aclTensor &tensor, void *address) {
  tensor.data = address;
  tensor.moved = g_moves.fetch_add(1, std::memory_order_relaxed) + 1;
}

Slots<aclTensor> &tensors() {
  static auto *const all = new Slots<aclTensor>(size_t{1} << 20);
  return *all;
}
Slots<aclTensorList> &tensor_lists() {
  static auto *const all = new Slots<aclTensorList>(size_t{1} << 18);
  return *all;
}

namespace {

// Handles are given out anew, identities never.
uint64_t next_identity() {
  constexpr uint64_t kBatch = 4096;  // threads do not meet at each tensor
  static std::atomic<uint64_t> given{1};
  thread_local uint64_t next = 0, end = 0;
  if (next == end) {
    next = given.fetch_add(kBatch);
    end = next + kBatch;
  }
  return next++;
}

}  // namespace

Dims contiguous_strides(const Dims &shape) {
  Dims strides;
  strides.resize(shape.size());
  int64_t step = 1;
  for (size_t i = shape.size(); i-- > 0;) {
    strides[i] = step;
    // of a shape that no operator takes
    if (!checked_mul(step, shape[i], &step)) step = kUncountable;
  }
  return strides;
}

namespace {

bool countable(const aclTensor &tensor) {
  const int64_t bits = std::max(dtype_bits(tensor.dtype), 1);
  Checked count = 1, first = tensor.offset, last = Checked(tensor.offset) + 1;
  for (size_t i = 0; i < tensor.shape.size(); ++i) {
    const int64_t extent = std::max<int64_t>(tensor.shape[i], 1);
    count *= extent;
    const Checked span = Checked(extent - 1) * tensor.strides[i];
    (span.value() < 0 ? first : last) += span;
  }
  // Spans in bytes are differences of the two ends.
  return (count * bits + 7).fits() && ((last - first) * bits + 7).fits() && (first * bits).fits() &&
         (last * bits + 7).fits();
}

// Fills a tensor from the arguments of aclCreateTensor; false with a message when they cannot be.
bool describe(aclTensor &tensor, const char *routine, const int64_t *view, uint64_t rank,
              aclDataType dtype, const int64_t *stride, int64_t offset, aclFormat format,
              const int64_t *storage, uint64_t storage_rank, void *data) {
  if ((view == nullptr && rank != 0) || (storage == nullptr && storage_rank != 0)) {
    fail(kNullPointer, "%s: %s is null while its count is %llu.", routine,
         view == nullptr && rank != 0 ? "viewDims" : "storageDims",
         static_cast<unsigned long long>(view == nullptr && rank != 0 ? rank : storage_rank));
    return false;
  }
  if (rank > Dims::kMax || storage_rank > Dims::kMax) {
    fail(kInvalid, "%s: %llu dimensions; at most %zu are possible.", routine,
         static_cast<unsigned long long>(std::max(rank, storage_rank)), Dims::kMax);
    return false;
  }
  for (uint64_t i = 0; i < rank; ++i) {
    if (view[i] < 0) {
      fail(kInvalid, "%s: viewDims[%llu] is %lld.", routine, static_cast<unsigned long long>(i),
           static_cast<long long>(view[i]));
      return false;
    }
  }
  tensor.dtype = dtype;
  tensor.format = format;
  tensor.shape.assign(view, rank);
  if (stride != nullptr) {
    tensor.strides.assign(stride, rank);
  } else {
    tensor.strides = contiguous_strides(tensor.shape);
  }
  tensor.storage_shape.assign(storage, storage_rank);
  tensor.offset = offset;
  tensor.data = data;
  tensor.countable = countable(tensor);
  if (faults::checking()) faults::look_at_tensor(routine, tensor);
  return true;
}

// The caller releases the array with delete[] (or free(): operator new[] is malloc on this
// platform).
Status copy_out(const Dims &dims, int64_t **values, uint64_t *count) {
  auto *array = new int64_t[std::max<size_t>(dims.size(), 1)];
  std::copy(dims.begin(), dims.end(), array);
  *values = array;
  *count = dims.size();
  return 0;
}

Status check_getter(const char *routine, const aclTensor *tensor, bool outs) {
  if (tensor == nullptr || !outs) {
    return fail(kNullPointer, "%s: %s is null.", routine,
                tensor == nullptr ? "tensor" : "an output");
  }
  if (!live(tensor)) {
    return fail(kInvalid, "%s: %p is not a live tensor (destroyed, or never one).", routine,
                static_cast<const void *>(tensor));
  }
  return 0;
}

}  // namespace
}  // namespace emu

using emu::check_getter;
using emu::fail;

EMU_EXPORT aclTensor *aclCreateTensor(const int64_t *viewDims, uint64_t viewDimsNum,
                                      aclDataType dataType, const int64_t *stride, int64_t offset,
                                      aclFormat format, const int64_t *storageDims,
                                      uint64_t storageDimsNum, void *tensorData) try {
  if (emu::check_process(__func__)) return nullptr;
  aclTensor *tensor = emu::tensors().create();
  if (tensor == nullptr) {
    fail(emu::kNoExecutor, "aclCreateTensor: too many live tensors (%zu).",
         emu::tensors().live_count());
    return nullptr;
  }
  if (!emu::describe(*tensor, __func__, viewDims, viewDimsNum, dataType, stride, offset, format,
                     storageDims, storageDimsNum, tensorData)) {
    emu::tensors().retire(tensor);
    emu::tensors().destroy(tensor);
    return nullptr;
  }
  tensor->identity = emu::next_identity();
  emu::faults::made("aclTensor", tensor);
  return tensor;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclInitTensor(aclTensor *tensor, const int64_t *viewDims,
                                     uint64_t viewDimsNum, aclDataType dataType,
                                     const int64_t *stride, int64_t offset, aclFormat format,
                                     const int64_t *storageDims, uint64_t storageDimsNum,
                                     void *tensorDataAddr) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, true)) return s;
  if ((viewDims == nullptr && viewDimsNum != 0) ||
      (storageDims == nullptr && storageDimsNum != 0)) {
    return fail(emu::kNullPointer,
                "aclInitTensor: a dims pointer is null while its count is not zero.");
  }
  return emu::describe(*tensor, __func__, viewDims, viewDimsNum, dataType, stride, offset, format,
                       storageDims, storageDimsNum, tensorDataAddr)
             ? 0
             : emu::kInvalid;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclDestroyTensor(const aclTensor *tensor) try {
  EMU_ENTER();
  if (tensor == nullptr) return 0;
  if (!emu::tensors().retire(tensor)) {
    return fail(emu::kInvalid,
                "aclDestroyTensor: %p is not a live tensor (destroyed before, or never one).",
                static_cast<const void *>(tensor));
  }
  emu::faults::ended(tensor);
  emu::tensors().destroy(const_cast<aclTensor *>(tensor));
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetViewShape(const aclTensor *tensor, int64_t **viewDims,
                                       uint64_t *viewDimsNum) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, viewDims && viewDimsNum)) return s;
  return emu::copy_out(tensor->shape, viewDims, viewDimsNum);
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetStorageShape(const aclTensor *tensor, int64_t **storageDims,
                                          uint64_t *storageDimsNum) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, storageDims && storageDimsNum)) return s;
  return emu::copy_out(tensor->storage_shape, storageDims, storageDimsNum);
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetViewStrides(const aclTensor *tensor, int64_t **stridesValue,
                                         uint64_t *stridesNum) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, stridesValue && stridesNum)) return s;
  return emu::copy_out(tensor->strides, stridesValue, stridesNum);
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetViewOffset(const aclTensor *tensor, int64_t *offset) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, offset != nullptr)) return s;
  *offset = tensor->offset;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetFormat(const aclTensor *tensor, aclFormat *format) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, format != nullptr)) return s;
  *format = tensor->format;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetDataType(const aclTensor *tensor, aclDataType *dataType) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, dataType != nullptr)) return s;
  *dataType = tensor->dtype;
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclSetRawTensorAddr(aclTensor *tensor, void *addr) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, true)) return s;
  emu::move(*tensor, addr);
  return 0;
}
EMU_CATCH

EMU_EXPORT aclnnStatus aclGetRawTensorAddr(const aclTensor *tensor, void **addr) try {
  EMU_ENTER();
  if (const emu::Status s = check_getter(__func__, tensor, addr != nullptr)) return s;
  *addr = tensor->data;
  return 0;
}
EMU_CATCH
