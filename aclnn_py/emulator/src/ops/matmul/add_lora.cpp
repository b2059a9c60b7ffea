// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
// Adapters of low rank, one of several for each row, added to a part of the columns.
#include "aclnnop/math.h"
#include "ops/matmul/gemm.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr const char *kOp = "aclnnAddLora";
constexpr int64_t kMostColumns = 131072, kMostRank = 128, kMostAdapters = 32, kAlign = 16;

struct LoraArguments {
  const aclTensor *y, *x, *b, *indices, *a;
  int64_t layer, offset, slice;
  const aclTensor *out;
};

// Of a dimension of a tensor.
void check_extent(Check &check, const char *what, int64_t extent, int64_t most, int64_t align) {
  check.that(extent > 0 && extent <= most && extent % align == 0,
             "%s is %lld; allowed: multiples of %lld up to %lld", what,
             static_cast<long long>(extent), static_cast<long long>(align),
             static_cast<long long>(most));
}

Check check_lora(const LoraArguments &g) {
  Check check(kOp);
  check.required("y", g.y).required("x", g.x).required("weightB", g.b);
  check.required("indices", g.indices).optional("weightAOptional", g.a).required("out", g.out);
  check.dtype("y", g.y).dtype("x", g.x).dtype("weightB", g.b).dtype("indices", g.indices);
  check.dtype("weightAOptional", g.a).dtype("out", g.out).tiling();
  check.plain_format("weightB", g.b);
  if (g.a) check.plain_format("weightAOptional", g.a);
  check.rank("y", g.y, 2, 2).rank("x", g.x, 2, 2).rank("weightB", g.b, 4, 4);
  if (g.a) check.rank("weightAOptional", g.a, 4, 4);
  if (!check.ok()) return check;
  const int64_t rows = g.x->shape[0], inner = g.x->shape[1], wide = g.y->shape[1];
  const Dims &b = g.b->shape;
  check.that(rows > 0, "x has no rows");
  check_extent(check, "the last dimension of x", inner, kMostColumns, kAlign);
  check_extent(check, "the last dimension of y", wide, kMostColumns, kAlign);
  check_extent(check, "the first dimension of weightB", b[0], kMostAdapters, 1);
  check_extent(check, "the second dimension of weightB", b[1], kMostAdapters, 1);
  check_extent(check, "the third dimension of weightB", b[2], kMostColumns, kAlign);
  check_extent(check, "the last dimension of weightB", b[3], kMostRank, kAlign);
  const int64_t whole[] = {rows, wide}, first[] = {b[0], b[1], b[3], inner};
  check.shape("y", g.y, dense_layout(whole, 2)).shape("out", g.out, dense_layout(whole, 2));
  check.shape("indices", g.indices, dense_layout(&rows, 1));
  if (g.a) check.shape("weightAOptional", g.a, dense_layout(first, 4));
  else
    check.that(
        b[3] == inner,
        "weightB has a last dimension of %lld; without weightAOptional it must be that of x, "
        "%lld",
        static_cast<long long>(b[3]), static_cast<long long>(inner));
  check.that(g.layer >= 0 && g.layer < b[1], "layerIdx is %lld; allowed: 0 to %lld",
             static_cast<long long>(g.layer), static_cast<long long>(b[1] - 1));
  check.that(g.slice == b[2], "ySliceSize is %lld; it must be the third dimension of weightB, %lld",
             static_cast<long long>(g.slice), static_cast<long long>(b[2]));
  check.that(g.offset >= 0 && g.slice >= 0 && g.slice <= wide && g.offset <= wide - g.slice,
             "yOffset is %lld; ySliceSize %lld from there on does not fit the %lld columns of y",
             static_cast<long long>(g.offset), static_cast<long long>(g.slice),
             static_cast<long long>(wide));
  return check;
}

Matrix dense(const float *data, int64_t rows, int64_t cols) {
  Matrix m;
  m.data = data;
  m.rows = rows;
  m.cols = cols;
  m.row.stride = cols;
  m.col.stride = 1;
  return m;
}

