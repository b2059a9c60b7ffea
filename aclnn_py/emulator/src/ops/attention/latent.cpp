// SPDX-License-Identifier: Apache-2.0
// What the documents ask of queries with heads of 512 elements and rotary parts beside them, which
// meet the latent keys of MLA. The third version has narrower limits than those behind it.
#include <cstring>

#include "core/chip.h"
#include "ops/attention/rules.h"

namespace emu {
namespace {

constexpr int64_t kMostQueries = 16;
constexpr int64_t kSmallPage = 16, kUsualPage = 128;
constexpr const char *kLayouts[] = {"BSH",       "BSND",      "BNSD", "BSH_NBSD",
                                    "BSND_NBSD", "BNSD_NBSD", "TND",  "TND_NTD"};

}  // namespace

void AttentionRules::latent_keys() {
  if (!rotary() || a_.width != kLatentWidth) return;
  // The later versions limit quantised queries alone.
  const bool limited = !form_.relaxed || byte_query();
  check_.that(!limited || a_.queries <= kMostQueries,
              "query has %" PRId64 " tokens in a sequence; with heads of %" PRId64
              " elements and "
              "%s 1 to %" PRId64 " are allowed",
              a_.queries, kLatentWidth, c_.query_rope.name, kMostQueries);
  bool known = false;
  for (const char *layout : kLayouts) known = known || std::strcmp(c_.layout.given, layout) == 0;
  check_.that(known,
              "inputLayout is \"%.40s\"; with heads of %" PRId64
              " elements and %s it is BSH, BSND, BNSD or TND, or one of them that gives NBSD or "
              "NTD",
              c_.layout.given, kLatentWidth, c_.query_rope.name);
  // A 950 documents fewer heads for queries of 8 bits.
  const bool few = low_float(c_.query->dtype);
  check_.that(!few || a_.heads == 32 || a_.heads == 64 || a_.heads == 128,
              "numHeads is %" PRId64 "; with heads of %" PRId64
              " elements of %s it is 32, 64 or 128",
              a_.heads, kLatentWidth, few ? dtype_name(c_.query->dtype) : "8 bits");
  if (!ok()) return;
  latent_pages();
  latent_mask();
}

// A 950 takes keys without pages too.
void AttentionRules::latent_pages() {
  if (chip_is_950()) return;
  check_.that(bool(c_.block_table),
              "%s is null; with heads of %" PRId64 " elements and %s keys lie in pages",
              c_.block_table.name, kLatentWidth, c_.query_rope.name);
  if (!ok() || (form_.relaxed && !byte_query())) return;
  const bool blocks = a_.key_form == Arrangement::kBlocks;
  check_.that(a_.block_size == kUsualPage || (a_.block_size == kSmallPage && !blocks),
              "blockSize is %" PRId64 "; with heads of %" PRId64
              " elements and %s it is %s%" PRId64,
              a_.block_size, kLatentWidth, c_.query_rope.name, blocks ? "" : "16 or ", kUsualPage);
}

void AttentionRules::latent_mask() {
  const int64_t mode = c_.sparse_mode;
  const bool plain = mode == 0 && !c_.mask;
  const char *const rope = c_.query_rope.name;
  if (chip_is_950() || (form_.relaxed && !byte_query())) {
    check_.that(mode != 1 && mode != 2,
                "sparseMode is %" PRId64 "; with heads of %" PRId64
                " elements and %s it is 0, 3 or "
                "4%s",
                mode, kLatentWidth, rope, form_.relaxed ? ", or 9" : "");
    return;
  }
  // One token sees every key; more than one see those up to their own.
  if (a_.queries <= 1) {
    check_.that(plain || (a_.packed() && mode == 3),
                "sparseMode is %" PRId64
                " and %s is %s; with 1 token in a sequence, heads of %" PRId64
                " elements and %s it is 0, without a mask",
                mode, c_.mask.name, c_.mask ? "given" : "null", kLatentWidth, rope);
    return;
  }
  check_.that(mode == 3 || (form_.relaxed && mode == 9),
              "sparseMode is %" PRId64 "; with %" PRId64 " tokens in a sequence, heads of %" PRId64
              " elements and %s it is 3%s, with a mask",
              mode, a_.queries, kLatentWidth, rope, form_.relaxed ? " or 9" : "");
}

}  // namespace emu
