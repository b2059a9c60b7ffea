// SPDX-License-Identifier: Apache-2.0
#include "ops/matmul/quant/quant_matmul_floats.h"

#include <algorithm>
#include <cinttypes>

#include "core/chip.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/matmul/quant/float_product.h"
#include "ops/matmul/quant/operand.h"
#include "ops/matmul/quant/product.h"
#include "ops/shared/low_codes.h"

namespace emu {
namespace {

constexpr DtypeSet kEightBits = dt::kFloat8, kHifloat = dtype_set(ACL_HIFLOAT8),
                   kFourBits = dtype_set(ACL_FLOAT4_E2M1);
constexpr DtypeSet kFloats = kEightBits | kHifloat | kFourBits;
constexpr DtypeSet kOfBlocks = dtype_set(ACL_FLOAT8_E4M3FN, ACL_HIFLOAT8);  // beside FRACTAL_NZ
constexpr DtypeSet kPacked = dtype_set(ACL_UINT64, ACL_INT64);

enum class Mode : uint8_t { kWhole, kBlocks, kMx };

struct Problem {
  Mode mode = Mode::kWhole;
  int64_t m = 0, n = 0, k = 0, group = 0;
  ScaleMap left, right;
  bool nothing = false;
};

class FloatRules {
 public:
  FloatRules(const QuantMatmulCall &call, Problem *problem)
      : c_(call), p_(*problem), check_(call.op) {}

  Status run() {
    presence();
    if (ok()) dtypes();
    if (ok()) operands();
    if (!ok()) return check_.status();
    switch (p_.mode) {
      case Mode::kWhole: whole_scales(); break;
      case Mode::kBlocks: block_scales(); break;
      case Mode::kMx: mx_scales(); break;
    }
    if (ok()) bias();
    return check_.status();
  }

 private:
  bool ok() const { return check_.ok(); }
  bool in_blocks() const { return c_.version == kQuantMatmulNz; }

  void presence() {
    check_.required("x1", c_.x1).required("x2", c_.x2).required("x2Scale", c_.x2_scale);
    check_.required("out", c_.out)
        .optional("x1ScaleOptional", c_.x1_scale)
        .optional("biasOptional", c_.bias);
    const std::pair<const char *, const aclTensor *> reserved[] = {
        {"yScaleOptional", c_.y_scale},
        {"x1OffsetOptional", c_.x1_offset},
        {"x2OffsetOptional", c_.x2_offset},
        {"yOffsetOptional", c_.y_offset}};
    for (const auto &[name, tensor] : reserved) {
      check_.optional(name, tensor);
      check_.that(tensor == nullptr, "%s is given; with x1 of %s it must be null", name,
                  c_.x1 ? dtype_name(c_.x1->dtype) : "floats");
    }
  }

  void dtypes() {
    const aclDataType x = c_.x1->dtype;
    check_.dtype_in("x1", x, in_blocks() ? kOfBlocks : kFloats);
    check_.dtype_in("x2", c_.x2->dtype,
                    in_blocks()               ? dtype_set(x)
                    : contains(kEightBits, x) ? kEightBits
                    : contains(kHifloat, x)   ? kHifloat
                                              : kFourBits);
    check_.dtype_in("out", c_.out->dtype, dt::kFloat);
    if (c_.bias) check_.dtype_in("biasOptional", c_.bias->dtype, dtype_set(ACL_FLOAT));
    const DtypeSet powers = dtype_set(ACL_FLOAT8_E8M0), others = kPacked | dtype_set(ACL_FLOAT);
    check_.dtype_in("x2Scale", c_.x2_scale->dtype,
                    contains(kFourBits, x)  ? powers
                    : contains(kHifloat, x) ? others
                                            : others | powers);
    if (!ok()) return;
    const aclDataType scale = c_.x2_scale->dtype;
    if (contains(kPacked, scale)) {
      check_.that(c_.x1_scale == nullptr,
                  "x1ScaleOptional is given; with x2Scale of %s it must be null",
                  dtype_name(scale));
      return;
    }
    check_.required("x1ScaleOptional", c_.x1_scale);
    if (!ok()) return;
    check_.same_dtype("x1ScaleOptional", c_.x1_scale->dtype, "x2Scale", scale);
    if (scale == ACL_FLOAT8_E8M0) p_.mode = Mode::kMx;
    else if (c_.x1_scale->rank() > 1 && c_.x2_scale->rank() > 1) p_.mode = Mode::kBlocks;
  }

