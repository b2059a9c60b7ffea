// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// QuantAllReduce and QuantReduceScatter: values of 8 bits travel with a scale per 128 of them, or a
// power of two per 32, and are summed as float32.
#include <cinttypes>
#include <cmath>
#include <cstring>
#include <limits>

#include "aclnnop/mc2.h"
#include "core/pool.h"
#include "hccl/arguments.h"
#include "ops/mc2/fused.h"
#include "ops/shared/low_codes.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kGroup = 128, kBlockOfPowers = 32, kLeastWidth = 1024, kMostWidth = 8192;

// Values that share a scale.
int64_t group_of(aclDataType scales) { return scales == ACL_FLOAT8_E8M0 ? kBlockOfPowers : kGroup; }

struct ReductionCall {
  const char *op;
  bool scatters;
  const aclTensor *x, *scales;
  const char *group, *reduce_op;
  const aclTensor *output;
};

// Shapes without the number of ranks; `rows` are those of x.
int64_t check_shapes(Check &check, const ReductionCall &a) {
  check.rank("x", a.x, 2, 3);
  check.plain_format("x", a.x).plain_format("scales", a.scales).plain_format("output", a.output);
  if (!check.ok()) return 0;
  Layout scales = layout_of(*a.x);
  int64_t &last = scales.shape[scales.rank - 1];
  const int64_t width = last;
  check.that(a.x->numel() > 0, "x of shape %s has no elements",
             shape_text(layout_of(*a.x)).c_str());
  check.that(width >= kLeastWidth && width <= kMostWidth && width % kGroup == 0,
             "x has rows of %" PRId64 " values (H); it must be a multiple of 128 in [1024, 8192]",
             width);
  if (!check.ok()) return 0;
  if (a.scales->dtype == ACL_FLOAT8_E8M0) {
    check.dtype_in("x", a.x->dtype, dt::kFloat8);  // as powers of two have them
    last = width / (2 * kBlockOfPowers);
    scales.push(2, 1);
  } else {
    last = width / kGroup;
  }
  check.shape("scales", a.scales, scales);
  return a.x->numel() / width;
}

struct Problem {
  const char *op;
  bool scatters;
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x, scales, output;
  int64_t rows, width;
  aclDataType scale_dtype;
  uint64_t values_bytes, scales_bytes;
  hccl::Call text;
};

// Consecutive values of 8 bits as float32.
class ReceivedValues {
 public:
  explicit ReceivedValues(aclDataType dtype) {
    if (dtype != ACL_INT8) low_value_table(dtype, value_of_);
    else
      for (int code = 0; code < 256; ++code) value_of_[code] = static_cast<int8_t>(code);
  }
  void read(const char *from, int64_t count, float *to) const {
    const auto *codes = reinterpret_cast<const uint8_t *>(from);
    for (int64_t i = 0; i < count; ++i) to[i] = value_of_[codes[i]];
  }

 private:
  float value_of_[256];
};

float scale_at(const char *scales, aclDataType dtype, int64_t i) {
  if (dtype == ACL_FLOAT) return reinterpret_cast<const float *>(scales)[i];
  const int code = static_cast<unsigned char>(scales[i]);
  return code == 255 ? std::numeric_limits<float>::quiet_NaN() : std::ldexp(1.0f, code - 127);
}

