// SPDX-License-Identifier: Apache-2.0
#include "faults/sketch.h"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "core/memory.h"
#include "meta/formats.h"
#include "meta/parameters.h"

namespace emu::faults {
namespace {

constexpr size_t kMostRank = 10, kMostArguments = 64, kMostLetters = 16384;
constexpr uintptr_t kAlignment = 64;  // tensors in a piece are as aligned as they were
constexpr size_t kMostTensors = 100000;

// NumPy's, ml_dtypes' or CANN's name; null for a type that records do not have.
const char *recorded_name(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT: return "float32";
    case ACL_FLOAT16: return "float16";
    case ACL_INT8: return "int8";
    case ACL_INT32: return "int32";
    case ACL_UINT8: return "uint8";
    case ACL_INT16: return "int16";
    case ACL_UINT16: return "uint16";
    case ACL_UINT32: return "uint32";
    case ACL_INT64: return "int64";
    case ACL_UINT64: return "uint64";
    case ACL_DOUBLE: return "float64";
    case ACL_BOOL: return "bool";
    case ACL_COMPLEX64: return "complex64";
    case ACL_COMPLEX128: return "complex128";
    case ACL_BF16: return "bfloat16";
    case ACL_INT4: return "int4";
    case ACL_COMPLEX32: return "complex32";
    case ACL_HIFLOAT8: return "hifloat8";
    case ACL_FLOAT8_E5M2: return "float8_e5m2";
    case ACL_FLOAT8_E4M3FN: return "float8_e4m3fn";
    case ACL_FLOAT8_E8M0: return "float8_e8m0fnu";
    case ACL_FLOAT6_E3M2: return "float6_e3m2fn";
    case ACL_FLOAT6_E2M3: return "float6_e2m3fn";
    case ACL_FLOAT4_E2M1: return "float4_e2m1fn";
    case ACL_FLOAT4_E1M2: return "float4_e1m2";
    default: return nullptr;
  }
}

std::string float_text(double value) {
  if (std::isnan(value)) return "\"nan\"";
  if (std::isinf(value)) return value < 0 ? "\"-inf\"" : "\"inf\"";
  char text[40];
  std::snprintf(text, sizeof text, "\"%a\"", value);
  return text;
}

std::string dims_text(const Dims &dims) {
  std::string text = "[";
  for (const int64_t value : dims) text += (text.size() > 1 ? "," : "") + std::to_string(value);
  return text + "]";
}

// The blocks of a whole matrix, or of one whose two dimensions were exchanged.
bool is_whole_fractal(const aclTensor &tensor) {
  Dims shape = tensor.shape;
  if (shape.size() < 2 || tensor.offset != 0) return false;
  if (!tensor.contiguous()) {
    std::swap(shape[shape.size() - 1], shape[shape.size() - 2]);
    Dims strides = contiguous_strides(shape);
    std::swap(strides[strides.size() - 1], strides[strides.size() - 2]);
    if (strides != tensor.strides) return false;
  }
  const int64_t wide = fractal_columns(tensor.dtype), rows = shape[shape.size() - 2];
  const int64_t columns = shape.back();
  Dims stored(shape.data(), shape.size() - 2);
  for (const int64_t size :
       {(columns + wide - 1) / wide, (rows + kFractalRows - 1) / kFractalRows, kFractalRows, wide})
    stored.push_back(size);
  return stored == tensor.storage_shape;
}

// Why a record cannot hold a tensor; null when it can.
const char *strange(const aclTensor &tensor) {
  if (recorded_name(tensor.dtype) == nullptr) return "a tensor's dtype";
  if (!tensor.countable || tensor.shape.size() > kMostRank) return "a tensor's shape";
  for (const Dims *dims : {&tensor.shape, &tensor.strides, &tensor.storage_shape}) {
    if (std::any_of(dims->begin(), dims->end(), [](int64_t value) { return value < 0; }))
      return "a negative length or stride";
  }
  if (is_plain(tensor.format)) return nullptr;
  const bool fractal = tensor.format == ACL_FORMAT_FRACTAL_NZ && is_whole_fractal(tensor);
  return fractal ? nullptr : "a tensor's format";
}

class Writer {
 public:
  Writer(Sketch *sketch, std::string *why)
      : sketch_(*sketch), why_(*why), tensors_(find_tensor_parameters(sketch->op.c_str())) {}

