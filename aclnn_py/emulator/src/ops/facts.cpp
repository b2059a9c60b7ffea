// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/facts.h"

#include <algorithm>
#include <cstring>
#include <iterator>

#include "core/chip.h"
#include "core/host_calls.h"

namespace emu {
namespace {

// Sorted by operator. The last row keeps the array legal when nothing was generated.
constexpr ParameterFacts kFacts[] = {
#include "op_facts.inc"
    {"~", "", 0, 0, 0},
};

}  // namespace

const ParameterFacts *OperatorFacts::find(const char *parameter) const {
  for (int i = 0; i < count; ++i) {
    if (std::strcmp(first[i].parameter, parameter) == 0) return first + i;
  }
  return nullptr;
}

DtypeSet OperatorFacts::dtypes_of(const char *parameter) const {
  const ParameterFacts *facts = find(parameter);
  const DtypeSet named = facts == nullptr ? 0 : chip_is_950() ? facts->dtypes_950 : facts->dtypes;
  return named == 0 ? ~DtypeSet{0} : named;
}

RankSet OperatorFacts::ranks_of(const char *parameter) const {
  constexpr RankSet kUsual = (RankSet{1} << 9) - 1;
  const ParameterFacts *facts = find(parameter);
  return facts == nullptr || facts->ranks == 0 ? kUsual : facts->ranks;
}

const char *OperatorFacts::name(int position) const {
  return position < count ? first[position].parameter : "argument";
}

OperatorFacts find_facts(const char *op) {
  begin_phase_one(op);  // each asks for its facts before it checks anything
  const auto before = [](const ParameterFacts &row, const char *name) {
    return std::strcmp(row.op, name) < 0;
  };
  OperatorFacts facts;
  facts.first = std::lower_bound(std::begin(kFacts), std::end(kFacts), op, before);
  while (std::strcmp(facts.first[facts.count].op, op) == 0) ++facts.count;
  return facts;
}

}  // namespace emu
