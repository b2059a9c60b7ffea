// SPDX-License-Identifier: Apache-2.0
// Whole families this device does not have. Every call answers "feature not supported" in the
// statuses of its library, and says which family and why.
//
// The functions are defined without their parameters: the callee reads none, and the C calling
// conventions of the supported machines let the caller pass them. Hence no header that declares
// them is included here.
// build alone: the headers that other sources include declare these functions.
#include <cstddef>
#include <cstdint>

#include "acl/acl_base_rt.h"
#include "core/export.h"
#include "core/status.h"
#include "hccl/hccl_types.h"

namespace {

struct Family {
  const char *name, *why;
};

// HccnResult has no number for it; this is HCCN_E_FAIL.
constexpr int kHccnFailed = 2;

emu::Status refuse(emu::Status status, const Family &family, const char *name) {
  return emu::inform(status, "%s: the emulator has no %s: %s.", name, family.name, family.why);
}

emu::Status refuse(const Family &family, const char *name) {
  return refuse(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, family, name);
}

}  // namespace

#define EMU_FAMILY(family, name, why) \
  namespace {                         \
  constexpr Family family{name, why}; \
  }
#define EMU_STATUS(family, name)                              \
  EMU_EXPORT int name() try { return refuse(family, #name); } \
  EMU_CATCH
#define EMU_HCCL(family, name)                                                    \
  EMU_EXPORT int name() try { return refuse(HCCL_E_NOT_SUPPORT, family, #name); } \
  EMU_CATCH
#define EMU_HCCN(family, name)                                             \
  EMU_EXPORT int name() try { return refuse(kHccnFailed, family, #name); } \
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