  bool argument(const Value &value, std::string *text) {
    switch (value.kind) {
      case Kind::integer: return said(text, std::to_string(value.number()));
      case Kind::natural:
        return said(text, std::to_string(value.bytes >= 8 ? value.bits
                                                          : static_cast<uint32_t>(value.bits)));
      case Kind::boolean: return said(text, (value.bits & 1) != 0 ? "1" : "0");
      case Kind::real: return said(text, float_text(value.fraction()));
      case Kind::enumeration: return dtype(value, text);
      case Kind::tensor: return one_tensor(value, text);
      case Kind::tensor_list: return tensor_list(value, text);
      case Kind::text: return letters(static_cast<const char *>(value.pointer()), text);
      default: break;
    }
    if (value.bits == 0) return said(text, "null");
    switch (value.kind) {
      case Kind::scalar: return scalar(value.pointer(), text);
      case Kind::scalar_list: {
        const aclScalarList *list = scalar_lists().find(value.pointer());
        return list != nullptr ? items(list->members, text,
                                       [this](const aclScalar *member, std::string *item) {
                                         return scalar(member, item);
                                       })
                               : destroyed();
      }
      case Kind::int_array:
        return array(int_arrays().find(value.pointer()), text,
                     [](int64_t item) { return std::to_string(item); });
      case Kind::float_array:
        return array(float_arrays().find(value.pointer()), text,
                     [](float item) { return float_text(item); });
      case Kind::bool_array:
        return array(bool_arrays().find(value.pointer()), text,
                     [](unsigned char item) { return std::string(item ? "true" : "false"); });
      default: return refused("an argument's type");
    }
  }

 private:
  static bool said(std::string *text, std::string what) {
    *text = std::move(what);
    return true;
  }
  bool refused(const char *why) {
    why_ = std::string("a record does not hold ") + why;
    return false;
  }
  bool destroyed() {
    why_ = "an argument was destroyed";
    return false;
  }

  bool dtype(const Value &value, std::string *text) {
    if (value.number() < 0) return said(text, "null");
    const char *name = recorded_name(static_cast<aclDataType>(value.number()));
    if (name == nullptr) return refused("a dtype among the arguments");
    return said(text, std::string("\"") + name + "\"");
  }

  bool letters(const char *text, std::string *written) {
    if (text == nullptr) return said(written, "null");
    const std::string all = text;
    if (all.size() > kMostLetters) return refused("so long a text");
    for (const char letter : all) {
      if (static_cast<unsigned char>(letter) > 126) return refused("a text that is not ASCII");
    }
    if (sketch_.group.empty()) sketch_.group = all;
    return said(written, json_text(all));
  }

  bool scalar(const void *handle, std::string *text) {
    const aclScalar *scalar = scalars().find(handle);
    if (scalar == nullptr) return destroyed();
    const char *name = recorded_name(scalar->dtype);
    const int bits = dtype_bits(scalar->dtype);
    if (name == nullptr || bits < 8 || scalar->dtype == ACL_HIFLOAT8)
      return refused("a scalar's dtype");
    std::string bytes;
    for (int i = 0; i < bits / 8; ++i) {
      bytes += "0123456789abcdef"[scalar->value[i] >> 4];
      bytes += "0123456789abcdef"[scalar->value[i] & 15];
    }
    return said(text, std::string("[\"") + name + "\",\"" + bytes + "\"]");
  }

  template <class T, class Text>
  bool array(const T *held, std::string *text, Text text_of) {
    if (held == nullptr) return destroyed();
    return items(held->values, text, [&](auto item, std::string *written) {
      *written = text_of(item);
      return true;
    });
  }

  template <class Items, class Each>
  static bool items(const Items &all, std::string *text, Each each) {
    *text = "[";
    for (const auto &item : all) {
      std::string one;
      if (!each(item, &one)) return false;
      *text += (text->size() > 1 ? "," : "") + one;
    }
    *text += "]";
    return true;
  }

  bool add(const aclTensor *tensor, int32_t member, std::string *text) {
    if (tensor == nullptr) return said(text, "null");
    if (!live(tensor)) return destroyed();
    if (const char *why = strange(*tensor)) return refused(why);
    if (sketch_.tensors.size() == kMostTensors) return refused("so many tensors");
    *text = std::to_string(sketch_.tensors.size());
    const bool written = argument_ < tensors_.count && tensors_.first[argument_].written;
    sketch_.tensors.push_back({*tensor, argument_, member, written, 0});
    return true;
  }

  bool one_tensor(const Value &value, std::string *text) {
    const bool added = add(static_cast<const aclTensor *>(value.pointer()), -1, text);
    ++argument_;
    return added;
  }

  bool tensor_list(const Value &value, std::string *text) {
    const auto *list = static_cast<const aclTensorList *>(value.pointer());
    if (list != nullptr && !live(list)) return destroyed();
    int32_t member = 0;
    *text = "null";
    const bool added =
        list == nullptr || items(list->members, text, [&](const aclTensor *one, std::string *item) {
          return add(one, member++, item);
        });
    ++argument_;
    return added;
  }

  Sketch &sketch_;
  std::string &why_;
  const TensorParameters tensors_;
  int32_t argument_ = 0;  // among tensors and lists
};

int64_t offset_in(const SketchTensor &one, const SketchMemory &memory) {
  const auto data = reinterpret_cast<uintptr_t>(one.tensor.data);
  const int64_t bits = dtype_bits(one.tensor.dtype);
  return static_cast<int64_t>(data - memory.start) * 8 / bits + one.tensor.offset;
}

}  // namespace

