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
#include "faults/program_pools.h"
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

// A pool's handle, and that of a part, is its address: programs give either back.
EMU_EXPORT mstxMemHeapHandle_t mstxMemHeapRegister(mstxDomainHandle_t domain,
                                                   const mstxMemHeapDesc_t *desc) try {
  (void)domain;
  if (desc == nullptr || desc->typeSpecificDesc == nullptr || emu::forked()) return nullptr;
  const auto *range = static_cast<const mstxMemVirtualRangeDesc_t *>(desc->typeSpecificDesc);
  emu::faults::pool_begun(range->ptr, range->size);
  return static_cast<mstxMemHeapHandle_t>(const_cast<void *>(range->ptr));
}
EMU_CATCH

EMU_EXPORT void mstxMemHeapUnregister(mstxDomainHandle_t domain, mstxMemHeapHandle_t heap) try {
  (void)domain;
  if (!emu::forked()) emu::faults::pool_ended(heap);
}
EMU_CATCH_VOID

// Programs leave the members unset that they do not need, the pool among them.
EMU_EXPORT void mstxMemRegionsRegister(mstxDomainHandle_t domain,
                                       const mstxMemRegionsRegisterBatch_t *desc) try {
  (void)domain;
  if (desc == nullptr || desc->regionDescArray == nullptr || emu::forked()) return;
  const auto *parts = static_cast<const mstxMemVirtualRangeDesc_t *>(desc->regionDescArray);
  for (size_t i = 0; i < desc->regionCount; ++i)
    emu::faults::part_given(parts[i].ptr, parts[i].size);
}
EMU_CATCH_VOID

EMU_EXPORT void mstxMemRegionsUnregister(mstxDomainHandle_t domain,
                                         const mstxMemRegionsUnregisterBatch_t *desc) try {
  (void)domain;
  if (desc == nullptr || desc->refArray == nullptr || emu::forked()) return;
  for (size_t i = 0; i < desc->refCount; ++i)
    emu::faults::part_taken_back(desc->refArray[i].pointer);
}
EMU_CATCH_VOID