  void operands() {
    check_.rank("x1", c_.x1, 2, 6).rank("x2", c_.x2, 2, 6).rank("out", c_.out, 2, 6);
    for (const auto &[name, tensor] : {std::pair{"x1", c_.x1}, {"x2", c_.x2}, {"out", c_.out}}) {
      if (!ok()) return;
      if (in_blocks() && tensor == c_.x2) {
        check_.that(is_fractal(*tensor), "x2 has the format %s; allowed: FRACTAL_NZ",
                    format_name(tensor->format));
        continue;
      }
      check_.that(!is_fractal(*tensor), "%s has the format FRACTAL_NZ; allowed here: ND", name);
      check_float4(check_, name, tensor);
      check_.plain_format(name, tensor);
    }
    check_matrix_layout(check_, "x1", *c_.x1);
    check_matrix_layout(check_, "x2", *c_.x2);
    if (!ok()) return;
    const bool four = contains(kFourBits, c_.x1->dtype);
    check_.that(!four || !c_.transpose_x1, "transposeX1 is true; with FLOAT4_E2M1 it is false");
    check_.that(!four || c_.transpose_x2, "transposeX2 is false; with FLOAT4_E2M1 it is true");
    const NumberShape a = number_shape(*c_.x1, Packing::kNone),
                      b = number_shape(*c_.x2, Packing::kNone);
    p_.m = c_.transpose_x1 ? a.cols : a.rows;
    p_.k = c_.transpose_x1 ? a.rows : a.cols;
    p_.n = c_.transpose_x2 ? b.rows : b.cols;
    const int64_t depth = c_.transpose_x2 ? b.cols : b.rows;
    check_.that(
        p_.k == depth && p_.k > 0,
        "x1 %s and x2 %s cannot be multiplied: the inner sizes are %" PRId64 " and %" PRId64,
        shape_text(layout_of(*c_.x1)).c_str(), shape_text(layout_of(*c_.x2)).c_str(), p_.k, depth);
    check_.that(!four || (p_.k + 31) / 32 % 2 == 0,
                "x1 has an inner size of %" PRId64
                "; FLOAT4_E2M1 needs an even number of groups of 32",
                p_.k);
    check_.that(p_.mode == Mode::kWhole || (c_.x1->rank() == 2 && c_.x2->rank() == 2),
                "x1 has %zu and x2 %zu dimensions; scales of groups need 2", c_.x1->rank(),
                c_.x2->rank());
    Layout expected, left = layout_of(*c_.x1), right = layout_of(*c_.x2);
    left.rank -= 2;
    right.rank -= 2;
    check_.that(broadcast_shapes(left, right, &expected),
                "x2 %s does not broadcast with x1 %s before the last two dimensions",
                shape_text(layout_of(*c_.x2)).c_str(), shape_text(layout_of(*c_.x1)).c_str());
    expected.push(p_.m, 0);
    expected.push(p_.n, 0);
    check_.shape("out", c_.out, expected);
    p_.nothing = c_.out->numel() == 0;
  }

  void vector(const char *name, const aclTensor *tensor, int64_t length) {
    if (!ok() || !tensor) return;
    check_.that(tensor->rank() == 1 && (tensor->shape[0] == length || tensor->shape[0] == 1),
                "%s has shape %s; expected (%" PRId64 ",) or (1,)", name,
                shape_text(layout_of(*tensor)).c_str(), length);
  }

  void whole_scales() {
    check_.that(c_.group_size == 0, "groupSize is %" PRId64 "; scales without groups take 0",
                c_.group_size);
    vector("x2Scale", c_.x2_scale, p_.n);
    vector("x1ScaleOptional", c_.x1_scale, p_.m);
    if (!ok() || !c_.bias || !c_.x1_scale) return;
    const bool per_column = c_.x2_scale->shape[0] == p_.n && p_.n > 1;
    check_.that(c_.x1_scale->shape[0] == p_.m || !per_column,
                "biasOptional is given; an x1ScaleOptional of one value beside one x2Scale per "
                "column takes none");
  }

