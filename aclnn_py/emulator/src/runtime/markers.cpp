// SPDX-License-Identifier: Apache-2.0
// Markers and ranges (mstx). A profile keeps them when it is made with ACL_PROF_MSPROFTX; otherwise
// no range has a number. These functions have no way to tell a failure.
#include <cstdint>
#include <string>

#include "core/export.h"
#include "core/marks.h"
#include "core/process.h"
#include "core/slots.h"
#include "core/stream.h"
#include "mstx/ms_tools_ext.h"

struct mstxDomainRegistration_st {
  std::string name;
};

namespace {

using Domain = mstxDomainRegistration_st;
using Kind = emu::TimedMark::Kind;

constexpr char kDefaultDomain[] = "default";

emu::Slots<Domain> &domains() {
  static auto *const all = new emu::Slots<Domain>(1 << 16);
  return *all;
}

void mark(const std::string &domain, const char *message, aclrtStream stream) {
  if (message == nullptr || emu::forked()) return;
  // What a stream refuses is only the device's side of the mark.
  if (emu::set_mark(stream != nullptr ? Kind::mark_on_stream : Kind::mark, message, domain,
                    emu::streams().find(stream)) != 0)
    (void)emu::take_message();
}

mstxRangeId start(const std::string &domain, const char *message, aclrtStream stream) {
  if (message == nullptr || emu::forked()) return 0;
  uint64_t range = 0;
  if (emu::begin_range(Kind::start_end, message, domain, emu::streams().find(stream), &range) != 0)
    (void)emu::take_message();
  return range;
}

void end(mstxRangeId id) {
  if (emu::forked()) return;
  if (emu::end_range(id) != 0) (void)emu::take_message();
}

}  // namespace

EMU_EXPORT void mstxMarkA(const char *message, aclrtStream stream) try {
  mark(kDefaultDomain, message, stream);
}
EMU_CATCH_VOID

EMU_EXPORT mstxRangeId mstxRangeStartA(const char *message, aclrtStream stream) try {
  return start(kDefaultDomain, message, stream);
}
EMU_CATCH

EMU_EXPORT void mstxRangeEnd(mstxRangeId id) try { end(id); }
EMU_CATCH_VOID

// A domain outlives profiles: programs make theirs before one begins.
EMU_EXPORT mstxDomainHandle_t mstxDomainCreateA(const char *name) try {
  if (name == nullptr || emu::forked()) return nullptr;
  return domains().create(Domain{name});
}
EMU_CATCH

EMU_EXPORT void mstxDomainDestroy(mstxDomainHandle_t domain) try {
  if (!emu::forked() && domains().retire(domain)) domains().destroy(domain);
}
EMU_CATCH_VOID

EMU_EXPORT void mstxDomainMarkA(mstxDomainHandle_t domain, const char *message,
                                aclrtStream stream) try {
  if (const Domain *found = domains().find(domain)) mark(found->name, message, stream);
}
EMU_CATCH_VOID

EMU_EXPORT mstxRangeId mstxDomainRangeStartA(mstxDomainHandle_t domain, const char *message,
                                             aclrtStream stream) try {
  const Domain *found = domains().find(domain);
  return found != nullptr ? start(found->name, message, stream) : 0;
}
EMU_CATCH

EMU_EXPORT void mstxDomainRangeEnd(mstxDomainHandle_t domain, mstxRangeId id) try {
  if (domains().live(domain)) end(id);
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
