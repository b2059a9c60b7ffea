// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
#include "ops/elementwise/engine.h"

#include "core/isa.h"
#include "core/pool.h"
#include "ops/elementwise/fold.h"

#include <cstring>
#include <optional>

namespace emu {
namespace {

constexpr int64_t kGrain = 32 * kBlock;
constexpr DtypeSet kUsual =
    dt::kFloating | dt::kSigned | dt::kBool | dtype_set(ACL_UINT8, ACL_COMPLEX64, ACL_COMPLEX128);

// `repeated`: operands that are one element, whose blocks are all the same.
void run_range(const ElementwiseTask &task, const Reader *readers, const bool *repeated,
               const Writer &writer, int64_t begin, int64_t end) {
  // The odd lines keep blocks from lying a multiple of a page apart, where loads wait for unrelated
  // stores.
  alignas(64) char scratch[kMaxTensors][kBlock * sizeof(Complex128) + 5 * 64];
  alignas(64) char result[kBlock * sizeof(Complex128)];
  const void *in[kMaxTensors] = {};
  for (int i = 0; i < task.inputs; ++i) {
    if (repeated[i]) in[i] = readers[i].read(begin, std::min(kBlock, end - begin), scratch[i]);
  }
  for (int64_t start = begin; start < end; start += kBlock) {
    const int64_t count = end - start < kBlock ? end - start : kBlock;
    for (int i = 0; i < task.inputs; ++i) {
      if (!repeated[i]) in[i] = readers[i].read(start, count, scratch[i]);
    }
    void *block = writer.target(start, result);
    task.fn(block, in, count, task.scalars);
    writer.write(start, count, block);
  }
}

// The shape without its first dimension; a single element has none to lose.
Layout without_first(const Layout &shape) {
  Layout rest;
  for (int d = 1; d < shape.rank; ++d) rest.push(shape.shape[d], shape.stride[d]);
  return rest;
}

aclDataType as_integer(aclDataType dtype) { return dtype == ACL_BOOL ? ACL_INT8 : dtype; }

// Name, tensors and dtype of the arguments as phase one walks over them.
struct Walk {
  Check check;
  const ElementwiseRow &row;
  const Argument *arguments;
  int count;
  bool in_place;
  const char *out_name;

  Walk(const ElementwiseRow &r, std::initializer_list<Argument> list, bool writes_first)
      : check(r.op),
        row(r),
        arguments(list.begin()),
        count(static_cast<int>(list.size())),
        in_place(writes_first),
        out_name(check.facts().name(in_place ? first_tensor() : count)) {}

  const char *name(int i) const { return check.facts().name(i); }

  int first_tensor() const {
    int i = 0;
    while (arguments[i].kind != Argument::kTensor) ++i;
    return i;
  }

  void nulls(const aclTensor *out) {
    for (int i = 0; i < count; ++i) {
      const Argument &a = arguments[i];
      if (a.kind == Argument::kTensor) check.required(name(i), a.tensor);
      else if (a.kind == Argument::kOperand || a.kind == Argument::kAttribute) {
        check.required(name(i), a.scalar);
      }
    }
    check.required(out_name, out);
  }

  void dtypes(const aclTensor *out) {
    for (int i = 0; i < count; ++i) {
      const Argument &a = arguments[i];
      if (a.kind == Argument::kTensor) check.dtype_in(name(i), a.tensor->dtype, allowed(name(i)));
      else if (a.kind == Argument::kOperand || a.kind == Argument::kAttribute) scalar_dtype(i);
    }
    if (!in_place) check.dtype_in(out_name, out->dtype, allowed(out_name));
  }

  void scalar_dtype(int i) {
    const Argument &a = arguments[i];
    if ((row.rule & kAlikeScalars) != 0) {
      check.dtype_in(name(i), a.scalar->dtype, allowed(name(first_tensor())));
    } else if (a.kind == Argument::kOperand && (row.rule & kFreeScalars) == 0) {
      check.dtype_in(name(i), a.scalar->dtype, allowed(name(i)));
    }
  }

  // Where no dtype is named, the ones every array program has.
  DtypeSet allowed(const char *parameter) const {
    const DtypeSet named = check.facts().dtypes_of(parameter);
    return named == ~DtypeSet{0} ? kUsual : named;
  }