  void group_sizes(int64_t along_m, int64_t along_n, int64_t along_k) {
    check_group_size(check_, c_.group_size, along_m, along_n, along_k);
    p_.group = along_k;
  }

  // Shape (rows, groups), or the other way round with the operand transposed.
  void blocks(const char *name, const aclTensor &scale, int64_t rows, bool turned, ScaleMap *map) {
    const int64_t deep = (p_.k + 127) / 128, shape[] = {turned ? deep : rows, turned ? rows : deep};
    check_.shape(name, &scale, dense_layout(shape, 2));
    map->row_step = turned ? 1 : deep;
    map->group_step = turned ? rows : 1;
  }

  void block_scales() {
    check_.that(c_.bias == nullptr, "biasOptional is given; scales of blocks take none");
    check_.rank("x1ScaleOptional", c_.x1_scale, 2, 2).rank("x2Scale", c_.x2_scale, 2, 2);
    if (!ok()) return;
    // Which of the two forms is given, x1ScaleOptional says: a row for each row of x1, or for each
    // 128.
    const int64_t rows = c_.x1_scale->shape[c_.transpose_x1 ? 1 : 0];
    p_.left.rows = rows == p_.m ? 1 : 128;
    p_.right.rows = 128;
    blocks("x1ScaleOptional", *c_.x1_scale, rows == p_.m ? p_.m : (p_.m + 127) / 128,
           c_.transpose_x1, &p_.left);
    blocks("x2Scale", *c_.x2_scale, (p_.n + 127) / 128, !c_.transpose_x2, &p_.right);
    group_sizes(p_.m == 1 ? (c_.group_size >> 32 & 0xffff) == 1 ? 1 : 128 : p_.left.rows, 128, 128);
  }

  void mx_scales() {
    check_.shape("x1ScaleOptional", c_.x1_scale, paired_scale_layout(p_.m, p_.k, c_.transpose_x1));
    check_.shape("x2Scale", c_.x2_scale, paired_scale_layout(p_.n, p_.k, !c_.transpose_x2));
    if (!ok()) return;
    p_.left = paired_scales(p_.m, p_.k, c_.transpose_x1);
    p_.right = paired_scales(p_.n, p_.k, !c_.transpose_x2);
    group_sizes(1, 1, kPairedGroup);
  }

  void bias() {
    if (!c_.bias) return;
    const Layout given = layout_of(*c_.bias);
    const bool row = given.rank == 1 || (given.rank == 2 && given.shape[0] == 1);
    check_.that(row && given.shape[given.rank - 1] == p_.n,
                "biasOptional has shape %s; expected (%" PRId64 ",)", shape_text(given).c_str(),
                p_.n);
  }

  const QuantMatmulCall &c_;
  Problem &p_;
  Check check_;
};

struct Job {
  Problem problem;
  bool transpose_x1, transpose_x2;
  size_t x1, x2, x1_scale, x2_scale, bias, out;
};

// (sum + bias) * scale of the column * scale of the row, rounded once.
class ScaledFloats final : public RowSink<float> {
 public:
  MatrixOut out;
  std::vector<float> bias, column, row;  // one value, or one for each; bias and row may lack

  void accept(int64_t i, int64_t col, int64_t count, const float *sums) const override {
    constexpr int64_t piece = 256;
    for (int64_t done = 0; done < count; done += piece) {
      const int64_t n = std::min(piece, count - done), j = col + done;
      float values[piece];
      const float factor = row.empty() ? 1.0f : at(row, i);
      for (int64_t p = 0; p < n; ++p)
        values[p] =
            (sums[done + p] + (bias.empty() ? 0 : at(bias, j + p))) * at(column, j + p) * factor;
      store_quantised(values, out, i, j, n);
    }
  }