// The transposed matrix of one adapter and layer.
Matrix adapter(const View &weight, int64_t index, int64_t layer) {
  const Layout &l = weight.layout;
  Matrix m;
  m.data = weight.data + (index * l.stride[0] + layer * l.stride[1]) * item_size(weight.dtype);
  m.dtype = weight.dtype;
  m.rows = l.shape[3];
  m.cols = l.shape[2];
  m.row.stride = l.stride[3];
  m.col.stride = l.stride[2];
  return m;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(AddLora, (const aclTensor *y, const aclTensor *x, const aclTensor *weightB,
                       const aclTensor *indices, const aclTensor *weightAOptional, int64_t layerIdx,
                       double scale, int64_t yOffset, int64_t ySliceSize, aclTensor *out)) {
  using namespace emu;
  const Check check =
      check_lora({y, x, weightB, indices, weightAOptional, layerIdx, yOffset, ySliceSize, out});
  if (!check.ok()) return check.status();
  PlanBuilder plan(kOp);
  const size_t base = plan.input(y), from = plan.input(x), second = plan.input(weightB),
               chosen = plan.input(indices), first = plan.input(weightAOptional),
               to = plan.output(out);
  const auto factor = static_cast<float>(scale);
  return plan.finish(
      [=](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        const int64_t rows = result.layout.shape[0], wide = result.layout.shape[1];
        const int64_t inner = c.tensor(from).shape[1], adapters = c.tensor(second).shape[0];
        const auto index = read_all<int64_t>(c, chosen, rows, 0);
        for (size_t r = 0; r < index.size(); ++r) {
          if (index[r] < 0 || index[r] >= adapters) {
            return fail(kKernelFault, "%s: indices[%zu] is %lld; allowed: 0 to %lld.", kOp, r,
                        static_cast<long long>(index[r]), static_cast<long long>(adapters - 1));
          }
        }
        Operands operands;
        const RowSource<float> source(operands.safe(view_of(c.tensor(from)), {result}));
        const RowSource<float> before(operands.safe(view_of(c.tensor(base)), {result}));
        const View b = operands.safe(view_of(c.tensor(second)), {result});
        const View a = c.has(first) ? operands.safe(view_of(c.tensor(first)), {result}) : View();
        const RowTarget<float> target(result);
        for (int64_t w = 0; w < adapters; ++w) {
          std::vector<int64_t> mine;
          for (int64_t r = 0; r < rows; ++r)
            if (index[static_cast<size_t>(r)] == w) mine.push_back(r);
          if (mine.empty()) continue;
          const auto count = static_cast<int64_t>(mine.size());
          std::vector<float> gathered(mine.size() * static_cast<size_t>(inner));
          for (int64_t i = 0; i < count; ++i)
            source.read(mine[static_cast<size_t>(i)] * inner, inner, gathered.data() + i * inner);
          Matrix left = dense(gathered.data(), count, inner);
          std::vector<float> narrow;
          if (a.data != nullptr) {
            const Matrix down = adapter(a, w, layerIdx);
            narrow.resize(static_cast<size_t>(count * down.cols));
            gemm(left, down, {narrow.data(), ACL_FLOAT, down.cols, 1});
            left = dense(narrow.data(), count, down.cols);
          }
          const Matrix up = adapter(b, w, layerIdx);
          std::vector<float> added(static_cast<size_t>(count * up.cols));
          gemm(left, up, {added.data(), ACL_FLOAT, up.cols, 1});
          for_each_row<float>(count, wide, 1, [&](int64_t i, float *row) {
            const int64_t place = mine[static_cast<size_t>(i)] * wide;
            before.read(place, wide, row);
            const float *more = added.data() + i * up.cols;
            for (int64_t j = 0; j < up.cols; ++j) row[yOffset + j] += more[j] * factor;
            target.write(place, wide, row);
          });
        }
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
