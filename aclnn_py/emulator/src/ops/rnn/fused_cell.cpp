// SPDX-License-Identifier: Apache-2.0
// build flags: -O2
// ThnnFusedLstmCell and its gradient: what follows the products in one step of a long short-term
// memory cell. Gates lie beside each other in the order i, g, f, o.
#include "aclnnop/rnn.h"
#include "ops/float_kernels.h"
#include "ops/rnn/cell.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

LstmGates gates_at(float *row, int64_t size) {
  return {row, row + 2 * size, row + size, row + 3 * size};
}

Layout pair(int64_t rows, int64_t columns) {
  const int64_t shape[] = {rows, columns};
  return dense_layout(shape, 2);
}

struct CellTensor {
  const char *name;
  const aclTensor *tensor;
  bool gates;  // four vectors a row instead of one
  bool required = true;
};

// Nulls, dtypes, ranks and shapes; the model has one vector a row and gives dtype and shape.
template <size_t N>
void check_cell(Check &check, const CellTensor (&tensors)[N], const char *model_name,
                const aclTensor *model) {
  for (const CellTensor &one : tensors) {
    if (one.required) check.required(one.name, one.tensor);
    else check.optional(one.name, one.tensor);
  }
  for (const CellTensor &one : tensors) check.dtype(one.name, one.tensor);
  if (!check.ok()) return;
  for (const CellTensor &one : tensors) {
    if (one.tensor != nullptr) {
      check.same_dtype(one.name, one.tensor->dtype, model_name, model->dtype);
    }
  }
  check.rank(model_name, model, 2, 2);
  if (!check.ok()) return;
  const int64_t rows = model->shape[0], size = model->shape[1];
  const int64_t width = check.size(model_name, Checked(size) * 4);
  check.size(model_name, Checked(rows) * size * 64);
  if (!check.ok()) return;
  for (const CellTensor &one : tensors) {
    check.shape(one.name, one.tensor, pair(rows, one.gates ? width : size));
  }
}

