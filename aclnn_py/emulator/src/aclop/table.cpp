// SPDX-License-Identifier: Apache-2.0
// The generated table: an operator type, and the call of its aclnn form.
#include <cstring>

#include "aclnnop/activation.h"
#include "aclnnop/conv.h"
#include "aclnnop/conversion.h"
#include "aclnnop/foreach.h"
#include "aclnnop/image.h"
#include "aclnnop/index.h"
#include "aclnnop/loss.h"
#include "aclnnop/math.h"
#include "aclnnop/matmul.h"
#include "aclnnop/norm.h"
#include "aclnnop/optim.h"
#include "aclnnop/pooling.h"
#include "aclnnop/posembedding.h"
#include "aclnnop/vfusion.h"
#include "aclop/call.h"

namespace emu::aclop {
namespace {

#include "aclop_rows.inc"

}  // namespace

const Row *find_row(const char *type) {
  size_t low = 0, high = sizeof kRows / sizeof kRows[0];
  while (low < high) {
    const size_t middle = (low + high) / 2;
    const int order = std::strcmp(kRows[middle].type, type);
    if (order == 0) return &kRows[middle];
    if (order < 0) low = middle + 1;
    else high = middle;
  }
  return nullptr;
}

}  // namespace emu::aclop
