// SPDX-License-Identifier: Apache-2.0
// Markers and ranges (mstx). They speak to a profiler that is attached to the process. Nothing can
// be attached to this device, so they answer as CANN's library does without a profiler: no range
// has a number, no domain and no heap has a handle.
#include <cstdint>

#include "core/export.h"
#include "mstx/ms_tools_ext.h"

EMU_EXPORT void mstxMarkA(const char *message, aclrtStream stream) try {
  (void)message, (void)stream;
}
EMU_CATCH_VOID

EMU_EXPORT mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) try {
  (void)message, (void)stream;
  return 0;
}
EMU_CATCH

EMU_EXPORT void mstxRangeEnd(mstxRangeId id) try { (void)id; }
EMU_CATCH_VOID

EMU_EXPORT mstxDomainHandle_t mstxDomainCreateA(const char *name) try {
  (void)name;
  return nullptr;
}
EMU_CATCH

EMU_EXPORT void mstxDomainDestroy(mstxDomainHandle_t domain) try { (void)domain; }
EMU_CATCH_VOID

EMU_EXPORT void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message,
                                aclrtStream stream) try {
  (void)domain, (void)message, (void)stream;
}
EMU_CATCH_VOID

EMU_EXPORT mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message,
                                             aclrtStream stream) try {
  (void)domain, (void)message, (void)stream;
  return 0;
}
EMU_CATCH

EMU_EXPORT void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) try {
  (void)domain, (void)id;
}
EMU_CATCH_VOID

// The parameters' structures are CANN's own affair; nothing reads them here.
EMU_EXPORT void *mstxMemHeapRegister(mstxDomainHandle_t domain, const void *desc) try {
  (void)domain, (void)desc;
  return nullptr;
}
EMU_CATCH

EMU_EXPORT void mstxMemHeapUnregister(mstxDomainHandle_t domain, void *heap) try {
  (void)domain, (void)heap;
}
EMU_CATCH_VOID

EMU_EXPORT void mstxMemRegionsRegister(mstxDomainHandle_t domain, const void *desc) try {
  (void)domain, (void)desc;
}
EMU_CATCH_VOID

EMU_EXPORT void mstxMemRegionsUnregister(mstxDomainHandle_t domain, const void *desc) try {
  (void)domain, (void)desc;
}
EMU_CATCH_VOID
