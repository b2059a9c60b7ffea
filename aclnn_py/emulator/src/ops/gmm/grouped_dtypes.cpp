// SPDX-License-Identifier: Apache-2.0
#include "ops/gmm/grouped_dtypes.h"

#include <cinttypes>

#include "core/chip.h"
#include "ops/gmm/few_bits.h"
#include "ops/gmm/grouped_floats.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64),
                   kIntegers = dtype_set(ACL_INT8, ACL_INT4, ACL_INT32);

aclDataType dtype_of(const aclTensorList *list) { return list->members[0]->dtype; }

class GroupedDtypes {
 public:
  GroupedDtypes(Check &check, GroupedProblem *problem, const char *out_name)
      : check_(check), p_(*problem), c_(problem->call), out_(out_name) {}

  void run() {
    const aclDataType x = dtype_of(c_.x), weight = dtype_of(c_.weight);
    if (is_grouped_floats(c_)) {
      p_.mode = GroupedMode::kLowFloats;
      return check_float_dtypes(check_, c_, out_, &p_.floats);
    }
    if (is_few_bits(c_)) {
      p_.mode = GroupedMode::kFewBits;
      return check_few_bits_dtypes(check_, &c_, out_, &p_.few);
    }
    // On a 950 the first versions multiply fewer integers.
    const bool early = chip_is_950() && c_.version <= 3;
    check_.dtype_in("x", x, dt::kFloat | (early && c_.version <= 2 ? 0 : dtype_set(ACL_INT8)));
    check_.that(!early || !contains(dtype_set(ACL_INT4, ACL_INT32), weight),
                "weight is %s, which this chip takes from the fourth version on",
                dtype_name(weight));
    const bool quantised = contains(kIntegers, weight) || is_float_weight(c_);
    check_.that(c_.group_type != 2 || (x != ACL_INT8 && !quantised),
                "x is %s and weight %s; groupType 2 (the K axis) takes floats only", dtype_name(x),
                dtype_name(weight));
    if (x == ACL_INT8) {
      check_.that(weight == ACL_INT8, "weight is %s; with an INT8 x it is INT8 or INT4",
                  dtype_name(weight));
      p_.mode = GroupedMode::kInt8;
      return int8();
    }
    check_.that(c_.scale == nullptr, "scaleOptional is given; it belongs to INT8 products");
    check_.that(c_.per_token == nullptr,
                "perTokenScaleOptional is given; it belongs to INT8 products");
    check_.that(c_.activation == 0, "actType is %" PRId64 "; an activation needs INT8 x and weight",
                c_.activation);
    p_.mode = quantised ? GroupedMode::kAntiquant : GroupedMode::kFloat;
    quantised ? antiquant() : floats();
    check_.same_dtype(out_, dtype_of(c_.y), "x", x);
    if (c_.bias) bias_of_floats();
    check_.that(c_.offset == nullptr, "offsetOptional is given; it must be null");
  }

 private:
  void floats() {
    const aclDataType x = dtype_of(c_.x);
    check_.same_dtype("weight", dtype_of(c_.weight), "x", x);
    check_.that(!c_.antiquant_scale && !c_.antiquant_offset,
                "antiquantScaleOptional or antiquantOffsetOptional is given; they belong to INT8 "
                "and INT4 weights");
    check_.that(c_.version > 1 || x != ACL_FLOAT || chip_is_950(),
                "x is FLOAT, which the first version does not take; allowed: FLOAT16, BF16");
  }

  void antiquant() {
    const aclDataType x = dtype_of(c_.x), weight = dtype_of(c_.weight);
    check_.dtype_in("x", x, dt::kHalf);
    const bool floats = is_float_weight(c_);
    if (floats) check_float_weight(check_, c_);
    check_.that(floats || c_.version != 6 || !chip_is_950(),
                "weight is %s; beside x of %s this chip takes FLOAT4_E2M1, or FLOAT with eight "
                "values each",
                dtype_name(weight), dtype_name(x));
    // A 950 takes a weight without an offset.
    check_.that(
        c_.antiquant_scale && (c_.antiquant_offset || floats || (chip_is_950() && c_.version > 1)),
        "antiquantScaleOptional and antiquantOffsetOptional: both are required for a "
        "weight of %s",
        dtype_name(weight));
    if (check_.ok() && !is_powers_weight(c_))
      check_.same_dtype("antiquantScaleOptional", dtype_of(c_.antiquant_scale), "x", x);
    if (check_.ok() && c_.antiquant_offset)
      check_.same_dtype("antiquantOffsetOptional", dtype_of(c_.antiquant_offset), "x", x);
    for (const aclTensor *w : c_.weight->members) {
      check_.that(weight != ACL_INT32 || w->contiguous(),
                  "weight of packed INT32 must be contiguous");
    }
  }

