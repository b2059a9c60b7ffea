// SPDX-License-Identifier: Apache-2.0
#include "ops/gmm/few_bits.h"

#include <algorithm>
#include <cinttypes>

#include "core/chip.h"
#include "core/pool.h"
#include "ops/gmm/low_bits.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/stack.h"
#include "ops/quant/dequantise.h"

namespace emu {
namespace {

constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64),
                   kNumbers = dtype_set(ACL_INT4, ACL_INT32);
constexpr int64_t kDeepestSymmetric = 18432;  // of INT8 with INT4 without an offset
constexpr int64_t kSymmetricGroup = 256;      // rows of such a weight that share a scale
constexpr int64_t kBlockUnit = 64;            // numbers of 4 bits in the 32 bytes of a block

const aclTensor &first_of(const aclTensorList *list) { return *list->members[0]; }

class FewBitsDtypes {
 public:
  FewBitsDtypes(Check &check, GroupedCall *call, const char *out_name, FewBits *form)
      : check_(check), c_(*call), out_(out_name), form_(*form) {}

  void run() {
    form_.kind = kind();
    common();
    if (!check_.ok()) return;
    switch (form_.kind) {
      case FewBits::kFour: return four();
      case FewBits::kHalves: return halves();
      case FewBits::kTwice: return twice();
    }
  }

 private:
  FewBits::Kind kind() const {
    if (first_of(c_.x).dtype != ACL_INT8) return FewBits::kFour;
    return chip_is_950() ? FewBits::kTwice : FewBits::kHalves;
  }
  const char *pair() const {
    return form_.kind == FewBits::kFour ? "x and weight of INT4" : "x of INT8 with weight of INT4";
  }
  void absent(const char *name, const aclTensorList *list) {
    check_.that(list == nullptr, "%s is given; with %s it must be null", name, pair());
  }
  void present(const char *name, const aclTensorList *list, DtypeSet dtypes) {
    check_.required(name, list);
    if (check_.ok()) check_.dtype_in(name, first_of(list).dtype, dtypes);
  }
  void optional(const char *name, const aclTensorList *list, DtypeSet dtypes) {
    if (list) check_.dtype_in(name, first_of(list).dtype, dtypes);
  }

  void common() {
    const bool four = form_.kind == FewBits::kFour, nz = c_.version == 6;
    check_.that(c_.version >= 4,
                "x is %s and weight %s, which the versions from the fourth on take",
                dtype_name(first_of(c_.x).dtype), dtype_name(first_of(c_.weight).dtype));
    // An INT32 stands for eight numbers; the document of x and weight of INT4 names it for
    // WeightNz alone.
    check_.dtype_in("x", first_of(c_.x).dtype,
                    !four ? dtype_set(ACL_INT8)
                    : nz  ? kNumbers
                          : dtype_set(ACL_INT4));
    check_.dtype_in("weight", first_of(c_.weight).dtype,
                    four && !nz ? dtype_set(ACL_INT4) : kNumbers);
    check_.that(c_.group_type == 0, "groupType is %" PRId64 "; with %s it is 0", c_.group_type,
                pair());
    const bool lists = form_.kind == FewBits::kHalves && c_.version >= 5;
    check_.that(c_.x->members.size() == 1 && c_.y->members.size() == 1 &&
                    (lists || c_.weight->members.size() == 1),
                "x, weight and %s have %zu, %zu and %zu tensors; with %s %s", out_,
                c_.x->members.size(), c_.weight->members.size(), c_.y->members.size(), pair(),
                lists ? "x and the result have one" : "each has one");
    // The version whose weight is in blocks takes an activation and makes nothing of it.
    check_.that(c_.activation == 0 || (nz && !chip_is_950()),
                "actType is %" PRId64 "; with %s it is 0", c_.activation, pair());
    check_.dtype_in(out_, first_of(c_.y).dtype, dt::kHalf);
    check_.that(c_.group_tensor != nullptr, "groupListOptional is null; %s needs it", pair());
    absent("antiquantOffsetOptional", c_.antiquant_offset);
    if (form_.kind != FewBits::kTwice) absent("antiquantScaleOptional", c_.antiquant_scale);
    if (nz && !chip_is_950()) c_.activation = 0;
  }

  void four() {
    absent("biasOptional", c_.bias);
    absent("offsetOptional", c_.offset);
    present("scaleOptional", c_.scale, kPacked);
    optional("perTokenScaleOptional", c_.per_token, dtype_set(ACL_FLOAT));
  }

