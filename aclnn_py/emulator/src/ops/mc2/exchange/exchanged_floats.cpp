// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// AlltoAllQuantMatmul and QuantMatmulAlltoAll of a 950: floats of 8 bits with scales of rows and
// columns, floats of 8 and 4 bits with powers of two for each 32, and rows that are quantised on
// their way to the product.
#include <cinttypes>
#include <climits>
#include <cstring>

#include "ops/matmul/dequantise.h"
#include "ops/matmul/quant/float_operand.h"
#include "ops/mc2/exchange/exchanged.h"
#include "ops/mc2/float_form.h"
#include "ops/shared/dynamic.h"

namespace emu {
namespace {

constexpr int64_t kByChannel = 2, kByToken = 3, kPowersOfTwo = 6, kDynamic = 7;
constexpr DtypeSet kOperands = dt::kFloat8 | kFloat4E2m1;
constexpr int64_t kMostDepth = 65535, kUnit = 64;

struct FloatExchange {
  const char *op;
  bool first_exchanges, dynamic, turned;
  FloatForm form;
  aclDataType multiplied;  // what the rows of x1 are in the product
  std::shared_ptr<hccl::Communicator> communicator;
  size_t x1, x2, bias, x1_scale, x2_scale, output, exchanged;
  int64_t rows, width, columns;
  uint64_t first_bytes, scale_bytes;
  hccl::Call text;
};

uint64_t low_bytes(aclDataType dtype, int64_t count) {
  return static_cast<uint64_t>(count) * static_cast<uint64_t>(dtype_bits(dtype)) / 8;
}

// A tensor over memory of the kernel.
aclTensor dense_tensor(const void *data, aclDataType dtype, std::initializer_list<int64_t> shape) {
  aclTensor tensor;
  tensor.dtype = dtype;
  tensor.data = const_cast<void *>(data);
  tensor.shape = shape;
  tensor.strides = shape;
  tensor.storage_shape = shape;
  int64_t step = 1;
  for (size_t d = tensor.shape.size(); d-- > 0;) {
    tensor.strides[d] = step;
    step *= tensor.shape[d];
  }
  return tensor;
}

void copy_dense(const aclTensor &tensor, char *to) {
  if (dtype_bits(tensor.dtype) < 8) {
    std::memcpy(to, static_cast<const char *>(tensor.data) + tensor.offset / 2,
                low_bytes(tensor.dtype, tensor.numel()));
    return;
  }
  const View from = view_of(tensor);
  copy_view(from, {to, from.dtype, dense_like(from.layout)});
}

void check_dtypes(Check &check, const ExchangedCall &a, bool mx) {
  const bool dynamic = a.x1_mode == kDynamic;
  check.dtype("x1", a.x1).dtype("x2", a.x2).dtype("output", a.output);
  check.dtype("x2Scale", a.x2_scale).dtype("alltoAllOutOptional", a.exchanged);
  check.dtype_in("x1", a.x1->dtype, dynamic ? dt::kHalf : mx ? kOperands : dt::kFloat8);
  check.dtype_in("x2", a.x2->dtype, dynamic ? dt::kFloat8 : low_floats_beside(a.x1->dtype));
  if (a.exchanged) check.same_dtype("alltoAllOutOptional", a.exchanged->dtype, "x1", a.x1->dtype);
  if (a.bias) check.dtype_in("biasOptional", a.bias->dtype, dtype_set(ACL_FLOAT));
  const DtypeSet scale = mx ? kPowers : dtype_set(ACL_FLOAT);
  const char *name = a.first_exchanges ? "x1ScaleOptional" : "x1Scale";
  if (a.x1_scale) check.dtype_in(name, a.x1_scale->dtype, scale);
  check.dtype_in("x2Scale", a.x2_scale->dtype, scale);
}

void check_modes(Check &check, const ExchangedCall &a, bool mx) {
  check_exchange_modes(check, a);
  const int64_t other = a.first_exchanges ? kDynamic : kByToken;
  check.that(mx || a.x1_mode == other,
             "x1QuantMode is %" PRId64 "; on this chip it can be %" PRId64 " and 6", a.x1_mode,
             other);
  check.that(a.x2_mode == (mx ? kPowersOfTwo : kByChannel),
             "x2QuantMode is %" PRId64 "; beside an x1QuantMode of %" PRId64 " it must be %d",
             a.x2_mode, a.x1_mode, mx ? 6 : 2);
  if (mx) check_group_size(check, a.group_size, 1, 1, kPairedGroup);
  else
    check.that(a.group_size == 0, "groupSize is %" PRId64 "; here only 0 is supported",
               a.group_size);
  check.that(!mx || a.transposed2, "transposeX2 is false; with powers of two it must be true");
  if (!a.first_exchanges) return;
  const int64_t wanted = a.x1_quant_dtype;
  check.that(mx || wanted == ACL_FLOAT8_E5M2 || wanted == ACL_FLOAT8_E4M3FN,
             "x1QuantDtype is %" PRId64 "; allowed: 35 (FLOAT8_E5M2), 36 (FLOAT8_E4M3FN)", wanted);
  check.that(mx == (a.x1_scale != nullptr), "x1ScaleOptional is %s; x1QuantMode is %" PRId64,
             a.x1_scale ? "given" : "null", a.x1_mode);
}

void check_shapes(Check &check, const ExchangedCall &a) {
  check.rank("x1", a.x1, 2, 2).rank("x2", a.x2, 2, 2).rank("output", a.output, 2, 2);
  check.rank("alltoAllOutOptional", a.exchanged, 2, 2);
  for (const auto &[name, tensor] : {std::pair{"x1", a.x1}, {"x2", a.x2}, {"output", a.output}}) {
    check.plain_format(name, tensor);
    check.that(tensor->numel() > 0, "%s of shape %s has no elements", name,
               shape_text(layout_of(*tensor)).c_str());
  }
  if (!check.ok() || a.x1->dtype != ACL_FLOAT4_E2M1) return;
  check_float4(check, "x1", a.x1);
  check_float4(check, "x2", a.x2);
  if (a.exchanged) check_float4(check, "alltoAllOutOptional", a.exchanged);
}

// The shapes that depend on the number of ranks.
void check_spread(Check &check, const ExchangedCall &a, bool mx, int64_t ranks) {
  const int64_t rows = a.x1->shape[0], width = a.x1->shape[1], n = a.columns(), k = a.depth();
  check.size("x1", Checked(std::max(rows, k)) * ranks * std::max(width, n) * 8);
  if (!check.ok()) return;
  const int64_t depth = a.first_exchanges ? width * ranks : width;
  check.that(rows <= INT_MAX / ranks && n <= INT_MAX,
             "x1 has %" PRId64 " rows and x2 %" PRId64 " columns; neither may be above 2147483647",
             rows, n);
  check.that(depth <= kMostDepth,
             "the product sums over %" PRId64 " values; at most 65535 are allowed", depth);
  check.that(k == depth, "x2 has %" PRId64 " rows to multiply; it must have %" PRId64, k, depth);
  const int64_t split = a.first_exchanges ? rows : n;
  check.that(split % ranks == 0, "%s %" PRId64 " %s, which %" PRId64 " ranks cannot share evenly",
             a.first_exchanges ? "x1 has" : "x2 has", split, a.first_exchanges ? "rows" : "columns",
             ranks);
  check.that(!mx || !a.first_exchanges || width % kUnit == 0,
             "x1 has %" PRId64 " columns; with powers of two it is a multiple of 64", width);
  if (!check.ok()) return;
  const int64_t out[] = {a.first_exchanges ? rows / ranks : rows * ranks,
                         a.first_exchanges ? n : n / ranks};
  const int64_t whole[] = {rows / ranks, depth};
  check.shape("output", a.output, dense_layout(out, 2));
  check.shape("alltoAllOutOptional", a.exchanged, dense_layout(whole, 2));
  check.shape("biasOptional", a.bias, dense_layout(&n, 1));
  const char *name = a.first_exchanges ? "x1ScaleOptional" : "x1Scale";
  check.shape(name, a.x1_scale,
              mx ? paired_scale_layout(rows, width, false) : dense_layout(&rows, 1));
  check.shape("x2Scale", a.x2_scale,
              mx ? paired_scale_layout(n, depth, false) : dense_layout(&n, 1));
}

// The product of dense rows with x2, in the dtype of the result.
void multiply_rows(const FloatExchange &p, PlanContext &c, const aclTensor &left,
                   const std::vector<float> &scales, void *rows) {
  aclTensor right = c.tensor(p.x2);
  if (p.turned) {
    std::swap(right.shape[0], right.shape[1]);
    std::swap(right.strides[0], right.strides[1]);
  }
  const std::vector<float> columns = float_scales(c.tensor(p.x2_scale)),
                           bias =
                               c.has(p.bias) ? every_scale(c.tensor(p.bias)) : std::vector<float>();
  multiply_float_rows(p.form, left, right, scales.data(), columns, bias, rows,
                      c.tensor(p.output).dtype);
}

// Rows of float16 or bfloat16 become floats of 8 bits with a scale for each.
void quantise_rows(const char *whole, aclDataType dtype, const aclTensor &to,
                   std::vector<float> *scales) {
  const int64_t rows = to.shape[0], width = to.shape[1], shape[] = {rows, width};
  const RowSource<float> from(View{const_cast<char *>(whole), dtype, dense_layout(shape, 2)});
  const QuantTarget target(to);
  const QuantRange range = quant_range(to.dtype);
  scales->resize(static_cast<size_t>(rows));
  for_each_row<float>(rows, width, 1, [&](int64_t row, float *values) {
    from.read(row * width, width, values);
    (*scales)[static_cast<size_t>(row)] = scale_symmetric(values, width, range).scale;
    target.write(row * width, width, values);
  });
}

Status exchange_and_multiply(const FloatExchange &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const uint32_t ranks = comm.size();
  const aclTensor &x1 = c.tensor(p.x1), &output = c.tensor(p.output);
  auto *sent = static_cast<char *>(c.workspace()), *received = sent + p.first_bytes,
       *factors = received + p.first_bytes, *rows = factors + 2 * p.scale_bytes;
  const int64_t share = p.rows / ranks, depth = p.width * ranks;
  copy_dense(x1, sent);
  if (const Status s =
          exchange_rows(session, ranks, p.rows, low_bytes(x1.dtype, p.width), sent, received))
    return s;
  if (c.has(p.exchanged)) {
    const aclTensor &whole = c.tensor(p.exchanged);
    const int64_t shape[] = {share, depth};
    if (dtype_bits(x1.dtype) < 8)
      std::memcpy(static_cast<char *>(whole.data) + whole.offset / 2, sent,
                  low_bytes(x1.dtype, share * depth));
    else copy_view({sent, x1.dtype, dense_layout(shape, 2)}, view_of(whole));
  }
  std::vector<float> scales;
  if (p.dynamic) {
    // What was received is no longer needed, and is wider than its codes.
    const aclTensor codes = dense_tensor(received, p.multiplied, {share, depth});
    quantise_rows(sent, x1.dtype, codes, &scales);
    multiply_rows(p, c, codes, scales, rows);
  } else {
    copy_dense(c.tensor(p.x1_scale), factors);
    const int64_t pairs = p.width / kUnit;
    if (const Status s = exchange_rows(session, ranks, p.rows, static_cast<uint64_t>(2 * pairs),
                                       factors, factors + p.scale_bytes))
      return s;
    scales =
        float_scales(dense_tensor(factors, ACL_FLOAT8_E8M0, {share, pairs * int64_t{ranks}, 2}));
    multiply_rows(p, c, dense_tensor(sent, x1.dtype, {share, depth}), scales, rows);
  }
  copy_view({rows, output.dtype, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

Status multiply_and_exchange(const FloatExchange &p, PlanContext &c) {
  hccl::Communicator &comm = *p.communicator;
  hccl::Session session(comm, p.text);
  if (const Status s = session.begin()) return s;
  const uint32_t ranks = comm.size();
  const aclTensor &output = c.tensor(p.output);
  auto *rows = static_cast<char *>(c.workspace()), *sent = rows + p.first_bytes;
  multiply_rows(p, c, c.tensor(p.x1), float_scales(c.tensor(p.x1_scale)), rows);
  const auto share = static_cast<uint64_t>(p.columns / ranks * item_size(output.dtype));
  if (const Status s =
          exchange_columns(session, ranks, static_cast<uint64_t>(p.rows), share, rows, sent))
    return s;
  copy_view({rows, output.dtype, dense_like(layout_of(output))}, view_of(output));
  return 0;
}

}  // namespace

Status plan_exchanged_floats(const ExchangedCall &a, uint64_t *workspace_size,
                             aclOpExecutor **executor) {
  Check check(a.op);
  const bool mx = a.x1_mode == kPowersOfTwo;
  check_modes(check, a, mx);
  if (check.ok()) check_dtypes(check, a, mx);
  if (check.ok()) check_shapes(check, a);
  if (!check.ok()) return check.status();
  auto p = std::make_shared<FloatExchange>();
  if (const Status s = find_group(a.op, a.group, &p->communicator)) return s;
  if (const Status s = check_world_size(a.op, Ranks::sliced, *p->communicator)) return s;
  const int64_t ranks = p->communicator->size();
  check_spread(check, a, mx, ranks);
  if (!check.ok()) return check.status();
  p->op = a.op;
  p->first_exchanges = a.first_exchanges;
  p->dynamic = a.x1_mode == kDynamic;
  p->turned = a.transposed2;
  p->multiplied = p->dynamic ? static_cast<aclDataType>(a.x1_quant_dtype) : a.x1->dtype;
  p->rows = a.x1->shape[0], p->width = a.x1->shape[1], p->columns = a.columns();
  p->form.mode = mx ? FloatMode::kMx : FloatMode::kWhole;
  p->form.left.row_step = p->form.right.row_step = 1;
  if (mx) {
    p->form.left = paired_scales(a.first_exchanges ? p->rows / ranks : p->rows, a.depth(), false);
    p->form.right = paired_scales(p->columns, a.depth(), false);
  }
  p->text = hccl::describe("%s(m=%" PRId64 ", k=%" PRId64 ", n=%" PRId64 ", dtype=%s, mode=%" PRId64
                           ", output=%s)",
                           a.op, p->rows, p->width, a.first_exchanges ? 0 : p->columns,
                           dtype_name(a.x1->dtype), a.x1_mode, dtype_name(a.output->dtype));
  PlanBuilder plan(a.op);
  plan.rule(WorkspaceRule::kIndividual);
  plan.phase_two_code(kInner);
  plan.waits();
  p->x1 = plan.input(a.x1);
  p->x2 = plan.input(a.x2);
  p->bias = plan.input(a.bias);
  p->x1_scale = plan.input(a.x1_scale);
  p->x2_scale = plan.input(a.x2_scale);
  for (const aclTensor *reserved : {a.comm_scale, a.x1_offset, a.x2_offset}) plan.unused(reserved);
  p->output = plan.output(a.output);
  if (a.first_exchanges) p->exchanged = plan.output(a.exchanged);
  const auto out = static_cast<uint64_t>(a.output->numel() * item_size(a.output->dtype));
  if (a.first_exchanges) {
    p->first_bytes = aligned(low_bytes(a.x1->dtype, p->rows * p->width));
    p->scale_bytes = mx ? aligned(static_cast<uint64_t>(a.x1_scale->numel())) : 0;
    plan.workspace(2 * p->first_bytes + 2 * p->scale_bytes + out);
  } else {
    p->first_bytes = aligned(out);
    plan.workspace(2 * p->first_bytes);
  }
  return plan.finish(
      [p](PlanContext &c) {
        return hccl::together(*p->communicator, p->op, [&] {
          return p->first_exchanges ? exchange_and_multiply(*p, c) : multiply_and_exchange(*p, c);
        });
      },
      workspace_size, executor);
}

}  // namespace emu