bool sketch_arguments(const Call &call, const Signature &signature, Sketch *sketch,
                      std::string *why) {
  constexpr size_t kEnding = sizeof "GetWorkspaceSize" - 1;
  sketch->op = signature.name.substr(0, signature.name.size() - kEnding);
  if (call.count - 2 > kMostArguments) {
    *why = "a record does not hold so many arguments";
    return false;
  }
  Writer writer(sketch, why);
  for (size_t i = 0; i + 2 < call.count; ++i) {
    std::string text;
    if (!writer.argument(call.value(i), &text)) return false;
    sketch->arguments += (i > 0 ? "," : "") + text;
  }
  return true;
}

bool find_memories(Sketch *sketch, std::string *why) {
  auto &memories = sketch->memories;
  memories.clear();
  for (SketchTensor &one : sketch->tensors) {
    int64_t low = 0, high = 0;
    if (!one.tensor.reach(&low, &high)) {
      low = high = 0;
      one.tensor.data = nullptr;  // nothing is read there
      one.tensor.offset = 0;
    }
    const auto data = reinterpret_cast<uintptr_t>(one.tensor.data);
    void *start = nullptr;
    size_t size = 0;
    const bool on_device = data != 0 && find_block(one.tensor.at(low), &start, &size, nullptr);
    SketchMemory piece;
    piece.block = on_device ? reinterpret_cast<uintptr_t>(start) : 0;
    const uintptr_t first = data + static_cast<uintptr_t>(low);
    piece.start = first - (first - piece.block) % kAlignment;
    piece.end = data + static_cast<uintptr_t>(high);
    piece.written = one.written;
    if (on_device && piece.end - piece.block > size) {
      *why = "a tensor reaches beyond its memory";
      return false;
    }
    auto at = std::find_if(memories.begin(), memories.end(), [&](const SketchMemory &known) {
      return known.block != 0 && known.block == piece.block;
    });
    if (at == memories.end()) {
      one.memory = memories.size();
      memories.push_back(piece);
      continue;
    }
    one.memory = static_cast<size_t>(at - memories.begin());
    at->start = std::min(at->start, piece.start);
    at->end = std::max(at->end, piece.end);
    at->written = at->written || piece.written;
  }
  for (const SketchTensor &one : sketch->tensors) {
    const SketchMemory &memory = memories[one.memory];
    const auto skipped = reinterpret_cast<uintptr_t>(one.tensor.data) - memory.start;
    const auto bits = static_cast<uintptr_t>(dtype_bits(one.tensor.dtype));
    const bool blocked = !is_plain(one.tensor.format);
    if (skipped * 8 % bits != 0 || offset_in(one, memory) < 0 ||
        (blocked && offset_in(one, memory) != 0)) {
      *why = "a record does not hold a tensor at such an address";
      return false;
    }
  }
  return true;
}

std::string json_text(const std::string &text) {
  std::string quoted = "\"";
  for (const char letter : text) {
    char escaped[8];
    if (letter == '"' || letter == '\\') {
      quoted += '\\';
      quoted += letter;
    } else if (static_cast<unsigned char>(letter) < ' ' || letter == 127) {
      std::snprintf(escaped, sizeof escaped, "\\u%04x", static_cast<unsigned>(letter));
      quoted += escaped;
    } else {
      quoted += static_cast<unsigned char>(letter) > 126 ? '?' : letter;
    }
  }
  return quoted + "\"";
}

std::string views_text(const Sketch &sketch) {
  std::string text;
  for (const SketchTensor &one : sketch.tensors) {
    const aclTensor &tensor = one.tensor;
    text += (text.empty() ? "" : ",") + ("{\"memory\":" + std::to_string(one.memory)) +
            ",\"offset\":" + std::to_string(offset_in(one, sketch.memories[one.memory])) +
            ",\"shape\":" + dims_text(tensor.shape) + ",\"strides\":" + dims_text(tensor.strides) +
            ",\"dtype\":\"" + recorded_name(tensor.dtype) + "\",\"format\":\"" +
            format_name(tensor.format) + "\",\"storage_shape\":" + dims_text(tensor.storage_shape) +
            "}";
  }
  return text;
}

std::string memories_text(const Sketch &sketch) {
  const auto name = [](const std::string &text) {
    return text.empty() ? std::string("null") : "\"" + text + "\"";
  };
  std::string text;
  for (const SketchMemory &memory : sketch.memories) {
    text += (text.empty() ? "" : ",") + ("{\"nbytes\":" + std::to_string(memory.bytes())) +
            ",\"before\":" + name(memory.before) + ",\"after\":" + name(memory.after) + "}";
  }
  return text;
}

}  // namespace emu::faults