  void formats(const aclTensor *out) {
    if ((row.rule & (kPlain | kPlainFirst)) == 0) return;
    for (int i = 0; i < count; ++i) {
      if (arguments[i].kind != Argument::kTensor) continue;
      check.plain_format(name(i), arguments[i].tensor);
      if ((row.rule & kPlain) == 0) return;
    }
    check.plain_format(out_name, out);
  }

  // The dtype all operands meet in.
  aclDataType promoted() {
    if ((row.rule & kLeadDtype) != 0) return arguments[0].tensor->dtype;
    aclDataType result = ACL_DT_UNDEFINED;
    bool first = true;
    int lead = 0;
    for (int i = 0; i < count; ++i) {
      const Argument &a = arguments[i];
      if (a.kind != Argument::kTensor || (i == 0 && (row.rule & kCondition) != 0)) continue;
      if (first) {
        result = a.tensor->dtype;
        lead = i;
      } else if ((row.rule & kOneDtype) != 0) {
        check.same_dtype(name(i), a.tensor->dtype, name(lead), result);
      } else {
        const aclDataType before = result;
        result = promote(before, a.tensor->dtype);
        check.that(result != ACL_DT_UNDEFINED,
                   "%s of dtype %s and %s of dtype %s have no common dtype", name(lead),
                   dtype_name(before), name(i), dtype_name(a.tensor->dtype));
      }
      first = false;
      if (!check.ok()) return ACL_DT_UNDEFINED;
    }
    for (int i = 0; i < count; ++i) {
      const Argument &a = arguments[i];
      if (a.kind != Argument::kOperand) continue;
      const aclDataType before = result;
      result = keeps_float(before, a.scalar->dtype) ? ACL_FLOAT
                                                    : promote_with_scalar(before, a.scalar->dtype);
      check.that(result != ACL_DT_UNDEFINED, "%s of dtype %s does not combine with dtype %s",
                 name(i), dtype_name(a.scalar->dtype), dtype_name(before));
      if (!check.ok()) return ACL_DT_UNDEFINED;
    }
    check.that(row.meeting == 0 || contains(row.meeting, result),
               "the operands meet in dtype %s; allowed: %s", dtype_name(result),
               dtype_list(row.meeting).c_str());
    return result;
  }

  bool keeps_float(aclDataType tensor, aclDataType scalar) const {
    return ((row.rule & kFloatScalar) != 0 && tensor == ACL_BF16 && scalar == ACL_DOUBLE) ||
           ((row.rule & kFloatScalarOfHalf) != 0 && tensor == ACL_FLOAT16 && scalar == ACL_FLOAT);
  }

  // `shape` becomes the shape the tensors meet in.
  void shapes(Layout *shape) {
    bool first = true;
    for (int i = 0; i < count && check.ok(); ++i) {
      const Argument &a = arguments[i];
      if (a.kind != Argument::kTensor) continue;
      check.rank(name(i), a.tensor);
      const Layout given = layout_of(*a.tensor);
      if (first) {
        *shape = dense_like(given);
        first = false;
        continue;
      }
      const Layout before = *shape;
      if ((row.rule & kOneShape) != 0) check.shape(name(i), a.tensor, before);
      const bool meets = broadcast_shapes(before, given, shape);
      check.that(meets, "%s has shape %s, which does not broadcast with %s", name(i),
                 shape_text(given).c_str(), shape_text(before).c_str());
      if ((row.rule & kLeadShape) != 0) {
        check.that(same_shape(*shape, before), "%s has shape %s, which does not broadcast to %s",
                   name(i), shape_text(given).c_str(), shape_text(before).c_str());
      }
    }
  }

