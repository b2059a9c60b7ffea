// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/reduce/fold.h"
#include "core/pool.h"
#include "ops/reduce/dense_fold.h"

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <vector>

namespace emu {
namespace {

// What elements are read as: the dtype that the fold computes in, or a narrower one of the same
// kind that holds them as well.
aclDataType read_dtype(aclDataType dtype, aclDataType wanted) {
  constexpr DtypeSet kWhole = dtype_set(ACL_BOOL, ACL_INT8, ACL_UINT8, ACL_INT16, ACL_INT32);
  if (wanted == ACL_INT64 && contains(kWhole, dtype)) return ACL_INT32;
  if (wanted == ACL_DOUBLE && contains(dtype_set(ACL_FLOAT, ACL_FLOAT16, ACL_BF16), dtype))
    return ACL_FLOAT;
  return wanted;
}

// Elements of the input as blocks of the lanes' compute type.
class Source {
 public:
  Source(const View &view, const FoldTask &task)
      : reader_(view, read_dtype(view.dtype, task.compute_dtype)),
        have_(compute_for(read_dtype(view.dtype, task.compute_dtype))),
        want_(task.compute) {}

  // Whether elements have the narrower type of the kind that lanes have.
  bool narrow() const {
    return (have_ == Compute::F32 && want_ == Compute::F64) ||
           (have_ == Compute::I32 && want_ == Compute::I64) ||
           (have_ == Compute::C64 && want_ == Compute::C128);
  }
  const void *read_narrow(int64_t start, int64_t count, void *scratch) const {
    return reader_.read(start, count, scratch);
  }
  const void *read(int64_t start, int64_t count, void *scratch, void *wide) const {
    const void *block = reader_.read(start, count, scratch);
    if (have_ == want_) return block;
    convert_table().cast[static_cast<int>(have_)][static_cast<int>(want_)](block, count, wide);
    return wide;
  }
  // Whether all elements lie ready one behind the other, so that what is read may be read beyond.
  bool ready(void *scratch) const {
    return (narrow() || have_ == want_) && reader_.read(0, 1, scratch) != scratch;
  }

