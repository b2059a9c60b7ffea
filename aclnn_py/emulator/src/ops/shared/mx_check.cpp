// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/shared/mx_check.h"

#include <cstring>

#include "core/chip.h"
#include "core/statuses.h"
#include "ops/shared/quantised.h"

namespace emu {
namespace {

// "0, 2".
std::string algorithms_text(unsigned mask) {
  std::string text;
  for (int n = 0; n < 3; ++n) {
    if ((mask >> n & 1) == 0) continue;
    if (!text.empty()) text += ", ";
    text += std::to_string(n);
  }
  return text;
}

float largest_of(aclDataType dtype) {
  switch (dtype) {
    case ACL_FLOAT8_E5M2: return kLargestE5m2;
    case ACL_FLOAT8_E4M3FN: return kLargestE4m3;
    case ACL_FLOAT4_E2M1: return kLargestE2m1;
    default: return kLargestE1m2;
  }
}

void check_limit(Check &check, const MxAttributes &given, MxFormat *format) {
  if (given.limit == 0.0 || given.limit_name == nullptr) return;
  const bool wide = format->dtype == ACL_FLOAT4_E2M1;
  check.that(format->algorithm == 2,
             "%s is %g; anything but 0 needs scaleAlg 2, which takes a format of 4 bits",
             given.limit_name, given.limit);
  if (!given.free_limit) {
    check.that(given.limit == 6.0 || given.limit == 7.0, "%s is %g; allowed: 0, 6, 7",
               given.limit_name, given.limit);
  } else {
    const double low = wide ? 6.0 : 1.75, high = wide ? 12.0 : 3.5;
    check.that(given.limit >= low && given.limit <= high, "%s is %g; allowed: 0, or %g to %g",
               given.limit_name, given.limit, low, high);
  }
  format->limit = static_cast<float>(given.limit);
}

}  // namespace

Status check_chip(const Check &check, Status refusal) {
  if (!check.ok() || chip_is_950()) return check.status();
  return fail(refusal,
              "%s: the chip is %s; only chips of the 950 series have this operator, which "
              "ACLNN_PY_EMULATOR_SOC=Ascend950PR_9599 emulates",
              check.op(), soc_name());
}

LowRounding check_rounding(Check &check, const char *name, const char *given, aclDataType dtype) {
  const bool nibbles = contains(kFloat4, dtype);
  const char *text = given == nullptr ? "rint" : given;
  const bool floor = std::strcmp(text, "floor") == 0, round = std::strcmp(text, "round") == 0;
  check.that(std::strcmp(text, "rint") == 0 || (nibbles && (floor || round)),
             "%s is \"%.40s\"; allowed for %s: %s", name, text, emu::dtype_name(dtype),
             nibbles ? "\"rint\", \"floor\", \"round\"" : "\"rint\"");
  return floor ? LowRounding::kFloor : round ? LowRounding::kRound : LowRounding::kRint;
}

MxFormat check_mx_format(Check &check, const MxAttributes &given, const char *y_name,
                         const aclTensor *y) {
  MxFormat format;
  if (!check.ok()) return format;
  format.dtype = y->dtype;
  check_dst_type(check, given.dtype_name, given.dtype, y_name, y);
  format.rounding = check_rounding(check, given.rounding_name, given.rounding, y->dtype);
  const unsigned allowed = y->dtype == ACL_FLOAT4_E2M1   ? given.algorithms.e2m1
                           : y->dtype == ACL_FLOAT4_E1M2 ? given.algorithms.e1m2
                                                         : given.algorithms.float8;
  check.that(given.algorithm >= 0 && given.algorithm <= 2 && (allowed >> given.algorithm & 1) != 0,
             "scaleAlg is %lld; allowed for %s: %s", static_cast<long long>(given.algorithm),
             emu::dtype_name(y->dtype), algorithms_text(allowed).c_str());
  if (!check.ok()) return format;
  format.algorithm = static_cast<int>(given.algorithm);
  format.limit = largest_of(y->dtype);
  check_limit(check, given, &format);
  const float limit = format.limit;
  format.by_bits = format.algorithm == 2 && given.free_limit &&
                   (y->dtype == ACL_FLOAT4_E2M1 ? limit == 6.0f || limit == 7.0f : limit == 1.875f);
  return format;
}

int check_axis(Check &check, const char *name, int64_t given, const char *tensor_name, int rank) {
  int axis = 0;
  const bool found = wrap_dim(given, rank, &axis);
  check.that(found, "%s is %lld, but %s has %d dimensions; allowed: %d to %d", name,
             static_cast<long long>(given), tensor_name, rank, -rank, rank - 1);
  return found ? axis : 0;
}

Check &check_mx_results(Check &check, const Layout &values, int axis, int64_t block,
                        const char *y_name, const aclTensor *y, const char *scale_name,
                        const aclTensor *scale) {
  if (!check.ok()) return check;
  check.shape(y_name, y, values);
  check_float4(check, y_name, y);
  return check.shape(scale_name, scale, mx_scale_layout(values, axis, block));
}

Status read_group_steps(const char *op, const char *parameter, const aclTensor &ends, int64_t rows,
                        int64_t each, std::vector<MxStep> *steps, int64_t *end) {
  std::vector<int64_t> values(static_cast<size_t>(ends.numel()));
  RowSource<int64_t>(view_of(ends)).read(0, ends.numel(), values.data());
  int64_t first = 0;
  for (size_t g = 0; g < values.size(); ++g) {
    if (values[g] < first || values[g] > rows) {
      return fail(kKernelFault,
                  "%s: %s[%zu] is %lld after %lld; the ends of groups must not decrease, and lie "
                  "within the %lld rows",
                  op, parameter, g, static_cast<long long>(values[g]),
                  static_cast<long long>(first), static_cast<long long>(rows));
    }
    add_mx_steps(first, values[g] - first, first / each + static_cast<int64_t>(g), each, steps);
    first = values[g];
  }
  *end = first;
  return 0;
}

}  // namespace emu
