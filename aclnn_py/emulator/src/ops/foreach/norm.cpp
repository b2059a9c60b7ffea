// SPDX-License-Identifier: Apache-2.0
// build flags: -O3 -fno-trapping-math
// The norm of each tensor of a list, made in float64 of pieces that do not depend on the number of
// threads.
#include <cmath>
#include <limits>
#include <vector>

#include "aclnnop/foreach.h"
#include "core/chip.h"
#include "ops/shared/rows.h"

namespace emu {
namespace {

constexpr int64_t kPieceBlocks = 64;

// What the magnitudes of a piece are folded into: a sum of powers, or the largest (smallest) one.
double fold_block(const double *x, int64_t count, double p) {
  double lanes[4] = {};
  const auto sum = [&](auto term) {
    int64_t i = 0;
    for (; i + 4 <= count; i += 4) {
      for (int lane = 0; lane < 4; ++lane) lanes[lane] += term(x[i + lane]);
    }
    for (; i < count; ++i) lanes[0] += term(x[i]);
    return (lanes[0] + lanes[1]) + (lanes[2] + lanes[3]);
  };
  if (p == 2) return sum([](double v) { return v * v; });
  if (p == 1) return sum([](double v) { return std::abs(v); });
  return sum([p](double v) { return std::pow(std::abs(v), p); });
}

// NaN wins.
double extreme_of(double found, double value, bool largest) {
  if (std::isnan(found) || std::isnan(value)) return std::numeric_limits<double>::quiet_NaN();
  return largest ? std::max(found, value) : std::min(found, value);
}

double norm_of(const View &view, double p) {
  const int64_t count = view.count(), piece = kPieceBlocks * kBlock;
  const int64_t pieces = (count + piece - 1) / piece;
  const bool extreme = std::isinf(p), largest = p > 0;
  const double start = extreme && !largest ? std::numeric_limits<double>::infinity() : 0;
  std::vector<double> found(static_cast<size_t>(pieces), start);
  const RowSource<double> source(view);
  parallel_for(pieces, 1, [&](int64_t begin, int64_t end) {
    alignas(64) double x[kBlock];
    for (int64_t at = begin * piece; at < std::min(count, end * piece); at += kBlock) {
      double &total = found[static_cast<size_t>(at / piece)];
      const int64_t n = std::min(kBlock, count - at);
      source.read(at, n, x);
      if (!extreme) total += fold_block(x, n, p);
      for (int64_t i = 0; i < n && extreme; ++i) total = extreme_of(total, std::abs(x[i]), largest);
    }
  });
  double total = start;
  for (const double one : found) total = extreme ? extreme_of(total, one, largest) : total + one;
  if (extreme || p == 1) return total;
  return p == 2 ? std::sqrt(total) : std::pow(total, 1 / p);
}

// On a 950 an order that is not 1 and not infinite counts as 2.
double order_of(double p) {
  if (!chip_is_950() || (std::isinf(p) && p > 0)) return p;
  return std::trunc(p) == 1 ? 1 : 2;
}

Check check_norms(const aclTensorList *x, const aclScalar *scalar, const aclTensorList *out) {
  Check check("aclnnForeachNorm");
  check.required("x", x).required("scalar", scalar).required("out", out).dtype("scalar", scalar);
  if (!check.ok()) return check;
  const size_t count = x->members.size();
  for (const aclTensor *member : x->members) check.required("x", member).dtype("x", member);
  for (const aclTensor *member : out->members) check.required("out", member).dtype("out", member);
  check.that(out->members.size() == count, "out has %zu members; expected %zu", out->members.size(),
             count);
  for (size_t i = 0; check.ok() && i < count; ++i) {
    check.that(out->members[i]->dtype == x->members[i]->dtype,
               "out[%zu] has dtype %s; expected that of x, %s", i,
               dtype_name(out->members[i]->dtype), dtype_name(x->members[i]->dtype));
  }
  check.tiling();
  for (size_t i = 0; check.ok() && i < count; ++i) {
    const aclTensor &from = *x->members[i], &to = *out->members[i];
    check.rank("x", &from, 0, 8).rank("out", &to, 0, 8);
    check.that(from.dtype == x->members[0]->dtype, "x[%zu] has dtype %s; expected %s", i,
               dtype_name(from.dtype), dtype_name(x->members[0]->dtype));
    check.that(to.numel() == 1, "out[%zu] has shape %s; expected one element", i,
               shape_text(layout_of(to)).c_str());
  }
  return check;
}

}  // namespace
}  // namespace emu

EMU_OPERATOR(ForeachNorm, (const aclTensorList *x, const aclScalar *scalar, aclTensorList *out)) {
  const emu::Check check = emu::check_norms(x, scalar, out);
  if (!check.ok()) return check.status();
  emu::PlanBuilder plan(check.op(), emu::KernelTime::linear);
  const size_t from = plan.input_list(x), to = plan.output_list(out), count = x->members.size();
  const double p = emu::order_of(scalar->to_double());
  return plan.finish(
      [=](emu::PlanContext &c) {
        for (size_t i = 0; i < count; ++i) {
          const double norm = emu::norm_of(emu::view_of(c.tensor(from + i)), p);
          emu::RowTarget<double>(emu::view_of(c.tensor(to + i))).write(0, 1, &norm);
        }
        return emu::Status{0};
      },
      workspaceSize, executor);
}
EMU_CATCH
