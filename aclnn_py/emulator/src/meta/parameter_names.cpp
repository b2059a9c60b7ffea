// SPDX-License-Identifier: Apache-2.0
#include "meta/parameter_names.h"

#include "meta/parameters.h"

namespace emu {

std::string parameter_text(const char *op, const std::vector<PlanTensor> &tensors, size_t index) {
  const PlanTensor &entry = tensors[index];
  const TensorParameters parameters = find_tensor_parameters(op);
  std::string text = entry.list >= 0 && entry.list < parameters.count
                         ? parameters.first[entry.list].name
                         : "tensor " + std::to_string(index);
  if (entry.member >= 0) text += "[" + std::to_string(entry.member) + "]";
  text += " (";
  for (size_t axis = 0; axis < entry.tensor.rank(); ++axis)
    text += (axis > 0 ? ", " : "") + std::to_string(entry.tensor.shape[axis]);
  return text + ") " + dtype_name(entry.tensor.dtype);
}

}  // namespace emu