  void halves() {
    present("biasOptional", c_.bias, dtype_set(ACL_FLOAT));
    present("scaleOptional", c_.scale, kPacked);
    optional("offsetOptional", c_.offset, dtype_set(ACL_FLOAT));
    present("perTokenScaleOptional", c_.per_token, dtype_set(ACL_FLOAT));
    if (!check_.ok()) return;
    check_.that(!c_.offset || first_of(c_.y).dtype == ACL_FLOAT16,
                "%s is %s; with offsetOptional it is FLOAT16", out_,
                dtype_name(first_of(c_.y).dtype));
    // The kernel counts rows, whatever groupListType says.
    if (!c_.offset || c_.version == 6)
      c_.group_list_type = static_cast<int64_t>(GroupListKind::kSizes);
    form_.weight_by_columns = c_.version >= 5 && c_.tuning && c_.tuning->values.size() > 1 &&
                              c_.tuning->values[1] == 1 && is_fractal(first_of(c_.weight));
  }

  void twice() {
    check_.that(c_.version == 6,
                "weight is %s; with an INT8 x this chip takes it in GroupedMatmulWeightNz alone",
                dtype_name(first_of(c_.weight).dtype));
    absent("offsetOptional", c_.offset);
    present("antiquantScaleOptional", c_.antiquant_scale, dtype_set(ACL_FLOAT16));
    present("scaleOptional", c_.scale, dtype_set(ACL_FLOAT));
    present("perTokenScaleOptional", c_.per_token, dtype_set(ACL_FLOAT));
    optional("biasOptional", c_.bias, dtype_set(ACL_FLOAT));
  }

  Check &check_;
  GroupedCall &c_;
  const char *out_;
  FewBits &form_;
};

class FewBitsShapes {
 public:
  FewBitsShapes(Check &check, const GroupedProblem &problem, bool turned, FewBits *form)
      : check_(check), p_(problem), c_(problem.call), form_(*form), turned_(turned) {
    const aclTensor &w = problem.weights[0];
    depth_ = w.shape[w.rank() - 2];
    columns_ = w.shape[w.rank() - 1];
  }

  void run() {
    operands();
    if (!check_.ok()) return;
    if (form_.kind == FewBits::kTwice) {
      rows("antiquantScaleOptional", c_.antiquant_scale, true);
      rows("scaleOptional", c_.scale, false);
    } else {
      rows("scaleOptional", c_.scale, true);
    }
    if (!check_.ok()) return;
    if (form_.kind == FewBits::kFour) groups_of_four();
    if (form_.kind == FewBits::kHalves) groups_of_halves();
    if (form_.kind == FewBits::kTwice) groups_of_twice();
    if (c_.bias) rows("biasOptional", c_.bias, false);
    if (c_.offset) offsets();
    group_size();
    if (!check_.ok() || !c_.per_token) return;
    check_.that(c_.per_token->members.size() == 1,
                "perTokenScaleOptional has %zu tensors for 1 of x", c_.per_token->members.size());
    const int64_t tokens[] = {first_of(c_.x).shape[0]};
    check_.shape("perTokenScaleOptional", &first_of(c_.per_token), dense_layout(tokens, 1));
  }

 private:
  bool fractal() const { return is_fractal(first_of(c_.weight)); }

  void operands() {
    const bool four = form_.kind == FewBits::kFour;
    check_.that(first_of(c_.x).dtype == ACL_INT8 || first_of(c_.x).contiguous(),
                "x of %s must be contiguous", dtype_name(first_of(c_.x).dtype));
    check_.that(!turned_ || form_.weight_by_columns || (four && fractal() && c_.version >= 5),
                "weight is a transposed view; %s takes none%s",
                four ? "x of INT4" : "x of INT8 with weight of INT4",
                four && c_.version >= 5 ? " in ND" : "");
    for (const aclTensor *w : c_.weight->members)
      check_weight(check_, "weight", *w, w->rank(), Blocks::kByFormat);
    check_.that((four && fractal()) || columns_ % 8 == 0,
                "weight has %" PRId64 " columns; they must be a multiple of 8", columns_);
    const bool units = form_.kind == FewBits::kTwice || (four && turned_);
    check_.that(!units || depth_ % kBlockUnit == 0,
                "weight has %" PRId64 " rows; they must be a multiple of %" PRId64, depth_,
                kBlockUnit);
    check_.that(form_.kind != FewBits::kTwice || columns_ % kBlockUnit == 0,
                "weight has %" PRId64 " columns; they must be a multiple of %" PRId64, columns_,
                kBlockUnit);
  }