Status run(const Problem &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const uint32_t ranks = comm.size();
  const View x = view_of(c.tensor(p.x)), output = view_of(c.tensor(p.output));
  auto *values = static_cast<char *>(c.workspace());
  char *scales = values + p.values_bytes * ranks;
  copy_view(x, {values + comm.rank() * p.values_bytes, x.dtype, dense_like(x.layout)});
  const View given = view_of(c.tensor(p.scales));
  copy_view(given, {scales + comm.rank() * p.scales_bytes, given.dtype, dense_like(given.layout)});
  if (const Status s =
          session.all_gather(values + comm.rank() * p.values_bytes, values, p.values_bytes))
    return s;
  if (const Status s =
          session.all_gather(scales + comm.rank() * p.scales_bytes, scales, p.scales_bytes))
    return s;
  const int64_t rows = p.scatters ? p.rows / ranks : p.rows,
                first = p.scatters ? rows * comm.rank() : 0, group = group_of(p.scale_dtype),
                groups = p.width / group;
  const RowTarget<float> to(output);
  const ReceivedValues received(x.dtype);
  for_each_row<float>(rows, p.width, 2, [&](int64_t row, float *sum) {
    float *part = sum + p.width;
    std::fill(sum, sum + p.width, 0.0f);
    for (uint32_t r = 0; r < ranks; ++r) {
      received.read(values + r * p.values_bytes + (first + row) * p.width, p.width, part);
      const char *factors = scales + r * p.scales_bytes;
      for (int64_t g = 0; g < groups; ++g) {
        const float factor = scale_at(factors, p.scale_dtype, (first + row) * groups + g);
        for (int64_t i = g * group; i < (g + 1) * group; ++i) sum[i] += part[i] * factor;
      }
    }
    to.write(row * p.width, p.width, sum);
  });
  return 0;
}

Status plan_reduction(const ReductionCall &a, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check check(a.op);
  check.required("x", a.x).required("scales", a.scales).required("output", a.output);
  if (!check.ok()) return check.status();
  check.dtype("x", a.x).dtype("output", a.output).dtype("scales", a.scales);
  check.that(a.reduce_op && std::strcmp(a.reduce_op, "sum") == 0,
             "reduceOp is %.40s; only \"sum\" is supported", a.reduce_op ? a.reduce_op : "null");
  const int64_t rows = check.ok() ? check_shapes(check, a) : 0;
  if (!check.ok()) return check.status();
  auto p = std::make_shared<Problem>();
  if (const Status s = find_group(a.op, a.group, &p->communicator)) return s;
  const int64_t ranks = p->communicator->size();
  Check tiling = tiling_check(a.op);
  tiling.that(ranks == 2 || ranks == 4 || ranks == 8,
              "the communicator %s has %" PRId64 " ranks; it must have 2, 4 or 8",
              p->communicator->name().c_str(), ranks);
  if (!tiling.ok()) return tiling.status();
  Layout expected = layout_of(*a.x);
  check.size("x", Checked(a.x->numel()) * ranks * 2);
  if (a.scatters) {
    check.that(rows % ranks == 0,
               "x has %" PRId64 " rows, which %" PRId64
               " ranks cannot share "
               "evenly",
               rows, ranks);
    const int64_t width = expected.shape[expected.rank - 1];
    const int64_t shape[] = {rows / ranks, width};
    expected = dense_layout(shape, 2);
  }
  if (check.ok()) check.shape("output", a.output, expected);
  if (!check.ok()) return check.status();
  p->op = a.op;
  p->scatters = a.scatters;
  p->rows = rows;
  p->width = a.x->shape.back();
  p->scale_dtype = a.scales->dtype;
  p->text = hccl::describe("%s(rows=%" PRId64 ", h=%" PRId64 ", dtype=%s, scales=%s)", a.op, rows,
                           p->width, dtype_name(a.x->dtype), dtype_name(a.scales->dtype));
  p->values_bytes = aligned(static_cast<uint64_t>(a.x->numel()));
  p->scales_bytes = aligned(static_cast<uint64_t>(a.scales->numel() * item_size(a.scales->dtype)));
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  p->x = plan.input(a.x);
  p->scales = plan.input(a.scales);
  p->output = plan.output(a.output);
  plan.workspace((p->values_bytes + p->scales_bytes) * static_cast<uint64_t>(ranks));
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p->communicator, p->op, [&] { return run(*p, c); });
      },
      workspace_size, executor);
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(QuantAllReduce, (const aclTensor *x, const aclTensor *scales, const char *group,
                              const char *reduceOp, aclTensor *output)) {
  return emu::plan_reduction({"aclnnQuantAllReduce", false, x, scales, group, reduceOp, output},
                             workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(QuantReduceScatter, (const aclTensor *x, const aclTensor *scales, const char *group,
                                  const char *reduceOp, aclTensor *output)) {
  return emu::plan_reduction({"aclnnQuantReduceScatter", true, x, scales, group, reduceOp, output},
                             workspaceSize, executor);
}
EMU_CATCH