 private:
  Reader reader_;
  Compute have_, want_;
};

struct Scratch {
  alignas(64) char block[kBlock * sizeof(Complex128)];
  alignas(64) char wide[kBlock * sizeof(Complex128)];
  alignas(64) char lanes[kBlock * sizeof(Complex128)];
  alignas(64) char result[kBlock * sizeof(Complex128)];
};

// The kernels that take rows, null where there is none, and columns. They read blocks as `read_for`
// gives them.
auto rows_kernel(const FoldTask &task, const Source &source) {
  return source.narrow() ? task.fns.narrow_rows : task.fns.rows;
}
auto columns_kernel(const FoldTask &task, const Source &source) {
  return source.narrow() ? task.fns.narrow_step : task.fns.step;
}
const void *read_for(const Source &source, int64_t start, int64_t count, Scratch &s) {
  return source.narrow() ? source.read_narrow(start, count, s.block)
                         : source.read(start, count, s.block, s.wide);
}

// Folds elements [begin, end) into lanes and those into the first lane.
void fold_range(const FoldTask &task, const Source &source, int64_t begin, int64_t end,
                Scratch &s) {
  if (const auto take = rows_kernel(task, source)) {
    task.fns.start(s.lanes, 1);
    for (int64_t start = begin; start < end; start += kBlock) {
      const int64_t count = std::min(kBlock, end - start);
      take(s.lanes, read_for(source, start, count, s), 1, count);
    }
    return;
  }
  const int64_t width = std::max<int64_t>(std::min(kBlock, end - begin), 1);
  task.fns.start(s.lanes, width);
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t count = std::min(kBlock, end - start);
    task.fns.step(s.lanes, source.read(start, count, s.block, s.wide), 1, count, count,
                  task.parameter);
  }
  task.fns.merge(s.lanes, width);
}

// Each result from a run of neighbouring elements; short ones many at a time.
void fold_rows(const FoldTask &task, const Source &source, int64_t rows, int64_t length,
               const Writer &writer) {
  const int64_t grain = std::max<int64_t>(1, kFoldPiece / std::max<int64_t>(length, 1));
  const auto take = rows_kernel(task, source);
  const bool many = take != nullptr && 0 < length && length <= kBlock;
  const int64_t together = many ? kBlock / length : 1;
  parallel_for(rows, grain, [&](int64_t begin, int64_t end) {
    Scratch s;
    for (int64_t row = begin; row < end; row += together) {
      const int64_t count = std::min(together, end - row);
      if (many) {
        task.fns.start(s.lanes, count);
        take(s.lanes, read_for(source, row * length, count * length, s), count, length);
      } else {
        fold_range(task, source, row * length, (row + 1) * length, s);
      }
      void *target = writer.target(row, s.result);
      task.fns.finish(s.lanes, count, length, task.parameter, target);
      writer.write(row, count, target);
    }
  });
}

// The same for few long rows: pieces in parallel, joined in order.
void fold_long_rows(const FoldTask &task, const Source &source, int64_t rows, int64_t length,
                    const Writer &writer) {
  const int64_t pieces = (length + kFoldPiece - 1) / kFoldPiece;
  const auto lane = static_cast<size_t>(compute_size(task.compute));
  std::vector<char> partial(static_cast<size_t>(rows * pieces) * lane);
  parallel_for(rows * pieces, 1, [&](int64_t begin, int64_t end) {
    Scratch s;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t row = i / pieces, first = (i % pieces) * kFoldPiece;
      const int64_t last = std::min(first + kFoldPiece, length);
      fold_range(task, source, row * length + first, row * length + last, s);
      std::copy(s.lanes, s.lanes + lane, partial.data() + static_cast<size_t>(i) * lane);
    }
  });
  Scratch s;
  for (int64_t row = 0; row < rows; ++row) {
    const char *first = partial.data() + static_cast<size_t>(row * pieces) * lane;
    std::copy(first, first + lane, s.lanes);
    for (int64_t i = 1; i < pieces; ++i)
      task.fns.join(s.lanes, first + static_cast<size_t>(i) * lane);
    void *target = writer.target(row, s.result);
    task.fns.finish(s.lanes, 1, length, task.parameter, target);
    writer.write(row, 1, target);
  }
}

// Neighbouring elements belong to neighbouring results: lanes are results.
void fold_columns(const FoldTask &task, const Source &source, int64_t columns, int64_t length,
                  const Writer &writer) {
  const int64_t blocks = (columns + kBlock - 1) / kBlock;
  const auto take = columns_kernel(task, source);
  parallel_for(blocks, std::max<int64_t>(1, kFoldPiece / (kBlock * length)),
               [&](int64_t begin, int64_t end) {
                 Scratch s;
                 const int64_t together = source.ready(s.block) ? length : 1;
                 for (int64_t block = begin; block < end; ++block) {
                   const int64_t start = block * kBlock, count = std::min(kBlock, columns - start);
                   task.fns.start(s.lanes, count);
                   for (int64_t i = 0; i < length; i += together) {
                     const void *from = read_for(source, i * columns + start, count, s);
                     take(s.lanes, from, together, columns, count, task.parameter);
                   }
                   void *target = writer.target(start, s.result);
                   task.fns.finish(s.lanes, count, length, task.parameter, target);
                   writer.write(start, count, target);
                 }
               });
}

// The compute type the lanes have for elements of `compute`: its own or the wider of its kind.
std::optional<Compute> lane_type(const FoldTable &table, Compute compute) {
  const auto there = [&](Compute c) { return table.fns[static_cast<int>(c)].start != nullptr; };
  if (there(compute)) return compute;
  const Compute wide = compute == Compute::F32   ? Compute::F64
                       : compute == Compute::I32 ? Compute::I64
                       : compute == Compute::C64 ? Compute::C128
                                                 : compute;
  if (there(wide)) return wide;
  return std::nullopt;
}

}  // namespace