  // One row of values for each group, or one for each piece of the depth where it may be cut.
  void rows(const char *name, const aclTensorList *list, bool cut) {
    const size_t tensors = c_.weight->members.size();
    check_.that(list->members.size() == tensors, "%s has %zu tensors for %zu of weight", name,
                list->members.size(), tensors);
    for (size_t i = 0; check_.ok() && i < tensors; ++i) {
      const aclTensor &t = *list->members[i];
      Layout expected = stack();
      const bool pieces = cut && static_cast<int>(t.rank()) == expected.rank + 2;
      if (pieces) {
        const int64_t given = t.shape[t.rank() - 2];
        check_.that(given > 0 && depth_ % given == 0,
                    "%s[%zu] cuts K into %" PRId64 " pieces; K is %" PRId64, name, i, given,
                    depth_);
        check_.that(i == 0 || given == form_.pieces,
                    "%s[%zu] cuts K into %" PRId64 " pieces, but %s[0] into %" PRId64, name, i,
                    given, name, form_.pieces);
        if (check_.ok()) form_.pieces = given;
        expected.push(given, 0);
      }
      expected.push(columns_, 0);
      check_.shape(name, &t, expected);
    }
  }

  Layout stack() const {
    Layout layout;
    const aclTensor &w = p_.weights[0];
    if (w.rank() == 3) layout.push(w.shape[0], 0);
    return layout;
  }

  int64_t group() const { return depth_ / form_.pieces; }

  void groups_of_four() {
    if (form_.pieces == 1) return;
    const int64_t unit = turned_ ? kBlockUnit : 2;
    check_.that(group() % unit == 0,
                "scaleOptional cuts the %" PRId64 " rows of weight into groups of %" PRId64
                "; a group must be a multiple of %" PRId64,
                depth_, group(), unit);
  }

  void groups_of_halves() {
    const int rank = static_cast<int>(first_of(c_.scale).rank());
    check_.that(rank == stack().rank + 2,
                "scaleOptional has shape %s; with x of INT8 and weight of INT4 it has one row for "
                "each %" PRId64 " of K, or a single row",
                shape_text(layout_of(first_of(c_.scale))).c_str(), kSymmetricGroup);
    if (c_.offset || form_.weight_by_columns) {
      check_.that(form_.pieces == 1, "scaleOptional has %" PRId64 " rows; with %s it has one",
                  form_.pieces, c_.offset ? "offsetOptional" : "a weight (E, N, K)");
      return;
    }
    check_.that(depth_ <= kDeepestSymmetric,
                "weight has %" PRId64 " rows (K); at most %" PRId64 " are allowed", depth_,
                kDeepestSymmetric);
    check_.that(form_.pieces == 1 || group() == kSymmetricGroup,
                "scaleOptional cuts the %" PRId64 " rows of weight into groups of %" PRId64
                "; allowed: %" PRId64 ", or one group",
                depth_, group(), kSymmetricGroup);
  }

  void groups_of_twice() {
    const int rank = static_cast<int>(first_of(c_.antiquant_scale).rank());
    const bool fits = group() == 128 || group() == 192 || group() == 256 || group() == 512;
    check_.that(rank == stack().rank + 2 && fits,
                "antiquantScaleOptional has shape %s; it has one row for each 128, 192, 256 or 512 "
                "of K",
                shape_text(layout_of(first_of(c_.antiquant_scale))).c_str());
  }

  void offsets() {
    const size_t tensors = c_.weight->members.size();
    check_.that(c_.offset->members.size() == tensors,
                "offsetOptional has %zu tensors for %zu of "
                "weight",
                c_.offset->members.size(), tensors);
    Layout expected = stack();
    expected.push(1, 0);
    expected.push(columns_, 0);
    for (size_t i = 0; check_.ok() && i < tensors; ++i)
      check_.shape("offsetOptional", c_.offset->members[i], expected);
  }

  void group_size() {
    const int64_t given = c_.quant_group_size;
    check_.that(given == 0 || (!chip_is_950() && form_.pieces > 1 && given == group()),
                "quantGroupSize is %" PRId64
                "; allowed: 0, or the rows of weight that share a "
                "scale",
                given);
  }

  Check &check_;
  const GroupedProblem &p_;
  const GroupedCall &c_;
  FewBits &form_;
  const bool turned_;
  int64_t depth_, columns_;
};

std::vector<float> row_sums(const Matrix &x) {
  std::vector<float> sums(static_cast<size_t>(x.rows));
  const auto *data = static_cast<const int8_t *>(x.data);
  parallel_for(x.rows, 16, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int32_t sum = 0;
      for (int64_t k = 0; k < x.cols; ++k) sum += data[x.row.at(i) + x.col.at(k)];
      sums[static_cast<size_t>(i)] = static_cast<float>(sum);
    }
  });
  return sums;
}

// What follows the scaled sums of a group, in this order; an empty part is left out.
struct Finish {
  std::vector<float> shift;      // of the columns, times the sum of the row of x
  std::vector<float> row_sum;    // of the rows at hand
  std::vector<float> by_column;  // second scales
  const float *token;            // of the rows at hand; null: none
  std::vector<float> bias;
};

