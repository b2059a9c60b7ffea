// SPDX-License-Identifier: Apache-2.0
// The objects of aclnn, made from what a program gave to the aclop interface.
#include "aclop/call.h"

#include <algorithm>
#include <cstdint>

#include "aclnnop/conversion.h"
#include "core/memory.h"
#include "core/program_memory.h"
#include "core/status.h"
#include "meta/formats.h"

namespace emu::aclop {
namespace {

aclFormat plain_format_of(const aclTensorDesc &d) {
  return d.origin_format != ACL_FORMAT_UNDEFINED ? d.origin_format : d.format;
}
aclFormat storage_format_of(const aclTensorDesc &d) {
  return d.storage_format != ACL_FORMAT_UNDEFINED ? d.storage_format : d.format;
}
const std::vector<int64_t> &view_dims_of(const aclTensorDesc &d) {
  return d.origin_dims.empty() ? d.dims : d.origin_dims;
}
const std::vector<int64_t> &storage_dims_of(const aclTensorDesc &d) {
  return d.storage_dims.empty() ? d.dims : d.storage_dims;
}

bool on_host(const aclTensorDesc &d) {
  return !d.constant.empty() || d.placement != ACL_MEMTYPE_DEVICE;
}

size_t bytes_of(const std::vector<int64_t> &dims, aclDataType dtype) {
  const Checked bits = Checked(count_of(dims.data(), dims.size())) * dtype_bits(dtype) + 7;
  return bits.fits() ? static_cast<size_t>(bits.value() / 8) : SIZE_MAX;
}

aclTensor *create(const aclTensorDesc &d, const std::vector<int64_t> &view, aclFormat format,
                  const std::vector<int64_t> &storage, void *data) {
  const Dims strides = contiguous_strides(Dims(view.data(), view.size()));
  return aclCreateTensor(view.data(), view.size(), d.dtype, strides.data(), 0, format,
                         storage.data(), storage.size(), data);
}

}  // namespace

DeviceBlock::~DeviceBlock() {
  if (address != nullptr) device_free(address, "aclop");
}

Call::~Call() {
  // A list destroys its members, which therefore are not in tensors_.
  for (aclTensorList *l : lists_) aclDestroyTensorList(l);
  for (aclTensor *t : tensors_) aclDestroyTensor(t);
  for (aclScalar *s : scalars_) aclDestroyScalar(s);
  for (aclIntArray *a : int_arrays_) aclDestroyIntArray(a);
  for (aclBoolArray *a : bool_arrays_) aclDestroyBoolArray(a);
}

aclTensor *Call::keep(aclTensor *made) {
  if (made == nullptr) refuse(ACL_ERROR_INVALID_PARAM, "a tensor could not be made");
  else tensors_.push_back(made);
  return made;
}

// Where an operand lies on the device; host memory is to be copied there before the kernel runs.
void *Call::address_of(const Operand &operand, size_t bytes, const char *name) {
  const aclTensorDesc &d = *operand.desc;
  if (device_ < 0) return nullptr;
  if (!on_host(d)) {
    if (operand.buffer->size < bytes) {
      refuse(ACL_ERROR_INVALID_PARAM, "%s takes %zu bytes, its data buffer has %zu", name, bytes,
             operand.buffer->size);
    }
    return operand.buffer->data;
  }
  const void *from = d.constant.empty() ? operand.buffer->data : d.constant.data();
  const size_t have = d.constant.empty() ? operand.buffer->size : d.constant.size();
  if (bytes == 0) return nullptr;
  if (from == nullptr || have < bytes || device_of_address(from) >= 0) {
    refuse(ACL_ERROR_INVALID_PARAM, "%s takes %zu bytes of host memory; %zu bytes are given at %p",
           name, bytes, have, from);
    return nullptr;
  }
  auto block = std::make_shared<DeviceBlock>();
  if (const Status s = device_malloc(device_, bytes, &block->address, routine_)) {
    status_ = s;
    return nullptr;
  }
  uploads_.push_back({block, std::vector<char>(bytes)});
  if (const Status s = copy_memory(routine_, ACL_ERROR_INVALID_PARAM, uploads_.back().bytes.data(),
                                   from, bytes)) {
    status_ = s;
    return nullptr;
  }
  return block->address;
}

aclTensor *Call::make(const Operand &operand, const char *name) {
  const aclTensorDesc &d = *operand.desc;
  const auto &storage = storage_dims_of(d);
  void *data = address_of(operand, bytes_of(storage, d.dtype), name);
  if (failed()) return nullptr;
  return create(d, view_dims_of(d), storage_format_of(d), storage, data);
}

aclTensor *Call::tensor(In port) {
  const Operand *found = operand(port);
  if (found == nullptr || failed()) return nullptr;
  return keep(make(*found, row_.inputs[port.at].name));
}

aclTensor *Call::tensor(Out port) {
  const Operand *found = operand(port);
  if (found == nullptr || failed()) return nullptr;
  const char *name = row_.outputs[port.at].name;
  if (on_host(*found->desc)) {
    refuse(ACL_ERROR_INVALID_PARAM, "%s is an output and has to lie in device memory", name);
    return nullptr;
  }
  return keep(make(*found, name));
}

aclTensor *Call::transposed(In port, At flag_at) {
  aclTensor *made = tensor(port);
  if (made == nullptr || !flag(flag_at)) return made;
  const size_t rank = made->rank();
  if (rank < 2) {
    refuse(ACL_ERROR_OP_INPUT_NOT_MATCH, "%s has %zu dimensions and cannot be transposed",
           row_.inputs[port.at].name, rank);
    return nullptr;
  }
  std::swap(made->shape[rank - 1], made->shape[rank - 2]);
  std::swap(made->strides[rank - 1], made->strides[rank - 2]);
  return made;
}

bool Call::alike(const Operand *a, const Operand *b) {
  if (failed() || a == nullptr || b == nullptr) return false;
  if (a->desc->dtype == b->desc->dtype && view_dims_of(*a->desc) == view_dims_of(*b->desc))
    return true;
  refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH, "input and output differ in data type or shape");
  return false;
}

