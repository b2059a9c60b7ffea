// SPDX-License-Identifier: Apache-2.0
// build flags: -O3
#include "ops/shared/rows.h"

namespace emu {

template void RowTarget<float>::write(int64_t, int64_t, const float *) const;
template void RowTarget<double>::write(int64_t, int64_t, const double *) const;
template void RowTarget<int64_t>::write(int64_t, int64_t, const int64_t *) const;

template <class T>
std::vector<T> read_all(PlanContext &c, size_t index, int64_t count, T fallback) {
  std::vector<T> values(static_cast<size_t>(count), fallback);
  if (c.has(index)) RowSource<T>(view_of(c.tensor(index))).read(0, count, values.data());
  return values;
}

template std::vector<float> read_all(PlanContext &, size_t, int64_t, float);
template std::vector<double> read_all(PlanContext &, size_t, int64_t, double);
template std::vector<int32_t> read_all(PlanContext &, size_t, int64_t, int32_t);
template std::vector<int64_t> read_all(PlanContext &, size_t, int64_t, int64_t);
template std::vector<uint64_t> read_all(PlanContext &, size_t, int64_t, uint64_t);
template std::vector<Complex128> read_all(PlanContext &, size_t, int64_t, Complex128);

View Operands::safe(const View &operand, std::initializer_list<View> results) {
  for (const View &result : results) {
    if (result.data != nullptr && clash(operand, result)) {
      kept_.push_back(std::make_unique<Snapshot>(operand));
      return kept_.back()->view();
    }
  }
  return operand;
}

}  // namespace emu
