// SPDX-License-Identifier: Apache-2.0
// Filters of images in FRACTAL_Z and of volumes in FRACTAL_Z_3D: blocks of 16 channels of the
// output and 32 bytes of channels of the input.
#pragma once

#include <memory>

#include "ops/copy/blocked_format.h"
#include "ops/op.h"

namespace emu {

// The blocks of filters of four dimensions (NCHW) or five (NCDHW).
bool pair_filters(const aclTensor &weight, FormatPair *pair);

// The rules of filters that are given in blocks; `maker` is the operator that makes them.
Check &check_filter_blocks(Check &check, const aclTensor &weight, const char *maker);

// The filters behind each other as their shape says; `dense` lies in `memory`. A fault where the
// blocks do not fit at their address, of which phase one only knew the storage shape.
Status unpack_filters(const char *op, const aclTensor &weight, int device,
                      std::unique_ptr<char[]> *memory, View *dense);

// Dense filters of the same dtype into the blocks of `weight`; what a block has beyond them
// becomes 0.
Status pack_filters(const char *op, const char *dense, const aclTensor &weight, int device);

}  // namespace emu
