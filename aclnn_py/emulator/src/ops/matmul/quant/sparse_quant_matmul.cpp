// SPDX-License-Identifier: Apache-2.0
// Products of INT8 rows with a weight that keeps two of every four elements, as
// aclnnTransSparse4to2Para packs it: exact sums, then the scales and the bias in float32.
#include <cinttypes>

#include "aclnnop/matmul.h"
#include "core/host_memory.h"
#include "core/memory.h"
#include "core/pool.h"
#include "core/statuses.h"
#include "ops/matmul/quant/product.h"
#include "ops/matmul/quant/sparse_blocks.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnSparse4to2QuantMatmulWeightNz";
constexpr int64_t kDeepest = 65535;

int64_t parts(int64_t extent, int64_t size) { return extent / size + (extent % size != 0); }

struct SparseCall {
  const aclTensor *x, *weight, *index, *row_scale, *column_scale, *bias, *out;
};

// What the checks find out, and where the plan keeps the tensors.
struct SparseJob {
  int64_t m, n, k;
  size_t x, weight, index, row_scale, column_scale, bias, out;

  int64_t across() const { return parts(k, kSparseSource); }
  int64_t down() const { return parts(n, kSparseRows); }
};

// The storage is that of the packed form, whatever the format is called.
void check_packed(Check &check, const char *name, const aclTensor &tensor, const SparseJob &job,
                  int64_t columns, int64_t width) {
  const int64_t shape[] = {job.n, columns},
                blocks[] = {job.across(), job.down(), kSparseRows, width};
  check.shape(name, &tensor, dense_layout(shape, 2));
  const Dims &given = tensor.storage_shape;
  check.that(given == Dims(blocks, 4) && tensor.offset == 0 && tensor.contiguous(),
             "%s has a storage shape of %s; expected %s without an offset, as "
             "aclnnTransSparse4to2Para gives it",
             name, shape_text(given.data(), static_cast<int>(given.size())).c_str(),
             shape_text(blocks, 4).c_str());
}

Status check_call(const SparseCall &c, SparseJob *job) {
  Check check(kOp);
  check.required("x", c.x).required("sparseWeight", c.weight).required("index", c.index);
  check.required("out", c.out).optional("biasOptional", c.bias);
  check.optional("xScale", c.row_scale).optional("sparseWeightScale", c.column_scale);
  check.that(c.row_scale != nullptr, "xScale is null; products without it are not supported");
  check.that(c.column_scale != nullptr,
             "sparseWeightScale is null; products without it are not supported");
  check.dtype("x", c.x).dtype("sparseWeight", c.weight).dtype("index", c.index);
  check.dtype("xScale", c.row_scale).dtype("sparseWeightScale", c.column_scale);
  check.dtype("biasOptional", c.bias).dtype("out", c.out);
  check.rank("x", c.x, 2, 2).rank("sparseWeight", c.weight, 2, 2).plain_format("x", c.x);
  if (!check.ok()) return check.status();
  job->m = c.x->shape[0];
  job->k = c.x->shape[1];
  job->n = c.weight->shape[0];
  check.that(job->k <= kDeepest,
             "x has an inner dimension of %" PRId64 "; allowed: at most %" PRId64, job->k,
             kDeepest);
  check.that(job->m > 0 && job->n > 0 && job->k > 0, "x or sparseWeight is empty");
  if (!check.ok()) return check.status();
  check_packed(check, "sparseWeight", *c.weight, *job, parts(job->k, 8) * 4, kSparseKept);
  check_packed(check, "index", *c.index, *job, parts(job->k, 8), kSparsePlaces);
  check.shape("xScale", c.row_scale, dense_layout(&job->m, 1));
  check.shape("sparseWeightScale", c.column_scale, dense_layout(&job->n, 1));
  if (c.bias) check.shape("biasOptional", c.bias, dense_layout(&job->n, 1));
  const int64_t out[] = {job->m, job->n};
  check.shape("out", c.out, dense_layout(out, 2));
  return check.status();
}

