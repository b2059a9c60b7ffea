// SPDX-License-Identifier: Apache-2.0
#include "core/export.h"

#include <cstring>
#include <new>
#include <stdexcept>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"
#include "core/statuses.h"
#include "hccl/hccl_types.h"

namespace emu {
namespace {

bool starts_with(const char *text, const char *head) {
  return std::strncmp(text, head, std::strlen(head)) == 0;
}

// A container that is asked for more than it can ever hold says so with length_error instead of
// bad_alloc.
bool is_shortage(const std::exception &problem) {
  return dynamic_cast<const std::bad_alloc *>(&problem) != nullptr ||
         dynamic_cast<const std::length_error *>(&problem) != nullptr;
}

}  // namespace

Caught caught(const char *routine, const std::exception &problem) noexcept {
  const bool shortage = is_shortage(problem);
  Status code = shortage ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_INTERNAL_ERROR;
  if (starts_with(routine, "aclnn")) code = shortage ? ACL_ERROR_RT_MEMORY_ALLOCATION : kInner;
  if (starts_with(routine, "Hccl")) code = shortage ? HCCL_E_MEMORY : HCCL_E_INTERNAL;
  const char *message_code = starts_with(routine, "Hccl") ? "EI9999" : nullptr;
  if (shortage) {
    fail_as(message_code, code, "%s: the host has no memory left for it (%s).", routine,
            problem.what());
  } else {
    fail_as(message_code, code, "%s: %s.", routine, problem.what());
  }
  return Caught(code);
}

}  // namespace emu
