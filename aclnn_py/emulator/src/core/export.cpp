// SPDX-License-Identifier: Apache-2.0
#include "core/export.h"

#include <cerrno>
#include <cstring>
#include <new>
#include <stdexcept>
#include <string>
#include <system_error>

#include "acl/acl_base.h"
#include "aclnn/aclnn_base.h"
#include "core/host_limits.h"
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

// What the system refused, with the limits behind it; empty where that is not known, or there is no
// memory for the words.
std::string reason_of(const std::exception &problem) noexcept try {
  if (dynamic_cast<const HostRefusal *>(&problem) != nullptr) return "";  // says so itself
  if (dynamic_cast<const std::bad_alloc *>(&problem) != nullptr) return refusal(ENOMEM);
  const auto *of_system = dynamic_cast<const std::system_error *>(&problem);
  return of_system != nullptr ? refusal(of_system->code().value()) : "";
} catch (const std::exception &) {
  return "";
}

}  // namespace

Caught caught(const char *routine, const std::exception &problem) noexcept {
  const bool shortage = is_shortage(problem);
  Status code = shortage ? ACL_ERROR_BAD_ALLOC : ACL_ERROR_INTERNAL_ERROR;
  if (starts_with(routine, "aclnn")) code = shortage ? ACL_ERROR_RT_MEMORY_ALLOCATION : kInner;
  if (starts_with(routine, "Hccl")) code = shortage ? HCCL_E_MEMORY : HCCL_E_INTERNAL;
  const char *message_code = starts_with(routine, "Hccl") ? "EI9999" : nullptr;
  const std::string why = reason_of(problem);
  const char *const text = why.empty() ? problem.what() : why.c_str();
  if (shortage) {
    fail_as(message_code, code, "%s: the host has no memory left for it (%s).", routine, text);
  } else {
    fail_as(message_code, code, "%s: %s.", routine, text);
  }
  return Caught(code);
}

}  // namespace emu