// Phase one only knew this memory by its storage shape.
Status check_memory(const char *name, const aclTensor &tensor, int device) {
  int owner = -1;
  const auto bytes = static_cast<size_t>(tensor.storage_shape.count());
  if (kernel_may_use(tensor.data, bytes, device, &owner)) return 0;
  return fail(kKernelFault, "%s: the %zu bytes of %s do not fit at %p (%s).", kOp, bytes, name,
              tensor.data, describe_address(tensor.data).c_str());
}

// A row of the weight, (k) rounded up to whole blocks. False, and *wrong is its byte of places,
// when one names an element outside its four, or one element twice.
bool unpack_row(const SparseJob &job, const aclTensor &weight, const aclTensor &index, int64_t row,
                int8_t *to, int64_t *wrong) {
  const auto *values = static_cast<const int8_t *>(weight.data);
  const auto *places = static_cast<const uint8_t *>(index.data);
  for (int64_t block = 0; block < job.across(); ++block) {
    const int64_t line = block * job.down() * kSparseRows + row;
    for (int64_t group = 0; group < kSparseSource / kSparseGroup; ++group) {
      const int64_t byte = line * kSparsePlaces + group / 2;
      const int place = places[byte] >> group % 2 * 4 & 15;
      const int first = place & 3, second = (place >> 2) + 1;
      const int8_t *two = values + line * kSparseKept + 2 * group;
      int8_t *four = to + block * kSparseSource + group * kSparseGroup;
      *wrong = byte;
      if (first > 2 || second > 3 || (first == second && two[0] != 0 && two[1] != 0)) return false;
      if (two[0] != 0) four[first] = two[0];
      if (two[1] != 0) four[second] = two[1];
    }
  }
  return true;
}

Status run(const SparseJob &job, PlanContext &c) {
  const aclTensor &weight = c.tensor(job.weight), &index = c.tensor(job.index);
  if (const Status s = check_memory("sparseWeight", weight, c.device())) return s;
  if (const Status s = check_memory("index", index, c.device())) return s;
  const int64_t depth = job.across() * kSparseSource;
  std::vector<int8_t> dense(static_cast<size_t>(job.n * depth));
  for (int64_t row = 0; row < job.n; ++row) {
    int64_t wrong = 0;
    if (!unpack_row(job, weight, index, row, dense.data() + row * depth, &wrong))
      return fail(kKernelFault,
                  "%s: byte %" PRId64
                  " of index holds places that aclnnTransSparse4to2Para does "
                  "not give: beyond their four elements, or one of them twice",
                  kOp, wrong);
  }
  Matrix right;
  right.data = dense.data();
  right.dtype = ACL_INT8;
  right.rows = job.k;
  right.cols = job.n;
  right.row.stride = 1;
  right.col.stride = depth;
  Dequantised form;
  form.column_scale = scale_values(c.tensor(job.column_scale));
  form.row_scale = scale_values(c.tensor(job.row_scale));
  if (c.has(job.bias)) form.column_shift = scale_values(c.tensor(job.bias));
  const Snapshot x(view_of(c.tensor(job.x)));  // the result may lie over it
  const View out = view_of(c.tensor(job.out));
  const MatrixOut target{out.data, out.dtype, out.layout.stride[0], out.layout.stride[1]};
  gemm_i32(matrix_stack(x.view()).first, right, DequantisedStore(form, target));
  return 0;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(Sparse4to2QuantMatmulWeightNz,
             (const aclTensor *x, const aclTensor *sparseWeight, const aclTensor *index,
              const aclTensor *xScale, const aclTensor *sparseWeightScale,
              const aclTensor *biasOptional, aclTensor *out)) {
  const emu::SparseCall call{x, sparseWeight, index, xScale, sparseWeightScale, biasOptional, out};
  emu::SparseJob job{};
  if (const emu::Status status = emu::check_call(call, &job)) return status;
  emu::PlanBuilder plan(emu::kOp);
  job.x = plan.input(x);
  job.weight = plan.input(sparseWeight);
  job.index = plan.input(index);
  job.row_scale = plan.input(xScale);
  job.column_scale = plan.input(sparseWeightScale);
  job.bias = plan.input(biasOptional);
  job.out = plan.output(out);
  return plan.finish([job](emu::PlanContext &c) { return emu::run(job, c); }, workspaceSize,
                     executor);
}
EMU_CATCH
