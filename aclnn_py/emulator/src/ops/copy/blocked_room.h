// SPDX-License-Identifier: Apache-2.0
// Tensors that become blocked where they lie.
#pragma once

#include "meta/tensor.h"

namespace emu {

// Whether the blocked form has room behind the tensor: its storage says so, or the storage is
// described as the plain matrix and lies in an allocation of its own, made for the blocked form.
// Memory that is shared out to several tensors is neither.
bool has_room(const aclTensor &weight, int64_t needed);

}  // namespace emu