aclTensor *Call::reshaped(In port, Out to, In shape_port) {
  std::vector<int64_t> wanted = values(shape_port);
  const Operand *from = operand(port), *target = operand(to);
  if (failed() || from == nullptr || target == nullptr) return nullptr;
  const auto &given = view_dims_of(*from->desc), &made = view_dims_of(*target->desc);
  bool fits = wanted.size() == made.size() && from->desc->dtype == target->desc->dtype &&
              bytes_of(given, ACL_INT8) == bytes_of(made, ACL_INT8);
  for (size_t i = 0; fits && i < made.size() && !deferred_; ++i)
    fits = wanted[i] == made[i] || wanted[i] == -1 ||
           (wanted[i] == 0 && i < given.size() && given[i] == made[i]);
  if (!fits && !deferred_) {
    refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH,
           "the output has not the shape or the data type asked for");
    return nullptr;
  }
  void *data = address_of(*from, bytes_of(given, from->desc->dtype), row_.inputs[port.at].name);
  return failed() ? nullptr
                  : keep(create(*from->desc, made, plain_format_of(*target->desc), made, data));
}

aclTensor *Call::filling(In value, In dims, Out to) {
  const std::vector<int64_t> wanted = values(dims);
  const Operand *number = operand(value), *target = operand(to);
  if (failed() || number == nullptr || target == nullptr) return nullptr;
  if (!deferred_ && wanted != view_dims_of(*target->desc)) {
    refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH, "the output has not the shape that %s has",
           row_.inputs[dims.at].name);
  } else if (number->desc->dtype != target->desc->dtype) {
    refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH, "the output has another data type than %s",
           row_.inputs[value.at].name);
  }
  return tensor(value);
}