void check_bias(Check &check, const char *name, const aclTensor *bias, const aclTensor *model) {
  if (!check.ok() || bias == nullptr) return;
  check.same_dtype(name, bias->dtype, "cx", model->dtype);
  if (!check.ok()) return;
  const int64_t width = model->shape[1] * 4;
  check.shape(name, bias, dense_layout(&width, 1));
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ThnnFusedLstmCell,
             (const aclTensor *inputGates, const aclTensor *hiddenGates, const aclTensor *cx,
              const aclTensor *inputBiasOptional, const aclTensor *hiddenBiasOptional,
              aclTensor *hyOut, aclTensor *cyOut, aclTensor *storageOut)) {
  using namespace emu;
  Check check("aclnnThnnFusedLstmCell");
  const CellTensor tensors[] = {{"inputGates", inputGates, true},
                                {"hiddenGates", hiddenGates, true},
                                {"cx", cx, false},
                                {"hyOut", hyOut, false},
                                {"cyOut", cyOut, false},
                                {"storageOut", storageOut, true}};
  check.optional("inputBiasOptional", inputBiasOptional);
  check.optional("hiddenBiasOptional", hiddenBiasOptional);
  check_cell(check, tensors, "cx", cx);
  check.dtype("inputBiasOptional", inputBiasOptional);
  check.dtype("hiddenBiasOptional", hiddenBiasOptional);
  check.that((inputBiasOptional == nullptr) == (hiddenBiasOptional == nullptr),
             "%s is null and the other bias is not; give both or none",
             inputBiasOptional == nullptr ? "inputBiasOptional" : "hiddenBiasOptional");
  check_bias(check, "inputBiasOptional", inputBiasOptional, cx);
  check_bias(check, "hiddenBiasOptional", hiddenBiasOptional, cx);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnThnnFusedLstmCell", KernelTime::linear);
  const size_t input = plan.input(inputGates), hidden = plan.input(hiddenGates);
  const size_t before = plan.input(cx), input_bias = plan.input(inputBiasOptional);
  const size_t hidden_bias = plan.input(hiddenBiasOptional), to_hidden = plan.output(hyOut);
  const size_t to_cell = plan.output(cyOut), to_storage = plan.output(storageOut);
  return plan.finish(
      [=](PlanContext &c) {
        const View hy = view_of(c.tensor(to_hidden)), cy = view_of(c.tensor(to_cell)),
                   storage = view_of(c.tensor(to_storage));
        const int64_t rows = hy.layout.shape[0], size = hy.layout.shape[1], width = 4 * size;
        if (rows == 0 || size == 0) return Status{0};
        Operands operands;
        const auto operand = [&](size_t at) {
          return operands.safe(view_of(c.tensor(at)), {hy, cy, storage});
        };
        const RowSource<float> from_input(operand(input)), from_hidden(operand(hidden)),
            from_cell(operand(before));
        const RowTarget<float> hidden_to(hy), cell_to(cy), storage_to(storage);
        auto bias = read_all<float>(c, input_bias, width, 0.0f);
        const auto other = read_all<float>(c, hidden_bias, width, 0.0f);
        for (size_t i = 0; i < bias.size(); ++i) bias[i] += other[i];
        for_each_row<float>(rows, width, 3, [&](int64_t row, float *memory) {
          float *gates = memory, *added = gates + width, *vectors = added + width;
          from_input.read(row * width, width, gates);
          from_hidden.read(row * width, width, added);
          for (int64_t i = 0; i < width; ++i) {
            gates[i] += added[i] + bias[static_cast<size_t>(i)];
          }
          from_cell.read(row * size, size, vectors);
          float *cell = vectors + size, *bent = cell + size, *state = bent + size;
          lstm_forward(size, gates_at(gates, size), vectors, cell, bent, state);
          hidden_to.write(row * size, size, state);
          cell_to.write(row * size, size, cell);
          storage_to.write(row * width, width, gates);
        });
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH

EMU_OPERATOR(ThnnFusedLstmCellBackward,
             (const aclTensor *gradHyOptional, const aclTensor *gradCOptional, const aclTensor *cx,
              const aclTensor *cy, const aclTensor *storage, bool hasBias, aclTensor *gradGatesOut,
              aclTensor *gradCxOut, aclTensor *gradBiasOut)) {
  using namespace emu;
  Check check("aclnnThnnFusedLstmCellBackward");
  const CellTensor tensors[] = {{"gradHyOptional", gradHyOptional, false, false},
                                {"gradCOptional", gradCOptional, false, false},
                                {"cx", cx, false},
                                {"cy", cy, false},
                                {"storage", storage, true},
                                {"gradGatesOut", gradGatesOut, true},
                                {"gradCxOut", gradCxOut, false}};
  check_cell(check, tensors, "cx", cx);
  check.required("gradBiasOut", gradBiasOut).dtype("gradBiasOut", gradBiasOut);
  check_bias(check, "gradBiasOut", gradBiasOut, cx);
  if (!check.ok()) return check.status();
  PlanBuilder plan("aclnnThnnFusedLstmCellBackward", KernelTime::linear);
  const size_t slope_hidden = plan.input(gradHyOptional), slope_cell = plan.input(gradCOptional);
  const size_t before = plan.input(cx), after = plan.input(cy), gates_of = plan.input(storage);
  const size_t to_gates = plan.output(gradGatesOut), to_before = plan.output(gradCxOut);
  const size_t to_bias = hasBias ? plan.output(gradBiasOut) : plan.unused(gradBiasOut);
  return plan.finish(
      [=](PlanContext &c) {
        const View gates_to = view_of(c.tensor(to_gates)), cell_to = view_of(c.tensor(to_before));
        const int64_t rows = cell_to.layout.shape[0], size = cell_to.layout.shape[1];
        const int64_t width = 4 * size;
        const auto total = static_cast<size_t>(rows * width);
        std::vector<float> slopes(total), before_slopes(static_cast<size_t>(rows * size));
        const auto read = [&](size_t at, int64_t start, int64_t count, float *to) {
          if (c.has(at)) RowSource<float>(view_of(c.tensor(at))).read(start, count, to);
          else std::fill_n(to, count, 0.0f);
        };
        for_each_row<float>(rows, width, 2, [&](int64_t row, float *memory) {
          float *gates = memory, *hidden = gates + width, *cell = hidden + size;
          float *first = cell + size, *bent = first + size;
          read(gates_of, row * width, width, gates);
          read(slope_hidden, row * size, size, hidden);
          read(slope_cell, row * size, size, cell);
          read(before, row * size, size, first);
          read(after, row * size, size, bent);
          float_kernel_fn(FloatKernel::tanh)(bent, size, nullptr, bent);
          lstm_backward(size, gates_at(gates, size), first, bent, hidden, cell,
                        gates_at(slopes.data() + row * width, size),
                        before_slopes.data() + row * size);
        });
        if (!slopes.empty()) {
          RowTarget<float>(gates_to).write(0, rows * width, slopes.data());
          RowTarget<float>(cell_to).write(0, rows * size, before_slopes.data());
        }
        if (!hasBias || width == 0) return Status{0};
        std::vector<double> sums(static_cast<size_t>(width));
        for (size_t i = 0; i < total; ++i) {
          sums[i % sums.size()] += static_cast<double>(slopes[i]);
        }
        RowTarget<double>(view_of(c.tensor(to_bias))).write(0, width, sums.data());
        return Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
