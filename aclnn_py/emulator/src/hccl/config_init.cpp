// SPDX-License-Identifier: Apache-2.0
// HcclCommConfigInit as a symbol, for programs compiled against headers that only declare it.

// The header's own body under another name: one text says what a fresh configuration is.
#define HcclCommConfigInit fill_config
#include "hccl/hccl_config_init.h"
#undef HcclCommConfigInit

#include "core/export.h"

EMU_EXPORT void HcclCommConfigInit(HcclCommConfig *config) try { fill_config(config); }
EMU_CATCH_VOID
