// SPDX-License-Identifier: Apache-2.0
// What each operator takes, generated at build time from the data files of facts/.
#pragma once

#include <cstdint>

#include "ops/dtype.h"

namespace emu {

// Numbers of dimensions: bit N stands for N.
using RankSet = uint64_t;

struct ParameterFacts {
  const char *op;         // "aclnnAdd"
  const char *parameter;  // "self"
  DtypeSet dtypes;        // 0: none is named
  DtypeSet dtypes_950;    // those of chips of the 950 series
  RankSet ranks;          // 0: none is named
};

// The parameters of one operator in C order, workspaceSize and executor left out.
struct OperatorFacts {
  const ParameterFacts *first = nullptr;
  int count = 0;

  const ParameterFacts *find(const char *parameter) const;
  // What the chip takes; every dtype where none is named.
  DtypeSet dtypes_of(const char *parameter) const;
  // 0 to 8 dimensions where none are named.
  RankSet ranks_of(const char *parameter) const;
  // The name a message gives the parameter at this position.
  const char *name(int position) const;
};

// Empty when the operator is unknown to the documents.
OperatorFacts find_facts(const char *op);

}  // namespace emu