 private:
  static float at(const std::vector<float> &values, int64_t i) {
    return values[values.size() == 1 ? 0 : static_cast<size_t>(i)];
  }
};

void grouped(const Job &job, const PlanContext &c, const Matrix &a, const Matrix &b,
             const std::vector<float> &bias, const MatrixOut &out) {
  const Problem &p = job.problem;
  const std::vector<float> left = float_scales(c.tensor(job.x1_scale)),
                           right = float_scales(c.tensor(job.x2_scale));
  std::vector<float> total(static_cast<size_t>(p.m * p.n));
  FloatProduct product;
  product.x = a;
  product.w = b;
  product.left = left.data();
  product.right = right.data();
  product.left_map = p.left;
  product.right_map = p.right;
  product.group = p.group;
  multiply(product, total.data());
  for (int64_t i = 0; i < p.m; ++i) {
    float *row = total.data() + i * p.n;
    for (int64_t j = 0; j < p.n && !bias.empty(); ++j) row[j] += bias[static_cast<size_t>(j)];
    store_quantised(row, out, i, 0, p.n);
  }
}

Status run(const Job &job, const PlanContext &c) {
  // Operands are decoded into memory of their own: the result may lie over them.
  FloatStack x1(c.tensor(job.x1)), x2(c.tensor(job.x2));
  if (job.transpose_x1) x1.transpose();
  if (job.transpose_x2) x2.transpose();
  const std::vector<float> bias =
      c.has(job.bias) ? scale_values(c.tensor(job.bias)) : std::vector<float>();
  ScaledFloats sink;
  sink.bias = bias;
  if (job.problem.mode == Mode::kWhole) {
    sink.column = scale_values(c.tensor(job.x2_scale));
    if (c.has(job.x1_scale)) sink.row = scale_values(c.tensor(job.x1_scale));
  }
  const MatrixStack target = matrix_stack(view_of(c.tensor(job.out)));
  const Layout batch = target.batch, a = broadcast_to(x1.stack().batch, batch),
               b = broadcast_to(x2.stack().batch, batch);
  for (int64_t index = 0; index < batch.count(); ++index) {
    int64_t at_a = 0, at_b = 0, at_out = 0, rest = index;
    for (int d = batch.rank - 1; d >= 0; --d) {
      const int64_t i = rest % batch.shape[d];
      rest /= batch.shape[d];
      at_a += i * a.stride[d];
      at_b += i * b.stride[d];
      at_out += i * batch.stride[d];
    }
    const Matrix to = target.at(at_out);
    const MatrixOut out{const_cast<void *>(to.data), to.dtype, to.row.stride, to.col.stride};
    if (job.problem.mode == Mode::kWhole) {
      sink.out = out;
      gemm_f32(x1.stack().at(at_a), x2.stack().at(at_b), sink);
    } else {
      grouped(job, c, x1.stack().at(at_a), x2.stack().at(at_b), bias, out);
    }
  }
  return 0;
}

}  // namespace

bool is_product_of_floats(const QuantMatmulCall &call) {
  return chip_is_950() && call.x1 != nullptr && live(call.x1) && contains(kFloats, call.x1->dtype);
}

Status plan_quant_matmul_floats(const QuantMatmulCall &c, uint64_t *workspace_size,
                                aclOpExecutor **executor) {
  Job job{};
  if (const Status status = FloatRules(c, &job.problem).run()) return status;
  job.transpose_x1 = c.transpose_x1;
  job.transpose_x2 = c.transpose_x2;
  PlanBuilder plan(c.op);
  job.x1 = plan.input(c.x1);
  job.x2 = plan.input(c.x2);
  job.x1_scale = plan.input(c.x1_scale);
  job.x2_scale = plan.input(c.x2_scale);
  for (const aclTensor *tensor : {c.y_scale, c.x1_offset, c.x2_offset, c.y_offset})
    plan.unused(tensor);
  job.bias = plan.input(c.bias);
  job.out = plan.output(c.out);
  return plan.finish(
      [=](PlanContext &context) { return job.problem.nothing ? Status{0} : run(job, context); },
      workspace_size, executor);
}

}  // namespace emu
