// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// ChunkCat: each tensor is cut into as many chunks along its first dimension, the last ones filled
// up with zeros, and the chunks of one number lie side by side as a row of the result.
#include "aclnnop/conversion.h"
#include "core/pool.h"
#include "ops/shape/movement.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <string>
#include <vector>

namespace emu {
namespace {

// Rows of the first dimension in a chunk.
int64_t chunk_rows(const aclTensor &tensor, int64_t chunks) {
  return tensor.shape[0] / chunks + (tensor.shape[0] % chunks != 0 ? 1 : 0);
}

// A part of a row of the result in the shape of a piece of a tensor.
View row_part(const View &result, int64_t row, int64_t column, const Layout &piece) {
  View part = result;
  const int64_t step = result.layout.stride[1];
  part.data += (row * result.layout.stride[0] + column * step) * item_size(result.dtype);
  part.layout = dense_like(piece);
  for (int d = 0; d < part.layout.rank; ++d) part.layout.stride[d] *= step;
  return part;
}

// A tensor and the columns of its chunks. `bytes`: both sides are dense, and elements are moved as
// they are.
struct Member {
  View source;
  int64_t column, width;
  bool bytes;
};

// Chunk i of a tensor into its part of row i of the result.
void place_chunk(const Member &member, const View &result, int64_t chunks, int64_t i) {
  const View &source = member.source;
  const int64_t extent = source.layout.shape[0],
                rows = extent / chunks + (extent % chunks != 0 ? 1 : 0);
  const int64_t first = std::min(i * rows, extent), count = std::min(rows, extent - first);
  const int64_t inner = member.width / rows, filled = count * inner;
  if (member.bytes) {
    const int64_t size = item_size(result.dtype);
    char *to = result.data + (i * result.layout.stride[0] + member.column) * size;
    const auto used = static_cast<size_t>(filled * size);
    if (used != 0) std::memcpy(to, source.data + first * inner * size, used);
    if (filled < member.width)
      std::memset(to + used, 0, static_cast<size_t>((member.width - filled) * size));
    return;
  }
  const View piece = narrowed(source, 0, first, count);
  if (filled != 0) copy_view(piece, row_part(result, i, member.column, piece.layout));
  if (filled == member.width) return;
  Layout rest;
  rest.push(member.width - filled, 1);
  fill_zero(row_part(result, i, member.column + filled, rest));
}

// Elements of a piece of work that pays for a thread.
constexpr int64_t kWork = int64_t{1} << 15;

Check &check_tensors(Check &check, const aclTensorList *tensors) {
  check.required("tensors", tensors);
  if (!check.ok()) return check;
  check.that(!tensors->members.empty(), "tensors is empty; at least one tensor is needed");
  for (size_t i = 0; check.ok() && i < tensors->members.size(); ++i) {
    const aclTensor *tensor = tensors->members[i];
    const std::string name = "tensors[" + std::to_string(i) + "]";
    check.required(name.c_str(), tensor);
    if (!check.ok()) return check;
    check.dtype("tensors", tensor).rank(name.c_str(), tensor, 1, 8);
    check.same_dtype(name.c_str(), tensor->dtype, "tensors[0]", tensors->members[0]->dtype);
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ChunkCat,
             (const aclTensorList *tensors, int64_t dim, int64_t numChunks, aclTensor *out)) {
  using namespace emu;
  Check check("aclnnChunkCat");
  check_tensors(check, tensors).required("out", out).dtype("out", out);
  if (!check.ok()) return check.status();
  const aclDataType kind = tensors->members[0]->dtype;
  check.that(item_size(out->dtype) >= item_size(kind),
             "out has dtype %s; its elements must be as large as those of tensors, %s, or larger",
             dtype_name(out->dtype), dtype_name(kind));
  check.that(dim == 0, "dim is %lld; allowed: 0", static_cast<long long>(dim));
  check.that(numChunks >= 1, "numChunks is %lld; it must be positive",
             static_cast<long long>(numChunks));
  if (!check.ok()) return check.status();
  std::vector<int64_t> widths;
  Checked total(0);
  for (const aclTensor *tensor : tensors->members) {
    Checked width(chunk_rows(*tensor, numChunks));
    for (size_t d = 1; d < tensor->rank(); ++d) width *= tensor->shape[d];
    widths.push_back(check.size("tensors", width));
    total += width;
  }
  Layout shape;
  shape.push(numChunks, 0);
  shape.push(check.size("tensors", total), 0);
  check.shape("out", out, shape);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnChunkCat", KernelTime::linear);
  const size_t from = plan.input_list(tensors), to = plan.output(out);
  return plan.finish(
      [=,
       shared = std::make_shared<const std::vector<int64_t>>(std::move(widths))](PlanContext &c) {
        const View result = view_of(c.tensor(to));
        if (result.count() == 0) return Status{0};
        // Every tensor is read before the result overwrites one.
        std::vector<std::unique_ptr<Snapshot>> kept(shared->size());
        for (size_t i = 0; i < shared->size(); ++i) {
          const View source = view_of(c.tensor(from + i));
          if (clash(source, result)) kept[i] = std::make_unique<Snapshot>(source);
        }
        int64_t column = 0;
        std::vector<Member> members;
        for (size_t i = 0; i < shared->size(); ++i) {
          const View source = kept[i] ? kept[i]->view() : view_of(c.tensor(from + i));
          const bool bytes = source.dtype == result.dtype && source.layout.is_dense() &&
                             result.layout.stride[1] == 1;
          members.push_back({source, column, (*shared)[i], bytes});
          column += (*shared)[i];
        }
        const auto count = static_cast<int64_t>(members.size());
        const int64_t each = std::max<int64_t>(1, column / count);
        parallel_for(count * numChunks, kWork / each, [&](int64_t begin, int64_t end) {
          for (int64_t k = begin; k < end; ++k) {
            const Member &member = members[static_cast<size_t>(k % count)];
            if (member.width != 0) place_chunk(member, result, numChunks, k / count);
          }
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