aclTensorList *Call::list_of(const Operand *first, size_t count, const char *name) {
  std::vector<aclTensor *> members;
  for (size_t i = 0; i < count && !failed(); ++i) members.push_back(keep(make(first[i], name)));
  if (failed()) return nullptr;
  aclTensorList *list = aclCreateTensorList(members.data(), members.size());
  if (list == nullptr) {
    refuse(ACL_ERROR_INVALID_PARAM, "a list of tensors could not be made");
    return nullptr;
  }
  tensors_.resize(tensors_.size() - members.size());
  lists_.push_back(list);
  return list;
}

aclTensorList *Call::list(In port) {
  return list_of(operand(port), in_[port.at].count, row_.inputs[port.at].name);
}

aclTensorList *Call::list(Out port) {
  return list_of(operand(port), out_[port.at].count, row_.outputs[port.at].name);
}

// The bytes of a blocked tensor as one row of elements.
aclTensor *Call::flat_storage(const Operand &operand) {
  const auto &storage = storage_dims_of(*operand.desc);
  const int64_t count = count_of(storage.data(), storage.size());
  void *data = address_of(operand, bytes_of(storage, operand.desc->dtype), "a tensor");
  if (failed()) return nullptr;
  return keep(create(*operand.desc, {count}, ACL_FORMAT_ND, {count}, data));
}

Status Call::copied(In from, Out to, uint64_t *workspace, aclOpExecutor **executor) {
  const Operand &x = *operand(from), &y = *operand(to);
  const aclFormat source = storage_format_of(*x.desc), target = storage_format_of(*y.desc);
  if (x.desc->dtype != y.desc->dtype)
    refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH, "input and output differ in data type");
  const bool plain = is_plain(source) && is_plain(target);
  const bool one_order =
      source == target || (plain && (source == ACL_FORMAT_ND || target == ACL_FORMAT_ND));
  if (plain && !one_order) {
    refuse(ACL_ERROR_FORMAT_NOT_MATCH, "there is no cast from %s to %s", format_name(source),
           format_name(target));
  }
  if (failed()) return status_;
  if (one_order) {
    if (bytes_of(storage_dims_of(*x.desc), ACL_INT8) !=
        bytes_of(storage_dims_of(*y.desc), ACL_INT8))
      refuse(ACL_ERROR_OP_OUTPUT_NOT_MATCH, "input and output differ in size");
    aclTensor *read = flat_storage(x), *written = flat_storage(y);
    if (failed()) return status_;
    runs(&aclnnInplaceCopy);
    return aclnnInplaceCopyGetWorkspaceSize(written, read, workspace, executor);
  }
  // One that was described in blocks alone has the shape of the other.
  const auto cast = [&](const Operand &own, const Operand &other) {
    const aclTensorDesc &d = *own.desc;
    const bool bare =
        !is_plain(storage_format_of(d)) && d.storage_dims.empty() && d.origin_dims.empty();
    const auto &storage = storage_dims_of(d);
    void *data = address_of(own, bytes_of(storage, d.dtype), "a tensor");
    return failed() ? nullptr
                    : keep(create(d, view_dims_of(bare ? *other.desc : d), storage_format_of(d),
                                  storage, data));
  };
  aclTensor *read = cast(x, y), *written = cast(y, x);
  if (failed()) return status_;
  runs(&aclnnNpuFormatCast);
  return aclnnNpuFormatCastGetWorkspaceSize(read, written, workspace, executor);
}

Status Call::copied(In from, Out to, At source, At target, uint64_t *workspace,
                    aclOpExecutor **executor) {
  const aclFormat formats[] = {storage_format_of(*operand(from)->desc),
                               storage_format_of(*operand(to)->desc)};
  const At named[] = {source, target};
  for (int i = 0; i < 2; ++i) {
    const std::string &text = attributes_[named[i].at].texts.at(0);
    if (text != format_name(formats[i])) {
      refuse(ACL_ERROR_OP_ATTR_NOT_MATCH, "attribute %s is \"%s\", its tensor has format %s",
             name_of(named[i]), text.c_str(), format_name(formats[i]));
    }
  }
  return failed() ? status_ : copied(from, to, workspace, executor);
}

}  // namespace emu::aclop