  void bias_of_floats() {
    const aclDataType x = dtype_of(c_.x);
    const DtypeSet same = dtype_set(x), wide = dtype_set(ACL_FLOAT);
    const bool both = chip_is_950() && (x != ACL_FLOAT16 || p_.mode == GroupedMode::kFloat);
    const DtypeSet allowed = both ? same | wide : x == ACL_FLOAT16 ? same : wide;
    check_.that(contains(allowed, dtype_of(c_.bias)), "biasOptional is %s; with x of %s it is %s",
                dtype_name(dtype_of(c_.bias)), dtype_name(x), dtype_list(allowed).c_str());
  }

  void int8() {
    const aclDataType y = dtype_of(c_.y);
    check_.that(c_.offset == nullptr, "offsetOptional is given; it must be null for INT8 products");
    check_.that(!c_.antiquant_scale && !c_.antiquant_offset,
                "antiquantScaleOptional or antiquantOffsetOptional is given; they belong to a "
                "half-precision x");
    if (c_.per_token)
      check_.that(dtype_of(c_.per_token) == ACL_FLOAT,
                  "perTokenScaleOptional is %s; allowed: FLOAT",
                  dtype_name(dtype_of(c_.per_token)));
    if (!check_.ok()) return;
    check_.that(c_.scale || !chip_is_950() || c_.version > 3,
                "scaleOptional is null; this chip needs it in the first three versions");
    if (c_.scale == nullptr) {
      check_.that(y == ACL_INT32, "%s is %s; without scaleOptional it is INT32", out_,
                  dtype_name(y));
      check_.that(c_.per_token == nullptr, "perTokenScaleOptional needs scaleOptional");
      check_.that(c_.activation == 0, "actType is %" PRId64 "; an activation needs scaleOptional",
                  c_.activation);
      return int8_bias(ACL_DT_UNDEFINED, y);
    }
    const aclDataType scale = dtype_of(c_.scale);
    const bool early = chip_is_950() && c_.version <= 3;
    check_.dtype_in("scaleOptional", scale, kPacked | (early ? 0 : dtype_set(ACL_BF16, ACL_FLOAT)));
    const DtypeSet results = int8_results(scale);
    check_.that(contains(results, y), "%s is %s; a scale of %s gives %s", out_, dtype_name(y),
                dtype_name(scale), dtype_list(results).c_str());
    check_.that(!c_.per_token || !contains(kPacked, scale),
                "scaleOptional is %s; with perTokenScaleOptional it is BF16 or FLOAT",
                dtype_name(scale));
    if (chip_is_950())
      check_.that(c_.activation == 0 || !contains(kPacked, scale),
                  "actType is %" PRId64 "; with scaleOptional of %s this chip takes 0",
                  c_.activation, dtype_name(scale));
    int8_bias(scale, y);
  }

  // The fourth version has scenarios of its own with a weight in blocks.
  bool blocks_of_version_4() const {
    return c_.version == 4 && !chip_is_950() && is_fractal(*c_.weight->members[0]);
  }

  DtypeSet int8_results(aclDataType scale) const {
    if (contains(kPacked, scale)) {
      if (!chip_is_950() || c_.version <= 3) return dtype_set(ACL_INT8);
      return dt::kHalf | (c_.version == 6 ? 0 : dtype_set(ACL_INT8));
    }
    if (scale == ACL_BF16) return dtype_set(ACL_BF16);
    return chip_is_950() || blocks_of_version_4() ? dt::kHalf : dtype_set(ACL_FLOAT16);
  }

  void int8_bias(aclDataType scale, aclDataType y) {
    if (!c_.bias || !check_.ok()) return;
    DtypeSet allowed = dtype_set(ACL_INT32);
    const bool scaled = contains(dtype_set(ACL_BF16, ACL_FLOAT), scale);
    if (chip_is_950() && scaled) allowed |= dtype_set(y, ACL_FLOAT);
    if (blocks_of_version_4() && scaled && y == ACL_BF16) {
      // A scale of FLOAT with this result has no scenario with INT32.
      allowed = dtype_set(ACL_BF16) | (scale == ACL_BF16 ? dtype_set(ACL_INT32) : 0);
    }
    check_.that(contains(allowed, dtype_of(c_.bias)), "biasOptional is %s; with INT8 x it is %s",
                dtype_name(dtype_of(c_.bias)), dtype_list(allowed).c_str());
  }

  Check &check_;
  GroupedProblem &p_;
  GroupedCall &c_;
  const char *out_;
};

}  // namespace

void check_grouped_dtypes(Check &check, GroupedProblem *problem, const char *out_name) {
  GroupedDtypes(check, problem, out_name).run();
}

bool one_each(const aclTensor &t, int64_t groups) {
  return t.rank() >= 1 && t.rank() <= 2 && t.shape[0] == groups &&
         (t.rank() == 1 || t.shape[1] == 1);
}

}  // namespace emu