void finish_row(const Finish &f, int64_t row, int64_t columns, float *values) {
  if (!f.shift.empty()) {
    const float sum = f.row_sum[static_cast<size_t>(row)];
    for (int64_t j = 0; j < columns; ++j) values[j] += sum * f.shift[static_cast<size_t>(j)];
  }
  if (!f.by_column.empty())
    for (int64_t j = 0; j < columns; ++j) values[j] *= f.by_column[static_cast<size_t>(j)];
  if (f.token)
    for (int64_t j = 0; j < columns; ++j) values[j] *= f.token[row];
  if (!f.bias.empty())
    for (int64_t j = 0; j < columns; ++j) values[j] += f.bias[static_cast<size_t>(j)];
}

class FewBitsRun {
 public:
  FewBitsRun(const GroupedJob &job, PlanContext &context) : job_(job), c_(context) {}

  Status run() {
    x_ = as_int8(at(job_.x), x_memory_);
    std::vector<GroupSpan> spans;
    if (const Status status = read_groups(job_.op, at(job_.group_tensor), job_.group_list_type,
                                          job_.groups, x_.rows, &spans))
      return status;
    if (job_.per_token >= 0) token_ = every_scale(at(job_.per_token));
    for (const GroupSpan &span : spans) {
      if (span.count > 0) product(span);
    }
    return 0;
  }

 private:
  const aclTensor &at(int64_t first, size_t i = 0) const {
    return c_.tensor(static_cast<size_t>(first) + i);
  }

  std::vector<float> of_group(int64_t first, size_t group) const {
    if (first < 0) return {};
    return every_scale(job_.weight_count == 1 ? entry_of(at(first), group) : at(first, group));
  }

  Matrix weight(size_t group) {
    aclTensor w = weight_numbers(at(job_.weight, job_.weight_count == 1 ? 0 : group),
                                 job_.few.weight_by_columns);
    return as_int8(job_.weight_count == 1 ? entry_of(w, group) : w, w_memory_);
  }

  void product(const GroupSpan &span) {
    const bool halves = job_.few.kind == FewBits::kHalves, twice = job_.few.kind == FewBits::kTwice;
    const std::vector<float> scale =
        of_group(twice ? job_.antiquant_scale : job_.scale, span.group);
    std::vector<float> bias = of_group(job_.bias, span.group);
    Finish finish{of_group(job_.offset, span.group), {}, {}, nullptr, {}};
    if (twice) finish.by_column = of_group(job_.scale, span.group);
    ScaledProduct product;
    product.w = weight(span.group);
    product.scale = scale.data();
    product.pieces = job_.few.pieces;
    // Rows of INT8 are multiplied as two halves, 16 * high + low - 8: what the halves lack is in
    // the bias.
    product.lift = halves ? -8 : 0;
    product.shift = halves ? bias.data() : nullptr;
    if (!halves) finish.bias = std::move(bias);
    const int64_t columns = product.w.cols;
    values_.resize(static_cast<size_t>(std::min(kRowsAtOnce, span.count) * columns));
    for (int64_t done = 0; done < span.count; done += kRowsAtOnce) {
      const int64_t first = span.first + done, count = std::min(kRowsAtOnce, span.count - done);
      product.x = x_;
      product.x.data = static_cast<const int8_t *>(x_.data) + x_.row.at(first);
      product.x.rows = count;
      scaled_product(product, values_.data());
      if (!finish.shift.empty()) finish.row_sum = row_sums(product.x);
      finish.token = token_.empty() ? nullptr : token_.data() + first;
      store(finish, first, count, columns);
    }
  }

  void store(const Finish &finish, int64_t first, int64_t count, int64_t columns) {
    const Matrix to = matrix_stack(at(job_.y)).first;
    const MatrixOut out{const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
    parallel_for(count, 8, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        float *row = values_.data() + i * columns;
        finish_row(finish, i, columns, row);
        store_quantised(row, out, first + i, 0, columns);
      }
    });
  }

  const GroupedJob &job_;
  PlanContext &c_;
  Matrix x_;
  std::vector<int8_t> x_memory_, w_memory_;
  std::vector<float> token_, values_;
};

}  // namespace

bool is_few_bits(const GroupedCall &call) {
  const aclDataType x = first_of(call.x).dtype, weight = first_of(call.weight).dtype;
  const bool packed_x = call.version == 6 && x == ACL_INT32;
  if (x == ACL_INT4 || packed_x) return !chip_is_950();
  return x == ACL_INT8 && contains(kNumbers, weight);
}

void check_few_bits_dtypes(Check &check, GroupedCall *call, const char *out_name, FewBits *form) {
  FewBitsDtypes(check, call, out_name, form).run();
}

void check_few_bits_shapes(Check &check, const GroupedProblem &problem, bool weight_turned,
                           FewBits *form) {
  FewBitsShapes(check, problem, weight_turned, form).run();
}

Status run_few_bits(const GroupedJob &job, PlanContext &context) {
  return FewBitsRun(job, context).run();
}

}  // namespace emu
