// SPDX-License-Identifier: Apache-2.0
// Whole families this device does not have. Every call answers "feature not supported" and says
// which.
//
// The functions are defined without their parameters: the callee reads none, and the C calling
// conventions of the supported machines let the caller pass them. Hence no header that declares
// them is included here.
#include <cstddef>
#include <cstdint>

#include "acl/acl_base_rt.h"
#include "core/export.h"
#include "core/status.h"

namespace {

emu::Status refuse(const char *family, const char *name) {
  return emu::inform(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "%s: the emulator has no %s.", name, family);
}

}  // namespace

#define EMU_STATUS(family, name)                              \
  EMU_EXPORT int name() try { return refuse(family, #name); } \
  EMU_CATCH
#define EMU_POINTER(family, name) \
  EMU_EXPORT void *name() try {   \
    refuse(family, #name);        \
    return nullptr;               \
  }                               \
  EMU_CATCH
#define EMU_NOTHING(family, name)                       \
  EMU_EXPORT void name() try { refuse(family, #name); } \
  EMU_CATCH_VOID
#define EMU_NUMBER(family, name)   \
  EMU_EXPORT uint64_t name() try { \
    refuse(family, #name);         \
    return 0;                      \
  }                                \
  EMU_CATCH
#define EMU_UNDEFINED(family, name) \
  EMU_EXPORT int name() try {       \
    refuse(family, #name);          \
    return -1;                      \
  }                                 \
  EMU_CATCH

#include "runtime/unsupported.inc"