bool resolve_fold(const ReduceRow &row, aclDataType dtype, FoldTask *task) {
  if (!is_computable(dtype)) return false;
  task->compute_dtype = row_compute_dtype(row.rule, dtype);
  const auto lanes = lane_type(*row.folds, compute_for(task->compute_dtype));
  if (!lanes) return false;
  task->compute = *lanes;
  task->fns = row.folds->fns[static_cast<int>(*lanes)];
  task->kernel = row.folds->kernel;
  task->result_dtype = (row.rule & kToBool) != 0 ? ACL_BOOL : task->compute_dtype;
  return true;
}

void set_parameter(FoldTask *task, double value) {
  convert_table().cast[static_cast<int>(Compute::F64)][static_cast<int>(task->compute)](
      &value, 1, task->parameter);
}

void run_fold(const FoldTask &task, const View &in, const View &out) {
  const int64_t results = out.count();
  if (results == 0) return;
  const int64_t length = reduced_count(in.layout, task.axes);
  std::optional<Snapshot> copy;
  if (clash(in, out) || (in.data == out.data && length != 1)) copy.emplace(in);
  View source_view = copy ? copy->view() : in;
  const Writer writer(out, task.fns.result, task.result_dtype);
  const bool columns = results > 1 && length > 1 && leads_to_next(source_view.layout, task.axes);
  source_view.layout = columns ? reduced_first(source_view.layout, task.axes)
                               : reduced_last(source_view.layout, task.axes);
  if (fold_dense(task, source_view, columns, results, length, writer)) return;
  const Source source(source_view, task);
  if (columns) fold_columns(task, source, results, length, writer);
  else if (length > 2 * kFoldPiece && results < 64)
    fold_long_rows(task, source, results, length, writer);
  else fold_rows(task, source, results, length, writer);
}

Status plan_reduce(const ReduceCall &call, uint64_t *workspace_size, aclOpExecutor **executor) {
  Check &check = call.check;
  if ((call.row.rule & kPlainSelf) != 0) check.plain_format("self", call.self);
  if (!check.ok()) return check.status();
  FoldTask task;
  const aclDataType dtype = call.dtype == ACL_DT_UNDEFINED ? call.self->dtype : call.dtype;
  check.that(resolve_fold(call.row, dtype, &task), "dtype %s is not supported", dtype_name(dtype));
  if (!check.ok()) return check.status();
  if ((call.row.rule & kExact) != 0) {
    check.same_dtype(call.out_name, call.out->dtype, "the result", task.result_dtype);
  } else if ((call.row.rule & kToBool) == 0) {
    check.castable(task.result_dtype, call.out_name, call.out->dtype);
  }
  const Layout in = layout_of(*call.self);
  const Layout shape = reduced_shape(in, call.axes, call.keep);
  if ((call.row.rule & kExactRank) != 0) check.shape(call.out_name, call.out, shape);
  else check.shape_or_one_element(call.out_name, call.out, shape);
  if (check.ok() && (call.row.rule & kNeedsElements) != 0) {
    check.that(reduced_count(in, call.axes) > 0 || call.out->numel() == 0,
               "self of shape %s has no element to reduce", shape_text(in).c_str());
  }
  if (!check.ok()) return check.status();
  task.axes = call.axes;
  set_parameter(&task, call.parameter);
  PlanBuilder plan(call.row.op, KernelTime::linear);
  const size_t source = plan.input(call.self), target = plan.output(call.out);
  return plan.finish(
      [task, source, target](PlanContext &context) {
        run_fold(task, view_of(context.tensor(source)), view_of(context.tensor(target)));
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace emu
