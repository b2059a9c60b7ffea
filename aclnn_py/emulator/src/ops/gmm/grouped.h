// SPDX-License-Identifier: Apache-2.0
// Grouped matrix products: one argument set behind all versions of aclnnGroupedMatmul.
#pragma once

#include <memory>
#include <vector>

#include "ops/gmm/float_scales.h"
#include "ops/op.h"

namespace emu {

// Which group list a version takes, and what it means.
enum class GroupListKind : int64_t { kEnds = 0, kSizes = 1, kSparse = 2 };

struct GroupedCall {
  const char *op;
  int version;  // 1 to 5; 6 is WeightNz
  const aclTensorList *x, *weight, *bias, *scale, *offset, *antiquant_scale, *antiquant_offset;
  const aclTensorList *per_token = nullptr;
  const aclIntArray *group_array = nullptr;  // versions 1 and 2
  const aclTensor *group_tensor = nullptr;   // from version 3 on
  const aclTensorList *reserved[5] = {};     // activation inputs and outputs that must be absent
  int64_t split_item = 0, group_type = -1, group_list_type = 0, activation = 0;
  int64_t quant_group_size = 0;
  const aclIntArray *tuning = nullptr;  // from version 5 on
  const aclTensorList *y = nullptr;
};

// How the values are computed.
enum class GroupedMode { kFloat, kInt8, kAntiquant, kLowFloats, kFewBits };

// Products of integers one side of which has 4 bits.
struct FewBits {
  enum Kind : uint8_t {
    kFour,    // INT4 with INT4
    kHalves,  // INT8 with INT4: x as two halves of 4 bits, what they lack is in the bias
    kTwice    // INT8 with INT4 on a 950: scales of groups of K, then scales of columns
  };
  Kind kind = kFour;
  int64_t pieces = 1;              // of K, each with scales of its own
  bool weight_by_columns = false;  // its shape is (E, N, K), though it is no transposed view
};

// The scales of products of floats of 8 and 4 bits.
struct FloatGroups {
  FloatMode mode = FloatMode::kWhole;
  bool by_column = false, by_row = false;  // of whole scales; else there is one for a group
  ScaleMap left, right;                    // of rows of x and columns of weight
};

// What the checks found out. Lists that stand for "absent" are null here.
struct GroupedProblem {
  GroupedCall call;
  GroupedMode mode = GroupedMode::kFloat;
  FloatGroups floats;
  FewBits few;
  std::vector<aclTensor> weights;  // with a dimension of numbers where words hold eight
  size_t groups = 0;
  bool nothing = false;  // every x is empty
};

// The parameter names of the lists, as the headers spell them.
inline bool absent(const aclTensorList *list) {
  if (list == nullptr || list->members.empty()) return true;
  const auto &members = list->members;
  return members.size() == 1 && members[0] && members[0]->rank() == 1 && members[0]->shape[0] == 0;
}

// Every rule of phase one: 161001, then 161002.
Status check_grouped(GroupedProblem *problem);

// The product, in phase two. Indices are those of the plan; -1 for an absent list.
struct GroupedJob {
  GroupedMode mode;
  FloatGroups floats;
  FewBits few;
  int64_t group_type, group_list_type, activation;
  size_t groups;
  int64_t x = -1, weight = -1, bias = -1, scale = -1, offset = -1, antiquant_scale = -1,
          antiquant_offset = -1, per_token = -1, y = -1;
  size_t x_count = 0, weight_count = 0, y_count = 0, bias_count = 0, scale_count = 0;
  std::vector<int64_t> group_array;  // cumulative ends
  int64_t group_tensor = -1;
  const char *op;
};
Status run_grouped(const GroupedJob &job, PlanContext &context);

// An activation by its number, in place: 1 relu, 2 gelu by tanh, 3 gelu, 4 fast gelu, 5 silu; any
// other leaves the values.
void activate(float *values, int64_t count, int64_t kind);

// The rows each group takes, in the order they are computed. Values come from device memory, so
// they are judged here, in phase two. `span` is the length that is cut.
struct GroupSpan {
  size_t group;
  int64_t first, count;
};
Status read_groups(const char *op, const aclTensor &list, int64_t kind, size_t groups, int64_t span,
                   std::vector<GroupSpan> *spans);

}  // namespace emu