  void result_shape(const aclTensor *out, const Layout &shape, const Fold *fold) {
    check.rank(out_name, out);
    if (fold == nullptr) {
      check.shape(out_name, out, shape);
    } else if (fold->over == Fold::kFirstDimension) {
      check.shape(out_name, out, without_first(shape));
    } else if (fold->one_element) {
      check.shape_or_one_element(out_name, out, Layout());
    } else {
      check.shape(out_name, out, Layout());
    }
  }
};

}  // namespace

aclDataType row_compute_dtype(unsigned rule, aclDataType promoted) {
  const bool integral = is_integer(promoted) || promoted == ACL_BOOL;
  return (rule & kToFloat) != 0 && integral ? ACL_FLOAT : promoted;
}

bool resolve_task(const ElementwiseRow &row, aclDataType promoted, int inputs,
                  ElementwiseTask *task) {
  if (!is_computable(promoted)) return false;
  const aclDataType dtype = row_compute_dtype(row.rule, promoted);
  const auto slot = static_cast<int>(compute_for(dtype));
  task->fn = row.blocks->fn[slot];
  if (task->fn == nullptr) return false;
  task->result = row.blocks->result[slot];
  task->compute_dtype = dtype;
  task->inputs = inputs;
  if ((row.rule & kToBool) != 0) {
    task->result_dtype = ACL_BOOL;
  } else if (is_complex(dtype) && task->result == Compute::F32) {
    // a part of a complex number or its magnitude
    task->result_dtype = dtype == ACL_COMPLEX32 ? ACL_FLOAT16 : ACL_FLOAT;
  } else if (is_complex(dtype) && task->result == Compute::F64) {
    task->result_dtype = ACL_DOUBLE;
  } else if (!is_complex(dtype) && task->result == Compute::C64) {
    task->result_dtype = dtype == ACL_FLOAT16 ? ACL_COMPLEX32 : ACL_COMPLEX64;
  } else if (!is_complex(dtype) && task->result == Compute::C128) {
    task->result_dtype = ACL_COMPLEX128;
  } else {
    task->result_dtype = dtype;
  }
  const DirectTable &direct = row.blocks->direct;
  const bool same_kind = dtype == ACL_BOOL || direct.truth == (task->result_dtype == ACL_BOOL);
  if (same_kind && isa_level() >= kDirectLevel) task->direct = direct.of(dtype);
  return true;
}

void set_scalar(ElementwiseTask *task, int position, const aclScalar &scalar, bool operand) {
  const Compute compute = compute_for(task->compute_dtype);
  char *slot = task->scalars + position * compute_size(compute);
  const auto *value = reinterpret_cast<const char *>(scalar.value);
  if (operand) return load_as(scalar.dtype, value, 0, 1, task->compute_dtype, slot);
  const Compute have = compute_for(scalar.dtype);
  alignas(16) char wide[sizeof(Complex128)];
  convert_table().load[scalar.dtype](value, 0, 1, wide);
  convert_table().cast[static_cast<int>(have)][static_cast<int>(compute)](wide, 1, slot);
}

void set_number(ElementwiseTask *task, int position, double value) {
  const Compute compute = compute_for(task->compute_dtype);
  char *slot = task->scalars + position * compute_size(compute);
  convert_table().cast[static_cast<int>(Compute::F64)][static_cast<int>(compute)](&value, 1, slot);
}

void run_elementwise(const ElementwiseTask &task, const View *in, const View &out) {
  const int64_t total = out.count();
  if (total == 0) return;
  View from[kMaxTensors];
  std::optional<Snapshot> copies[kMaxTensors];
  for (int i = 0; i < task.inputs; ++i) {
    if (clash(in[i], out)) copies[i].emplace(in[i]);
    from[i] = copies[i] ? copies[i]->view() : in[i];
  }
  if (run_direct(task, from, out)) return;
  Reader readers[kMaxTensors];
  bool repeated[kMaxTensors] = {};
  for (int i = 0; i < task.inputs; ++i) {
    repeated[i] = is_repeated(coalesced(from[i].layout));
    readers[i] = Reader(from[i], task.compute_dtype);
  }
  const Writer writer(out, task.result, task.result_dtype);
  const auto piece = [&](int64_t begin, int64_t end) {
    run_range(task, readers, repeated, writer, begin, end);
  };
  // Where several indices name one element the last one wins, as in a sequential loop.
  if (overlaps_itself(out.layout)) piece(0, total);
  else parallel_for(total, kGrain, piece);
}

namespace {

Status plan_row(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                aclTensor *out, bool in_place, const Fold *fold, uint64_t *workspace_size,
                aclOpExecutor **executor) {
  Walk walk(row, arguments, in_place);
  Check &check = walk.check;
  walk.nulls(out);
  if (!check.ok()) return check.status();
  walk.dtypes(out);
  walk.formats(out);
  const aclDataType promoted = check.ok() ? walk.promoted() : ACL_DT_UNDEFINED;
  if (!check.ok()) return check.status();

  int inputs = 0;
  for (const Argument &a : arguments) inputs += a.kind == Argument::kTensor;
  ElementwiseTask task;
  check.that(resolve_task(row, promoted, inputs, &task), "dtype %s is not supported",
             dtype_name(promoted));
  if (!check.ok()) return check.status();
  int scalars = 0;
  for (int i = 0; i < walk.count; ++i) {
    const Argument &a = walk.arguments[i];
    if (a.kind == Argument::kTensor || a.kind == Argument::kSkipped) continue;
    if (a.kind == Argument::kNumber) {
      set_number(&task, scalars++, a.number);
      continue;
    }
    // A scale that the computation cannot express would silently lose its fraction. Integers scale
    // BOOL: frameworks pass their default of 1 as INT64.
    if (a.kind == Argument::kAttribute && (row.rule & kCastScalars) == 0 &&
        !can_cast(a.scalar->dtype, as_integer(task.compute_dtype))) {
      check.that(false, "%s has dtype %s, which cannot be cast to %s", walk.name(i),
                 dtype_name(a.scalar->dtype), dtype_name(task.compute_dtype));
    }
    if (!check.ok()) return check.status();
    set_scalar(&task, scalars++, *a.scalar, a.kind == Argument::kOperand);
  }
  const aclDataType result_dtype = (row.rule & kCastBack) != 0 ? promoted : task.result_dtype;
  if ((row.rule & kExact) != 0) {
    check.same_dtype(walk.out_name, out->dtype, "the result", result_dtype);
  } else if ((row.rule & (kToBool | kAnyResult)) == 0) {
    check.castable(result_dtype, walk.out_name, out->dtype);
  }
  check.that(is_computable(out->dtype), "%s has dtype %s, which is not supported", walk.out_name,
             dtype_name(out->dtype));
  Layout shape;
  if (check.ok()) walk.shapes(&shape);
  if (check.ok()) walk.result_shape(out, shape, fold);
  if (!check.ok()) return check.status();

  PlanBuilder plan(row.op, KernelTime::linear);
  bool written = walk.in_place;  // the first tensor is the result
  for (const Argument &a : arguments) {
    if (a.kind != Argument::kTensor) continue;
    std::exchange(written, false) ? plan.in_place(a.tensor) : plan.input(a.tensor);
  }
  const size_t result = walk.in_place ? 0 : plan.output(out);
  if (fold != nullptr) {
    const ElementFold folded(row, task, *fold);
    return plan.finish(
        [folded, result](PlanContext &context) {
          View in[kMaxTensors];
          Layout shape = layout_of(context.tensor(0));
          for (int i = 1; i < folded.task.inputs; ++i) {
            const Layout before = shape;
            broadcast_shapes(before, layout_of(context.tensor(static_cast<size_t>(i))), &shape);
          }
          for (int i = 0; i < folded.task.inputs; ++i) {
            in[i] = view_of(context.tensor(static_cast<size_t>(i)), shape);
          }
          folded.run(in, shape, view_of(context.tensor(result)));
          return Status{0};
        },
        workspace_size, executor);
  }
  return plan.finish(
      [task, result](PlanContext &context) {
        const View to = view_of(context.tensor(result));
        View in[kMaxTensors];
        for (int i = 0; i < task.inputs; ++i) {
          in[i] = view_of(context.tensor(static_cast<size_t>(i)), to.layout);
        }
        run_elementwise(task, in, to);
        return Status{0};
      },
      workspace_size, executor);
}

}  // namespace

Status elementwise(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                   aclTensor *out, uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan_row(row, arguments, out, false, nullptr, workspace_size, executor);
}

Status elementwise_folded(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                          const Fold &fold, aclTensor *out, uint64_t *workspace_size,
                          aclOpExecutor **executor) {
  return plan_row(row, arguments, out, false, &fold, workspace_size, executor);
}

Status elementwise_in_place(const ElementwiseRow &row, std::initializer_list<Argument> arguments,
                            aclTensor *self, uint64_t *workspace_size, aclOpExecutor **executor) {
  return plan_row(row, arguments, self, true, nullptr, workspace_size, executor);
}

}  // namespace emu
